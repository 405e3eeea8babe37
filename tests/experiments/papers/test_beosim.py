"""The scenario of `beosim`: its parameters, its workload, given jobs, and what it refuses."""

from __future__ import annotations

import csv
import json
import re

import pytest
from click.testing import CliRunner

from agents.registry import GLOBAL
from experiments.cli.app import main
from experiments.run.running import run
from experiments.scenario.scenario import Scenario
from grid.platform.multicluster import Platform

POLICIES = [name for name, where in GLOBAL.items() if "coallocation" in where]
KEYS = (
    *("bsbw=500", "lslt=100", "chunk=85", "penalty=1.3", "jobs_per_cluster=400", "clusters=3"),
    *("nodes=60", "size_low=5", "size_high=40", "interarrival=150", "runtime=450"),
    *("computation_fraction=0.7", "link_mbps=1000"),
)


def told(*arguments, status=0):
    got = CliRunner().invoke(main, ["run", "beosim", *arguments])
    assert got.exit_code == status, got.output
    return got


def settings(*keys):
    return [word for key in keys for word in ("--set", key)]


def test_section_6_is_the_default():
    scenario = Scenario.load("beosim")
    p = scenario.parameters
    assert (p.mode, p.jobs_per_cluster, p.interarrival) == ("per-cluster", 400_000, 150.0)
    assert (p.min_size, p.max_size, p.sizes) == (10, 50, "uniform")
    assert (p.runtimes, p.mean_runtime, p.computation_fraction) == ("exponential", 450.0, 0.7)
    assert (p.bsbw, p.lslt, p.chunk, p.selection, p.solution) == (500.0, 100.0, 85, "fpfs", "first")
    assert scenario.platform.sizes.tolist() == [100] * 4
    links = scenario.platform.to_dict()["links"]
    assert [link["capacity"] for link in links] == [1000.0] * 4


OF_SOME = {"lslt", "chunk", "penalty"}
READ = {
    **{name: {"lslt"} for name in ("a1", "b1", "b2", "b4", "adaptive")},
    "b3": {"lslt", "chunk"},
    "fixed-penalty": {"penalty"},
}
"""Which of these parameters a policy reads."""


@pytest.mark.parametrize("policy", POLICIES)
def test_every_key_is_accepted_whatever_the_policy(policy):
    got = told("--global", policy, *settings(*KEYS), "--seed", "1", "--json")
    summary = json.loads(got.stdout)
    assert summary["jobs"]["completed"] == 1200
    metrics = summary["metrics"]
    assert metrics["stable"] in (True, False)
    assert 0 < metrics["utilization"] <= 1
    assert metrics["mean_wait"] < metrics["mean_turnaround"]
    splits = policy not in ("no-share", "migration-only")
    assert (metrics["coallocated"] > 0) == splits
    if policy == "fixed-penalty":
        assert metrics["mean_penalty"] == pytest.approx(1.3)
    elif not splits:
        assert metrics["mean_penalty"] is None
    elif policy in ("ideal", "a1", "adaptive"):
        assert metrics["mean_penalty"] == pytest.approx(1.0)
    else:
        assert metrics["mean_penalty"] > 1.0
    assert [each["size"] for each in summary["clusters"]] == [60] * 3
    assert summary["parameters"]["min_size"] == 5
    line = next(line for line in got.stderr.splitlines() if "without effect" in line)
    named = {*re.findall(r"\w+", re.sub(r"\([^)]*\)", "", line.partition("effect: ")[2]))}
    assert named & OF_SOME == OF_SOME - READ.get(policy, set())
    assert ("bsbw" in named) == (policy in ("ideal", "fixed-penalty") or not splits)


def test_the_workload_depends_on_no_policy():
    scenario = Scenario.load("beosim").changed(["jobs_per_cluster=200"])
    first, second = (
        run(scenario.changed([], global_scheduler=policy), 3).jobs for policy in ("a1", "no-share")
    )
    for column in ("job", "arrival", "size", "origin", "execution_time"):
        assert (first[column] == second[column]).all()


def test_a_platform_of_the_user_is_kept():
    platform = Platform.star([30, 60, 90], capacity=[100, 200, 300])
    base = Scenario.load("beosim").changed([], platform=platform)
    assert base.platform == platform
    faster = base.changed(["link_mbps=50"])
    assert faster.platform.sizes.tolist() == [30, 60, 90]
    assert {link["capacity"] for link in faster.platform.to_dict()["links"]} == {50.0}
    star = base.changed(["clusters=5"]).platform
    assert star.sizes.tolist() == [30] * 5
    assert {link["capacity"] for link in star.to_dict()["links"]} == {100.0}


