"""Run times predicted from those of earlier jobs, or from what users requested."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.pace.built_in import HOUR
from agents.registry import LOCAL
from grid.jobs import UNKNOWN, job_table
from grid.workloads.table import Table
from tests.agents.small_grids import ONE, PAIR, done, ran

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


@pytest.mark.thorough
@pytest.mark.parametrize("prediction", ["learned", "requested"])
@settings(max_examples=60)
@given(rows=PEOPLE)
def test_predictions_use_what_was_known_at_submission(prediction, rows):
    jobs = with_users([*rows, (0, 1, 1, 1, 1, 5)])
    model = ran("dll", "fcfs", jobs, ONE, prediction=prediction)
    records = model.world.log.records()  # in order of leaving
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


@pytest.mark.sampled(1)
@pytest.mark.parametrize("local", LOCAL)
@pytest.mark.parametrize("global_", ["muscle", "dll", "ect"])
def test_learning_with_errors_completes_every_job(global_, local):
    rows = [(k, 1 + k % 4, 5 + k % 7, k % 3, k % 2, 20) for k in range(60)]
    for error in (0.5, (0.5, 2.0)):
        model = ran(
            global_, local, with_users(rows), PAIR, prediction="learned", prediction_error=error
        )
        assert model.world.state.completed == 60
