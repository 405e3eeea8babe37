"""The jobs of a study: the same for all policies, drawn anew, or stretches of logs."""

from __future__ import annotations

import re

import pytest

from experiments.scenario.jobs import read_source
from experiments.studies.study import Study
from experiments.studies.study_run import numbers_of
from experiments.sweeps import inputs
from grid.errors import GridError
from tests.experiments.small_studies import (
    STUDY,
    Silent,
    call,
    jobs_of,
    write_log_study,
)


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


@pytest.mark.thorough
def test_a_parameter_has_an_effect_if_jobs_give_occasion_for_one_of_its_values(tmp_path):
    rows = "".join(f"{30 * at},{1 + at % 8},60\n" for at in range(20))
    (tmp_path / "jobs.csv").write_text(f"arrival,size,runtime\n{rows}")
    for values, told in (("{}, {C1 = {C2 = 0.5}}", False), ("{}, {C2 = {C1 = 0.5}}", True)):
        (tmp_path / "study.toml").write_text(
            'scenario = "quickstart"\nmetric = "mean_wait"\n'
            'policies = [{global = "home", local = "fcfs"}, {global = "ect", local = "fcfs"}]\n'
            f"[vary]\nspeeds = [{values}]\n"
            '[workloads]\nw = ["C1=jobs.csv"]\n[replications]\nleast = 2\n'
        )
        got = call(tmp_path / "study.toml", "--out", tmp_path / f"{told}.db", "--workers", 1)
        assert got.exit_code == 0, got.output
        assert ("parameters without effect: speeds" in got.stderr) == told


@pytest.mark.thorough
def test_a_log_that_is_replayed_whole_is_not_repeated(tmp_path):
    outcome = Study.load(write_log_study(tmp_path)).run(tmp_path / "out.db", 1, watch=Silent())
    assert outcome.points["n"].tolist() == [2, 2]
    assert outcome.points["mean_wait half_width"].tolist() == [0.0, 0.0]
    assert outcome.ranking["policy"].tolist() == ["dll over easy", "dll over fcfs"]
    assert outcome.ranking["rank"].tolist() == [1, 2]
    assert "nothing is random there" in " ".join(outcome.sentences())


@pytest.mark.thorough
def test_jobs_that_all_runs_reject_are_told(tmp_path):
    path = write_log_study(tmp_path, [("nodes = 20", ""), ("least = 4", "least = 2")])
    path.write_text(path.read_text().replace('"site"', '"site"\nplatform = "tiny.toml"'))
    (tmp_path / "tiny.toml").write_text('[[clusters]]\nname = "A"\nsize = 4\n')
    (tmp_path / "wide.csv").write_text("arrival,size,runtime\n0,8,60\n5,9,60\n")
    path.write_text(path.read_text().replace("mine.swf", "wide.csv"))
    got = call(path, "--out", tmp_path / "out.db", "--workers", 1)
    assert got.exit_code == 1
    assert got.stderr.endswith("metasched: all jobs of all runs were rejected\n")
    told = "All jobs of all runs were rejected: there is nothing to compare.\n"
    assert got.stdout.replace("\n  ", " ").endswith(f"- {told}")
    assert "holds for" not in got.stdout
    assert "means" not in got.stdout


@pytest.mark.thorough
def test_jobs_that_a_run_leaves_are_told(tmp_path):
    path = write_log_study(tmp_path, [("nodes = 20", "")])
    path.write_text(path.read_text().replace('"site"', '"site"\nplatform = "tiny.toml"'))
    (tmp_path / "tiny.toml").write_text(
        '[[clusters]]\nname = "A"\nsize = 8\n\n[[changes]]\nat = 30\nwhat = "fail"\ncluster = "A"\n'
    )
    (tmp_path / "mine.csv").write_text("arrival,size,runtime\n0,4,20\n5,8,60\n")
    path.write_text(path.read_text().replace("mine.swf", "mine.csv"))
    got = call(path, "--out", tmp_path / "out.db", "--workers", 1)
    assert got.exit_code == 1, got.stderr
    assert "metasched: 4 jobs not finished: " in got.stderr


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


@pytest.mark.thorough
def test_code_of_ones_own_beside_the_study(tmp_path):
    """It is found, and a study does not go on when it was edited, or what it imports."""
    sources = {
        "beside_study.py": (
            "from agents.balancers import DynamicLeastLoadScheduler\nimport beside_policy\n"
            "class Mine(DynamicLeastLoadScheduler):\n"
            "    'Mine.'\n"
        ),
        "beside_policy.py": "",
        "beside_metric.py": "def one(result):\n    return 1.0\n",
    }
    for name, text in sources.items():
        (tmp_path / name).write_text(text)
    changes = [
        ('global = "dll"', 'global = ["dll", "beside_study:Mine"]'),
        ('metric = "mean_wait"', 'metric = "mean_wait"\nown_metrics = ["beside_metric:one"]'),
    ]
    study = Study.load(write_log_study(tmp_path, changes))
    outcome = study.run(tmp_path / "out.db", 1, watch=Silent())
    assert outcome.ranking["rank"].tolist() == [1, 1, 3, 3]
    assert set(outcome.provenance["own code"]) == {*sources}
    for name in ("beside_policy.py", "beside_metric.py"):
        (tmp_path / name).write_text(f"{sources[name]}# another\n")
    says = r"out\.db: found beside_metric\.py, beside_policy\.py changed since its runs; accepted: "
    with pytest.raises(GridError, match=says):
        study.run(tmp_path / "out.db", 1, resume=True, watch=Silent())
    for name, text in sources.items():
        (tmp_path / name).write_text(text)
    study.run(tmp_path / "out.db", 1, resume=True, watch=Silent())


