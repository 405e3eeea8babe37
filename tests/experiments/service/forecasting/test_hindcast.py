"""How forecasts of the past held, where it is known what they should have told."""

from __future__ import annotations

import json

import pytest
from rich.console import Console

from experiments.scenario.scenario import Scenario
from experiments.service.forecasting.hindcast import hindcast
from experiments.sweeps.progress import SweepProgress
from tests.experiments.commands import call


def test_forecasts_of_the_past_hold_where_nothing_is_unknown(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"{40 * at},1,100,100,{at % 2}" for at in range(24)]
    table = "\n".join(["arrival,size,runtime,requested_time,user", *rows])
    (tmp_path / "log.csv").write_text(table + "\n")
    words = "site", "--local", "fcfs", "--workload", "log.csv", "--set", "processors=1"
    monkeypatch.setattr("experiments.sweeps.progress.SOON", 0.001)
    outcome = call("hindcast", *words, "--jobs", 9, "--futures", 4, "--json")
    assert "of 9 jobs" in outcome.stderr
    assert "asked for" not in outcome.stderr
    told = json.loads(outcome.stdout)
    assert told["jobs"] == 9
    assert told["waited"] == 18  # of all but the first quarter
    exact = {"within_50": 1.0, "within_90": 1.0, "before": 0.0, "after": 0.0}
    for what in ("start", "end"):
        assert told[what].pop("off_s") == pytest.approx(0.0, abs=1e-6)
        assert told[what] == exact
    shown = call("hindcast", *words, "--jobs", 9, "--futures", 4).stdout
    assert "of 9 jobs, each forecast in 4 futures as it was submitted" in " ".join(shown.split())
    few = call("hindcast", *words, "--jobs", 1000, "--futures", 2)
    assert "metasched: jobs: 1,000 asked for; 18 waited 60 s or longer\n" in few.stderr
    unasked = call("hindcast", *words, "--futures", 2)
    assert (unasked.exit_code, "asked for" in unasked.stderr) == (0, False)
    never = call("hindcast", *words, "--set", "load_factor=0.1")
    assert "found no job that waits; accepted: a run with some" in never.output
    synthetic = call("hindcast", "quickstart")
    assert (synthetic.exit_code, synthetic.stdout) == (2, "")
    assert "workload: found synthetic jobs; accepted: a log" in synthetic.output
    (tmp_path / "two.toml").write_text(
        'global = "first-fit"\n[parameters]\nmode = "open"\nprediction = "requested"\n'
        + "".join(f'[[clusters]]\nname = "{name}"\nsize = 4\n' for name in "AB")
    )
    split = call("hindcast", "two.toml", "--workload", "log.csv")
    assert "global: found 'first-fit', which splits jobs; accepted: one that" in split.output
    for given, told in (
        (("--set", "prediction=exact"), "prediction: found 'exact'; accepted: requested, learned"),
        (("--set", "mean_up_time=1e6"), "mean_up_time: found 1e+06; accepted: 0, for forecasts"),
        (("--local", "recorded"), "local: found 'recorded', which starts as a log tells"),
    ):
        refused = call("hindcast", *words, *given)
        assert (refused.exit_code, refused.stdout) == (2, "")
        assert told in refused.output


def test_forecasts_of_the_past_take_what_was_requested_at_each_rate(tmp_path, monkeypatch):
    """All run as requested, at rates of their sites, and nobody comes after the last."""
    monkeypatch.chdir(tmp_path)
    rows = [f"{3 * at},8,100,100,{at}" for at in range(40)]
    table = "\n".join(["arrival,size,runtime,requested_time,user", *rows])
    (tmp_path / "log.csv").write_text(table + "\n")
    (tmp_path / "two.toml").write_text(
        'global = "dll"\nlocal = "fcfs"\n[parameters]\nmode = "open"\nprediction = "requested"\n'
        '[[clusters]]\nname = "A"\nsize = 8\nrate = 4.0\n'
        '[[clusters]]\nname = "B"\nsize = 8\nrate = 0.5\n'
    )
    with SweepProgress(Console(stderr=True)) as progress:
        scenario = Scenario.load("two.toml").changed(workload="log.csv")
        found = hindcast(scenario, 0, 40, 4, progress).jobs.iloc[-1]
    assert found["start 5"] == found["start 95"] == pytest.approx(found["start"])


def test_forecasts_of_the_past_tell_jobs_of_one_number_apart(tmp_path, monkeypatch):
    """Each runs for what it requested, so that all is known."""
    monkeypatch.chdir(tmp_path)
    rows = [f"{at // 2},{40 * at},1,{100 + at},{100 + at},{at}" for at in range(24)]
    table = "\n".join(["job,arrival,size,runtime,requested_time,user", *rows])
    (tmp_path / "log.csv").write_text(table + "\n")
    words = "site", "--local", "fcfs", "--workload", "log.csv", "--set", "processors=1"
    outcome = call("hindcast", *words, "--jobs", 9, "--futures", 2, "--json")
    assert outcome.exit_code == 0
    told = json.loads(outcome.stdout)
    assert told["start"]["off_s"] == pytest.approx(0.0, abs=1e-6)


def test_forecasts_of_the_past_refuse_what_they_do_not_know(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"{40 * at},1,100,100,1" for at in range(24)]
    head = "arrival,size,runtime,requested_time,user"
    (tmp_path / "log.csv").write_text("\n".join([head, *rows]))
    own = head.replace("runtime", "runtime@C1")
    (tmp_path / "own.csv").write_text("\n".join([own, *rows]))
    words = "hindcast", "site", "--set", "prediction=requested", "--set", "processors=1"
    for given, told in (
        (("log.csv", "--local", "fair-share"), "local: found 'fair-share', which goes by what"),
        (("log.csv", "--local", "slurm"), "local: found 'slurm', which goes by users and"),
        (("log.csv", "--global", "home"), "global: found 'home', which goes by where jobs"),
        (("own.csv", "--local", "fcfs"), "workload: found run times of each cluster; accepted"),
    ):
        refused = call(*words, "--workload", *given)
        assert (refused.exit_code, refused.stdout) == (2, "")
        assert told in refused.output


def test_forecasts_of_the_past_say_what_was_assumed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"{40 * at},{1 + 2 * (at == 9)},100,100" for at in range(24)]
    (tmp_path / "log.csv").write_text("\n".join(["arrival,size,runtime,requested_time", *rows]))
    (tmp_path / "two.toml").write_text(
        'global = "greenest"\nlocal = "fcfs"\n'
        '[parameters]\nmode = "open"\nprediction = "requested"\nbusy_watts = 3\ncarbon = 100\n'
        'queue = 7\n[[clusters]]\nname = "A"\nsize = 1\n[[clusters]]\nname = "B"\nsize = 1\n'
        '[[changes]]\ncluster = "B"\nwhat = "drain"\nat = 0\nprocessors = 1\nuntil = 1600\n'
    )
    words = "two.toml", "--workload", "log.csv", "--jobs", 5, "--futures", 4
    shown = call("hindcast", *words)
    assert shown.exit_code == 0, shown.output
    assert "parameters without effect: queue" in shown.stderr
    assert "changes of the platform: forecasts do not know of them, the run does" in shown.stderr
    assert "deadlines: drawn, as the jobs bring none" in shown.stdout
    told = json.loads(call("hindcast", *words, "--json").stdout)
    assert told["deadlines"] == "drawn"
    assert told["cleaning"] == {"records": 24, "rules": {}}
