"""Tables of a world grow seldom, however many events are planned."""

from __future__ import annotations

from dataclasses import replace

from grid.kernel import state as k
from grid.platform.changes import Change
from grid.platform.multicluster import Platform
from grid.world.storage import Storage
from grid.world.world import World


def test_changes_of_many_processors_do_not_copy_all_events_for_each(monkeypatch):
    sizes = []
    grow = Storage.grow

    def noting(world):
        grow(world)
        sizes.append(len(world.tables.events))

    monkeypatch.setattr(Storage, "grow", noting)
    changes = (Change("C1", "fail", 10.0, 20.0),)
    World(replace(Platform.star([3000]), changes=changes), 0.0, False, lambda job: k.WAIT)
    assert len(sizes) > 6000
    assert len(set(sizes)) < 10
