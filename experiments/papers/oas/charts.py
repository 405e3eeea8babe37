"""Figs. 1, 3 and 4 of `oas` as we measure them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from experiments.papers.engine import Picture
from experiments.papers.oas.gantt import DAY, Gantt, draw_gantts
from experiments.papers.oas.schedules import (
    AGGREGATED,
    METHODS,
    MILP,
    OAS,
    OF_FIGURE_4,
    OF_MILP,
    OF_SLOTS,
    QUEUES,
    SHARES,
    WORKLOADS,
    Point,
    instance,
)
from experiments.papers.oas.solved import Outcome
from experiments.show.bars import Chart, draw_bars
from experiments.show.plots import Curve, Panel, Style, draw
from experiments.sweeps.statistics import Interval

SLOTTED = Style("black", "o", "-")
CONTINUOUS = Style("#0072b2", "", "--")
NUMBERED = "jobs and clusters (with their power) are numbered from 0, as in `oas-schedules.json`"
COUNTED = Style("#009e73", "^", "--")
PRINTED = Style("#d55e00", "s", ":", filled=False)


def pictures(parts: Sequence[str]) -> Iterator[Picture]:
    """Yield each picture of parts."""
    if "slots" in parts:
        yield Picture(
            "slots",
            "Makespan, compaction and solve time against the size of slots; OAS without slots "
            "beside them, and the solve time of mixed-integer models: as printed, and with nodes "
            "counted",
            "Figure 3: the size of time slots",
        )
        yield Picture(
            "slots-gantt",
            "Schedules of OAS without slots and in slots of 50 and 250 %; a job holds its nodes "
            f"to the end of its last slot; {NUMBERED}",
            "Schedules of Fig. 3's workload",
        )
    if "workloads" in parts:
        yield Picture(
            "makespan",
            "Makespan of each method, in slots of 50 % of the mean base time and without slots",
            "Figure 4 (a): makespan",
        )
        yield Picture(
            "compaction",
            "Compaction degree of each method, in slots of 50 % and without slots",
            "Figure 4 (b): compaction degree",
        )
        yield Picture(
            "gantt",
            "As the paper's Fig. 1: FCFS, the best of the six queues, and OAS, without slots; "
            + NUMBERED,
            "Figure 1: the schedules of each workload",
        )


def draw_pictures(outcome: Outcome, parts: Sequence[str], folder: Path) -> None:
    """Draw the pictures of parts into a folder."""
    if "slots" in parts:
        draw([[panel] for panel in _slot_panels(outcome)], folder / "oas-slots")
        shares = (None, OF_FIGURE_4, SHARES[-1])
        charts = [[_gantt(outcome, Point(OF_SLOTS, OAS, share))] for share in shares]
        draw_gantts(charts, folder / "oas-slots-gantt")
    if "workloads" in parts:
        for name, label, factor in (
            ("makespan", "makespan, days", 1 / DAY),
            ("compaction", "compaction, %", 100.0),
        ):
            bars = [_bars(outcome, each, name, factor, label) for each in WORKLOADS]
            draw_bars(bars, folder / f"oas-{name}", 2)
        draw_gantts([_gantts(outcome, each) for each in WORKLOADS], folder / "oas-gantt")


def _slot_panels(outcome: Outcome) -> list[Panel]:
    panels = []
    for title, name, factor in (
        ("makespan, days", "makespan", 1 / DAY),
        ("compaction, %", "compaction", 100.0),
        ("solve time, s", "wall_s", 1.0),
    ):
        curves = [
            Curve("OAS in slots", SHARES, _values(outcome, OAS, SHARES, name, factor), SLOTTED),
            Curve(
                "OAS without slots",
                (SHARES[0], SHARES[-1]),
                _values(outcome, OAS, (None, None), name, factor),
                CONTINUOUS,
            ),
        ]
        if name == "wall_s":
            counted = _values(outcome, AGGREGATED, SHARES, name, factor)
            curves.append(Curve("with nodes counted", SHARES, counted, COUNTED))
            printed = _values(outcome, MILP, OF_MILP, name, factor)
            curves.append(Curve("as printed", OF_MILP, printed, PRINTED))
        label = "slot, % of the mean base time"
        panels.append(Panel("", label, title, curves, log=name == "wall_s", few=False))
    return panels


def _values(
    outcome: Outcome, method: str, shares: Sequence[int | None], name: str, factor: float
) -> list[Interval]:
    return [
        Interval(factor * outcome[Point(OF_SLOTS, method, share)][name], 0.0) for share in shares
    ]


def _bars(outcome: Outcome, workload: str, name: str, factor: float, label: str) -> Chart:
    """Return the chart of a workload: a bar in slots and one without for each method."""
    series = {
        kind: [
            Interval(factor * outcome[Point(workload, method, share)][name], 0.0)
            for method in METHODS
        ]
        for kind, share in ((f"slots of {OF_FIGURE_4} %", OF_FIGURE_4), ("without slots", None))
    }
    labels = [Point(workload, method).name for method in METHODS]
    return Chart(
        workload.upper(),
        label,
        ["ins." if each == "insertion" else each for each in labels],
        series,
    )


def _gantts(outcome: Outcome, workload: str) -> list[Gantt]:
    queues = [Point(workload, queue) for queue in QUEUES]
    best = min(queues, key=outcome.makespan)
    return [_gantt(outcome, point) for point in (queues[0], best, Point(workload, OAS))]


def _gantt(outcome: Outcome, point: Point) -> Gantt:
    title = f"{point.name}, {point.where}"
    return Gantt(title, instance(point.workload), outcome.runs(point))
