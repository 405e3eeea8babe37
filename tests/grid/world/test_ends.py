"""Jobs of which somebody outside says when they end."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grid.errors import PlacementError, WorkloadError
from grid.kernel import state as k
from grid.platform.multicluster import Platform
from grid.world.world import World
from tests.grid.plain_cases import table

SIZES = [3, 5]
RATES = [1.0, 2.0]


def world(service, place=lambda job: 0, tracked=True):
    made = World(Platform.star(SIZES, RATES), tracked=tracked, place=place, rank=lambda job: job)
    for cluster in range(len(SIZES)):
        made.policies.set_local(cluster, service=service)
    made.policies.set_prediction(RATES, requested=True)
    return made


def schedule(made):
    columns = ["number", "start", "finish", "cluster", "runtime", "execution_time"]
    return sorted(tuple(row[name].item() for name in columns) for row in made.log.records())


@pytest.mark.sampled(1)
@pytest.mark.parametrize("service", [*k.SERVICES])
@settings(max_examples=50)
@given(
    # continuous, so that nothing happens at the instant at which a job ends
    jobs=st.lists(
        st.tuples(st.floats(0.01, 9), st.integers(1, 3), st.floats(0.1, 20), st.floats(0.2, 3)),
        min_size=1,
        max_size=20,
    ),
    seed=st.integers(0, 2**32 - 1),
)
def test_it_is_as_if_their_run_times_had_been_known(service, jobs, seed):
    noise = np.random.default_rng(seed).uniform(0.9, 1.1, (2, len(jobs)))
    gaps, sizes, runtimes, errors = np.array(jobs).T
    arrivals, runtimes = np.cumsum(gaps * noise[0]), runtimes * noise[1]
    of_all = {"requested_time": runtimes * errors}

    def place(job):
        return sent.jobs["number"][job] % 2

    sent = known = world(service, place)
    known.submit(table(arrivals, sizes, runtimes, **of_all))
    known.advance(np.inf)

    sent = told = world(service, place)
    told.submit(table(arrivals, sizes, np.inf, **of_all))
    columns, due = told.jobs.columns, arrivals
    while told.state.completed < len(jobs):
        running = np.concatenate([told.jobs.running(cluster)[0] for cluster in (0, 1)])
        rates = np.array(RATES)[columns["cluster"][running]]
        ends = columns["start"][running] + runtimes[columns["number"][running] - 1] / rates
        happens = told.state.coming  # jobs may start then, and end before others
        soonest = min([*ends, *due[due > told.now][:1], *[happens] * (happens > told.now)])
        told.advance(soonest, awaited=True)
        told.wait(soonest)
        for job in running[ends == told.now]:
            told.jobs.end(job)
        told.advance(told.now, awaited=True)
    assert told.advance(np.inf) == k.OVER
    one, other = schedule(known), schedule(told)
    assert len(one) == len(jobs)
    assert [row[0] for row in one] == [row[0] for row in other]
    assert [row[3] for row in one] == [row[3] for row in other]
    assert np.allclose(one, other, rtol=1e-12, atol=1e-9)
    assert np.allclose(known.busy_area(), told.busy_area())
    assert known.state.left.tolist() == pytest.approx(told.state.left.tolist(), abs=1e-6)


def test_a_job_may_end_before_its_time():
    made = world("head")
    made.submit(table([0.0, 1.0, 2.0], [3, 3, 1], [10.0, 4.0, 4.0], requested_time=20.0))
    made.advance(5.0)
    (first,) = made.jobs.running(0)[0].tolist()
    made.jobs.end(first)
    assert made.advance(np.inf) == k.OVER
    assert [row[:3] for row in schedule(made)] == [(1, 0, 5), (2, 5, 9), (3, 9, 13)]
    assert made.state.events == 0


def test_one_that_nobody_ends_runs_on():
    made = world("easy")
    made.submit(table([0.0, 1.0], [3, 3], [np.inf, 4.0], requested_time=20.0))
    assert made.advance(np.inf) == k.OVER
    assert made.state.completed == 0
    assert made.state.events == 0
    made.wait(100.0)
    made.jobs.end(made.jobs.running(0)[0][0])
    made.advance(np.inf)
    assert [row[:3] for row in schedule(made)] == [(1, 0, 100), (2, 100, 104)]


def test_what_cannot_be_ended():
    made = world("head")
    made.submit(table([0.0, 1.0], [3, 3], [10.0, 4.0], requested_time=20.0))
    made.advance(2.0)
    (waiting,) = made.jobs.waiting(0).tolist()
    for slot in (waiting, 99, -1):
        with pytest.raises(PlacementError, match=rf"^end of slot {slot}: accepted: jobs that run"):
            made.jobs.end(slot)
    untracked = world("head", tracked=False)
    with pytest.raises(PlacementError, match="untracked world"):
        untracked.jobs.end(0)


@pytest.mark.parametrize(("tracked", "requested"), [(False, True), (True, False)])
def test_run_times_without_an_end_are_refused_where_they_would_be_relied_on(tracked, requested):
    made = world("head", tracked=tracked)
    made.policies.set_prediction(RATES, requested=requested)
    made.submit(table([0.0], [3], [np.inf], requested_time=20.0))
    with pytest.raises(WorkloadError, match=r"job 1: runtime inf; accepted: seconds, 0 or more"):
        made.advance(np.inf)


def test_a_job_that_runs_already_is_taken_in():
    made = world("easy")
    made.submit(table([5.0, 6.0], [3, 2], [4.0, 4.0], requested_time=20.0))
    made.advance(2.0, awaited=True)
    made.wait(2.0)
    row = table([1.0], [2], [np.inf], requested_time=10.0)
    row["number"] = 7
    slot = made.jobs.adopt(row, 0, len)
    assert made.jobs.running(0)[0].tolist() == [slot]
    assert made.state.free.tolist() == [1, 5]
    assert made.state.left.tolist() == [20.0, 0.0]
    made.advance(8.0, awaited=True)
    assert made.state.waiting.tolist()[:1] == [2]
    made.jobs.end(slot)
    assert made.advance(np.inf) == k.OVER
    assert [row[:4] for row in schedule(made)] == [(1, 8, 12, 0), (2, 12, 16, 0), (7, 2, 8, 0)]
    assert made.busy_area().tolist() == [2 * 6 + 3 * 4 + 2 * 4, 0]


def test_more_jobs_are_taken_in_than_there_was_room_for():
    made = World(Platform.star([500]), tracked=True, place=lambda job: 0, rank=lambda job: job)
    made.policies.set_prediction([1.0], requested=True)
    rows = table(np.zeros(300), 1, np.inf, requested_time=10.0)
    slots = [made.jobs.adopt(rows[at : at + 1], 0, len) for at in range(300)]
    assert len({*slots}) == 300
    made.advance(1.0, awaited=True)
    made.wait(1.0)
    for slot in slots:
        made.jobs.end(slot)
    assert made.advance(np.inf) == k.OVER
    assert made.state.completed == 300
    assert made.state.free.tolist() == [500]
    assert made.state.left.tolist() == [0]


def test_users_of_jobs_that_are_taken_in_are_known():
    made = World(Platform.star([500]), tracked=True, place=lambda job: 0)
    made.policies.set_local(0, half_life=100.0)
    made.policies.set_prediction([1.0], requested=True)
    rows = table(np.zeros(300), 1, np.inf, requested_time=10.0)
    rows["user"] = np.arange(300) // 2
    slots = [made.jobs.adopt(rows[at : at + 1], 0, len) for at in range(300)]
    assert made.storage.usage["there"].sum() == made.state.usages == 150
    made.advance(1.0, awaited=True)
    made.wait(1.0)
    for slot in slots:
        made.jobs.end(slot)
    assert made.advance(np.inf) == k.OVER
    assert made.state.completed == 300


@pytest.mark.parametrize(
    ("size", "cluster", "says"),
    [(4, 0, "found 4 processors; accepted: at most 3, those free on C1"), (1, 2, "one job, on a")],
)
def test_what_cannot_be_taken_in(size, cluster, says):
    with pytest.raises(PlacementError, match=says):
        world("head").jobs.adopt(table([0.0], [size], [np.inf]), cluster, len)
    with pytest.raises(PlacementError, match="untracked world"):
        world("head", tracked=False).jobs.adopt(table([0.0], [1], [np.inf]), 0, len)


def test_what_is_expected_of_one_is_asked_for():
    made = world("easy")
    made.policies.set_prediction(RATES, predict=lambda row: 6.0)
    made.jobs.adopt(table([0.0], [2], [np.inf]), 1, lambda row: 2.0 * row["size"])
    made.advance(0.0)
    assert made.state.left.tolist() == [0, 2 * 4.0 / 2]
