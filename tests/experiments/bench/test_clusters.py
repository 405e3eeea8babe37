"""Policies beside each other on real sites: here on local ones."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from experiments.bench import clusters
from experiments.bench.clusters import WAYS, Clusters, Schedule
from experiments.bench.comparison import Comparison, Pair
from grid.errors import GridError
from grid.jobs import job_table
from tests.experiments.commands import call
from tests.experiments.service.test_service import running

ROOT = Path(__file__).resolve().parents[3]
SITES = "".join(f'[[sites]]\nname = "{name}"\nslots = 4\n' for name in "ab")
INTERRUPTED = """
import sys
from experiments.bench import clusters
from experiments.cli.app import main
clusters.SHORTEST = float(sys.argv[1])
clusters.LONGEST = clusters.SHORTEST + 0.0001
main(["bench", "clusters", *sys.argv[2:]])
"""


@pytest.fixture
def grid(tmp_path, monkeypatch):
    monkeypatch.setattr(clusters, "SHORTEST", 0.1)
    monkeypatch.setattr(clusters, "LONGEST", 0.3)
    (tmp_path / "grid.toml").write_text(SITES + '[[jobs]]\ncommand = ["false"]\n')
    return tmp_path / "grid.toml"


@pytest.mark.thorough
def test_policies_are_compared_on_local_sites(grid, tmp_path, monkeypatch):
    out = tmp_path / "out"
    words = "bench", "clusters", grid, "--jobs", 6, "--replications", 2, "--out", out
    found = call(*words, "--json")
    assert found.exit_code == 0
    told = json.loads(found.stdout)
    assert told["seeds"] == [0, 1]
    names = ["MUSCLE over TITAN", "DLL over EASY"]
    assert [each["name"] for each in told["policies"]] == names
    for each in told["policies"]:
        assert len(each["turnaround"]) == len(each["slowdown"]) == 2
        assert 0.1 < each["mean_turnaround"]["mean"] < 20
        assert each["mean_turnaround"]["mean"] == pytest.approx(np.mean(each["turnaround"]))
        assert 0.1 < np.mean(each["simulated"]["turnaround"]) < each["mean_turnaround"]["mean"]
        assert 0 <= each["simulated"]["start_off_mean"] < 20
    (difference,) = told["differences"]
    assert [difference["of"], difference["to"]] == names
    in_order = sorted(out.iterdir(), key=lambda file: file.stat().st_mtime_ns)
    assert [file.stem for file in in_order] == [
        *("muscle-titan-0", "dll-easy-0", "dll-easy-1", "muscle-titan-1")
    ]
    monkeypatch.setattr(clusters, "_by_agents", None)  # what is kept is not run again
    again = call(*words)
    assert again.exit_code == 0
    for name in (*names, "MUSCLE over TITAN - DLL over EASY", "turnaround; slowdown of seed"):
        assert name in again.stdout
    other = call(*words, "--load", 0.5)
    assert (other.exit_code, other.stdout) == (2, "")
    assert "found results of other jobs or sites; accepted: another --out" in other.stderr
    (out / "dll-easy-1.json").write_text("{")
    assert call(*words).exit_code == 2


def test_jobs_are_drawn_by_seed_and_load(grid, tmp_path):
    chosen = Clusters(str(grid), tmp_path, 2000, 0.8)
    jobs, again, other = (chosen.drawn(seed) for seed in (1, 1, 2))
    assert (jobs == again).all()
    assert not (jobs["runtime"] == other["runtime"]).all()
    assert (jobs["size"].min(), jobs["size"].max()) == (1, 4)  # that all sites have
    assert jobs["arrival"][0] == 0
    assert ((jobs["runtime"] >= 0.1) & (jobs["runtime"] <= 0.3)).all()
    assert (jobs["requested_time"] == jobs["runtime"]).all()
    slack = (jobs["deadline"] - jobs["arrival"]) / jobs["runtime"]
    assert 1 <= slack.min() < 1.1 < 5.9 < slack.max() <= 6
    load = (jobs["size"] * jobs["runtime"]).sum() / (8 * jobs["arrival"][-1])
    assert load == pytest.approx(0.8, rel=0.1)


def test_a_job_that_fails_is_told_and_nothing_is_kept(grid, tmp_path, monkeypatch):
    monkeypatch.setattr(clusters, "_add", lambda store, job: store.add(["false"], 1))
    found = call("bench", "clusters", grid, "--jobs", 3, "--out", tmp_path / "out")
    assert (found.exit_code, found.stdout) == (2, "")
    (line,) = [each for each in found.stderr.splitlines() if each.startswith("metasched: ")]
    assert line in [f"metasched: job 1 (false) at {site}: failed, exit status 1" for site in "ab"]
    assert not os.listdir(tmp_path / "out")


def test_sites_of_other_rates_are_refused(grid, tmp_path):
    grid.write_text('[[sites]]\nname = "a"\nslots = 4\nrate = 1.5\n')
    with pytest.raises(GridError, match=r"rate: found 1\.5; accepted: 1, for jobs sleep"):
        Clusters(str(grid), tmp_path, 5, 0.8)


@pytest.mark.thorough
def test_ctrl_c_ends_all_jobs(grid, tmp_path):
    out, own = tmp_path / "out", f"{6000 + os.getpid() % 1000}.000"  # of no other test
    words = [own, str(grid), "--jobs", "3", "--load", "1000000", "--out", str(out)]
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, *words],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        while not running("sleep", own):
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        said, told = process.communicate(timeout=60)
    assert (process.returncode, said) == (130, b""), told.decode()
    assert told.endswith(b"metasched: interrupted; the same command goes on from there\n")
    assert not os.listdir(out)
    assert not running("sleep", own)


def test_what_is_compared():
    """Differences of pairs, and how far starts are from those of a simulation."""
    jobs = job_table(2)
    jobs["arrival"], jobs["runtime"] = [0.0, 10.0], [20.0, 5.0]
    here = np.zeros(2, np.int64)

    def schedule(*waits):
        start = jobs["arrival"] + waits
        return Schedule(start, start + jobs["runtime"], here)

    one = [Pair(jobs, schedule(0, 30), schedule(0, 20)), Pair(jobs, schedule(4, 0), schedule(0, 0))]
    other = [Pair(jobs, schedule(1, 29), None), Pair(jobs, schedule(0, 0), None)]
    found = Comparison({WAYS[0]: one, WAYS[2]: other}, [1, 2])
    assert found.values(WAYS[0], "turnaround") == [27.5, 14.5]
    assert found.values(WAYS[0], "slowdown") == [(1 + 3.5) / 2, (1.2 + 1) / 2]  # of 10 s at least
    difference = found.difference(WAYS[0], WAYS[2], "turnaround")
    assert difference.mean == 1.0
    assert difference.half_width == pytest.approx(12.706, abs=0.001)
    told = found.summary()["policies"]
    assert told[0]["simulated"]["start_off_mean"] == 3.5
    assert told[0]["simulated"]["start_off_90"] == pytest.approx(4 + 0.7 * 6)
    assert told[0]["simulated"]["same_site"] == 1.0
    assert told[1]["simulated"] is None
