"""What pages say of one run and of several: no more than the numbers tell."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from experiments.run.running import run
from experiments.scenario.scenario import Scenario
from experiments.show.page import page_of
from experiments.show.panels import Point, panel
from experiments.show.run_data import Ran
from experiments.show.study_page import study_page
from experiments.show.words import found, limits
from experiments.studies.study import Study
from grid.logs.cleaning import NO_SIZE
from grid.logs.sacct import STEP
from tests.experiments.small_studies import Silent

from .told import changed, use, words


def test_the_busiest_cluster_and_where_jobs_wait_are_two_things(ran):
    told = use(ran, 0.355, 0.061, 0.05, 0.04)
    assert "C1 was clearly the busiest cluster (35.5 %; the next is C2 with 6.1 %)." in told
    assert "Jobs that ran on C4 waited longest (90 s on average; the next are those of C1" in told
    assert "look at first" not in told
    told = use(ran, 0.355, 0.35, 0.05, 0.04, waits=(5.0,) * 4)
    assert "No cluster was clearly the busiest: their use is between 4.0 % (C4) and 35.5 %" in told
    assert "waited longest" not in told


def test_of_a_few_jobs_no_share_is_told_that_they_do_not_have(ran):
    """Percentiles are interpolated: of waits of 0, 0, 5 and 13 s, 75 % are at most 11.8 s."""
    few = changed(ran, rows=range(4), p95_wait=11.8, max_wait=13.0, p95_bounded_slowdown=1.62)
    few.jobs["start"] = few.jobs["arrival"] + [0.0, 0.0, 5.0, 13.0]
    told = words(few)
    assert "the median was 2.50 s, the 95th percentile 11.8 s, the longest wait 13 s." in told
    assert "the 95th percentile 1.62." in told


def test_of_one_job_no_share_is_told_and_no_mean(ran):
    one = changed(ran, rows=range(1), mean_wait=5.0, mean_bounded_slowdown=1.5)
    told = words(one)
    assert "The only job that counts waited 5 s." in told
    assert "Its bounded slowdown was 1.50." in told
    assert "the median was" not in told
    assert "of them" not in told


def test_one_run_is_a_single_run(ran):
    assert any("This is a single run: how much" in each.text for each in limits([ran]))
    assert any("These are single runs: how much" in each.text for each in limits([ran, ran]))


def test_of_a_few_jobs_no_cluster_is_named(ran):
    told = use(ran, 0.355, 0.061, 0.05, 0.04, jobs=9)
    assert "busiest" not in told
    assert "waited longest" not in told


def test_no_other_cluster_is_said_to_be_waited_at_longest(ran):
    """Where the jobs that waited longest are few, nothing is told of the others."""
    use(ran, 0.4, 0.3, 0.2, 0.1, waits=(45.0, 54.0, 0.0, 4000.0))
    ran.summary["clusters"][3]["jobs"] = 9
    assert "waited longest" not in words(ran)
    ran.summary["clusters"][3]["jobs"] = 10
    assert "Jobs that ran on C4 waited longest" in words(ran)


def test_only_changes_that_an_ended_run_has_reached_are_said_to_have_come(ran):
    end = ran.summary["simulated_s"]
    changes = [{"cluster": "C1", "what": "fail", "at": at} for at in (end - 1.0, end + 1.0)]
    ran.summary["platform"]["changes"] = changes
    ran.summary["interrupted"] = True
    (told,) = [each.text for each in found(ran) if "Planned changes" in each.text]
    assert told.count("fail of") == 1


def test_links_before_the_end_of_a_warm_up_are_not_judged(ran):
    ran.summary["links"] = [{"name": "A", "mean_demand": 0.1, "saturated": 0.0}]
    assert " No link was asked for more than it carries." in words(ran)
    ran.summary["parameters"]["warmup"] = 5
    assert "After the warm-up, no link was asked for more than it carries." in words(ran)


def test_a_mean_of_one_run_has_no_interval_in_a_picture():
    points = {"a": [Point(2.0, math.nan)], "b": [Point(3.0, 1.0)]}
    told = panel("x", "y", ["1"], points, joined=False)
    texts = [mark.text for series in told.series for mark in series.marks]
    assert texts == ["a, 1: 2", "b, 1: 3 ± 1"]


def test_shares_of_processors_that_were_away_are_told_so(ran):
    away = "also those of processors that were away"
    assert away not in words(ran)
    ran.summary["parameters"]["mean_up_time"] = 3600.0
    assert away in words(ran)
    assert limits([ran])[-1].text == "Processors that were away are drawn like idle ones."


@pytest.mark.parametrize(
    ("what", "after", "away"), [("fail", 0, 1), ("fail", 1, 0), ("join", 1, 1)]
)
def test_processors_are_away_once_a_change_has_come(ran, what, after, away):
    change = {"cluster": "C1", "what": what, "at": ran.summary["simulated_s"] + after}
    ran.summary["platform"]["changes"] = [change]
    assert ("also those of processors that were away" in words(ran)) == bool(away)


def test_what_runs_note_is_on_their_page(tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_text("arrival,size,runtime,requested_time\n0,1,10,60\n5,2,10,\n")
    changes = {"workload": str(path), "prediction": "requested", "speeds": {"C1": {"C2": 2.0}}}
    ran = Ran.of(run(Scenario.load("quickstart").changed(["local_share=0"], **changes)))
    told = words(ran)
    assert "Prediction requested: 1 job without a requested time: expected to take the mean" in told
    assert "1 h before the first had." in told
    assert "Parameters without effect: " in told
    assert "ran at rates of their own" not in told
    assert "A job that is split counts" not in page_of([ran])


@pytest.mark.thorough
def test_rates_of_their_own_are_told_wherever_runs_are(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("jobs.csv").write_text("arrival,size,runtime,origin\n0,1,10,A\n5,2,10,B\n")
    Path("two.toml").write_text(
        'workload = "jobs.csv"\nglobal = "ect"\nlocal = "fcfs"\n'
        'clusters = [{name = "A", size = 4}, {name = "B", size = 4}]\n'
        'parameters = {mode = "open", speeds = {A = {B = 2.0}}}\n'
    )
    own = "Jobs of some sites ran at rates of their own: parameter speeds."
    two = Scenario.load("two.toml")
    runs = [Ran.of(run(two.changed([], global_scheduler=name))) for name in ("ect", "home")]
    assert own in words(runs[0])
    assert own in page_of(runs)
    Path("few.toml").write_text(
        'scenario = "two.toml"\nmetric = "mean_wait"\nreplications.least = 2\n'
        'policies = {global = ["ect", "home"], local = "fcfs"}\nworkloads = {mine = "jobs.csv"}\n'
    )
    outcome = Study.load("few.toml").run("few.db", 1, watch=Silent())
    assert own in outcome.sentences()
    page = study_page(outcome)
    assert own in page
    rows = page.partition("Parameters of the scenario")[2].partition("</table>")[0]
    assert "speeds" in rows
    assert "global" not in rows


def test_utilization_is_told_from_when_it_counts(ran):
    told = "from the first arrival of a job that was completed to the last finish."
    assert told in words(ran)
    ran.summary["parameters"]["warmup"] = 5
    assert "from the first arrival after the warm-up to the last finish." in words(ran)


def test_no_cluster_is_called_busiest_where_some_were_away(ran):
    """Its share is of all its processors, those to come included."""
    told = use(ran, 0.355, 0.061, 0.05, 0.04)
    assert "busiest" in told
    joins = {"cluster": "C2", "what": "join", "at": 500.0, "until": None, "processors": None}
    ran.summary["platform"]["changes"] = [joins]
    assert "busiest" not in use(ran, 0.355, 0.061, 0.05, 0.04)


def test_what_unfinished_jobs_use_is_told_to_be_left_out(ran):
    assert "busiest" in words(ran)
    ran.summary["unfinished"] = 3
    assert "3 jobs never finished; they are in no chart." in words(ran)
    ran.summary["why_unfinished"] = "no scheduler started them; 8 processors of A are away"
    told = "3 jobs never finished (no scheduler started them; 8 processors of A are away); they "
    assert told in words(ran)
    del ran.summary["why_unfinished"]
    ran.summary["interrupted"] = True
    told = words(ran)
    assert "busiest" not in told
    assert "3 jobs had not finished by then; they are in no chart, and processors that they" in told
    assert "count as idle in utilization" in told
    ran.summary["metrics"]["utilization"] = None
    assert "count as idle" not in words(ran)


@pytest.mark.parametrize(
    ("saturated", "told"),
    [
        ([0.2, 0.1, 0.1], "A had the most saturated link: more was asked of it than"),
        ([0.2, 0.2, 0.1], "A and B had the most saturated links: more was asked of each than"),
        ([0.2] * 7, "A, B, C, D and 3 others had the most saturated links"),
    ],
)
def test_all_links_of_the_first_place_are_named(ran, saturated, told):
    ran.summary["links"] = [
        {"name": name, "mean_demand": 0.1, "saturated": share}
        for name, share in zip("ABCDEFG", saturated, strict=False)
    ]
    assert told in words(ran)


def test_waits_for_messages_alone_are_not_told_as_having_to_wait(ran):
    ran.jobs["start"] = ran.jobs["arrival"] + 0.08
    ran.summary["parameters"]["latency"] = 0.0
    for link in ran.summary["platform"]["links"]:
        link["latency"] = 0.0
    assert "All had to wait." in words(ran)
    ran.summary["platform"]["links"][0]["latency"] = 0.01
    assert "All had to wait" not in words(ran)
    assert "Waits include the latency of the brokers' messages." in words(ran)


def test_what_waits_are_after_failures_is_told(ran):
    assert "last start" not in words(ran)
    ran.summary["metrics"]["restarts"] = 2
    assert "waits: up to the last start of a job, what it ran in vain before included" in words(ran)
    assert "the schedule shows the last start of each (waits:" in words(ran)
    ran.summary["unfinished"] = 2
    assert "the schedule shows the last start of each that finished (waits:" in words(ran)


def test_rejected_jobs_are_told_to_be_among_those_that_missed_deadlines(ran):
    told = "of the deadlines, those of rejected jobs included, were met"
    assert told not in words(ran)
    ran.summary["jobs"] |= {"rejected": 1}
    ran.summary["rejections"] = {"larger": 1}
    assert told in words(ran)


# Several runs -----------------------------------------------------------------------------------


def test_a_rule_of_cleaning_need_not_be_one_of_records(ran):
    """Steps are none."""
    ran.summary["cleaning"] = {"rules": {STEP: 1, NO_SIZE: 3}}
    told = words(ran)
    assert f"Cleaning of the log, 1 time: {STEP}." in told
    assert f"Cleaning of the log, 3 times: {NO_SIZE}." in told


def test_a_penalty_is_over_the_time_without_limits_of_links(ran):
    """A job that asks a link for more than its capacity has one though it is alone."""
    told = words(changed(ran, coallocated=0.5, mean_penalty=1.5))
    assert "and took 1.500 times as long as if links had no limits and no latency." in told
    told = words(changed(ran, coallocated=0.5, mean_penalty=1.5, mean_staging=80.0))
    assert "and took 1.500 times as long once their data were there as if links had" in told
