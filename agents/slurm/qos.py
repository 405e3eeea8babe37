"""Qualities of service (QOS): what they bring to priorities, and what they let users have at once.

Slurm keeps them in its database; ``sacctmgr -P show qos`` prints them.
"""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Any, NamedTuple

from agents.slurm.preemption_reader import exempt_time
from agents.slurm.values import seconds, whole
from grid.errors import GridError
from grid.foreign import plain, quoted
from grid.logs.pipes import SEPARATOR
from grid.names import meant
from grid.strict import text_of


class Qos(NamedTuple):
    """A quality of service.

    Attributes
    ----------
    name : str
    priority : int
        Its factor, before that is divided by the largest one.
    wall : float
        Longest time limit of a job, s.
    job_cpus : float
        Most processors of a job.
    user_jobs, user_cpus : float
        Most jobs, and processors, that a user may have running at once.
    all_jobs, all_cpus : float
        The same of all users together.
    preempts : tuple of str
        Qualities of service whose jobs its own jobs may preempt.
    exempt_time : float or None
        For which its jobs run at least before they are preempted, s; None: as for all.
    """

    name: str = ""
    priority: int = 0
    wall: float = math.inf
    job_cpus: float = math.inf
    user_jobs: float = math.inf
    user_cpus: float = math.inf
    all_jobs: float = math.inf
    all_cpus: float = math.inf
    preempts: tuple[str, ...] = ()
    exempt_time: float | None = None


NONE = Qos()
"""That of jobs without one: it limits nothing."""

COLUMNS = {
    "wall": "MaxWall",
    "job_cpus": "MaxTRES",
    "user_jobs": "MaxJobsPU",
    "user_cpus": "MaxTRESPU",
    "all_jobs": "GrpJobs",
    "all_cpus": "GrpTRES",
}
"""Columns of the limits."""
_READ = {"Name", "Priority", "Preempt", "PreemptMode", "PreemptExemptTime", *COLUMNS.values()}
_IDLE = ("", "0", "00:00:00", "1.000000", "cluster")
"""Cells that say nothing."""


def read_qos(path: str | os.PathLike[str], preempting: bool = False) -> dict[str, Qos]:
    """Return the qualities of service in what ``sacctmgr -P show qos`` prints, by name.

    Parameters
    ----------
    path : str or path
    preempting : bool
        Also which ones may preempt which.

    Raises
    ------
    GridError
        If it cannot be read, or a cell cannot be used.
    """
    accepted = "what sacctmgr -P show qos prints"
    lines = text_of(path, accepted).splitlines()
    header = lines[0].split(SEPARATOR) if lines else []
    if "Name" not in header:
        found = SEPARATOR.join(header)
        raise GridError(f"{path}:1: found {quoted(found)}; accepted: {accepted}, with its names")
    found_: dict[str, Qos] = {}
    places: dict[str, str] = {}
    for number, line in enumerate(lines[1:], 2):
        cells = line.split(SEPARATOR)
        if not line.strip():
            continue
        if len(cells) != len(header):
            raise GridError(
                f"{path}:{number}: found {len(cells)} cells; accepted: {len(header)}, as names"
            )
        said = dict(zip(header, cells, strict=True))
        where = f"{path}:{number}"
        if said["Name"] in found_:
            raise GridError(f"{where}: Name: found {quoted(said['Name'])} twice; accepted: once")
        limits: dict[str, Any] = {
            name: _limit(f"{where}: {column}", column, said.get(column, ""))
            for name, column in COLUMNS.items()
        }
        priority = whole(f"{where}: Priority", said.get("Priority", "") or "0")
        quality = Qos(said["Name"], priority, **limits)
        if preempting:
            quality = quality._replace(**_preemption(where, said))
            places[quality.name] = f"{where}: Preempt"
        found_[quality.name] = quality
    for name, place in places.items():
        for other in found_[name].preempts:
            if other not in found_:
                raise GridError(f"{place}: found {quoted(other)}; {meant(other, found_)}")
    try:
        TopologicalSorter({each.name: each.preempts for each in found_.values()}).prepare()
    except CycleError as error:
        circle = error.args[1]
        raise GridError(
            f"{places[circle[0]]}: found {', '.join(map(plain, circle))}, which preempt each other "
            "in a circle; accepted: none"
        ) from None
    return found_


def unread(path: str | os.PathLike[str]) -> list[str]:
    """Return what such a file says that has no meaning here: columns, and resources but ``cpu``.

    It is one that `read_qos` reads.
    """
    names, *lines = (line.split(SEPARATOR) for line in text_of(path, "").splitlines())
    found: dict[str, None] = {}
    for cells in lines:
        for name, cell in zip(names, cells, strict=False):
            if name not in _READ and cell.strip() not in _IDLE:
                found[name] = None
            elif "TRES" in name:
                others = (each.partition("=")[0] for each in cell.split(",") if each)
                found |= dict.fromkeys(f"{each} of {name}" for each in others if each != "cpu")
    return [*found]


def _preemption(where: str, said: Mapping[str, str]) -> dict[str, Any]:
    """Return what a row says of preemption."""
    mode, exempt = said.get("PreemptMode", ""), said.get("PreemptExemptTime", "")
    if mode.lower() not in ("", "cluster", "requeue"):
        raise GridError(f"{where}: PreemptMode: found {quoted(mode)}; accepted: cluster, requeue")
    return {
        "preempts": tuple(filter(None, said.get("Preempt", "").split(","))),
        "exempt_time": exempt_time(f"{where}: PreemptExemptTime", exempt) if exempt else None,
    }


def _limit(where: str, column: str, text: str) -> float:
    if not text:
        return math.inf
    if column == "MaxWall":
        return seconds(where, text)
    if "TRES" in column:
        cpus = re.search(r"(?:^|,)cpu=(\d{1,15})(?:,|$)", text, re.ASCII)
        return float(cpus[1]) if cpus else math.inf
    return float(whole(where, text))


class Running(NamedTuple):
    """What counts of a job for limits: its quality of service, its user, its processors."""

    qos: Qos
    user: int
    size: int


class InUse:
    """What runs under each quality of service, and of it for each user.

    Parameters
    ----------
    running : iterable of Running
    """

    def __init__(self, running: Iterable[Running]) -> None:
        self._jobs: Counter[tuple[str, int | None]] = Counter()
        self._cpus: Counter[tuple[str, int | None]] = Counter()
        for job in running:
            self.take(job)

    def allows(self, job: Running) -> bool:
        """Tell whether a job may start beside what runs."""
        qos, name = job.qos, job.qos.name
        return all(
            self._jobs[name, who] < jobs and self._cpus[name, who] + job.size <= cpus
            for who, jobs, cpus in (
                (job.user, qos.user_jobs, qos.user_cpus),
                (None, qos.all_jobs, qos.all_cpus),
            )
        )

    def take(self, job: Running, times: int = 1) -> None:
        """Count a job that starts; -1 times: one that is stopped."""
        for who in (job.user, None):
            self._jobs[job.qos.name, who] += times
            self._cpus[job.qos.name, who] += times * job.size
