"""PACE in a running grid: schedulers act on what it predicts, jobs run as long as they do."""

from __future__ import annotations

import itertools
import math

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.history import HOUR
from agents.messages import ScheduleReport
from agents.pace import LARGEST_SIGMA
from agents.registry import GLOBAL, LOCAL
from agents.schedulers import GlobalScheduler, LocalScheduler
from grid.errors import GridError
from grid.jobs import UNKNOWN, job_table
from grid.platform import Platform
from grid.rounds import round_performance
from grid.streams import stream, uniform
from grid.workloads.table import Table

from .small_grids import (
    FAR,
    OUTCOME,
    PLATFORM,
    RATES,
    done,
    heard,
    model_of,
    ran,
    table,
    workload,
)

STARTING = ("agents.coallocation", "agents.queueing")
SENDING = [name for name, where in GLOBAL.items() if not where.startswith(STARTING)]
"""Those that send jobs to the queues of clusters; the others start jobs themselves, or split them.
"""
ONE = Platform.star([4])
PAIR = Platform.star([4, 4])


def outcome(model):
    records = model.world.records()
    return [records[name].tobytes() for name in OUTCOME], model.messages, model.now


def factors(model):
    """Return by how much each job was mispredicted, in order of number."""
    jobs = done(model)
    return jobs["predicted_time"] / jobs["execution_time"]


# Who sees what -----------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["open", "batch"])
@pytest.mark.parametrize("local", LOCAL)
@pytest.mark.parametrize("global_", SENDING)
def test_jobs_run_for_their_true_times_under_every_pair_of_policies(global_, local, mode):
    jobs = workload(mode, share=0.3)
    exact = ran(global_, local, jobs, FAR, latency=0.7)
    assert (factors(exact) == 1).all()
    for error in (0.0, (1.0, 1.0, 1.0)):
        same = ran(global_, local, jobs, FAR, latency=0.7, prediction_error=error)
        assert outcome(same) == outcome(exact)
    for error in (1.5, (0.2, 4.0, 1.0)):
        model = ran(global_, local, jobs, FAR, latency=0.7, prediction_error=error)
        ended = done(model)
        assert len(ended) == jobs.count
        rates = np.array(RATES)[ended["cluster"]]
        assert (ended["execution_time"] == ended["runtime"] / rates).all()
        assert ended["finish"] == pytest.approx(ended["start"] + ended["execution_time"])
        assert model.in_flight == 0
        # Nothing is waited for that was only expected.
        assert model.now == pytest.approx(ended["finish"].max(), abs=2.0)
        if isinstance(error, tuple):
            assert factors(model) == pytest.approx(np.array(error)[ended["cluster"]])


def test_the_error_of_a_job_depends_on_nothing_but_the_seed():
    expected = factors(ran("dll", "fcfs", prediction_error=0.8))
    for model in (
        ran("muscle", "titan", workload(rate=0.1), FAR, latency=3.0, prediction_error=0.8),
        ran("ect", "sjf", workload("batch", share=1.0), prediction_error=0.8, interval=0.7),
    ):
        assert factors(model) == pytest.approx(expected, rel=1e-12)
    other = factors(ran("dll", "fcfs", prediction_error=0.8, seed=1))
    assert not np.isclose(other, expected).any()


def test_errors_are_log_normal_with_median_one():
    draws = stream(0, "prediction error")
    plain = []
    for _ in range(2000):
        radius = math.sqrt(-2 * math.log(1 - uniform(draws)))
        plain.append(0.6 * radius * math.cos(2 * math.pi * uniform(draws)))
    found = np.log(factors(ran("dll", "fcfs", workload(count=2000), prediction_error=0.6)))
    assert found == pytest.approx(plain)
    assert found.mean() == pytest.approx(0, abs=0.05)
    assert found.std() == pytest.approx(0.6, rel=0.05)
    assert (np.abs(found) < 0.6).mean() == pytest.approx(0.683, abs=0.03)


class PlainLeastWork(GlobalScheduler):
    def place(self, job):
        fitting = [cluster for cluster in self.clusters if cluster.size >= job.size]
        return min(fitting, key=lambda cluster: cluster.load + job.runtime / cluster.rate)


