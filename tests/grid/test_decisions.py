"""Decisions in three tiers: the kernel's own functions, a user's compiled ones, and Python."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grid.errors import PlacementError, WorkloadError
from grid.jobs import job_table
from grid.kernel import state as k
from grid.kernel.compile import compiled
from grid.kernel.decisions import place_address, priority_address
from grid.platform import Platform
from grid.world import World

from .plain_cases import (
    SEND,
    SEND_WHEN_FREE,
    SPLIT,
    START_THEN_SEND,
    START_WHEN_FREE,
    Case,
    cases,
    place_by_memory,
    rank_by_request,
    rows,
    table,
)

CAPACITY = k.CAPACITIES[0]


@pytest.fixture(scope="module", params=["built-in", "plain njit"])
def tier(request):
    """Addresses of a compiled `place` and a compiled `priority`."""
    compile_ = compiled() if request.param == "built-in" else numba.njit
    return (
        place_address(compile_(place_by_memory), CAPACITY),
        priority_address(compile_(rank_by_request)),
    )


def outcome(world):
    """Return all that a run leaves."""
    records = world.records()
    counts = [world.count(name) for name in ("completed", "rejected", "restarted", "instants")]
    arrays = (world.busy_area(), world.known["load"], world.known["at"], world.demand)
    # The placement of a job that was not co-allocated says nothing.
    return rows(world), records["execution_time"].tolist(), counts, world.messages, [
        array.tolist() for array in arrays
    ]  # fmt: skip


anything = [SEND, SEND_WHEN_FREE, START_WHEN_FREE, SPLIT, START_THEN_SEND]


@settings(max_examples=100, deadline=None)
@given(cases(anything, slides=True, tracked=True), st.booleans(), st.data())
def test_all_tiers_give_the_same_run(tier, case, in_order, data):
    case.in_order = in_order
    case.fail_at_random(data.draw)
    python = repr(outcome(case.run(case.world())))
    assert repr(outcome(case.run(case.world(*tier)))) == python
    assert repr(outcome(case.run(case.world(tier[0])))) == python
    assert repr(outcome(case.run(case.world(rank_at=tier[1])))) == python


def waiting(place=None, rank=None):
    """Return a World to which one job of three processors comes at time 1."""
    world = World(Platform.star([4, 2, 4]), place=place, rank=rank)
    world.submit(table([1.0], 3, 5.0, number=42))
    return world


def refused(world, *words):
    with pytest.raises(PlacementError) as error:
        world.advance(np.inf)
    message = str(error.value)
    assert "\n" not in message
    for word in ("job 42 (size 3)", "accepted:", *words):
        assert word in message
    assert world.free.tolist() == [4, 2, 4]
    assert world.waiting.sum() <= 1
    assert world.now == 1.0


@pytest.mark.parametrize(
    ("answer", "found"),
    [(3, "cluster 3"), (15, "cluster 15"), (10**9, "cluster 1e+09"), (-4, "cluster -4"),
     (1, "C2, which has 2"), (np.nan, "cluster"), (None, "cluster"), (0.5, "")],
)  # fmt: skip
def test_clusters_that_cannot_hold_the_job(answer, found):
    refused(waiting(lambda job: answer), found, "C1 (4), C2 (2), C3 (4)")


takes = pytest.mark.parametrize(
    ("take", "found"),
    [([1, 1, 0], "'C1': 1, 'C2': 1"), ([4, 0, 0], "'C1': 4"), ([0, 3, 0], "'C2': 3"),
     ([4, -1, 0], "'C2': -1"), ([0, 0, 0], ""), ([0, 0, 2, 1], "'cluster 3': 1")],
)  # fmt: skip


@takes
def test_processors_that_are_not_free_or_not_as_many(take, found):
    def place(job):
        world.take[:] = 0
        world.take[: len(take)] = take
        return k.START

    world = waiting(place)
    refused(world, found)


def as_told(known, job, memory):
    for cluster in range(len(known.take)):
        known.take[cluster] = int(memory[1 + cluster])
    return int(memory[0])


@pytest.fixture(scope="module")
def as_told_at():
    return place_address(numba.njit(as_told), CAPACITY)


@takes
def test_compiled_decisions_are_checked_too(as_told_at, take, found):
    world, memory = waiting(), np.zeros(1 + CAPACITY)
    memory[: 1 + len(take)] = [k.START, *take]
    world.set_global(as_told_at, memory)
    refused(world, found)


@pytest.mark.parametrize(("answer", "found"), [(3, "cluster 3"), (-4, "cluster -4"), (1, "C2")])
def test_compiled_destinations_are_checked_too(as_told_at, answer, found):
    world, memory = waiting(), np.zeros(1 + CAPACITY)
    memory[0] = answer
    world.set_global(as_told_at, memory)
    refused(world, found)


@pytest.mark.parametrize("answer", [np.nan, None])
def test_a_rank_must_be_a_number(answer):
    refused(waiting(lambda job: 2, lambda job: answer), "C3", "nan")


def not_a_number(job, now):
    return np.nan


def test_a_compiled_rank_must_be_a_number():
    world = waiting(lambda job: 2)
    world.set_local(2, priority_address(numba.njit(not_a_number)))
    refused(world, "C3", "nan")


def place_by(result):
    # One name, for numba tells a function of another by what it closes over.
    return numba.njit(lambda known, job, memory: result(job.size))


@pytest.mark.parametrize(
    ("result", "kind"),
    [
        (numba.njit(lambda size: 0.5), "float64"),
        (numba.njit(lambda size: np.nan), "float64"),
        (numba.njit(lambda size: True), "bool"),
        (numba.njit(lambda size: size > 2), "bool"),
        (numba.njit(lambda size: None), "none"),
        (numba.njit(lambda size: 1 if size > 2 else None), "OptionalType(int64)"),
        (numba.njit(lambda size: (1, 2)), "UniTuple(int64 x 2)"),
    ],
)
def test_a_compiled_place_returns_an_integer(result, kind):
    with pytest.raises(PlacementError) as error:
        place_address(place_by(result), CAPACITY)
    assert str(error.value) == f"compiled `place` that returns {kind}; accepted: an integer"


@pytest.mark.parametrize("kind", [numba.int8, numba.uint64, numba.int64])
def test_a_compiled_place_returns_any_integer(kind):
    world = waiting(rank=lambda job: 0.0)
    function = place_by(numba.njit(lambda size: kind(2 if size == 3 else 1)))
    world.set_global(place_address(function, world.capacity))
    world.advance(np.inf)
    assert [row[:2] for row in rows(world)] == [(42, 2)]


def by_number(job, now):
    return job.number


def by_number_in_single_precision(job, now):
    return np.float32(-job.number)


@pytest.mark.parametrize(
    ("rank", "order"), [(by_number, [1, 2, 3]), (by_number_in_single_precision, [1, 3, 2])]
)
def test_a_compiled_rank_is_any_number(rank, order):
    world = World(Platform.star([1]), place=lambda job: 0)
    world.submit(table([0.0, 1.0, 2.0], 1, 5.0))
    world.set_local(0, priority_address(numba.njit(rank)))
    world.advance(np.inf)
    assert [row[0] for row in rows(world)] == order


def test_a_compiled_rank_is_no_boolean():
    with pytest.raises(PlacementError, match="`priority` that returns bool; accepted: a number"):
        priority_address(numba.njit(lambda job, now: job.size > 2))


@numba.njit
def shrink(job):
    job.size = 1


def shrinks(known, job, memory):
    shrink(job)
    return 0


def turns_back_time(known, job, memory):
    known.now = 0.0
    return 0


@pytest.mark.parametrize(("place", "field"), [(shrinks, "size"), (turns_back_time, "now")])
def test_a_compiled_place_sets_no_field(place, field):
    with pytest.raises(PlacementError, match=f"sets the field '{field}' of a record; accepted"):
        place_address(numba.njit(place), CAPACITY)


def postpones(job, now):
    job.deadline = np.inf
    return 0.0


def test_a_compiled_rank_sets_no_field():
    with pytest.raises(PlacementError, match="sets the field 'deadline' of a record; accepted"):
        priority_address(numba.njit(postpones))


def test_a_decision_can_be_mended():
    answers = iter([7, 1, 2])
    ranks = iter([np.nan, 0.0])
    world = waiting(lambda job: next(answers), lambda job: next(ranks))
    for _ in range(3):
        with pytest.raises(PlacementError):
            world.advance(np.inf)
    assert world.advance(np.inf) == k.OVER
    assert rows(world) == [(42, 2, (0, 0, 0), 0, 1.0, 6.0)]


class OwnError(Exception):
    pass


@pytest.mark.parametrize("which", ["place", "rank"])
def test_errors_of_python_decisions_go_on_as_they_are(which):
    failing = iter([True, False])

    def decide(value):
        def decision(job):
            if next(failing, False):
                raise OwnError("no idea")
            return value

        return decision

    world = waiting(decide(2), lambda job: 0.0)
    if which == "rank":
        world = waiting(lambda job: 2, decide(0.0))
    with pytest.raises(OwnError, match="no idea"):
        world.advance(np.inf)
    assert world.advance(np.inf) == k.OVER
    assert rows(world) == [(42, 2, (0, 0, 0), 0, 1.0, 6.0)]


def puzzled(known, job, memory):
    if memory[0] == 0.0:
        raise KeyError("no idea")
    return 2


def puzzled_rank(job, now):
    if job.number == 42:
        raise ArithmeticError("no rank")
    return 0.0


@pytest.mark.parametrize("compile_", [numba.njit, compiled()])
def test_errors_of_compiled_decisions_go_on_as_they_are(compile_):
    world, memory = waiting(rank=lambda job: 0.0), np.zeros(1)
    world.set_global(place_address(compile_(puzzled), world.capacity), memory)
    with pytest.raises(KeyError, match="no idea"):
        world.advance(np.inf)
    memory[0] = 1.0
    world.set_local(2, priority_address(compile_(puzzled_rank)))
    with pytest.raises(ArithmeticError, match="no rank"):
        world.advance(np.inf)
    world.set_local(2)
    assert world.advance(np.inf) == k.OVER
    assert rows(world) == [(42, 2, (0, 0, 0), 0, 1.0, 6.0)]


@pytest.mark.parametrize("memory", [np.zeros(40, int), np.zeros(40, np.float32), np.zeros(80)[::2]])
def test_memory_of_another_kind_is_refused(as_told_at, memory):
    def run():
        world = waiting(rank=lambda job: 0.0)
        world.set_global(as_told_at, memory)
        world.advance(np.inf)

    with pytest.raises((TypeError, ValueError)):
        run()


def test_a_policy_that_goes_by_what_brokers_tell_is_asked_when_they_tell():
    def place(job):
        return 0 if world.known["free"][0] >= world.slots["size"][job] else k.WAIT

    world = World(Platform.star([1]), latency=1.0, place=place, rank=lambda job: 0.0)
    world.submit(table([0.0, 3.0], 1, 10.0))
    world.advance(np.inf)
    # The first is there from 1 to 11, which is known at 12, and the second there at 13.
    assert [row[4:] for row in rows(world)] == [(1.0, 11.0), (13.0, 23.0)]


# Rounds ------------------------------------------------------------------------------------------


def collecting():
    world = World(Platform.star([4, 2]), rank=lambda job: 0.0)
    world.set_global(collect=True)
    world.notify(True)
    world.submit(table([0.0, 0.0, 0.0, 5.0], [1, 3, 1, 1], 10.0))
    return world


def test_rounds():
    world = collecting()
    assert (world.advance(np.inf), world.now) == (k.COLLECTED, 0.0)
    jobs = world.collected()
    assert world.slots["number"][jobs].tolist() == [1, 2, 3]
    world.send(jobs[[2, 1]], np.array([0, 0]))
    assert (world.advance(np.inf), world.now) == (k.COLLECTED, 5.0)
    jobs = world.collected()
    assert world.slots["number"][jobs].tolist() == [1, 4]
    world.send(jobs, np.array([1, 1]))
    assert world.advance(np.inf) == k.OVER
    assert [row[:2] + row[4:] for row in sorted(rows(world))] == [
        (1, 1, 5.0, 15.0), (2, 0, 0.0, 10.0), (3, 0, 0.0, 10.0), (4, 1, 5.0, 15.0)
    ]  # fmt: skip


@pytest.mark.parametrize("cluster", [-1, 2, 1])
def test_rounds_send_to_clusters_that_can_hold_the_job(cluster):
    world = collecting()
    world.advance(np.inf)
    jobs = world.collected()
    with pytest.raises(PlacementError, match=r"job 2 \(size 3\)"):
        world.send(jobs[[0, 1]], np.array([0, cluster]))
    assert world.waiting[-1] == 3


def test_rounds_send_jobs_that_wait():
    world = collecting()
    world.advance(np.inf)
    jobs = world.collected()
    with pytest.raises(PlacementError):
        world.send(jobs[[0, 0]], np.array([0, 0]))
    world.send(jobs[:1], np.array([0]))
    for wrong in (int(jobs[0]), 40, -1, 10**6):
        with pytest.raises(PlacementError):
            world.send(np.array([wrong]), np.array([0]))
    assert world.waiting[-1] == 2


def test_case_is_not_trivial():
    """The tiers are compared on runs in which something happens: one of them, looked at."""
    jobs = table([0.0, 1.0, 2.0], [3, 2, 3], 4.0, requested_time=[1, 2, 3])
    case = Case(Platform.star([3, 2]), jobs, [SEND, SPLIT, SEND_WHEN_FREE], [0, 1, 0], spans=True)
    assert [row[1:] for row in sorted(rows(case.run(case.world())))] == [
        (0, (0, 0), 0, 0.0, 4.0), (1, (0, 0), 0, 1.0, 5.0), (0, (0, 0), 0, 4.0, 8.0)
    ]  # fmt: skip


def test_news_may_be_too_old_for_a_start():
    """With latency a policy sees free processors that are taken: the job waits, and comes again."""

    def first_fit(slot):
        size = world.jobs["size"][slot]
        for cluster in range(world.clusters):
            if world.known["free"][cluster] >= size:
                world.take[:] = 0
                world.take[cluster] = size
                return k.START
        return k.WAIT

    world = World(Platform.star([4, 4]), latency=2.0, place=first_fit)
    jobs = job_table(6)
    jobs["size"], jobs["runtime"] = 3, 10.0
    jobs["arrival"] = [0.0, 0.5, 1.0, 1.5, 3.0, 9.0]
    world.submit(jobs)
    assert world.advance(np.inf) == k.OVER
    assert world.count("completed") == 6
    assert world.count("refused") > 0
    records = world.records()
    for time in records["start"]:
        running = (records["start"] <= time) & (time < records["finish"])
        assert np.bincount(records["cluster"][running]).max() == 1


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("size", 0),
        ("arrival", np.nan),
        ("runtime", -1.0),
        ("runtime", np.inf),
        ("deadline", np.nan),
        ("origin", 2),
        ("origin", -2),
    ],
)
def test_rows_that_the_kernel_cannot_take_are_refused(column, value):
    world = World(Platform.star([4, 4]), place=lambda slot: 0)
    jobs = job_table(3)
    jobs["size"] = 1
    jobs[column][1] = value
    world.submit(jobs)
    with pytest.raises(WorkloadError, match=f"job 2: {column}"):
        world.advance(np.inf)


def test_jobs_out_of_order_are_refused():
    world = World(Platform.star([4, 4]), place=lambda slot: 0)
    jobs = job_table(2)
    jobs["size"], jobs["arrival"] = 1, [2.0, 1.0]
    world.submit(jobs)
    with pytest.raises(WorkloadError, match="order"):
        world.advance(np.inf)
