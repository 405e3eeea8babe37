"""What a batch system has to do, so that a site can be made of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from experiments.service.store import LiveJob


class SilentError(Exception):
    """A site does not answer; it may be told again."""


class RefusedError(Exception):
    """A site will not have a job."""


class LaterError(Exception):
    """A site does not take a job in for now."""


class Listed(NamedTuple):
    """A job as its site has it."""

    ended: bool
    state: str
    """In the site's own word."""
    waits: bool = False
    """It has no processors yet."""
    held: bool = False
    """Nor will it, until it is released."""
    blocked: bool = False
    """Nor will it as things are, whatever becomes free."""


class Look(NamedTuple):
    """What a site says at once."""

    jobs: dict[str, Listed]
    """Ours, by token."""
    capacity: int
    """Processors that ours may hold together, those that they hold included."""


def minutes(limit: float) -> int:
    """Return the limit of a job, s, as batch systems are told it: in whole minutes, from one on."""
    return max(1, math.ceil(limit / 60.0))


class BatchSystem(Protocol):
    """What a batch system has to do for `BatchSite`; a token is the name that it has a job by.

    Each of these may raise `SilentError`.
    """

    def take_up(self, token: str, folder: Path) -> None:
        """Know a job again that an earlier process has submitted perhaps."""

    def look(self) -> Look:
        """Return its jobs of ours, and how many processors they may hold."""

    def submit(self, token: str, job: LiveJob, script: Sequence[str], output: Path) -> None:
        """Have a script of the shell, and words for it, run with the processors of a job.

        It may be submitted in spite of a `SilentError`, but for a `RefusedError` or a `LaterError`.
        """

    def cancel(self, token: str, at_once: bool) -> None:
        """Have a job end, if it is there: ask it to, or kill it."""