class CompiledLeastWork(GlobalScheduler):
    @numba.njit
    def place(known, job, memory):  # noqa: N805
        best, least = -1, np.inf
        for c in range(known.clusters):
            work = known.load[c] / known.size[c] + job.runtime / known.rate[c]
            if job.size <= known.size[c] and work < least:
                best, least = c, work
        return best


class PlainShortest(LocalScheduler):
    def priority(self, job):
        return job.execution_time


@pytest.mark.parametrize("error", [1.0, (3.0, 0.3, 1.0)])
def test_the_tiers_of_a_decision_see_the_same_predictions(error):
    def run(global_, local):
        return outcome(ran(global_, local, jobs, FAR, latency=0.7, prediction_error=error))

    jobs = workload(count=120, rate=0.7, share=0.5)
    expected = run(CompiledLeastWork, "sjf")
    assert run(PlainLeastWork, PlainShortest) == expected
    assert outcome(ran(PlainLeastWork, "sjf", jobs, FAR, latency=0.7)) != expected


@pytest.mark.parametrize("field", ["end", "predicted", "predicted_time"])
def test_a_compiled_decision_cannot_see_when_a_job_will_end(field):
    source = f"def place(known, job, memory):\n    return int(job.{field})\n"
    names = {}
    exec(source, names)

    class Oracle(GlobalScheduler):
        place = numba.njit(names["place"])

    with pytest.raises(Exception, match=field):
        ran(Oracle, "fcfs")


def test_shortest_job_first_goes_by_predictions():
    """Behind a first job wait one of 20 s and one of 30 s, in this order if nothing errs."""

    def second(**options):
        jobs = table((0, 4, 5.0), (1, 4, 20.0), (1, 4, 30.0))
        return int(np.argsort(done(ran("dll", "sjf", jobs, ONE, **options))["start"])[1])

    assert second() == 1
    errs = [seed for seed in range(40) if second(prediction_error=1.0, seed=seed) == 2]
    assert 5 < len(errs) < 20  # P(20 e^X > 30 e^Y) is 0.39 for X, Y of N(0, 1)


def test_load_is_the_predicted_work_that_is_unfinished():
    class Watching(GlobalScheduler):
        def place(self, job):
            jobs, here = self.model.world.slots, self.clusters[0]
            mine = jobs[(jobs["status"] >= 3) & (jobs["cluster"] == 0)]
            work = math.fsum((mine["predicted_time"] * mine["size"]).tolist())
            assert here.load == pytest.approx(work / here.size)
            seen.append(here.load)
            return here

    seen = []
    model = ran(Watching, "fcfs", workload(count=80), prediction_error=1.0)
    assert model.world.count("completed") == len(seen) == 80
    assert model.scheduler.clusters[0].load == 0
    assert sum(load > 0 for load in seen) > 40


@pytest.mark.parametrize("global_", ["muscle", "dll", "ect"])
def test_a_cluster_that_seems_slow_is_avoided_and_one_that_seems_fast_preferred(global_):
    def share(*error):
        jobs = workload("batch", count=300, largest=4)
        model = ran(global_, "fcfs", jobs, PAIR, prediction_error=error)
        return (done(model)["cluster"] == 0).mean()

    fair = share(1.0, 1.0)
    assert share(5.0, 1.0) < fair - 0.1
    assert share(0.2, 1.0) > fair + 0.1


# Jobs that end early or late ---------------------------------------------------------------------


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
        realised = round_performance(model.world.records(), ONE, model.weights, model.idle)
        planned = np.array([each.cps[0] for each in model.rounds])
        assert len(planned) > 2
        assert realised.cps[:, 0] == pytest.approx(ratio * planned)


def test_failures_with_errors_lose_no_job():
    jobs = workload(rate=2.0)
    model = model_of("muscle", "titan", jobs, tracked=True, prediction_error=1.0)
    for processor in range(6):
        model.world.fail(0, processor, 10.0 + processor, 60.0 + processor)
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


# Predicted from what -----------------------------------------------------------------------------

PEOPLE = st.lists(
    st.tuples(
        st.integers(0, 60),  # arrival
        st.integers(1, 4),  # size
        st.integers(1, 40),  # run time
        st.sampled_from([UNKNOWN, 1, 2]),  # user
        st.sampled_from([UNKNOWN, 1, 2]),  # application
        st.sampled_from([math.inf, 0, 50]),  # more than it needs that it requests
    ),
    min_size=1,
    max_size=25,
)


