"""Studies carried out: on whatever workers, killed and gone on with, the results are the same."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from experiments.cli import main
from experiments.studies import inputs
from experiments.studies.outcome import StudyOutcome
from experiments.studies.study import PACKAGED, Study
from experiments.studies.study_run import numbers_of
from experiments.workload import read_source
from grid.errors import GridError

ROOT = Path(__file__).resolve().parents[2]
STUDY = """
title = "Small"
scenario = "quickstart"
seed = 3
report = ["mean_wait"]
[policies]
global = ["muscle", "ect"]
local = ["titan", "fcfs"]
[set]
jobs = 150
[vary]
load = [0.4, 0.9]
[replications]
least = 3
most = 5
precision = 0.01
"""
RUNS = 2 * 2 * 2 * 5


class Silent:
    """Is told how a study goes on, and kills workers when a run has ended."""

    def __init__(self, workers=None):
        self.workers = workers
        self.begun = []

    def prepare(self, words):
        pass

    def begin(self, runs, kept, estimate):
        self.begun.append((runs, kept))

    def advance(self, share):
        if self.workers is not None:
            pids, self.workers = self.workers(), None
            assert pids
            for pid in pids:
                os.kill(pid, signal.SIGKILL)


def content(path):
    """Return all that is in the file of a study, but how long runs took."""
    with sqlite3.connect(path) as database:
        return [
            sorted(database.execute(f"SELECT {columns} FROM {table}"))
            for columns, table in (
                ("key, result", "runs"),
                ("*", "tasks"),
                ("*", "parameters"),
                ("*", "notes"),
            )
        ]


def cpu_seconds(path):
    with sqlite3.connect(path) as database:
        return dict(database.execute("SELECT key, cpu_s FROM runs"))


def kept(path):
    try:
        return len(cpu_seconds(path)) if path.exists() else 0
    except sqlite3.Error:
        return 0


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("study") / "study.toml"
    path.write_text(STUDY)
    return path


@pytest.fixture(scope="module")
def whole(file):
    """Return what an uninterrupted study comes to."""
    out = file.with_name("whole.db")
    Study.load(file).run(out, workers=2, watch=Silent())
    assert kept(out) == RUNS
    return out


def call(*words):
    return CliRunner().invoke(main, ["study", *map(str, words)])


# The same whatever happens ----------------------------------------------------------------------


def test_one_worker_comes_to_the_same(file, whole, tmp_path):
    Study.load(file).run(tmp_path / "one.db", workers=1, watch=Silent())
    assert content(tmp_path / "one.db") == content(whole)


def test_workers_that_are_killed_are_replaced(file, whole, tmp_path):
    watch = Silent(lambda: [each.pid for each in multiprocessing.active_children()])
    Study.load(file).run(tmp_path / "killed.db", workers=2, watch=watch)
    assert watch.workers is None
    assert content(tmp_path / "killed.db") == content(whole)


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
def test_a_study_that_is_ended_goes_on(file, whole, tmp_path, end):
    out = tmp_path / "study.db"
    code = "from experiments.cli import main; main()"
    words = ["study", str(file), "--out", str(out), "--workers", "2"]
    path = os.pathsep.join([str(ROOT), *sys.path])
    process = subprocess.Popen(
        [sys.executable, "-c", code, *words],
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    until = time.monotonic() + 120
    while kept(out) < 4 and process.poll() is None and time.monotonic() < until:
        time.sleep(0.02)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    process.send_signal(end)
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == (-9 if end == signal.SIGKILL else 130)
    assert stdout == ""
    assert "Traceback" not in stderr
    assert len(children) >= 2
    while any(Path(f"/proc/{child}").exists() for child in children):
        assert time.monotonic() < until
        time.sleep(0.05)
    before = cpu_seconds(out)
    assert 4 <= len(before) < RUNS
    assert StudyOutcome.read(out).ended is None
    result = call(file, "--out", out)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == (
        f"metasched: {out}: found a file; accepted: a new one, or --resume to go on with this one\n"
    )
    watch = Silent()
    Study.load(file).run(out, workers=2, resume=True, watch=watch)
    assert content(out) == content(whole)
    assert cpu_seconds(out).items() >= before.items()  # none was done again
    assert watch.begun[0][1] <= len(before)
    again = Silent()
    Study.load(file).run(out, workers=2, resume=True, watch=again)
    assert {runs for runs, _ in again.begun} == {0}


def test_more_precision_goes_on_from_what_is_there(file, whole, tmp_path):
    out, more = tmp_path / "study.db", tmp_path / "study.toml"
    less = STUDY.replace("most = 5", "most = 3")
    more.write_text(less)
    assert len(Study.load(more).run(out, workers=2, watch=Silent()).runs) == 2 * 2 * 2 * 3
    before = cpu_seconds(out)
    more.write_text(STUDY)
    Study.load(more).run(out, workers=2, resume=True, watch=Silent())
    assert content(out) == content(whole)
    assert cpu_seconds(out).items() >= before.items()


# Dask -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    ) as cluster:
        yield cluster


def test_dask_comes_to_the_same_though_workers_are_killed(file, whole, cluster, tmp_path):
    def pids():
        return [nanny.pid for nanny in cluster.workers.values()][:1]

    watch = Silent(pids)
    address = cluster.scheduler_address
    Study.load(file).run(tmp_path / "dask.db", dask=address, watch=watch)
    assert watch.workers is None
    assert content(tmp_path / "dask.db") == content(whole)


def test_logs_that_dask_workers_have_not_are_told(cluster, tmp_path, monkeypatch):
    study = Study.load(write_log_study(tmp_path))
    (tmp_path / "mine.swf").write_text("moved away")
    with pytest.raises(GridError, match=r"worker tcp://.*mine\.swf: found another content"):
        study.run(tmp_path / "out.db", dask=cluster.scheduler_address, watch=Silent())
    assert not (tmp_path / "out.db").exists()


def test_an_address_without_dask_is_refused_in_one_line(file, tmp_path):
    pytest.importorskip("distributed")
    for address, why in (("tcp://127.0.0.1:9", "Timed out"), ("nowhere", "missing port")):
        result = call(file, "--out", tmp_path / "no.db", "--dask", address)
        assert (result.exit_code, result.stdout) == (2, "")
        (line,) = result.stderr.splitlines()
        assert line.startswith(f"metasched: --dask {address}: cannot be reached ({why}")
        assert "accepted: the address of a Dask scheduler" in line
    assert not (tmp_path / "no.db").exists()


def test_without_dask_its_extra_is_named(file, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    result = call(file, "--out", tmp_path / "no.db", "--dask", "tcp://127.0.0.1:9")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == (
        "metasched: --dask: Dask is not installed; accepted: metasched with the extra `dask`, as "
        "in pip install 'metasched[dask]'\n"
    )
    assert not (tmp_path / "no.db").exists()


# What is compared -------------------------------------------------------------------------------


def jobs_of(run):
    model = run.scenario.model(run.seed)
    names = ["number", "arrival", "size", "runtime"]
    return np.concatenate([chunk[names].copy() for chunk in model.workload.chunks()])


def test_policies_and_settings_have_the_same_jobs(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text(STUDY.replace("load = [0.4, 0.9]", "link_mbps = [10, 1000]"))
    study = Study.load(path)
    of: dict[int, list] = {}
    for at in study._at:
        for task, run in study._tasks(at, 3):
            of.setdefault(task.replication, []).append(jobs_of(run))
    assert [len(each) for each in of.values()] == [8, 8, 8]
    for each in of.values():
        assert all((jobs == each[0]).all() for jobs in each)
    assert (of[0][0] != of[1][0]).any()


def test_a_run_is_that_of_the_command(whole, file):
    from experiments.run import run
    from experiments.scenario import Scenario

    row = StudyOutcome.read(whole).runs.iloc[-1]
    scenario = Scenario.load("quickstart").changed(
        ["jobs=150", f"load={row['load']}"], global_scheduler="ect", local_scheduler="fcfs"
    )
    metrics = run(scenario, seed=int(row["seed"])).summary()["metrics"]
    assert row["policy"] == "ect over fcfs"
    assert row["mean_turnaround"] == metrics["mean_turnaround"]
    assert row["messages/transfer"] == metrics["messages"]["transfer"]


def write_log_study(folder, changes=(), jobs=400):
    """Write a study of a log of a hundred hours."""
    rng = np.random.default_rng(2)
    arrivals = np.sort(rng.uniform(0, 360_000, jobs)).astype(int)
    sizes, times = rng.integers(1, 17, jobs), rng.integers(60, 9000, jobs)
    lines = [
        f"{i + 1} {a} 0 {t} {s} -1 -1 {s} {2 * t} " + "-1 " * 9
        for i, (a, s, t) in enumerate(zip(arrivals, sizes, times, strict=True))
    ]
    (folder / "mine.swf").write_text("\n".join(lines))
    text = """
