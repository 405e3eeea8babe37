"""MUSCLE under watch: each of its starts is checked as it goes."""

from __future__ import annotations

from agents.messages import ScheduleReport, SeedSchedule
from agents.muscle import MuscleScheduler

from .small_grids import FAR, heard, model_of


class WatchedMuscle(MuscleScheduler):
    """MUSCLE with a notebook: what it was told when, and what it knew when it dispatched."""

    def __init__(self, model):
        super().__init__(model)
        self.name = "MUSCLE"
        self.received = []
        self.dispatches = []
        self.told = [0.0] * len(self.clusters)  # makespan left, as last told or assumed
        self.free_at = [0.0] * len(self.clusters)  # absolute
        self.asked = [0] * len(self.clusters)

    def receive(self, message):
        self.received.append((self.model.now, message))
        if isinstance(message, ScheduleReport) and message.round >= self.asked[message.cluster]:
            self.told[message.cluster] = message.makespan
            self.free_at[message.cluster] = message.release.max(initial=0.0)
        super().receive(message)

    def act(self):
        super().act()
        waiting = self.model.world.jobs.waiting()
        if len(waiting):
            assert self.least_told(waiting) > self.model.round_threshold, "jobs wait for nothing"

    def least_told(self, slots):
        """Return the least makespan left of the clusters that can hold one of these jobs."""
        smallest = self.model.world.jobs["size"][slots].min()
        return min(
            told
            for told, each in zip(self.told, self.clusters, strict=True)
            if each.size >= smallest
        )

    def dispatch(self, slots):
        assert len(slots) > 0
        assert self.least_told(slots) <= self.model.round_threshold
        world = self.model.world
        self.dispatches.append((self.model.now, world.jobs["number"][slots].tolist()))
        told = heard(self.model)
        super().dispatch(slots)
        for seed in (each for each in told if isinstance(each, SeedSchedule)):
            c = world.platform.index(seed.receiver)
            self.free_at[c] = max(self.free_at[c], self.model.now + max(seed.finishes))
            self.told[c] = self.free_at[c] - self.model.now
            self.asked[c] = seed.round
        self.model.listeners.pop()


def watched(jobs, local="titan", platform=FAR, **options):
    model = model_of(WatchedMuscle, local, jobs, platform, **options)
    messages = heard(model)
    model.run()
    return model, messages
