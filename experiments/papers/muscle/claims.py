"""What section 5 of `muscle` claims of its Figs. 4 to 7, and how our runs judge it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from experiments.papers import claims as judge
from experiments.papers.claims import Measured, Verdict
from experiments.papers.muscle.outcome import NAMES, Outcome, where
from experiments.papers.muscle.points import DLL, LIST, MUSCLE, STARTS, TITANS, WRAND, Point, Series
from experiments.sweeps.statistics import Interval


class Reading(NamedTuple):
    """One of the ways in which the experiments can be read: whose TITAN, and how it starts."""

    titan: str
    start: str


READINGS = tuple(Reading(titan, start) for titan in TITANS for start in STARTS)

Judge = Callable[[Outcome, Reading], Verdict]


@dataclass(frozen=True)
class Claim:
    """A claim of the paper.

    Attributes
    ----------
    figure : int
        That it is about.
    text : str
        In our words.
    paper : str
        The number that the paper prints, if any.
    judge : callable
        Judges it under one reading of the experiments.
    """

    figure: int
    text: str
    paper: str
    judge: Judge

    def verdict(self, outcome: Outcome, reading: Reading) -> Verdict:
        """Return its verdict under a reading; open if rounds of its figure are cut short."""
        found = self.judge(outcome, reading)
        return Verdict(judge.OPEN, found.evidence) if outcome.cut(self.figure) else found


Where = Callable[[Point], bool]


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
    less: bool = False,
) -> Verdict:
    """Judge that MUSCLE is better than each policy at each point, or worse (`less`)."""
    points = _of(outcome, figure, at, sizes)
    measured = [
        each for policy in policies for each in outcome.savings(points, *reading, policy, metric)
    ]
    if not less:
        return judge.all_above_zero(measured)
    word = judge.all_above_zero(
        [Measured(at, Interval(-value.mean, value.half_width)) for at, value in measured]
    ).word
    return Verdict(word, judge.all_above_zero(measured).evidence)


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
    verdicts = [law(outcome.savings(points, *reading, policy)) for policy in policies]
    first, *rest = verdicts
    for verdict in rest:
        first = judge.both(first, verdict)
    return first


def _loose_gains_least(outcome: Outcome, reading: Reading) -> Verdict:
    """Judge that at N=40 the loosest deadlines leave MUSCLE the least advantage but one."""
    points = _of(outcome, 5, lambda point: point.queue == 40)
    verdicts = []
    for policy in (DLL, WRAND):
        savings = outcome.savings(points, *reading, policy)
        best = max(savings[:-1], key=lambda each: each.value.mean)
        verdicts.append(judge.rises((savings[-1], best)))
    return judge.both(*verdicts)


def _wrand_beats_dll(outcome: Outcome, reading: Reading) -> Verdict:
    """Judge that MUSCLE saves less over WRAND than over DLL at N=40 and N=100."""
    points = _of(outcome, 4, lambda point: point.queue in (40, 100))
    verdicts = [
        judge.rises(
            outcome.savings([point], *reading, WRAND) + outcome.savings([point], *reading, DLL)
        )
        for point in points
    ]
    return judge.both(*verdicts)


def _few_late(outcome: Outcome, reading: Reading) -> Verdict:
    """Judge that at N=40 over-deadline is the lesser part of MCP, and that lateness grows with N.

    The share of jobs that are late must rise from the lowest to the highest level.
    """
    points = _of(outcome, 4, _everywhere)
    titan, start = reading
    verdicts = []
    for policy in (MUSCLE, DLL):
        series = Series(titan, policy, start if policy != MUSCLE else LIST)
        part = outcome.part(points[0], series)
        at = f"over-deadline in MCP, {where(points[0])}, {NAMES[policy]}"
        lesser = judge.all_above_zero((Measured("", Interval(0.5 - part.mean, part.half_width)),))
        late = judge.rises(
            [
                Measured(
                    f"jobs late, {where(point)}, {NAMES[policy]}",
                    outcome.value(point, series, "late"),
                )
                for point in (points[0], points[-1])
            ]
        )
        verdicts.append(judge.both(Verdict(lesser.word, (Measured(at, part),)), late))
    return judge.both(*verdicts)


def _similar(outcome: Outcome, reading: Reading, *, sizes: str) -> Verdict:
    """Judge that MUSCLE's MCP is best at every level, as under uniform sizes, and gains with N."""
    verdict = _saves(outcome, reading, figure=4, sizes=sizes)
    points = _of(outcome, 4, lambda point: point.queue in (40, 100), sizes)
    for policy in (DLL, WRAND):
        verdict = judge.both(verdict, judge.rises(outcome.savings(points, *reading, policy)))
    return verdict


def _not_run(outcome: Outcome, reading: Reading) -> Verdict:
    return Verdict(judge.OPEN)


def _low(point: Point) -> bool:
    return point.queue < 60


def _high(point: Point) -> bool:
    return point.queue >= 60


def _low_and_loose(point: Point) -> bool:
    return point.queue == 40 and point.max_ratio >= 5


def _tight_or_high(point: Point) -> bool:
    return not _low_and_loose(point)


