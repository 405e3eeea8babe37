"""What a global scheduler decides by: the record that the kernel shows to compiled policies."""

from __future__ import annotations

import functools

import numpy as np

from grid.jobs import MAX_COMPONENTS


@functools.cache
def known_dtype(capacity: int) -> np.dtype[np.void]:
    """Return the dtype of what a global scheduler knows, with room for `capacity` clusters.

    All that brokers tell of a cluster was true at its `at`; without latency that is now. Of links
    it knows the truth (`beosim`).
    """
    clusters = (capacity,)
    return np.dtype(
        [
            ("now", np.float64),  # s
            ("clusters", np.int64),
            ("size", np.int64, clusters),  # processors
            ("rate", np.float64, clusters),  # speed relative to rate 1, as predicted
            ("at", np.float64, clusters),  # s
            ("free", np.int64, clusters),  # processors
            ("up", np.int64, clusters),  # processors that remain: not failed, nor going
            ("waiting", np.int64, clusters),  # jobs
            # processor-seconds sent there, not known finished, as predicted
            ("load", np.float64, clusters),
            ("unfinished", np.int64, clusters),  # jobs sent there, not known finished
            # link i joins node i (clusters first, then switches) to its parent node
            ("links", np.int64),
            ("parent", np.int64, clusters),  # node, or NONE for the central switch
            ("deep_first", np.int64, clusters),  # links, those farthest from the centre first
            ("capacity", np.float64, clusters),  # Mbit/s
            ("demand", np.float64, clusters),  # Mbit/s, of the co-allocated jobs that run
            # queues that are visited: one for each cluster, then the global one
            ("queued", np.int64, (capacity + 1,)),  # jobs
            ("head_arrival", np.float64, (capacity + 1,)),  # s, of the first; inf without one
            ("event", np.int64),  # what has happened: NOTHING to REFUSED
            ("queue", np.int64),  # that a job arrived in, or whose head was tried
            # clusters that the departed job held, its largest part first, then NONE
            ("released", np.int64, (MAX_COMPONENTS,)),
            # its own
            ("take", np.int64, clusters),  # processors that START takes from each cluster
            ("stream", np.uint64, (4,)),  # random numbers
        ],
        align=True,
    )
