"""Why jobs wait though enough processors are free, and start though none become free."""

from __future__ import annotations

import json

import numpy as np
import pytest

from experiments.events.explain import explain
from tests.experiments.commands import call

LATE = "job,arrival,size,runtime\n1,0,1,10\n2,0,1,14\n3,1,3,4\n4,2,1,30\n"
"""Where predictions are half as long: at 7 s job 2 should have ended, and job 4 may start."""
SPLIT = "job,arrival,size,runtime\n1,0,6,10\n2,1,8,5\n3,2,2,20\n4,3,2,6\n"


def told(folder, jobs, job, clusters, *words):
    (folder / "jobs.csv").write_text(jobs)
    out = folder / "out"
    words = (
        *words,
        "--workload",
        folder / "jobs.csv",
        "--set",
        f"prediction_error={[0.5] * clusters}",
    )
    got = call("run", *words, "--out", out, "--events", out / "events.jsonl")
    assert got.exit_code == 0, got.output
    return [", ".join(parts) for _, parts in explain(out, job)[0].lines]


@pytest.mark.parametrize(
    ("local", "spared"), [("easy", "the first in line"), ("conservative", "one with a reservation")]
)
def test_a_job_that_a_reservation_holds_back_is_told_so(tmp_path, local, spared):
    words = "site", "--global", "dll", "--local", local, "--set", "nodes=4"
    story = told(tmp_path, LATE, 4, 1, *words)
    assert story[1].startswith("starts on 1 processor of C1, 5 s after")
    assert story[3] == (
        f"enough were free meanwhile, but {local} starts no job that is expected to delay "
        f"{spared}, one or more of jobs 1, 2 should have ended just then"
    )


@pytest.mark.parametrize(
    ("local", "times", "first"),
    [
        ("sjf", (9, 3, 20), "the shortest, as expected"),
        ("ljf", (3, 9, 2), "the longest, as expected"),
        ("fair-share", (9, 9, 9), "that of the user who has used least"),
        ("fcfs", (9, 3, 20), None),
    ],
)
def test_why_later_jobs_are_served_first_is_told(tmp_path, local, times, first):
    rows = (f"{job},{job - 1},1,{time},{job == 3:d}" for job, time in enumerate((10, *times), 1))
    jobs = "\n".join(["job,arrival,size,runtime,user", *rows])
    words = "site", "--local", local, "--set", "nodes=1"
    stories = [" ".join(told(tmp_path, jobs, job, 1, *words)) for job in (2, 3, 4)]
    why = f"job 3 started there before it, {local} serves first {first}"
    assert (why in stories[0]) is (first is not None)
    assert not any("serves first" in story for story in stories[1:])  # none came later


def test_a_job_that_waits_for_a_loop_of_slurm_is_told_so(tmp_path):
    words = "site", "--global", "dll", "--local", "slurm", "--set", "nodes=4"
    jobs = "job,arrival,size,runtime\n1,0,3,100\n2,1,1,100\n"
    story = " ".join(told(tmp_path, jobs, 2, 1, *words))
    assert "enough were free meanwhile, but slurm starts jobs in its loops alone, beside" in story


@pytest.mark.thorough
def test_jobs_that_titan_has_wait_beside_free_processors_are_told_so(tmp_path):
    out, jobs = tmp_path / "out", 60
    words = "site", "--local", "titan", "--set", f"jobs={jobs}", "--set", "nodes=12"
    words += "--set", "load=1.5", "--set", "max_size=6"
    got = call("run", *words, "--out", out, "--events", out / "events.jsonl")
    assert got.exit_code == 0
    events = [json.loads(line) for line in (out / "events.jsonl").read_text().splitlines()]
    free, now, waits, after = 12, 0.0, {}, []  # what is free once an instant is over
    needs = {each["job"]: each["size"] for each in events if each["event"] == "submitted"}
    for event in events:
        if event["time"] > now:
            after.append((now, free))
            now = event["time"]
        if event["event"] == "landed":
            waits[event["job"]] = (now, np.inf)
        elif event["event"] == "started":
            free -= needs[event["job"]]
            waits[event["job"]] = waits[event["job"]][0], now
        elif event["event"] == "finished":
            free += needs[event["job"]]
    found = []
    for job, (landed, start) in waits.items():
        room = [free >= needs[job] for time, free in after if landed <= time < start]
        story = " ".join(", ".join(parts) for _, parts in explain(out, job)[0].lines)
        assert ("but titan starts jobs by its plan alone" in story) == any(room), job
        if room and room[-1]:
            assert "room" not in story, job
        found.append(any(room))
    assert sum(found) > 3
    assert len(found) == jobs


@pytest.mark.parametrize(
    ("local", "whom"),
    [
        ("fcfs", "before the first in line"),
        ("sjf", "before the first in line"),
        ("fpfs", "before one that was overtaken local_max_jumps times"),
        ("ljf", ""),
    ],
)
def test_a_job_that_the_order_of_its_queue_holds_back_is_told_so(tmp_path, local, whom):
    words = "site", "--global", "dll", "--local", local, "--set", "nodes=4"
    words += ("--set", "local_max_jumps=0") if local == "fpfs" else ()
    story = " ".join(told(tmp_path, LATE, 4, 1, *words))
    assert (f"enough were free meanwhile, but {local} starts no job {whom}," in story) == bool(whom)
    assert ("enough were" in story) == bool(whom)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("selection", "job", "whom"),
    [
        ("easy", 4, "that is expected to delay the first in line"),
        ("fcfs", 4, "before the first in line"),
        ("fpfs", 4, ""),
        ("easy", 2, ""),
    ],
)
def test_a_job_that_the_global_queue_holds_back_is_told_so(tmp_path, selection, job, whom):
    clusters = "".join(f'[[clusters]]\nname = "{name}"\nsize = 4\n' for name in "AB")
    text = f'global = "first-fit"\nlocal = "fcfs"\n{clusters}[parameters]\nmode = "open"\n'
    (tmp_path / "two.toml").write_text(f'{text}selection = "{selection}"\n')
    story = " ".join(told(tmp_path, SPLIT, job, 2, tmp_path / "two.toml"))
    why = f"B had enough free meanwhile, but selection={selection} starts no job {whom}"
    assert (why in story) == bool(whom)
    assert ("had enough" in story) == bool(whom)
