"""`metasched explain`: jobs that share a number have a story each."""

from __future__ import annotations

import json
import re

import pytest

from experiments.events.explain import explain
from grid.errors import GridError
from tests.experiments.commands import call


def test_jobs_of_one_number_have_a_story_each(tmp_path):
    rows = ["1,0,1,10", "1,3,1,10", "2,4,1,5"]
    (tmp_path / "jobs.csv").write_text("\n".join(["job,arrival,size,runtime", *rows]) + "\n")
    out = tmp_path / "out"
    words = "--workload", tmp_path / "jobs.csv", "--out", out, "--events", out / "events.jsonl"
    assert call("run", "site", *words).exit_code == 0
    first, second = explain(out, 1)
    assert first.heading == "Job 1 (1st), submitted at 0 s: 1 processor, no deadline"
    assert second.heading == "Job 1 (2nd), submitted at 3 s: 1 processor, no deadline"
    assert [time for time, _ in first.lines] == [0, 0, 10]
    assert "job 1 (1st) running there" in ", ".join(second.lines[2].parts)
    (third,) = explain(out, 2)
    assert "job 1 (1st) running there, job 1 (2nd) waiting there already" in ", ".join(
        third.lines[2].parts
    )
    told = call("explain", out, 1).stdout
    assert told.index("Job 1 (1st)") < told.index("Job 1 (2nd)")
    stories = json.loads(call("explain", out, 1, "--json").stdout)["stories"]
    assert [story["heading"] for story in stories] == [first.heading, second.heading]
    log = (out / "events.jsonl").read_text()
    (tmp_path / "old").write_text(re.sub(r'"which": \d, ', "", log))
    with pytest.raises(GridError, match="job 1: found a second one that nothing tells from"):
        explain(out, 1, tmp_path / "old")


def test_jobs_that_are_equal_in_all_have_a_story_each(tmp_path):
    rows = ["1,0,10,50"] * 2 + ["2,5,10,20"]
    (tmp_path / "jobs.csv").write_text("\n".join(["job,arrival,size,runtime", *rows]) + "\n")
    out = tmp_path / "out"
    words = "--workload", tmp_path / "jobs.csv", "--out", out, "--events", out / "events.jsonl"
    assert call("run", "muscle", *words, "--global", "dll", "--local", "fcfs").exit_code == 0
    stories = explain(out, 1)
    assert [story.heading.partition(",")[0] for story in stories] == ["Job 1 (1st)", "Job 1 (2nd)"]
    lines = (out / "jobs.csv").read_text().splitlines()[1:3]
    for story, line, cluster in zip(stories, lines, ("C1", "C2"), strict=True):
        assert line.endswith(f",{cluster}:10")
        starts = [
            part for _, parts in story.lines for part in parts if part.startswith("starts on")
        ]
        assert starts == [f"starts on 10 processors of {cluster}"]
        assert story.lines[-1][1][0].startswith("finishes after")


def test_jobs_of_one_number_are_told_apart_in_rounds(tmp_path):
    paths = [tmp_path / "A.csv", tmp_path / "B.csv"]
    for path, run_time in zip(paths, (10, 20), strict=True):
        path.write_text(f"job,arrival,size,runtime\n7,0,2,{run_time}\n")
    (tmp_path / "platform.toml").write_text(
        '[[clusters]]\nname = "A"\nsize = 4\n[[clusters]]\nname = "B"\nsize = 2\n'
    )
    out = tmp_path / "out"
    words = ["--platform", tmp_path / "platform.toml", "--set", "mode=open", "--out", out]
    for name, path in zip("AB", paths, strict=True):
        words += ["--workload", f"{name}={path}"]
    assert call("run", "muscle", *words, "--events", out / "events.jsonl").exit_code == 0
    stories = explain(out, 7)
    for name, story in zip("AB", stories, strict=True):
        text = "\n".join(", ".join(line.parts) for line in story.lines)
        assert f"submitted through {name} at 0 s" in story.heading
        assert text.startswith(f"submitted through {name}, ")
        assert text.count("MUSCLE allocates it to") == text.count("starts on 2 processors") == 1
    log = (out / "events.jsonl").read_text()
    (tmp_path / "short").write_text(re.sub(r'"which": \[[^]]*\]', '"which": []', log))
    with pytest.raises(GridError, match=r"which: found .*; accepted: one for each of the jobs"):
        explain(out, 7, tmp_path / "short")
