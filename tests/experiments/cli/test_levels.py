"""MUSCLE over MUSCLE from the command line: what is told of it, and what is refused."""

from __future__ import annotations

import json

import pytest

from tests.experiments.commands import call

TREE = """
title = "Two regions"
global = "muscle"
local = "titan"

[[brokers]]
name = "east"

[[brokers]]
name = "west"

[[brokers]]
name = "coast"
parent = "west"

[[clusters]]
name = "A"
size = 8
broker = "east"

[[clusters]]
name = "B"
size = 6
broker = "coast"

[[clusters]]
name = "C"
size = 4
broker = "west"

[parameters]
mode = "open"
jobs = 60
load = 0.8
max_size = 4
latency = 0.5
local_share = 0.5
"""


@pytest.fixture
def tree(tmp_path, monkeypatch):
    (tmp_path / "tree.toml").write_text(TREE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.sampled(1)
@pytest.mark.parametrize("levels", [1, 2, 3])
def test_what_a_run_tells(tree, levels):
    found = call("run", "tree.toml", "--set", f"levels={levels}", "--json", "--out", "r",
                 "--events", "r/events.jsonl", "--rounds", "rounds.csv")  # fmt: skip
    assert found.exit_code == 0, found.output
    summary = json.loads(found.stdout)
    metrics = summary["metrics"]
    assert [*metrics["mean_age"]] == ["1", "2", "3"]
    assert metrics["mean_age"]["1"] > metrics["mean_age"]["2"] > 0.0
    assert [(each["name"], each["level"], each["clusters"]) for each in summary["brokers"]] == [
        ("MUSCLE", 1, 3), ("east", 2, 1), ("west", 2, 2), ("coast", 3, 1),
    ]  # fmt: skip
    messages = {each["name"]: each["messages"] for each in summary["brokers"]}
    assert messages["coast"]["sent"] > 0
    assert summary["jobs"]["completed"] == 60
    rounds = (tree / "rounds.csv").read_text().splitlines()
    assert len(rounds) == metrics["rounds"] + 1

    assert call("verify", "r").exit_code == 0
    told = [call("explain", "r", str(job)) for job in range(1, 61)]
    assert {each.exit_code for each in told} == {0}
    way = {1: "MUSCLE allocates it to B", 2: "west allocates it to B", 3: "coast allocates it to B"}
    others = [words for level, words in way.items() if level != levels]
    text = "".join(each.stdout for each in told)
    assert way[levels] in text
    assert not any(words in text for words in others)
    assert ("MUSCLE allocates it to west" in text) == (levels > 1)
    assert call("gap", "r", "--time-limit", "0.05").exit_code == (0 if levels == 1 else 2)


def test_who_knows_of_no_cluster_has_no_age_of_knowledge(tree):
    text = TREE.replace(
        "[parameters]", '[[brokers]]\nname = "spare"\nparent = "coast"\n[parameters]'
    )
    (tree / "tree.toml").write_text(text)
    found = call("run", "tree.toml", "--json", "--out", "r")
    summary = json.loads(found.stdout)
    assert summary["metrics"]["mean_age"]["4"] is None
    assert summary["metrics"]["mean_age"]["3"] > 0.0
    assert [each["mean_age"] for each in summary["brokers"] if each["name"] == "spare"] == [None]
    assert call("verify", "r").exit_code == 0
    shown = call("report", "r")
    assert shown.exit_code == 0, shown.output
    (row,) = [line for line in call("run", "tree.toml").stdout.splitlines() if "level 4" in line]
    assert row.split() == ["level", "4", "1", "-", "0", "0"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--set", "levels=4"], "levels: found 4; accepted: 1 to 3"),
        (["--set", "levels=0"], "levels: found 0; accepted: from 1"),
        (["--set", "levels=2", "--set", "coallocate=true"], "coallocate: found true; accepted"),
    ],
)
def test_what_is_refused(tree, words, told):
    found = call("run", "tree.toml", *words)
    assert found.exit_code == 2
    assert told in found.output.splitlines()[-1]


def test_a_broker_without_clusters_cannot_schedule(tree):
    (tree / "bare.toml").write_text(TREE + '[[brokers]]\nname = "bare"\n')
    assert call("run", "bare.toml", "--set", "jobs=5").exit_code == 0
    found = call("run", "bare.toml", "--set", "levels=2")
    assert found.exit_code == 2
    assert "broker bare: found no cluster below it" in found.output.splitlines()[-1]


def test_levels_of_brokers_are_a_table(tree):
    found = call("run", "tree.toml", "--set", "levels=2")
    assert found.exit_code == 0
    rows = [line.split() for line in found.stdout.splitlines() if line.startswith("level ")]
    assert [row[:3] for row in rows] == [["level", "1", "1"], ["level", "2", "2"],
                                         ["level", "3", "1"]]  # fmt: skip
    ages = [float(row[3]) for row in rows]
    assert ages[0] > ages[1] > 0.0  # of the same clusters


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("levels=1", "to the largest cluster, A"),
        ("levels=2", "to the largest of its clusters and domains"),
        ('domains=["west"]', "to the largest of its clusters and domains"),
    ],
)
def test_without_deadlines_jobs_go_to_the_largest_domain(tree, setting, told):
    words = ("--set", "assign_deadlines=false", "--set", setting, "--out", "r")
    found = call("run", "tree.toml", *words)
    assert found.exit_code == 0, found.stderr
    assert f"it sends the jobs {told}\n" in found.stderr
    where = {line.split(",")[-1][0] for line in (tree / "r/jobs.csv").read_text().split()[1:]}
    assert ("A" in where) == (setting == "levels=1")


def test_orders_that_were_lost_are_those_of_their_jobs(tree):
    words = "--set", "levels=2", "--set", "loss=0.3", "--out", "r", "--events", "r/events.jsonl"
    assert call("run", "tree.toml", *words).exit_code == 0
    events = [json.loads(line) for line in (tree / "r" / "events.jsonl").read_text().splitlines()]
    of_orders = [each for each in events if each.get("kind") == "TransferOrder"]
    lost = [job for each in of_orders if each["event"] == "lost" for job in each["jobs"]]
    assert len(lost) > 5
    assert {*lost} <= {
        job for each in of_orders if each["event"] == "message" for job in each["jobs"]
    }
    for job in sorted({*lost})[:3]:
        told = call("explain", "r", str(job)).stdout
        assert "lost" in " ".join(told.split()), told
