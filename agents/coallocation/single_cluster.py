"""Baselines of `beosim` (section 4.2) that split no job."""

from __future__ import annotations

from typing import Any

from agents.coallocation.primitives import MetaScheduler, allocated_locally, largest_whole, migrated
from grid.jobs import ANYWHERE
from grid.kernel.compile import compiled
from grid.kernel.state import REJECT, START, WAIT


class NoShareScheduler(MetaScheduler):
    """No Share: each job on the cluster that it was submitted through, without co-allocation.

    A job that was submitted through none goes where Migration Only would send it; one larger than
    its cluster is rejected.
    """

    label = "NO-SHARE"
    splits, stays_home = False, True
    homeless = "go where migration-only would send them"
    largest = largest_whole

    @compiled()
    def place(known: Any, job: Any, memory: Any) -> int:  # noqa: N805
        """Start the job at home, let it wait, or reject it."""
        if job.origin == ANYWHERE:
            return START if migrated(known, job) else WAIT
        if job.size > known.size[job.origin]:
            return REJECT
        return START if allocated_locally(known, job) else WAIT


class MigrationOnlyScheduler(MetaScheduler):
    """Migration Only: at home, or whole on the cluster of fewest free nodes that it fits on."""

    label = "MIGRATION-ONLY"
    larger_wait = True
    splits = False
    largest = largest_whole

    @compiled()
    def place(known: Any, job: Any, memory: Any) -> int:  # noqa: N805
        """Start the job at home or elsewhere, or let it wait."""
        return START if allocated_locally(known, job) or migrated(known, job) else WAIT
