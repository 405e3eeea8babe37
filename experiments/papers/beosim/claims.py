"""What sections 4 and 6 of `beosim` claim, and how our runs judge it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from experiments.papers import judging as judge
from experiments.papers.beosim.points import (
    A1,
    B1,
    BSBW_13,
    BSBW_OF_CLUSTERS,
    CHUNKS,
    CLUSTERS,
    FIRST_FIT,
    FIXED,
    HIGH,
    IDEAL_6,
    LOW,
    MIGRATION,
    MIGRATION_6,
    NO_SHARE,
    OURS,
    SURFACES,
    Point,
    grid,
    over_bandwidth,
    over_chunks,
)
from experiments.papers.beosim.turnarounds import Outcome
from experiments.papers.claims_report import claim
from experiments.papers.judging import FAILS, HOLDS, OPEN, Measured, Verdict
from experiments.papers.outcome import Floats
from experiments.sweeps.statistics import Interval, mean_interval

READ_OFF = 0.01
"""How exactly the paper's penalties are read off its figures."""
SLOWED = 1.01
"""Mean penalty from which on the two models of communication can be told apart."""

ANCHORS = {"migration_only": (MIGRATION_6, 1087.0), "ideal": (IDEAL_6, 735.0)}
"""Mean turnaround of section 6 that the paper prints, s."""


def _above(outcome: Outcome, ones: Sequence[Point], others: Sequence[Point]) -> Verdict:
    """Judge that turnaround at each point is above that at its counterpart."""
    return judge.all_above_zero(outcome.all_more(ones, others))


def _of_fixed(point: Point) -> Point:
    return replace(point, policy=FIRST_FIT)


def _model(clusters: int, policy: str) -> list[Point]:
    return over_bandwidth(Point(4, clusters, policy), BSBW_OF_CLUSTERS[clusters])


# Section 4 --------------------------------------------------------------------------------------


def _generous(outcome: Outcome, beyond: bool) -> Verdict:
    """Judge where First-Fit is at most as slow as No Share, which the paper shows, or beyond."""
    slowed = [
        point
        for clusters in CLUSTERS.values()
        for point in _model(clusters, FIRST_FIT)
        if outcome.values(point, "penalty").mean() >= SLOWED
        and beyond == (outcome.mean(point).mean > outcome.mean(Point(4, clusters, NO_SHARE)).mean)
    ]
    return _above(outcome, slowed, [replace(point, policy=FIXED) for point in slowed])


def _migration_gains(outcome: Outcome) -> Verdict:
    measured = []
    for clusters in CLUSTERS.values():
        alone, together = (Point(4, clusters, policy) for policy in (NO_SHARE, MIGRATION))
        more = mean_interval(outcome.values(alone) - outcome.values(together))
        measured.append(Measured(f"s less than No Share, {clusters} clusters", more))
    return judge.all_of(judge.all_above_zero(measured), judge.rises(measured))


def _crossing(where: str, at: Floats) -> Measured:
    """Return the mean of where a curve crosses a level; without an interval if not in all seeds."""
    found = at[np.isfinite(at)]
    if len(found) == len(at):
        return Measured(where, mean_interval(found))
    where += f", in {len(found)} of {len(at)} seeds"
    return Measured(where, Interval(float(found.mean()) if len(found) else math.nan, None))


def _acceptable(outcome: Outcome, clusters: int, policy: str, against: str) -> Measured:
    """Return the mean penalty at which a model of communication reaches a level."""
    at = outcome.crossing(
        _model(clusters, policy),
        Point(4, clusters, against),
        lambda point: outcome.values(_of_fixed(point), "penalty"),
    )
    model = "dynamic" if policy == FIRST_FIT else "fixed"
    return _crossing(f"{model}, {clusters} clusters", at)


def _range(outcome: Outcome, clusters: int, against: str, low: float, high: float) -> Verdict:
    measured = [_acceptable(outcome, clusters, each, against) for each in (FIRST_FIT, FIXED)]
    least, most = low - READ_OFF, high + READ_OFF
    return judge.all_inside(measured, least, most)._replace(evidence=tuple(measured))


