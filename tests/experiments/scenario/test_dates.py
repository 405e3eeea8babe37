"""Windows of logs between dates, and results on the calendar of the log's site."""

from __future__ import annotations

import json
from datetime import date, datetime
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from experiments.scenario.scenario import Scenario
from experiments.show.run_data import Ran
from experiments.show.run_plots import KINDS, _in_dates
from grid.errors import GridError
from tests.experiments.commands import call

DAY = 86_400
MIDNIGHT = int(datetime.fromisoformat("2003-03-29T00:00:00+01:00").timestamp())
"""Of the day before summer time begins in Stockholm, at 2 o'clock."""


def swf(*submits, head=("TimeZoneString: Europe/Stockholm",)):
    """Return a log of jobs submitted so many hours after that midnight; time 0 is an hour later."""
    lines = [
        f"; UnixStartTime: {MIDNIGHT + 3600}",
        "; MaxProcs: 4",
        *(f"; {line}" for line in head),
    ]
    lines += [
        f"{number} {3600 * (hour - 1)} -1 60 1 -1 -1 1 60 -1 1 1 -1 -1 -1 -1 -1 -1"
        for number, hour in enumerate(submits, 1)
    ]
    return "\n".join(lines) + "\n"


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "mine.swf"
    path.write_text(swf(8, 23, 25, 46, 48, 200))
    return path


def arrivals(log, **window):
    scenario = Scenario.load("site").changed([], workload=str(log))
    model = scenario.with_parameters(window, "window").model()
    jobs = model.workload.jobs
    return dict(zip(jobs["number"].tolist(), jobs["arrival"].tolist(), strict=True)), model


@pytest.mark.parametrize(
    ("window", "hours"),
    [
        # From midnight to midnight, 23 hours later, for summer time began.
        (("2003-03-30", "2003-03-31"), {3: 1.0, 4: 22.0}),
        ((date(2003, 3, 30), datetime(2003, 3, 31, 1)), {3: 1.0, 4: 22.0}),
        (("2003-03-29T23:00", "2003-03-30T00:00:00+01:00"), {2: 0.0}),
        (("2003-03-29", "2003-03-29T23"), {1: 8.0}),  # before the first submission, on its day
        ((0, "2003-03-30"), {1: 0.0, 2: 15.0}),
        ((17 * 3600, "2003-03-31T01:00:01"), {3: 0.0, 4: 21.0, 5: 23.0}),
        ((np.datetime64("2003-03-30"), pd.Timestamp("2003-03-31")), {3: 1.0, 4: 22.0}),
        ((np.int64(61200), "2003-03-30T03:00"), {3: 0.0}),  # an hour after 1:00
        (("17h", "1.6d"), {3: 0.0, 4: 21.0}),
    ],
)
def test_a_window_is_between_dates_of_the_logs_clock(log, window, hours):
    found, _ = arrivals(log, window_start=window[0], window_end=window[1])
    assert {number: at / 3600 for number, at in found.items()} == hours
    with pytest.raises(GridError, match="found '2003'; accepted: from 0"):  # s, or a year
        arrivals(log, window_end="2003")


def test_dates_of_an_unnamed_zone_are_the_sites_own(tmp_path):
    sacct = tmp_path / "dump.txt"
    rows = [f"{n}|2021-03-{day}T08:00:00|2021-03-{day}T08:00:00|2021-03-{day}T09:00:00|1|COMPLETED"
            for n, day in enumerate((27, 28, 29), 1)]  # fmt: skip
    sacct.write_text("\n".join(["JobID|Submit|Start|End|NCPUS|State", *rows]) + "\n")
    found, model = arrivals(sacct, window_start="2021-03-28T06:00", window_end="2021-03-29")
    assert found == {2: 7200.0}
    assert model.workload.stated.start == "2021-03-28T06:00:00"
    with pytest.raises(GridError, match="accepted: a date without a zone, for the log"):
        arrivals(sacct, window_start="2021-03-28T06:00+01:00")


