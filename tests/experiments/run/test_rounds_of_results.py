"""Rounds of a result: as they went, as planned, and all as one."""

from __future__ import annotations

import math

import numpy as np
import pytest

from experiments.run.totals import REALISED, WHOLE
from grid.metrics.job_totals import Tally
from grid.metrics.of_rounds import round_performance, run_performance
from grid.workloads.synthetic import BatchWorkload, SyntheticWorkload
from tests.experiments.small_results import MIX, PLATFORM, muscle, plain, printed, result_of


def tally(model):
    return Tally.of(model.world.log.records(), PLATFORM)


def test_exact_predictions_come_true_in_mode_batch(batch):
    realised = round_performance(batch.world.log.records(), PLATFORM, batch.weights, batch.idle)
    assert len(batch.rounds) == len(realised.cps) > 3
    assert realised.jobs.tolist() == [each.jobs.tolist() for each in batch.rounds]
    assert realised.cps == pytest.approx(np.array([each.cps for each in batch.rounds]), rel=1e-9)


def test_mode_batch_means_over_realised_rounds_for_every_scheduler(batch):
    result = result_of(batch, "batch", 1.0)
    metrics, rounds = result.summary()["metrics"], result.rounds_table()
    assert metrics["cp_basis"] == REALISED
    assert metrics["rounds"] == len(rounds) == len(batch.rounds)
    assert metrics["mcp"] == pytest.approx(rounds["mcp"].mean())
    assert metrics["pb"] == pytest.approx(rounds["pb"].mean())
    assert result.summary()["clusters"][2]["cp"] == pytest.approx(rounds["cp C3"].mean())
    assert rounds.filter(like="jobs").to_numpy().sum() == 150
    assert rounds["round"].tolist() == list(range(1, len(rounds) + 1))
    shares = rounds.loc[0, ["jobs C1", "jobs C2", "jobs C3", "jobs C4"]].to_numpy(float)
    cps = rounds.loc[0, ["cp C1", "cp C2", "cp C3", "cp C4"]].to_numpy(float)
    assert rounds.loc[0, "mcp"] == pytest.approx((shares * cps).sum() / shares.sum())
    assert metrics["mcp_planned"] == pytest.approx(metrics["mcp"], rel=1e-9)
    whole = run_performance(tally(batch), batch.weights, batch.idle)
    assert metrics["mcp_overall"] == whole.mcp()[0] > metrics["mcp"]
    assert metrics["pb_overall"] == whole.pb()[0]
    last = result.summary()["clusters"][3]
    assert last["cp_overall"] == whole.cps[0, 3]
    assert last["cp_planned"] == pytest.approx(last["cp"], rel=1e-9)
    other = plain(BatchWorkload(mean_batch=20, count=150, **MIX))
    other.run()
    numbers = result_of(other, "batch", 1.0).summary()["metrics"]
    assert (numbers["cp_basis"], numbers["rounds"]) == (REALISED, metrics["rounds"])
    assert numbers["mcp_planned"] is numbers["pb_planned"] is None
    assert metrics["messages"]["scheduling"] == batch.messages_posted
    assert sum(metrics["messages"].values()) == batch.messages


def test_an_interrupted_run_keeps_its_complete_rounds(batch):
    model = muscle(BatchWorkload(mean_batch=20, count=150, **MIX))
    while model.now <= batch.rounds[2].dispatched:
        model.interval = 10.0
        model.step()
    result = result_of(model, "batch", 1.0)
    whole = result_of(batch, "batch", 1.0)
    summary = result.summary()
    assert summary["interrupted"] is True
    assert summary["unfinished"] == summary["jobs"]["submitted"] - summary["jobs"]["completed"] > 0
    complete = summary["metrics"]["rounds"]
    assert complete == len(model.rounds) - 1
    assert result.rounds.cps.tolist() == whole.rounds.cps[:complete].tolist()
    assert "jobs not finished: the run was interrupted" in printed(result)


def test_mode_open_is_one_round_for_every_scheduler_beside_what_titans_planned():
    model = muscle(SyntheticWorkload(rate=0.2, count=60, **MIX))
    model.run()
    assert len(model.rounds) > 3
    model.rounds[1].cps[0] = math.nan  # as if this TITAN had not answered
    told = [each for index, each in enumerate(model.rounds) if index != 1]
    result = result_of(model, "open", 1.0)
    metrics = result.summary()["metrics"]
    whole = run_performance(tally(model), model.weights, model.idle)
    assert metrics["cp_basis"] == WHOLE
    assert metrics["mcp"] == metrics["mcp_overall"] == whole.mcp()[0]
    assert metrics["pb"] == metrics["pb_overall"] == whole.pb()[0]
    assert metrics["rounds"] == len(model.rounds)
    mcps = [float((each.cps * each.jobs).sum() / each.jobs.sum()) for each in told]
    assert metrics["mcp_planned"] == pytest.approx(np.mean(mcps))
    assert result.summary()["clusters"][0]["cp"] == whole.cps[0, 0]
    assert result.summary()["clusters"][0]["cp_planned"] == pytest.approx(
        np.mean([each.cps[0] for each in told])
    )
    assert len(result.rounds_table()) == len(model.rounds)
    assert np.isnan(result.rounds_table().loc[1, "mcp"])
    for each in model.rounds:
        each.cps[:] = math.nan  # as by local schedulers that tell no CP
    metrics = result_of(model, "open", 1.0).summary()["metrics"]
    assert metrics["mcp_planned"] is metrics["pb_planned"] is None
    assert metrics["rounds"] == len(model.rounds)
