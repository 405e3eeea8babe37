"""A forecast as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console, JustifyMethod

from experiments.service.forecasting.forecast import Forecast
from experiments.service.forecasting.run_times import ENOUGH
from experiments.service.store import RUNNING, STARTING
from experiments.show.numbers import counted, time_scale
from experiments.show.tables import print_rows
from grid.foreign import plain

NAMED = 10
"""Jobs that a line names, at most."""


def print_forecast(
    found: Forecast,
    rows: Sequence[dict[str, Any]],
    drained: Sequence[str],
    away: Sequence[str],
    console: Console,
) -> None:
    """Print when jobs will start and end, one a row, from now on.

    And which sites are drained, or have fewer processors for them at present, in words.
    """
    if not rows:
        console.print("no job waits or runs, but perhaps held ones")
        return
    columns: dict[str, JustifyMethod] = {"job": "right", "name": "left", "state": "left"}
    columns["site"] = "left"
    starts = [None if row["state"] == RUNNING else row["start"] for row in rows]
    of_starts, begins = columned(starts, found.now)
    of_ends, ends = columned([row["end"] for row in rows], found.now)
    for head, unit in (("starts in", of_starts), ("ends in", of_ends)):
        columns[f"{head}, {unit}" if unit else head] = "right"
    shown = []
    for row, begin, end in zip(rows, begins, ends, strict=True):
        sites = sorted(row["sites"].items(), key=lambda each: -each[1])
        sites += [("never", row["never"])] if row["never"] else []
        where = ", ".join(f"{plain(name)} {100 * share:.0f} %" for name, share in sites)
        shown.append((str(row["job"]), plain(row["name"], 40), row["state"], where, begin, end))
    print_rows(columns, shown, console)
    if len(rows) == len(found.jobs) > 1:
        there = [each for each in found.of_sites() if each["over"]]
        there = [each for each in there if each["over"]["95"] > found.now]
        if there:
            unit, overs = columned([each["over"] for each in there], found.now)
            last = [
                f"{plain(each['site'])} in {over} {unit}"
                for each, over in zip(there, overs, strict=True)
            ]
            console.print(f"the last of them ends at {', '.join(last)}")
    if drained:
        console.print(f"drained, so that no job starts there: {plain(', '.join(drained), 200)}")
    if away:
        where = plain(", ".join(away), 200)
        console.print(f"taken to stay as they are: {where}")
    given = [row for row in rows if row["state"] == STARTING]
    reasons = {job.job: job.why for job in found.jobs if job.why}
    hindered = [row for row in given if row["job"] in reasons]
    stuck = [row for row in given if row["never"] == 1.0 and row not in hindered]
    begun = [row for row in given if row["start"] and row["start"]["5"] <= found.now]
    late = [row for row in given if row not in (*hindered, *stuck, *begun)]
    for of, how in (
        (hindered, "that do not start them as things are"),
        (stuck, "that have too few processors for them now"),
        (late, "where others hold what they need now"),
        (begun, "and not begun there; as if they began now"),
    ):
        if of:
            named = ", ".join([_named(row["job"], reasons) for row in of[:NAMED]])
            more = ", ..." if len(of) > NAMED else ""
            which = f"{'job' if len(of) == 1 else 'jobs'} {named}{more}"
            console.print(f"given to sites{',' if of is begun else ''} {how}: {which}")
    console.print(f"medians and 90 % intervals of {counted(found.starts.shape[1], 'future')}")
    ended = counted(found.known, "job")
    if found.known < ENOUGH:
        so_far = f"only {ended} ended" if found.known else "no job has ended"
        console.print(f"run times: as requested, else an hour, for {so_far} so far")
    else:
        console.print(f"run times: drawn from those of the {ended} that ended last")


def _named(job: int, reasons: Mapping[int, str]) -> str:
    """Return the number of a job, and why it does not begin, if its site says so."""
    return f"{job} ({plain(reasons[job], 60)})" if job in reasons else str(job)


def columned(times: Sequence[Mapping[str, float] | None], now: float) -> tuple[str, list[str]]:
    """Return the unit of times from now on, and in it each with what is likely.

    That is the median, and between which nine in ten are, if they differ; "" for none.
    """
    left = [
        each and {name: max(0.0, each[name] - now) for name in ("50", "5", "95")} for each in times
    ]
    scale = time_scale(max((each["95"] for each in left if each), default=0.0))
    told = []
    for each in left:
        middle, first, last = (scale.told(each[name]) if each else "" for name in ("50", "5", "95"))
        told.append(middle if first == last else f"{middle} ({first} to {last})")
    return scale.unit if any(told) else "", told