scenario = "site"
metric = "mean_wait"
[policies]
global = "dll"
local = ["fcfs", "easy"]
[set]
nodes = 20
[workloads]
mine = "mine.swf"
[replications]
least = 4
"""
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (folder / "study.toml").write_text(text)
    return folder / "study.toml"


def test_a_log_that_is_replayed_whole_is_not_repeated(tmp_path):
    outcome = Study.load(write_log_study(tmp_path)).run(tmp_path / "out.db", 1, watch=Silent())
    assert outcome.points["n"].tolist() == [2, 2]
    assert outcome.points["mean_wait half_width"].tolist() == [0.0, 0.0]
    assert outcome.ranking["policy"].tolist() == ["dll over easy", "dll over fcfs"]
    assert outcome.ranking["rank"].tolist() == [1, 2]
    assert "nothing is random there" in " ".join(outcome.sentences())


def test_a_process_reads_a_log_once_and_leaves_it_as_it_is(tmp_path, monkeypatch):
    changes = [
        ('"site"', '"site"\nseed = 4'),
        ("nodes = 20", "nodes = 20\nassign_deadlines = true"),
    ]
    monkeypatch.setattr(inputs, "_tables", {})
    reads = []

    def read(*given):
        reads.append(given)
        return read_source(*given)

    monkeypatch.setattr(inputs, "read_source", read)
    study = Study.load(write_log_study(tmp_path, changes))
    (table,) = inputs._tables.values()
    before = table.jobs.copy()
    (at,) = study._at
    found = [numbers_of(run.scenario, run.seed) for _, run in study._tasks(at, 2)]
    assert len(reads) == 1
    assert (table.jobs == before).all()
    assert found[0]["over_deadline"] != found[2]["over_deadline"]  # another seed
    assert found[0]["mean_wait"] == found[2]["mean_wait"]


def test_schedulers_of_a_module_beside_the_study(tmp_path):
    (tmp_path / "beside_study.py").write_text(
        "from agents.balancers import DynamicLeastLoadScheduler\n"
        "class Mine(DynamicLeastLoadScheduler):\n"
        "    'Mine.'\n"
    )
    changes = [('global = "dll"', 'global = ["dll", "beside_study:Mine"]')]
    study = Study.load(write_log_study(tmp_path, changes))
    outcome = study.run(tmp_path / "out.db", 1, watch=Silent())
    assert outcome.ranking["rank"].tolist() == [1, 1, 3, 3]
    assert set(outcome.provenance["schedulers"]) == {"beside_study:Mine"}


def test_replications_of_a_log_are_its_stretches(tmp_path):
    changes = [("least = 4", 'least = 4\nwindow = "20h"')]
    study = Study.load(write_log_study(tmp_path, changes))
    outcome = study.run(tmp_path / "out.db", 1, watch=Silent())
    assert outcome.points["n"].tolist() == [4, 4]
    (at,) = study._at
    runs = [run for task, run in study._tasks(at, 4) if task.policy == "dll over easy"]
    parameters = [each.scenario.scenario.parameters for each in runs]
    hours = [(each.window_start / 3600, each.window_end / 3600) for each in parameters]
    assert hours == [(0, 20), (20, 40), (40, 60), (60, 80)]
    assert [len(jobs_of(run)) for run in runs] == [run.scenario.jobs for run in runs]
    assert outcome.runs["mean_wait"].nunique() == 8


def test_budgets_end_a_study(tmp_path):
    study, text = tmp_path / "study.toml", STUDY.replace("muscle", "dll").replace("titan", "easy")
    study.write_text(text + "runs = 30\n")
    outcome = Study.load(study).run(tmp_path / "runs.db", 1, watch=Silent())
    assert len(outcome.runs) == 24
    assert outcome.ended.startswith("The study ended by its budget of 30 runs: the next round")
    study.write_text(text + "runs = 23\n")
    with pytest.raises(GridError, match=r"runs: found 23; accepted: from 24, the runs of the"):
        Study.load(study).run(tmp_path / "few.db", 1, watch=Silent())
    assert not (tmp_path / "few.db").exists()
    study.write_text(text + 'time = "0.001s"\n')
    outcome = Study.load(study).run(tmp_path / "time.db", 1, watch=Silent())
    assert len(outcome.runs) < RUNS
    assert outcome.ended.startswith("The study ended by its time of")
    assert f"{outcome.ended}." in outcome.sentences()


# The command ------------------------------------------------------------------------------------


def test_the_packaged_study_from_the_command(tmp_path):
    out = tmp_path / "results.db"
    result = call("policies", "--out", out, "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert told["ended"] == ""
    assert told["runs"] == told["planned"] == len(StudyOutcome.read(out).runs)
    assert told["provenance"]["text"] == (PACKAGED / "policies.toml").read_text()
    assert {row["rank"] for row in told["ranking"]} >= {1, 2}
    shown = call("policies", "--out", out, "--resume")
    assert shown.exit_code == 0
    assert "load 0.8" in shown.stdout
    assert all(sentence in shown.stdout for sentence in told["sentences"])


BAD = [
    ("seed = 3", "seeds = 3", "study.toml: seeds: unknown key; accepted: title, scenario"),
    ("seed = 3", "seed = -3", "study.toml: seed: found -3; input should be greater"),
    ("[policies]", "[police]", "study.toml: police: unknown key"),
    ('"ect"', '"etc"', "study.toml: policies: global scheduler 'etc': unknown; accepted: muscle"),
    ('"fcfs"', '"fcfc"', "study.toml: policies: local scheduler 'fcfc': unknown; accepted: titan"),
    ('"fcfs"', '"titan"', "study.toml: policies.local: found ['titan', 'titan']; accepted: each"),
    ("jobs = 150", "job = 150", "study.toml: set: job: unknown parameter; accepted: step, mode"),
    ("jobs = 150", "jobs = 0", "study.toml: set: jobs: found 0; input should be greater"),
    ("jobs = 150", "load = 1", "study.toml: vary: load: found in set too; accepted: one of them"),
    ("load = [", "laod = [", "study.toml: vary: laod: unknown parameter; accepted: step"),
    ("0.9]", "-1]", "study.toml: vary: load: found -1; input should be greater"),
    ("[0.4, 0.9]", "0.4", "study.toml: vary.load: found 0.4; accepted: a list"),
    ("[0.4, 0.9]", "[]", "study.toml: vary.load: found []; accepted: a list of at least one"),
    ("least = 3", "least = 1", "study.toml: replications.least: found 1; input should be"),
    ("most = 5", "most = 2", "study.toml: replications.most: found 2; accepted: from 3"),
    ("most = 5", 'window = "4w"', "study.toml: replications.window: found without logs"),
    ("most = 5", 'time = "soon"', "study.toml: replications.time: found 'soon'; accepted: a time"),
    ('"mean_wait"', '"mean_weight"', "study.toml: report: found 'mean_weight'; accepted: mcp, pb"),
    ('"quickstart"', '"quick"', "scenario 'quick': unknown; accepted: beosim"),
    ('"quickstart"', '"quick.toml"', "quick.toml: no such file"),
    ("seed = 3", 'platform = "no.toml"', "no.toml: "),
    ("[vary]", '[workloads]\na = "no.swf"\n[vary]', "no.swf: cannot be read (No such file"),
    ("[vary]", "[vary", "study.toml: Expected ']'"),
]


@pytest.mark.parametrize(("old", "new", "says"), BAD)
def test_a_study_that_cannot_be_used_is_refused_in_one_line(old, new, says, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert old in STUDY
    Path("study.toml").write_text(STUDY.replace(old, new, 1))
    result = call("study.toml", "--out", "results.db")
    assert (result.exit_code, result.stdout) == (2, ""), result.stderr
    (line,) = result.stderr.splitlines()
    assert line.startswith("metasched: ")
    assert says in line
    assert [each.name for each in tmp_path.iterdir()] == ["study.toml"]


def test_too_few_stretches_of_a_log_are_refused(tmp_path):
    with pytest.raises(GridError, match=r"window: found 34 h 0 min, of which mine has 2 with jobs"):
        Study.load(write_log_study(tmp_path, [("least = 4", 'least = 4\nwindow = "34h"')]))


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("least = 4", "least = 5", None),
        ("nodes = 20", "nodes = 21", 'holds runs with set {"nodes": 20}; found set'),
        ('"easy"]', '"easy", "sjf"]', "holds runs with policies"),
        ('scenario = "site"', 'scenario = "site"\nseed = 9', "holds runs with seed 0"),
    ],
)
def test_a_file_is_gone_on_with_by_its_own_study_only(old, new, says, tmp_path):
    out = tmp_path / "out.db"
    Study.load(write_log_study(tmp_path)).run(out, 1, watch=Silent())
    before = content(out)
    result = call(write_log_study(tmp_path, [(old, new)]), "--out", out, "--resume")
    assert result.exit_code == (0 if says is None else 2)
    if says is not None:
        (line,) = result.stderr.splitlines()
        assert f"{out}: {says}" in line
        assert line.endswith("accepted: the same, or another file")
        assert content(out) == before


def test_another_input_version_or_kind_of_file_is_refused(tmp_path):
    out, study = tmp_path / "out.db", write_log_study(tmp_path)
    Study.load(study).run(out, 1, watch=Silent())
    before = content(out)
    write_log_study(tmp_path, jobs=401)
    with pytest.raises(GridError, match=r"out\.db: holds runs with inputs .*mine\.swf"):
        Study.load(study).run(out, 1, resume=True, watch=Silent())
    assert content(out) == before
    write_log_study(tmp_path)
    with sqlite3.connect(out) as database:
        database.execute("UPDATE parameters SET value = '\"0\"' WHERE name = 'code digest'")
    with pytest.raises(GridError, match=r'out\.db: holds runs with code digest "0"; found code'):
        Study.load(study).run(out, 1, resume=True, watch=Silent())
    other = tmp_path / "other.db"
    other.write_text("mine, and by no means a study")
    with pytest.raises(GridError, match=r"other\.db: .* accepted: what `metasched study` wrote"):
        Study.load(study).run(other, 1, resume=True, watch=Silent())
    assert other.read_text() == "mine, and by no means a study"


def test_two_at_once_are_refused(file, whole):
    from experiments.studies.database import alone

    before = content(whole)
    with alone(whole), pytest.raises(GridError, match="another metasched is at work on it"):
        Study.load(file).run(whole, 1, resume=True, watch=Silent())
    assert content(whole) == before


def test_workers_and_dask_are_one_or_the_other(file, tmp_path):
    result = call(file, "--out", tmp_path / "no.db", "--workers", 2, "--dask", "tcp://a:1")
    assert result.exit_code == 2
    assert result.stderr == "metasched: --workers: found with --dask; accepted: one of them\n"
