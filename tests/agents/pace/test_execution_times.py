"""Jobs with an execution time for each cluster: e_ij of `muscle`, section 2."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from agents.registry import GLOBAL, LOCAL
from agents.schedulers import GlobalScheduler
from grid.errors import GridError, WorkloadError
from grid.platform.multicluster import Platform
from grid.workloads.execution_times import ExecutionTimes, stacked
from grid.workloads.table import Table
from tests.agents.small_grids import OUTCOME, done, model_of, ran, table, workload
from tests.agents.test_pickles import copied

SIZES, RATES, LINKS = (8, 6, 4), (1.0, 2.0, 0.5), (0.1, 0.2, 0.4)
UNEQUAL = Platform.star(SIZES, RATES, latency=LINKS)
ALIKE = Platform.star(SIZES, latency=LINKS)
TIMED = [name for name in GLOBAL if name != "oas"]


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


@pytest.mark.sampled(30)
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
    stream = np.random.default_rng(5)
    jobs = drawn()
    seconds = np.exp(stream.normal(3.0, 1.0, (len(jobs), 3)))
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
        ([[1.0, np.inf, 1.0]], "row 0, cluster 1: found inf"),
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
