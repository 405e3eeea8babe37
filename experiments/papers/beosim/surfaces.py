"""How our runs judge what section 6 of `beosim` claims, of Figs. 14 to 27."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from experiments.papers import judging as judge
from experiments.papers.beosim.points import (
    CHUNKS,
    HIGH,
    IDEAL_6,
    LINK_MBPS,
    LOW,
    LSLT,
    MIGRATION_6,
    SURFACES,
    Point,
    grid,
    over_bandwidth,
    over_chunks,
)
from experiments.papers.beosim.turnarounds import Outcome
from experiments.papers.judging import FAILS, HOLDS, OPEN, Measured, Verdict
from experiments.sweeps.statistics import Interval, mean_interval

SLOWED = 1.01
"""Mean penalty from which on the two models of communication can be told apart."""

ANCHORS = {"migration_only": (MIGRATION_6, 1087.0), "ideal": (IDEAL_6, 735.0)}
"""Mean turnaround of section 6 that the paper prints, s."""

CHUNK_85 = SURFACES[20]
"""The variant of B3 that the paper prefers."""


def above(outcome: Outcome, ones: Sequence[Point], others: Sequence[Point]) -> Verdict:
    """Judge that turnaround at each point is above that at its counterpart."""
    return judge.all_above_zero(outcome.all_more(ones, others))


def anchor(outcome: Outcome, name: str) -> Verdict:
    """Judge by the interval in which one more run of ours would fall: the paper's is one run."""
    point, paper = ANCHORS[name]
    ours = outcome.mean(point)
    if ours.half_width is None:
        return Verdict(OPEN, (Measured("mean, s", ours),))
    of_one = ours.half_width * math.sqrt(outcome.replications + 1)
    ratio = Measured("", Interval(ours.mean / paper, of_one / paper))
    return Verdict(judge.is_number(ratio, 1.0).word, (Measured("mean, s", ours),))


def within_threshold(outcome: Outcome) -> Verdict:
    """Judge by the most saturated link at all looks, and that no job was slowed up to 100 %."""
    points = grid(SURFACES[14])
    over = {
        point: float(outcome.values(point, "saturation").max()) / (point.lslt / 100)
        for point in points
    }
    slowed = max(
        float(outcome.values(point, "penalty").max()) for point in points if point.lslt <= 100
    )
    highest = max(over, key=lambda point: over[point])
    holds = over[highest] <= 1 + 1e-9 and slowed <= 1 + 1e-6
    evidence = (
        Measured(
            f"demand over LSLT, most of all looks, {highest.where}", Interval(over[highest], 0)
        ),
        Measured("mean penalty, highest up to LSLT 100", Interval(slowed, 0)),
    )
    return Verdict(HOLDS if holds else FAILS, evidence)


def no_further(outcome: Outcome) -> Verdict:
    """Judge that no link of class B is over its threshold by more than what one job may need.

    All that a job needs of a link is at most its bisection bandwidth.
    """
    found = {
        point: (float(outcome.values(point, "saturation").max()) - point.lslt / 100)
        / (point.bsbw / LINK_MBPS)
        for figure, of in SURFACES.items()
        if figure != 14
        for point in grid(of)
    }
    highest = max(found, key=lambda point: found[point])
    of_job = Measured(
        f"over LSLT, in needs of one job, most of all looks, {highest.where}",
        Interval(found[highest], 0.0),
    )
    return Verdict(HOLDS if found[highest] <= 1 + 1e-9 else FAILS, (of_job,))


def best_threshold(outcome: Outcome) -> Verdict:
    """Judge that A1 is better at LSLT 100 than at any other, on the mean over BSBW."""
    at_full = over_bandwidth(SURFACES[14])
    found = []
    for lslt in LSLT:
        if lslt == 100:
            continue
        measured = overall(outcome, [replace(each, lslt=float(lslt)) for each in at_full], at_full)
        if measured is None:
            return Verdict(OPEN)
        found.append(measured._replace(where=f"A1, LSLT {lslt}, against LSLT 100"))
    return judge.all_above_zero(found)._replace(evidence=tuple(found))


def over_saturation_pays(outcome: Outcome) -> Verdict:
    """Judge that some policy of class B that saturates links is better than A1 at the same BSBW.

    That is at LSLT 100, where A1 saturates none, and where jobs of class B are slowed.
    """
    slowed = [
        point
        for figure, of in SURFACES.items()
        if figure != 14
        for point in over_bandwidth(of)
        if outcome.values(point, "penalty").mean() >= SLOWED
    ]
    of_a1 = [replace(SURFACES[14], bsbw=point.bsbw) for point in slowed]
    return judge.some_above_zero(outcome.all_more(of_a1, slowed))


