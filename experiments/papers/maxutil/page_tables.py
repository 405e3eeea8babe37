"""The tables of the page on `maxutil`, in Markdown: the paper's numbers beside ours."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

from experiments.maxutil.poisson import LASTED, REACHED
from experiments.papers.maxutil.logs import Log, logs_in_words
from experiments.papers.maxutil.losses import Outcome, formula, truth
from experiments.papers.maxutil.paper_tables import SIZE, TABLE_5, Row
from experiments.papers.maxutil.systems import (
    ENDS,
    LASTING,
    POISSON,
    ROWS,
    SERVICE,
    TINY,
    UNORDERED,
    Point,
    of_row,
    point,
)
from experiments.sweeps.statistics import Interval
from grid.workloads.component_sizes import parse_sizes


def columns(outcome: Outcome) -> Iterator[str]:
    """Yield Tables 3 and 4: the paper's numbers beside ours."""
    for number, clusters in ((3, 4), (4, 2)):
        yield f"## Table {number}: {clusters} clusters of {SIZE}\n"
        yield (
            "For each column the paper's number, ours and the difference; simulations of ours "
            "with their intervals.\n"
        )
        rows = [row for count, row in ROWS if count == clusters]
        heads = [f"{name}, {kind}" for kind, name, *_ in of_columns(clusters, rows[0])]
        yield from _table(
            ("sizes", *heads),
            ((row.law, *_cells_of(outcome, clusters, row)) for row in rows),
        )


def _cells_of(outcome: Outcome, clusters: int, row: Row) -> Iterator[str]:
    for _, _, each, paper, simulated in of_columns(clusters, row):
        ours = outcome.loss(each) if simulated else Interval(formula(each), 0.0)
        if paper is None:
            yield f"{shown(ours)}"
        else:
            apart = round(ours.mean - paper, 4) + 0.0  # no negative zero
            yield f"{paper:.3f} / {shown(ours)} / {apart:+.4f}"


def arriving(outcome: Outcome) -> Iterator[str]:
    """Yield what simulations with Poisson arrivals tell of the same systems."""
    yield "## Poisson arrivals (sections 5 and 6)\n"
    yield (
        "What is exact, or simulated in heavy traffic, and the first kind of the paper's "
        "simulations.\n"
    )
    heads = ("one cluster, exact", "Poisson", "ordered, exact", "Poisson")
    cells = []
    for clusters, row in ROWS:
        points = of_row(clusters, row)
        exact = [shown(Interval(formula(points[name]), 0.0)) for name in ("single", "ordered")]
        found = [_loss_of(outcome, POISSON.get((clusters, row.law, name))) for name in points]
        single, ordered, unordered, _ = found
        heavy = shown(outcome.loss(points["unordered"])) if unordered != "-" else "-"
        cells.append((row.law, exact[0], single, exact[1], ordered, heavy, unordered))
    yield from _table(("sizes", *heads, "unordered, heavy traffic", "Poisson"), cells)
    few = sum(int((outcome.values(each, REACHED) == 0).sum()) for each in POISSON.values())
    if few:
        yield (
            f"In {few:,} of {len(POISSON) * outcome.replications:,} searches the threshold was "
            "not reached up to a load of 1, at which these tell what is used.\n"
        )


def _loss_of(outcome: Outcome, point: Point | None) -> str:
    return "-" if point is None else shown(outcome.loss(point))


def lasting(outcome: Outcome) -> Iterator[str]:
    """Yield what FPFS gains by the paper's method."""
    yield "## FPFS with Poisson arrivals (section 5)\n"
    yield (
        "What FPFS(MaxJumps) gains depends on how long the queue is that it searches: a job that "
        "was overtaken as often as it may be holds up all others.\n"
    )
    cells = []
    for (law, jumps, (start, bound)), each in LASTING.items():
        gain = outcome.more(UNORDERED[law], each, "").value
        lasted = outcome.values(each, LASTED).mean()
        loss = shown(outcome.loss(each))
        queue = (f"{start:,}", f"{bound:,}", f"{lasted:,.0f}")
        cells.append((law, f"{jumps}", *queue, loss, shown(gain)))
    heads = ("in the beginning", "bound", "lasted, arrivals", "loss", "gain over FCFS")
    yield from _table(("sizes", "MaxJumps", *heads), cells)


