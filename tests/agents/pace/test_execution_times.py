"""Jobs with an execution time for each cluster: e_ij of `muscle`, section 2."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from agents.muscle import seed_schedules
from agents.muscle.allocation import allocate
from agents.registry import GLOBAL, LOCAL
from agents.schedulers import GlobalScheduler
from agents.selection import JobSelection
from grid.errors import GridError, WorkloadError
from grid.platform.multicluster import Platform
from grid.streams import stream
from grid.workloads.execution_times import ExecutionTimes, stacked
from grid.workloads.table import Table
from tests.agents.small_grids import OUTCOME, done, model_of, ran, table, workload
from tests.agents.test_pickles import copied

SIZES, RATES, LINKS = (8, 6, 4), (1.0, 2.0, 0.5), (0.1, 0.2, 0.4)
UNEQUAL = Platform.star(SIZES, RATES, latency=LINKS)
ALIKE = Platform.star(SIZES, latency=LINKS)
TIMED = [name for name in GLOBAL if name != "oas"]
HOMEBOUND = {
    "home",
    "no-share",
    *(name for name in GLOBAL if GLOBAL[name].startswith("agents.queueing")),
}
"""Those that reject jobs which cannot run where they were submitted, or on the first cluster."""


def drawn(**changes):
    """Return jobs that come one after the other."""
    jobs = workload(share=0.3, slowest=0.5, **changes)
    return np.concatenate([*jobs.chunks()])


def timed(jobs, seconds, platform=ALIKE):
    """Return jobs with an execution time for each cluster."""
    jobs = jobs.copy()
    jobs["times_row"] = np.arange(len(jobs))
    return Table(jobs, times=ExecutionTimes(tuple(platform.names), np.array(seconds, float)))


def outcome(model):
    records = model.world.log.records()
    return [records[name].tobytes() for name in (*OUTCOME, "predicted_time")], model.messages


@pytest.mark.sampled(12)
@pytest.mark.parametrize("local", LOCAL)
@pytest.mark.parametrize("global_", TIMED)
def test_times_of_rates_are_as_good_as_rates(global_, local):
    jobs = drawn(count=40)
    seconds = jobs["runtime"][:, None] / np.array(RATES)
    by_rates = ran(global_, local, Table(jobs), UNEQUAL, latency=0.7)
    by_times = ran(global_, local, timed(jobs, seconds), ALIKE, latency=0.7)
    assert outcome(by_times) == outcome(by_rates)


@pytest.mark.parametrize("global_", ["dll", "ect", "muscle", "first-fit"])
@pytest.mark.parametrize("error", [0.4, (2.0, 0.5, 1.0)])
def test_times_are_as_far_off_as_predictions_are(global_, error):
    jobs = drawn()
    seconds = jobs["runtime"][:, None] / np.array(RATES)
    by_rates = ran(global_, "easy", Table(jobs), UNEQUAL, prediction_error=error)
    by_times = ran(global_, "easy", timed(jobs, seconds), ALIKE, prediction_error=error)
    assert np.allclose(done(by_times)["predicted_time"], done(by_rates)["predicted_time"])
    assert not np.allclose(done(by_times)["predicted_time"], done(by_times)["execution_time"])


def test_jobs_run_for_the_very_times_that_they_bring():
    jobs = drawn()
    seconds = np.exp(np.random.default_rng(5).normal(3.0, 1.0, (len(jobs), 3)))
    model = ran("muscle", "titan", timed(jobs, seconds))
    records = done(model)
    assert {*records["cluster"].tolist()} == {0, 1, 2}
    own = seconds[records["number"] - 1, records["cluster"]]
    assert (records["execution_time"] == own).all()
    assert (records["predicted_time"] == own).all()


def test_a_split_job_runs_as_long_as_where_it_is_slowest():
    jobs = table((0.0, 12, 50.0)).jobs
    (record,) = done(ran("first-fit", "fcfs", timed(jobs, [[20.0, 30.0, 10.0]])))
    assert record["execution_time"] == 30.0


def test_each_job_goes_where_it_ends_first():
    jobs = table((0.0, 4, 9.0), (0.0, 4, 9.0), (0.0, 4, 9.0)).jobs
    seconds = [[3.0, 2.0, 1.0], [1.0, 2.0, 3.0], [2.0, 1.0, 3.0]]
    found = done(ran("ect", "fcfs", timed(jobs, seconds)))
    assert found["cluster"].tolist() == [2, 0, 1]
    assert (found["finish"] - found["start"] == 1.0).all()


def test_jobs_with_times_and_without_run_together():
    with_times = timed(table((0.0, 2, 10.0)).jobs, [[5.0, 7.0, 9.0]])
    without = Table(table((1.0, 2, 10.0)).jobs)
    (first, second), times = stacked([without.jobs, with_times.jobs], [None, with_times.times])
    second["number"] = 2
    jobs = np.concatenate([second, first])
    model = model_of("round-robin", "fcfs", Table(jobs, times=times), UNEQUAL)
    model.run()
    found = done(model)
    assert found["execution_time"].tolist() == [5.0, 5.0]  # 10 s at rate 2, and its own on C1
    assert found["cluster"].tolist() == [1, 0]


# Clusters on which some jobs cannot run ----------------------------------------------------------


def restricted(count=40, seed=3):
    """Return jobs of which many cannot run on every cluster, and the times of all."""
    jobs = drawn(count=count, largest=4)
    random = np.random.default_rng(seed)
    seconds = jobs["runtime"][:, None] * random.uniform(0.5, 2.0, (count, 3))
    seconds[random.random((count, 3)) < 0.4] = np.inf
    seconds[np.isinf(seconds).all(axis=1), 1] = 7.0
    return jobs, seconds


@pytest.mark.sampled(10)
@pytest.mark.parametrize("local", LOCAL)
@pytest.mark.parametrize("global_", TIMED)
def test_no_job_runs_where_it_cannot(global_, local):
    jobs, seconds = restricted()
    composed = global_ in ("wf", "ff", "ordered")
    model = ran(global_, local, timed(jobs, seconds), latency=0.0 if composed else 0.7)
    records, took = model.world.log.records(), model.world.log.records().takes
    assert model.completed + model.world.state.rejected == len(jobs)
    ended = records[~np.isnan(records["start"])]
    assert len(ended) > len(jobs) / 3
    for record in ended:
        own = seconds[record["number"] - 1]
        if record["cluster"] >= 0:
            assert record["execution_time"] == own[record["cluster"]] < np.inf
        else:
            assert record["execution_time"] == own[took[record["split"]] > 0].max() < np.inf
    assert model.world.state.rejected == 0 or global_ in HOMEBOUND


def test_muscle_allocates_those_with_fewer_clusters_first():
    sizes, due = [2, 2, 2, 4], np.full(4, 100.0)
    times = np.array([[9.0, 9.0], [np.inf, 5.0], [9.0, 9.0], [np.inf, 5.0]])
    found = allocate(sizes, times, due, [4, 4], [np.zeros(4)] * 2, np.zeros((2, 4)), stream(1, "x"))
    assert {*found.order[:2].tolist()} == {1, 3}
    assert (found.cluster[[1, 3]] == 1).all()
    first = allocate(
        [2, 4], times[[1, 3], 1:], due[:2], [4], [np.zeros(4)], np.zeros((1, 4)), stream(1, "x")
    )
    assert found.start[[1, 3]].tolist() == first.start.tolist()
    assert found.first[[1, 3]].tolist() == first.first.tolist()
    assert (found.cluster[[0, 2]] == 0).all()  # the other is taken until 10 s
    assert sorted({*found.space.tolist()}) == [*range(int(found.space.max()) + 1)]


def test_seed_schedules_leave_out_where_a_job_cannot_run():
    schedules = seed_schedules([1, 1], [[np.inf, 5.0], [5.0, np.inf]], [9.0, 9.0], [2, 2])
    assert [[each.job for each in one] for one in schedules] == [[1], [0]]


@pytest.mark.parametrize("global_", ["dll", "muscle", "first-fit"])
def test_a_job_larger_than_its_clusters_is_rejected(global_):
    jobs = table((0.0, 7, 5.0), (0.0, 7, 5.0)).jobs
    seconds = [[np.inf, 5.0, np.inf], [5.0, np.inf, np.inf]]
    model = ran(global_, "fcfs", timed(jobs, seconds))
    assert model.completed == model.world.state.rejected == 1
    assert done(model)["number"].tolist() == [2]


@pytest.mark.parametrize("answer", ["send", "start"])
def test_a_policy_that_sends_a_job_where_it_cannot_run_is_told(answer):
    class Stubborn(GlobalScheduler):
        def place(self, job):
            return self.clusters[1] if answer == "send" else {"C2": job.size}

    jobs = timed(table((0.0, 2, 5.0)).jobs, [[5.0, np.inf, 5.0]])
    with pytest.raises(GridError, match="it can run on C1, C3 only"):
        ran(Stubborn, "fcfs", jobs)


def test_a_cluster_has_no_processors_for_a_job_that_cannot_run_there():
    told = []

    class Watching(GlobalScheduler):
        def place(self, job):
            told.append([(each.size, each.up, each.free) for each in self.clusters])
            return self.clusters[0]

    jobs = table((0.0, 2, 6.0), (1.0, 2, 6.0), (2.0, 2, 6.0)).jobs
    seconds = [[6.0, 6.0, 6.0], [6.0, np.inf, 6.0], [6.0, 6.0, 6.0]]
    ran(Watching, "fcfs", timed(jobs, seconds), Platform.star(SIZES))
    assert told == [
        [(8, 8, 8), (6, 6, 6), (4, 4, 4)],
        [(8, 8, 6), (0, 0, 0), (4, 4, 4)],
        [(8, 8, 4), (6, 6, 6), (4, 4, 4)],
    ]


def test_several_tables_are_one():
    one = timed(table((0.0, 2, 10.0), (0.0, 2, 10.0)).jobs, [[1, 2, 3], [4, 5, 6]])
    other = timed(table((0.0, 2, 10.0)).jobs, [[7, 8, 9]])
    (first, second), times = stacked([one.jobs, other.jobs], [one.times, other.times])
    assert times.seconds[first["times_row"]].tolist() == [[1, 2, 3], [4, 5, 6]]
    assert times.seconds[second["times_row"]].tolist() == [[7, 8, 9]]


def test_a_policy_is_told_the_rates_for_its_job():
    told = []

    class Watching(GlobalScheduler):
        def place(self, job):
            told.append([job.predicted_runtime / each.rate for each in self.clusters])
            return self.clusters[0]

    ran(Watching, "fcfs", timed(table((0.0, 2, 6.0)).jobs, [[6.0, 3.0, 12.0]]))
    assert told == [[6.0, 3.0, 12.0]]


def test_a_pickle_goes_on_with_the_same_times():
    jobs = drawn()
    seconds = jobs["runtime"][:, None] * np.array([0.5, 1.0, 2.0])
    model = model_of("muscle", "easy", timed(jobs, seconds))
    model.step()
    assert 0 < model.completed < len(jobs)
    again = copied(model)
    model.run()
    again.run()
    assert outcome(again) == outcome(model)


@pytest.mark.parametrize(
    ("seconds", "found"),
    [
        ([[1.0, 2.0]], "clusters C1, C2"),
        ([[1.0, 2.0, 0.0]], "row 0, cluster 2: found 0.0"),
        ([[1.0, np.nan, 1.0]], "row 0, cluster 1: found nan"),
        ([[np.inf, np.inf, np.inf]], "row 0: found none"),
    ],
)
def test_what_are_no_times_is_refused(seconds, found):
    jobs = timed(table((0.0, 1, 1.0)).jobs, seconds)
    names = ALIKE.names[: len(seconds[0])]
    jobs = replace(jobs, times=replace(jobs.times, clusters=tuple(names)))
    with pytest.raises(WorkloadError, match=found):
        model_of("dll", "fcfs", jobs, ALIKE)


def test_a_row_that_is_not_there_is_refused():
    jobs = timed(table((0.0, 1, 1.0)).jobs, [[1.0, 1.0, 1.0]])
    jobs.jobs["times_row"] = 1
    with pytest.raises(WorkloadError, match=r"times_row 1; accepted: -1, or a row"):
        model_of("dll", "fcfs", jobs, ALIKE).run()


def test_the_optimum_has_no_times_of_jobs():
    with pytest.raises(GridError, match="oas: found jobs with execution times"):
        model_of("oas", "fcfs", timed(table((0.0, 1, 1.0)).jobs, [[1.0, 1.0, 1.0]]), ALIKE)


@pytest.mark.thorough
def test_what_a_job_is_not_offered_says_nothing_of_others():
    # Job 2 can run on C2 alone, which job 1 fills; job 3 needs as much, and starts on C1 at once.
    jobs = table((0.0, 6, 90.0), (1.0, 4, 10.0), (2.0, 4, 10.0)).jobs
    seconds = [[np.inf, 90.0, np.inf], [np.inf, 10.0, np.inf], [10.0, 10.0, 10.0]]
    for selection in ("easy", "conservative", "fpfs"):
        settings = [JobSelection(selection)]
        model = ran("first-fit", "fcfs", timed(jobs, seconds), settings=settings)
        assert done(model)["start"].tolist() == [0.0, 90.0, 2.0], selection
