"""What every source of jobs offers to the world."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Protocol

from grid.jobs import JobArray

CHUNK = 4096
"""Rows handed over at once, so that memory does not grow with the length of a stream."""

DROPPED = ": dropped"
"""How a rule ends that removes records."""


@dataclass(frozen=True)
class Cleaning:
    """What was done to the records of a log before they became jobs.

    Attributes
    ----------
    records : int
        Records read.
    rules : dict of str to int
        For each rule, in words, how many records it applied to; only rules that applied. Of a
        window of a log, those outside are counted as such, and by no other rule.
    dropped : int
        Records removed because they say too little to be a job.
    """

    records: int = 0
    rules: dict[str, int] = field(default_factory=dict)
    dropped: int = 0

    @property
    def drops(self) -> dict[str, int]:
        """Records that each rule dropped, by what these rules begin with.

        Examples
        --------
        >>> Cleaning(9, {"no size: dropped": 2, "run time 0: counted as 1 s": 3}, 2).drops
        {'no size': 2}
        """
        found = ((rule.partition(DROPPED), count) for rule, count in self.rules.items())
        return {why: count for (why, dropped, _), count in found if dropped}


class Workload(Protocol):
    """A source of jobs."""

    @property
    def count(self) -> int:
        """Jobs the source will give in all."""

    @property
    def cleaning(self) -> Cleaning:
        """What cleaning did; nothing for a synthetic source."""

    @property
    def drawn_deadlines(self) -> float | None:
        """Share of the jobs' deadlines that were drawn; None if no job has a deadline."""

    def chunks(self) -> Iterator[JobArray]:
        """Yield jobs in order of arrival, at most `CHUNK` rows at once: the same at each call."""


class Chunks:
    """The chunks of a workload, one after the other; a pickle of it goes on where it was.

    Parameters
    ----------
    workload : Workload
    """

    def __init__(self, workload: Workload) -> None:
        self._workload = workload
        self._given = 0
        self._chunks = workload.chunks()

    def __iter__(self) -> Iterator[JobArray]:
        return self

    def __next__(self) -> JobArray:
        chunk = next(self._chunks)
        self._given += 1
        return chunk

    def __getstate__(self) -> dict[str, Any]:
        return {"_workload": self._workload, "_given": self._given}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        # Drawn anew, for a generator cannot be pickled; not yet, since the workload may not be
        # complete while a pickle is read.
        self._chunks = self._rest()

    def _rest(self) -> Iterator[JobArray]:
        yield from islice(self._workload.chunks(), self._given, None)
