"""What a study says of the values of its parameters between the first and the last."""

from __future__ import annotations

import pytest

from tests.experiments.made_up_studies import STUDY
from tests.experiments.studies.test_study_outcome import read

TWO = "[100, 1000]\nlatency = [0, 5]"


@pytest.mark.parametrize(
    ("means", "says"),
    [
        ((50, 200, 50), "stays the same, but rises from 1 to 2 and falls from 2 to 3."),
        ((50, 40, 30, 100, 110), "5 replications), but falls from 1 to 3 and rises from 3 to 5."),
        ((50, 40, 30), "changes by -20 s or -40.0 % (lower in 5 of 5 replications)."),
        ((50, None, 50), "stays the same, but not in between."),  # some higher, some lower
        ((50, None, 60, 50), "stays the same, but falls from 3 to 4."),
    ],
)
def test_what_the_first_and_the_last_value_hide_is_told(tmp_path, means, says):
    def result(policy, workload, setting, replication):
        mean = means[setting["link_mbps"] - 1]
        return {"mean_turnaround": float(50 + 20 * (-1) ** replication if mean is None else mean)}

    values = [*range(1, len(means) + 1)]
    [told] = [
        line
        for line in read(
            tmp_path, result, text=STUDY.replace("[100, 1000]", f"{values}")
        ).sentences()
        if line.startswith("From")
    ]
    assert told.endswith(says)


def test_what_goes_the_same_way_in_between_is_not_hidden(tmp_path):
    """From first to last it may rise, as in 4 of 5 replications; from second to last, in all."""

    def result(policy, workload, setting, replication):
        last = 49.5 if replication == 2 else 60.0
        return {"mean_turnaround": {1: 50.0, 2: last - 5.0, 3: last}[setting["link_mbps"]]}

    told = read(tmp_path, result, text=STUDY.replace("[100, 1000]", "[1, 2, 3]"))
    (line,) = [line for line in told.sentences() if line.startswith("From")]
    assert "may change by +7.9" in line
    assert "rises" not in line


def test_what_ends_hide_is_told_of_the_cases_that_have_it(tmp_path):
    def result(policy, workload, setting, replication):
        peak = setting["link_mbps"] == 2 and (setting["latency"] or policy.startswith("dll"))
        return {"mean_turnaround": 200.0 + setting["latency"] if peak else 50.0}

    told = read(tmp_path, result, text=STUDY.replace("[100, 1000]", "[1, 2, 3]\nlatency = [0, 5]"))
    both = "rises from 1 to 2 and falls from 2 to 3"
    assert [line for line in told.sentences() if line.startswith("From link")] == [
        f"From link_mbps 1 to 3, mean turnaround of {policy} over fcfs stays the same, but {both} "
        f"in {often}."
        for policy, often in (("ect", "1 of 2 cases (latency 5)"), ("dll", "2 of 2 cases"))
    ]


def test_what_may_change_is_told_though_the_last_value_tells_nothing(tmp_path):
    """That is higher each time, by very unequal times; the one before less so."""

    def result(policy, workload, setting, replication):
        slow = {
            1: 0.0,
            2: [2.0, 4.0, 6.0, 8.0, 12.0][replication],
            3: 5.0 + 400.0 * (replication == 2),
        }
        return {"mean_turnaround": 100.0 + slow[setting["link_mbps"]]}

    text = STUDY.replace("[100, 1000]", "[1, 2, 3]")
    outcome = read(tmp_path, result, text=text, replications=5)
    assert not outcome.effects["surely_changes"].any()  # of five, beside two more comparisons
    (line,) = [each for each in outcome.sentences() if each.startswith("From link_mbps 1 to 3")]
    assert line.endswith(
        "over fcfs does not change as far as 5 replications can tell, though it is higher in all "
        "of them, but may from 1 to 2."
    )


def test_values_without_an_order_are_each_compared_with_the_first(tmp_path):
    means = {"change": 50.0, "periodic": 40.0, "both": 60.0}

    def result(policy, workload, setting, replication):
        return {"mean_turnaround": means[setting["advertise"]]}

    words = STUDY.replace("link_mbps = [100, 1000]", f"advertise = {[*means]}")
    told = read(tmp_path, result, text=words).sentences()
    starts = [line[:40] for line in told if line.startswith("From")]
    assert starts == [f"From advertise change to {each}, mean turn"[:40] for each in [*means][1:]]
    assert sum("by -10 s or -20.0 %" in line for line in told) == 1
    assert sum("by +10 s or +20.0 %" in line for line in told) == 1
