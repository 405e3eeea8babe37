"""Results that are read to be shown, pictures, and what is refused."""

from __future__ import annotations

import json
import math
import re
import shutil
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from experiments.show import run_plots
from experiments.show.packed import embedded, pack
from experiments.show.page import cluster_table, page_of
from experiments.show.panels import Point, panel
from experiments.show.run_data import Ran
from experiments.show.run_plots import KINDS, draw, means_over
from experiments.show.words import found
from grid.errors import GridError
from tests.experiments.commands import call
from tests.experiments.made_up_studies import made_up
from tests.experiments.small_results import plain, result_of, table, write

# Reading ----------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path, result):
    write(result, tmp_path / "run")
    return tmp_path / "run"


def test_plot_of_a_study_names_what_draws_it(tmp_path):
    study = made_up(tmp_path / "study.db", lambda *point: {"mean_turnaround": 1.0})
    got = call("plot", study, "--out", tmp_path / "study.png")
    assert got.exit_code == 2
    assert "study.db: found a file; accepted: a folder that `metasched run --out`" in got.stderr
    assert got.stderr.endswith("; `metasched report` draws the file of a study\n")


def test_a_folder_and_its_run_are_shown_alike(folder, result):
    read, kept = Ran.read(folder), Ran.of(result)
    assert read.jobs.equals(kept.jobs)
    for one, other in zip(read.chart, kept.chart, strict=True):
        assert np.array_equal(one, other)
    assert read.waits.tolist() == kept.waits.tolist()
    assert found(read) == found(kept)


def test_what_went_wrong_is_told(folder):
    sentences = [each.text for each in found(Ran.read(folder)) if each.warns]
    assert any(each.startswith("1 job was rejected and never started") for each in sentences)


def test_work_that_was_lost_is_no_use_of_processors(folder):
    ran = Ran.read(folder)
    assert any(each.text.startswith("Processors were in use") for each in found(ran))
    ran.summary["metrics"]["lost_work"] = 7200.0
    told = next(each.text for each in found(ran) if each.text.startswith("Processors"))
    assert told.startswith("Processors did work that was not lost")
    assert told.endswith("the last finish; failures threw away 2 processor-h more.")


def test_small_pages_are_told_in_kilobytes(folder, tmp_path):
    page = tmp_path / "page.html"
    told = call("report", folder, "-o", page).stdout
    assert told == f"{page}: {page.stat().st_size / 1000:.0f} kB\n"


def test_clusters_have_an_idle_time_of_their_own(folder):
    table = cluster_table(Ran.read(folder).summary)
    assert "own idle-time of a processor, s" in [column.name for column in table.columns]
    assert table.note.endswith("in the whole run.")


def test_a_run_without_a_completed_job_has_a_page():
    model = plain(table(1, sizes=(99,)))
    model.run()
    ran = Ran.of(result_of(model, "none", 0.1))
    assert "0 of 1 job " in page_of([ran])
    for what in ("gantt", "utilization", "waits"):
        with pytest.raises(GridError, match=f"^{what}: no job was completed; accepted: runs with"):
            draw([ran], what)
    served = plain(table(1, sizes=(1,)))
    served.run()
    one = Ran.of(result_of(served, "one", 0.1))
    of_both = draw([ran, one], "waits")
    assert [len(each.lines) for each in of_both.axes] == [1, 1]


def test_waits_and_slowdowns_are_told_where_there_are_none(folder):
    model = plain(table(1, sizes=(1,)))
    model.run()

    def told(ran):
        return [text.get_text() for each in draw([ran], "waits").axes for text in each.texts]

    one = Ran.of(result_of(model, "one", 0.1))
    assert told(one) == ["no job waited", "no job has a bounded slowdown above 1"]
    one.jobs["start"] += 0.5
    assert told(replace(one))[0] == "no job waited for longer than 1 s"
    label = draw([Ran.read(folder)], "waits").axes[1].get_xlabel()
    assert label.startswith("bounded slowdown, over the time that a job ran (data staging")


