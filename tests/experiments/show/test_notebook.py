"""Three lines of a notebook, and what objects show of themselves there."""

from __future__ import annotations

import dataclasses
import math
import re
import subprocess
import sys

import pandas as pd
import pytest

import metasched
from experiments.studies.outcome import StudyOutcome
from experiments.sweeps.replications import Replications
from grid.errors import GridError
from tests.experiments.made_up_studies import made_up
from tests.experiments.small_results import plain, result_of

HURT = "<script>hurt()</script>"


def test_three_lines_give_a_run_and_a_table():
    scenario = metasched.Scenario.load("quickstart").changed(["jobs=30"])
    result = metasched.run(scenario, seed=1)
    assert isinstance(result.jobs, pd.DataFrame)
    assert len(result.jobs) == 30
    assert repr(scenario) == "<Scenario quickstart: muscle over titan, clusters 4, " + (
        f"processors {scenario.platform.sizes.sum()}, jobs synthetic>"
    )
    assert repr(result).startswith("<Result quickstart: muscle over titan, seed 1, jobs completed")
    assert ", drawn deadlines met " in repr(result)


def test_a_run_is_of_a_scenario_its_name_or_its_file(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(
        'global = "ect"\nlocal = "fcfs"\n[[clusters]]\nname = "C1"\nsize = 8\n'
        '[parameters]\nmode = "open"\njobs = 20\nmax_size = 8\n'
    )
    by_path = metasched.run(file, seed=3)
    for same in (str(file), metasched.Scenario.load(file)):
        assert metasched.run(same, seed=3).jobs.equals(by_path.jobs)
    by_name = metasched.run("muscle-case-study")
    assert by_name.scenario.name == "muscle-case-study"
    for wrong, found in (
        ("quickstrat", "scenario 'quickstrat': unknown; did you mean quickstart?"),
        (tmp_path / "no.toml", f"{tmp_path / 'no.toml'}: no such file"),
        (5, "run: found 5; accepted: a Scenario, the name of one, or its file"),
    ):
        with pytest.raises(GridError, match=re.escape(found)):
            metasched.run(wrong)


def test_keywords_change_parameters_and_fields():
    scenario = metasched.Scenario.load("quickstart")
    changed = scenario.changed(jobs=30, load=0.5, local_scheduler="sjf")
    assert (changed.parameters.jobs, changed.parameters.load) == (30, 0.5)
    assert changed == scenario.changed(["jobs=30", "load=0.5"], local_scheduler="sjf")
    for given, words in (
        ({"jbos": 3}, "changed: jbos: unknown parameter; did you mean jobs?"),
        ({"jobs": "many"}, "changed: jobs: found 'many'; "),
        ({"settings": ["jobs"]}, "changed: found 'jobs'; accepted: name=value"),
    ):
        with pytest.raises(GridError) as caught:
            scenario.changed(**given)
        assert str(caught.value).startswith(words)
        assert "--set" not in str(caught.value)


def test_importing_loads_nothing():
    line = "import sys, metasched; print({'numpy', 'mesa', 'experiments'} & {*sys.modules})"
    found = subprocess.run([sys.executable, "-c", line], capture_output=True, text=True)
    assert found.stdout.strip() == "set()", found.stderr


def test_all_names_are_there_and_no_others():
    assert all(getattr(metasched, name) is not None for name in metasched.__all__)
    assert dir(metasched) == sorted(metasched.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Runner'"):
        _ = metasched.Runner


def test_a_result_shows_its_numbers_and_escapes_text(result):
    named = dataclasses.replace(result.scenario, name=HURT)
    shown = dataclasses.replace(result, scenario=named)._repr_html_()
    assert "&lt;script&gt;hurt()&lt;/script&gt;" in shown
    assert "<script" not in shown
    assert "2 of 3" in shown
    assert "1 job was rejected and never started" in shown
    assert "<td>C1</td>" in shown


def test_a_result_without_its_jobs_shows_its_numbers(result):
    shown = dataclasses.replace(result, records=None)._repr_html_()
    assert "2 of 3" in shown
    assert "<li>" not in shown


def test_a_result_shows_who_gains_by_sharing(result):
    assert ">origin<" not in result._repr_html_()
    changes = {"mode": "open", "local_share": 0.9, "local_scheduler": "easy"}
    shown = metasched.run(result.scenario.changed(jobs=40, global_scheduler="dll", **changes))
    assert ">origin<" in shown._repr_html_()
    assert "through none: (grid)" in shown._repr_html_()


def test_a_scenario_shows_its_clusters(result):
    shown = dataclasses.replace(result.scenario, title=HURT)._repr_html_()
    assert "<td>C4</td>" in shown
    assert "<script" not in shown


def test_replications_show_means(result):
    counts = {"completed": 9, "rejected": 0, "unfinished": 0, "stable": 1.0}
    runs = pd.DataFrame({"seed": [1, 2], **counts, HURT: [3.0, 5.0], "none": math.nan})
    found = Replications(result.scenario, 7, runs)
    shown = found._repr_html_()
    assert "&lt;/script&gt;</td><td>4 ± 13</td>" in shown
    assert "none" not in shown
    assert repr(found).endswith(", runs 2, seeds drawn from 7>")
    growing = dataclasses.replace(found, runs=runs.assign(stable=[1.0, 0.0]))
    assert "In 1 of 2 runs the mean queue grew by more than a quarter" in growing._repr_html_()
    assert "4 ± 13" in growing._repr_html_()


def test_a_study_shows_its_ranking(tmp_path):
    path = made_up(tmp_path / "r.db", lambda *at: {"mean_turnaround": 5.0 + at[-1]})
    outcome = StudyOutcome.read(path)
    assert "<td>ect over fcfs</td>" in outcome._repr_html_()
    assert repr(outcome) == "<StudyOutcome Made up, runs 20 of 20, metric mean_turnaround>"


def test_a_study_shows_how_logs_were_cleaned(tmp_path):
    path = made_up(tmp_path / "r.db", lambda *at: {"mean_turnaround": 5.0 + at[-1]})
    outcome = StudyOutcome.read(path)
    rule = {"workload": "two", "records": 9, "times": 1, "rule": HURT, "where": ""}
    cleaned = dataclasses.replace(outcome, provenance=outcome.provenance | {"cleaning": [rule]})
    assert "Cleaning is of whole logs" in cleaned._repr_html_()
    assert "<td>two</td><td>&lt;script&gt;hurt()&lt;/script&gt;</td>" in cleaned._repr_html_()
    assert "Cleaning" not in outcome._repr_html_()


def test_a_run_draws_itself(result):
    figure = result.draw("waits")
    assert figure._repr_png_()[:4] == b"\x89PNG"
    with pytest.raises(GridError, match="found 'pie'; accepted: gantt"):
        result.draw("pie")


def test_a_run_that_kept_no_jobs_draws_nothing():
    model = plain()
    model.run()
    bare = dataclasses.replace(result_of(model, "bare", 0.1), records=None)
    with pytest.raises(GridError, match="jobs"):
        bare.draw()


def test_several_logs_are_told_by_their_names(tmp_path):
    (tmp_path / "jobs.csv").write_text("arrival,size,runtime\n0,1,5\n")
    logs = [f"{name}={tmp_path / 'jobs.csv'}" for name in ("C1", "C2")]
    scenario = metasched.Scenario.load("quickstart")
    several = dataclasses.replace(scenario, workload=logs)
    assert repr(several).endswith(f"jobs {logs[0]} and {logs[1]}>")
    one = dataclasses.replace(scenario, workload=str(tmp_path / "jobs.csv"))
    assert repr(one).endswith(f"jobs {tmp_path / 'jobs.csv'}>")
