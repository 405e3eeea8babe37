"""A run under Slurm in which a job asks for longer than its partition allows."""

from __future__ import annotations

import pytest

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
        (LONG, "1 of 2 jobs not finished: no scheduler started them; the time limit is above that"),
        (CLOSED, "not finished: no scheduler started them; partition closed is not up"),
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
    story = " ".join(call("explain", tmp_path / "out", int(rows[0])).stdout.split())
    assert "waits at C1" in story
    assert "never starts there: " in story
