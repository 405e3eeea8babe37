"""How the claims of `maxutil` are judged by our formulas and runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from experiments.papers import judging as judge
from experiments.papers.judging import FAILS, HOLDS, OPEN, Measured, Verdict
from experiments.papers.maxutil.examples import ORDERS, PAIR, extreme_loss, started_at_once
from experiments.papers.maxutil.logs import Log
from experiments.papers.maxutil.loss_bars import short
from experiments.papers.maxutil.losses import Outcome, farthest, formula, truth
from experiments.papers.maxutil.paper_tables import SECTION_7, TABLE_5, Row
from experiments.papers.maxutil.systems import (
    DEPENDENT,
    ENDS,
    FIRST_FIT,
    FULL_QUEUES,
    IMPROVED,
    LASTING,
    POISSON,
    ROWS,
    SERVICE,
    STUDIED,
    TINY,
    UNORDERED,
    Point,
    log_points,
    of_row,
    point,
)
from experiments.sweeps.statistics import Interval, mean_interval

EXACT, APPROXIMATE, SIMULATED, ARRIVING = 0.0005, 0.001, 0.001, 0.002
"""How near the columns of Tables 3 and 4 shall be: exact, approximate, and simulated to exact, in
heavy traffic and with Poisson arrivals."""
PRINTED = 0.005
"""How near the paper's simulations lie to the truth."""
READABLE = 0.01
"""What can just be told apart in the paper's figures."""
EXTREME, MANY = (2, 4, 16), 1000
"""Numbers of clusters, and their size, that section 3's example is tried with."""


def _near(measured: Sequence[Measured], most: float) -> Verdict:
    """Judge that all differences are small; the evidence is the largest of those that decide."""
    verdict = judge.all_inside(measured, -most, most)
    deciding = [
        each
        for each in measured
        if judge.inside(each.value, -most, most, len(measured)) == verdict.word
    ]
    return verdict._replace(evidence=(farthest(deciding),))


def _known(where: str, value: float) -> Measured:
    """Return a number without error."""
    return Measured(where, Interval(value, 0.0))


def _less(where: str, interval: Interval, value: float) -> Measured:
    return Measured(where, interval.moved(-value))


# Tables 3 and 4 ---------------------------------------------------------------------------------


def columns(row: Row, clusters: int) -> Iterable[tuple[str, Point, float, float]]:
    """Yield of a row the exact columns: of which kind, the system, the paper's two numbers."""
    points = of_row(clusters, row)
    yield "one cluster", points["single"], row.single_exact, row.single_simulation
    yield "ordered", points["ordered"], row.ordered_exact, row.ordered_simulation
    yield "total", points["total"], row.total_exact, row.total_exact


def exact_columns(outcome: Outcome) -> Verdict:
    """Judge how far eq. 2 is from the exact columns as printed."""
    found = [
        _known(f"ours - the paper's, {name}, {row.law}", formula(each) - exact)
        for clusters, row in ROWS
        for name, each, exact, _ in columns(row, clusters)
    ]
    return _near(found, EXACT + 1e-9)


def approximate_column(outcome: Outcome) -> Verdict:
    """Judge how far eq. 5 is from the approximate column as printed."""
    found = [
        _known(
            f"ours - the paper's, {row.law}",
            formula(of_row(clusters, row)["unordered"]) - row.unordered_approximation,
        )
        for clusters, row in ROWS
    ]
    return _near(found, APPROXIMATE)


def simulated_columns(outcome: Outcome) -> Verdict:
    """Judge how far our simulations are from what is exact."""
    found = [
        _less(f"simulated - exact, {name}, {row.law}", outcome.loss(each), formula(each))
        for clusters, row in ROWS
        for name, each, _, _ in columns(row, clusters)
    ]
    return _near(found, SIMULATED)


def arriving(outcome: Outcome) -> Verdict:
    """Judge how far our simulations with Poisson arrivals are from what is exact."""
    found = [
        _less(f"simulated - exact, {name}, {row.law}", outcome.loss(each), formula(each))
        for clusters, row in ROWS
        for name in ("single", "ordered")
        for each in (POISSON[clusters, row.law, name],)
    ]
    return _near(found, ARRIVING)


def both_ways(outcome: Outcome) -> Verdict:
    """Judge how far simulations of unordered requests are apart, of the paper's two kinds."""
    found = [
        outcome.more(each, of_row(clusters, row)["unordered"], f"Poisson - heavy traffic, {law}")
        for clusters, row in ROWS
        for law in (row.law,)
        for each in (POISSON.get((clusters, law, "unordered")),)
        if each is not None
    ]
    return _near(found, ARRIVING)


def paper_simulations(outcome: Outcome) -> Verdict:
    """Judge how far our simulations are from the paper's."""
    found = []
    for clusters, row in ROWS:
        for name, each, _, simulated in columns(row, clusters):
            where = f"ours - the paper's, {name}, {row.law}"
            found.append(_less(where, outcome.loss(each), simulated))
        unordered = of_row(clusters, row)["unordered"]
        where = f"ours - the paper's, unordered, {row.law}"
        found.append(_less(where, outcome.loss(unordered), row.unordered_simulation))
    return _near(found, PRINTED)


