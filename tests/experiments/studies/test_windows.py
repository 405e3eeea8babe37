"""When windows of logs were."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import pytest

from experiments.show.study_page import ranking_table, study_page
from experiments.studies.study import Study
from experiments.studies.undefined import failures
from tests.experiments.made_up_studies import outcome_of
from tests.experiments.small_studies import Silent, write_log_study

DAY = 86_400.0
WINDOWS = {"mine": [[0.0, DAY], [DAY, 2 * DAY], [2 * DAY, 3 * DAY]]}


def study_of(**told):
    outcome = outcome_of({"A": [60.0, 30.0], "B": [90.0, 120.0]})  # two of three windows have run
    return replace(outcome, provenance={"windows": WINDOWS} | told)


@pytest.mark.parametrize(
    ("start", "says"),
    [
        ("2003-03-29T12:30:00", "2003-03-29 12:30:00 to 2003-03-31 12:30:00, by the site's clock."),
        ("2003-03-29T12:30:00+02:00", "2003-03-29 12:30:00 to 2003-03-31 12:30:00, by UTC+02:00."),
    ],
)
def test_dates_of_windows_are_told_by_the_clock_of_the_site(start, says):
    outcome = study_of(starts={"mine": start})
    assert f"Windows of mine: from {says}" in [*outcome.sentences()]
    page = study_page(outcome)
    assert "2003-03-30 12:30" in page
    assert "2003-04-01" not in page  # which has not run


def test_the_ranking_counts_windows_as_sentences_do():
    heads = [column.name for column in ranking_table(study_of()).columns]
    assert {"windows", "worse in, windows"} < {*heads}
    assert "runs" not in heads


def test_gaps_between_windows_are_told():
    apart = {"mine": [[0.0, DAY], [3 * DAY, 4 * DAY]]}
    outcome = study_of(starts={"mine": "2003-03-29T12:30:00+02:00"}, windows=apart)
    (line,) = [line for line in outcome.sentences() if line.startswith("Windows of mine")]
    assert line.endswith("to 2003-04-02 12:30:00, by UTC+02:00, with a gap before 1 of them.")


@pytest.mark.parametrize("told", [{}, {"starts": {"mine": "9999-12-31T00:00:00"}}])
def test_without_a_date_windows_are_told_in_seconds_in_the_page_alone(told):
    outcome = study_of(**told)
    assert "Windows of mine" not in " ".join(outcome.sentences())
    page = study_page(outcome)
    assert "After the first submission, with the mean wait, s, of each policy." in page
    assert "172,800" in page
    assert "259,200" not in page


def test_of_a_log_of_which_no_run_is_finished_no_windows_are_told():
    start, both = "2003-03-29T12:30:00", WINDOWS | {"other": WINDOWS["mine"]}
    outcome = study_of(starts={"mine": start, "other": start}, windows=both)
    assert "Windows of other" not in " ".join(outcome.sentences())
    none = replace(outcome, runs=outcome.runs.iloc[:0], ended=None)
    assert "No run is finished yet." in [*none.sentences()]


@pytest.mark.thorough
def test_the_clock_of_a_log_is_kept_in_the_file_of_the_study(tmp_path):
    path = write_log_study(tmp_path, [("least = 4", 'least = 3\nwindow = "25h"')])
    log = tmp_path / "mine.swf"
    log.write_text(f"; UnixStartTime: 1000000000\n; TimeZoneString: UTC\n{log.read_text()}")
    first = int(log.read_text().splitlines()[2].split()[1])
    outcome = Study.load(path).run(tmp_path / "out.db", 1, watch=Silent())
    said = datetime.fromisoformat(outcome.provenance["starts"]["mine"])
    assert said.timestamp() == 1_000_000_000 + first  # which is where windows begin
    (line,) = [each for each in outcome.sentences() if each.startswith("Windows of mine")]
    assert line.startswith("Windows of mine: from 2001-09-09 ")
    path.write_text(path.read_text().replace("least = 3", "least = 2"))  # the third has run
    assert line in Study.load(path).run(tmp_path / "out.db", 1, resume=True).sentences()


def test_a_run_whose_metric_failed_is_told_with_its_window():
    outcome = outcome_of({"a": [1.0, 2.0, 3.0], "b": [1.0, 2.0, 3.0]})
    runs = outcome.runs.assign(**{"failed/own:odd": 0.0})
    runs.loc[(runs["policy"] == "b") & (runs["replication"] == 1), "failed/own:odd"] = 1.0
    windows = {"mine": [[0.0, 10.0], [30.0, 40.0], [50.0, 60.0]]}
    (line,) = failures(replace(outcome, runs=runs, provenance={"windows": windows}))
    assert line == (
        "Metric own:odd failed in 1 of 3 runs of b (one: --seed 7 --set window_start=30.0 "
        "--set window_end=40.0)."
    )
