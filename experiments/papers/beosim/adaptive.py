"""Our policy `adaptive` against the best of class B, B3 with chunks of 85 %, at LSLT 100."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from experiments.papers.beosim.points import (
    ADAPTIVE,
    B3,
    BSBW,
    CLUSTERS,
    Point,
    short_note,
    too_short,
)
from experiments.papers.beosim.turnarounds import Outcome
from experiments.papers.claims_report import bare_table
from experiments.papers.engine import Listing

SECTIONS = (6, 4)


def pairs() -> list[tuple[Point, Point]]:
    """Return B3's and our point for each workload, number of clusters and bandwidth."""
    theirs = [
        Point(section, clusters, B3, float(bsbw))
        for section in SECTIONS
        for clusters in sorted(CLUSTERS.values())
        for bsbw in BSBW
    ]
    return [(point, replace(point, policy=ADAPTIVE)) for point in theirs]


def listing(outcome: Outcome) -> Listing:
    """Return how the two compare at each pair of points.

    Its rows have ``section``, ``clusters`` and ``bsbw``; mean turnarounds ``b3`` and ``adaptive``,
    s, None without a steady state; ``saved``, the mean of what ours saves of each replication's,
    and ``ci95``, the half-width of its 95 % confidence interval, None if one is not stable;
    ``verdict``: better, worse, or no difference that could be told; or no steady state.
    """
    found = []
    table = bare_table(
        "section", "clusters", "BSBW", "B3 85 %, s", "adaptive, s", "saved, s", "verdict"
    )
    for theirs, ours in pairs():
        row: dict[str, Any] = {
            "section": theirs.section,
            "clusters": theirs.clusters,
            "bsbw": theirs.bsbw,
            "b3": outcome.mean(theirs).mean if outcome.stable(theirs) else None,
            "adaptive": outcome.mean(ours).mean if outcome.stable(ours) else None,
            "saved": None,
            "ci95": None,
        }
        saved = outcome.more(theirs, ours)
        if saved is None:
            verdict = "no steady state"
        elif too_short(theirs.section, outcome.scale):
            verdict = "open"
        elif saved.low > 0:
            verdict = "better"
        else:
            verdict = "worse" if saved.high < 0 else "open"
        if row["b3"] is not None and row["adaptive"] is not None and saved is not None:
            row["saved"], row["ci95"] = saved[:2]
        found.append(row | {"verdict": verdict})
        times = ["-" if row[name] is None else f"{row[name]:.1f}" for name in ("b3", "adaptive")]
        half = "" if row["ci95"] is None else f" ± {row['ci95']:.1f}"
        gain = "-" if row["saved"] is None else f"{row['saved']:.1f}{half}"
        where = str(theirs.section), str(theirs.clusters), f"{theirs.bsbw:g}"
        table.add_row(*where, *times, gain, verdict)
    return Listing(found, table, short_note(outcome.scale, SECTIONS))