def spread(outcome: Outcome, of: Point) -> Interval:
    """Return how much turnaround varies over BSBW at LSLT 100: highest over lowest - 1."""
    curve = over_bandwidth(of)
    if not all(map(outcome.stable, curve)):
        lost = any(outcome.agree(each) and not outcome.stable(each) for each in curve)
        return Interval(math.inf, 0.0 if lost else None)
    values = np.array([outcome.values(point) for point in curve])
    return mean_interval(values.max(axis=0) / values.min(axis=0) - 1)


def a1_steady(outcome: Outcome) -> Verdict:
    """Tell by how much A1's turnaround varies over BSBW; no number says what is stable."""
    return Verdict(OPEN, (Measured("A1", spread(outcome, SURFACES[14])),))


def steadiest(outcome: Outcome) -> Verdict:
    """Judge that B3 (85 %) varies least over BSBW of class B."""
    b3 = Measured("B3 85 %", spread(outcome, SURFACES[20]))
    others = [
        Measured(of.name, spread(outcome, of)) for of in (SURFACES[15], SURFACES[16], SURFACES[17])
    ]
    steady, *unsteady = (Measured(at, value.scaled(-1)) for at, value in (b3, *others))
    return judge.above_all(steady, unsteady)._replace(evidence=(b3, *others))


def overall(outcome: Outcome, ones: Sequence[Point], others: Sequence[Point]) -> Measured | None:
    """Return by how much the mean turnaround of points is above that of others, s.

    Infinite if more of them are without a steady state; where one is, neither counts in the mean.
    """
    both = [
        (one, other)
        for one, other in zip(ones, others, strict=True)
        if outcome.stable(one) and outcome.stable(other)
    ]
    lost = sum(map(outcome.stable, others)) - sum(map(outcome.stable, ones))
    where = f"{ones[0].name}, against {others[0].name}"
    if lost:
        return Measured(where, outcome.infinite(math.copysign(math.inf, lost), (*ones, *others)))
    if not both:
        return None
    mean = np.mean([outcome.values(one) - outcome.values(other) for one, other in both], axis=0)
    return Measured(where, mean_interval(mean))


def best(outcome: Outcome, best: Point, others: Sequence[Point], worst: bool = False) -> Verdict:
    """Judge that a meta-scheduler is best, or worst, of all over BSBW 200-900 and LSLT 40-120."""
    found = []
    for other in others:
        pair = (best, other) if worst else (other, best)
        measured = overall(outcome, *(grid(each) for each in pair))
        if measured is None:
            return Verdict(OPEN)
        found.append(measured)
    return judge.all_above_zero(found)._replace(evidence=tuple(found))


def best_at_full(outcome: Outcome) -> Verdict:
    """Judge that B3 with each chunk is better than A1 at LSLT 100, on the mean over BSBW."""
    found = []
    for chunk in CHUNKS:
        of_b3 = over_bandwidth(replace(CHUNK_85, chunk=chunk))
        measured = overall(outcome, over_bandwidth(SURFACES[14]), of_b3)
        if measured is None:
            return Verdict(OPEN)
        found.append(measured)
    return judge.all_above_zero(found)._replace(evidence=tuple(found))


def _farther(outcome: Outcome, b1: Point, smaller: Point, larger: Point) -> Measured:
    """Return how much farther from B1's turnaround that of B3 is with the larger chunk, s."""
    near, far = (np.abs(outcome.values(each) - outcome.values(b1)) for each in (smaller, larger))
    return Measured(
        f"{larger.where}, farther from B1 than {smaller.name}", mean_interval(far - near)
    )


def approaches(outcome: Outcome) -> Verdict:
    """Judge that B3 is B1 at chunk 0 and Migration Only at 100 %, and comes nearer to both."""
    word, evidence = HOLDS, []
    for bsbw in (LOW, HIGH):
        *parts, whole = over_chunks(bsbw)
        b1 = replace(SURFACES[15], bsbw=float(bsbw))
        for one, other in ((parts[0], b1), (whole, MIGRATION_6)):
            apart = float(np.abs(outcome.values(one) - outcome.values(other)).max())
            word = FAILS if apart > 1e-6 else word
            where = f"apart, s, {one.name}, BSBW {bsbw}, from {other.name}"
            evidence.append(Measured(where, Interval(apart, 0.0)))
        last = [replace(whole, chunk=chunk) for chunk in (85, 90, 95)]
        if all(map(outcome.stable, last)):
            nearer = above(outcome, [*last[1:], whole], last)
            word = judge.all_of(Verdict(word), nearer).word
            evidence += nearer.evidence
        small = [replace(whole, chunk=chunk) for chunk in (25, 50, 70, 85)]
        if all(map(outcome.stable, (*small, b1))):
            nearer = judge.all_above_zero(
                [_farther(outcome, b1, *pair) for pair in itertools.pairwise(small)]
            )
            word = judge.all_of(Verdict(word), nearer).word
            evidence += nearer.evidence
    return Verdict(word, tuple(evidence))
