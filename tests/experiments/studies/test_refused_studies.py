"""Studies and files that cannot be used are refused in one line, and stay as they are."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from experiments.studies.database import alone
from experiments.studies.outcome import StudyOutcome
from experiments.studies.study import Study
from grid.errors import GridError
from tests.experiments.small_studies import STUDY, Silent, call, content, write_log_study

BAD = [
    ("seed = 3", "seeds = 3", "study.toml: seeds: unknown key; did you mean seed"),
    ("seed = 3", "seed = -3", "study.toml: seed: found -3; accepted: from 0"),
    ("[policies]", "[police]", "study.toml: police: unknown key"),
    ('"ect"', '"etc"', "study.toml: policies: global scheduler 'etc': unknown; did you mean ect"),
    ('"fcfs"', '"fcfc"', "study.toml: policies: local scheduler 'fcfc': unknown; did you"),
    ('"fcfs"', '"titan"', "study.toml: policies.local: found ['titan', 'titan']; accepted: each"),
    (
        '[policies]\nglobal = ["muscle", "ect"]\nlocal = ["titan", "fcfs"]',
        '[[policies]]\nname = "x"\nglobal = "ect"\nlocal = "fcfs"\n'
        '[[policies]]\nname = "y"\nglobal = "ect"\nlocal = "fcfs"\nset = {latency = 0.5}',
        "study.toml: policies: found 'x' and 'y', which are the same; accepted: policies that diff",
    ),
    ("jobs = 60", "job = 150", "study.toml: set: job: unknown parameter; did you mean jobs"),
    ("jobs = 60", "seed = 3", ", or the key seed of a study"),
    ("load = [", "local = [", ", or the table [policies] of a study"),
    ("jobs = 60", "jobs = 0", "study.toml: set: jobs: found 0; accepted: from 1"),
    ("jobs = 60", "load = 1", "study.toml: vary: load: found in set too; accepted: one of them"),
    (
        "jobs = 60",
        "nodes = 9\nprocessors = 8",
        "study.toml: set: found nodes and processors, names of one parameter; accepted: one",
    ),
    ("load = [", "laod = [", "study.toml: vary: laod: unknown parameter; did you mean load"),
    ("0.9]", "-1]", "study.toml: vary: load: found -1; accepted: from "),
    ("[0.4, 0.9]", "0.4", "study.toml: vary.load: found 0.4; accepted: a list"),
    ("[0.4, 0.9]", "[]", "study.toml: vary.load: found []; accepted: a list of at least one"),
    ("least = 3", "least = 1", "study.toml: replications.least: found 1; accepted: from 2"),
    ("least = 3", "least = 0", "study.toml: replications.least: found 0; accepted: from 2"),
    ("most = 5", "most = 2", "study.toml: replications.most: found 2; accepted: from 3"),
    ("precision = 0.01", "", "most: found without `precision`; accepted: only with it"),
    ("most = 5", 'window = "4w"', "study.toml: replications.window: found without logs"),
    ("most = 5", 'time = "soon"', "study.toml: replications.time: found 'soon'; accepted: a time"),
    (
        '"mean_wait"',
        '"mean_weight"',
        "study.toml: report: found 'mean_weight'; did you mean mean_wait? accepted: a number of a "
        "run (docs/results.md), such as 'mean_wait'",
    ),
    (
        '"mean_wait"',
        '"stable"',
        "study.toml: report: found 'stable', which is true or false and has no mean; accepted: a n",
    ),
    (
        "seed = 3",
        'own_metrics = ["nowhere:mean"]',
        "study.toml: own_metrics: metric 'nowhere:mean': no module 'nowhere'",
    ),
    ('"quickstart"', '"quick"', "study.toml: scenario 'quick': unknown; did you mean "),
    (
        '"quickstart"',
        '"quick.toml"',
        "study.toml: scenario: quick.toml: no such file; accepted: a name; `metasched scenarios`",
    ),
    ("seed = 3", 'platform = "no.toml"', "no.toml: "),
    ("[vary]", '[workloads]\na = "no.swf"\n[vary]', "no.swf: cannot be read (No such file"),
    ("[vary]", "[vary", "study.toml: Expected ']'"),
    (
        '"Small"',
        r'"a\nb"',
        r"study.toml: title: found 'a\nb'; accepted: a printable text in one line",
    ),
    ('["titan", "fcfs"]', '[""]', "study.toml: policies.local.0: found ''; accepted: a name"),
    (
        '[policies]\nglobal = ["muscle", "ect"]\nlocal = ["titan", "fcfs"]',
        '[[policies]]\nlocal = "fcfs"',
        "policies.0.global: missing; accepted: the name of a global scheduler, such as 'home'",
    ),
    ('scenario = "quickstart"', "", "scenario: missing; accepted: the name of a scenario or its"),
    ("[0.4, 0.9]", "[2024-01-01]", "vary: load: found '2024-01-01'; accepted: a number"),
    ("[0.4, 0.9]", "[inf]", "vary.load.0: found inf; accepted: a finite number"),
    ("jobs = 60", "jobs = 07:00:00", "study.toml: set.jobs: found 07:00:00; accepted: a finite"),
    ("seed = 3", "seed = " + "9" * 4301, "study.toml: found a number of thousands of digits"),
    ("[vary]", '[workloads]\n" " = "no.swf"\n[vary]', "workloads: found ' '; accepted: a name"),
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


TWO = """
scenario = "quickstart"
metric = "mean_wait"
policies = [
    {name = "x", global = "ect", local = "easy"},
    {name = "y", global = "fixed-penalty", local = "easy", set = {OWN}},
]
SET
[replications]
least = 2
"""


@pytest.mark.parametrize(
    ("own", "shared", "says"),
    [
        ("max_size = 4", "jobs = 20", "max_size: found 4, but 10"),
        ("utilization = 0.5", "mode = 'open'", "load: found 0.5, but 0.85"),
        ("warmup = 5", "jobs = 20", "warmup: found 5, but 0"),
        (
            "max_deadline_ratio = 2",
            "assign_deadlines = true\nservice_classes = []",
            "max_deadline_ratio: found 2, but 5 in 'x'",
        ),
        ("nodes = 20", "mode = 'open'", "nodes: found 20, but auto"),
        ("q = 0.5, nodes = 20, latency = 1", "mode = 'batch'", ""),  # q means nothing here
        ("bsbw = 400, penalty = 1.5", "jobs = 20", ""),  # nor bsbw where links are none
        ("max_deadline_ratio = 2", "jobs = 20", ""),  # nobody reads deadlines
        ("assign_deadlines = true", "jobs = 20", ""),  # then all have them
        ("assign_deadlines = false", "mode = 'batch'", "assign_deadlines: found false, but true"),
        ("max_size = 10", "jobs = 20", ""),
        ("load_factor = 0.5", "nodes = 20", "load_factor: found 0.5, but 1"),
        ("kill_at_request = true", "", "kill_at_request: found true, but false"),
        ("nodes = 20, mode = 'open'", "", ""),
    ],
)
def test_policies_with_jobs_of_their_own_are_refused(own, shared, says, tmp_path):
    path, log = write_log_study(tmp_path), says.startswith(("load_f", "kill")) or not shared
    of_jobs = '[workloads]\nmine = "mine.swf"' if log else ""
    text = TWO.replace("OWN", own).replace("SET", f"[set]\n{shared}\n{of_jobs}")
    path.write_text(text.replace("quickstart", "site") if log else text)
    if not says:
        assert Study.load(path).definition.compared[1].set
        return
    result = call(path, "--out", tmp_path / "results.db")
    assert (result.exit_code, result.stdout) == (2, "")
    (line,) = result.stderr.splitlines()
    assert f"study.toml: policies: 'y': set: {says}" in line
    assert "in 'x': they would not have the same jobs; accepted: " in line


def test_what_is_neither_a_study_nor_a_number_of_workers_is_refused(tmp_path):
    with pytest.raises(GridError, match="study: found 3; accepted: a study file, or its name"):
        Study.load(3)
    study = Study.load(write_log_study(tmp_path))
    for workers in (0, "2"):
        with pytest.raises(GridError, match=r"workers: found .*; accepted: a whole number from 1"):
            study.run(tmp_path / "out.db", workers)
    assert not (tmp_path / "out.db").exists()


def test_parameters_without_effect_are_told(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text(
        STUDY.partition("[policies]")[0]
        + 'policies = [{global = "first-fit", local = "fcfs", set = {penalty = 1.5}, name = "a"},'
        + '{global = "fixed-penalty", local = "fcfs", set = {penalty = 1.5}, name = "b"},'
        + '{global = "ect", local = "fpfs", set = {local_max_jumps = 3}}]\n'
        + "[set]\njobs = 150\nmode = 'open'\nqueue = 5\nhalf_life = 60\n[vary]\nq = [0.5, 0.7]\n"
    )
    assert Study.load(path).notes == [
        "policies: a: parameters without effect: penalty (the global scheduler is not "
        "fixed-penalty)",
        "set: parameters without effect: queue (mode is open); half_life (the local scheduler is "
        "not fair-share)",
        "vary: parameters without effect: q (sizes is not powers-of-two)",
    ]


def test_too_few_stretches_of_a_log_are_refused(tmp_path):
    with pytest.raises(
        GridError, match=r"window: found 34 h 0 min, of which workload mine has 2 with jobs"
    ):
        Study.load(write_log_study(tmp_path, [("least = 4", 'least = 4\nwindow = "34h"')]))
    with pytest.raises(
        GridError, match=r"window: found 14 d 0 h, of which workload mine has 0 with jobs"
    ):
        Study.load(write_log_study(tmp_path, [("least = 4", 'least = 4\nwindow = "2w"')]))


@pytest.mark.parametrize(
    ("old", "new", "table"),
    [
        ("[set]", '[set]\nwindow_start = "1w"', "set"),
        ("[set]", '[vary]\nwindow_start = ["1w"]\n[set]', "vary"),
        ('"site"', '"mine.toml"', "scenario"),
        (
            '[policies]\nglobal = "dll"\nlocal = ["fcfs", "easy"]',
            '[[policies]]\nglobal = "dll"\nlocal = "easy"\nset = {window_start = "1w"}\nname = "a"',
            "policies: 'a': set",
        ),
    ],
)
def test_windows_of_two_kinds_are_refused_by_the_table_of_the_one(tmp_path, old, new, table):
    (tmp_path / "mine.toml").write_text(
        'parameters = {window_start = "1w"}\n[[clusters]]\nname = "A"\nsize = 20\n'
    )
    changes = [(old, new), ("least = 4", 'least = 4\nwindow = "1w"')]
    with pytest.raises(GridError) as refused:
        Study.load(write_log_study(tmp_path, changes))
    assert str(refused.value).endswith(
        f"study.toml: {table}: window_start: found with replications.window; accepted: one of "
        "them: windows follow each other from the first submission on"
    )


def test_a_misspelt_name_is_told_before_what_logs_lack(tmp_path):
    changes = [("least = 4", 'least = 4\nwindow = "34h"'), ("nodes = 20", "nodse = 20")]
    with pytest.raises(GridError, match=r"set: nodse: unknown parameter"):
        Study.load(write_log_study(tmp_path, changes))
    changes[1] = ("[set]", "[vary]\nlaod = [1]\n[set]")
    with pytest.raises(GridError, match=r"vary: laod: unknown parameter"):
        Study.load(write_log_study(tmp_path, changes))


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("least = 4", "least = 5", None),
        ("nodes = 20", "nodes = 21", "holds runs with set: nodes: 20; found set: nodes: 21; acc"),
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


@pytest.mark.thorough
def test_another_input_version_or_kind_of_file_is_refused(tmp_path):
    out, study = tmp_path / "out.db", write_log_study(tmp_path)
    Study.load(study).run(out, 1, watch=Silent())
    before = content(out)
    write_log_study(tmp_path, jobs=401)
    with pytest.raises(GridError, match=r"out\.db: found mine\.swf changed since its runs"):
        Study.load(study).run(out, 1, resume=True, watch=Silent())
    assert content(out) == before
    write_log_study(tmp_path)
    with closing(sqlite3.connect(out)) as database, database:
        database.execute("UPDATE parameters SET value = '\"0\"' WHERE name = 'code digest'")
    with pytest.raises(GridError, match=r'out\.db: holds runs with code digest "0"; found code'):
        Study.load(study).run(out, 1, resume=True, watch=Silent())
    other = tmp_path / "other.db"
    other.write_text("mine, and by no means a study")
    with pytest.raises(GridError, match=r"other\.db: .* accepted: what `metasched study` wrote"):
        Study.load(study).run(other, 1, resume=True, watch=Silent())
    assert other.read_text() == "mine, and by no means a study"


@pytest.mark.thorough
def test_a_file_that_this_version_cannot_read_is_refused(tmp_path):
    """As another version leaves it, or a kill between its first two transactions."""
    out = tmp_path / "out.db"
    Study.load(write_log_study(tmp_path)).run(out, 1, watch=Silent())
    for change in (
        """UPDATE notes SET value = '{"measure": 1}' WHERE name = 'study'""",
        "DELETE FROM notes",
    ):
        with closing(sqlite3.connect(out)) as database, database:
            database.execute(change)
        with pytest.raises(GridError, match=r"out\.db: holds no study .*; accepted: what"):
            StudyOutcome.read(out)


@pytest.mark.thorough
def test_folders_of_a_file_are_made_or_what_is_in_the_way_is_told(tmp_path):
    study = write_log_study(tmp_path)
    Study.load(study).run(tmp_path / "new" / "folder" / "out.db", 1, watch=Silent())
    assert [each.name for each in (tmp_path / "new" / "folder").iterdir()] == ["out.db"]
    in_the_way = pytest.raises(GridError, match=r"study\.toml/out\.db: cannot write results")
    with in_the_way, alone(study / "out.db"):
        pass


@pytest.mark.parametrize(
    ("table", "says"),
    [
        (
            '[vary]\nprediction = ["exact", "requested"]\n[set]',
            "vary, with workload bare: prediction: found 'requested'; accepted: 'exact', or a log "
            "whose jobs have a requested time",
        ),
        (
            "[set]\nwarmup = 2",
            "set, with workload bare: warmup: found 2; accepted: a whole number below 2, the jobs "
            "of the run",
        ),
    ],
)
def test_what_one_log_of_several_cannot_bear_names_the_log_and_the_key(table, says, tmp_path):
    changes = [("[set]", table), ("[workloads]", '[workloads]\nbare = "bare.csv"')]
    (tmp_path / "bare.csv").write_text("arrival,size,runtime\n0,4,60\n5,4,60\n")
    path = write_log_study(tmp_path, changes)
    with pytest.raises(GridError) as refused:
        Study.load(path)
    assert str(refused.value) == f"{path}: {says}"


def test_a_job_too_large_in_a_later_window_is_refused_before_any_run(tmp_path):
    changes = [("[set]", "[set]\nmode = 'per-cluster'"), ("least = 4", 'least = 3\nwindow = "1h"')]
    path = write_log_study(tmp_path, [*changes, ("mine.swf", "mine.csv")])
    sizes = [5, 20, 20, 20, 21]
    rows = [f"{1800 * number},{size},60\n" for number, size in enumerate([*sizes, 4, 4])]
    (tmp_path / "mine.csv").write_text(f"arrival,size,runtime\n{''.join(rows)}")
    with pytest.raises(GridError, match=r"mine\.csv: size of job 5: found 21; accepted: at most"):
        Study.load(path)
    path.write_text(path.read_text().replace("least = 3", "least = 2"))
    assert Study.load(path)