@pytest.mark.thorough
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


def test_stretches_are_found_however_short_they_are(tmp_path):
    """A log has far more of them without a job than memory could hold."""
    study = Study.load(
        write_log_study(tmp_path, [("least = 4", 'least = 4\nwindow = "0.000001s"')])
    )
    (workload,) = study.workloads
    assert 380 <= len(workload.stretches) <= 400
    starts = [start for start, _ in workload.stretches]
    assert starts == sorted(set(starts))


@pytest.mark.thorough
def test_stretches_too_short_to_be_counted_are_refused(tmp_path):
    file = write_log_study(tmp_path, [("least = 4", "least = 4\nwindow = 5e-324")])
    with pytest.raises(GridError, match=r"window: found 5e-324 s; accepted: a longer one"):
        Study.load(file)


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("end", "idle", "have"), [(35, 2, "have"), (55, 1, "has")])
def test_sites_without_jobs_in_windows_are_told(tmp_path, end, idle, have):
    for name, last in (("a", 100), ("b", end), ("c", 100)):
        rows = "".join(f"{arrival},1,5\n" for arrival in range(0, last, 10))
        (tmp_path / f"{name}.csv").write_text(f"arrival,size,runtime\n{rows}")
    path = tmp_path / "sites.toml"
    path.write_text(
        'scenario = "quickstart"\nreplications = {least = 4, window = "20s"}\n'
        '[workloads]\nthree = ["C1=a.csv", "C2=b.csv", "C3=c.csv"]\n'
        'two = ["C1=a.csv", "C3=c.csv"]\n'
        '[policies]\nglobal = ["dll", "ect"]\nlocal = ["fcfs"]\n[set]\nprediction = "exact"\n'
    )
    said = f"of 4 windows of three, {idle} {have} no job of C2"
    study = Study.load(path)
    assert study.notes == [said]
    outcome = study.run(tmp_path / "out.db", 1, watch=Silent())
    assert f"O{said[1:]}." in [*outcome.sentences()]
    assert [each.idle for each in study.workloads] == [{"C2": idle}, {}]


@pytest.mark.thorough
def test_the_trial_of_a_log_bears_what_the_whole_does(tmp_path):
    """Its first jobs are fewer than the warm-up, and tell no requested time and no user."""
    (tmp_path / "mine.csv").write_text(
        "arrival,size,runtime,requested_time,user,deadline\n"
        + "".join(f"{60 * i},1,600,,,\n" for i in range(100))
        + "".join(f"{60 * i},1,600,900,{i % 3},{60 * i + 800}\n" for i in range(100, 200))
    )
    (tmp_path / "study.toml").write_text(
        'scenario = "site"\nmetric = "deadlines_met"\nworkloads = {mine = "mine.csv"}\n'
        'policies = [{global = "dll", local = "easy"}, {global = "dll", local = "fcfs"}]\n'
        "set = {warmup = 120, nodes = 20, assign_deadlines = false}\nreplications = {least = 2}\n"
        'vary = {prediction = ["requested", "learned"]}\n'
    )
    study = Study.load(tmp_path / "study.toml")
    outcome = study.run(tmp_path / "out.db", 1, watch=Silent())
    assert outcome.points["n"].tolist() == [2] * 4
    assert (outcome.runs["deadlines_met"] > 0).all()


def _in_hours(folder, hours, changes):
    """Write a study of windows of an hour, each with so many jobs and some with requested times."""
    path = write_log_study(folder, changes)
    rows = [
        f"{3600 * hour + i},1,5,{9 if requested else ''}\n"
        for hour, (jobs, requested) in enumerate(hours)
        for i in range(jobs)
    ]
    (folder / "mine.csv").write_text(f"arrival,size,runtime,requested_time\n{''.join(rows)}")
    path.write_text(path.read_text().replace("mine.swf", "mine.csv"))
    return path


HOURS = [(9, True), (3, True), (8, True), (0, True), (9, False), (2, False), (7, True), (1, True)]


