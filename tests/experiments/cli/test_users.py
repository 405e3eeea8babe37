"""What users of a grid get, and how unequal that is."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.run.running import run
from experiments.scenario.scenario import Scenario
from grid.jobs import UNKNOWN
from grid.kernel.dtypes import FINISHED
from grid.metrics.fairness import Users, gini
from grid.metrics.job_totals import Tally
from grid.metrics.of_run import job_metrics
from grid.platform.multicluster import Platform
from grid.world.finished import Records

PLATFORM = Platform.star([8, 8])


def records_of(count=5000, users=40, seed=1):
    rng = np.random.default_rng(seed)
    rows = np.zeros(count, FINISHED)
    rows["number"] = np.arange(count)
    rows["arrival"] = rng.uniform(0, 1e4, count)
    rows["user"] = rng.integers(UNKNOWN, users, count)
    rows["start"] = rows["arrival"] + rng.exponential(50, count) * (rows["user"] + 2)
    rows["execution_time"] = rng.exponential(30, count)
    rows["finish"] = rows["start"] + rows["execution_time"]
    rows["start"][::50] = rows["finish"][::50] = np.nan  # rejected
    rows["size"], rows["split"] = rng.integers(1, 9, count), -1
    rows["deadline"] = np.inf
    return Records(rows, np.zeros((0, 2), np.int32))


@given(st.lists(st.floats(0, 1e6, allow_subnormal=False), min_size=1, max_size=30))
def test_gini_is_half_the_mean_difference_over_the_mean(values):
    if sum(values) == 0:
        assert gini(values) == 0.0
        return
    differences = np.abs(np.subtract.outer(values, values))
    assert gini(values) == pytest.approx(differences.mean() / (2 * np.mean(values)), abs=1e-9)


def test_users_of_records_by_pandas():
    records = records_of()
    counted_from = 2000.0
    tally = Tally(PLATFORM)
    tally.add(records, counted_from)
    frame = pd.DataFrame(records.rows)
    frame = frame[(frame.user != UNKNOWN) & (frame.arrival >= counted_from) & frame.start.notna()]
    turnaround = frame.finish - frame.arrival
    frame["wait"] = frame.start - frame.arrival
    frame["slowdown"] = np.maximum(1, turnaround / np.maximum(frame.execution_time, 10))
    frame["work"] = (frame.finish - frame.start) * frame["size"]
    by = frame.groupby("user")
    table = pd.DataFrame(tally.users.table()).set_index("user").sort_index()
    assert table.jobs.tolist() == by.size().tolist()
    assert table.mean_wait.to_numpy() == pytest.approx(by.wait.mean().to_numpy())
    assert table.mean_bounded_slowdown.to_numpy() == pytest.approx(by.slowdown.mean().to_numpy())
    assert table.work.to_numpy() == pytest.approx(by.work.sum().to_numpy())
    work = [each["work"] for each in tally.users.table()]
    assert work == sorted(work, reverse=True)
    metrics = job_metrics(tally)
    assert metrics["gini_wait"] == pytest.approx(gini(by.wait.mean()))
    assert metrics["gini_slowdown"] == pytest.approx(gini(by.slowdown.mean()))
    assert metrics["gini_wait"] > 0.2


def test_the_same_bits_in_any_portions():
    records = records_of()
    whole = Tally.of(records, PLATFORM)
    parts = Tally(PLATFORM)
    for first in range(0, len(records), 617):
        parts.add(records[first : first + 617])
    assert whole.users.table() == parts.users.table()
    assert len(parts.users) == 40
    assert job_metrics(whole)["gini_wait"] == job_metrics(parts)["gini_wait"]


def test_no_users_are_no_metric():
    records = records_of()
    records.rows["user"] = UNKNOWN
    tally = Tally.of(records, PLATFORM)
    assert (len(tally.users), tally.users.table()) == (0, [])
    assert job_metrics(tally)["gini_wait"] is job_metrics(tally)["gini_slowdown"] is None
    assert Users().gini("wait") is None


def test_a_result_tells_of_users(tmp_path):
    out = tmp_path / "out"
    log = tmp_path / "log.swf"
    lines = [
        f"{j} {10 * j} 0 {5 + 20 * (j % 3)} 4 -1 -1 4 60 -1 1 {j % 25} " + "-1 " * 6
        for j in range(1, 101)
    ]
    log.write_text("\n".join(lines))
    scenario = Scenario(
        "mine", Platform.star([4]), {"mode": "open"}, "dll", "fair-share", workload=str(log)
    )
    run(scenario, out=out)
    summary = json.loads((out / "summary.json").read_text())
    table = pd.read_csv(out / "users.csv")
    assert summary["users"]["count"] == len(table) == 25
    assert summary["users"]["largest"] == table.head(20).to_dict("records")
    jobs = pd.read_csv(out / "jobs.csv")
    assert (jobs.start - jobs.arrival).sum() == pytest.approx((table.mean_wait * table.jobs).sum())
    run(Scenario("mine", Platform.star([4]), {"mode": "open", "jobs": 9, "max_size": 4}), out=out)
    assert not (out / "users.csv").exists()
    assert "users" not in json.loads((out / "summary.json").read_text())
