"""Verdicts follow from intervals alone."""

from __future__ import annotations

import re
from functools import partial
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from experiments.papers import beosim, claims_report, judging, maxutil, oas, queues
from experiments.papers import muscle as muscle_paper
from experiments.papers.judging import FAILS, HOLDS, OPEN, Measured, Verdict
from experiments.papers.maxutil import page_tables
from experiments.papers.muscle import claims as muscle
from experiments.sweeps.statistics import Interval, mean_interval

STATED = {
    "beosim": beosim.CLAIMS,
    "maxutil": maxutil.CLAIMS,
    "muscle": muscle.CLAIMS,
    "oas": oas.CLAIMS,
    "queues": queues.CLAIMS,
}


DOCS = Path(__file__).resolve().parents[3] / "docs"


def measured(*values, half=1.0):
    return [Measured(f"at {index}", Interval(value, half)) for index, value in enumerate(values)]


def test_a_zero_has_no_sign():
    assert claims_report.shown(Interval(-0.02, 26.1)) == "0.0 ± 26.1"
    assert claims_report.shown(Interval(-0.2, 26.1)) == "-0.2 ± 26.1"
    assert page_tables.shown(Interval(-0.00002, 0.0104)) == "0.0000 ± 0.0104"


@pytest.mark.parametrize(
    ("values", "word"), [((2, 3), HOLDS), ((2, 0.5), OPEN), ((2, -0.5), OPEN), ((5, -2), FAILS)]
)
def test_all_above_zero(values, word):
    verdict = judging.all_above_zero(measured(*values))
    assert verdict.word == word
    assert [each.value.mean for each in verdict.evidence] == sorted(values)


@pytest.mark.parametrize(
    ("mean", "half", "word"),
    [
        (0.12, 0.02, HOLDS),
        (0.12, 0.2, OPEN),
        (0.12, None, OPEN),
        (0.30, 0.02, FAILS),
        (0.5, 0.2, FAILS),
    ],
)
def test_is_number(mean, half, word):
    assert judging.is_number(Measured("", Interval(mean, half)), 0.121).word == word


@pytest.mark.parametrize(
    ("mean", "half", "word"),
    [
        (0.5, 0.4, HOLDS),
        (0.9, 0.2, OPEN),
        (1.1, 0.2, OPEN),
        (1.3, 0.2, FAILS),
        (-1.3, 0.2, FAILS),
        (0.0, 2.0, OPEN),
        (0.0, None, OPEN),
    ],
)
def test_inside(mean, half, word):
    assert judging.inside(Interval(mean, half), -1.0, 1.0) == word


@pytest.mark.parametrize(
    ("values", "word"),
    [((0, 3, 6), HOLDS), ((0, 6, 5), HOLDS), ((0, 1, 1.5), OPEN), ((0, 9, 5), FAILS)],
)
def test_rises(values, word):
    assert judging.rises(measured(*values)).word == word


@pytest.mark.parametrize(
    ("values", "word"),
    [((0, 5, 1), HOLDS), ((0, 2, 1), OPEN), ((0, 2, 9), FAILS), ((9, 2, 0), FAILS)],
)
def test_rises_then_falls(values, word):
    assert judging.rises_then_falls(measured(*values)).word == word


def test_no_trend():
    flat = partial(judging.no_trend, margin=3.0)
    assert flat(measured(0, 7, 1)).word == HOLDS
    assert flat(measured(0, 1, 7)).word == FAILS
    assert flat(measured(0, 1, 7, half=None)).word == OPEN
    assert flat(measured(0, 7, 1, half=4.0)).word == OPEN  # who knows little says nothing


def test_that_a_printed_number_holds_may_be_revoked():
    measured_ = [Measured("", Interval(0.094, 0.042)), Measured("", Interval(0.081, 0.014))]
    found = [judging.is_number(each, 0.121) for each in measured_]
    assert [each.word for each in found] == [HOLDS, FAILS]
    assert [each.lasting for each in found] == [False, True]


def test_intervals_that_are_widened_twice_are_among_as_many_as_both():
    values = Interval(1.0, 1.0, freedom=20)
    assert values.widened(6).widened(30) == pytest.approx(values.widened(180))


@pytest.mark.parametrize(
    ("values", "word"), [((5, 0), HOLDS), ((5, 4.5), OPEN), ((0, 2.5), FAILS), ((0, 1.5), OPEN)]
)
def test_above_all(values, word):
    one, *others = measured(*values)
    assert judging.above_all(one, others).word == word


