"""The intervals of ``timeline.csv``, checked against the jobs that waited in them."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise

from experiments.checks.verdicts import Verdict
from experiments.run.result_files import ResultFiles, Row, measured_links, read_timeline
from experiments.show.numbers import counted
from grid.world.validation import at_arrival

RELATIVE = 1e-9
"""Difference that rounding makes, of what all jobs would wait until the end of an interval."""


def intervals_verdict(result: ResultFiles) -> Verdict:
    """Check that intervals follow each other, and how many jobs waited in each.

    Raises
    ------
    GridError
        If the file is missing, or none that a run writes.
    """
    table = read_timeline(result)
    bounds = [0.0, *table["to"].tolist()]
    known = _waits_are_known(result)
    problems = _wrong_waits(result.rows, bounds, table["waiting"].tolist()) if known else ()
    unchecked: tuple[str, ...] = () if known else ("waiting",)
    if measured_links(result.summary):  # of what they carried when, jobs do not tell
        unchecked += ("demand", "saturated")
    of_what = f"{counted(len(table), 'interval')} of timeline.csv"
    return Verdict.of("intervals are right", problems, of_what, unchecked)


def _waits_are_known(result: ResultFiles) -> bool:
    """Tell whether rows tell when each job waited: not before a start but the last, or none."""
    summary = result.summary
    rejections, left = summary["rejections"].keys(), summary.get("unfinished")
    return summary["metrics"]["restarts"] == 0 and not left and all(map(at_arrival, rejections))


def _wrong_waits(
    rows: Sequence[Row], bounds: Sequence[float], waiting: Sequence[float]
) -> Iterator[str]:
    """Find intervals in which another number of jobs waited than the summary of them says."""
    right = _waited(rows, bounds)
    for (begin, end), found, waited in zip(pairwise(bounds), waiting, right, strict=True):
        length = end - begin
        rounding = RELATIVE * len(rows) * end
        if length > 0 and not abs(found * length - waited) <= rounding:
            yield f"waiting: {found} from {begin} to {end} s; jobs.csv makes it {waited / length}"


def _waited(rows: Sequence[Row], bounds: Sequence[float]) -> list[float]:
    """Return the time that jobs waited between one bound and the next, of all of them, s."""
    waited: list[list[float]] = [[] for _ in bounds[1:]]
    for row in rows:
        if row.start is None:
            continue
        first = max(0, bisect_right(bounds, row.arrival) - 1)
        for number in range(first, len(waited)):
            begin, end = max(bounds[number], row.arrival), min(bounds[number + 1], row.start)
            if begin >= row.start:
                break
            waited[number].append(end - begin)
    return [math.fsum(each) for each in waited]