@pytest.mark.parametrize(
    ("name", "before", "after", "told"),
    [
        ("jobs.csv", "\n9,", "\n", "cells"),
        ("jobs.csv", "9,0.3333333333333333,3", "9,0.3333333333333333,4", "placement"),
        ("jobs.csv", "C1:3", "C9:3", "C9:3"),
        ("jobs.csv", "7,0.0,2,0.0,3.141592653589793,C1:2", "7,0.0,2,5.0,3.1,C1:2", "finishes"),
        ("jobs.csv", "7,0.0,2,0.0,3.141592653589793,C1:2", "7,0.0,29,0.0,3.1,C1:29", "processors"),
        ("timeline.csv", "waiting", "idle", "columns"),
        ("timeline.csv", "0.0", "x", "x"),
        ("summary.json", "{", "", "JSON"),
        ("summary.json", '"mean_wait": 0.0', '"mean_wait": "<"', "mean_wait"),
        ("summary.json", '"global"', '"local2"', "global"),
    ],
)
def test_a_damaged_folder_is_refused(folder, tmp_path, name, before, after, told):
    text = (folder / name).read_text()
    assert before in text
    (folder / name).write_text(text.replace(before, after, 1))
    got = call("report", folder, "-o", tmp_path / "page.html")
    assert got.exit_code == 2
    assert len(got.output.splitlines()) == 1
    assert f"{folder / name}" in got.output
    assert told in got.output
    assert not (tmp_path / "page.html").exists()


def test_a_result_that_was_cut_off_is_refused(folder, tmp_path):
    lines = (folder / "jobs.csv").read_text().splitlines(keepends=True)
    (folder / "jobs.csv").write_text("".join(lines[:-1]))
    got = call("plot", folder, "-o", tmp_path / "picture.png")
    assert got.exit_code == 2
    assert "2 jobs; accepted: 3, as the summary has it" in got.output


@pytest.mark.parametrize("command", ["report", "plot"])
@pytest.mark.parametrize("missing", ["", "jobs.csv", "timeline.csv", "summary.json"])
def test_a_missing_result_is_refused(folder, tmp_path, command, missing):
    shutil.rmtree(folder) if missing == "" else (folder / missing).unlink()
    out = tmp_path / ("page.html" if command == "report" else "picture.svg")
    got = call(command, folder, "-o", out)
    assert got.exit_code == 2
    assert str(folder / missing) in got.output
    assert len(got.output.splitlines()) == 1
    assert not out.exists()


@pytest.mark.parametrize(
    ("command", "out"),
    [("report", "page.txt"), ("report", "."), ("plot", "picture.gif"), ("plot", "no")],
)
def test_an_output_of_another_kind_is_refused(folder, tmp_path, command, out):
    got = call(command, folder, "-o", tmp_path / out)
    assert got.exit_code == 2
    assert "accepted" in got.output


def test_an_output_that_cannot_be_written_is_refused(folder, tmp_path):
    (tmp_path / "page.html").mkdir()
    got = call("report", folder, "-o", tmp_path / "page.html")
    assert got.exit_code == 2
    assert "cannot write report" in got.output


def test_what_is_no_study_is_refused(folder, tmp_path):
    (tmp_path / "results.db").write_text("no database")
    for results in ([tmp_path / "results.db"], [tmp_path / "results.db", folder]):
        got = call("report", *results, "-o", tmp_path / "page.html")
        assert got.exit_code == 2
        assert len(got.output.splitlines()) == 1
        assert f"{tmp_path / 'results.db'}: " in got.output
        assert not (tmp_path / "page.html").exists()


# Pages and pictures -----------------------------------------------------------------------------


def test_arrays_get_few_bytes_and_are_the_same_each_time():
    assert [pack(np.array(values))["kind"] for values in (
        [0, 255], [0, 65535], [0, 65536], [-1, 3], [2**40], [0.5], [True], []
    )] == ["u1", "u2", "i4", "i4", "f8", "f8", "u1", "f8"]  # fmt: skip
    assert pack(np.arange(9)) == pack(np.arange(9))


def test_no_text_ends_the_script_that_holds_it():
    text = embedded({"name": "</script>&<!--"})
    assert not set("<>&") & set(text)
    assert json.loads(text) == {"name": "</script>&<!--"}


def test_a_study_without_a_finished_run_has_a_page(tmp_path):
    study = made_up(tmp_path / "results.db", lambda *at: None)
    assert call("report", study, "-o", tmp_path / "page.html").exit_code == 0
    assert "No run is finished yet." in (tmp_path / "page.html").read_text()


def test_points_without_a_mean_are_not_drawn():
    nothing = Point(math.nan, math.nan)
    drawn = panel("", "load", ["0.5", "0.9"], {"ect": [Point(2.0, 0.5), nothing]}, True)
    assert [len(each.marks) for each in drawn.series] == [1]
    assert panel("", "load", ["0.5"], {"ect": [nothing]}, True).series[0].marks == []