def _shrinks(outcome: Outcome, against: str) -> Verdict:
    found = []
    for policy in (FIRST_FIT, FIXED):
        course = [_acceptable(outcome, each, policy, against) for each in CLUSTERS.values()]
        falling = [Measured(each.where, each.value.scaled(-1)) for each in course]
        found.append(judge.rises(falling)._replace(evidence=tuple(course)))
    return judge.all_of(*found)


# Figure 13 --------------------------------------------------------------------------------------


def _on_four(policy: str) -> list[Point]:
    return over_bandwidth(Point(4, 4, policy), BSBW_13)


def _soon_worse(outcome: Outcome) -> Verdict:
    """Judge that First-Fit ends worse than Migration Only, and tell from where on it is."""
    curve, level = _on_four(FIRST_FIT), Point(4, 4, MIGRATION)
    at = outcome.crossing(curve, level, lambda point: np.full(outcome.replications, point.bsbw))
    end = _above(outcome, curve[-1:], [level])
    return end._replace(evidence=(_crossing("worse from this BSBW on, Mbit/s", at), *end.evidence))


def _beats_first_fit(outcome: Outcome, policy: str) -> Verdict:
    return _above(outcome, _on_four(FIRST_FIT), _on_four(policy))


# Section 6 --------------------------------------------------------------------------------------


def _anchor(outcome: Outcome, name: str) -> Verdict:
    """Judge by the interval in which one more run of ours would fall: the paper's is one run."""
    point, paper = ANCHORS[name]
    ours = outcome.mean(point)
    if ours.half_width is None:
        return Verdict(OPEN, (Measured("mean, s", ours),))
    of_one = ours.half_width * math.sqrt(outcome.replications + 1)
    ratio = Measured("", Interval(ours.mean / paper, of_one / paper))
    return Verdict(judge.is_number(ratio, 1.0).word, (Measured("mean, s", ours),))


def _within_threshold(outcome: Outcome) -> Verdict:
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


def _spread(outcome: Outcome, of: Point) -> Interval:
    """Return how much turnaround varies over BSBW at LSLT 100: highest over lowest - 1."""
    curve = over_bandwidth(of)
    if not all(map(outcome.stable, curve)):
        lost = any(outcome.agree(each) and not outcome.stable(each) for each in curve)
        return Interval(math.inf, 0.0 if lost else None)
    values = np.array([outcome.values(point) for point in curve])
    return mean_interval(values.max(axis=0) / values.min(axis=0) - 1)


def _a1_steady(outcome: Outcome) -> Verdict:
    """Tell by how much A1's turnaround varies over BSBW; no number says what is stable."""
    return Verdict(OPEN, (Measured("A1", _spread(outcome, SURFACES[14])),))


def _steadiest(outcome: Outcome) -> Verdict:
    b3 = Measured("B3 85 %", _spread(outcome, SURFACES[20]))
    others = [
        Measured(of.name, _spread(outcome, of)) for of in (SURFACES[15], SURFACES[16], SURFACES[17])
    ]
    steady, *unsteady = (Measured(at, value.scaled(-1)) for at, value in (b3, *others))
    return judge.above_all(steady, unsteady)._replace(evidence=(b3, *others))


def _overall(outcome: Outcome, ones: Sequence[Point], others: Sequence[Point]) -> Measured | None:
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


def _best(outcome: Outcome, best: Point, others: Sequence[Point], worst: bool = False) -> Verdict:
    """Judge that a meta-scheduler is best, or worst, of all over BSBW 200-900 and LSLT 40-120."""
    found = []
    for other in others:
        pair = (best, other) if worst else (other, best)
        measured = _overall(outcome, *(grid(each) for each in pair))
        if measured is None:
            return Verdict(OPEN)
        found.append(measured)
    return judge.all_above_zero(found)._replace(evidence=tuple(found))


def _best_at_full(outcome: Outcome) -> Verdict:
    """Judge that B3 (85 %) is better than A1 at LSLT 100, on the mean over BSBW."""
    found = _overall(outcome, over_bandwidth(SURFACES[14]), over_bandwidth(_CHUNK_85))
    return Verdict(OPEN) if found is None else judge.all_above_zero([found])