def with_users(rows):
    jobs = job_table(len(rows))
    rows = sorted(rows, key=lambda row: row[0])
    for job, (arrival, size, runtime, user, application, more) in zip(jobs, rows, strict=True):
        job["arrival"], job["size"], job["runtime"] = arrival, size, runtime
        job["user"], job["application"] = user, application
        job["requested_time"] = runtime + more
    return Table(jobs)


def plainly_predicted(job, ended, learns):
    """The rule of `History`, anew; `ended` in order of their ends."""
    own = [e["runtime"] for e in ended if job["user"] == e["user"] != UNKNOWN]
    both = [
        e["runtime"]
        for e in ended
        if (job["user"], job["application"]) == (e["user"], e["application"])
        and (job["user"], job["application"]) != (UNKNOWN, UNKNOWN)
    ]
    if learns and (both or own):
        last = (both or own)[-2:]
        return min(sum(last) / len(last), job["requested_time"])
    if job["requested_time"] < math.inf:
        return job["requested_time"]
    return sum(e["runtime"] for e in ended) / len(ended) if ended else HOUR


@pytest.mark.parametrize("prediction", ["learned", "requested"])
@settings(max_examples=60, deadline=None)
@given(rows=PEOPLE)
def test_predictions_use_what_was_known_at_submission(prediction, rows):
    jobs = with_users([*rows, (0, 1, 1, 1, 1, 5)])
    model = ran("dll", "fcfs", jobs, ONE, prediction=prediction)
    records = model.world.records()  # in order of leaving
    predicted = {record["number"]: record["predicted_time"] for record in records}
    for job in jobs.jobs:
        ended = [e for e in records if e["finish"] <= job["arrival"]]
        expected = plainly_predicted(job, ended, prediction == "learned")
        assert predicted[job["number"]] == pytest.approx(expected)


def test_rejected_jobs_teach_nothing():
    jobs = with_users([(0, 9, 30, 1, 1, 5), (10, 1, 7, 1, 1, 5)])
    assert done(ran("dll", "fcfs", jobs, ONE, prediction="learned"))["predicted_time"] == [12]


def test_learning_finds_what_repeats():
    """Each user's jobs take as long as the ones before; all request a day."""
    rows = [(20 * k, 1, 10 + 100 * (k % 3), k % 3, UNKNOWN, 86400) for k in range(60)]
    jobs = with_users(rows)

    def error(prediction):
        ended = done(ran("dll", "sjf", jobs, PAIR, prediction=prediction))
        return (np.abs(ended["predicted_time"] / ended["execution_time"] - 1)).mean()

    assert error("exact") == 0
    assert error("learned") < 0.2 * error("requested")


@pytest.mark.parametrize("local", LOCAL)
@pytest.mark.parametrize("global_", ["muscle", "dll", "ect"])
def test_learning_with_errors_completes_every_job(global_, local):
    rows = [(k, 1 + k % 4, 5 + k % 7, k % 3, k % 2, 20) for k in range(60)]
    for error in (0.5, (0.5, 2.0)):
        model = ran(
            global_, local, with_users(rows), PAIR, prediction="learned", prediction_error=error
        )
        assert model.world.count("completed") == 60


# Refused -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"prediction": "wild"}, "prediction: found 'wild'; accepted: exact, requested, learned"),
        ({"prediction_error": -0.1}, "prediction_error: found -0.1; accepted: from 0 to 5"),
        ({"prediction_error": math.nan}, "prediction_error: found nan; "),
        ({"prediction_error": LARGEST_SIGMA + 1}, "prediction_error: found 6.0; "),
        ({"prediction_error": (1.0,)}, "prediction_error: found 1 factors; .* 3 factors"),
        ({"prediction_error": (1.0, 0.0, 1.0)}, "prediction_error: found .*; accepted: factors"),
        ({"prediction_error": (1.0, math.nan, 1.0)}, "prediction_error: found .*; accepted"),
        ({"prediction": "learned"}, "'learned'; accepted: with a log whose jobs name a user"),
        ({"prediction": "requested"}, "'requested'; .* have a requested time"),
    ],
)
@pytest.mark.parametrize("jobs", [workload(), workload("batch"), table((0, 1, 5.0))])
def test_predictions_that_cannot_be(options, words, jobs):
    with pytest.raises(GridError, match=words):
        model_of(jobs=jobs, platform=PLATFORM, **options)
