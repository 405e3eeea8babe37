"""Predictors of one's own: who is asked what and when, and what becomes of the answers."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

from agents.pace import predict
from agents.pace.built_in import Exact, Learned, Models
from agents.pace.predictor import EndedJob, Predictor, SubmittedJob
from agents.registry import GLOBAL, LOCAL
from grid.errors import GridError
from grid.jobs import job_table
from grid.platform.multicluster import Platform
from grid.workloads.table import Table
from tests.agents.small_grids import FAR, OUTCOME, PAIR, done, model_of, ran, table, workload

POWERS = Platform.star([8, 6, 4], [1.0, 2.0, 0.5], latency=[0.1, 0.2, 0.4])
"""Rates by which a time can be divided and multiplied without rounding."""


class OnEach(Predictor):
    """The truth, told for each cluster."""

    on_each_cluster = True

    def predict(self, job):
        return [job.runtime / rate for rate in self.model.world.platform.rates.tolist()]


class AnOwnExact(Predictor):
    """The truth."""

    def predict(self, job):
        return job.runtime


def outcome(model):
    records = model.world.log.records()
    names = (*OUTCOME, "predicted_time")
    return [records[name].tobytes() for name in names], model.messages, model.now


@pytest.mark.sampled(24)
@pytest.mark.parametrize("mode", ["open", "batch"])
@pytest.mark.parametrize("local", LOCAL)
@pytest.mark.parametrize("global_", [name for name in GLOBAL if name != "oas"])
def test_the_truth_by_any_way_is_the_same_run_under_every_pair(global_, local, mode):
    jobs = workload(mode, share=0.3, slowest=0.5, largest=4)
    alike = [
        outcome(ran(global_, local, jobs, POWERS, latency=0.7, prediction=kind))
        for kind in ("exact", AnOwnExact, OnEach)
    ]
    assert alike[0] == alike[1] == alike[2]


def test_each_is_asked_of_once_and_told_of_all_that_ended_before():
    class Watching(Predictor):
        def __init__(self, model):
            super().__init__(model)
            self.asked, self.seen, self.late = [], [], 0

        def predict(self, job):
            self.asked.append(job.number)
            records = self.model.world.log.records()
            assert self.seen == records["number"][~np.isnan(records["start"])].tolist()
            self.late += job.arrival > self.model.now
            return job.size

        def ended(self, job):
            self.seen.append(job.number)
            assert job.finish == pytest.approx(job.start + job.execution_time)

    model = ran("ect", "fcfs", platform=FAR, latency=0.5, prediction=Watching)
    watching = model.pace.predictor
    assert sorted(watching.asked) == [*range(1, 61)]
    assert not watching.late
    assert watching.seen
    ended = done(model)
    rates = np.array([1.0, 1.3, 0.7])[ended["cluster"]]
    assert ended["predicted_time"] == pytest.approx(ended["size"] / rates)


def test_what_is_learned_does_not_depend_on_what_is_kept():
    """Thousands end between two arrivals, and only the last few are kept by then."""
    jobs = job_table(9_001)
    jobs["arrival"], jobs["size"], jobs["runtime"], jobs["user"] = 0.0, 1, 1.0, 7
    jobs["runtime"][:4_500] = 5.0
    jobs["arrival"][-1] = 1e6

    class Mean(Predictor):
        def __init__(self, model):
            super().__init__(model)
            self.runtimes = []

        def predict(self, job):
            return math.fsum(self.runtimes) / len(self.runtimes) if self.runtimes else 1.0

        def ended(self, job):
            self.runtimes.append(job.runtime)

    told = []
    for keeps in (True, False):
        model = model_of("dll", "fcfs", Table(jobs), PAIR, prediction=Mean)
        left = []
        if not keeps:
            model.world.log.stream(left.append)
        model.run()
        told.append(model.pace.predictor.runtimes)
    assert told[0] == told[1]
    assert len(told[0]) == 9_000


def test_schedulers_read_the_times_of_each_cluster():
    class Crossed(Predictor):
        on_each_cluster = True

        def predict(self, job):
            return [100.0, 1.0] if job.number % 2 else [1.0, 100.0]

    model = ran("ect", "fcfs", table((0, 1, 5), (10, 1, 5), (20, 1, 5)), PAIR, prediction=Crossed)
    assert done(model)["cluster"].tolist() == [1, 0, 1]
    assert done(model)["predicted_time"].tolist() == [1.0, 1.0, 1.0]
    assert done(model)["execution_time"].tolist() == [5.0, 5.0, 5.0]


def test_models_are_predictions_of_jobs_with_run_times():
    jobs = job_table(3)
    jobs["size"], jobs["runtime"], jobs["arrival"] = [4, 2, 1], 9.0, [0, 50, 100]
    jobs["application"], jobs["problem_size"] = [0, 1, -1], [4000, 1e6, 0]
    jobs["requested_time"][2] = 30.0
    platform = Platform.from_dict(
        {
            "clusters": [
                {"name": "A", "size": 8, "hardware": "workstations"},
                {"name": "B", "size": 8, "rate": 2.0, "hardware": "cluster"},
            ]
        },
        "here",
    )
    held = Table(jobs, applications={0: "jacobi", 1: "fft"})
    model = model_of("ect", "fcfs", held, platform, prediction="pace")
    pace = model.pace
    model.run()
    expected = [
        [predict(name, hardware, size, n) for hardware in ("workstations", "cluster")]
        for name, size, n in (("jacobi", 4, 4000), ("fft", 2, 1e6))
    ] + [[30.0, 15.0]]
    assert isinstance(pace.predictor, Models)
    for job, times in zip(done(model), expected, strict=True):
        assert job["predicted_time"] == min(times) == times[job["cluster"]]
        assert job["execution_time"] == 9.0 / [1, 2][job["cluster"]]


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (None, "found None"),
        ("soon", "found 'soon'"),
        ("10", "found '10'"),
        (b"7", "found b'7'"),
        (True, "found True"),
        (-1.0, "found -1.0"),
        (math.inf, "found inf"),
        (math.nan, "found nan"),
        ([1.0], r"found \[1.0\]"),
    ],
)
def test_an_answer_that_is_no_time_is_refused(answer, says):
    class Wrong(Predictor):
        def predict(self, job):
            return answer

    with pytest.raises(GridError, match=f"Wrong: prediction of job 1: {says}; accepted: seconds"):
        ran("dll", "fcfs", prediction=Wrong)


@pytest.mark.parametrize(
    "answer",
    [
        *([1.0], [1.0, 2.0], [1, 2, 0], [1, 2, math.inf], 3.0, "abc", ["1", "2", "3"]),
        *([True] * 3, [[1.0], [2.0, 3.0], 4.0]),
    ],
)
def test_answers_for_each_cluster_are_as_many_times(answer):
    class Wrong(Predictor):
        on_each_cluster = True

        def predict(self, job):
            return answer

    with pytest.raises(GridError, match="accepted: a list of times, one for each cl"):
        ran("dll", "fcfs", prediction=Wrong)


def test_oas_refuses_times_of_each_cluster():
    with pytest.raises(GridError, match="oas: found a prediction for each cluster"):
        model_of("oas", "fcfs", prediction=OnEach)


def test_who_raised_is_said_and_fields_that_there_are():
    class Misspelt(Predictor):
        def predict(self, job):
            return job.requested_tme

    with pytest.raises(AttributeError, match="did you mean requested_time") as caught:
        ran("dll", "fcfs", prediction=Misspelt)
    assert "Misspelt at simulated time" in caught.value.__notes__[0]


def test_every_field_that_is_named_can_be_read():
    read = []

    class Reading(Predictor):
        def predict(self, job):
            read.append([getattr(job, name) for name in SubmittedJob.FIELDS])
            return 5.0

        def ended(self, job):
            read.append([getattr(job, name) for name in EndedJob.FIELDS])
            assert job.requested_time == 7.0 * job.number

    jobs = job_table(5)
    jobs["size"], jobs["runtime"], jobs["arrival"] = 1, 3.0, np.arange(5.0) * 9
    jobs["requested_time"] = 7.0 * jobs["number"]
    ran("dll", "fcfs", Table(jobs), prediction=Reading)
    assert len(read) > 8


def test_jobs_may_be_kept_and_saved():
    class Keeping(Predictor):
        def __init__(self, model):
            super().__init__(model)
            self.asked, self.seen = [], []

        def predict(self, job):
            self.asked.append((job, job.number, job.runtime))
            return 5.0

        def ended(self, job):
            self.seen.append((job, job.number, job.finish))

    keeping = ran("dll", "fcfs", workload(count=9_000), prediction=Keeping).pace.predictor
    assert len(keeping.asked) == 9_000
    for job, number, runtime in keeping.asked:
        assert (job.number, job.runtime) == (number, runtime)
    for job, number, finish in keeping.seen:
        assert (job.number, job.finish) == (number, finish)
    again = pickle.loads(pickle.dumps(keeping.seen[0][0]))
    assert (again.number, again.finish) == keeping.seen[0][1:]


def test_no_field_can_be_set():
    class Setting(Predictor):
        def predict(self, job):
            job.runtime = 1.0

    with pytest.raises(AttributeError, match=r"job.runtime cannot be set"):
        ran("dll", "fcfs", prediction=Setting)


def test_a_predictor_that_does_not_predict_is_refused_in_a_line():
    class Misspelt(Predictor):
        def predct(self, job):
            return 1.0

    with pytest.raises(GridError, match=r"^Misspelt: no method `predict`; found `predct`$"):
        model_of(prediction=Misspelt)


def test_what_a_predictor_needs_is_said():
    with pytest.raises(GridError, match="accepted: 'exact', or a log whose jobs name a user or an"):
        model_of(prediction=Learned)
    with pytest.raises(GridError, match="whose jobs name an application and a problem size"):
        model_of(prediction="pace")
    assert model_of(prediction=Exact).pace.predictor.name == "Exact"


@pytest.mark.parametrize("told", [[False] * 60, None, [True, False], "yes", [1] * 60])
def test_what_a_predictor_tells_of_jobs_is_checked(told):
    class Tells(Predictor):
        needs = "have a colour"

        @classmethod
        def tells(cls, jobs):
            return told

        def predict(self, job):
            return 1.0

    jobs = job_table(60)
    jobs["size"], jobs["runtime"] = 1, 3.0
    refused = "accepted: 'exact', or a log whose jobs have a colour"
    right = refused if told == [False] * 60 else "tells: found .*; accepted: true or false of each"
    with pytest.raises(GridError, match=right):
        model_of(jobs=Table(jobs), prediction=Tells)
