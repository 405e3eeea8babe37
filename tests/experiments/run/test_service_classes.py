"""Numbers of each service class: told apart by ratios of deadlines that do not overlap."""

from __future__ import annotations

import json

import numpy as np
import pytest

from experiments.run.running import run
from experiments.scenario.scenario import Scenario
from tests.experiments.commands import call

CLASSES = (
    "service_classes=["
    '{"name": "gold", "share": 0.3, "min_ratio": 0, "max_ratio": 1}, '
    '{"name": "silver", "share": 0.7, "min_ratio": 2, "max_ratio": 5}]'
)
MODES = {
    "batch": ("quickstart", ("mode=batch", "jobs=120")),
    "open": ("quickstart", ("mode=open", "jobs=150")),
    "warm-up": ("quickstart", ("mode=open", "jobs=150", "warmup=40")),
    "log": ("quickstart", ("mode=open", "assign_deadlines=true", "window_start=100")),
    "rejected": ("quickstart", ("mode=open", "jobs=150", "max_size=30")),
}
SLOWEST = 1.0  # rate of the slowest cluster of each


def log(path):
    """Write jobs without deadlines."""
    random = np.random.default_rng(2)
    arrivals = np.cumsum(random.exponential(9.0, 200)).round(3)
    rows = (f"{arrival},{random.integers(1, 9)},{random.integers(5, 90)}" for arrival in arrivals)
    path.write_text("arrival,size,runtime\n" + "\n".join(rows) + "\n")
    return str(path)


@pytest.mark.parametrize("mode", MODES)
def test_classes_are_those_from_which_deadlines_were_drawn(mode, tmp_path):
    name, words = MODES[mode]
    workload = {"workload": log(tmp_path / "log.csv")} if mode == "log" else {}
    scenario = Scenario.load(name).changed([*words, CLASSES], **workload)
    result = run(scenario, seed=4)
    jobs = result.records.rows
    jobs = jobs[jobs["arrival"] >= result.tally.counted_from]
    ratio = (jobs["deadline"] - jobs["arrival"]) * SLOWEST / jobs["runtime"] - 1.0
    assert ((ratio < 1.001) | (ratio > 1.999)).all()
    classes = result.summary()["classes"]
    assert [each["name"] for each in classes] == ["gold", "silver"]
    for found, ours in zip(classes, (jobs[ratio < 1.5], jobs[ratio > 1.5]), strict=True):
        done = ours[~np.isnan(ours["start"])]
        assert found["jobs"] == len(done) > 0
        assert found["mean_wait"] == pytest.approx((done["start"] - done["arrival"]).mean())
        late = np.maximum(done["finish"] - done["deadline"], 0.0)
        assert found["deadlines_met"] == pytest.approx((late == 0).sum() / len(ours))
        assert found["over_deadline"] == pytest.approx(late.sum())
    assert (result.counts["rejected"] > 0) == (mode == "rejected")


def test_they_are_shown_and_written_and_checked(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ran = call("run", "quickstart", "--no-live", "--out", "out")
    lines = ran.output.splitlines()
    heading = next(line for line in lines if line.startswith("class"))
    assert heading.split()[:4] == ["class", "jobs", "met", "%"]
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert [each["name"] for each in summary["classes"]] == ["gold", "silver", "bronze"]
    assert sum(each["jobs"] for each in summary["classes"]) == summary["jobs"]["completed"]
    found = call("verify", "out", "--json")
    assert found.exit_code == 0
    assert "classes/*/deadlines_met" not in found.stdout  # among those that are not checked
    summary["classes"][1]["deadlines_met"] += 0.01
    (tmp_path / "out" / "summary.json").write_text(json.dumps(summary))
    found = call("verify", "out")
    assert found.exit_code == 1
    assert "classes/1/deadlines_met" in found.output


def test_jobs_with_deadlines_of_their_own_are_of_no_class(tmp_path):
    (tmp_path / "jobs.csv").write_text("arrival,size,runtime,deadline\n0,1,5,9\n1,1,5,\n")
    scenario = Scenario.load("quickstart").changed(
        ["assign_deadlines=true", CLASSES], workload=str(tmp_path / "jobs.csv")
    )
    assert "classes" not in run(scenario).summary()
    assert "classes" not in run(Scenario.load("site").changed(["jobs=20"])).summary()


def test_rejected_jobs_are_told_to_have_missed_their_deadlines():
    """Which classes count with those met, and not among the jobs that they ran."""
    words = "run", "quickstart", "--no-live", "--set", "mode=open", "--set", "jobs=150"
    shown = call(*words, "--set", "max_size=30").stdout
    line = next(each for each in shown.splitlines() if each.startswith("deadlines met: "))
    rejected = next(each for each in shown.splitlines() if " rejected, " in each).split()[0]
    assert line.startswith(
        f"deadlines met: {rejected} rejected jobs missed their deadlines; jobs of"
    )
    assert "missed their" not in call(*words).output
