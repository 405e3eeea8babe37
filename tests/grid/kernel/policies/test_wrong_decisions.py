"""Decisions that cannot be carried out, of the wrong kind, or that raise."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from grid.errors import PlacementError
from grid.kernel import state as k
from grid.kernel.compile import compiled
from grid.kernel.policies.decisions import place_address, priority_address
from grid.platform.multicluster import Platform
from grid.world.policies import Addresses
from grid.world.world import World
from tests.grid.plain_cases import rows, table

CAPACITY = k.CAPACITIES[0]


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
    assert world.state.free.tolist() == [4, 2, 4]
    assert world.state.waiting.sum() <= 1
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
    world.policies.set_global(None, Addresses(as_told_at), memory)
    refused(world, found)


@pytest.mark.parametrize(("answer", "found"), [(3, "cluster 3"), (-4, "cluster -4"), (1, "C2")])
def test_compiled_destinations_are_checked_too(as_told_at, answer, found):
    world, memory = waiting(), np.zeros(1 + CAPACITY)
    memory[0] = answer
    world.policies.set_global(None, Addresses(as_told_at), memory)
    refused(world, found)


@pytest.mark.parametrize("answer", [np.nan, None])
def test_a_rank_must_be_a_number(answer):
    refused(waiting(lambda job: 2, lambda job: answer), "C3", "nan")


def not_a_number(job, now):
    return np.nan


def test_a_compiled_rank_must_be_a_number():
    world = waiting(lambda job: 2)
    world.policies.set_local(2, priority_address(numba.njit(not_a_number)))
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
    world.policies.set_global(compiled=Addresses(place_address(function, world.capacity)))
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
    world.policies.set_local(0, priority_address(numba.njit(rank)))
    world.advance(np.inf)
    assert [row[0] for row in rows(world)] == order


def test_a_compiled_rank_is_no_boolean():
    with pytest.raises(PlacementError, match="`priority` that returns bool; accepted: a number"):
        priority_address(numba.njit(lambda job, now: job.size > 2))


def test_compiled_decisions_take_what_they_are_given():
    with pytest.raises(PlacementError) as error:
        priority_address(numba.njit(lambda job: job.size))
    assert str(error.value) == "compiled `priority` that takes (job); accepted: (job, now)"
    with pytest.raises(PlacementError) as error:
        place_address(numba.njit(lambda known, job, memory, more: 0), 1)
    assert str(error.value).endswith("(known, job, memory, more); accepted: (known, job, memory)")


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


def frees(known, job, memory):
    known.free[0] = 99
    return 0


def frees_all(known, job, memory):
    known.free[:2] = 1
    return 0


def unloads_elsewhere(known, job, memory):
    empty(known.load)
    return 0


@numba.njit
def empty(values):
    values[0] = 0.0


@pytest.mark.parametrize("place", [frees, frees_all, unloads_elsewhere])
def test_a_compiled_place_writes_into_no_array_but_its_own(place):
    with pytest.raises(PlacementError, match="compiled `place` that writes into an array of `kn"):
        place_address(numba.njit(place), CAPACITY)


def takes(known, job, memory):
    known.take[:] = 0
    known.take[0] = job.size
    known.stream[0] = 5
    memory[0] = known.free[:2].sum()
    return k.START


def test_a_compiled_place_writes_into_its_own_arrays():
    assert place_address(numba.njit(takes), CAPACITY) != 0


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
    world.policies.set_global(
        None, Addresses(place_address(compile_(puzzled), world.capacity)), memory
    )
    with pytest.raises(KeyError, match="no idea"):
        world.advance(np.inf)
    memory[0] = 1.0
    world.policies.set_local(2, priority_address(compile_(puzzled_rank)))
    with pytest.raises(ArithmeticError, match="no rank"):
        world.advance(np.inf)
    world.policies.set_local(2)
    assert world.advance(np.inf) == k.OVER
    assert rows(world) == [(42, 2, (0, 0, 0), 0, 1.0, 6.0)]


@pytest.mark.parametrize("memory", [np.zeros(40, int), np.zeros(40, np.float32), np.zeros(80)[::2]])
def test_memory_of_another_kind_is_refused(as_told_at, memory):
    def run():
        world = waiting(rank=lambda job: 0.0)
        world.policies.set_global(None, Addresses(as_told_at), memory)
        world.advance(np.inf)

    with pytest.raises((TypeError, ValueError)):
        run()
