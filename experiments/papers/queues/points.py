"""What Figs. 3 to 18 of `queues` compare: the points of each, and the runs at each point.

The paper does not print its utilizations, only that some policy is close to its maximal one. Those
here follow from the maximal utilizations that our search finds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from agents.model import GridModel
from experiments.papers.queues.saturation import SATURATION, Case
from experiments.scenario.scenario import Scenario
from experiments.sweeps.no_steady_state import is_far_lost
from experiments.sweeps.sweep import Observation, Run

JOBS, FEWEST = 1_000_000, 1000
"""Jobs of a run that count, at scale 1; the paper does not print its own number."""
WARM_UP = 0.1
"""Jobs that come first, before those, in units of them: clusters begin empty."""
CLOSE = 0.97
"""Of the lowest maximal utilization of the policies of a figure: "close to the maximum"."""
CLOSER = 0.98
"""Of the greatest one: there other policies are saturated, or runs cannot tell whether they are."""

GS, GP, LQ = "gs", "gp", "lq"
LS = LS_OR, LS_RD, LS_RO, LS_DO = "ls-or", "ls-rd", "ls-ro", "ls-do"
LP = LP_LF, LP_GF, LP_RD = "lp-lf", "lp-gf", "lp-rd"
EQ = EQ_LF, EQ_GF, EQ_RD = "eq-lf", "eq-gf", "eq-rd"
SIX = GS, LS_DO, GP, LP_GF, EQ_GF, LQ
"""The policies of Figs. 9 to 14, each in its best version."""
FIVE = LS_OR, GP, LP_LF, EQ_LF, LQ
"""Those of Fig. 18."""
SEPARATE = GP, LP_GF, EQ_GF, LQ
"""Policies with local queues and a global one."""

ALIKE = Case((25, 25, 25, 25))
SINGLE = Case((100, 0, 0, 0))
HALF_FOUR = Case((50, 0, 0, 50))
FOUR = Case((0, 0, 0, 100))
UP_TO_THREE = Case((50, 25, 25, 0))
TWO_THREE = Case((0, 50, 50, 0))
UP_TO_TWO = Case((50, 50, 0, 0))
LOCAL_80 = Case((80, 0, 0, 20))
LOCAL_90 = Case((90, 0, 0, 10))
UNBALANCED = Case((80, 0, 0, 20), balanced=False)
CASES = (
    *(ALIKE, SINGLE, HALF_FOUR, FOUR, UP_TO_THREE, TWO_THREE, UP_TO_TWO, LOCAL_80, LOCAL_90),
    UNBALANCED,
)
"""Table 1 of the paper, row by row."""

BALANCED_LS = (ALIKE, HALF_FOUR, FOUR, UP_TO_THREE, TWO_THREE, UP_TO_TWO, LOCAL_80, LOCAL_90)
"""Fig. 3, a to h."""
MIXED = (ALIKE, HALF_FOUR, UP_TO_THREE, UP_TO_TWO, LOCAL_80, LOCAL_90)
"""Figs. 5 and 7, and one by one Figs. 9 to 14."""
OF_FIGURE = {9 + index: case for index, case in enumerate(MIXED)} | {
    15: SINGLE,
    16: FOUR,
    17: TWO_THREE,
    18: UNBALANCED,
}
"""The case of each of Figs. 9 to 18."""
FIGURES = tuple(range(3, 19))


@dataclass(frozen=True)
class Point:
    """A policy under a workload.

    Attributes
    ----------
    case : Case
    policy : str
    load : float
        Offered, of which 1 is all that the clusters do.
    """

    case: Case
    policy: str
    load: float

    @property
    def name(self) -> str:
        """What its policy is called."""
        return self.policy.upper()

    @property
    def where(self) -> str:
        """Its workload, in words."""
        return f"{self.case} at {self.load:g}"


def close_to_maximum(case: Case, policies: Iterable[str]) -> float:
    """Return a load that all of some policies bear, and that is close to the least of their maxima.

    It is rounded down to a thousandth.
    """
    least = min(SATURATION[case][policy][0] for policy in policies)
    return math.floor(1000 * CLOSE * least) / 1000


def close_to_greatest(case: Case) -> float:
    """Return a load that is closer still to the greatest of the maxima of `SIX`."""
    return math.floor(1000 * CLOSER * max(SATURATION[case][policy][0] for policy in SIX)) / 1000


COMMON = min(
    close_to_maximum(case, SATURATION[case].keys() & {*SIX}) for case in CASES if case.balanced
)
"""A load that all balanced cases have in common, for claims that compare job-stream compositions;
no figure of the paper."""


def versions_of_ls(case: Case) -> float:
    """Return the load of Figs. 3 and 4."""
    return close_to_maximum(case, LS)


def versions_of_lp_and_eq(case: Case) -> float:
    """Return the load of Figs. 5 to 8: one for both policies, so that they can be compared."""
    return close_to_maximum(case, (*LP, *EQ))


def compared(figure: int) -> float:
    """Return the (first) load of one of Figs. 9 to 18."""
    case = OF_FIGURE[figure]
    policies = FIVE if figure == 18 else SIX if figure < 15 else (GS, LS_DO)
    return close_to_maximum(case, policies)


def panels(figure: int) -> list[list[Point]]:
    """Return the points of each chart of a figure."""
    if figure in (3, 4):
        of_ls = BALANCED_LS if figure == 3 else (UNBALANCED,)
        return [_points(case, LS, versions_of_ls(case)) for case in of_ls]
    if figure in (5, 6, 7, 8):
        cases = MIXED if figure in (5, 7) else (UNBALANCED,)
        versions = LP if figure in (5, 6) else EQ
        return [_points(case, versions, versions_of_lp_and_eq(case)) for case in cases]
    case, first = OF_FIGURE[figure], compared(figure)
    if figure < 15:
        return [_points(case, SIX, load) for load in (first, close_to_greatest(case))]
    return [_points(case, FIVE if figure == 18 else (GS, LS_DO), first)]


def points(figure: int) -> list[Point]:
    """Return all points of a figure, beside those in its charts those for claims about it."""
    found = [point for panel in panels(figure) for point in panel]
    if 9 <= figure <= 17:
        case = OF_FIGURE[figure]
        if figure != 17:
            found += _points(case, SIX, COMMON)
        if figure >= 15:
            found += _points(case, (*LS, *SEPARATE), compared(figure))
    return list(dict.fromkeys(found))


def _points(case: Case, policies: Sequence[str], load: float) -> list[Point]:
    return [Point(case, policy, load) for policy in policies]


def jobs_of(scale: float) -> int:
    """Return the jobs of a run that count."""
    return max(FEWEST, round(JOBS * scale))


@cache
def of_case(case: Case) -> Scenario:
    """Return the scenario of a case: its load, jobs and policy are the product's."""
    settings = ["composition=" + ",".join(map(str, case.composition))]
    if not case.balanced:
        settings.append("queue_shares=40,20,20,20")
    return Scenario.load("queues").changed(settings)


