"""A run under Slurm in which a job asks for longer than its partition allows."""

from __future__ import annotations

import pytest

from experiments.live.following import Follower
from experiments.scenario.scenario import Scenario
from tests.experiments.commands import call

CONF = """\
NodeName=n[1-2] CPUs=4
PartitionName=short Nodes=ALL Default=YES MaxTime=60
PartitionName=closed Nodes=ALL State=DOWN
"""
HEAD = "JobID|User|Partition|Submit|Start|End|Timelimit|AllocCPUS|State\n"
DAY = "2024-05-01T08:00:00|2024-05-01T08:00:00|2024-05-01T08:30:00"
FITS, LONG = (
    f"1|ann|short|{DAY}|00:40:00|4|COMPLETED\n",
    f"2|bob|short|{DAY}|02:00:00|2|COMPLETED\n",
)
CLOSED = f"3|bob|closed|{DAY}|00:40:00|2|COMPLETED\n"


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        (LONG, "1 of 2 jobs not finished: no scheduler started it; the time limit is above that"),
        (CLOSED, "not finished: no scheduler started it; partition closed is not up"),
        (LONG + CLOSED, "partition closed is not up and the time limit is above that of partition"),
    ],
)
def test_it_is_told_why_jobs_never_start(tmp_path, rows, told):
    (tmp_path / "slurm.conf").write_text(CONF)
    (tmp_path / "log.sacct").write_text(HEAD + FITS + rows)
    words = ["--local", "slurm", "--workload", tmp_path / "log.sacct", "--set", "processors=8"]
    words += ["--set", f"slurm_conf={tmp_path / 'slurm.conf'}", "--out", tmp_path / "out"]
    got = call("run", "site", *words)
    assert got.exit_code == 1
    assert told in " ".join(got.stderr.split())


def test_who_follows_a_job_is_told_too(tmp_path):
    (tmp_path / "slurm.conf").write_text(CONF)
    (tmp_path / "log.sacct").write_text(HEAD + FITS + LONG)
    changes = {"processors": 8, "slurm_conf": str(tmp_path / "slurm.conf")}
    log = str(tmp_path / "log.sacct")
    scenario = Scenario.load("site").changed(local_scheduler="slurm", workload=log, **changes)
    model = scenario.model(0)
    follower = Follower(model, 2)
    model.run()
    follower.look(0.0)
    waits = "waits at C1, 1st of 1 in line, never starts there: the time limit is above that of"
    assert waits in ", ".join(part for line in follower.story.lines for part in line.parts)
