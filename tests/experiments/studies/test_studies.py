"""Studies carried out: on whatever workers, killed and gone on with, the results are the same."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from experiments.studies import asked
from experiments.studies.database import StudyDatabase, alone
from experiments.studies.outcome import StudyOutcome
from experiments.studies.study import PACKAGED, Study
from grid.errors import GridError
from tests.experiments.small_studies import (
    RUNS,
    STUDY,
    Silent,
    call,
    content,
    cpu_seconds,
    kept,
    write_log_study,
)

ROOT = Path(__file__).resolve().parents[3]


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


# The same whatever happens ----------------------------------------------------------------------


@pytest.mark.thorough
def test_one_worker_comes_to_the_same(file, whole, tmp_path):
    Study.load(file).run(tmp_path / "one.db", workers=1, watch=Silent())
    assert content(tmp_path / "one.db") == content(whole)


@pytest.mark.thorough
def test_workers_that_are_killed_are_replaced(file, whole, tmp_path):
    watch = Silent(lambda: [each.pid for each in multiprocessing.active_children()])
    Study.load(file).run(tmp_path / "killed.db", workers=2, watch=watch)
    assert watch.workers is None
    assert content(tmp_path / "killed.db") == content(whole)


def below(process):
    """Return the processes that a process has started, and those that they have."""
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return children + [each for child in children for each in below(child)]


@pytest.mark.thorough
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
def test_a_study_that_is_ended_goes_on(file, whole, tmp_path, end):
    out = tmp_path / "study.db"
    code = "from experiments.cli.app import main; main()"
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
    while kept(out) < 1 and process.poll() is None and time.monotonic() < until:
        time.sleep(0.02)
    started = below(process.pid)
    process.send_signal(end)
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == (-9 if end == signal.SIGKILL else 130)
    assert stdout == ""
    assert "Traceback" not in stderr
    how = "metasched: interrupted; the same command with --resume goes on from there"
    assert (how in stderr.splitlines()) == (end == signal.SIGINT)
    assert len(started) >= 4  # who clears up, who forks, two workers
    while any(Path(f"/proc/{each}").exists() for each in started):
        assert time.monotonic() < until
        time.sleep(0.05)
    before = cpu_seconds(out)
    assert 1 <= len(before) < RUNS
    assert StudyOutcome.read(out).ended is None
    result = call(file, "--out", out)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == (
        f"metasched: {out}: found a file; accepted: a new file, or, with --resume, that of the "
        "same study\n"
    )
    watch = Silent()
    Study.load(file).run(out, workers=2, resume=True, watch=watch)
    assert content(out) == content(whole)
    assert cpu_seconds(out).items() >= before.items()  # none was done again
    assert watch.begun[0][1] <= len(before)
    again = Silent()
    Study.load(file).run(out, workers=2, resume=True, watch=again)
    assert {runs for runs, _ in again.begun} == {0}


@pytest.mark.thorough
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


@pytest.mark.thorough
def test_dask_comes_to_the_same_though_workers_are_killed(file, whole, cluster, tmp_path):
    def pids():
        return [nanny.pid for nanny in cluster.workers.values()][:1]

    watch = Silent(pids)
    address = cluster.scheduler_address
    Study.load(file).run(tmp_path / "dask.db", dask=address, watch=watch)
    assert watch.workers is None
    assert content(tmp_path / "dask.db") == content(whole)


@pytest.mark.thorough
def test_logs_that_dask_workers_have_not_are_told(cluster, tmp_path, monkeypatch):
    study = Study.load(write_log_study(tmp_path))
    (tmp_path / "mine.swf").write_text("moved away")
    with pytest.raises(GridError, match=r"worker tcp://.*mine\.swf: found another content"):
        study.run(tmp_path / "out.db", dask=cluster.scheduler_address, watch=Silent())
    assert not (tmp_path / "out.db").exists()


@pytest.mark.thorough
def test_an_address_without_dask_is_refused_in_one_line(file, tmp_path):
    pytest.importorskip("distributed")
    for address, why in (("tcp://127.0.0.1:9", "Timed out"), ("nowhere", "missing port")):
        result = call(file, "--out", tmp_path / "no.db", "--dask", address)
        assert (result.exit_code, result.stdout) == (2, "")
        line = result.stderr.splitlines()[-1]  # a slow machine tells before how long it has been
        assert line.startswith(f"metasched: dask {address}: cannot be reached ({why}")
        assert "accepted: the address of a Dask scheduler" in line
    assert not (tmp_path / "no.db").exists()


def test_without_dask_its_extra_is_named(file, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    result = call(file, "--out", tmp_path / "no.db", "--dask", "tcp://127.0.0.1:9")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.endswith(
        "metasched: dask: Dask is not installed; accepted: metasched with the extra `dask`, as "
        "in pip install 'metasched[dask]'\n"
    )
    assert not (tmp_path / "no.db").exists()


# How far it goes --------------------------------------------------------------------------------


@pytest.mark.thorough
def test_a_run_is_that_of_the_command(whole, file):
    from experiments.run.running import run
    from experiments.scenario.scenario import Scenario

    row = StudyOutcome.read(whole).runs.iloc[-1]
    scenario = Scenario.load("quickstart").changed(
        ["jobs=60", f"load={row['load']}"], global_scheduler="ect", local_scheduler="fcfs"
    )
    metrics = run(scenario, seed=int(row["seed"])).summary()["metrics"]
    assert row["policy"] == "ect over fcfs"
    assert row["mean_turnaround"] == metrics["mean_turnaround"]
    assert row["messages/transfer"] == metrics["messages"]["transfer"]


@pytest.mark.thorough
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
    assert outcome.ended == "The study ended by its time of 0.001 s"
    assert f"{outcome.ended}." in outcome.sentences()


@pytest.mark.sampled(1)
@pytest.mark.parametrize("values", ['["auto", 64]', '[64, "auto"]', '["auto", true]'])
def test_values_of_a_parameter_may_be_words_and_numbers(values, tmp_path):
    name = "assign_deadlines" if "true" in values else "nodes"
    study = tmp_path / "study.toml"
    study.write_text(
        f'scenario = "muscle"\n[policies]\nglobal = ["ect"]\nlocal = ["easy"]\n'
        '[set]\nmode = "open"\njobs = 50\n'
        f"[vary]\n{name} = {values}\n[replications]\nleast = 2\nmost = 3\nprecision = 1e-9\n"
    )
    outcome = Study.load(study).run(tmp_path / "runs.db", 1, watch=Silent())
    assert len(outcome.runs) == 2 * 3  # so that it looked at each value's own


# The command ------------------------------------------------------------------------------------


@pytest.mark.thorough
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


@pytest.mark.thorough
def test_two_at_once_are_refused(file, whole):
    before = content(whole)
    with alone(whole), pytest.raises(GridError, match="another metasched is at work on it"):
        Study.load(file).run(whole, 1, resume=True, watch=Silent())
    assert content(whole) == before


@pytest.mark.thorough
def test_workers_and_dask_are_one_or_the_other(file, tmp_path):
    result = call(file, "--out", tmp_path / "no.db", "--workers", 2, "--dask", "tcp://a:1")
    assert result.exit_code == 2
    assert result.stderr == "metasched: --workers: found with --dask; accepted: one of them\n"


@pytest.mark.thorough
def test_a_script_that_workers_would_run_again_is_told_so(tmp_path):
    (tmp_path / "small.toml").write_text(
        'scenario = "quickstart"\nreplications.least = 2\n[policies]\nglobal = ["ect"]\n'
        'local = ["fcfs"]\n[set]\njobs = 40\n'
    )
    script = tmp_path / "unguarded.py"
    script.write_text('from metasched import Study\nStudy.load("small.toml").run("new/found.db")\n')
    done = subprocess.run(
        [sys.executable, script], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 1
    assert done.stderr.count("Traceback") == 1
    assert done.stderr.rstrip().endswith('below `if __name__ == "__main__":` in a script')
    assert not (tmp_path / "new").exists()
    words = "run", "quickstart", "--set", "jobs=40", "--replications", "2"
    script.write_text(f"from experiments.cli.app import main\nmain({[*words]})\n")
    done = subprocess.run(
        [sys.executable, script], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


@pytest.mark.thorough
def test_a_study_that_fails_before_a_run_has_ended_leaves_no_file(tmp_path, monkeypatch):
    """But for one that was there before."""
    old, new = tmp_path / "old.db", tmp_path / "new" / "out.db"
    old.write_bytes(b"")
    study = Study.load(write_log_study(tmp_path))
    monkeypatch.delattr(StudyDatabase, "plan")
    for path in (old, new):
        with pytest.raises(AttributeError, match="plan"):
            study.run(path, 1, resume=True, watch=Silent())
    assert (old.exists(), new.parent.exists()) == (True, False)


@pytest.mark.thorough
def test_a_study_that_fails_later_keeps_its_runs(tmp_path, monkeypatch):
    study = Study.load(write_log_study(tmp_path))
    monkeypatch.delattr(Study, "_next_targets")
    with pytest.raises(AttributeError, match="_next_targets"):
        study.run(tmp_path / "out.db", 1, watch=Silent())
    assert kept(tmp_path / "out.db") == 4


def test_a_folder_is_no_file_for_results(tmp_path):
    got = call(write_log_study(tmp_path), "--out", tmp_path, "--resume")
    assert (got.exit_code, got.stdout) == (2, "")
    assert f"{tmp_path}: found a folder; accepted: a new file" in got.stderr
    with pytest.raises(GridError, match="out: found 3; accepted: a path"):
        Study.load(tmp_path / "study.toml").run(3)


def test_a_name_of_another_kind_is_refused_for_results(tmp_path):
    for name, end in (("x.csv", ".csv"), ("x.HTML", ".HTML"), ("x.swf.gz", ".gz")):
        got = call(write_log_study(tmp_path), "--out", tmp_path / name)
        assert (got.exit_code, got.stdout) == (2, "")
        assert f"{name}: found the name of a file of another kind, {end}; acc" in got.stderr
        assert not (tmp_path / name).exists()


@pytest.mark.thorough
def test_a_metric_that_fails_in_a_short_trial_alone_is_not_said_to_be_null(tmp_path):
    (tmp_path / "late_metric.py").write_text(
        "def hundredth(result):\n    return float(result.counted['wait'].iloc[99])\n"
    )
    (tmp_path / "late.toml").write_text(
        'scenario = "quickstart"\nmetric = "hundredth"\nown_metrics = ["late_metric:hundredth"]\n'
        'policies = {global = ["ect", "dll"], local = ["fcfs"]}\n'
        'set = {mode = "open", jobs = 300}\nreplications = {least = 2}\n'
    )
    got = call(tmp_path / "late.toml", "--out", tmp_path / "late.db", "--workers", 1)
    assert got.exit_code == 0, got.output
    assert "it is null" not in got.stderr
    assert "metric late_metric:hundredth: IndexError" in got.stderr
    assert ", in a short trial run\n" in got.stderr


def test_a_misspelt_metric_is_told_before_anything_runs(tmp_path, monkeypatch):
    def run(*_):
        raise AssertionError("a run was tried")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(asked, "numbers_of", run)
    Path("study.toml").write_text(STUDY.replace('"mean_wait"', '"mean_weight"', 1))
    result = call("study.toml", "--out", "results.db")
    assert result.exit_code == 2, result.stderr
    assert "report: found 'mean_weight'; did you mean" in result.stderr
