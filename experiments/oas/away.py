"""When processors of a run were away, as its platform plans it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from agents.oas.optimality_gap import Went
from experiments.run.result_files import ResultFiles, Row
from grid.jobs import LONGEST
from grid.platform.changes import JOIN, Change
from grid.platform.multicluster import Cluster


def away(result: ResultFiles) -> list[Went]:
    """Return the processors that were away, as if jobs held them meanwhile.

    Drained processors count from when no job of the run holds them any more.
    """
    platform = result.platform
    held: list[Went] = []
    for index, cluster in enumerate(platform.clusters):
        changes = [each for each in platform.changes if each.cluster == cluster.name]
        rows = [row for row in result.rows if cluster.name in row.placement]
        for begin, end, count in _spans(cluster, changes, rows) if changes else ():
            nodes = tuple(count * (index == each) for each in range(len(platform.clusters)))
            held.append(Went(end - begin, begin, end, nodes))
    return held


def _spans(
    cluster: Cluster, changes: Sequence[Change], rows: Sequence[Row]
) -> Iterator[tuple[float, float, int]]:
    """Yield from when to when (s) how many processors of a cluster were away."""
    takes = np.array([row.placement[cluster.name] for row in rows], np.int64)
    starts, finishes = (
        np.array([getattr(row, name) for row in rows], float) for name in ("start", "finish")
    )
    begins, ends = np.array(
        [(0.0, each.at) if each.what == JOIN else (each.at, each.until) for each in changes]
    ).T
    times = np.unique(np.concatenate([starts, finishes, begins, ends]))
    gone = np.zeros(len(times), np.int64)
    for change, begin, end in zip(changes, begins, ends, strict=True):
        of_change = (begin <= times) & (times < end)
        # All are those of highest index, so that the most of them are all of them.
        gone[of_change] = np.maximum(gone[of_change], change.processors or cluster.size)
    used = np.zeros(len(times), np.int64)
    np.add.at(used, np.searchsorted(times, starts), takes)
    np.subtract.at(used, np.searchsorted(times, finishes), takes)
    gone = np.minimum(gone, cluster.size - np.cumsum(used))
    steps = [0, *(np.flatnonzero(np.diff(gone)) + 1).tolist()]
    for step, after in pairwise([*steps, len(times)]):
        if gone[step] > 0:
            end = float(times[after]) if after < len(times) else LONGEST
            yield float(times[step]), min(end, LONGEST), int(gone[step])
