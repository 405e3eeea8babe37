"""Jobs larger than any cluster under MUSCLE: split over several when their turn has come."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.muscle import MuscleScheduler
from agents.muscle.scheduler import MuscleSettings
from agents.muscle.wide_jobs import enough_at, largest_first
from agents.schedulers import GlobalScheduler
from grid.errors import PlacementError
from grid.platform.brokers import Advertising
from grid.platform.changes import Failures
from grid.platform.multicluster import Platform
from grid.workloads.table import Table
from tests.agents.small_grids import (
    OUTCOME,
    RATES,
    SIZES,
    done,
    model_of,
    most_held,
    ran,
    table,
    workload,
)

SPLITS = MuscleSettings(coallocate=True)
LARGEST = max(SIZES)


def communicating(jobs, fraction=0.5, ppbw=10.0):
    """Return a table of which every job communicates."""
    rows = jobs.jobs.copy()
    rows["computation_fraction"], rows["ppbw"] = fraction, ppbw
    return Table(rows)


def takes_of(model):
    """Return the processors of each completed job, by number, on each cluster."""
    records = model.world.log.records()
    by_number = {}
    for row in records.rows:
        if row["split"] >= 0:
            by_number[int(row["number"])] = records.takes[row["split"]].tolist()
    return by_number


def test_a_wide_job_starts_at_once_where_there_is_room():
    model = ran("muscle", "titan", table((1.0, 12, 10.0)), settings=[SPLITS])
    (job,) = done(model)
    assert takes_of(model) == {1: [8, 4, 0]}
    assert job["start"] == 1.0
    assert job["finish"] == 1.0 + 10.0 / min(RATES[:2])


def test_without_coallocation_it_is_rejected():
    model = ran("muscle", "titan", table((1.0, 12, 10.0), (2.0, 8, 10.0)))
    assert model.world.state.rejected == 1
    assert done(model)["number"].tolist() == [2]


@pytest.mark.parametrize("local", ["titan", "fcfs"])
def test_it_waits_for_what_came_before_and_holds_back_what_comes_after(local):
    jobs = table((0.0, 8, 10.0), (1.0, 18, 7.0), (2.0, 1, 5.0), (3.0, 18, 7.0))
    model = ran("muscle", local, jobs, settings=[SPLITS])
    first, wide, after, second = done(model)
    assert wide["start"] == first["finish"]
    # All clusters are busy until it ends; the next wide job waits for the small one before it.
    assert after["start"] == wide["finish"]
    assert second["start"] == after["finish"]


def test_a_cluster_beyond_the_threshold_gives_nothing():
    platform = Platform.star([8, 8, 8], capacity=100.0)
    # The first takes 8 and 4 processors of C1 and C2 and brings their links over 200 Mbit/s.
    jobs = communicating(table((0.0, 12, 50.0), (1.0, 12, 10.0)), ppbw=100.0)
    for lslt, waits in ((100.0, True), (1e6, False)):
        settings = [MuscleSettings(coallocate=True, lslt=lslt)]
        model = ran("muscle", "titan", jobs, platform, settings=settings)
        first, second = done(model)
        assert (second["start"] == first["finish"]) == waits
        assert (second["start"] == 1.0) == (not waits)


grids = st.fixed_dictionaries(
    {
        "latency": st.sampled_from([0.0, 0.7]),
        "loss": st.sampled_from([0.0, 0.3]),
        "error": st.sampled_from([0.0, 0.6]),
        "when": st.sampled_from(["change", "periodic", "both"]),
        "fails": st.booleans(),
        "threshold": st.sampled_from([None, 0.0]),
        "local": st.sampled_from(["titan", "fcfs"]),
        "mode": st.sampled_from(["open", "batch"]),
        "seed": st.integers(0, 1000),
    }
)


def run_of(grid, interval=10.0):
    return ran(
        "muscle",
        grid["local"],
        workload(grid["mode"], count=30, largest=sum(SIZES) - 2, seed=grid["seed"]),
        Platform.star(SIZES, RATES, capacity=50.0),
        settings=[SPLITS],
        interval=interval,
        seed=grid["seed"],
        latency=grid["latency"],
        advertising=Advertising(grid["when"], period=20.0, loss=grid["loss"]),
        prediction_error=grid["error"],
        round_threshold=grid["threshold"],
        failures=Failures(600.0, 30.0) if grid["fails"] else None,
    )


@settings(max_examples=20)
@given(grid=grids)
def test_all_jobs_end_and_no_processor_is_held_twice(grid):
    model = run_of(grid)
    jobs, splits = done(model), takes_of(model)
    assert len(jobs) == 30, "a job never started"
    assert {int(job["number"]) for job in jobs if job["size"] > LARGEST} == set(splits)
    for cluster, size in enumerate(SIZES):
        held = [
            splits[number][cluster]
            if number in splits
            else job["size"] * (job["cluster"] == cluster)
            for number, job in zip(jobs["number"].tolist(), jobs, strict=True)
        ]
        assert most_held(jobs["start"], jobs["finish"], held) <= size
    for number, take in splits.items():
        assert sum(take) == jobs["size"][jobs["number"] == number]
    if not grid["fails"]:
        for wide in jobs[jobs["size"] > LARGEST]:
            behind = jobs[jobs["number"] > wide["number"]]
            if grid["latency"] == 0.0 and grid["loss"] == 0.0:
                assert (behind["start"] >= wide["start"]).all(), "one behind went first"


@settings(max_examples=8)
@given(grid=grids)
def test_the_step_changes_nothing(grid):
    one, other = run_of(grid), run_of(grid, interval=0.37)
    for name in OUTCOME:
        assert one.world.log.records()[name].tobytes() == other.world.log.records()[name].tobytes()


class Starts(GlobalScheduler):
    """Collects jobs and tries to start each as it is told to, noting what came of it."""

    collects = True
    spans = True
    take = (8, 4, 0)

    def __init__(self, model):
        super().__init__(model)
        self.started = []

    def act(self):
        for slot in self.model.world.collected().tolist():
            self.started.append(self.model.world.start(slot, self.take))


def test_clusters_refuse_a_start_for_which_they_are_not_free():
    model = model_of(Starts, "fcfs", table((0.0, 12, 5.0), (1.0, 12, 5.0)))
    model.run()
    # It is told when the first ends, and tries again.
    assert model.scheduler.started == [True, False, True]
    assert model.world.state.refused == 1
    assert done(model)["start"].tolist() == [0.0, 5.0]


@pytest.mark.parametrize(
    ("take", "size"), [((8, 3, 0), 12), ((8, 7, -3), 12), ((0, 0, 12), 12), ((8, 6, 4), 12)]
)
def test_a_start_on_other_than_the_jobs_processors_is_no_start(take, size):
    scheduler = type("Wrong", (Starts,), {"take": take})
    model = model_of(scheduler, "fcfs", table((0.0, size, 5.0)))
    with pytest.raises(PlacementError, match=r"placement of job 1 \(size 12\).*12 processors"):
        model.run()


def test_only_jobs_of_the_global_queue_start():
    model = model_of(Starts, "fcfs", table((0.0, 12, 5.0)))
    model.step()
    for slot in (-1, 0, 10_000):
        with pytest.raises(PlacementError, match=f"slot {slot}: accepted"):
            model.world.start(slot, (8, 4, 0))


def test_a_split_begins_with_most_room_and_takes_the_first_of_equals():
    assert largest_first(9, [3, 5, 5]).tolist() == [0, 5, 4]
    assert largest_first(13, [3, 5, 5]).tolist() == [3, 5, 5]
    assert largest_first(14, [3, 5, 5]) is None


def test_there_is_room_when_enough_processors_are_released():
    class Booked:
        def __init__(self, *release):
            self.release = np.array(release)

    book = [Booked(0.0, 4.0), Booked(1.0, 2.0, 9.0)]
    assert [enough_at(size, book) for size in (1, 3, 4, 5, 6)] == [0.0, 2.0, 4.0, 9.0, np.inf]


def test_the_policy_of_the_paper_splits_nothing():
    assert MuscleScheduler.spans is False
    assert model_of("muscle").scheduler.spans is False
