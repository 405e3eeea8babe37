"""What section 5 of `muscle` claims of its Figs. 4 to 7, and how our runs judge it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from experiments.papers import judging as judge
from experiments.papers.claims_report import Claim, claim
from experiments.papers.judging import Measured, Verdict
from experiments.papers.muscle.points import (
    DLL,
    FIGURES,
    LIST,
    MUSCLE,
    PRINTED,
    STARTS,
    TITANS,
    WRAND,
    Point,
    Series,
)
from experiments.papers.muscle.savings import NAMES, Outcome, Place, where


class Reading(NamedTuple):
    """One of the ways in which the experiments can be read: whose TITAN, and how it starts."""

    titan: str
    start: str


READINGS = tuple(Reading(titan, start) for titan in TITANS for start in STARTS)

Where = Callable[[Point], bool]

LITTLE = 0.1
"""Share up to which one is a little better or worse than another, and savings are similar."""

DEPENDS = "depends"
"""Verdicts under the readings differ, and none of them is open."""

TOLERANCE = 0.02
"""Half-width (share) up to which all numbers of an open claim are known so well that it is too
close to call."""


def _of(outcome: Outcome, figure: int, holds: Where, sizes: str = "uniform") -> list[Point]:
    law = "log-uniform" if figure == 7 else sizes
    return [
        point
        for point in outcome.points
        if point.figure == figure and point.sizes == law and holds(point)
    ]


def _everywhere(point: Point) -> bool:
    return True


def _saves(
    outcome: Outcome,
    reading: Reading,
    *,
    figure: int,
    metric: str = "mcp",
    policies: Sequence[str] = (DLL, WRAND),
    at: Where = _everywhere,
    sizes: str = "uniform",
    least: float = 0.0,
    most: float = math.inf,
) -> Verdict:
    """Judge that MUSCLE saves from `least` to `most` of each policy's at each point (shares)."""
    points = _of(outcome, figure, at, sizes)
    measured = [
        each for policy in policies for each in outcome.savings(points, *reading, policy, metric)
    ]
    return judge.all_inside(measured, least, most)


def _saves_that(
    outcome: Outcome, reading: Reading, *, figure: int, queue: int, policy: str, number: float
) -> Verdict:
    (point,) = _of(outcome, figure, lambda point: point.queue == queue)
    return judge.is_number(outcome.savings([point], *reading, policy)[0], number)


def _course(
    outcome: Outcome,
    reading: Reading,
    *,
    figure: int,
    law: Callable[[Sequence[Measured]], Verdict],
    policies: Sequence[str],
    at: Where = _everywhere,
    backwards: bool = False,
) -> Verdict:
    """Judge the course of what MUSCLE saves along a figure."""
    points = _of(outcome, figure, at)[:: -1 if backwards else 1]
    return judge.all_of(*(law(outcome.savings(points, *reading, each)) for each in policies))


def _loose_gains_least(outcome: Outcome, reading: Reading, *, figure: int) -> Verdict:
    """Judge that at N=40 the loosest deadlines leave little, and less than those of the most."""
    points = _of(outcome, figure, lambda point: point.queue == 40)
    verdicts = []
    for policy in (DLL, WRAND):
        savings = outcome.savings(points, *reading, policy)
        best = max(savings[:-1], key=lambda each: each.value.mean)
        verdicts.append(judge.rises((savings[-1], best)))
        verdicts.append(judge.all_inside(savings[-1:], 0.0, LITTLE))
    return judge.all_of(*verdicts)


def _wrand_beats_dll(outcome: Outcome, reading: Reading, *, figure: int) -> Verdict:
    """Judge that MUSCLE saves less over WRAND than over DLL at N=40 and N=100."""
    points = _of(outcome, figure, lambda point: point.queue in (40, 100))
    verdicts = [
        judge.rises(
            outcome.savings([point], *reading, WRAND) + outcome.savings([point], *reading, DLL)
        )
        for point in points
    ]
    return judge.all_of(*verdicts)


