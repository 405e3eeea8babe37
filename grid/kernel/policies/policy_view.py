"""What a global scheduler decides by: the record that the kernel shows to compiled policies."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from grid.kernel.compile import inlined
from grid.kernel.policies.fields import CLUSTERS, COMPILED, LINKS, QUEUES, SCALARS, WRITTEN, of_tier


@functools.cache
def known_dtype(capacity: int) -> np.dtype[np.void]:
    """Return the dtype of what a global scheduler knows, with room for `capacity` clusters.

    Its fields are those of `grid.kernel.policies.fields`.
    """
    tables = SCALARS, CLUSTERS, LINKS, QUEUES, WRITTEN
    columns = [field.column(capacity) for table in tables for field in of_tier(table, COMPILED)]
    return np.dtype(columns, align=True)


@inlined
def change_work(known: Any, cluster: int, by: float) -> None:
    """Add to the work (processor-seconds) that a cluster is known to have."""
    known.work[cluster] += by
    share_work(known, cluster)


@inlined
def share_work(known: Any, cluster: int) -> None:
    """Bring a cluster's load (s) up to date with its work and the processors that are up."""
    up = known.up[cluster]
    known.load[cluster] = known.work[cluster] / up if up > 0 else np.inf
