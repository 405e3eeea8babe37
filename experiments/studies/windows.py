"""When the windows of a study's logs were, by the clocks of their sites."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from experiments.show.numbers import instants
from grid.logs.calendar import read, shown, zone_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from experiments.studies.tables import StudyTables


def dated(outcome: StudyTables, workload: str) -> tuple[str, list[tuple[str, str]]]:
    """Return by which clock, and from when until when, each window of a log is that was run.

    The clock is "" if the log does not tell its dates: then they are seconds after its first
    submission.
    """
    runs = outcome.runs
    often = 1 + max(runs.loc[runs["workload"] == workload, "replication"], default=-1)
    windows = outcome.provenance.get("windows", {}).get(workload, ())[:often]
    said = outcome.provenance.get("starts", {}).get(workload)
    seconds = "", [(begin, end) for begin, end in map(instants, windows)]
    if said is None:
        return seconds
    start = read(said)
    clocks = [(shown(start, begin), shown(start, end)) for begin, end in windows]
    return (zone_of(start), clocks) if all(map(all, clocks)) else seconds


def dates(outcome: StudyTables) -> Iterator[str]:
    """Yield in sentences when the windows of logs that tell it were."""
    for workload in outcome.provenance.get("starts", {}):
        zone, found = dated(outcome, workload)
        if zone and found:
            one, *more = found
            whose = "Windows" if more else "The window"
            gaps = sum(before[1] != after[0] for before, after in pairwise(found))
            but = f", with a gap before {gaps} of them" if gaps else ""
            yield f"{whose} of {workload}: from {one[0]} to {found[-1][1]}, by {zone}{but}."
