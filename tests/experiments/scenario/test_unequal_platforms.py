"""Every meta-scheduler through the command: unequal clusters and links, two switches, given jobs.

Each result is compared with the plain simulator, job by job, and checked by `metasched verify`.
"""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from click.testing import CliRunner

from agents.registry import GLOBAL
from experiments.cli.app import main
from grid.jobs import job_table
from grid.logs.job_csv import write_csv
from grid.platform.distance import DistanceCosts
from grid.platform.multicluster import Platform
from tests.agents.coallocation.test_coallocation import assert_equal, plainly

POLICIES = [name for name, where in GLOBAL.items() if "coallocation" in where]
PLATFORM = """
[[clusters]]
name = "A"
size = 9
rate = 1.0
switch = "west"
capacity = 60

[[clusters]]
name = "B"
size = 4
rate = 2.0
switch = "west"
capacity = 20

[[clusters]]
name = "C"
size = 7
rate = 0.5
capacity = 35

[[clusters]]
name = "D"
size = 5
rate = 1.5
switch = "east"
capacity = inf

[[switches]]
name = "west"
capacity = 30

[[switches]]
name = "east"
switch = "west"
capacity = 45
"""
LATENCIES = {"A": 0.25, "B": 0.0, "C": 0.125, "D": 0.5, "west": 0.0625, "east": 0.375}


def platform_file(folder, latencies=False):
    text = PLATFORM
    for name, latency in LATENCIES.items() if latencies else ():
        text = text.replace(f'name = "{name}"\n', f'name = "{name}"\nlatency = {latency}\n')
    path = folder / "platform.toml"
    path.write_text(text)
    return path


def given_jobs(rng, count=120):
    """Return jobs whose bandwidth has nothing to do with their sizes: many of one node, or two."""
    jobs = job_table(count)
    jobs["size"] = rng.choice([1, 2, 3, 6, 8, 10, 12, 18], count)
    jobs["arrival"] = np.sort(rng.integers(0, 260, count))
    jobs["runtime"] = rng.exponential(20, count) + 0.1
    jobs["origin"] = rng.integers(-1, 4, count)
    jobs["computation_fraction"] = rng.choice([0.0, 0.3, 1.0], count)
    jobs["ppbw"] = np.where(rng.random(count) < 0.3, 0.0, rng.lognormal(1.5, 1.5, count))
    return jobs


def run(policy, jobs, folder, *settings, latencies=False):
    """Run through the command; return what its files say of the completed jobs, and the summary."""
    platform, table = platform_file(folder, latencies), folder / "jobs.csv"
    with open(table, "w") as file:
        write_csv(file, jobs, "ABCD")
    words = ["run", "beosim", "--global", policy, "--workload", table, "--platform", platform]
    words += [word for setting in settings for word in ("--set", setting)]
    got = CliRunner().invoke(main, [*map(str, words), "--out", str(folder / "out")])
    assert got.exit_code == 0, got.output
    verified = CliRunner().invoke(main, ["verify", str(folder / "out")])
    assert verified.exit_code == 0, verified.output
    found = {}
    with open(folder / "out" / "jobs.csv", newline="") as file:
        for row in csv.DictReader(file):
            if row["start"]:
                parts = dict(part.split(":") for part in row["placement"].split("+"))
                take = [int(parts.get(name, 0)) for name in "ABCD"]
                found[int(row["job"])] = float(row["start"]), float(row["finish"]), take
    return found, json.loads((folder / "out" / "summary.json").read_text())


@pytest.mark.thorough
@pytest.mark.parametrize("policy", POLICIES)
def test_unequal_clusters_links_and_switches(policy, tmp_path):
    rng = np.random.default_rng([5, POLICIES.index(policy)])
    jobs = given_jobs(rng)
    found, summary = run(policy, jobs, tmp_path, "chunk=60", "lslt=90", "penalty=1.4")
    platform = Platform.from_toml(tmp_path / "platform.toml")
    expected, plain = plainly(policy, platform, jobs, chunk=60, lslt=90.0, penalty=1.4)
    assert_equal(found, expected)
    left_out = len(jobs) - len(found)
    assert summary["jobs"]["rejected"] == left_out == sum(summary["rejections"].values())
    whole = policy in ("no-share", "migration-only")
    assert any(sum(count > 0 for count in take) > 1 for *_, take in found.values()) == (not whole)
    if policy in ("first-fit", "b1", "b2", "b4"):
        assert summary["metrics"]["mean_penalty"] > 1
        assert max(plain.most_demand) > 60
    if policy in ("no-share", "b3", "a1"):
        assert left_out > 0


@pytest.mark.thorough
@pytest.mark.parametrize("policy", POLICIES)
def test_the_same_where_distance_costs(policy, tmp_path):
    rng = np.random.default_rng([6, POLICIES.index(policy)])
    jobs = given_jobs(rng)
    costs = DistanceCosts(message_rate=1.5, staging_time=4.0, staging_data=10.0)
    settings = ["message_rate=1.5", "staging_time=4", "staging_data=10", "knowledge=truth"]
    found, summary = run(policy, jobs, tmp_path, "chunk=60", *settings, latencies=True)
    platform = Platform.from_toml(tmp_path / "platform.toml")
    expected, plain = plainly(policy, platform, jobs, chunk=60, costs=costs)
    assert_equal(found, expected)
    staging = [plain.staging(job) for job in plain.done if job.home >= 0]
    moved = [time for time in staging if time > 0]
    metrics = summary["metrics"]
    assert metrics["migrated"] == pytest.approx(len(moved) / len(staging))
    if policy == "no-share":
        assert metrics["mean_staging"] is None
    else:
        assert metrics["mean_staging"] == pytest.approx(sum(moved) / len(moved))