def approximation(outcome: Outcome) -> Verdict:
    """Judge how far our simulations are from eq. 5."""
    found = []
    for clusters, row in ROWS:
        each = of_row(clusters, row)["unordered"]
        where = f"simulated - approximated, {clusters} clusters, {row.law}"
        found.append(_less(where, outcome.loss(each), formula(each)))
    return _near(found, READABLE)


def freedom(outcome: Outcome) -> Verdict:
    """Judge that losses fall with freedom in each row but that of which all jobs are alike."""
    found = []
    for clusters, row in ROWS:
        if row.ordered_exact == row.total_exact:
            continue
        points = of_row(clusters, row)
        for one, other in (("ordered", "unordered"), ("unordered", "total")):
            where = f"{one} - {other}, {row.law}"
            found.append(outcome.more(points[one], points[other], where))
    return judge.all_above_zero(found)


# Section 7 --------------------------------------------------------------------------------------


def _of_law(outcome: Outcome, law: str, request: str) -> Interval:
    """Return the loss for one of the five laws, by eq. 2 where that is exact."""
    if request == "unordered":
        return outcome.loss(UNORDERED[law])
    return Interval(formula(point(law, request)), 0.0)


def figure_3(outcome: Outcome) -> Verdict:
    """Judge that losses fall from ordered to unordered to total requests for the five laws."""
    found = []
    for law in TABLE_5:
        unordered = outcome.losses(UNORDERED[law])
        for where, more in (
            ("ordered - unordered", formula(point(law, "ordered")) - unordered),
            ("unordered - total", unordered - formula(point(law, "total"))),
        ):
            found.append(Measured(f"{where}, {short(law)}", mean_interval(more)))
    return judge.all_above_zero(found)


def halved(outcome: Outcome) -> Verdict:
    """Judge that unordered requests lose about half of what ordered ones do, for all but one."""
    ratios = []
    for law in TABLE_5:
        unordered, ordered = outcome.losses(UNORDERED[law]), formula(point(law, "ordered"))
        ratios.append(
            Measured(f"unordered / ordered, {short(law)}", mean_interval(unordered / ordered))
        )
    halves = [judge.inside(each.value, 0.4, 0.6, len(ratios)) for each in ratios]
    if OPEN in halves:
        return Verdict(OPEN, tuple(ratios))
    holds = halves.count(FAILS) == 1 and FAILS in halves[2::2]
    return Verdict(HOLDS if holds else FAILS, tuple(ratios))


def poorer(outcome: Outcome, request: str) -> Verdict:
    """Judge that losses rise with the spread among laws of one mean, and with the mean."""
    of = {law: Measured(short(law), _of_law(outcome, law, request)) for law in TABLE_5}
    verdict = judge.all_of(
        judge.rises([of[law] for law in TABLE_5[:3]]), judge.rises([of[law] for law in TABLE_5[3:]])
    )
    of_means = judge.all_of(
        judge.rises([of[TABLE_5[0]], of[TABLE_5[3]]]), judge.rises([of[TABLE_5[2]], of[TABLE_5[4]]])
    )
    return Verdict(judge.all_of(verdict, of_means).word, tuple(of.values()))


def dependent(outcome: Outcome, laws: Sequence[str], poorer: bool) -> Verdict:
    """Judge that dependent sizes lose more than independent ones, or less."""
    found = []
    for law in laws:
        one, other = DEPENDENT[law], UNORDERED[law]
        name = "dependent - independent" if poorer else "independent - dependent"
        one, other = (one, other) if poorer else (other, one)
        found.append(outcome.more(one, other, f"{name}, {short(law)}"))
    verdict = judge.all_above_zero(found)
    return Verdict(verdict.word, tuple(found))


def only_the_mean(outcome: Outcome) -> Verdict:
    """Judge that losses of dependent sizes of one mean are alike."""
    found = []
    for group in (TABLE_5[:3], TABLE_5[3:]):
        for law in group[1:]:
            where = f"{short(law)} - {short(group[0])}, dependent"
            found.append(outcome.more(DEPENDENT[law], DEPENDENT[group[0]], where))
    return Verdict(_near(found, READABLE).word, tuple(found))


def service_numbers(outcome: Outcome) -> Verdict:
    """Judge the losses that section 7.1 prints."""
    found, off = [], []
    for (request, service), printed in SECTION_7.items():
        each = SERVICE[STUDIED, request, ENDS[0] if service == "deterministic" else ENDS[-1]]
        loss = outcome.loss(each)
        found.append(Measured(f"{request}, {service} (the paper: {printed:g})", loss))
        off.append(_less("", loss, printed))
    return Verdict(_near(off, PRINTED).word, tuple(found))