def test_given_jobs_under_a_policy(tmp_path):
    """Two jobs fit nowhere whole; both need 250 Mbit/s of links of 400 and get 4/5 of that."""
    path, out = tmp_path / "jobs.csv", tmp_path / "out"
    ppbw = 250 * 9 / 25  # five of ten nodes on either side
    path.write_text(
        "arrival,size,runtime,origin,computation_fraction,ppbw\n"
        f"0,10,100,C1,0.5,{ppbw}\n"
        f"0,10,100,C2,0.5,{ppbw}\n"
    )
    told(
        *settings("clusters=4", "nodes=5", "link_mbps=200"),
        *("--global", "first-fit", "--workload", str(path), "--out", str(out)),
    )
    with open(out / "jobs.csv") as file:
        rows = list(csv.DictReader(file))
    assert [row["placement"] for row in rows] == ["C1:5+C2:5", "C3:5+C4:5"]
    assert [float(row["finish"]) for row in rows] == pytest.approx([50 + 50 * 250 / 200] * 2)
    verified = CliRunner().invoke(main, ["verify", str(out)])
    assert verified.exit_code == 0, verified.output


def test_result_of_the_scenario_passes_its_own_check(tmp_path):
    told(*settings("jobs_per_cluster=150", "clusters=3"), "--out", str(tmp_path / "out"))
    verified = CliRunner().invoke(main, ["verify", str(tmp_path / "out")])
    assert verified.exit_code == 0, verified.output


def test_an_unstable_run_says_so():
    got = told(*settings("jobs_per_cluster=1500", "bsbw=900"), "--global", "first-fit")
    assert "not stable" in got.stdout
    assert "co-allocated jobs" in got.stdout


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("computation_fraction=1.1", "computation_fraction: found 1.1; "),
        ("computation_fraction=-0.1", "computation_fraction: found -0.1; "),
        ("bsbw=-1", "bsbw: found -1; "),
        ("bsbw=nan", "bsbw: found nan; "),
        ("lslt=0", "lslt: found 0; "),
        ("lslt=-5", "lslt: found -5; "),
        ("chunk=101", "chunk: found 101; "),
        ("chunk=-1", "chunk: found -1; "),
        ("chunk=84.5", "chunk: found 84.5; "),
        ("penalty=0.5", "penalty: found 0.5; "),
        ("link_mbps=0", "link_mbps: found 0; "),
        ("link_mbps=1e-300", "link_mbps: found 1e-300; "),
        ("link_mbps=-1", "link_mbps: found -1; "),
        ("lslt=inf", "lslt: found inf; "),
        ("message_rate=-1", "message_rate: found -1; "),
        ("staging_time=nan", "staging_time: found nan; "),
        ("staging_data=inf", "staging_data: found inf; "),
        ("clusters=0", "clusters: found 0; "),
        ("clusters=many", "clusters: found 'many'; "),
        ("nodes=1.5", "nodes: found 1.5; "),
        ("interarrival=0", "interarrival: found 0; "),
        ("size_low=0", "size_low: found 0; "),
        ("size_low=60", "size_low: found 60; accepted: up to max_size, 50"),
        ("runtime=-1", "runtime: found -1; "),
        ("solution=best", "solution: found 'best'; "),
        (
            "size_high=401",
            "size_high: found 401; accepted: at most 400, all processors of the grid",
        ),
    ],
)
@pytest.mark.parametrize("policy", ["b3", "migration-only"])
def test_bad_settings(setting, words, policy):
    got = told("--set", setting, "--global", policy, "--json", status=2)
    assert words in got.stderr
    assert got.stderr.count("\n") == 1
    assert got.stdout == ""


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("0,401,10,C1,0.5,1", "size of job 2: found 401; accepted: at most 400, all processors"),
        ("0,8,10,C1,1.5,1", "jobs.csv:3: computation_fraction is '1.5'; accepted: a number from 0"),
        ("0,8,10,C1,0.5,-1", "jobs.csv:3: ppbw is '-1'; accepted: Mbit/s, from 0"),
        ("0,8,10,C1,0.5,1e300", "jobs.csv:3: ppbw is '1e300'; accepted: Mbit/s, from 0 to 1e+12"),
        ("0,8,10,C1,nan,1", "jobs.csv:3: computation_fraction is 'nan'; accepted: a number from"),
        ("0,8,10,C1,0.5,inf", "jobs.csv:3: ppbw is 'inf'; accepted: Mbit/s, from 0 to 1e+12"),
        ("inf,8,10,C1,0.5,1", "jobs.csv:3: arrival is 'inf'; accepted: seconds, from 0 to 1e+12"),
        ("0,8,10,C9,0.5,1", "jobs.csv:3: origin is 'C9'; accepted: one of C1, C2, C3, C4"),
    ],
)
def test_bad_jobs(tmp_path, row, words):
    path = tmp_path / "jobs.csv"
    header = "arrival,size,runtime,origin,computation_fraction,ppbw"
    path.write_text(f"{header}\n0,8,10,C1,0.5,1\n{row}\n")
    for policy in ("b3", "no-share"):
        got = told("--workload", str(path), "--global", policy, status=2)
        assert words in got.stderr
        assert got.stderr.count("\n") == 1


def test_a_job_larger_than_the_grid_is_named_with_its_log(tmp_path):
    large, small = tmp_path / "large.csv", tmp_path / "small.csv"
    for path, size in ((large, 401), (small, 40)):
        path.write_text(f"arrival,size,runtime\n0,{size},10\n")
    got = told("--workload", f"C1={small}", "--workload", f"C3={large}", status=2)
    assert got.stderr.startswith(f"metasched: {large}: size of job 1: found 401; accepted: at most")


