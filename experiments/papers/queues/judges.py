"""How claims of `queues` are judged by our runs: each judge gives a verdict and its numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from experiments.papers import judging as judge
from experiments.papers.claims_report import Claim, claim
from experiments.papers.judging import FAILS, HOLDS, OPEN, Measured, Verdict
from experiments.papers.queues.points import At, Point
from experiments.papers.queues.responses import Outcome
from experiments.sweeps.statistics import Interval, mean_interval

LITTLE = 10.0
"""Percent up to which one response time is a little above another, or close to it."""

Pairs = Sequence[tuple[Point, Point]]
Judge = Callable[[Outcome], Verdict]
Triples = Sequence[tuple[Point, Sequence[Point], Sequence[Point]]]
"""A point, those of which it is to be near the best, and those of which it is not the worst."""


def against(ats: Iterable[At], ones: Sequence[str], others: Sequence[str]) -> Pairs:
    """Return pairs of all ones with all others, in each chart."""
    return [(at(one), at(other)) for at in ats for one in ones for other in others if one != other]


def is_above(outcome: Outcome, pairs: Pairs, column: str, least: float = 0.0) -> Verdict:
    """Judge that the first of each pair is above the second by more than `least` percent."""
    measured = outcome.excesses(pairs, column)
    moved = [Measured(each.where, each.value.moved(-least)) for each in measured]
    found = judge.all_above_zero(moved)
    where = [each.where for each in found.evidence]
    return found._replace(evidence=tuple(each for each in measured if each.where in where))


def is_within(
    outcome: Outcome, pairs: Pairs, column: str = "total", at_most: bool = False
) -> Verdict:
    """Judge that the first of each pair is above or below the second by `LITTLE` percent at most.

    Or, `at_most`, above it by that at most, and below it by any amount.
    """
    lowest = -math.inf if at_most else -LITTLE
    return judge.all_inside(outcome.excesses(pairs, column), lowest, LITTLE)


def is_mostly(outcome: Outcome, verdicts: Sequence[Judge]) -> Verdict:
    """Judge that more than half of some verdicts hold."""
    found = [each(outcome) for each in verdicts]
    half = len(found) / 2

    def word(claims: int) -> str:
        words = judge.words(found, claims)
        if words.count(HOLDS) > half:
            return HOLDS
        return FAILS if words.count(FAILS) >= half else OPEN

    return judge.by_chance(word, [measured for each in found for measured in each.evidence])


def are_all(outcome: Outcome, verdicts: Sequence[Judge]) -> Verdict:
    """Judge that all of some verdicts hold."""
    return judge.all_of(*(each(outcome) for each in verdicts))


def is_any(outcome: Outcome, verdicts: Sequence[Judge]) -> Verdict:
    """Judge that at least one of some verdicts holds; the evidence is that of the clearest one."""
    found = [each(outcome) for each in verdicts]

    def word(claims: int) -> str:
        words = {each.among(claims) for each in found}
        return HOLDS if HOLDS in words else OPEN if OPEN in words else FAILS

    evidence = [measured for each in found for measured in each.evidence]
    return judge.by_chance(word, judge.extremes(evidence)[-1:])


def is_nearer(outcome: Outcome, triples: Triples, column: str = "total") -> Verdict:
    """Judge that a policy is nearer to the best of some points than to the worst, in each triple.

    The number is by how much it is nearer, percent of the best. A triple is left out if both the
    policy and the best are saturated.
    """
    measured = []
    for of, goods, others in triples:
        good = min(goods, key=lambda point: _height(outcome, point, column))
        bad = max(others, key=lambda point: _height(outcome, point, column))
        words = f"{of.name} between {good.name} and {bad.name}, {of.where}"
        if not outcome.stable(of):
            if not outcome.stable(good):
                continue
            value = outcome.infinite(-math.inf, (good, of))
        elif not (outcome.stable(good) and outcome.stable(bad)):
            value = outcome.infinite(math.inf, (good, of, bad))
        else:
            low, x, high = (outcome.values(each, column) for each in (good, of, bad))
            value = mean_interval(100 * ((high - x) - (x - low)) / low.mean())
        measured.append(Measured(words, value))
    return judge.all_above_zero(measured)


def _height(outcome: Outcome, point: Point, column: str = "total") -> float:
    return float(outcome.values(point, column).mean()) if outcome.stable(point) else math.inf


def is_rising(
    outcome: Outcome, courses: Sequence[Sequence[tuple[Point, Point]]], column: str
) -> Verdict:
    """Judge that excesses rise from the first pair to the last, in each course."""
    return judge.all_of(*(judge.rises(outcome.excesses(course, column)) for course in courses))


def is_above_other_kind(
    outcome: Outcome, points: Sequence[Point], one: str, other: str, least: float = 0.0
) -> Verdict:
    """Judge that one response time of a policy is above another of it."""
    measured = []
    for point in points:
        excess = outcome.excess(point, point, one, other) if outcome.stable(point) else None
        if excess is not None:
            words = f"{one} against {other}, {point.name}, {point.where}"
            measured.append(Measured(words, excess.moved(-least)))
    found = judge.all_above_zero(measured)
    evidence = tuple(Measured(each.where, each.value.moved(least)) for each in found.evidence)
    return found._replace(evidence=evidence)


def is_same(outcome: Outcome, pairs: Pairs) -> Verdict:
    """Judge that response times are the same in every replication."""
    apart = max(
        float(np.abs(outcome.values(one) / outcome.values(other) - 1).max()) for one, other in pairs
    )
    names = sorted({point.name for pair in pairs for point in pair})
    where = f"most apart of {', '.join(names)}, {pairs[0][0].where}"
    return Verdict(HOLDS if apart == 0 else FAILS, (Measured(where, Interval(100 * apart, 0.0)),))


def is_saturated(outcome: Outcome, points: Sequence[Point], others: Sequence[Point]) -> Verdict:
    """Judge that points are saturated; the numbers are shares of their runs, percent.

    It is open if one of them is not, or all others are, because the load is ours; and if runs of a
    point are not at one.
    """
    shares = [100 * float((outcome.values(point, "stable") == 0).mean()) for point in points]
    evidence = tuple(
        Measured(
            f"saturated, {point.name}, {point.where}",
            Interval(share, 0.0 if outcome.agree(point) else None),
        )
        for point, share in zip(points, shares, strict=True)
    )
    saturated = all(outcome.agree(point) and not outcome.stable(point) for point in points)
    borne = any(outcome.agree(point) and outcome.stable(point) for point in others)
    return Verdict(HOLDS if saturated and borne else OPEN, evidence)


def is_wider(
    outcome: Outcome, chart: Sequence[Point], others: Sequence[Sequence[Point]]
) -> Verdict:
    """Judge that policies differ more in one chart than in others; open if all are saturated."""

    def spread(points: Sequence[Point]) -> list[Measured]:
        found = sorted(points, key=lambda point: _height(outcome, point))
        return outcome.excesses([(found[-1], found[0])])

    measured = [each for points in (chart, *others) for each in spread(points)]
    if len(measured) <= len(others):
        return Verdict(OPEN, tuple(measured))
    here, *there = measured
    return judge.above_all(here, there)


# Claims -----------------------------------------------------------------------------------------


def above(
    figures: tuple[int, ...], text: str, pairs: Pairs, column: str = "total", least: float = 0.0
) -> Claim:
    """Claim that the first of each pair is above the second."""
    return claim(figures, text, is_above, pairs=pairs, column=column, least=least)


def much_above(figures: tuple[int, ...], text: str, pairs: Pairs, column: str) -> Claim:
    """Claim that it is above it by more than `LITTLE` percent."""
    return above(figures, text, pairs, column, LITTLE)


def within(
    figures: tuple[int, ...],
    text: str,
    pairs: Pairs,
    column: str = "total",
    at_most: bool = False,
) -> Claim:
    """Claim that it is above or below it by no more than that; `at_most`: above it."""
    return claim(figures, text, is_within, pairs=pairs, column=column, at_most=at_most)


def other_kind(
    figures: tuple[int, ...], text: str, points: Sequence[Point], one: str, other: str
) -> Claim:
    """Claim that one response time of a policy is above another of it."""
    return claim(figures, text, is_above_other_kind, points=points, one=one, other=other)


def mostly(figures: tuple[int, ...], text: str, verdicts: Sequence[Judge]) -> Claim:
    """Claim what more than half of some verdicts say."""
    return claim(figures, text, is_mostly, verdicts=verdicts)


def nearer(figures: tuple[int, ...], text: str, triples: Triples, column: str = "total") -> Claim:
    """Claim that a policy is nearer to good ones than to the worst of some."""
    return claim(figures, text, is_nearer, triples=triples, column=column)


def same(figures: tuple[int, ...], text: str, pairs: Pairs) -> Claim:
    """Claim that response times are the same."""
    return claim(figures, text, is_same, pairs=pairs)