def service_matters_little(outcome: Outcome, laws: Sequence[str]) -> Verdict:
    """Judge that service times change the loss by less than a quarter."""
    found = []
    for law in laws:
        for request in ("ordered", "unordered"):
            first, *_, last = (outcome.losses(SERVICE[law, request, each]) for each in ENDS)
            where = f"share that hyperexponential adds to deterministic, {request}, {short(law)}"
            found.append(Measured(where, mean_interval(last / first - 1.0)))
    ordered = sorted(found, key=lambda each: each.value.mean)
    return Verdict(_near(found, 0.25).word, (ordered[0], ordered[-1]))


def sizes_matter_more(outcome: Outcome, laws: Sequence[str]) -> Verdict:
    """Judge that losses vary more among laws of sizes of one mean than among service times.

    They rise with the spread of either, so that it is the ends that are compared, run by run.
    """
    found = []
    for request in ("ordered", "unordered"):
        narrowest, *_, widest = (
            outcome.losses(SERVICE[law, request, ENDS[1]]) for law in TABLE_5[:3]
        )
        for law in laws:
            first, *_, last = (outcome.losses(SERVICE[law, request, each]) for each in ENDS)
            more = mean_interval((widest - narrowest) - (last - first))
            where = f"spread by sizes less that by times, {request}, {short(law)}"
            found.append(Measured(where, more))
    return judge.all_above_zero(found)


def overtaking(outcome: Outcome, jumps: int, low: float, high: float) -> Verdict:
    """Judge how much FPFS gains over FCFS, for each queue to begin with; open if they differ."""
    found: list[Measured] = []
    words = []
    for queue in FULL_QUEUES:
        # Runs of FPFS are shorter, but of the same seeds.
        gains = [
            outcome.more(
                UNORDERED[law],
                LASTING[law, jumps, queue],
                f"{queue[0]:,} in the beginning, below {queue[1]:,}, {short(law)}",
            )
            for law in IMPROVED
        ]
        found += gains
        words.append(judge.all_inside(gains, low, high).word)
    return Verdict(judge.joint(words), tuple(found))


def placement(outcome: Outcome) -> Verdict:
    """Tell by how much the losses of the two placements differ; no number says what is much."""
    found = [
        outcome.more(FIRST_FIT[law], UNORDERED[law], f"First Fit - Worst Fit, {short(law)}")
        for law in TABLE_5
    ]
    return Verdict(OPEN, tuple(found))


def coallocation(outcome: Outcome) -> Verdict:
    """Judge that jobs in one component lose more than in four."""
    found = outcome.more(DEPENDENT[STUDIED], UNORDERED[STUDIED], "without - with co-allocation")
    return judge.all_above_zero([found])


def large(outcome: Outcome) -> Verdict:
    """Judge that co-allocation may lose more than half."""
    found = [_known(f"ordered, {short(law)}", formula(point(law, "ordered"))) for law in TABLE_5]
    worst = farthest(found)
    return Verdict(HOLDS if worst.value.mean > 0.5 else FAILS, (worst,))


# The examples of the text -----------------------------------------------------------------------


def extreme(outcome: Outcome) -> Verdict:
    """Judge the limit of section 3's example."""
    found, off = [], []
    for clusters in EXTREME:
        loss = extreme_loss(clusters, MANY)
        found.append(_known(f"loss, {clusters} clusters of {MANY:,}", loss))
        off.append(_known("", loss - (clusters - 0.5) / clusters))
    return Verdict(_near(off, READABLE).word, tuple(found))


def order_matters(outcome: Outcome) -> Verdict:
    """Judge that the order of section 4.2's example decides what runs together."""
    found = [
        _known(f"jobs at once, {' '.join(map(str, order))}", started_at_once(order, PAIR))
        for order in ORDERS
    ]
    holds = [each.value.mean for each in found] == [3, 2]
    return Verdict(HOLDS if holds else FAILS, tuple(found))


# The Markov chain -------------------------------------------------------------------------------


def against_truth(outcome: Outcome) -> Verdict:
    """Judge how far our simulations are from the Markov chain."""
    found = []
    for tiny in TINY:
        where = f"simulated - true, {tiny.law}, {tiny.clusters} x {tiny.size}, {tiny.policy}"
        found.append(_less(where, outcome.loss(tiny.point), truth(tiny)[0]))
    return _near(found, SIMULATED)


# Logs -------------------------------------------------------------------------------------------


def logs_alike(logs: Sequence[Log]) -> Callable[[Outcome], Verdict]:
    """Return what tells by how much losses for two logs differ; they are not the paper's."""
    paths = {log.name: log.path for log in logs}

    def judged(outcome: Outcome) -> Verdict:
        points = log_points(paths["CTC"], paths["DAS"])
        found = [
            outcome.more(points["CTC", request], points["DAS", request], f"CTC - DAS, {request}")
            for request in ("unordered", "total")
        ]
        return Verdict(OPEN, tuple(found))

    return judged
