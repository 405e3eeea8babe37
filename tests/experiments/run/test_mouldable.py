"""Runs in which MUSCLE and TITAN choose the sizes of jobs."""

from __future__ import annotations

import json
import random

import pandas as pd
import pytest

from agents.pace import predict
from experiments.events.reading import events_of
from tests.experiments.commands import call

SIZES = (1, 2, 4, 8)
NAMED = "arrival,size,application,problem_size,sizes\n0,4,fft,1e7,"
PLATFORM = """
[[clusters]]
name = "A"
size = 8
hardware = "cluster"
broker = "north"
[[clusters]]
name = "B"
size = 16
hardware = "workstations"
broker = "south"
[[brokers]]
name = "north"
[[brokers]]
name = "south"
"""


def rows(count=60, seed=3):
    """Return jobs, of which every fifth has one size."""
    draws, lines = random.Random(seed), ["job,arrival,size,application,problem_size,sizes"]
    at = 0.0
    for job in range(1, count + 1):
        at += draws.expovariate(0.5)
        name, n = draws.choice([("fft", "1e7"), ("sweep", 100), ("memsort", "1e7")])
        sizes = "" if job % 5 == 0 else "8|1|4|2"
        lines.append(f"{job},{at:.3f},{draws.choice(SIZES)},{name},{n},{sizes}")
    return "\n".join(lines) + "\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "jobs.csv").write_text(rows())
    (tmp_path / "platform.toml").write_text(PLATFORM)
    return tmp_path


def run(*words):
    given = ("--workload", "jobs.csv", "--platform", "platform.toml", "--no-live")
    found = call("run", "quickstart", *given, *words)
    assert found.exit_code == 0, found.output
    return found


def ran(folder, out="out"):
    """Return the jobs of a result, with those that they were."""
    left = pd.read_csv(folder / out / "jobs.csv").set_index("job")
    return left.join(pd.read_csv(folder / "jobs.csv").set_index("job").add_suffix("_given"))


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "more",
    [
        (),
        ("--local", "fcfs"),
        ("--global", "dll"),
        ("--set", "levels=2", "--set", "latency=0.5"),
        ("--set", "mean_up_time=300", "--set", "mean_down_time=20"),
        ("--set", "prediction=learned", "--set", "prediction_error=0.5"),
        ("--set", "prediction=pace", "--set", "prediction_error=[2, 1]"),
        ("--set", "local_share=1", "--set", "staging_time=1", "--set", "latency=0.1"),
    ],
)
def test_every_job_runs_with_one_of_its_sizes_for_as_long_as_that_takes(folder, more):
    run("--set", "mouldable=true", "--out", "out", *more)
    verified = call("verify", "out")
    assert verified.exit_code == 0, verified.output
    jobs = ran(folder)
    assert len(jobs) == 60
    assert jobs["size"].isin(SIZES).all()
    rigid = jobs["sizes_given"].isna()
    assert (jobs["size"] == jobs["size_given"])[rigid].all()
    assert (jobs["size"] != jobs["size_given"]).sum() > 10
    if "staging_time=1" in more:
        return
    hardware = jobs["placement"].str[0].map({"A": "cluster", "B": "workstations"})
    given = zip(
        jobs["application_given"], hardware, jobs["size"], jobs["problem_size_given"], strict=True
    )
    times = [predict(name, kind, int(size), n) for name, kind, size, n in given]
    assert (jobs["finish"] - jobs["start"]).tolist() == pytest.approx(times)


def test_rounding_is_no_error_of_predictions(folder):
    told = run("--set", "mouldable=true", "--set", "prediction=pace", "--out", "out").stdout
    (result,) = folder.glob("out/summary.json")
    metrics = json.loads(result.read_text())["metrics"]
    assert (metrics["mean_prediction_error"], metrics["prediction_accuracy"]) == (0.0, 1.0)
    assert "off" not in told.split()