CLAIMS = (
    Claim(
        4,
        "MCP of MUSCLE is better than that of DLL and WRAND at every workload level",
        "",
        partial(_saves, figure=4),
    ),
    *(
        Claim(
            4,
            f"It saves this much of the MCP of {NAMES[policy]} at N={queue}",
            f"{100 * number:.1f} %",
            partial(_saves_that, figure=4, queue=queue, policy=policy, number=number),
        )
        for queue, policy, number in (
            (40, DLL, 0.121),
            (40, WRAND, 0.084),
            (100, DLL, 0.567),
            (100, WRAND, 0.489),
        )
    ),
    Claim(
        4,
        "The advantage grows with the workload level",
        "12.1 to 56.7 %",
        partial(_course, figure=4, law=judge.rises, policies=(DLL, WRAND)),
    ),
    Claim(
        4,
        "DLL is the weaker rival: MUSCLE saves more of its MCP than of WRAND's (N=40, 100)",
        "12.1 > 8.4, 56.7 > 48.9 %",
        _wrand_beats_dll,
    ),
    Claim(
        4,
        "PB of MUSCLE is slightly worse than that of DLL below N=60",
        "",
        partial(_saves, figure=4, metric="pb", policies=(DLL,), at=_low, less=True),
    ),
    Claim(
        4,
        "PB of MUSCLE is much better than that of DLL from N=60 on",
        "",
        partial(_saves, figure=4, metric="pb", policies=(DLL,), at=_high),
    ),
    Claim(
        4,
        "At low load few jobs are late and MCP is mostly makespan and idle-time; more are late as "
        "the load grows",
        "",
        _few_late,
    ),
    *(
        Claim(
            4,
            f"Similar patterns under {law} sizes: MCP better at every level, advantage larger at "
            "N=100 than at N=40",
            "",
            partial(_similar, sizes=law),
        )
        for law in ("normal", "log-uniform")
    ),
    Claim(
        5,
        "MCP of MUSCLE is better than that of DLL and WRAND in every deadline range",
        "",
        partial(_saves, figure=5),
    ),
    Claim(
        5,
        "At low load (N=40) loose deadlines leave little advantage",
        "",
        _loose_gains_least,
    ),
    *(
        Claim(
            5,
            f"As deadlines get shorter the advantage grows, and then diminishes (N={queue})",
            "",
            partial(
                _course,
                figure=5,
                law=judge.rises_then_falls,
                policies=(DLL, WRAND),
                at=lambda point, queue=queue: point.queue == queue,  # type: ignore[misc]
                backwards=True,
            ),
        )
        for queue in (40, 100)
    ),
    Claim(
        5,
        "PB of MUSCLE is better than that of DLL and WRAND, but at low load with loose deadlines "
        "(N=40, dr to 5 and more)",
        "",
        partial(_saves, figure=5, metric="pb", at=_tight_or_high),
    ),
    Claim(
        6,
        "With weights of its own in each cluster, MCP of MUSCLE is better in all cases",
        "",
        partial(_saves, figure=6),
    ),
    *(
        Claim(
            6,
            f"It saves this much of the MCP of DLL at N={queue}",
            f"{100 * number:.1f} %",
            partial(_saves_that, figure=6, queue=queue, policy=DLL, number=number),
        )
        for queue, number in ((40, 0.156), (100, 0.575), (160, 0.137))
    ),
    Claim(
        6,
        "The advantage over DLL grows and then diminishes with the workload level",
        "15.6, 57.5, 13.7 %",
        partial(_course, figure=6, law=judge.rises_then_falls, policies=(DLL,)),
    ),
    Claim(
        6,
        "PB of MUSCLE is worse than that of DLL at N=40",
        "",
        partial(_saves, figure=6, metric="pb", policies=(DLL,), at=_low, less=True),
    ),
    Claim(
        6,
        "PB of MUSCLE is better than that of DLL and WRAND at N=100 and N=160",
        "",
        partial(_saves, figure=6, metric="pb", at=_high),
    ),
    Claim(
        7,
        "MCP of MUSCLE is better than that of DLL and WRAND for every number of clusters",
        "",
        partial(_saves, figure=7),
    ),
    Claim(
        7,
        "PB of MUSCLE is better than that of DLL and WRAND for every number of clusters",
        "",
        partial(_saves, figure=7, metric="pb"),
    ),
    Claim(
        7,
        "The advantage over WRAND grows with the number of clusters",
        "",
        partial(_course, figure=7, law=judge.rises, policies=(WRAND,)),
    ),
    Claim(
        7,
        "The advantage over DLL has no clear trend in the number of clusters",
        "",
        partial(_course, figure=7, law=judge.no_trend, policies=(DLL,)),
    ),
    Claim(
        7,
        "Other initial workload levels than N=80 show similar patterns (not run)",
        "",
        _not_run,
    ),
)


@dataclass(frozen=True)
class Judged:
    """A claim and its verdict under each reading, and over all of them."""

    claim: Claim
    verdicts: dict[Reading, Verdict]

    @property
    def word(self) -> str:
        """The verdict that all readings share; open if they differ."""
        return judge.joint(verdict.word for verdict in self.verdicts.values())

    @property
    def tally(self) -> str:
        """How many readings have which verdict, if they differ; else nothing."""
        counts = Counter(verdict.word for verdict in self.verdicts.values())
        if len(counts) == 1:
            return ""
        words = (judge.HOLDS, judge.FAILS, judge.OPEN)
        return ", ".join(f"{word} in {counts[word]}" for word in words if counts[word])


def judged(outcome: Outcome, figures: Sequence[int]) -> list[Judged]:
    """Judge the claims of figures; those of one some rounds of which are not whole are open."""
    return [
        Judged(claim, {reading: claim.verdict(outcome, reading) for reading in READINGS})
        for claim in CLAIMS
        if claim.figure in figures
    ]
