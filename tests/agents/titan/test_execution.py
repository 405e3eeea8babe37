"""TITAN's own map of processors, carried out as it stands (`execution = "processors"`)."""

from __future__ import annotations

import numpy as np
import pytest
from click.testing import CliRunner

from agents.messages import ScheduleReport
from agents.titan.scheduler import TitanScheduler
from experiments.cli.app import main
from experiments.scenario.scenario import Scenario

MAP = ("coding=two-dimensional", "execution=processors", "population=10", "patience=5")


class Noted(TitanScheduler):
    """Keeps the processors that its last plan names for each job, and plans so far."""

    plans = 0

    def processors_of(self, order):
        found = super().processors_of(order)
        numbers = self.model.world.jobs["number"][list(order)].tolist()
        self.named = getattr(self, "named", {}) | dict(zip(numbers, found, strict=True))
        self.plans += 1
        return found


def model(*parameters, scenario="muscle", seed=0, **fields):
    chosen = Scenario.load(scenario).changed([*MAP, *parameters], **fields)
    return chosen.changed(local_scheduler=Noted).model(seed)


def looked_at(found):
    """Step a model to its end, and check at each step that jobs hold the processors of a plan."""
    held = {}
    while found.running:
        found.step()
        world = found.world
        for index, cluster in enumerate(found.clusters):
            processors, holders = world.jobs.holders(index)
            for slot in set(holders[holders >= 0].tolist()):
                number = int(world.jobs["number"][slot])
                held[number] = set(processors[holders == slot].tolist())
                assert held[number] == {*cluster.scheduler.named[number]}
    return held


@pytest.mark.sampled(1)
@pytest.mark.parametrize("seed", [0, 1])
def test_jobs_run_on_the_processors_that_the_plan_names(seed):
    found = model("jobs=80", "queue=20", "mode=batch", "step=0.5", seed=seed)
    held = looked_at(found)
    assert found.completed == 80
    assert len(held) > 70  # the shortest end between two steps
    assert any(each != {*range(len(each))} for each in held.values())


def test_a_round_ends_when_its_map_says():
    """What a cluster reports of a map is when its jobs end; by counts, they would end sooner."""
    parameters = ("jobs=40", "queue=200", "mode=batch")
    found = model(*parameters)
    reports = []
    found.listeners.append(reports.append)
    found.run()
    told = {each.cluster: each.release for each in reports if isinstance(each, ScheduleReport)}
    records = found.world.log.records()
    for index, release in told.items():
        finishes = records["finish"][records["cluster"] == index]
        assert release.max() == finishes.max(initial=0.0)
    waiting = {}
    for of_processor in ("processors", "starts"):
        scenario = Scenario.load("muscle").changed([*MAP, *parameters])
        other = scenario.changed([f"execution={of_processor}"]).model()
        other.run()
        waiting[of_processor] = other.world.log.records()["start"].sum()
    assert waiting["processors"] > waiting["starts"]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_failures_and_wrong_predictions_lose_no_job(seed):
    parameters = ("jobs=60", "mode=open", "load=1.2", "prediction_error=0.5", "latency=1")
    failing = ("mean_up_time=3000", "mean_down_time=60", "step=5")
    found = model(*parameters, *failing, scenario="quickstart", seed=seed)
    looked_at(found)
    assert found.completed == 60
    again = model(*parameters, *failing[:2], "step=1000", scenario="quickstart", seed=seed)
    again.run()
    rows, others = (each.world.log.records().rows.tobytes() for each in (again, found))
    assert rows == others


def test_a_plan_starts_from_the_map_of_the_last():
    """Without breeding, what a plan names stays what it was until more jobs come."""
    parameters = ("jobs=30", "mode=open", "load=3", "mean_up_time=0")
    found = model(*parameters, scenario="quickstart")
    kept = checked = 0
    before = [{} for _ in found.clusters]
    while found.running:
        found.step()
        for index, cluster in enumerate(found.clusters):
            jobs = found.world.jobs
            planned = jobs.planned(jobs.waiting(index)).tolist()
            now = {slot: sorted(jobs.turns(slot)) for slot in planned}
            assert all(len(each) == jobs["size"][slot] for slot, each in now.items())
            both = before[index].keys() & now.keys()
            checked += len(both)
            kept += sum(before[index][slot] == now[slot] for slot in both)
            before[index] = now
            assert cluster.scheduler.reports.queue()[: len(now)] == [*now]
    assert checked > 20
    assert kept > checked / 2


def test_booked_processors_are_those_that_remain():
    found = model("jobs=40", "mode=open", "mean_up_time=500", scenario="quickstart")
    while found.running:
        found.step()
        for cluster in found.clusters:
            processors = cluster.processors()
            assert len(processors) == len(cluster.released_at())
            assert len(np.unique(processors)) == len(processors)
            assert len(processors) == found.world.state.remaining[cluster.index]


def test_an_order_names_no_processors():
    found = CliRunner().invoke(main, ["run", "quickstart", "--set", "execution=processors"])
    assert found.exit_code == 2
    assert found.stderr.splitlines()[-1].startswith(
        "metasched: --set: execution: found 'processors' with coding = 'order'"
    )