def test_jobs_that_can_never_start_are_rejected_with_their_reasons(tmp_path):
    path, out = tmp_path / "jobs.csv", tmp_path / "out"
    path.write_text(
        "job,arrival,size,runtime,origin\n1,0,40,10,C1\n2,1,60,10,C1\n3,2,130,10,C1\n4,3,90,10,\n"
        "5,3,50,10,C3\n"
    )
    platform = tmp_path / "platform.toml"
    platform.write_text(
        "".join(
            f'[[clusters]]\nname = "C{n}"\nsize = {size}\n'
            for n, size in enumerate((50, 90, 20), 1)
        )
    )
    events = out / "events.jsonl"
    words = "--platform", str(platform), "--workload", str(path), "--out", str(out)
    for policy, number, expected in (
        ("no-share", "mode=open", [2, 3, 5]),
        ("b3", "mode=per-cluster", [3]),
    ):
        got = told("--global", policy, "--set", number, *words, "--events", str(events))
        summary = json.loads((out / "summary.json").read_text())
        assert summary["jobs"]["rejected"] == len(expected)
        assert summary["rejected_jobs"] == expected
        nowhere = {"refused by the global scheduler": 2} if policy == "no-share" else {}
        whole, placed = "any cluster, and the global scheduler splits none", "the global scheduler"
        never = whole if policy == "no-share" else f"{placed} ever places"
        assert summary["rejections"] == {f"larger than {never}": 1} | nowhere
        if policy == "no-share":
            assert "3 jobs rejected: 2, 3, 5\n" in got.stdout
            assert f"  1: larger than {whole}\n" in got.stdout
            assert "  2: refused by the global scheduler\n" in got.stdout
        else:
            why = "larger than the global scheduler ever places"
            assert f"1 job rejected, {why}: job 3\n" in got.stdout
        verified = CliRunner().invoke(main, ["verify", str(out)])
        assert verified.exit_code == 0, verified.output
    told("--global", "no-share", "--set", "mode=open", *words, "--events", str(events))
    with open(events) as file:
        heard = [event for event in map(json.loads, file) if event.get("job") in (2, 3)]
    steps = [
        (event["job"], event["time"], event["event"]) for event in heard if "kind" not in event
    ]
    assert steps == [
        *((2, 1.0, step) for step in ("submitted", "known", "rejected")),
        *((3, 2.0, step) for step in ("submitted", "rejected")),
    ]
    assert [event["reason"] for event in heard if event["event"] == "rejected"] == [
        "refused by the global scheduler",
        f"larger than {whole}",
    ]
    explained = CliRunner().invoke(main, ["explain", str(out), "2"])
    assert "is rejected, refused by the global scheduler" in " ".join(explained.stdout.split())
    summary = json.loads((out / "summary.json").read_text())
    summary["rejections"]["refused by the global scheduler"] = 1
    (out / "summary.json").write_text(json.dumps(summary))
    verified = CliRunner().invoke(main, ["verify", str(out)])
    assert verified.exit_code == 1
    assert "rejections: the summary has 2, and 3 rejected_jobs" in " ".join(verified.stdout.split())


def test_staging_is_told(tmp_path):
    path, out = tmp_path / "jobs.csv", tmp_path / "out"
    path.write_text("job,arrival,size,runtime,origin\n1,0,100,10,C1\n2,1,100,10,C1\n")
    words = "--workload", str(path), "--out", str(out), "--events", str(out / "events.jsonl")
    got = told(*settings("staging_time=5", "staging_data=250", "mode=open"), *words)
    summary = json.loads((out / "summary.json").read_text())
    assert (summary["metrics"]["migrated"], summary["metrics"]["mean_staging"]) == (0.5, 7.0)
    assert summary["metrics"]["mean_turnaround"] == 13.5
    assert "mean staging 7 s" in " ".join(got.stdout.split())
    explained = CliRunner().invoke(main, ["explain", str(out), "2"]).stdout
    assert "its data are there at 8 s" in " ".join(explained.split())
    assert "its data" not in CliRunner().invoke(main, ["explain", str(out), "1"]).stdout
    with open(out / "events.jsonl") as file:
        starts = [event for event in map(json.loads, file) if event["event"] == "started"]
    assert [event.get("staging") for event in starts] == [None, 7.0]
    assert CliRunner().invoke(main, ["verify", str(out)]).exit_code == 0
    rows = (out / "jobs.csv").read_text()
    (out / "jobs.csv").write_text(rows.replace("18.0", "17.0"))
    verified = CliRunner().invoke(main, ["verify", str(out)])
    assert "job 2: runs for 16.0 s; its execution time is 17.0 s" in " ".join(
        verified.stdout.split()
    )


def test_staging_without_origins_has_no_effect():
    got = told(*settings("staging_time=5", "mode=open", "jobs=20", "jobs_per_cluster=5"))
    assert "staging_time (local_share is 0: no job has an origin)" in got.stderr