def _few_late(outcome: Outcome, reading: Reading, *, figure: int) -> Verdict:
    """Judge that at N=40 few jobs are late, which is the lesser part of MCP, and more as N grows.

    The share of jobs that are late must rise from the lowest to the highest level.
    """
    points = _of(outcome, figure, _everywhere)
    titan, start = reading
    verdicts = []
    for policy in NAMES:
        series = Series(titan, policy, start if policy != MUSCLE else LIST)
        part = outcome.part(points[0], series)
        at = f"over-deadline in MCP, {where(points[0])}, {NAMES[policy]}"
        lesser = judge.all_above_zero((Measured("", part.scaled(-1).moved(0.5)),))
        late = [
            Measured(
                f"jobs late, {where(point)}, {NAMES[policy]}",
                outcome.value(point, series, "late"),
            )
            for point in (points[0], points[-1])
        ]
        few = judge.all_inside(late[:1], 0.0, LITTLE)
        lesser = lesser._replace(evidence=(Measured(at, part),))
        verdicts.append(judge.all_of(lesser, few, judge.rises(late)))
    return judge.all_of(*verdicts)


def _similar(outcome: Outcome, reading: Reading, *, figure: int, sizes: str) -> Verdict:
    """Judge that MUSCLE's MCP is best at every level, and gains with N, as under uniform sizes."""
    verdicts = [_saves(outcome, reading, figure=figure, sizes=sizes)]
    for policy in (DLL, WRAND):
        here, uniform = (
            outcome.savings(
                _of(outcome, figure, lambda point: point.queue in (40, 100), law), *reading, policy
            )
            for law in (sizes, "uniform")
        )
        verdicts.append(judge.rises(here))
        apart = [
            Measured(f"{one.where}, less uniform", one.value.minus(other.value))
            for one, other in zip(here, uniform, strict=True)
        ]
        verdicts.append(judge.all_inside(apart, -LITTLE, LITTLE))
    return judge.all_of(*verdicts)


def _not_run(outcome: Outcome, reading: Reading, *, figure: int) -> Verdict:
    return Verdict(judge.OPEN)


def _low(point: Point) -> bool:
    return point.queue < 60


def _high(point: Point) -> bool:
    return point.queue >= 60


def _tight_or_high(point: Point) -> bool:
    return point.queue != 40 or point.max_ratio < 5


_figure_4, _figure_5, _figure_6, _figure_7 = (
    partial(claim, (figure,), figure=figure) for figure in FIGURES
)

CLAIMS = (
    _figure_4("MCP of MUSCLE is better than that of DLL and WRAND at every workload level", _saves),
    *(
        _figure_4(
            f"MUSCLE saves this much of the MCP of {NAMES[policy]} at N={queue}",
            _saves_that,
            f"{100 * number:.1f} %",
            queue=queue,
            policy=policy,
            number=number,
        )
        for (queue, policy), number in PRINTED[4].items()
    ),
    _figure_4(
        "The advantage of MUSCLE in MCP grows with the workload level",
        _course,
        "DLL: 12.1 to 56.7 %, WRAND: 8.4 to 48.9 %",
        law=judge.rises,
        policies=(DLL, WRAND),
    ),
    _figure_4(
        "MUSCLE saves more of the MCP of DLL than of WRAND's, by the numbers (N=40, 100)",
        _wrand_beats_dll,
        "12.1 > 8.4, 56.7 > 48.9 %",
    ),
    _figure_4(
        "PB of MUSCLE is slightly worse than that of DLL below N=60",
        _saves,
        metric="pb",
        policies=(DLL,),
        at=_low,
        least=-LITTLE,
        most=0.0,
    ),
    _figure_4(
        "PB of MUSCLE is much better than that of DLL from N=60 on",
        _saves,
        metric="pb",
        policies=(DLL,),
        at=_high,
        least=LITTLE,
    ),
    _figure_4(
        "At low load few jobs are late and MCP is mostly makespan and idle-time; more are late as "
        "the load grows",
        _few_late,
    ),
    *(
        _figure_4(
            f"Similar patterns under {law} sizes as under uniform ones (N=40, 100): MCP of MUSCLE "
            "better, its advantage larger at N=100 than at N=40, and similar at both",
            _similar,
            sizes=law,
        )
        for law in ("normal", "log-uniform")
    ),
    _figure_5("MCP of MUSCLE is better than that of DLL and WRAND in every deadline range", _saves),
    _figure_5(
        "At low load (N=40) loose deadlines leave MUSCLE little advantage", _loose_gains_least
    ),
    *(
        _figure_5(
            "As deadlines get shorter the advantage of MUSCLE grows, and then diminishes "
            f"(N={queue})",
            _course,
            law=judge.rises_then_falls,
            policies=(DLL, WRAND),
            at=lambda point, queue=queue: point.queue == queue,
            backwards=True,
        )
        for queue in (40, 100)
    ),
    _figure_5(
        "PB of MUSCLE is much better than that of DLL and WRAND, but at low load with loose "
        "deadlines (N=40, dr to 5 and more)",
        _saves,
        metric="pb",
        at=_tight_or_high,
        least=LITTLE,
    ),
    _figure_6(
        "With weights of its own in each cluster, MCP of MUSCLE is better in all cases", _saves
    ),
    *(
        _figure_6(
            "With weights of its own in each cluster, MUSCLE saves this much of the MCP of "
            f"{NAMES[policy]} at N={queue}",
            _saves_that,
            f"{100 * number:.1f} %",
            queue=queue,
            policy=policy,
            number=number,
        )
        for (queue, policy), number in PRINTED[6].items()
    ),
    _figure_6(
        "The advantage of MUSCLE over DLL grows and then diminishes with the workload level",
        _course,
        "15.6, 57.5, 13.7 %",
        law=judge.rises_then_falls,
        policies=(DLL,),
    ),
    _figure_6(
        "PB of MUSCLE is worse than that of DLL at N=40",
        _saves,
        metric="pb",
        policies=(DLL,),
        at=_low,
        least=-math.inf,
        most=0.0,
    ),
    _figure_6(
        "PB of MUSCLE is much better than that of DLL and WRAND at N=100 and N=160",
        _saves,
        metric="pb",
        at=_high,
        least=LITTLE,
    ),
    _figure_7(
        "MCP of MUSCLE is better than that of DLL and WRAND for every number of clusters", _saves
    ),
    _figure_7(
        "PB of MUSCLE is better than that of DLL and WRAND for every number of clusters",
        _saves,
        metric="pb",
    ),
    _figure_7(
        "The advantage of MUSCLE over WRAND grows with the number of clusters",
        _course,
        law=judge.rises,
        policies=(WRAND,),
    ),
    _figure_7(
        "The advantage of MUSCLE over DLL has no clear trend in the number of clusters",
        _course,
        law=partial(judge.no_trend, margin=LITTLE),
        policies=(DLL,),
    ),
    _figure_7("Other initial workload levels than N=80 show similar patterns (not run)", _not_run),
)


