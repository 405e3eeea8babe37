"""What sections 4 and 6 of `beosim` claim, and how our runs judge it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from experiments.papers import judging as judge
from experiments.papers.beosim.points import (
    A1,
    ACCEPTABLE,
    B1,
    BSBW_13,
    BSBW_OF_CLUSTERS,
    CHUNKS,
    CLUSTERS,
    FIRST_FIT,
    FIXED,
    MIGRATION,
    NO_SHARE,
    OURS,
    SURFACES,
    Point,
    over_bandwidth,
)
from experiments.papers.beosim.surfaces import (
    CHUNK_85,
    SLOWED,
    a1_steady,
    above,
    anchor,
    approaches,
    best,
    best_at_full,
    best_threshold,
    no_further,
    over_saturation_pays,
    steadiest,
    within_threshold,
)
from experiments.papers.beosim.turnarounds import Outcome
from experiments.papers.claims_report import claim
from experiments.papers.judging import Measured, Verdict
from experiments.papers.outcome import Floats
from experiments.sweeps.statistics import Interval, mean_interval

READ_OFF = 0.01
"""How exactly the paper's penalties are read off its figures."""


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
    return above(outcome, slowed, [replace(point, policy=FIXED) for point in slowed])


def _migration_gains(outcome: Outcome) -> Verdict:
    measured = []
    for clusters in CLUSTERS.values():
        alone, together = (Point(4, clusters, policy) for policy in (NO_SHARE, MIGRATION))
        more = mean_interval(outcome.values(alone) - outcome.values(together))
        measured.append(Measured(f"s less than No Share, {clusters} clusters", more))
    return judge.all_of(judge.all_above_zero(measured), judge.rises(measured))


def _crossing(where: str, at: tuple[Floats, Floats]) -> Measured:
    """Return the mean of where a curve crosses a level; without an interval if not in all seeds.

    Where all that is known is between which points, the interval is from the one to the other.
    """
    low, high = (each[np.isfinite(each)] for each in at)
    found, seeds = (low + high) / 2, len(at[0])
    if len(found) == seeds and (low < high).any():
        middle, apart = float(found.mean()), float((high - low).mean() / 2)
        where += ", from the last point with a steady state to the next"
        return Measured(where, Interval(middle, apart if seeds > 1 else None))
    if len(found) == seeds:
        return Measured(where, mean_interval(found))
    where += f", in {len(found)} of {seeds} seeds"
    return Measured(where, Interval(float(found.mean()) if len(found) else math.nan, None))


def _acceptable(outcome: Outcome, clusters: int, policy: str, against: str) -> Measured:
    """Return the mean penalty at which a model of communication reaches a level."""
    at = outcome.crossing(
        _model(clusters, policy),
        Point(4, clusters, against),
        lambda point: outcome.values(replace(point, policy=FIRST_FIT), "penalty"),
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
    end = above(outcome, curve[-1:], [level])
    return end._replace(evidence=(_crossing("worse from this BSBW on, Mbit/s", at), *end.evidence))


def _beats_first_fit(outcome: Outcome, policy: str) -> Verdict:
    return above(outcome, _on_four(FIRST_FIT), _on_four(policy))


_GRID = tuple(SURFACES)
_OTHER_CHUNKS = [replace(CHUNK_85, chunk=chunk) for chunk in CHUNKS if chunk != 85]
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
        for against, name in ((MIGRATION, "Migration Only"), (NO_SHARE, "No Share"))
        for figure, ranges in ACCEPTABLE.items()
        for clusters, (low, high) in ((CLUSTERS[figure], ranges[against]),)
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
    claim((22,), "Mean turnaround of Migration Only", anchor, "1087 s", name="migration_only"),
    claim((22,), "Mean turnaround of Ideal", anchor, "735 s", name="ideal"),
    claim((14,), "A1 never gets a link beyond its threshold", within_threshold),
    claim(
        (15, 16, 17, 18, 19, 20, 21),
        "Class B saturates a link over its threshold no further than by one job",
        no_further,
    ),
    claim((14,), "A1 performs best at LSLT 100, on the mean over BSBW", best_threshold),
    claim(
        _GRID,
        "Slight over-saturation can pay: somewhere, with jobs slowed, a policy of class B is "
        "better than A1 at LSLT 100",
        over_saturation_pays,
    ),
    claim(
        (14,),
        "A1 has a stable response to changes in BSBW (turnaround, highest over lowest - 1, LSLT "
        "100)",
        a1_steady,
    ),
    claim(
        (15, 16, 17, 20),
        "B3 is the steadiest of class B over BSBW (turnaround, highest over lowest - 1, LSLT 100)",
        steadiest,
    ),
    claim(
        (18, 19, 20, 21),
        "B3 is best with a chunk of 85 %",
        best,
        best=CHUNK_85,
        others=_OTHER_CHUNKS,
    ),
    claim(
        _GRID,
        "B3 (85 %) is best of those without a priori knowledge, B1, B2 and B4, on the whole",
        best,
        best=CHUNK_85,
        others=[SURFACES[figure] for figure in (15, 16, 17)],
    ),
    claim(
        (14, 20), "B3 is better than A1 on the whole", best, best=CHUNK_85, others=[SURFACES[14]]
    ),
    claim(
        (23,),
        "Even at LSLT 100 B3 is better than A1, on the mean over BSBW",
        best_at_full,
    ),
    claim(_GRID, "B4 is worst on the whole", best, best=SURFACES[17], others=_NOT_B4, worst=True),
    claim(
        (26, 27),
        "B3 approaches Migration Only with chunks of 100 %, B1 with small ones",
        approaches,
    ),
    claim(
        (23,),
        "adaptive is better than B3 (85 %) at LSLT 100, at every BSBW",
        lambda outcome: above(outcome, over_bandwidth(CHUNK_85), over_bandwidth(OURS)),
        "ours",
    ),
)
