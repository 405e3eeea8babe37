"""A run in which jobs are preempted: its story, its events, its numbers, and its checks."""

from __future__ import annotations

import json

import pytest

from experiments.show.page import cluster_table
from experiments.show.run_data import Ran
from experiments.show.words import found as sentences
from tests.experiments.commands import call

CONF = """\
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
NodeName=n[1-2] CPUs=4
PartitionName=DEFAULT Nodes=ALL
PartitionName=batch Default=YES
PartitionName=urgent PriorityTier=2
"""
LOG = """\
JobID|User|Partition|Submit|Start|End|Timelimit|AllocCPUS|State
1|ann|batch|2024-05-01T08:00:00|2024-05-01T08:00:00|2024-05-01T09:00:00|01:10:00|4|COMPLETED
2|bob|batch|2024-05-01T08:00:00|2024-05-01T08:00:00|2024-05-01T08:30:00|00:40:00|4|COMPLETED
3|eve|urgent|2024-05-01T08:10:00|2024-05-01T09:00:00|2024-05-01T09:15:00|00:20:00|6|COMPLETED
4|bob|batch|2024-05-01T08:12:00|2024-05-01T09:00:00|2024-05-01T09:05:00|00:10:00|2|COMPLETED
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("preempted")
    (path / "slurm.conf").write_text(CONF)
    (path / "log.sacct").write_text(LOG)
    words = ["--local", "slurm", "--workload", path / "log.sacct", "--set", "processors=8"]
    words += ["--set", f"slurm_conf={path / 'slurm.conf'}", "--out", path / "out"]
    got = call("run", "site", *words, "--events", path / "out" / "events.jsonl")
    assert got.exit_code == 0, got.output
    assert "2, 2 by preemption, 80 processor-min lost" in got.stdout
    return path / "out"


def test_its_story_says_who_preempted_it_and_when_it_starts_again(folder):
    story = " ".join(call("explain", folder, 1).stdout.split())
    assert "600 s 2024-05-01 08:10:00 job 3 preempts it, what it has done is lost" in story
    assert "starts again on 4 processors of C1, 25 min after its submission" in story
    assert "it needs 4 processors and made room for job 3" in story
    assert "fail" not in story
    other = " ".join(call("explain", folder, 3).stdout.split())
    assert "starts on 6 processors of C1, at once preempts jobs 1, 2" in other


def test_its_clusters_count_from_last_starts(folder):
    ran = Ran.read(folder)
    (cluster,) = ran.summary["clusters"]
    assert cluster["makespan"] == 75 * 60.0  # though the first job started 10 min before
    assert "only the last start counts for these two" in cluster_table(ran.summary).note


def test_events_tell_it(folder):
    events = [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]
    found = [
        (event["time"], event["job"], event["restarts"], event["by"])
        for event in events
        if event["event"] == "preempted"
    ]
    assert found == [(600.0, 1, 1, 3), (600.0, 2, 1, 3)]
    assert "restarted" not in {event["event"] for event in events}
    of_first = [event["event"] for event in events if event.get("job") == 1]
    assert of_first[-5:] == ["started", "preempted", "landed", "started", "finished"]


def test_numbers_and_checks(folder):
    summary = json.loads((folder / "summary.json").read_text())
    for row in (summary["metrics"], *summary["clusters"]):
        assert (row["restarts"], row["preemptions"], row["lost_work"]) == (2, 2, 4800.0)
    assert call("verify", folder).exit_code == 0
    told = " ".join(str(each) for each in sentences(Ran.read(folder)))
    assert "Preemption threw jobs back twice" in told
    assert "ailures" not in told


def test_restarts_that_are_no_preemptions_are_found(folder):
    whole = (folder / "summary.json").read_text()
    summary = json.loads(whole)
    summary["metrics"]["preemptions"] = summary["clusters"][0]["preemptions"] = 1
    try:
        (folder / "summary.json").write_text(json.dumps(summary))
        got = call("verify", folder)
    finally:
        (folder / "summary.json").write_text(whole)
    assert got.exit_code == 1
    assert "1 that are no preemptions; nothing can fail" in " ".join(got.stdout.split())


def test_without_preemption_nothing_is_said_of_it(folder):
    log = folder.parent / "log.sacct"
    words = ["--local", "slurm", "--workload", log, "--set", "processors=8", "--json"]
    got = call("run", "site", *words)
    assert got.exit_code == 0, got.output
    assert "preemptions" not in json.loads(got.stdout)["metrics"]
