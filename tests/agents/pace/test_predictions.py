"""PACE in a running grid: schedulers act on what it predicts, jobs run as long as they do."""

from __future__ import annotations

import math

import numba
import numpy as np
import pytest

from agents.pace.predictor import LARGEST_SIGMA
from agents.registry import GLOBAL, LOCAL
from agents.schedulers import GlobalScheduler, LocalScheduler
from grid.errors import GridError
from grid.streams import stream, uniform
from tests.agents.small_grids import (
    FAR,
    ONE,
    OUTCOME,
    PAIR,
    PLATFORM,
    RATES,
    done,
    model_of,
    ran,
    table,
    workload,
)

STARTING = ("agents.coallocation", "agents.queueing", "agents.oas")
SENDING = [name for name, where in GLOBAL.items() if not where.startswith(STARTING)]
"""Those that send jobs to the queues of clusters; the others start jobs themselves, or split them.
"""


def outcome(model):
    records = model.world.log.records()
    return [records[name].tobytes() for name in OUTCOME], model.messages, model.now


def factors(model):
    """Return by how much each job was mispredicted, in order of number."""
    jobs = done(model)
    return jobs["predicted_time"] / jobs["execution_time"]


# Who sees what -----------------------------------------------------------------------------------


@pytest.mark.sampled(7)
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
        rejected = model.world.state.rejected
        assert len(ended) + rejected == jobs.count
        assert rejected == 0 or global_ == "home"  # some are larger than their own cluster
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
        return min(fitting, key=lambda cluster: cluster.load + job.predicted_runtime / cluster.rate)


class CompiledLeastWork(GlobalScheduler):
    @numba.njit
    def place(known, job, memory):  # noqa: N805
        best, least = -1, np.inf
        for c in range(known.clusters):
            load = known.load[c] + job.predicted_runtime / known.rate[c]
            if job.size <= known.size[c] and load < least:
                best, least = c, load
        return best


class PlainShortest(LocalScheduler):
    def priority(self, job):
        return job.predicted_time


@pytest.mark.parametrize("error", [1.0, (3.0, 0.3, 1.0)])
def test_the_tiers_of_a_decision_see_the_same_predictions(error):
    def run(global_, local):
        return outcome(ran(global_, local, jobs, FAR, latency=0.7, prediction_error=error))

    jobs = workload(count=120, rate=0.7, share=0.5)
    expected = run(CompiledLeastWork, "sjf")
    assert run(PlainLeastWork, PlainShortest) == expected
    assert outcome(ran(PlainLeastWork, "sjf", jobs, FAR, latency=0.7)) != expected


@pytest.mark.parametrize("field", ["end", "runtime", "execution_time", "reserved"])
def test_no_decision_sees_how_long_a_job_runs(field):
    source = f"def place(known, job, memory):\n    return int(job.{field})\n"
    names = {}
    exec(source, names)

    class Oracle(GlobalScheduler):
        place = numba.njit(names["place"])

    class PlainOracle(GlobalScheduler):
        def place(self, job):
            return getattr(job, field)

    for oracle in (Oracle, PlainOracle):
        with pytest.raises(Exception, match=field):
            ran(oracle, "fcfs")


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
            jobs, here = self.model.world.jobs.slots, self.clusters[0]
            mine = jobs[(jobs["status"] >= 3) & (jobs["cluster"] == 0)]
            work = math.fsum((mine["predicted_time"] * mine["size"]).tolist())
            assert here.work == pytest.approx(work)
            assert here.load == here.work / here.size
            assert here.unfinished == len(mine)
            seen.append(here.load)
            return here

    seen = []
    model = ran(Watching, "fcfs", workload(count=80), prediction_error=1.0)
    assert model.world.state.completed == len(seen) == 80
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


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"prediction": "wild"}, "prediction: found 'wild'; accepted: exact, requested, learned"),
        ({"prediction_error": -0.1}, "prediction_error: found -0.1; accepted: from 0 to 5"),
        ({"prediction_error": math.nan}, "prediction_error: found nan; "),
        ({"prediction_error": LARGEST_SIGMA + 1}, "prediction_error: found 6.0; "),
        ({"prediction_error": (1.0,)}, "prediction_error: found 1 factors; .* 3 of them"),
        ({"prediction_error": (1.0, 0.0, 1.0)}, "prediction_error: found .*; accepted: factors"),
        ({"prediction_error": (1.0, math.nan, 1.0)}, "prediction_error: found .*; accepted"),
        (
            {"prediction": "learned"},
            "'learned'; accepted: 'exact', or a log whose jobs name a user",
        ),
        ({"prediction": "requested"}, "'requested'; .* have a requested time"),
    ],
)
@pytest.mark.parametrize("jobs", [workload(), workload("batch"), table((0, 1, 5.0))])
def test_predictions_that_cannot_be(options, words, jobs):
    with pytest.raises(GridError, match=words):
        model_of(jobs=jobs, platform=PLATFORM, **options)
