"""How a model's clock is moved: whole intervals, empty ones at once, and stops in between."""

from __future__ import annotations

import numpy as np
import pytest

from agents.muscle import MuscleScheduler
from agents.schedulers import GlobalScheduler

from .small_grids import OUTCOME, model_of, table, workload


def outcome(model):
    return [model.world.log.records()[name].tobytes() for name in OUTCOME]


def test_a_step_ends_with_its_interval():
    model = model_of("dll", "fcfs", table((1.0, 1, 7.5), (2.0, 1, 30.0)), interval=2.0)
    ends = []
    while model.running:
        model.step()
        ends.append(model.now)
    # Jobs arrive at 1 and 2 s and finish at 8.5 s and 2 + 30/1.3 s, with which the run ends.
    assert ends == pytest.approx([2.0, 10.0, 2 + 30 / 1.3])


def test_intervals_in_which_nothing_happens_take_one_step():
    model = model_of("muscle", "titan", table((0.0, 2, 10.0), (3e7, 2, 1e8)), interval=1.0)
    model.run()
    assert model.world.state.completed == 2
    assert model.steps < 50


@pytest.mark.parametrize("interval", [1e-300, 1e-20, 1e300])
def test_an_extreme_interval_ends_and_changes_nothing(interval):
    runs = []
    for each in (interval, 10.0):
        model = model_of("muscle", "titan", workload(count=20), interval=each, latency=0.3)
        model.run()
        runs.append(outcome(model))
    assert runs[0] == runs[1]


class Muscle(MuscleScheduler):
    """Stops its model, as a signal may, whenever it hears something."""

    def receive(self, message):
        super().receive(message)
        self.model.stop()


class LeastLoaded(GlobalScheduler):
    """Stops its model in the middle of a decision."""

    def place(self, job):
        self.model.stop()
        fitting = [cluster for cluster in self.clusters if cluster.size >= job.size]
        return min(fitting, key=lambda cluster: cluster.load)


@pytest.mark.parametrize("mode", ["open", "batch"])
@pytest.mark.parametrize(("global_", "local"), [(Muscle, "titan"), (LeastLoaded, "fcfs")])
def test_a_model_that_is_stopped_goes_on_as_if_it_had_not_been(mode, global_, local):
    def make():
        jobs = workload(mode, share=0.5, count=40)
        return model_of(global_, local, jobs, latency=0.7, interval=1e9)

    stopped, whole = make(), make()
    stops = 0
    while stopped.running:
        stopped.step()
        stops += stopped.running
    assert stops > 3
    whole.stop = lambda: None
    whole.run()
    assert whole.steps == 1
    assert outcome(stopped) == outcome(whole)
    assert stopped.now == whole.now


def test_by_default_jobs_that_arrive_are_allocated_at_once():
    """Batches wait until some cluster is idle, whatever else waits."""
    opened = model_of("muscle", "titan", workload("open", rate=2.0))
    opened.run()
    dispatched = np.unique([each.dispatched for each in opened.rounds])
    arrivals = np.unique(opened.world.log.records()["arrival"])
    assert dispatched.tolist() == arrivals.tolist()
    assert model_of("muscle", "titan", workload("batch")).round_threshold == 0.0
