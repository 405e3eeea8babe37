"""`metasched reproduce muscle`: the whole path on a tiny scale, and what may go wrong on it."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import time
from contextlib import closing
from functools import partial

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from experiments.cli.app import main
from experiments.cli.users_errors import UsersError
from experiments.papers.muscle import Paper
from experiments.papers.muscle.claims import CLAIMS
from experiments.papers.muscle.points import FIGURES, SERIES, Point, observe, points, run, scenario
from experiments.papers.muscle.savings import Outcome
from experiments.run.results import Result
from experiments.sweeps.run_store import RUNS, Kept
from experiments.sweeps.sweep import observed, sweep
from grid.errors import GridError

TINY = ["--figure", "6", "--scale", "0.002", "--replications", "2"]
"""40 jobs a run."""


def call(*words):
    return CliRunner().invoke(main, ["reproduce", "muscle", *(str(word) for word in words)])


def kept(folder):
    """Return how many runs are kept in a folder."""
    if not (folder / RUNS).exists():
        return 0
    try:
        with closing(sqlite3.connect(folder / RUNS)) as database, database:
            return database.execute("SELECT count(*) FROM runs").fetchone()[0]
    except sqlite3.OperationalError:  # no table yet
        return 0
    finally:
        database.close()


def wait_for_runs(folder, program, count):
    while kept(folder) < count:
        assert program.poll() is None, program.communicate()
        time.sleep(0.01)


class Silent:
    def prepare(self, words):
        assert not hasattr(self, "runs")

    def begin(self, kept, forecast, under_way=tuple):
        self.runs, self.kept, self.estimate = forecast.runs, kept, forecast.left(0.0)
        self.done = 0

    def advance(self, piece, took):
        self.done += len(took)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """Folder and output of a tiny run by one worker."""
    folder = tmp_path_factory.mktemp("tiny")
    result = call(*TINY, "--workers", 1, "--out", folder, "--json")
    assert result.exit_code == 0, result.output
    return folder, result


@pytest.mark.thorough
def test_whole_path(tiny):
    folder, result = tiny
    told = json.loads(result.stdout)
    assert (told["paper"], told["figures"], told["jobs"]) == ("muscle", [6], 40)
    assert len(told["points"]) == 3 * len(SERIES)
    assert {each["verdict"] for each in told["claims"]} <= {"holds", "fails", "open"}
    assert [each["claim"] for each in told["claims"]] == [c.text for c in CLAIMS if c.parts == (6,)]
    lines = [line for line in result.stderr.splitlines() if not line.endswith("so far")]
    compiling, measuring, runs, *rest = lines
    assert compiling.startswith("trying a short run of each kind")
    assert measuring.startswith("measuring how long runs take")
    assert runs == "60 runs to do"
    assert rest[-1].startswith("60 of 60 runs done in ")
    assert len(rest) > 4  # short runs are done several at a time
    table = pd.read_csv(folder / "muscle-figure6.csv")
    assert len(table) == 3 * len(SERIES)
    of_muscle = table["global"] == "muscle"
    assert table.loc[of_muscle, "mcp_saving"].isna().all()
    muscle = table[of_muscle].set_index(["queue", "titan"])["mcp"]
    for row in table[~of_muscle].itertuples():
        best = muscle[row.queue, row.titan]
        assert row.mcp_saving == pytest.approx(1 - best / row.mcp)
        assert row.mcp_difference == pytest.approx(row.mcp - best)
    page = (folder / "muscle.md").read_text()
    assert "metasched reproduce muscle --figure 6 --scale 0.002 --replications 2" in page
    assert "15.6 %" in page
    said = " ".join(each.text for each in CLAIMS).lower()
    for word in ("slightly", "much", "mostly", "few", "little", "no clear trend"):
        assert word in said
        assert f"*{word}*" in page.lower()
    assert "](muscle-figure6.svg)" in page
    assert (folder / "muscle-figure6.png").read_bytes().startswith(b"\x89PNG")
    assert "</svg>" in (folder / "muscle-figure6.svg").read_text()
    assert len(pd.read_csv(folder / "muscle-claims.csv")) == 4 * len(told["claims"])


def test_the_help_of_the_papers_is_not_cut_at_an_abbreviation():
    listed = CliRunner().invoke(main, ["reproduce", "--help"]).stdout
    assert "muscle   Run Figs. 4 to 7 of `muscle` again" in listed


@pytest.mark.thorough
def test_a_second_call_does_nothing_again(tiny):
    folder, _ = tiny
    again = call(*TINY, "--out", folder)
    assert "0 runs to do (60 done already)" in again.stderr
    assert "15.6 %" in again.stdout


@pytest.mark.thorough
def test_killed_and_taken_up_again(start, tiny, tmp_path):
    _, uninterrupted = tiny
    killed = start("reproduce", "muscle", *TINY, "--workers", 1, "--out", tmp_path)
    wait_for_runs(tmp_path, killed, 3)
    killed.kill()
    assert "leaked" not in killed.communicate()[1]
    before = kept(tmp_path)
    assert 3 <= before < 60
    watch = Silent()
    again = Paper([6], scale=0.002, replications=2, workers=2).reproduce(tmp_path, watch)
    assert (watch.runs, watch.kept) == (60 - before, before)
    assert again.summary() == json.loads(uninterrupted.stdout)


@pytest.mark.thorough
def test_ctrl_c_ends_in_order(start, tmp_path):
    program = start(
        "reproduce", "muscle", "--figure", 6, "--scale", 0.005, "--workers", 1, "--out", tmp_path
    )
    wait_for_runs(tmp_path, program, 1)
    program.send_signal(signal.SIGINT)
    stdout, stderr = program.communicate(timeout=60)
    assert program.returncode == 130
    assert stdout == ""
    assert stderr.splitlines()[-1] == "metasched: interrupted"
    assert "Traceback" not in stderr
    assert kept(tmp_path) >= 1
    assert [path.name for path in tmp_path.iterdir()] == [RUNS]


@pytest.mark.thorough
def test_ctrl_c_while_workers_start_ends_in_order(start, tmp_path):
    words = ("--figure", 6, "--scale", 0.1, "--workers", 1, "--out", tmp_path)
    program = start("reproduce", "muscle", *words, start_new_session=True)
    while "measuring" not in program.stderr.readline():
        assert program.poll() is None
    time.sleep(0.5)  # a worker has begun to import what it needs
    os.killpg(program.pid, signal.SIGINT)  # as a terminal does: to all processes of the command
    stdout, stderr = program.communicate(timeout=60)
    assert (program.returncode, stdout) == (130, "")
    assert stderr.splitlines()[-1] == "metasched: interrupted"
    assert "Traceback" not in stderr


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--figure", "8"], "figure: found 8; accepted: 4-7"),
        (["--figure", "7-4"], "--figure: found '7-4'; accepted: numbers and ranges, lowest first"),
        (["--scale", "0"], "scale: found '0'; accepted: a number above 0"),
        (["--scale", "-1"], "scale: found '-1'; accepted: a number above 0"),
        (["--scale", "nan"], "scale: found 'nan'; accepted: a number above 0"),
        (["--replications", "0"], "replications: found '0'; accepted: a whole number from 1"),
        (["--workers", "0"], "workers: found '0'; accepted: a whole number from 1"),
    ],
)
def test_bad_input(words, says, tmp_path):
    result = call(*words, "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert says in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.thorough
def test_fewer_replications_are_taken_up_by_more_and_workers_change_nothing(tiny, tmp_path):
    folder, result = tiny
    fewer = call(*TINY[:-1], 1, "--workers", 2, "--out", tmp_path)
    assert fewer.exit_code == 0, fewer.output
    more = call(*TINY, "--workers", 2, "--out", tmp_path, "--json")
    assert "30 runs to do (30 done already)" in more.stderr
    assert more.stdout == result.stdout
    names = sorted(path.name for path in folder.iterdir() if path.name != RUNS)
    assert names == sorted(path.name for path in tmp_path.iterdir() if path.name != RUNS)
    for name in names:
        assert (folder / name).read_bytes() == (tmp_path / name).read_bytes(), name


@pytest.mark.thorough
def test_a_folder_of_another_scale_is_refused(tiny):
    folder, _ = tiny
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    result = call(*TINY, "--scale", "0.005", "--out", folder)
    says = "scale 0.002; found scale 0.005"
    assert result.exit_code == 2
    assert f"{folder}: holds runs with {says}; accepted: the same, or another" in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_folder_without_runs_takes_any_parameters_and_one_with_runs_its_own(tmp_path):
    Kept(tmp_path, {"scale": 1})
    early, late = Kept(tmp_path, {"scale": 2}), Kept(tmp_path, {"scale": 3})
    early.add({"a": 1})
    for of_another in (lambda: late.add({"b": 1}), lambda: Kept(tmp_path, {"scale": 3})):
        with pytest.raises(GridError, match="holds runs with scale 2; found scale 3; accepted"):
            of_another()
    assert Kept(tmp_path, {"scale": 2}).all() == {"a": 1}


def test_a_folder_that_cannot_be_used_is_refused(tmp_path):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / RUNS).write_text("mine, and by no means a database of finished runs")
    for folder in ("file", "other"):
        result = call(*TINY, "--out", tmp_path / folder)
        assert result.exit_code == 2
        assert len(result.stderr.splitlines()) == 1
    assert (tmp_path / "file").read_text() == "mine"


# Points and rounds ------------------------------------------------------------------------------


def test_points_are_those_of_the_paper():
    of = {figure: points([figure]) for figure in FIGURES}
    assert {point.queue for point in of[4]} == {40, 60, 80, 100, 120, 140, 160}
    assert {point.sizes for point in of[4]} == {"uniform", "normal", "log-uniform"}
    assert {point.queue for point in of[5]} == {40, 100}
    assert [point.queue for point in of[6]] == [40, 100, 160]
    assert [point.clusters for point in of[7]] == [4, 6, 8, 10]
    for point in of[7]:
        ran = scenario(point, SERIES[0], 10)
        assert ran.platform.sizes.tolist() == list(range(20, 20 + 4 * point.clusters, 4))
        assert ran.parameters.max_size == ran.platform.sizes.max()
        ratio = point.queue / (ran.platform.sizes * ran.platform.rates).sum()
        assert ratio == pytest.approx(80 / 104)
    weights = scenario(of[6][0], SERIES[0], 10).parameters.weights
    assert weights == ((12, 3, 1), (8, 3, 1), (4, 3, 1), (1, 3, 1))


def test_what_is_kept_of_rounds_is_what_the_jobs_say():
    ran = scenario(Point(6, 4, 40), SERIES[1], 200)
    model = ran.model(3)
    model.run()
    kept_of_it = observe(model, ())
    result = Result.of(model, ran, 0.0)
    jobs = result.jobs
    weights = dict(zip(ran.platform.names, model.weights, strict=True))
    expected = []
    for _, of_round in list(jobs.groupby("arrival"))[:-1]:
        late = (of_round["over_deadline"] > 0).mean()
        part = sum(
            len(group) / len(of_round) * weights[name].over_deadline / sum(weights[name])
            * group["over_deadline"].sum()
            for name, group in of_round.groupby("cluster")
        )  # fmt: skip
        expected.append((part, late))
    overdue, late = np.array(expected).T
    assert kept_of_it["overdue"] == pytest.approx(overdue)
    assert kept_of_it["late"] == pytest.approx(late)
    assert kept_of_it["mcp"] == pytest.approx(result.rounds.mcp()[:-1])
    assert kept_of_it["pb"] == pytest.approx(result.rounds.pb()[:-1])


def test_series_of_a_point_have_the_same_jobs_in_the_same_rounds():
    point = points([7])[0]
    seen = []
    for series in SERIES[-5:]:
        model = scenario(point, series, 300).model(1)
        model.run()
        rows = model.world.log.records().rows
        rows = rows[np.argsort(rows["number"])]
        serial = np.unique(rows["arrival"], return_inverse=True)[1]
        seen.append(np.stack([serial, rows["number"], rows["size"], rows["runtime"]]))
    assert all((each == seen[0]).all() for each in seen)


def test_points_that_figures_share_are_run_once():
    of_4, of_5 = Point(4, 4, 40), Point(5, 4, 40)
    assert run(of_4, SERIES[0], 10, 0).key == run(of_5, SERIES[0], 10, 0).key
    assert run(of_4, SERIES[0], 10, 0).key != run(of_4, SERIES[0], 10, 1).key
    assert run(of_4, SERIES[0], 10, 0).key != run(of_4, SERIES[1], 10, 0).key


# Sweeps -----------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_an_error_in_a_worker_is_that_of_the_sweep(tmp_path):
    outcome = Outcome([Point(4, 4, 40)], 10, 1)
    with pytest.raises(UsersError, match="ZeroDivisionError: division by zero"):
        sweep(
            outcome.runs, partial(observed, observe=divide_by_zero), Kept(tmp_path, {}), 1, Silent()
        )
    assert kept(tmp_path) == 0


def divide_by_zero(model, steps):
    return {"nothing": [1 / 0]}


@pytest.mark.thorough
@pytest.mark.parametrize("lasting", [True, False])
def test_a_worker_that_is_killed_is_told(tmp_path, lasting):
    outcome = Outcome([Point(4, 4, 40)], 10, 1)
    with pytest.raises(GridError, match="worker processes were killed") as told:
        sweep(
            outcome.runs, partial(observed, observe=die), Kept(tmp_path, {}, lasting), 1, Silent()
        )
    assert ("any runs that finished are kept" in str(told.value)) == lasting


def die(model, steps):
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.thorough
def test_shares_of_the_work_add_up(tmp_path):
    outcome, watch = Outcome([Point(4, 4, 40)], 10, 2), Silent()
    found = sweep(outcome.runs, partial(observed, observe=observe), Kept(tmp_path, {}), 2, watch)
    assert set(found) == {each.key for each in outcome.runs}
    assert (watch.runs, watch.kept) == (2 * len(SERIES), 0)
    assert watch.estimate > 0
    assert watch.done == watch.runs
