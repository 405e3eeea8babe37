"""Drivers of sites: what a grid's file says of one, and the site that it opens."""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from experiments.scenario.checked import ScenarioError
from experiments.service.at_sites.batch import MOST, BatchSite
from experiments.service.at_sites.batch_system import BatchSystem, SilentError, minutes
from experiments.service.at_sites.holding import HoldingSite
from experiments.service.at_sites.local import LocalSite
from experiments.service.at_sites.psij import PsiJ, known_executor
from experiments.service.at_sites.site import Site
from experiments.service.at_sites.slurm import Slurm
from experiments.service.store import limit_of
from grid.errors import GridError
from grid.foreign import quoted


def _is_count(value: object) -> bool:
    return type(value) is int and value >= 1


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value.isprintable() and value != ""


_SLOTS = (_is_count, True, "the processors that jobs may have together, a number from 1")
_RATE = (_is_count, False, "how many jobs may be submitted in a second, a number from 1")
DRIVERS: dict[str, dict[str, tuple[Callable[[object], bool], bool, str]]] = {
    "local": {"slots": _SLOTS},
    "slurm": {
        "slurm_conf": (_is_text, False, "the path of a slurm.conf"),
        "partition": (_is_text, False, "the name of a partition"),
        "submissions": _RATE,
        "early": (_is_count, False, "how many jobs are there before their turn, a number from 1"),
    },
    "psij": {
        "executor": (_is_text, True, "the name of an executor of PSI/J"),
        "slots": _SLOTS,
        "submissions": _RATE,
    },
}
"""Keys of each driver: what accepts their values, whether they have to be there, what they are."""


class Driver:
    """What opens a site.

    Parameters
    ----------
    name : str
        One of `DRIVERS`.
    given : dict
        Values of its keys; None if not given.
    where : str
        What messages call it.
    remembered : int, optional
        Processors that it had before, if it does not answer now.

    Attributes
    ----------
    name, given : str, dict
        As they were given.
    size : int
        Processors that it has.
    answered : bool
        It has said so itself.

    Raises
    ------
    GridError
        If it is not there, and not known.
    """

    def __init__(
        self, name: str, given: Mapping[str, Any], where: str, remembered: int | None = None
    ) -> None:
        self.name, self.given, self.answered = name, given, True
        try:
            self.size = self._size()
        except SilentError as error:
            if remembered is None:
                raise ScenarioError(f"{where}: {error}; accepted: a cluster that answers") from None
            self.size, self.answered = remembered, False
        except GridError as error:
            raise ScenarioError(f"{where}: {error}") from None

    def _size(self) -> int:
        if self.name == "slurm":
            conf = self.given["slurm_conf"]
            if conf is not None and not os.path.isfile(
                conf
            ):  # Slurm's commands take long to say so
                raise SilentError(f"slurm_conf: found {quoted(conf)}, which is no file")
            return _slurm(self.given, "").size()
        if self.name == "psij":
            known_executor(self.given["executor"])
        return int(self.given["slots"])

    def limit(self, time: float | None, rate: float) -> float:
        """Return after how long a job ends there at the latest, s, if that was requested for it."""
        if self.name == "local" or (limit := limit_of(time, rate)) is None:
            return math.inf
        return 60.0 * minutes(limit)

    def open(self, name: str, folder: Path, mark: str, tell: Callable[[], object]) -> Site:
        """Return the site.

        Parameters
        ----------
        name : str
        folder : Path
            Where what it has to keep may be.
        mark : str
            What names of its jobs have that no other service's have.
        tell : callable
            Is called, in any thread, when there is news.
        """
        if self.name == "local":
            return LocalSite(name, self.size, tell)
        prefix = prefix_of(name, mark)
        most = self.given["submissions"] or MOST
        of_all = prefix, tell, self.answered, most
        if early := self.given.get("early"):
            return HoldingSite(name, self.size, _slurm(self.given, prefix), *of_all, early=early)
        return BatchSite(name, self.size, self.system(prefix, folder / "psij" / name), *of_all)

    def system(self, prefix: str, folder: Path) -> BatchSystem:
        """Return the batch system of a site that is one.

        Parameters
        ----------
        prefix : str
            How names of our jobs begin.
        folder : Path
            Where what it has to keep may be.
        """
        if self.name == "slurm":
            return _slurm(self.given, prefix)
        return PsiJ(self.given["executor"], self.size, folder)


def prefix_of(name: str, mark: str) -> str:
    """Return how names of jobs begin of a site, of a service whose mark is given."""
    of_site = hashlib.blake2s(name.encode(), digest_size=3).hexdigest()
    return f"metasched-{mark}{of_site}-"  # two sites may be partitions of one cluster


def take_back(name: str, given: Mapping[str, Any], mark: str) -> int:
    """Cancel the jobs that a site holds which a service before had; return how many those are.

    Raises
    ------
    SilentError
        If it does not answer.
    GridError
        If Slurm's commands are not there.
    """
    system = _slurm(given, prefix_of(name, mark))
    held = [token for token, listed in system.look().jobs.items() if listed.held]
    for token in held:
        system.cancel(token, at_once=True)
    return len(held)


def _slurm(given: Mapping[str, Any], prefix: str) -> Slurm:
    return Slurm(prefix, given["slurm_conf"], given["partition"])