def test_the_same_run_gives_the_same_page(folder):
    assert page_of([Ran.read(folder)]) == page_of([Ran.read(folder)])


def test_means_between_edges_are_those_of_each_interval():
    begin, end, weight = np.array([0.0, 1.0, 2.5]), np.array([2.0, 1.5, 9.0]), np.array([1, 4, 2.0])
    assert means_over(np.arange(5.0), begin, end, weight) == pytest.approx([1, 3, 1, 2])


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_pictures_are_written_and_the_same_each_time(folder, tmp_path, suffix):
    got = []
    for name in ("a", "b"):
        out = tmp_path / f"{name}.{suffix}"
        assert call("plot", folder, "--what", "gantt", "-o", out).exit_code == 0
        got.append(out.read_bytes())
    assert got[0] == got[1]


@pytest.mark.parametrize("longest", [0.0, 45.0, 5000.0, 9e6])
def test_marks_of_a_bar_of_colours_do_not_overlap(folder, monkeypatch, longest):
    monkeypatch.setattr(run_plots, "MANY", 0)
    ran = Ran.read(folder)
    ran.jobs["start"] = ran.jobs["arrival"] + np.linspace(0.0, longest, len(ran.jobs))
    ran.jobs["finish"] = ran.jobs["start"] + 1.0
    figure = draw([ran], "gantt")
    figure.draw_without_rendering()
    bar = figure.axes[1].yaxis
    low, high = bar.get_view_interval()
    shown = [each.label2 for each in bar.get_major_ticks() if low <= each.get_loc() <= high]
    boxes = [label.get_window_extent() for label in shown]
    assert boxes
    assert all(above.y0 >= below.y1 for below, above in pairwise(boxes))


def test_a_schedule_has_a_legend_of_what_it_shows(folder, tmp_path):
    def legend(ran):
        return [text.get_text() for text in draw([ran], "gantt").axes[0].get_legend().get_texts()]

    ran = Ran.read(folder)
    assert not ran.split.any()
    block, unused = legend(ran)
    assert "colours only tell jobs apart" in block
    assert unused == "not in use"
    assert (
        call("run", "beosim", "--set", "jobs_per_cluster=40", "--out", tmp_path / "b3").exit_code
        == 0
    )
    ran = Ran.read(tmp_path / "b3")
    assert ran.split.any()
    assert "joins a split job" in legend(ran)


def test_waiting_jobs_that_ran_in_between_are_those_of_the_timeline(folder):
    ran = Ran.read(folder)
    ran.summary["metrics"]["restarts"] = 1
    ran.timeline["waiting"] = 7.25
    used, waiting = draw([ran], "utilization").axes
    (drawn,) = waiting.patches
    assert set(drawn.get_data().values) == {7.25}
    assert waiting.get_xlim() == used.get_xlim()
    assert "last starts" in used.get_title()
    assert used.get_title().startswith("Means over 400 intervals")
    assert "up to a job's last start" in draw([ran], "waits").axes[0].get_xlabel()
    assert '"waiting":' in page_of([ran])
    assert "Where jobs were thrown back" in page_of([ran])
    assert "Where jobs were thrown back" not in page_of([Ran.read(folder)])


@pytest.mark.parametrize("what", [kind for kind in KINDS if kind != "links"])
def test_each_kind_of_picture_takes_several_runs(folder, what):
    ran = Ran.read(folder)
    assert len(draw([ran, ran], what).axes) == 2


def test_links_that_carry_nothing_have_no_picture(folder, tmp_path):
    got = call("plot", folder, "--what", "links", "-o", tmp_path / "links.svg")
    assert got.exit_code == 2
    assert "links: nothing was asked of any" in got.output
    assert "split jobs that communicate (bsbw above 0)" in got.output


def test_jobs_of_one_instant_have_no_curves_of_links(tmp_path):
    (tmp_path / "jobs.csv").write_text("arrival,size,runtime\n0,24,10\n0,24,10\n")
    words = ["--set", "nodes=16", "--global", "first-fit", "--local", "fcfs"]
    words += ["--workload", tmp_path / "jobs.csv", "--out", tmp_path / "out"]
    assert call("run", "beosim", *words).exit_code == 0
    got = call("plot", tmp_path / "out", "--what", "links", "-o", tmp_path / "links.png")
    assert (got.exit_code, got.stdout) == (2, "")
    assert "links: all jobs arrive at one instant; accepted: jobs that do not" in got.stderr
    page = page_of([Ran.read(tmp_path / "out")])
    assert "Demand on links" not in page