CLAIMS_TRUE_WITH_EQUALITY = {
    "all above 0": judging.all_above_zero,
    "all inside": lambda found: judging.all_inside(found, 0.0, 9.0),
    "rises": judging.rises,
    "above all": lambda found: judging.above_all(found[0], found[1:]),
    "rises then falls": judging.rises_then_falls,
    "no trend": partial(judging.no_trend, margin=0.0),
    "courses": lambda found: judging.all_of(
        *(judging.rises(found[i : i + 8]) for i in range(0, 40, 8))
    ),
    "both": lambda found: judging.all_of(
        judging.all_above_zero(found[:20]), judging.all_inside(found[20:], 0.0, 9.0)
    ),
    "one by one": lambda found: judging.all_of(*(judging.all_above_zero([at]) for at in found)),
    "numbers": lambda found: judging.all_of(*(judging.is_number(each, 0.0) for each in found)),
}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("runs", [2, 3, 5])
def test_of_forty_numbers_a_true_claim_seldom_fails(runs):
    draws, times = np.random.default_rng(runs), 400
    failed = dict.fromkeys(CLAIMS_TRUE_WITH_EQUALITY, 0)
    for _ in range(times):
        samples = draws.normal(size=(40, runs))
        found = [Measured(f"at {i}", mean_interval(each)) for i, each in enumerate(samples)]
        for claim, judge in CLAIMS_TRUE_WITH_EQUALITY.items():
            failed[claim] += judge(found).word == FAILS
    assert max(failed.values()) <= 0.08 * times, failed  # 5 %, and three standard errors


def test_one_claim_of_many_needs_stronger_evidence_to_fail():
    weak, strong = measured(-1.2), measured(-3)
    true = [judging.all_above_zero(measured(5)) for _ in range(5)]
    assert judging.all_above_zero(weak).word == FAILS
    assert judging.all_of(judging.all_above_zero(weak), *true).word == OPEN
    assert judging.all_of(judging.all_above_zero(strong), *true).word == FAILS
    without_chance = [Verdict(HOLDS)] * 5
    assert judging.all_of(judging.all_above_zero(weak), *without_chance).word == FAILS
    nested = judging.all_of(judging.all_of(judging.all_above_zero(weak)), *true)
    assert nested.word == OPEN


def test_without_intervals_nothing_is_decided():
    for judge in (
        judging.all_above_zero,
        judging.rises,
        judging.rises_then_falls,
        partial(judging.no_trend, margin=9.0),
    ):
        assert judge(measured(1, 5, 2, half=None)).word == OPEN


@pytest.mark.parametrize(
    ("words", "word"),
    [((HOLDS, HOLDS), HOLDS), ((HOLDS, OPEN), OPEN), ((OPEN, FAILS), FAILS)],
)
def test_all_of(words, word):
    one, other = (
        Verdict(each, tuple(measured(1, index))) for index, each in enumerate(words, start=2)
    )
    assert judging.all_of(one, other).word == word
    assert [each.value.mean for each in judging.all_of(one, other).evidence] == [1, 2, 3]


def test_the_evidence_of_a_course_is_its_ends_and_its_peak():
    flat = partial(judging.no_trend, margin=9.0)
    for judge in (judging.rises, judging.rises_then_falls, flat):
        assert [each.value.mean for each in judge(measured(0, 2, 9, 4, 1)).evidence] == [0, 9, 1]
        assert [each.value.mean for each in judge(measured(0, 2, 9)).evidence] == [0, 9]


def test_joint_is_open_where_readings_differ():
    assert judging.joint([HOLDS, HOLDS]) == HOLDS
    assert judging.joint([HOLDS, FAILS]) == OPEN


@pytest.mark.parametrize("paper", sorted(STATED))
def test_each_claim_can_be_understood_alone(paper):
    texts = [claim.text for claim in STATED[paper]]
    assert len({(claim.about, claim.text) for claim in STATED[paper]}) == len(texts)
    others = re.compile(
        r"^(and|but|\.\.\.|it|they) |\bthe same(,| for| beyond)|that (penalty|mean|queue)\b"
        r"|other way|\ball others|the others|, too$",
        re.IGNORECASE,
    )
    assert not [text for text in texts if others.search(text)]


@pytest.mark.parametrize("key", ["beosim", "maxutil", "muscle", "queues"])
def test_pages_tell_how_trends_are_judged(key):
    rules = import_module(f"experiments.papers.{key}").Paper().rules()
    assert judging.TRENDS in rules
    assert judging.FAILS_SURELY in rules
    assert rules.strip() in (DOCS / f"{key}.md").read_text(encoding="utf-8")


# Pages ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("paper", [beosim, maxutil, queues])
def test_a_single_run_has_no_intervals(paper):
    method = " ".join(paper.Paper(replications=1).method())
    assert re.search("Runs of each (point|system): 1, so that there are no intervals[.] ", method)
    assert "over them" not in method
    assert ": 2, of different seeds. Intervals" in " ".join(paper.Paper(replications=2).method())
    one, two = (paper.Paper(replications=each).signs() for each in (1, 2))
    assert ("intervals" in one, "intervals" in two) == (False, paper is not maxutil)


def test_the_command_of_a_page_makes_it_again(tmp_path):
    log = tmp_path / "a log" / "some.swf"
    log.parent.mkdir()
    log.write_text("1 0 -1 9 4" + " -1" * 13)
    for paper, told in (
        (maxutil.Paper(scale=0.0001234567, ctc=log), f"--replications 5 --ctc '{log}'"),
        (queues.Paper(scale=0.0001234567, replications=3), "--scale 0.0001234567 --replications 3"),
        (
            muscle_paper.Paper(cpu_hours=1.23456789),
            "--scale 1 --replications 1 --cpu-hours 1.23456789",
        ),
        (oas.Paper(time_limit=1.23456789), "oas --time-limit 1.23456789"),
    ):
        assert paper.command.endswith(told)