def service_times(outcome: Outcome) -> Iterator[str]:
    """Yield the losses by the law of service times."""
    yield "## Service times (section 7.1)\n"
    cells = []
    for law in TABLE_5:
        for request in ("ordered", "unordered"):
            losses = (outcome.loss(SERVICE[law, request, each]) for each in ENDS)
            cells.append((law, request, *map(shown, losses)))
    heads = (f"{service}, cv {cv:g}" for service, cv in ENDS)
    yield from _table(("sizes", "requests", *heads), cells)


def chain(outcome: Outcome) -> Iterator[str]:
    """Yield what the Markov chain tells of tiny systems."""
    yield "## The exact chain of tiny systems\n"
    yield (
        "The Markov chain of jobs in service and in a closed queue, solved in full. Eq. 5 "
        "only covers first come, first served.\n"
    )
    rows = []
    for tiny in TINY:
        loss, states = truth(tiny)
        fcfs = tiny.waiting == 1
        rows.append(
            (
                f"{tiny.law}, {tiny.clusters} x {tiny.size}",
                tiny.policy,
                f"{states:,}",
                f"{loss:.4f}",
                shown(outcome.loss(tiny.point)),
                f"{formula(tiny.point):.4f}" if fcfs else "-",
            )
        )
    heads = ("system", "policy", "states", "true loss", "simulated", "approximated (eq. 5)")
    yield from _table(heads, rows)


def of_logs(
    outcome: Outcome, logs: Sequence[Log], points: Mapping[tuple[str, str], Point], sources: str
) -> Iterator[str]:
    """Yield Tables 1 and 2, and the losses of Fig. 7."""
    yield f"## Tables 1 and 2: the {logs_in_words(logs)} at hand\n"
    these = "This is" if len(logs) == 1 else "These are"
    yield (
        f"{these} {sources}. The paper's DAS is the largest cluster of DAS1, of 128 processors. "
        "Jobs of more than 128 processors are left out of Fig. 7.\n"
    )
    yield from _table(
        ("", "jobs", "number", "mean", "cv"),
        (
            (table, jobs, f"{count:,}", f"{mean:,.2f}", f"{cv:.2f}")
            for log in logs
            for table, jobs, count, mean, cv in log.statistics()
        ),
    )
    yield from _table(
        ("Fig. 7", "unordered", "total"),
        (
            (
                log.name,
                *(
                    shown(outcome.loss(points[log.name, request]))
                    for request in ("unordered", "total")
                ),
            )
            for log in logs
        ),
    )


def of_columns(clusters: int, row: Row) -> Iterator[tuple[str, str, Point, float | None, bool]]:
    """Yield the columns of a row: kind, of what, the system, the paper's, whether simulated."""
    points = of_row(clusters, row)
    of = (
        ("one cluster", "single", row.single_exact, row.single_simulation),
        ("ordered", "ordered", row.ordered_exact, row.ordered_simulation),
        ("unordered", "unordered", row.unordered_approximation, row.unordered_simulation),
        ("total", "total", row.total_exact, None),
    )
    for name, key, exact, simulated in of:
        kind = "approximated" if name == "unordered" else "exact"
        yield kind, name, points[key], exact, False
        yield "simulated", name, points[key], simulated, True


def laws() -> Iterator[str]:
    """Yield the laws of Table 5, with what eq. 2 tells of each."""
    yield "## Table 5, and eq. 2 for Fig. 3\n"
    yield "The paper's means and coefficients of variation are among the digits that are lost.\n"
    rows = []
    for text in TABLE_5:
        law = parse_sizes(text, SIZE)
        exact = (f"{formula(point(text, request)):.4f}" for request in ("ordered", "total"))
        rows.append((text, f"{law.mean:.3f}", f"{law.cv:.3f}", *exact))
    yield from _table(("sizes", "mean", "cv", "loss, ordered", "loss, total"), rows)


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield "|---" * len(heads) + "|"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""


def shown(value: Interval) -> str:
    """Return a loss with its interval, in words."""
    if math.isnan(value.mean):
        return "none"
    if float(value.mean).is_integer() and not value.half_width:
        return f"{value.mean:z.0f}"
    mean = f"{value.mean:z.4f}"
    if not value.half_width:
        return mean
    return f"{mean} ± {math.ceil(value.half_width * 1e4) / 1e4:.4f}"