@pytest.mark.thorough
def test_windows_that_runs_cannot_have_are_left_out_and_told(tmp_path):
    changes = [
        ("least = 4", 'least = 3\nwindow = "1h"'),
        ("[set]", "[vary]\nwarmup = [0, 3]\n[set]\nprediction = 'requested'"),
    ]
    study = Study.load(_in_hours(tmp_path, HOURS, changes))
    assert [start / 3600 for start, _ in study.workloads[0].stretches] == [0, 2, 6]
    told = [
        "left out: 2 windows of mine with no more jobs than warmup, 3",
        "left out: 1 window of mine whose jobs do not have a requested time",
        "warmup: means leave out the first 0 or 3 of the jobs of each run",
    ]
    assert study.notes == told
    outcome = study.run(tmp_path / "out.db", 1, watch=Silent())
    assert outcome.points["n"].tolist() == [3] * 4
    assert {f"{line[0].upper()}{line[1:]}." for line in told} <= {*outcome.sentences()}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("jobs", ["3 jobs", "2 jobs of 2 windows"])
@pytest.mark.parametrize("prediction", ["requested", "exact"])
def test_jobs_without_a_requested_time_are_told_once(tmp_path, jobs, prediction):
    changes = [
        ("least = 4", "least = 2" + '\nwindow = "1h"' * ("windows" in jobs)),
        ("[set]", f"[set]\nprediction = '{prediction}'"),
    ]
    path = _in_hours(tmp_path, [(4, True), (4, True), (1, True)], changes)
    lines = (tmp_path / "mine.csv").read_text().splitlines()
    for without in (2, 6, 9):  # the last of them in what is no whole window
        lines[without] = lines[without].removesuffix("9")
    (tmp_path / "mine.csv").write_text("\n".join(lines))
    why = "expected to take the mean of all jobs that had ended by then, 1 h before the first had"
    told = f"prediction requested: {jobs} of mine without a requested time: {why}"
    study = Study.load(path)
    assert study.notes == ([told] if prediction == "requested" else [])
    sentences = [*study.run(tmp_path / "out.db", 1, watch=Silent()).sentences()]
    assert sentences.count(f"P{told[1:]}.") == (prediction == "requested")


@pytest.mark.parametrize(("metric", "told"), [("mean_wait", 0), ("prediction_accuracy", 1)])
def test_jobs_without_a_requested_time_concern_who_goes_by_it_or_measures_it(
    tmp_path, metric, told
):
    changes = [
        ("mean_wait", metric),
        ('["fcfs", "easy"]', '"fcfs"'),
        ("[set]", "[set]\nprediction = 'requested'"),
    ]
    notes = Study.load(_in_hours(tmp_path, [(2, True), (1, False)], changes)).notes
    assert sum("without a requested time" in each for each in notes) == told


def test_whom_jobs_without_a_home_concern_is_told(tmp_path):
    changes = [('"dll"', '["dll", "home", "no-share"]'), ("[set]", "[set]\nclusters = 2")]
    told = (
        "workload mine: 400 jobs submitted through no cluster: under home over fcfs and home over "
        "easy they go where dll would send them; under no-share over fcfs and no-share over easy "
        "they go where migration-only would send them"
    )
    assert told in Study.load(write_log_study(tmp_path, changes)).notes
    changes.append(("least = 4", 'least = 2\nwindow = "1h"'))
    log = (tmp_path / "mine.swf").read_text().splitlines()
    of_two = sum(float(line.split()[1]) - float(log[0].split()[1]) < 7200 for line in log)
    here = told.replace("400 jobs", f"{of_two} jobs of 2 windows")
    assert here in Study.load(write_log_study(tmp_path, changes)).notes


@pytest.mark.thorough
def test_logs_that_have_no_more_windows_are_told_where_precision_lacks(tmp_path):
    short = "at worst [^;]*; mine has no more windows of that length"
    for most, said in ((5, True), (4, False)):
        how = f'least = 2\nmost = {most}\nprecision = 1e-9\nwindow = "24h"'
        path = write_log_study(tmp_path, [("least = 4", how)])
        outcome = Study.load(path).run(tmp_path / f"{most}.db", 1, watch=Silent())
        (line,) = [each for each in outcome.sentences() if "did not reach the precision" in each]
        assert bool(re.search(short, line)) == said


def test_only_windows_before_the_last_one_that_is_run_are_told(tmp_path):
    changes = [("least = 4", 'least = 2\nwindow = "1h"'), ("[set]", "[set]\nwarmup = 1")]
    study = Study.load(
        _in_hours(tmp_path, [(9, False), (2, False), (1, False), (3, False)], changes)
    )
    assert study.notes == [
        "prediction exact: jobs are expected to take as long as they do, for none requests a time; "
        "prediction learned goes by those that ended",
        "warmup: means leave out the first 1 of the jobs of each run",
    ]


def test_too_few_windows_that_runs_can_have_are_refused_before_any(tmp_path):
    changes = [("least = 4", 'least = 5\nwindow = "1h"'), ("[set]", "[set]\nwarmup = 3")]
    got = call(_in_hours(tmp_path, HOURS, changes), "--out", tmp_path / "out.db")
    assert got.exit_code == 2
    (line,) = [each for each in got.stderr.splitlines() if each.startswith("metasched")]
    assert line.endswith(
        "study.toml: replications.window: found 1 h 0 min, of which workload mine has 6 with "
        "jobs in 7 h 0 min, 2 of them with no more jobs than warmup, 3; accepted: one of which "
        "there are at least 5, `least`"
    )
    assert not (tmp_path / "out.db").exists()