@pytest.mark.parametrize(
    ("window", "told"),
    [
        (["window_start=2003-03-28"], "window_start: found '2003-03-28'; accepted: from 2003-03-29 "
         "to 2003-04-06 09:00, the last submission of "),
        (["window_start=2004-01-01"], "window_start: found '2004-01-01'; accepted: from 2003"),
        (["window_end=2003-03-29"], "window_end: found '2003-03-29'; accepted: later than the "
         "first submission"),
        (["window_start=2003-03-31", "window_end=2003-03-31"], "window_end: found '2003-03-31'; "
         "accepted: later than window_start, 2003-03-31"),
        (["window_start=2003-02-30"], "window_start: found '2003-02-30'; accepted: from 0 "
         "to 1e+12 s, a time such as 4w, or a date such as 2003-02-03 or 2003-02-03T08:00"),
        (["window_end=0w"], "window_end: found '0w'; accepted: from 0 to"),
        (["window_end=-5"], "window_end: found -5; accepted: from 0 to"),
        (["window_end=true"], "window_end: found True; accepted: from 0 to"),
        (["window_start=08:00:00"], "window_start: found 08:00:00; accepted: from 0 to 1e+12 s"),
        (["window_start=2003-03-31", "window_end=60000"], "window_end: found '16.7 h after "
         "the first submission'; accepted: later than window_start, 2003-03-31"),
        (["window_start=2003-04-01", "window_end=2003-04-02"], "window_end: found '2003-04-02'; "
         "accepted: later than 2003-04-06 09:00:00, the first submission in it"),
        (["window_start=2003-03-30T02:30"], "window_start: found '2003-03-30T02:30:00'; accepted: "
         "a time that the clock shows: it was set forward then"),
        (["load_factor=2003-03-30"], "load_factor: found 2003-03-30; accepted: "),
    ],
)  # fmt: skip
def test_other_dates_are_refused_in_a_line(log, window, told):
    words = [word for each in window for word in ("--set", each)]
    got = call("run", "site", "--workload", log, *words)
    assert got.exit_code == 2
    assert told in got.stderr


def test_the_last_submission_of_a_site_is_told(log, tmp_path):
    platform = tmp_path / "two.toml"
    platform.write_text("".join(f'[[clusters]]\nname = "{name}"\nsize = 64\n' for name in "AB"))
    words = ["--workload", f"A={log}", "--set", "mode=open", "--set", "window_start=1990-01-01"]
    got = call("run", platform, *words)
    assert got.exit_code == 2
    assert got.stderr.endswith(" the last submission at any site\n")


def test_a_log_without_dates_has_no_window_between_them(tmp_path):
    log = tmp_path / "mine.csv"
    log.write_text("arrival,size,runtime\n0,1,60\n9,1,60\n")
    got = call("run", "site", "--workload", log, "--set", "window_end=2003-01-01")
    assert "window_end: found '2003-01-01'; accepted: seconds after the first submission, for" in (
        got.stderr
    )


@pytest.mark.thorough
def test_scenarios_and_studies_have_dates_as_toml_does(log, tmp_path):
    scenario = tmp_path / "mine.toml"
    scenario.write_text(
        'global = "dll"\nlocal = "easy"\nworkload = "mine.swf"\n[[clusters]]\nname = "C1"\n'
        "size = 4\n[parameters]\nmode = \"open\"\nwindow_start = 2003-03-30\n"
        "window_end = 2003-03-31T01:00:01\n"
    )  # fmt: skip
    summary = json.loads(call("run", scenario, "--json").stdout)
    assert summary["jobs"]["submitted"] == 3
    assert summary["parameters"]["window_start"] == "2003-03-30"
    study = tmp_path / "days.toml"
    study.write_text(
        'scenario = "mine.toml"\nmetric = "mean_wait"\n[policies]\nglobal = ["dll"]\n'
        'local = ["easy"]\n[vary]\nwindow_start = [2003-03-30, "2003-03-31T00:30"]\n'
    )
    got = call("study", study, "--out", tmp_path / "out")
    assert got.exit_code == 0, got.output
    assert "2003-03-30" in got.stdout
    assert "2003-03-31T00:30" in got.stdout


def test_results_are_on_the_calendar_unless_arrivals_are_scaled(log, tmp_path):
    words = "run", "site", "--workload", log, "--set", "window_start=2003-03-30"
    got = call(*words, "--out", tmp_path / "a")
    assert "time 0: 2003-03-30 00:00:00+01:00, by the log's clock" in got.stdout
    assert call("verify", tmp_path / "a").exit_code == 0
    ran = Ran.read(tmp_path / "a")
    figure, axes = plt.subplots()
    KINDS["gantt"].draw([axes], [ran])
    assert axes.get_xlabel() == "date, from 2003-03-30 01:00, UTC+01:00"  # the first start
    plt.close(figure)
    page = tmp_path / "page.html"
    call("report", tmp_path / "a", "-o", page)
    assert f'"zero":{MIDNIGHT + DAY + 3600}' in page.read_text().replace(" ", "").replace(".0", "")
    scaled = call(*words, "--set", "load_factor=2", "--json")
    assert "start" not in json.loads(scaled.stdout)
    text = tmp_path / "a" / "summary.json"
    summary = json.loads(text.read_text())
    text.write_text(json.dumps(summary | {"start": "soon"}))
    with pytest.raises(GridError, match="start: found 'soon'; accepted: a date and time"):
        Ran.read(tmp_path / "a")


