"""Co-allocation from the cluster of most free nodes on: First-Fit, B1 and B3 (`beosim`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from agents.coallocation.primitives import (
    CHUNK,
    LSLT,
    CoallocatingScheduler,
    allocated_locally,
    enough,
    largest_anyhow,
    largest_split,
    migrated,
    usable,
)
from agents.coallocation.settings import ChunkingSettings, PenaltySettings
from grid.kernel.compile import compiled, inlined
from grid.kernel.state import NONE, REJECT, START, WAIT

if TYPE_CHECKING:
    from agents.model import GridModel


@inlined
def _largest(known: Any, lslt: float) -> int:
    """Return the cluster of most usable nodes that the job has none of yet; of equals the first."""
    best, most = NONE, 0
    for cluster in range(known.clusters):
        if known.free[cluster] > most and known.take[cluster] == 0:
            nodes = usable(known, cluster, lslt)
            if nodes > most:
                best, most = cluster, nodes
    return best


@inlined
def _chunk_fits_empty(known: Any, job: Any, chunk: float) -> bool:
    """Tell whether some cluster on which a job can run has room for its chunk when it is empty."""
    most = 0
    for cluster in range(known.clusters):
        most = max(most, known.size[cluster])
    return bool(100 * most >= chunk * job.size)


class LargestFreeFirstScheduler(CoallocatingScheduler):
    """B1: split from the cluster of most free nodes on, but where links are over LSLT."""

    label = "B1"
    larger_wait = True
    largest = largest_split

    @compiled()
    def place(known: Any, job: Any, memory: Any) -> int:  # noqa: N805
        """Start the job at home or elsewhere or on several clusters, or let it wait."""
        if allocated_locally(known, job) or migrated(known, job):
            return START
        lslt = memory[LSLT]
        cluster = _largest(known, lslt) if enough(known, job, lslt) else NONE
        if cluster == NONE or 100 * known.free[cluster] < memory[CHUNK] * job.size:
            return WAIT if _chunk_fits_empty(known, job, memory[CHUNK]) else REJECT
        left = job.size
        while left > known.free[cluster]:
            known.take[cluster] = known.free[cluster]
            left -= known.free[cluster]
            cluster = _largest(known, lslt)
        known.take[cluster] = left
        return START


class ChunkingScheduler(LargestFreeFirstScheduler):
    """B3: as B1, but only if a large chunk of the job fits on one cluster."""

    label = "B3"
    settings_type = ChunkingSettings

    @compiled()
    def largest(known: Any, memory: Any) -> int:  # noqa: N805
        """Return the size of the largest job of which a chunk fits, or one size more."""
        lslt, chunk = memory[LSLT], memory[CHUNK]
        whole, most, total = 0, 0, 0
        for cluster in range(known.clusters):
            nodes = usable(known, cluster, lslt)
            whole = max(whole, known.free[cluster])
            most = max(most, nodes)
            total += nodes
        if chunk > 0.0:
            total = min(total, int(100 * most / chunk) + 1)
        return max(whole, total)

    def largest_job(self) -> int:
        """Return the size of the largest job of which a chunk fits on an empty cluster."""
        most, chunk = int(self.model.world.platform.sizes.max()), self.settings.chunk
        largest = super().largest_job()
        return max(most, min(largest, 100 * most // chunk)) if chunk > 0 else largest

    def memory(self) -> npt.NDArray[np.float64]:
        """Return both thresholds."""
        return np.array([self.settings.lslt / 100.0, self.settings.chunk])


class FirstFitScheduler(LargestFreeFirstScheduler):
    """First-Fit: split from the cluster of most free nodes on, whatever the links (section 4.2)."""

    label = "FIRST-FIT"
    settings_type: ClassVar[type | None] = None
    largest = largest_anyhow

    def memory(self) -> npt.NDArray[np.float64]:
        """Return thresholds that nothing is beyond."""
        return np.array([np.inf, 0.0])


class IdealScheduler(FirstFitScheduler):
    """Ideal: First-Fit as if links had no limit."""

    label = "IDEAL"
    penalty = 1.0


class FixedPenaltyScheduler(FirstFitScheduler):
    """Fixed penalty: First-Fit, links ignored; splitting a job makes it longer by a factor."""

    label = "FIXED-PENALTY"
    settings_type = PenaltySettings
    penalty = PenaltySettings.penalty

    def __init__(self, model: GridModel) -> None:
        super().__init__(model)
        self.penalty = self.settings.penalty
