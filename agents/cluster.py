"""A cluster: processors, the queue before them, and the scheduler that serves it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from agents.protocols import Grid, NamedAgent

if TYPE_CHECKING:
    from agents.a4.broker import A4Broker
    from agents.schedulers import LocalScheduler

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]


class ClusterAgent(NamedAgent):
    """One cluster of the grid: a view of the world's arrays.

    Attributes
    ----------
    index : int
        Its place in every array over clusters.
    name : str
    size : int
        Processors.
    rate : float
        Speed relative to rate 1.
    scheduler : LocalScheduler
    broker : A4Broker
    reports_to : A4Broker
        Where a scheduler that works in rounds is told how far it is booked.
    """

    scheduler: LocalScheduler

    def __init__(self, model: Grid, index: int, broker: A4Broker) -> None:
        super().__init__(model)
        cluster = model.world.platform.clusters[index]
        self.index = index
        self.name = cluster.name
        self.size = cluster.size
        self.rate = cluster.rate
        self.broker = broker
        self.reports_to: Any = model.broker

    def __repr__(self) -> str:
        processors = f"{self.free} of {self.size} processors free"
        return f"<{type(self).__name__} {self.name}: {processors}; jobs waiting: {self.waiting}>"

    @property
    def free(self) -> int:
        """Free processors."""
        return int(self.model.world.state.free[self.index])

    @property
    def busy(self) -> int:
        """Processors that run jobs."""
        return int(self.model.world.state.up[self.index]) - self.free

    @property
    def running(self) -> int:
        """Jobs that run."""
        return int(self.model.world.state.running_count[self.index])

    @property
    def waiting(self) -> int:
        """Jobs in the queue."""
        return int(self.model.world.state.waiting[self.index])

    @property
    def utilization(self) -> float:
        """Share of the processors' time held until now."""
        world = self.model.world
        return float(world.busy_area()[self.index] / (self.size * world.now)) if world.now else 0.0

    @property
    def messages(self) -> dict[str, int]:
        """Messages that its broker sent, and that were sent to it: of jobs, state and schedules."""
        world, broker = self.model.world, self.broker
        return {
            "sent": int(world.state.sent[self.index]) + broker.sent,
            "received": int(world.state.received[self.index]) + broker.received,
        }

    @property
    def restarts(self) -> int:
        """Times that a failure, or another job, threw a job back here."""
        return int(self.model.world.state.restarts[self.index])

    @property
    def preemptions(self) -> int | None:
        """Of these, times that another job did; None if its scheduler has no job preempt others."""
        if not self.scheduler.preempts:
            return None
        return int(self.model.world.state.preemptions[self.index])

    @property
    def lost_work(self) -> float:
        """Processor-seconds that such jobs had been held here, in vain."""
        return float(self.model.world.state.lost_work[self.index])

    def expected_ends(self) -> tuple[Indices, Indices, Floats]:
        """Return the slots of the running jobs, their processors here and expected ends, s.

        A job that runs for longer than predicted is expected to end now, at any moment. Of the
        links that a co-allocated job shares, only its dedicated execution time is predicted.
        """
        world, jobs = self.model.world, self.model.world.jobs
        slots, counts = world.jobs.running(self.index)
        ends, expected = jobs["end"][slots], jobs["predicted_time"][slots]
        known = ends < np.inf  # else somebody outside will tell
        times = jobs["execution_time"][slots[known]]
        ends[known] += expected[known] - times
        ends[~known] = jobs["start"][slots[~known]] + expected[~known]
        return slots, counts, np.maximum(ends, world.now)

    def released_at(self) -> Floats:
        """Return when each processor that remains will be free, s, in increasing order."""
        world = self.model.world
        slots, counts, ends = self.expected_ends()
        if world.state.remaining[self.index] < world.state.up[self.index]:
            counts = world.jobs.remaining_of(self.index, slots)
        held = np.repeat(ends, counts)
        free = np.full(self.free, world.now)
        return np.concatenate([free, np.sort(held)])

    def processors(self) -> Indices:
        """Return the processors that remain, 0-based, in the order of `released_at`.

        Which they are is known in a `tracked` world alone.
        """
        slots, _, ends = self.expected_ends()
        processors, holders = self.model.world.jobs.holders(self.index)
        until = dict(zip(slots.tolist(), ends.tolist(), strict=True))
        free_at = [until.get(holder, -np.inf) for holder in holders.tolist()]
        return processors[np.argsort(free_at, kind="stable")]

    def release_times(self) -> Floats:
        """Return when each processor that remains will be free, seconds from now, increasing."""
        return self.released_at() - self.model.now