def _approaches(outcome: Outcome) -> Verdict:
    """Judge that B3 is B1 at chunk 0 and Migration Only at 100 %, and comes nearer on the way."""
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
            nearer = _above(outcome, [*last[1:], whole], last)
            word = judge.all_of(Verdict(word), nearer).word
            evidence += nearer.evidence
    return Verdict(word, tuple(evidence))


_GRID = tuple(SURFACES)
_CHUNK_85 = SURFACES[20]
_OTHER_CHUNKS = [replace(_CHUNK_85, chunk=chunk) for chunk in CHUNKS if chunk != 85]
_NOT_B4 = [of for figure, of in SURFACES.items() if figure != 17]

CLAIMS = (
    claim(
        (9, 10, 11),
        "The dynamic model is less generous than a fixed penalty of the same mean, in every case",
        _generous,
        beyond=False,
    ),
    claim(
        (9, 10, 11),
        "The dynamic model is less generous also beyond what the paper shows, where First-Fit is "
        "slower than No Share",
        _generous,
        "ours",
        beyond=True,
    ),
    claim(
        (9, 10, 11),
        "Migration alone gains much over No Share, the more the more clusters there are",
        _migration_gains,
    ),
    *(
        claim(
            (figure,),
            f"Mean penalty that is acceptable against {name}, {clusters} clusters",
            _range,
            f"{low:g} to {high:g}",
            clusters=clusters,
            against=against,
            low=low,
            high=high,
        )
        for against, name, ranges in (
            (MIGRATION, "Migration Only", ((9, 2, 1.2, 1.25), (11, 8, 1.13, 1.2))),
            (NO_SHARE, "No Share", ((9, 2, 1.35, 1.4), (11, 8, 1.25, 1.35))),
        )
        for figure, clusters, low, high in ranges
    ),
    *(
        claim(
            (9, 10, 11),
            f"The mean penalty that is acceptable against {name} decreases as clusters become more",
            _shrinks,
            against=against,
        )
        for against, name in ((MIGRATION, "Migration Only"), (NO_SHARE, "No Share"))
    ),
    claim((13,), "First-Fit soon becomes worse than Migration Only", _soon_worse),
    *(
        claim(
            (13,),
            f"{policy.upper()} is better than First-Fit over the whole range",
            _beats_first_fit,
            policy=policy,
        )
        for policy in (A1, B1)
    ),
    claim((22,), "Mean turnaround of Migration Only", _anchor, "1087 s", name="migration_only"),
    claim((22,), "Mean turnaround of Ideal", _anchor, "735 s", name="ideal"),
    claim((14,), "A1 never gets a link beyond its threshold", _within_threshold),
    claim(
        (14,),
        "A1 has a stable response to changes in BSBW (turnaround, highest over lowest - 1, LSLT "
        "100)",
        _a1_steady,
    ),
    claim(
        (15, 16, 17, 20),
        "B3 is the steadiest of class B over BSBW (turnaround, highest over lowest - 1, LSLT 100)",
        _steadiest,
    ),
    claim(
        (18, 19, 20, 21),
        "B3 is best with a chunk of 85 %",
        _best,
        best=_CHUNK_85,
        others=_OTHER_CHUNKS,
    ),
    claim(
        (14, 20), "B3 is better than A1 on the whole", _best, best=_CHUNK_85, others=[SURFACES[14]]
    ),
    claim(
        (23,),
        "Even at LSLT 100 B3 (85 %) is better than A1, on the mean over BSBW",
        _best_at_full,
    ),
    claim(_GRID, "B4 is worst on the whole", _best, best=SURFACES[17], others=_NOT_B4, worst=True),
    claim(
        (26, 27),
        "B3 approaches Migration Only with chunks of 100 %, B1 with small ones",
        _approaches,
    ),
    claim(
        (23,),
        "adaptive is better than B3 (85 %) at LSLT 100, at every BSBW",
        lambda outcome: _above(outcome, over_bandwidth(_CHUNK_85), over_bandwidth(OURS)),
        "ours",
    ),
)