def test_carbon_of_dates_is_that_of_the_run(log, tmp_path):
    words = "run", "site", "--workload", log, "--set", "window_end=2003-03-30", "--local", "easy"
    words = *words, "--set", "busy_watts=1000", "--set", "idle_watts=0", "--json", "--set"
    hourly = [f"2003-03-{day}T{hour:02}:00Z" for day in (29, 30) for hour in range(24)]
    (tmp_path / "dated.csv").write_text(
        "time,value\n" + "".join(f"{at},{100 + of}\n" for of, at in enumerate(hourly))
    )
    got = call(*words, f"carbon={tmp_path / 'dated.csv'}", "--out", tmp_path / "a")
    # A minute at 8 and at 23 o'clock, 7 and 22 h after midnight in UTC: 1/60 kWh each.
    assert json.loads(got.stdout)["metrics"]["co2_kg"] == pytest.approx((107 + 122) / 60_000)
    assert call("verify", tmp_path / "a").exit_code == 0
    refused = call(*words, f"carbon={tmp_path / 'dated.csv'}", "--set", "load_factor=2")
    assert refused.exit_code == 2
    assert "accepted: seconds, for it is not known when the run begins" in refused.stderr
    longer = [*words[:5], "window_start=2003-03-29", *words[6:]]
    (tmp_path / "dated.csv").write_text(
        "time,value\n2003-03-28T00Z,1\n2003-03-29T00Z,2\n2003-03-30T00Z,3\n"
    )
    got = call(*longer, f"carbon={tmp_path / 'dated.csv'}")
    assert "dated.csv: its dates end; it begins anew at 2003-03-31T01:00:00+01:00" in got.stderr


COSTS = (
    'scenario = "site"\nmetric = "cost"\n[policies]\nglobal = ["dll"]\nlocal = ["easy"]\n'
    '[workloads]\nmine = "mine.swf"\n[set]\nbusy_watts = 100\nprice = "price.csv"\n'
)


@pytest.mark.thorough
def test_studies_and_replications_say_that_a_series_began_anew(log, tmp_path):
    (tmp_path / "price.csv").write_text("time,value\n2003-03-28T00Z,1\n2003-03-30T00Z,2\n")
    study = tmp_path / "days.toml"
    study.write_text(COSTS + "window_start = 2003-03-29\n")
    told = call("study", study, "--out", tmp_path / "out", "--workers", "1").stdout
    assert "the dates of price end before the run does: its series begins anew there." in told
    words = "run", "site", "--workload", log, "--set", "window_start=2003-03-29", "--set"
    words = *words, f"price={tmp_path / 'price.csv'}", "--set", "busy_watts=100"
    words = *words, "--replications", "2"
    told = " ".join(call(*words).stdout.split())
    assert "in 2 of 2 runs the dates of price end before the run does" in told


@pytest.mark.thorough
def test_a_study_of_windows_tries_series_on_these(log, tmp_path):
    (tmp_path / "price.csv").write_text("time,value\n2003-03-30T00Z,1\n2003-03-31T00Z,2\n")
    study = tmp_path / "days.toml"
    study.write_text(
        COSTS + "[vary]\n"
        'window_start = [2003-03-30T02:00:00Z, "2003-03-31T00:30+02:00"]\n'
        "window_end = [2003-04-01]\n"
    )
    got = call("study", study, "--out", tmp_path / "out")
    assert got.exit_code == 0, got.output


def test_a_study_whose_series_ends_before_its_last_window_does_not_begin(log, tmp_path):
    (tmp_path / "price.csv").write_text("time,value\n2003-03-29T00Z,1\n2003-03-29T12Z,2\n")
    study = tmp_path / "days.toml"
    study.write_text(COSTS + '[replications]\nwindow = "1d"\nleast = 2\n')
    got = call("study", study, "--out", tmp_path / "out")
    assert got.exit_code == 2
    assert "price.csv: found no value for time 0 of the run, 2003-" in got.stderr
    assert "runs to do" not in got.stderr


def test_a_single_log_of_a_site_keeps_its_dates(log, tmp_path):
    words = "run", "quickstart", "--set", "mode=open", "--set", "window_start=2003-03-30"
    got = call(*words, "--workload", f"C1={log}", "--json")
    assert json.loads(got.stdout)["start"] == "2003-03-30T00:00:00+01:00"
    got = call(*words, "--workload", f"C1={log}", "--workload", f"C2={log}")
    assert got.exit_code == 2
    assert "seconds after the first submission, for logs of sites begin together" in got.stderr


@pytest.mark.thorough
@pytest.mark.filterwarnings("error")
def test_axes_of_any_length_have_dates():
    for seconds in np.geomspace(2.0, 4e8, 300).tolist():
        summary = {"start": "2003-10-25T12:00:00+02:00", "simulated_s": seconds}
        figure, axes = plt.subplots()
        axes.set_xlim(0.0, seconds)
        _in_dates([axes], [SimpleNamespace(summary=summary)], [1.0])
        assert axes.get_xlabel().startswith("date, from 2003-10-25 12:00")
        assert 1 <= len(axes.get_xticks()) <= 10
        plt.close(figure)
