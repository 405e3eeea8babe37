"""The figures of `maxutil` as we measure them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from experiments.papers.maxutil.logs import Log, logs_in_words
from experiments.papers.maxutil.losses import Outcome, formula
from experiments.papers.maxutil.paper_tables import SECTION_7, TABLE_5
from experiments.papers.maxutil.systems import (
    DEPENDENT,
    FEW_JUMPS,
    FIRST_FIT,
    FPFS,
    FULL_QUEUES,
    IMPROVED,
    LASTING,
    MANY_JUMPS,
    QUEUES,
    SERVICE,
    SERVICES,
    STUDIED,
    UNORDERED,
    Point,
    log_points,
    point,
)
from experiments.show.bars import Chart, draw_bars
from experiments.sweeps.statistics import Interval

LOSS = "capacity loss"
_IN_A_ROW = 3
"""Charts."""

CAPTIONS = {
    "figures3-4": "Figs. 3 and 4: the loss by the law of component sizes (ordered and total: eq. "
    "2), and with dependent sizes",
    "service": f"Section 7.1: the loss by the law of service times, {STUDIED}",
    "figure5": "Fig. 5: FCFS and FPFS(MaxJumps), by the queue to begin with (the paper's method), "
    "and by the number of jobs that always wait",
    "figures6-8": "Fig. 6: placement by First Fit and Worst Fit; Fig. 8: the same jobs "
    "(sums of four draws of D(0.9) on [1,8]) with four components, and with one",
}
LOG_CAPTIONS = {
    "figures1-2": "Figs. 1 and 2: sizes and service times in the log at hand",
    "figure7": "Fig. 7: the loss for jobs of the {logs} at hand",
}


def pictures(parts: Sequence[str], logs: Sequence[Log]) -> Iterator[tuple[str, str]]:
    """Yield the name and the caption of each picture that there is something for."""
    if "figures" in parts:
        yield from CAPTIONS.items()
    for name, caption in LOG_CAPTIONS.items():
        if logs and (name == "figure7" or any(log.name == "DAS" for log in logs)):
            yield name, caption.format(logs=logs_in_words(logs))


def draw_pictures(outcome: Outcome, parts: Sequence[str], logs: Sequence[Log], to: Path) -> None:
    """Draw all pictures into a folder."""
    for name, _ in pictures(parts, logs):
        stem = to / f"maxutil-{name}"
        if name == "figures1-2":
            draw_bars(_densities(next(log for log in logs if log.name == "DAS")), stem)
        else:
            draw_bars(_panels(outcome, name, logs), stem, _IN_A_ROW)


def short(law: str) -> str:
    """Return a law without the interval of a D(q), as the paper's figures name it."""
    return law.partition("[")[0] if law.startswith("D") else law


def _measured(outcome: Outcome, points: Mapping[str, Point]) -> list[Interval]:
    return [outcome.loss(points[law]) for law in TABLE_5]


def _exact(request: str) -> list[Interval]:
    return [Interval(formula(point(law, request)), 0.0) for law in TABLE_5]


def _panels(outcome: Outcome, name: str, logs: Sequence[Log]) -> list[Chart]:
    laws = [short(law) for law in TABLE_5]
    if name == "figures3-4":
        unordered = _measured(outcome, UNORDERED)
        kinds = {
            "ordered": _exact("ordered"),
            "unordered": unordered,
            "total": _exact("total"),
        }
        dependence = {
            "unordered (indep)": unordered,
            "unordered (dep)": _measured(outcome, DEPENDENT),
        }
        return [
            Chart("Fig. 3", LOSS, laws, kinds),
            Chart("Fig. 4", LOSS, laws, dependence),
        ]
    if name == "service":
        cvs = [f"{cv:g}" for _, cv in SERVICES]
        series = {
            request: [outcome.loss(SERVICE[STUDIED, request, each]) for each in SERVICES]
            for request in ("ordered", "unordered")
        }
        label = "cv of service times (0: deterministic, 1: exponential)"
        known = dict(zip(("deterministic", "hyperexponential"), (cvs[0], cvs[-1]), strict=True))
        printed = {
            (request, known[service]): loss for (request, service), loss in SECTION_7.items()
        }
        return [Chart("Section 7.1", LOSS, cvs, series, label, printed)]
    if name == "figure5":
        return [_lasting(outcome, queue) for queue in FULL_QUEUES] + [
            _overtaking(outcome, waiting) for waiting in QUEUES
        ]
    if name == "figures6-8":
        placed = {
            "first fit": _measured(outcome, FIRST_FIT),
            "worst fit": _measured(outcome, UNORDERED),
        }
        split = [outcome.loss(UNORDERED[STUDIED]), outcome.loss(DEPENDENT[STUDIED])]
        together = ["co-allocation", "no co-allocation"]
        return [
            Chart("Fig. 6", LOSS, laws, placed),
            Chart("Fig. 8", LOSS, together, {"unordered": split}),
        ]
    of_logs = {log.name: log.path for log in logs}
    points = log_points(of_logs.get("CTC"), of_logs.get("DAS"))
    kinds = {
        request: [outcome.loss(points[log, request]) for log in of_logs]
        for request in ("unordered", "total")
    }
    return [Chart("Fig. 7, of other logs", LOSS, list(of_logs), kinds)]


def _lasting(outcome: Outcome, queue: tuple[int, int]) -> Chart:
    start, bound = queue
    title = f"Fig. 5: {start:,} in the beginning, below {bound:,}"
    return _overtaken(outcome, title, lambda law, jumps: LASTING[law, jumps, queue])


def _overtaking(outcome: Outcome, waiting: int) -> Chart:
    title = f"Fig. 5: {waiting:,} jobs always wait"
    return _overtaken(outcome, title, lambda law, jumps: FPFS[law, jumps, waiting])


def _overtaken(outcome: Outcome, title: str, at: Callable[[str, int], Point]) -> Chart:
    series = {"FCFS": [outcome.loss(UNORDERED[law]) for law in IMPROVED]}
    for jumps in (FEW_JUMPS, MANY_JUMPS):
        series[f"FPFS ({jumps})"] = [outcome.loss(at(law, jumps)) for law in IMPROVED]
    return Chart(title, LOSS, [short(law) for law in IMPROVED], series)


def _densities(log: Log) -> list[Chart]:
    panels = []
    for title, label, (x, y) in (
        ("Fig. 1: sizes", "processors", log.size_density()),
        ("Fig. 2: service times", "s", log.runtime_density()),
    ):
        shares = {"jobs": [Interval(each, None) for each in y.tolist()]}
        panels.append(Chart(title, "share of jobs", x.tolist(), shares, label))
    return panels
