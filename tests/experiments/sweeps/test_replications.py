"""Independent replications of a run."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from dataclasses import replace

import pytest
from click.testing import CliRunner

from agents.schedulers import GlobalScheduler
from experiments.cli.app import main
from experiments.run.files import REPLICATIONS, RESULT
from experiments.run.running import run
from experiments.scenario.scenario import Scenario
from experiments.sweeps.observations import observe_run
from experiments.sweeps.replications import replicate
from experiments.sweeps.run_store import RUNS
from experiments.sweeps.statistics import mean_interval
from grid.platform.changes import Change
from tests.agents.small_grids import PLATFORM

SETTINGS = ["jobs_per_cluster=400", "warmup=100"]


class Silent:
    """Is told how many runs there were to do."""

    def __init__(self):
        self.runs = []

    def prepare(self, words):
        pass

    def begin(self, kept, forecast, under_way=tuple):
        self.runs.append((forecast.runs, kept))

    def advance(self, piece, took):
        pass


@pytest.mark.thorough
def test_it_is_said_where_pb_says_no_more_than_mcp():
    words = ["quickstart", "--set", "jobs=40", "--replications", 2]
    says = "planned PB says no more than MCP: each round, or the run, is of one job or on one"
    assert says in " ".join(call(*words, "--set", "round_threshold=auto").output.split())
    alone = call("quickstart", "--set", "jobs=1", "--replications", 2).output
    assert " PB says no more than MCP: " in " ".join(alone.split())
    assert "prediction accuracy" not in alone
    assert "mean, 95 % confidence" in alone
    one = call("quickstart", "--set", "jobs=1", "--replications", 1).output
    assert "of one run, without an interval" in one
    assert "95 %" not in one
    in_rounds = call(*words, "--set", "mode=batch", "--set", "queue=20").output
    assert "planned PB" in in_rounds
    assert "says no more than MCP" not in " ".join(in_rounds.split())


def beosim(policy, *settings):
    return Scenario.load("beosim").changed([*SETTINGS, *settings], global_scheduler=policy)


def observed(scenario, seed=1):
    """Return what is kept of a run, and its model."""
    model = scenario.model(seed)

    def steps():
        while model.running:
            model.step()
            yield

    return observe_run(scenario, model, steps()), model


def call(*words):
    return CliRunner().invoke(main, ["run", *map(str, words)])


@pytest.mark.thorough
def test_a_folder_has_the_files_of_what_was_asked_last_and_ones_own(tmp_path):
    (tmp_path / "users.csv").write_text("user,department\n")
    for more, names in (([], RESULT[:3]), (["--replications", 2], REPLICATIONS), ([], RESULT[:3])):
        got = call("quickstart", "--set", "jobs=20", "--out", tmp_path, *more)
        assert got.exit_code == 0, got.output
        found = {each.name for each in tmp_path.iterdir()} - {RUNS}
        assert found == {*names, "users.csv"}


@pytest.mark.thorough
def test_means_are_those_of_runs_with_the_seeds_told(tmp_path):
    words = ["beosim", "--global", "b1", "--seed", 7, "--out", tmp_path, "--json"]
    words += [word for each in SETTINGS for word in ("--set", each)]
    got = call(*words, "--replications", 3)
    assert got.exit_code == 0, got.output
    told = json.loads(got.stdout)
    assert json.loads((tmp_path / "replications.json").read_text()) == told
    assert len(set(told["seeds"])) == told["replications"] == 3
    runs = [run(beosim("b1"), seed=seed).summary()["metrics"] for seed in told["seeds"]]
    for name in (
        "mean_turnaround",
        "utilization",
        "mean_penalty",
        "makespan",
        "p95_wait",
        "restarts",
    ):
        interval = mean_interval([each[name] for each in runs])
        assert told["metrics"][name] == {"mean": interval.mean, "ci95": interval.half_width}
    sent = mean_interval([each["messages"]["transfer"] for each in runs])
    assert told["metrics"]["messages/transfer"]["mean"] == sent.mean
    assert told["metrics"]["mcp_planned"] == {"mean": None, "ci95": None}
    assert told["metrics"]["stable"] in (True, False)
    with (tmp_path / "replications.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["seed"]) for row in rows] == told["seeds"]
    assert [float(row["mean_wait"]) for row in rows] == [each["mean_wait"] for each in runs]
    # More of them go on from those that are there.
    watch = Silent()
    more = replicate(beosim("b1"), 7, 4, 1, watch, tmp_path)
    assert more.summary()["seeds"][:3] == told["seeds"]
    assert watch.runs == [(1, 3)]


@pytest.mark.thorough
def test_a_warm_up_that_leaves_out_fewer_jobs_is_told():
    settings = ["mode=batch", "jobs=60", "queue=20", "warmup=20"]
    scenario = Scenario.load("muscle").changed(settings)
    found = replicate(scenario, 2968811710, 2, 1, Silent())
    (told,) = [line for line in found.remarks if "warm-up" in line]
    assert told.startswith("in 2 of 2 runs the warm-up of 20 jobs leaves out none of them: they ")
    single = run(scenario, seed=int(found.runs["seed"].iloc[0]))
    assert single.short_warm_up.startswith("warmup: 20, of which none is left out")
    assert not any("that it leaves out" in line for line in single.notes)
    plain = replicate(scenario.changed(["mode=open"]), 1, 2, 1, Silent())
    assert "means: without the first 20 jobs of each run, its warm-up" in plain.remarks
    few = replicate(scenario.changed(["warmup=0"]), 2968811710, 2, 1, Silent())
    assert not any("warm-up" in line for line in few.remarks)


def test_a_run_without_a_steady_state_is_told_and_carried_to_its_end():
    lost = beosim("first-fit", "bsbw=900", "jobs_per_cluster=8000")
    found, model = observed(lost)
    assert found["stable"] == [0.0]
    assert not model.running
    assert model.completed == 32_000
    settled, model = observed(beosim("migration-only", "jobs_per_cluster=8000"))
    assert settled["stable"] == [1.0]
    assert not model.running


def test_one_unstable_run_is_told_beside_the_mean(monkeypatch):
    def sweep(runs, *_):
        return {
            each.key: {
                **{name: [0.0] for name in ("completed", "rejected", "unfinished")},
                **{"mean_wait": [5.0], "stable": [1.0 - i]},
            }
            for i, each in enumerate(runs)
        }

    monkeypatch.setattr("experiments.sweeps.replications.sweep", sweep)
    found = replicate(beosim("b1"), 1, 2, 1, Silent()).summary()
    assert found["unstable"] == 1
    assert found["metrics"] == {"mean_wait": {"mean": 5.0, "ci95": 0.0}, "stable": False}
    got = call("beosim", "--set", "jobs_per_cluster=9", "--replications", 2)
    assert got.exit_code == 0
    assert "not stable: in 1 of 2 the mean queue grew by more than a quarter" in got.stdout
    assert "mean wait" in got.stdout


@pytest.mark.thorough
@pytest.mark.parametrize(("load", "saturated"), [(0.5, False), (1.5, True)])
def test_whether_queues_are_saturated_is_told(load, saturated):
    scenario = Scenario.load("queues").changed([f"load={load}", "jobs=20000"])
    metrics = replicate(scenario, 1, 2, 1, Silent()).summary()["metrics"]
    assert metrics["saturated"] is saturated
    assert metrics["stable"] is not saturated
    assert metrics["response_total"]["mean"] is not None


@pytest.mark.parametrize("mode", ["batch", "open"])
def test_rounds_and_logs_are_carried_to_their_end(mode, tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("arrival,size,runtime\n" + "0,8,100\n" * 5000)
    parameters = {"mode": mode, "jobs": 200}
    log = str(path) if mode == "open" else None
    scenario = Scenario("mine", PLATFORM, parameters, "ect", "fcfs", log)
    found, model = observed(scenario)
    assert not model.running
    assert found["unfinished"] == [0.0]


@pytest.mark.thorough
def test_jobs_that_runs_left_are_told_with_what_is_away():
    """With no part in the table of runs, which has metrics."""
    platform = replace(PLATFORM, changes=tuple(Change(f"C{at}", "fail", 5.0) for at in (1, 2, 3)))
    found = replicate(Scenario("mine", platform, {"jobs": 50}, "ect", "fcfs"), 1, 2, 1, Silent())
    away = "8 processors of C1, 6 of C2 and 4 of C3 are away"
    assert found.unfinished
    assert f"; {away}, and all of the jobs are too large for what is up" in found.why_unfinished
    assert not [name for name in found.runs if "away" in name or "large" in name]


class Waits(GlobalScheduler):
    def place(self, job):
        return None


@pytest.mark.thorough
def test_a_policy_that_had_each_job_wait_is_told():
    found = replicate(Scenario("mine", PLATFORM, {"jobs": 5}, Waits, "fcfs"), 1, 2, 1, Silent())
    why = "no scheduler started them; Waits.place returned None each time"
    assert found.why_unfinished == why
    assert not [name for name in found.runs if "returned" in name]


def test_what_cannot_be_replicated_is_refused_in_one_line(tmp_path):
    quick = ["quickstart", "--replications"]
    for words, message in (
        ([*quick, 0], "--replications: found '0'; accepted: a whole number from 1"),
        ([*quick, -3], "--replications: found '-3'; accepted: a whole number from 1"),
        ([*quick, "two"], "--replications: found 'two'; accepted: a whole number from 1"),
        (
            [*quick, 2, "--rounds", tmp_path / "r.csv"],
            "--replications: found with --rounds; accepted: one of them",
        ),
        ([*quick, 2, "--live"], "--replications: found with --live; accepted: one of them"),
        (
            [
                *("beosim", "--replications", 2, "--out", tmp_path / "out"),
                *("--set", "jobs_per_cluster=100", "--set", "warmup=400"),
            ],
            "--set: warmup: found 400; accepted: a whole number below 400, the jobs of the run",
        ),
    ):
        got = call(*words)
        assert (got.exit_code, got.stdout) == (2, "")
        assert got.stderr == f"metasched: {message}\n"
    assert [*tmp_path.iterdir()] == []


def test_a_scheduler_that_workers_cannot_find_is_refused(tmp_path):
    (tmp_path / "mine.py").write_text(
        "from agents.schedulers import GlobalScheduler\n"
        "from experiments.scenario import Scenario\n"
        "from grid.platform import Platform\n"
        "class Mine(GlobalScheduler):\n"
        "    def place(self, job):\n"
        "        return self.clusters[0]\n"
        "scenario = Scenario('mine', Platform.star([10]), {}, Mine, 'fcfs')\n"
    )
    got = call(tmp_path / "mine.py", "--replications", 2)
    assert got.exit_code == 2
    assert got.stderr == (
        "metasched: replications: found scheduler Mine of a script; accepted: one by its name, or "
        "module:Class\n"
    )


def test_a_log_has_no_steady_state_to_lose(tmp_path):
    """Jobs ask for ten times what there is for as long as they come, and then they end."""
    path = tmp_path / "log.csv"
    rows = (f"{10 * job},8,100" for job in range(2000))
    path.write_text("arrival,size,runtime\n" + "\n".join(rows))
    words = ["site", "--workload", path, "--set", "nodes=8", "--local", "fcfs"]
    got = call(*words)
    assert got.exit_code == 0, got.output
    assert "stable" not in got.output
    result = run(Scenario.load("site").changed(["nodes=8"], workload=str(path)))
    assert result.statistics.stable is False
    assert result.summary()["metrics"]["stable"] is None


@pytest.mark.thorough
def test_jobs_that_all_runs_reject_are_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.toml").write_text('[[clusters]]\nname = "A"\nsize = 4\n')
    words = ["site", "--platform", "small.toml", "--workload", "wide.csv", "--replications", 2]
    (tmp_path / "wide.csv").write_text("arrival,size,runtime\n0,8,60\n5,9,60\n")
    got = call(*words)
    assert got.exit_code == 1
    assert got.stderr.endswith("metasched: all jobs of all runs were rejected\n")
    assert "4 jobs rejected in all runs" in got.stdout
    (tmp_path / "wide.csv").write_text("arrival,size,runtime\n0,4,60\n5,9,60\n")
    got = call(*words, "--json")
    assert (got.exit_code, json.loads(got.stdout)["rejected"]) == (0, 2)


@pytest.mark.parametrize("keeps", [True, False])
def test_an_interrupt_says_how_to_go_on_where_runs_are_kept(tmp_path, monkeypatch, keeps):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("experiments.sweeps.replications.sweep", interrupted)
    out = ["--out", tmp_path] if keeps else []
    got = call("quickstart", "--replications", 2, *out, "--json")
    assert (got.exit_code, got.stdout) == (130, "")
    how = "; the same command goes on from there" if keeps else ""
    assert got.stderr.splitlines()[-1] == f"metasched: interrupted{how}"


@pytest.mark.thorough
def test_replications_of_a_log_without_anything_random_say_so(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("arrival,size,runtime\n0,8,100\n10,8,100\n")
    words = ["site", "--workload", path, "--set", "nodes=8", "--local", "fcfs"]
    words += ["--replications", 2]
    assert "nothing is random here" in " ".join(call(*words).stdout.split())
    assert "nothing is random here" in call(*words, "--json").stderr
    drawn = call(*words, "--set", "assign_deadlines=true")
    assert drawn.exit_code == 0, drawn.output
    assert "nothing is random" not in drawn.output
    assert "± 0: all runs came to the same there" in drawn.output


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("more", "random"),
    [
        ((), False),
        (("--local", "titan"), True),  # which searches at random, whatever it finds
        (("--global", "wrand"), True),
        (("--set", "local_share=0.5"), True),
        (("--set", "mean_up_time=1e9"), True),
        (("--set", "prediction_error=1e-9", "--local", "sjf"), True),
        (("--set", "assign_deadlines=true"), True),
    ],
)
def test_only_runs_that_draw_nothing_are_said_not_to_be_random(more, random, tmp_path):
    path = tmp_path / "log.csv"
    rows = [f"{n},{4 + n % 9},{100 + n}" for n in range(40)]
    path.write_text("\n".join(["arrival,size,runtime", *rows]))
    words = ["quickstart", "--workload", path, "--global", "dll", "--local", "fcfs"]
    words += ["--set", "assign_deadlines=false", "--set", "local_share=0", "--replications", 3]
    got = call(*words, *more)
    assert got.exit_code == 0, got.output
    assert ("nothing is random here" in " ".join(got.stdout.split())) != random


@pytest.mark.sampled(1)
@pytest.mark.parametrize("drawn", [True, False])
def test_replications_tell_that_muscle_has_no_deadlines_to_go_by(drawn, tmp_path):
    words = "--set", f"assign_deadlines={str(drawn).lower()}", "--replications", 2
    got = call("quickstart", "--set", "jobs=20", "--set", "mode=open", *words)
    assert got.exit_code == 0, got.output
    line = "metasched: no job has a deadline: the workload levels that MUSCLE goes by are all 0"
    assert (line in got.stderr) != drawn


def test_nothing_is_said_of_where_muscle_sends_jobs_that_are_all_rejected():
    words = "--set", "assign_deadlines=false", "--set", "jobs=5", "--set", "min_size=30"
    got = call("quickstart", *words, "--set", "max_size=30", "--set", "mode=open")
    assert "largest cluster" not in got.output


def test_numbers_that_are_all_equal_have_an_interval_of_no_width():
    assert mean_interval([0.1 + 0.2] * 3).half_width == 0.0


@pytest.mark.thorough
def test_what_waits_are_after_failures_is_told():
    words = ["quickstart", "--replications", 2, "--set", "jobs=40", "--set", "mean_down_time=10"]
    told = "waits: up to the last start of a job, what it ran in vain before included"
    assert told not in call(*words).stdout
    assert told in call(*words, "--set", "mean_up_time=2000").stdout


@pytest.mark.thorough
def test_other_contents_of_files_are_other_runs(tmp_path):
    """Of a log, or of what a policy of one's own imports."""
    (tmp_path / "jobs.csv").write_text("arrival,size,runtime\n0,6,10\n0,6,10\n0,3,30\n")
    (tmp_path / "kept.py").write_text(
        "from metasched import LocalScheduler\nfrom aside import sign\n\n\n"
        "class Mine(LocalScheduler):\n"
        "    def priority(self, job):\n        return sign * job.size\n"
    )
    (tmp_path / "aside.py").write_text("sign = 1\n")
    words = "from experiments.cli.app import main\nif __name__ == '__main__':\n    main()\n"
    (tmp_path / "command.py").write_text(words)
    run = [sys.executable, "command.py", "run", "site", "--workload", "jobs.csv", "--local"]
    run += ["kept:Mine", "--set", "processors=8", "--set", "prediction_error=0.5"]
    run += ["--replications", "2", "--out", "out", "--json"]

    def mean_wait():
        done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)["metrics"]["mean_wait"]["mean"]

    first = mean_wait()
    assert mean_wait() == first
    (tmp_path / "aside.py").write_text("sign = -1\n")
    second = mean_wait()
    assert second != first
    (tmp_path / "jobs.csv").write_text("arrival,size,runtime\n0,6,90\n0,6,90\n0,3,30\n")
    assert mean_wait() > second
