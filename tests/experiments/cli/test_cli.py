"""The command as its users call it: contracts, bad input, machine-readable output."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from agents.registry import GLOBAL, LOCAL
from tests.experiments.commands import call

QUICK = ["--set", "jobs=40"]


def summary(*words):
    result = call("run", *words, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


# Contracts ------------------------------------------------------------------------------------


def test_json_holds_the_contract_alone_on_stdout():
    got = summary("quickstart", *QUICK, "--seed", 3)
    assert {"scenario", "seed", "jobs", "metrics", "clusters", "wall_s"} <= set(got)
    assert got["scenario"] == "quickstart"
    assert got["seed"] == 3
    assert got["jobs"] == {"submitted": 40, "completed": 40, "rejected": 0, "dropped": 0}
    assert [cluster["name"] for cluster in got["clusters"]] == ["C1", "C2", "C3", "C4"]


def test_same_seed_same_result_and_another_seed_another():
    first, again, other = (summary("quickstart", *QUICK, "--seed", s) for s in (1, 1, 2))
    del first["wall_s"], again["wall_s"]
    assert first == again
    assert first["metrics"] != other["metrics"]


@pytest.mark.parametrize("step", [1, 60, 3600])
def test_step_changes_nothing(step, tmp_path):
    call("run", "quickstart", *QUICK, "--out", tmp_path / "auto")
    call("run", "quickstart", *QUICK, "--set", f"step={step}", "--out", tmp_path / "set")
    rows = [(tmp_path / which / "jobs.csv").read_bytes() for which in ("auto", "set")]
    assert rows[0] == rows[1]


def test_out_writes_jobs_and_summary(tmp_path):
    table = tmp_path / "in.csv"
    table.write_text("job,arrival,size,runtime\n7,0.1,4,10\n9,2.25,99,10\n8,3,2,1e-3\n")
    got = call("run", "quickstart", "--workload", table, "--out", tmp_path / "out")
    assert got.exit_code == 0
    jobs = pd.read_csv(tmp_path / "out" / "jobs.csv")
    assert list(jobs.columns) == ["job", "arrival", "size", "start", "finish", "placement"]
    assert jobs["job"].tolist() == [7, 9, 8]
    assert jobs["arrival"].tolist() == [0.1, 2.25, 3.0]
    assert jobs.loc[1, ["start", "finish", "placement"]].isna().all()
    cluster, _, processors = jobs["placement"][0].partition(":")
    assert cluster in {"C1", "C2", "C3", "C4"}
    assert processors == "4"
    counts = json.loads((tmp_path / "out" / "summary.json").read_text())["jobs"]
    assert counts == {"submitted": 3, "completed": 2, "rejected": 1, "dropped": 0}


def test_case_study_has_seed_schedules():
    seeds = summary("muscle-case-study")["seed_schedules"]
    assert sorted(row["job"] for cluster in seeds for row in cluster) == [1, 2, 3, 4, 5, 6]
    sizes = dict(enumerate([2, 1, 4, 3, 1, 2], start=1))
    times = dict(enumerate([2, 4, 4, 6, 2, 4], start=1))
    for cluster, size in zip(seeds, (4, 6), strict=True):
        held = []
        for row in cluster:
            assert len(row["resources"]) == sizes[row["job"]]
            assert row["finish"] - row["start"] == times[row["job"]]
            assert all(0 <= resource < size for resource in row["resources"])
            held += [(r, row["start"], row["finish"]) for r in row["resources"]]
        for r, begin, end in held:
            assert sum(r == q and begin < f and s < end for q, s, f in held) == 1


def test_a_log_for_each_site(tmp_path):
    for site in (1, 2):
        rows = [f"{j} {100 * site + 7 * j} 0 5 2 -1 -1 2 60 " + "-1 " * 9 for j in range(1, 6)]
        (tmp_path / f"{site}.swf").write_text("\n".join(rows))
    got = summary(
        "quickstart", "--workload", f"C1={tmp_path}/1.swf", "--workload", f"C3={tmp_path}/2.swf"
    )
    assert got["jobs"]["submitted"] == 10
    assert got["metrics"]["messages"]["metadata"] == 10


def test_lists():
    names = {row["name"] for row in json.loads(call("scenarios", "--json").stdout)}
    assert {"quickstart", "muscle", "muscle-case-study"} <= names
    rows = json.loads(call("policies", "--json").stdout)
    assert [row["name"] for row in rows] == [*GLOBAL, *LOCAL]
    assert all(row["title"] for row in rows)
    assert "quickstart" in call("scenarios").stdout
    assert "muscle" in call("policies").stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("rnu quickstart", "command 'rnu': unknown; did you mean run? `metasched --help` lists"),
        ("frobnicate", "command 'frobnicate': unknown; `metasched --help` lists them"),
        ("reproduce musle", "command 'musle': unknown; did you mean muscle? `metasched reproduce"),
        ("run quickstrat", "scenario 'quickstrat': unknown; did you mean quickstart?"),
        ("run quickstart --set jbos=3", "--set: jbos: unknown parameter; did you mean jobs?"),
        (
            "run quickstart --set utilisation=1",
            "--set: utilisation: unknown parameter; did you",
        ),
        (
            "run quickstart --set no-such=1",
            "--set: no-such: unknown parameter; `metasched",
        ),
        (
            "run quickstart --global FIRST_FIT",
            "global scheduler 'FIRST_FIT': unknown; did you",
        ),
        ("run quickstart --local ect", "local scheduler 'ect': it is a global one: --global; "),
        ("check mucsle", "scheduler 'mucsle': unknown; did you mean muscle?"),
        ("policies --paper beosm", "--paper: found 'beosm'; did you mean beosim?"),
        ("scenarios --paper x", "--paper: found 'x'; accepted: beosim, muscle, queues"),
    ],
)
def test_of_an_unknown_name_it_is_said_which_was_meant(words, told):
    result = call(*words.split())
    assert result.exit_code == 2
    assert result.stderr.startswith(f"metasched: {told}")
    assert len(result.stderr) <= 200


@pytest.mark.parametrize("global_", ["muscle", "dll", "wrand", "round-robin", "ect", "a4"])
@pytest.mark.parametrize("local", ["titan", "fcfs", "sjf"])
@pytest.mark.parametrize("mode", ["batch", "open"])
def test_every_pair_of_policies_completes_every_job(global_, local, mode):
    got = summary(
        "quickstart", *QUICK, "--global", global_, "--local", local, "--set", f"mode={mode}"
    )
    assert got["jobs"]["completed"] == 40


# Bad input ------------------------------------------------------------------------------------

PLATFORM = '[[clusters]]\nname = "C1"\nsize = 4\n'
BAD = {
    "unknown scenario": (["nosuch"], "nosuch"),
    "no such file": (["none.toml"], "none.toml"),
    "malformed scenario": (["bad.toml"], "bad.toml"),
    "unknown key": (["key.toml"], "colour"),
    "unknown parameter": (["quickstart", "--set", "colour=1"], "colour"),
    "no value": (["quickstart", "--set", "jobs"], "jobs"),
    "out of range": (["quickstart", "--set", "jobs=0"], "jobs"),
    "not a number": (["quickstart", "--set", "load=nan"], "load"),
    "too few weights": (["quickstart", "--set", "weights=[1, 2]"], "weights"),
    "weights all zero": (["quickstart", "--set", "weights=[0, 0, 0]"], "weights"),
    "negative error": (["quickstart", "--set", "prediction_error=-0.5"], "prediction_error"),
    "error that is no number": (
        ["quickstart", "--set", "prediction_error=nan"],
        "prediction_error",
    ),
    "too few factors": (["quickstart", "--set", "prediction_error=[1, 2]"], "prediction_error"),
    "factor of 0": (["quickstart", "--set", "prediction_error=[1,1,0,1]"], "prediction_error.2"),
    "unknown prediction": (["quickstart", "--set", "prediction=wild"], "prediction: found 'wild'"),
    "nobody to learn from": (["quickstart", "--set", "prediction=learned"], "prediction"),
    "no users in the log": (
        ["quickstart", "--workload", "ok.swf", "--set", "prediction=learned"],
        "prediction: found 'learned'",
    ),
    "sizes upside down": (["quickstart", "--set", "min_size=20"], "size"),
    "unknown global": (["quickstart", "--global", "best"], "best"),
    "unknown local": (["quickstart", "--local", "best"], "best"),
    "no such module": (["quickstart", "--global", "nosuch:Best"], "nosuch"),
    "no such class": (["quickstart", "--global", "agents.muscle.scheduler:Best"], "Best"),
    "local as global": (
        ["quickstart", "--global", "agents.titan:TitanScheduler"],
        "Titan",
    ),
    "no such log": (["quickstart", "--workload", "none.swf"], "none.swf"),
    "malformed log": (["quickstart", "--workload", "bad.swf"], "bad.swf:2"),
    "empty log": (["quickstart", "--workload", "empty.swf"], "empty.swf"),
    "job of size 0": (["quickstart", "--workload", "zero.csv"], "zero.csv:3"),
    "unknown site": (["quickstart", "--workload", "C9=ok.swf"], "C9"),
    "no such platform": (["quickstart", "--platform", "none.toml"], "none.toml"),
    "malformed platform": (["quickstart", "--platform", "bad.toml"], "bad.toml"),
    "negative rate": (["quickstart", "--platform", "rate.toml"], "rate"),
    "cycle": (["quickstart", "--platform", "cycle.toml"], "cycle"),
    "disconnected": (["quickstart", "--platform", "apart.toml"], "C2"),
    "impossible placement": (["quickstart", "--global", "wrong:TooMany"], "TOOMANY"),
    "wrong cluster": (["quickstart", "--global", "wrong:Elsewhere"], "C99"),
    "too small a cluster": (["quickstart", "--global", "wrong:TooSmall"], "TOOSMALL"),
    "not a priority": (["quickstart", "--local", "wrong:NoNumber"], "NONUMBER"),
    "no super().__init__": (["quickstart", "--global", "wrong:NoSuper"], "NoSuper"),
    "memory is a list": (
        ["quickstart", "--global", "wrong:ListMemory"],
        "memory: found [0.0]; accepted: a c",
    ),
    "out is a file": (["quickstart", "--out", "ok.swf"], "ok.swf"),
    "out is nothing": (["quickstart", "--out", ""], "--out: found ''; accepted: a folder"),
    "a log is nothing": (
        ["quickstart", "--workload", ""],
        "--workload: found ''; accepted: a file",
    ),
    "a platform is nothing": (["quickstart", "--platform", ""], "--platform: found ''; accepted"),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    files = {
        "bad.toml": "clusters = [",
        "key.toml": f'colour = "red"\n{PLATFORM}',
        "bad.swf": "; comment\n1 2 x\n",
        "empty.swf": "; nothing\n",
        "ok.swf": "1 0 0 5 2 -1 -1 2 60 " + "-1 " * 9,
        "zero.csv": "arrival,size,runtime\n0,1,5\n1,0,5\n",
        "rate.toml": f"{PLATFORM}rate = -1\n",
        "cycle.toml": "".join(f'[[clusters]]\nname = "C{i}"\nsize = 4\n' for i in (1, 2))
        + "".join(
            f'[[links]]\nbetween = ["{a}", "{b}"]\n'
            for a, b in (("C1", "C2"), ("C2", "switch"), ("switch", "C1"))
        ),
        "apart.toml": "".join(f'[[clusters]]\nname = "C{i}"\nsize = 4\n' for i in (1, 2))
        + '[[links]]\nbetween = ["C1", "switch"]\n',
        "wrong.py": (
            "import math\n"
            "from agents.schedulers import GlobalScheduler, LocalScheduler\n"
            "class TooMany(GlobalScheduler):\n"
            "    def place(self, job):\n"
            "        return {'C1': job.size + 1}\n"
            "class Elsewhere(GlobalScheduler):\n"
            "    def place(self, job):\n"
            "        return {'C99': job.size}\n"
            "class TooSmall(GlobalScheduler):\n"
            "    spans = True\n"
            "    def place(self, job):\n"
            "        return self.clusters[3] if job.size < 99 else None\n"
            "class NoNumber(LocalScheduler):\n"
            "    def priority(self, job):\n"
            "        return math.nan\n"
            "class NoSuper(GlobalScheduler):\n"
            "    def __init__(self, model):\n"
            "        self.model = model\n"
            "class ListMemory(GlobalScheduler):\n"
            "    def memory(self):\n"
            "        return [0.0]\n"
        ),
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    sys.modules.pop("wrong", None)
    return tmp_path


@pytest.mark.parametrize(("words", "named"), BAD.values(), ids=BAD.keys())
def test_bad_input_is_one_line_and_writes_nothing(words, named, folder):
    before = sorted(path.name for path in folder.iterdir())
    extra = [] if "--out" in words else ["--out", "out"]
    if "wrong:TooSmall" in words:
        extra += ["--set", "max_size=12"]
    got = call("run", *words, *extra, "--json")
    assert got.exit_code == 2, got.output
    assert got.stdout == ""
    assert got.stderr.count("\n") == 1, got.stderr
    assert got.stderr.startswith("metasched: ")
    assert named in got.stderr
    after = [path.name for path in folder.iterdir() if path.name != "__pycache__"]
    assert sorted(after) == before


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            "pareto ok.csv --processors 0",
            "--processors: found '0'; accepted: a whole number from 1",
        ),
        ("pareto ok.csv --processors few", "--processors: found 'few'"),
        ("explain out -4", "explain: no such option -4, which after -- is an argument"),
        ("pareto ok.csv --processors 4 --pick 0", "--pick: found '0'"),
        ("pareto ok.csv --processors 4 --seed -1", "--seed: found '-1'; accepted: a whole number"),
        ("run quickstart --seed 1.5", "--seed: found '1.5'"),
        ("run quickstart --pace 0", "--pace: found '0'; accepted: a number above 0"),
        ("run quickstart --pace nan", "--pace: found 'nan'"),
        ("run quickstart --follow x", "--follow: found 'x'; accepted: a whole number"),
        ("run quickstart --follow 1 --no-live", "--follow: found with --no-live; accepted: with"),
        ("run quickstart --pace inf --json", "--pace: found with --json; accepted: with --live"),
        ("run quickstart --pace 5 --json", "--pace: found with --json; accepted: with --live"),
        ("run quickstart --follow 1 --json --no-live", "--follow: found with --no-live"),
        ("validate quickstart --seed x", "--seed: found 'x'"),
        ("explain out x", "JOB: found 'x'; accepted: a whole number"),
        ("reproduce muscle --figure x", "--figure: found 'x'"),
        ("reproduce muscle --figure 8", "--figure: found 8"),
        ("reproduce muscle --scale 0", "--scale: found '0'"),
        ("reproduce muscle --scale inf", "--scale: found 'inf'"),
        ("reproduce muscle --cpu-hours inf", "--cpu-hours: found 'inf'; accepted: a number abo"),
        ("reproduce oas --time-limit inf", "--time-limit: found 'inf'"),
        ("maxutil simulate --dist U[1,4] --threshold inf", "--threshold: found 'inf'"),
        ("reproduce muscle --replications 0", "--replications: found '0'"),
        ("reproduce muscle --workers many", "--workers: found 'many'"),
    ],
)
def test_numbers_that_no_option_takes_are_told_in_one_line(words, told, folder):
    before = sorted(folder.iterdir())
    got = call(*words.split())
    assert (got.exit_code, got.stdout) == (2, "")
    assert got.stderr.startswith(f"metasched: {told}")
    assert got.stderr.count("\n") == 1
    assert sorted(folder.iterdir()) == before


def test_parameters_without_effect_are_told_and_harm_nothing(folder):
    words = ["quickstart", "--workload", "ok.swf", "--set", "jobs=5"]
    words += ["--set", "load=0.5", "--set", "prediction=exact"]
    told = "metasched: parameters without effect: jobs, load (a log gives the jobs)\n"
    for command in (["run", *words, "--json"], ["validate", *words]):
        got = call(*command)
        assert (got.exit_code, got.stderr) == (0, told)
    assert call("run", "site", "--workload", "ok.swf").stderr == ""


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("what", "heavy"),
    [
        ("CliRunner().invoke(main, ['--help'])", "numba numpy pandas mesa networkx rich"),
        ("import experiments.service.forecasting.forecast_table", "numba scipy mesa networkx"),
        ("import experiments.service.forecasting.asking", "numba scipy mesa networkx rich"),
        ("import experiments.service.service", "pandas scipy.stats"),
    ],
)
def test_nothing_heavy_is_imported_that_is_not_needed(what, heavy):
    """For help it is none of these, for forecasts no simulator, for the service no pandas."""
    code = (
        "import sys; from click.testing import CliRunner; from experiments.cli.app import main\n"
        f"{what}\n"
        f"heavy = {{*{heavy.split()}}} & {{*sys.modules}}\n"
        "assert not heavy, heavy"
    )
    root = Path(__file__).resolve().parents[3]
    subprocess.run([sys.executable, "-c", code], check=True, cwd=root)


def test_a_parameter_that_is_given_twice_is_told():
    got = call("validate", "quickstart", "--set", "load=0.5", "--set", "jobs=9", "--set", "load=1")
    assert got.exit_code == 0
    assert "metasched: --set: load: given 2 times; the last one counts, 1\n" in got.stderr
    assert "jobs: given" not in got.stderr
