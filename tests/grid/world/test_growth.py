"""Tables of a world grow seldom, however many events are planned."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from grid.jobs import job_table
from grid.kernel import state as k
from grid.platform.changes import Change
from grid.platform.multicluster import Platform
from grid.world.storage import Storage
from grid.world.world import World


@pytest.fixture
def sizes(monkeypatch):
    """Return how many events there is room for, each time that tables may have grown."""
    found = []
    grow = Storage.grow

    def noting(storage):
        grow(storage)
        found.append(len(storage.tables.events))

    monkeypatch.setattr(Storage, "grow", noting)
    return found


def world_of(*changes, size=3000):
    platform = replace(Platform.star([7, size]), changes=changes)
    return World(platform, 0.0, True, lambda job: k.WAIT)


def test_failures_of_many_processors_do_not_copy_all_events_for_each(sizes):
    world = world_of()
    for processor in range(3000):
        world.resources.fail(1, processor, 10.0, 20.0)
    assert len(sizes) > 6000
    assert len(set(sizes)) < 10


def test_a_change_of_many_processors_is_planned_at_once(sizes):
    world_of(
        Change("C2", "fail", 10.0, 20.0), Change("C1", "fail", 0.0, 5.0), Change("C1", "drain", 9.0)
    )
    assert len(sizes) < 10


def events(world):
    """Return what is to happen, in its order."""
    found = world.tables.events[: world.state.events]
    return [
        (event["time"], event["turn"] >> k.KIND_BITS, event["subject"])
        for event in sorted(found, key=lambda event: (event["time"], event["turn"]))
    ]


def test_changes_are_events_of_each_of_their_processors():
    planned = world_of(
        Change("C2", "fail", 10.0, 20.0), Change("C2", "drain", 10.0, 20.0, 3), size=9
    )
    plain = world_of(size=9)
    for processor in range(9):
        plain.resources.fail(1, processor, 10.0, 20.0)
    for processor in range(6, 9):
        plain.resources.drain(1, processor, 10.0, 20.0)
    assert events(planned) == events(plain)
    assert len(events(planned)) == 24
    assert planned.state.changes == plain.state.changes


def test_processors_that_several_changes_leave_out_are_left_out_once():
    world = world_of(
        Change("C2", "fail", 0.0, 20.0, 3), Change("C2", "drain", 0.0, 30.0, 5),
        Change("C1", "join", 4.0), size=9,
    )  # fmt: skip
    tables = world.tables
    assert tables.processors["causes"].tolist() == [1] * 7 + [0, 0, 0, 0, 1, 1, 2, 2, 2]
    away = tables.processors["holder"] == k.DOWN
    assert away.tolist() == (tables.processors["causes"] > 0).tolist()
    for of in (world.state.free, world.state.up, world.state.remaining):
        assert of[:2].tolist() == [0, 4]
    for name in ("free", "up"):
        assert world.known[name][:2].tolist() == [0, 4]
        beliefs = tables.beliefs
        assert [beliefs[name][beliefs["cluster"] == each].tolist() for each in (0, 1)] == [[0], [4]]
    assert world.known["load"][:2].tolist() == [float("inf"), 0.0]


def test_tables_are_again_as_they_were_kept_though_they_have_grown():
    world = World(Platform.star([7]), 0.0, True, lambda job: 0, lambda job: float(job))
    jobs = job_table(200)
    jobs["runtime"], jobs["size"] = 10.0, 1
    world.submit(jobs[:50])
    world.advance(15.0)
    back, finished = world.storage.kept(), []
    for _ in range(2):
        world.submit(jobs[50:])
        world.advance(np.inf)
        finished.append(world.tables.finished[: world.state.finished].tobytes())
        assert len(world.jobs["number"]) == len(world.jobs.slots) == 256
        back()
        assert world.now == 15.0
        assert len(world.jobs["number"]) == len(world.jobs.slots) == 64
    assert finished[0] == finished[1] != b""
