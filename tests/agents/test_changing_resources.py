"""Schedulers on two levels while processors fail, are drained and join."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agents.messages import ScheduleReport
from grid.brokers import Advertising
from grid.changes import Change, Failures

from .small_grids import FAR, PLATFORM, done, heard, model_of, table, workload

CHANGES = (
    Change("C1", "drain", 20.0, 90.0),
    Change("C2", "fail", 30.0, 80.0, 4),
    Change("C2", "fail", 60.0, 70.0),
    Change("C3", "join", 50.0),
)
PAIRS = pytest.mark.parametrize(
    ("global_", "local"),
    [("muscle", "titan"), ("muscle", "fcfs"), ("dll", "titan"), ("wrand", "sjf"), ("a4", "fcfs")],
)


@PAIRS
@pytest.mark.parametrize("mode", ["open", "batch"])
@pytest.mark.parametrize("loss", [0.0, 0.2])
def test_no_job_is_lost_while_resources_change(global_, local, mode, loss):
    outcomes = []
    for interval in (7.0, 1e6):
        model = model_of(
            global_, local, workload(mode, share=0.5, count=60), replace(FAR, changes=CHANGES),
            latency=0.2, failures=Failures(300.0, 15.0), interval=interval,
            advertising=Advertising("both", 10.0, loss),
        )  # fmt: skip
        model.run()
        jobs = done(model)
        assert len(jobs) == 60
        assert (jobs["start"] >= jobs["arrival"]).all()
        outcomes.append((jobs["start"].tolist(), jobs["restarts"].tolist(), model.messages))
    assert outcomes[0] == outcomes[1]
    assert sum(outcomes[0][1]) > 0


def test_muscle_learns_of_a_drained_cluster_from_reports_only():
    rows = [(float(k), 4, 6.0, 60.0 + k) for k in range(40)]
    platform = replace(PLATFORM, changes=(Change("C1", "drain", 10.0),))
    model = model_of("muscle", "titan", table(*rows), platform, latency=3.0)
    messages = heard(model)
    model.run()
    jobs = done(model)
    assert len(jobs) == 40
    reports = [m for m in messages if isinstance(m, ScheduleReport) and m.cluster == 0]
    gone = [m for m in reports if len(m.release) == 0]
    assert gone
    told = min(m.due for m in gone)
    assert told > 10.0
    dispatched = [r for r in model.rounds if r.jobs[0] > 0]
    assert any(10.0 <= each.dispatched < told for each in dispatched)  # nobody had told it yet
    assert all(each.dispatched <= told for each in dispatched)


def test_a_cluster_that_joins_is_used_from_then_on():
    rows = [(3.0 * k, 6, 20.0) for k in range(30)]
    platform = replace(PLATFORM, changes=(Change("C1", "join", 40.0),))
    for global_, local in (("muscle", "titan"), ("dll", "fcfs"), ("a4", "fcfs")):
        model = model_of(global_, local, table(*rows), platform)
        model.run()
        jobs = done(model)
        assert len(jobs) == 30
        assert jobs["start"][jobs["cluster"] == 0].min() >= 40.0