@dataclass(frozen=True)
class Judged:
    """A claim and its verdict under each reading, and over all of them.

    Attributes
    ----------
    claim : Claim
    verdicts : dict of Reading to Verdict
    open_at : dict of Reading to set of Place
        What each verdict rests on that more runs might decide.
    """

    claim: Claim
    verdicts: dict[Reading, Verdict]
    open_at: dict[Reading, set[Place]]

    @property
    def word(self) -> str:
        """The verdict that all readings share; if they differ, that it depends, or is open."""
        found = [verdict.word for verdict in self.verdicts.values()]
        shared = judge.joint(found)
        return DEPENDS if shared == judge.OPEN and judge.OPEN not in found else shared

    @property
    def tally(self) -> str:
        """How many readings have which verdict, if they differ; else nothing."""
        counts = Counter(verdict.word for verdict in self.verdicts.values())
        if len(counts) == 1:
            return ""
        words = (judge.HOLDS, judge.FAILS, judge.CLOSE, judge.OPEN)
        return ", ".join(f"{word} in {counts[word]}" for word in words if counts[word])


def judged(outcome: Outcome, figures: Sequence[int], before: Sequence[Judged] = ()) -> list[Judged]:
    """Judge the claims of figures; those of one some rounds of which are not whole are open.

    Verdicts that were reached `before`, with fewer runs of the same, stand if they are lasting.
    """
    known = {each.claim: each for each in before}
    return [
        _judged(claim, outcome, known.get(claim)) for claim in CLAIMS if claim.parts[0] in figures
    ]


def _judged(claim: Claim, outcome: Outcome, before: Judged | None) -> Judged:
    verdicts: dict[Reading, Verdict] = {}
    open_at: dict[Reading, set[Place]] = {}
    for reading in READINGS:
        decided = before is not None and reading not in before.open_at
        if before is not None and decided and before.verdicts[reading].lasting:
            verdicts[reading] = before.verdicts[reading]
            continue
        with outcome.asked() as asked:
            found = claim.judge(outcome, reading)
        if outcome.cut(claim.parts[0]):
            found = Verdict(judge.OPEN, found.evidence)
        elif found.word == judge.OPEN and max(asked.halves, default=math.inf) <= TOLERANCE:
            found = Verdict(judge.CLOSE, found.evidence)
        elif found.word == judge.OPEN and asked.places:
            open_at[reading] = asked.places
        verdicts[reading] = found
    return Judged(claim, verdicts, open_at)
