"""Jobs that come first and count for nothing."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

from experiments.checks.verify import verify
from experiments.cli.app import main
from experiments.run.running import run
from experiments.scenario.scenario import Scenario
from tests.experiments.run.test_streaming import scenario


@pytest.mark.parametrize("case", ["brokers", "split"])
def test_means_are_those_of_the_other_jobs(case):
    warm = run(scenario(case, "warmup=120"), seed=3).summary()
    all_count = ["jobs=420"] if case == "brokers" else []  # of a process, they come beside them
    cold = run(scenario(case, *all_count), seed=3)
    jobs = cold.jobs.iloc[120:]
    metrics = warm["metrics"]
    assert warm["jobs"] == cold.counts
    assert metrics["mean_wait"] == pytest.approx(jobs["wait"].mean())
    assert metrics["max_wait"] == jobs["wait"].max()
    assert metrics["p95_wait"] == np.percentile(jobs["wait"], 95)
    assert metrics["mean_turnaround"] == pytest.approx(jobs["turnaround"].mean())
    assert metrics["makespan"] == jobs["finish"].max() - jobs["start"].min()
    for cluster in warm["clusters"]:
        placed = jobs["placement"].str.contains(f"{cluster['name']}:")
        assert cluster["jobs"] == placed.sum()
    # What is counted, not averaged, is of the whole run.
    assert metrics["messages"] == cold.summary()["metrics"]["messages"]
    began = jobs["arrival"].min()
    table = cold.jobs
    held = (table["finish"].clip(began) - table["start"].clip(began)) @ table["size"]
    processors = cold.platform.sizes.sum()
    assert metrics["utilization"] == pytest.approx(
        held / (processors * (table["finish"].max() - began))
    )


def test_rounds_of_the_warmup_count_for_nothing():
    cold, warm = (
        run(scenario("rounds", f"warmup={jobs}", f"jobs={270 - jobs}"), seed=3) for jobs in (0, 70)
    )
    before = int(np.searchsorted(np.cumsum(cold.rounds.jobs.sum(axis=1)), 71))
    assert 1 < before < len(cold.rounds.cps) - 1
    assert warm.rounds.cps.tolist() == cold.rounds.cps[before:].tolist()
    metrics = warm.summary()["metrics"]
    assert metrics["mcp"] == pytest.approx(cold.rounds.mcp()[before:].mean())
    assert metrics["rounds"] == len(warm.rounds_table()) == len(cold.rounds.cps) - before
    assert warm.rounds_table()["round"].tolist() == cold.rounds_table()["round"].tolist()[before:]


def test_planned_rounds_of_the_warmup_count_for_nothing():
    settings = ["mode=open", "patience=20", "population=10"]
    cold, warm = (
        run(Scenario.load("muscle").changed([*settings, f"warmup={jobs}", f"jobs={40 - jobs}"]))
        for jobs in (0, 15)
    )
    began = np.sort(cold.records["arrival"])[15]
    assert 0 < len(warm.planned.dispatched) < len(cold.planned.dispatched)
    assert warm.planned.dispatched.min() >= began


@pytest.mark.thorough
@pytest.mark.parametrize("case", ["rounds", "brokers", "failures", "split"])
def test_verify_works_the_numbers_out_again(case, tmp_path):
    run(scenario(case, "warmup=57"), seed=1, out=tmp_path, keep_jobs=False)
    assert [each.check for each in verify(tmp_path) if not each.holds] == []
    summary = json.loads((tmp_path / "summary.json").read_text())
    summary["parameters"]["warmup"] -= 1
    summary["parameters"]["jobs"] += 1  # as many in all
    (tmp_path / "summary.json").write_text(json.dumps(summary))
    (wrong,) = [each for each in verify(tmp_path) if not each.holds]
    assert wrong.check == "numbers of the summary are right"


@pytest.mark.parametrize(
    ("warmup", "accepted"),
    [
        ("80", "warmup: found 80; accepted: a whole number below 80, the jobs of the run"),
        ("-1", "warmup: found -1; accepted: from 0"),
        ("2.5", "warmup: found 2.5; accepted: a whole number"),
    ],
)
def test_a_warmup_that_leaves_no_job_is_refused(warmup, accepted, tmp_path):
    words = ["run", "beosim", "--set", "jobs_per_cluster=20", "--set", f"warmup={warmup}"]
    got = CliRunner().invoke(main, [*words, "--out", str(tmp_path / "out")])
    assert (got.exit_code, got.stdout) == (2, "")
    assert got.stderr.startswith("metasched: ")
    assert got.stderr.endswith(f"{accepted}\n")
    assert not (tmp_path / "out").exists()


@pytest.mark.thorough
@pytest.mark.parametrize(("warmup", "left_out"), [(20, 0), (100, 62)])
def test_a_warmup_that_ends_within_a_round_tells_what_it_leaves_out(warmup, left_out, tmp_path):
    words = ["run", "muscle", "--set", "jobs=80", "--set", "queue=60", "--set", "population=10"]
    words += ["--set", "patience=5", "--set", f"warmup={warmup}", "--out", str(tmp_path / "out")]
    found = CliRunner().invoke(main, words)
    assert found.exit_code == 0
    are = f"{left_out} are left out: the others come" if left_out else "none is left out: all come"
    told = f"warmup: {warmup}, of which {are} with the first"
    assert told in found.stdout
    assert ("hold as idle" in found.output) == (left_out > 0)
    assert told in CliRunner().invoke(main, [*words[:-2], "--json"]).stderr
    page = tmp_path / "page.html"
    CliRunner().invoke(main, ["report", str(tmp_path / "out"), "--out", str(page)])
    assert f"W{told[1:]}" in page.read_text()
