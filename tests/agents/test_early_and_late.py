"""Jobs that end earlier or later than predicted."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from agents.messages import ScheduleReport
from agents.registry import LOCAL
from agents.schedulers import GlobalScheduler
from grid.jobs import job_table
from grid.metrics.of_rounds import round_performance
from grid.platform.multicluster import Platform
from grid.workloads.table import Table

from .small_grids import ONE, done, heard, model_of, ran, table, workload


@pytest.mark.parametrize("local", LOCAL)
def test_a_job_that_runs_for_longer_is_expected_to_end_now(local):
    """100 s are predicted as 10 s: from 10 s on the end may come at any moment."""
    jobs = table((0, 2, 100.0), (50, 4, 30.0), (110, 1, 30.0))
    model = model_of("muscle", local, jobs, ONE, prediction_error=(0.1,))
    reports = heard(model)
    released = {}
    model.interval = 1.0
    while model.running:
        model.step()
        released[model.now] = model.clusters[0].released_at().tolist()
        assert (model.clusters[0].release_times() >= 0).all()
    assert released[1] == [1, 1, 10, 10]
    assert released[50] == [50] * 4
    assert done(model)["start"].tolist() == [0, 100, 130]
    told = [each for each in reports if isinstance(each, ScheduleReport)]
    assert all((each.release >= each.sent).all() for each in told)
    late = next(each for each in told if each.sent == 50)
    assert late.makespan == pytest.approx(3)  # the second job's 30 s, as if the first ended now
    assert model.now == done(model)["finish"].max() == 160


@pytest.mark.parametrize("local", LOCAL)
@pytest.mark.parametrize(("factor", "dispatched"), [(10.0, 10), (1.0, 10), (0.1, 1)])
def test_a_round_starts_when_a_cluster_runs_dry_however_long_it_seemed_to_take(
    local, factor, dispatched
):
    """While 10 s run another job comes: it waits for their end, be it early, or expected at 1 s."""
    jobs = table((0, 4, 10.0), (0.5, 4, 10.0))
    model = ran("muscle", local, jobs, ONE, round_threshold=0.0, prediction_error=(factor,))
    assert [round.dispatched for round in model.rounds] == [0, dispatched]
    assert done(model)["start"].tolist() == [0, 10]
    assert model.now == 20


@pytest.mark.parametrize("local", LOCAL)
def test_no_round_waits_for_an_end_that_came_early(local):
    jobs = workload("batch", count=80)
    model = ran("muscle", local, jobs, prediction_error=(9.0, 9.0, 9.0))
    ended = done(model)
    arrivals = np.unique(ended["arrival"])
    assert len(arrivals) > 3
    for before, after in itertools.pairwise(arrivals):
        assert after == ended["finish"][ended["arrival"] == before].max()


def test_what_ends_on_time_is_not_reported_again():
    def reports(**options):
        model = model_of("muscle", "fcfs", workload(count=40), round_threshold=0.0, **options)
        messages = heard(model)
        model.run()
        return sum(isinstance(each, ScheduleReport) for each in messages)

    exact, wrong = reports(), reports(prediction_error=0.5)
    assert wrong >= 40 > exact


def test_an_overdue_job_does_not_make_its_scheduler_ask_again_and_again():
    """A thousandth of a second is predicted for all that waits behind it for 1,000 s."""
    jobs = table((0, 4, 1000.0), *((1, 4, 1.0) for _ in range(5)))
    model = ran("muscle", "titan", jobs, ONE, round_threshold=0.0, prediction_error=(1e-3,))
    assert done(model)["finish"].max() == pytest.approx(1005)
    assert model.messages_posted < 40


def test_what_titan_expects_and_what_comes_true():
    """On one cluster where all takes twice as long as it seems, so does the makespan."""
    jobs = workload("batch", clusters=1, largest=4)
    for error, ratio in ((1.0,), 1), ((0.5,), 2), ((3.0,), 1 / 3):
        model = ran("muscle", "titan", jobs, ONE, weights=(0, 1, 0), prediction_error=error)
        realised = round_performance(model.world.log.records(), ONE, model.weights, model.idle)
        planned = np.array([each.cps[0] for each in model.rounds])
        assert len(planned) > 2
        assert realised.cps[:, 0] == pytest.approx(ratio * planned)


def test_failures_with_errors_lose_no_job():
    jobs = workload(rate=2.0)
    model = model_of("muscle", "titan", jobs, tracked=True, prediction_error=1.0)
    for processor in range(6):
        model.world.resources.fail(0, processor, 10.0 + processor, 60.0 + processor)
    model.run()
    ended = done(model)
    assert len(ended) == 60
    assert ended["restarts"].sum() > 0
    again = ended[ended["restarts"] > 0]
    assert again["finish"] == pytest.approx(again["start"] + again["execution_time"])


def test_shared_links_do_not_hide_the_error():
    class Halves(GlobalScheduler):
        spans = True

        def place(self, job):
            taken = {cluster.name: job.size // 2 for cluster in self.clusters}
            return taken if all(c.free >= job.size // 2 for c in self.clusters) else None

    rows = job_table(2)
    rows["size"], rows["runtime"], rows["arrival"] = 4, 100.0, [0.0, 10.0]
    rows["computation_fraction"], rows["ppbw"] = 0.5, 300.0
    platform = Platform.star([4, 4], capacity=1000.0)
    model = model_of(Halves, "fcfs", Table(rows), platform, prediction_error=(2.0, 2.0))
    model.interval = 10.0
    model.step()
    _, _, ends = model.clusters[0].expected_ends()
    assert len(ends) == 2
    assert [known.load for known in model.scheduler.clusters] == [2 * 2 * 200 / 4] * 2
    model.run()
    assert [known.load for known in model.scheduler.clusters] == [0, 0]
    jobs = done(model)
    assert (jobs["execution_time"] == 100).all()
    assert (jobs["predicted_time"] == 200).all()
    assert ends.max() > jobs["finish"].min() + 50
