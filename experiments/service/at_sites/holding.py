"""A batch system that has jobs before their turn, held, and releases them when it comes."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from experiments.service.at_sites.batch import LONGEST, BatchSite
from experiments.service.at_sites.batch_system import (
    BatchSystem,
    LaterError,
    Listed,
    Look,
    RefusedError,
)
from experiments.service.at_sites.site import OUTPUT, RUN_ONCE
from experiments.service.store import LiveJob


class HoldingSystem(BatchSystem, Protocol):
    """What a batch system has to do for `HoldingSite`, too."""

    def hold(self, token: str, job: LiveJob, script: Sequence[str], output: Path) -> None:
        """Submit a job as `submit` does, that is not to start until it is released."""

    def release(self, token: str) -> None:
        """Let a job start, if it is there."""


@dataclass
class _Early:
    """A job that is to be at the site, held."""

    token: str
    folder: Path
    job: LiveJob
    submitted: bool = False
    due: float = 0.0  # when it may be submitted, again if it is not there
    tries: int = 0


class HoldingSite(BatchSite):
    """Jobs of a batch system, some of which it has before their turn.

    Such a job's script ends at once as long as `HELD` is in its folder, whoever releases it: a
    system's own hold is a wish.

    Parameters
    ----------
    name, size, system, prefix, tell
        As of `BatchSite`.
    early : int
        How many jobs are there before their turn, at most.
    **options
        As of `BatchSite`.
    """

    def __init__(
        self,
        name: str,
        size: int,
        system: HoldingSystem,
        *given: Any,
        early: int,
        **options: Any,
    ) -> None:
        super().__init__(name, size, system, *given, **options)
        self.early = early
        self._holding = system
        self._early: dict[int, _Early] = {}  # by number
        self._turns: list[str] = []  # tokens of jobs to release
        self._back: list[str] = []  # and of those to take back
        self._there: set[str] | None = None  # of what was there when it was last looked at

    def expect(self, job: LiveJob, folder: Path) -> None:
        """Have a job there, held, until it is started or forgotten."""
        with self._changed:
            self._early[job.job] = _Early(self._token(job), folder, job)
        self._wake()

    def forget(self, job: int) -> None:
        """Have a job there no longer, unless it was started."""
        with self._changed:
            if early := self._early.pop(job, None):
                self._back.append(early.token)
        self._wake()

    def start(self, job: LiveJob, folder: Path) -> None:
        """Release a job, or have it submitted."""
        with self._changed:
            early = self._early.pop(job.job, None)
            there = early is not None and early.submitted and early.token == self._token(job)
            if there:
                self._turns.append(self._token(job))
        self._start(job, folder, there)

    def close(self) -> None:
        """Take back what is held; other jobs there go on."""
        for job in [*self._early]:
            self.forget(job)
        super().close()

    def _watch(self) -> None:
        super()._watch()
        with suppress(Exception):  # whatever a driver raises: the next service takes back the rest
            self._take_back()
            live = {job.token for job in self._jobs.values()}
            for token, listed in self._holding.look().jobs.items():
                if listed.held and token not in live:  # what a service before had left
                    self._holding.cancel(token, at_once=True)

    def _round(self) -> None:
        self._take_back()
        while self._turns:
            self._holding.release(self._turns[0])
            del self._turns[0]
        super()._round()

    def _take_back(self) -> None:
        while self._back:
            with self._changed:
                live = {job.token for job in self._jobs.values()}
            if self._back[0] not in live:
                self._holding.cancel(self._back[0], at_once=True)
            del self._back[0]

    def _follow(self, number: int, job: Any, listed: Listed | None, asked: float) -> None:
        if listed is not None and listed.held:  # as after a restart
            self._holding.release(job.token)
        super()._follow(number, job, listed, asked)

    def _clean(self, look: Look, live: set[str], asked: float) -> None:
        with self._changed:
            early = [*self._early.values()]
        for each in early:
            listed = look.jobs.get(each.token)
            if listed is not None and not listed.ended:
                each.submitted = True
            elif asked >= each.due and not self._closed and self._may_submit():
                self._hold(each)
        self._there = _tokens(look)
        super()._clean(look, live | {each.token for each in early}, asked)

    def _submit(self, number: int, job: Any) -> None:
        """Submit a job, unless it is there, as a service before that was killed had it held."""
        if self._there is None:
            self._there = _tokens(self._holding.look())
        if job.tries == 0 and not job.asked and job.token in self._there:
            job.submitted = True  # what follows is its release
        else:
            super()._submit(number, job)

    def _hold(self, early: _Early) -> None:
        early.submitted = True  # whatever comes of it: the next look will tell
        early.due = time.time() + min(LONGEST, 2.0**early.tries)
        early.tries += 1
        script = [RUN_ONCE, str(early.folder), *early.job.command]
        try:
            self._holding.hold(early.token, early.job, script, early.folder / OUTPUT)
        except LaterError:
            pass
        except RefusedError:  # which is told when its turn comes
            early.submitted, early.due = False, math.inf


def _tokens(look: Look) -> set[str]:
    """Return what jobs that have not ended have as names."""
    return {token for token, listed in look.jobs.items() if not listed.ended}