@pytest.mark.parametrize("by", ["ideal", "fixed-penalty", "wf"])
def test_links_of_policies_that_take_no_account_of_them_are_not_measured(by, tmp_path):
    run, before = tmp_path / "run", tmp_path / "before"
    words = "--global", by, "--set", "jobs_per_cluster=50", "--no-live", "--out", run
    shown = call("run", "beosim", *words)
    assert shown.exit_code == 0, shown.output
    assert "saturated" not in shown.output
    links = json.loads((run / "summary.json").read_text())["links"]
    assert len(links) == 4
    assert all(link["mean_demand"] is link["saturated"] is None for link in links)
    assert (run / "timeline.csv").read_text().startswith("from,to,waiting\n")
    assert "No link" not in " ".join(each.text for each in found(Ran.read(run)))
    got = call("plot", run, "--what", "links", "-o", tmp_path / "links.svg")
    assert got.exit_code == 2
    assert f"links: not measured under {by}; accepted: " in got.output
    shutil.copytree(run, before)  # as it was written when such links had zeros
    zeros = [{**link, "mean_demand": 0.0, "saturated": 0.0} for link in links]
    summary = json.loads((run / "summary.json").read_text())
    (before / "summary.json").write_text(json.dumps({**summary, "links": zeros}))
    timeline = pd.read_csv(run / "timeline.csv")
    for link in links:
        timeline[[f"demand {link['name']}", f"saturated {link['name']}"]] = 0.0
    timeline.to_csv(before / "timeline.csv", index=False)
    for each in (run, before):
        for command in ("verify", "report"):
            got = call(command, each, *(["-o", tmp_path / "page.html"] * (command == "report")))
            assert got.exit_code == 0, got.output
    timeline.to_csv(run / "timeline.csv", index=False)
    assert "other columns; accepted: from, to, waiting" in call("report", run).output


def test_links_that_are_never_saturated_have_an_axis_of_whole_percents(folder):
    ran = Ran.read(folder)
    demands = [f"demand {name}" for name in ran.link_names]
    ran.timeline[demands] = 0.5
    ran.timeline[[name.replace("demand", "saturated") for name in demands]] = 0.0
    demand, saturated = draw([ran], "links").axes
    assert demand.get_ylim()[1] > 50
    assert saturated.get_ylim() == (0.0, 1.0)


@pytest.mark.parametrize("what", ["utilization", "links"])
def test_runs_of_very_different_lengths_are_drawn_as_wide(folder, what):
    short, long = Ran.read(folder), Ran.read(folder)
    for ran in (short, long):
        ran.timeline[[f"demand {name}" for name in ran.link_names]] = 0.5
    assert draw([short, long], what).axes[1].get_xlabel() == "time, s"
    long.jobs[["start", "finish"]] *= 50
    long.timeline[["from", "to"]] *= 50
    upper, lower = draw([short, long], what).axes
    assert re.fullmatch(r"time, % of each run \(of \d\S* s to \d\S* min\)", lower.get_xlabel())
    ends = {round(max(each.get_data().edges), 3) for each in upper.patches}
    assert len(ends) == 1
    assert what == "links" or ends == {100.0}  # intervals end about the last arrival
    assert what == "links" or {each.get_data().baseline for each in lower.patches} == {None}


@pytest.mark.parametrize("what", ["utilization", "waits"])
def test_legends_of_curves_are_beside_them(folder, what):
    ran = Ran.read(folder)
    figure = draw([ran, ran], what)
    figure.draw_without_rendering()
    (legend,) = figure.legends
    assert legend.get_window_extent().y0 >= figure.axes[0].get_window_extent().y1


def test_jobs_that_come_with_the_first_that_counts_count_too(folder):
    ran = Ran.read(folder)
    ran.summary["parameters"]["warmup"] = 1
    ran.jobs["arrival"] = 5.0
    assert ran.counted.tolist() == ran.completed.tolist()
    ran.jobs.loc[0, "arrival"] = 4.0
    del vars(ran)["counted"], vars(ran)["warm_up"]
    assert not ran.counted[0]
    assert ran.counted[1:].tolist() == ran.completed[1:].tolist()
