"""The loop's kinds: what one does without, the others do the same with tables that have no rows."""

from __future__ import annotations

import pytest

from grid.kernel.loop import WITHOUT, Kind
from grid.world.storage import Storage
from tests.agents.small_grids import model_of


@pytest.mark.thorough
@pytest.mark.parametrize("global_", ["muscle", "b3", "dll"])
def test_what_a_run_does_without_changes_nothing(global_, monkeypatch):
    outcomes = []
    for kind in (None, *Kind):
        if kind is not None:
            monkeypatch.setattr(Storage, "kind", kind)
        model = model_of(global_, "fcfs", latency=0.3)
        model.run()
        assert model.world.state.completed > 0
        outcomes.append(model.world.log.records().rows.tobytes())
    assert set(outcomes) == {outcomes[0]}


def test_each_kind_can_do_what_those_before_can():
    left_out = [set(WITHOUT[kind]) for kind in Kind]
    assert left_out[0] > left_out[1] > left_out[2]
