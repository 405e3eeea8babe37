"""Global schedulers that send each job to a cluster the moment they know of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from agents.schedulers import Answer, GlobalScheduler
from agents.view import Job, KnownCluster
from grid.jobs import ANYWHERE
from grid.kernel.compile import compiled
from grid.kernel.state import REJECT, WAIT
from grid.streams import uniform

if TYPE_CHECKING:
    from agents.model import GridModel


@compiled()
def _least_loaded(known: Any, size: int) -> int:
    """Return the least loaded cluster that can hold a job; of equals, the one of lowest index."""
    best, least = -1, np.inf
    for cluster in range(known.clusters):
        if size <= known.up[cluster] and known.load[cluster] < least:
            best, least = cluster, known.load[cluster]
    return best


class HomeScheduler(GlobalScheduler):
    """HOME: to the cluster that the job was submitted through, whose local scheduler decides.

    One that was submitted through none goes where DLL would send it, and a run tells how many are;
    one larger than its cluster is rejected.
    """

    only_chooses, reads_components = True, False
    stays_home = True
    homeless = "go where dll would send them"
    label = "HOME"
    goes_by = "where it was submitted, and by the least load if it was submitted through no cluster"

    @compiled()
    def place(known: Any, job: Any, memory: Any) -> int:  # noqa: N805
        """Send the job home, or let it wait until enough of that cluster is up."""
        if job.origin == ANYWHERE:
            return _least_loaded(known, job.size)
        if job.size > known.size[job.origin]:
            return REJECT
        return job.origin if job.size <= known.up[job.origin] else WAIT


class DynamicLeastLoadScheduler(GlobalScheduler):
    """DLL: to the cluster with the least load L = sum(e s / m) that can hold the job (eq. 6)."""

    only_chooses, reads_components = True, False
    label = "DLL"
    goes_by = "the least load: predicted work left of the jobs that it knows there, per processor"
    paper = "muscle"

    @compiled()
    def place(known: Any, job: Any, memory: Any) -> int:  # noqa: N805
        """Choose the least loaded cluster; of equals, the one of lowest index."""
        return _least_loaded(known, job.size)


class WeightedRandomScheduler(GlobalScheduler):
    """WRAND: at random, with probability proportional to processing capability m u."""

    only_chooses, reads_components = True, False
    reads_predictions = False
    label = "WRAND"
    goes_by = "a draw, in which processors that are up count by their rate"
    paper = "muscle"

    @compiled()
    def place(known: Any, job: Any, memory: Any) -> int:  # noqa: N805
        """Draw one of the clusters that can hold the job."""
        total = 0.0
        for cluster in range(known.clusters):
            if job.size <= known.up[cluster]:
                total += known.up[cluster] * known.rate[cluster]
        left = uniform(known.stream) * total
        chosen = -1
        for cluster in range(known.clusters):
            if job.size <= known.up[cluster]:
                chosen = cluster
                left -= known.up[cluster] * known.rate[cluster]
                if left < 0.0:
                    break
        return chosen


class RoundRobinScheduler(GlobalScheduler):
    """To each cluster in turn, passing over those that cannot hold the job."""

    only_chooses, reads_components = True, False
    reads_predictions = False
    label = "ROUND-ROBIN"
    goes_by = "whose turn it is"

    @compiled()
    def place(known: Any, job: Any, memory: Any) -> int:  # noqa: N805
        """Choose the next cluster that can hold the job; the memory holds whose turn it is."""
        turn = int(memory[0])
        for step in range(known.clusters):
            cluster = (turn + step) % known.clusters
            if job.size <= known.up[cluster]:
                memory[0] = cluster + 1
                return cluster
        return -1


@compiled()
def _book(free_at: Any, size: int, now: float, execution_time: float, commit: bool) -> float:
    """Return when a job would end on the processors first free, and book it if asked to.

    `free_at` is kept in increasing order.
    """
    end = max(now, free_at[size - 1]) + execution_time
    if commit:
        place = size
        while place < len(free_at) and free_at[place] < end:
            free_at[place - size] = free_at[place]
            place += 1
        free_at[place - size : place] = end
    return end


class Offer(NamedTuple):
    """Where and when a job is expected to run.

    Attributes
    ----------
    cluster : KnownCluster
    time : float
        Its execution time there, s.
    end : float
        s.
    """

    cluster: KnownCluster
    time: float
    end: float


class EarliestCompletionScheduler(GlobalScheduler):
    """ECT: to the cluster where the job is expected to end first, by a book of its own.

    The book says when each processor will be free, as if every cluster served its jobs first come,
    first served, and they ran for what PACE predicts. Ends at other times correct it only where
    nothing is left: a cluster all of whose jobs are known to have ended is taken to be free. It is
    of the processors that are up, as brokers tell: those that go are the first to be free, and
    those that come are free. When a real job is cancelled that waits, the book of its cluster is
    made anew, of what is there.
    """

    only_chooses, reads_components = True, False
    label = "ECT"
    goes_by = "its own book of when processors will be free"

    def __init__(self, model: GridModel) -> None:
        super().__init__(model)
        self._free_at = [np.zeros(cluster.size) for cluster in self.clusters]

    def place(self, job: Job) -> Answer:
        """Choose the cluster of earliest completion; of equals, the one of lowest index."""
        best, earliest = None, np.inf
        for offer in self.offers(job):
            if offer.end < earliest:
                best, earliest = offer, offer.end
        return self.taken(job, best)

    def withdrawn(self, cluster: int) -> None:
        """Make the book of a cluster anew, of the jobs that run and wait there."""
        now, jobs = self.model.now, self.model.world.jobs
        free_at = self._free_at[cluster] = np.zeros(self.clusters[cluster].size)
        running, counts = jobs.running(cluster)
        ends = jobs["start"][running] + jobs["predicted_time"][running]
        for at in np.argsort(ends, kind="stable").tolist():
            _book(free_at, counts.item(at), now, max(0.0, ends.item(at) - now), True)
        for slot in jobs.waiting(cluster).tolist():
            size, time = jobs["size"].item(slot), jobs["predicted_time"].item(slot)
            _book(free_at, size, now, time, True)

    def offers(self, job: Job) -> Iterator[Offer]:
        """Yield where and when the job is expected to run, in the order of clusters."""
        now, size, pace = self.model.now, job.size, self.model.pace
        for cluster in self.clusters:
            free_at = self._book_of(cluster)
            if cluster.unfinished == 0:
                free_at[:] = 0.0
            if size <= len(free_at):
                time = pace.predict_one(job.slot, cluster.index)
                yield Offer(cluster, time, _book(free_at, size, now, time, False))

    def _book_of(self, cluster: KnownCluster) -> npt.NDArray[np.float64]:
        """Return the book of a cluster, of as many processors as are up there."""
        free_at, up = self._free_at[cluster.index], cluster.up
        if len(free_at) != up:
            come = np.zeros(max(0, up - len(free_at)))
            free_at = np.concatenate([come, free_at[max(0, len(free_at) - up) :]])
            self._free_at[cluster.index] = free_at
        return free_at

    def taken(self, job: Job, offer: Offer | None) -> Answer:
        """Book an offer for a job, and return its cluster; None: it waits."""
        if offer is None:
            return None
        free_at = self._free_at[offer.cluster.index]
        _book(free_at, job.size, self.model.now, offer.time, True)
        return offer.cluster