def scenario(point: Point, jobs: int) -> Scenario:
    """Return what is run at a point."""
    settings = [f"load={point.load!r}", f"jobs={jobs}", f"warmup={round(WARM_UP * jobs)}"]
    return of_case(point.case).changed(settings, global_scheduler=point.policy)


def run(point: Point, scale: float, seed: int) -> Run:
    """Return a run at a point, of which one of few jobs tells the time."""
    jobs = jobs_of(scale)
    probe = scenario(point, min(jobs, 5000))
    return Run(scenario(point, jobs), seed, (point.policy,), probe)


def observe(model: GridModel, steps: Iterable[None]) -> Observation:
    """Return mean response times, and whether the queues settled.

    A run whose queues grow without end is not carried to its own.
    """
    model.world.log.stream(None)
    for _ in steps:
        if is_far_lost(model):
            break
    found = model.world.statistics
    responses = found.responses
    assert responses is not None
    settled = found.stable is not False and not is_far_lost(model)
    return {
        "total": [found.mean_turnaround or 0.0],
        "local": [responses.local],
        "global": [responses.everywhere],
        **{f"queue {1 + at}": [float(responses.queues[at])] for at in range(model.world.clusters)},
        "stable": [float(settled)],
    }


# Where the point of a policy lies ---------------------------------------------------------------

At = Callable[[str], Point]
"""Tells the point of a policy in some chart."""


def ls(case: Case) -> At:
    """Return where the point of a policy lies in Figs. 3 and 4."""
    return lambda policy: Point(case, policy, versions_of_ls(case))


def versions(case: Case) -> At:
    """Return where the point of a policy lies in Figs. 5 to 8."""
    return lambda policy: Point(case, policy, versions_of_lp_and_eq(case))


def chart(figure: int) -> At:
    """Return where the point of a policy lies in the (first) chart of one of Figs. 9 to 18."""
    return lambda policy: Point(OF_FIGURE[figure], policy, compared(figure))


def charts(*figures: int) -> list[At]:
    """Return the same of both charts of some of Figs. 9 to 14."""

    def second(case: Case) -> At:
        return lambda policy: Point(case, policy, close_to_greatest(case))

    return [at for each in figures for at in (chart(each), second(OF_FIGURE[each]))]


def common(case: Case) -> At:
    """Return the same at the load that all cases have in common."""
    return lambda policy: Point(case, policy, COMMON)