def test_sizes_alone_change_nothing(folder):
    run("--out", "with")
    alone = pd.read_csv(folder / "jobs.csv").drop(columns="sizes")
    alone.to_csv(folder / "jobs.csv", index=False)
    run("--out", "without")
    with_sizes, without = (
        (folder / name / "jobs.csv").read_bytes() for name in ("with", "without")
    )
    assert with_sizes == without


def test_who_may_not_is_told_of_as_if_it_could_not(folder):
    told = run("--events", "events.jsonl", "--out", "out").output
    assert "mouldable" not in told
    events = [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]
    assert not any("sizes" in event for event in events)


def test_bits_depend_on_the_seed_alone(folder):
    run("--set", "mouldable=true", "--out", "one", "--set", "step=1")
    run("--set", "mouldable=true", "--out", "two", "--set", "step=77")
    one, two = ((folder / name / "jobs.csv").read_bytes() for name in ("one", "two"))
    assert one == two


def test_its_story_says_who_gave_it_which_size(folder):
    run("--set", "mouldable=true", "--out", "out", "--events", "out/events.jsonl")
    jobs = ran(folder)
    job = int(jobs.index[(jobs["size"] != jobs["size_given"])][0])
    story = call("explain", "out", str(job)).stdout
    size = jobs.loc[job, "size"]
    words = "1 processor" if size == 1 else f"{size} processors"
    assert f"Job {job}: {jobs.loc[job, 'size_given']} processor" in story
    assert "it may have 1, 2, 4 or 8 processors" in story
    assert f"starts on {words} of" in story
    assert f"on {words}" in story.split("plans it")[1].splitlines()[0]
    events = [*events_of(folder / "out" / "events.jsonl", _summary(folder), "explain")]
    planned = [event for event in events if event["event"] == "planned"]
    assert planned
    assert all(len(event["sizes"]) == len(event["jobs"]) for event in planned)


def _summary(folder):
    return json.loads((folder / "out" / "summary.json").read_text())


def test_jobs_keep_their_processors_where_they_are_counted(folder):
    run("--set", "mouldable=true", "--out", "out", "--set", "latency=0")
    path = folder / "out" / "jobs.csv"
    text = path.read_text().splitlines()
    cells = text[1].split(",")
    cells[2] = "3"  # none of its sizes
    cells[5] = cells[5].split(":")[0] + ":3"
    path.write_text("\n".join([text[0], ",".join(cells), *text[2:]]) + "\n")
    assert call("verify", "out").exit_code == 1


def test_without_sizes_the_parameter_is_said_to_mean_nothing(folder):
    for_all = pd.read_csv(folder / "jobs.csv").drop(columns="sizes")
    for_all.to_csv(folder / "jobs.csv", index=False)
    told = run("--set", "mouldable=true").output
    assert "without effect: mouldable (no job names several sizes)" in " ".join(told.split())


@pytest.mark.parametrize(
    ("table", "found"),
    [
        (NAMED + "4|x", "jobs.csv:2: sizes is '4|x'"),
        (NAMED + "0|4", "jobs.csv:2: sizes is '0|4'"),
        (NAMED + "2|8", "the size, 4, among them"),
        ("arrival,size,runtime,sizes\n0,4,9,4|8", "column sizes without problem_size; accepted"),
        (
            "arrival,size,runtime,application,problem_size,sizes\n0,4,9,fft,1e7,4|8",
            "column sizes beside runtime; accepted: with application",
        ),
        (
            "arrival,components,application,problem_size,sizes\n0,2+2,fft,1e7,4|8",
            "jobs.csv:2: sizes of a job with components",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_is_said_in_a_line(folder, table, found):
    (folder / "jobs.csv").write_text(table + "\n")
    given = ("--workload", "jobs.csv", "--platform", "platform.toml", "--no-live")
    ran = call("run", "quickstart", *given, "--set", "mouldable=true")
    assert ran.exit_code == 2
    assert found in ran.stderr
    assert len(ran.stderr.splitlines()) == 1
