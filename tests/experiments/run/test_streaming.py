"""Runs that keep no jobs: their results, their files, and the memory that they take."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import chain

import pytest

from experiments.run.observed import Observed
from experiments.run.running import run
from experiments.run.writing import new_result
from experiments.scenario.scenario import Scenario
from grid.errors import GridError
from tests.experiments.conftest import ROOT

CASES = {
    "rounds": ("muscle", ["jobs=200", "queue=20", "local_share=0.3", "latency=0.5"], "wrand"),
    "brokers": ("two_sites", ["jobs=300"], "muscle"),
    "failures": (
        "quickstart",
        ["mode=open", "jobs=400", "mean_up_time=2000", "mean_down_time=50"],
        "ect",
    ),
    "split": ("beosim", ["jobs_per_cluster=3000"], "b1"),
}


def scenario(case, *settings):
    name, given, policy = CASES[case]
    changes = {"local_scheduler": "fcfs"} if name != "two_sites" else {}
    return Scenario.load(name).changed([*given, *settings], global_scheduler=policy, **changes)


def told(result):
    """Return a summary without the time that the run took and its step."""
    summary = result.summary() | {"wall_s": 0.0}
    summary["parameters"]["step"] = None
    return json.dumps(summary)


@pytest.mark.thorough
@pytest.mark.parametrize("case", CASES)
def test_the_result_is_the_same_bits_whether_jobs_are_kept_or_not(case, tmp_path):
    kept = run(scenario(case), seed=2, out=tmp_path / "kept")
    streamed = run(scenario(case, "step=7"), seed=2, out=tmp_path / "streamed", keep_jobs=False)
    assert told(streamed) == told(kept)
    assert len(kept.jobs) == sum(kept.counts[key] for key in ("completed", "rejected"))
    with pytest.raises(GridError, match="jobs: found none kept; accepted: a run with keep_jobs"):
        _ = streamed.jobs
    with new_result(tmp_path / "table", kept.platform) as new:
        new.add(kept.records)
        new.finish(kept)
    for name in ("jobs.csv", "timeline.csv"):
        texts = [(tmp_path / of / name).read_bytes() for of in ("kept", "streamed", "table")]
        assert texts[0] == texts[1] == texts[2]
    assert (tmp_path / "kept" / "jobs.csv").read_text().count("\n") == 1 + len(kept.jobs)


def test_jobs_are_written_in_order_of_arrival_as_soon_as_they_can_be():
    model, portions = scenario("split").model(1), []
    observed = Observed(model, lambda records: portions.append(records["number"].tolist()))
    model.world.log.stream(observed.add)
    model.run()
    assert len(portions) > 2
    assert len(model.world.log.records()) == 0
    before = sum(map(len, portions))
    model.world.log.flush()
    observed.finish()
    assert 0.5 * 12_000 < before < 12_000
    assert [*chain.from_iterable(portions)] == [*range(1, 12_001)]


def files(folder):
    return {path: path.is_file() and path.read_bytes() for path in folder.rglob("*")}


@pytest.mark.parametrize("standing", [False, True])
@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_of_a_run_that_fails_nothing_is_left(standing, error, tmp_path, monkeypatch):
    out = tmp_path / "new" / "folder"
    if standing:
        run(scenario("rounds"), out=out)
    before = files(tmp_path)

    def fail(self, records):
        assert next(out.glob(".metasched-*/jobs.csv")).exists()
        raise error

    monkeypatch.setattr(Observed, "add", fail)
    with pytest.raises(error):
        run(scenario("rounds"), seed=5, out=out)
    assert files(tmp_path) == before


def test_a_full_disk_is_told_in_one_line(tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    with new_result(tmp_path, Scenario.load("beosim").platform) as new:
        monkeypatch.setattr(new.jobs, "write", full)
        with pytest.raises(GridError, match="cannot write results: No space left on device"):
            new.add(run(scenario("rounds")).records)
    assert [*tmp_path.iterdir()] == []


PEAK = """
import resource, sys
from experiments.run.running import run
from experiments.scenario.scenario import Scenario
jobs, out = int(sys.argv[1]), sys.argv[2]
chosen = Scenario.load("beosim").changed(
    [f"jobs_per_cluster={jobs // 4}"], global_scheduler="migration-only"
)
result = run(chosen, seed=1, out=out, keep_jobs=False)
assert result.counts["completed"] == jobs
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


@pytest.mark.thorough
def test_memory_does_not_grow_with_the_number_of_jobs(tmp_path):
    def peak(jobs):
        """Return the most memory that a run of so many jobs takes, MiB."""
        command = [sys.executable, "-c", PEAK, str(jobs), str(tmp_path / str(jobs))]
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        return int(subprocess.run(command, env=environment, check=True, stdout=-1).stdout)

    # Were they kept, 300,000 more jobs would take 150 MiB; for percentiles they take 5.
    assert peak(400_000) - peak(100_000) < 20
