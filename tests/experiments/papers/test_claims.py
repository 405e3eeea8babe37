"""Verdicts follow from intervals alone."""

from __future__ import annotations

import re

import pytest

from experiments.papers import beosim, judging, maxutil, oas, queues
from experiments.papers.judging import FAILS, HOLDS, OPEN, Measured, Verdict
from experiments.papers.muscle import claims as muscle
from experiments.sweeps.statistics import Interval

STATED = {
    "beosim": beosim.CLAIMS,
    "maxutil": maxutil.CLAIMS,
    "muscle": muscle.CLAIMS,
    "oas": oas.CLAIMS,
    "queues": queues.CLAIMS,
}


def measured(*values, half=1.0):
    return [Measured(f"at {index}", Interval(value, half)) for index, value in enumerate(values)]


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
    assert judging.no_trend(measured(0, 7, 1)).word == HOLDS
    assert judging.no_trend(measured(0, 1, 7)).word == FAILS
    assert judging.no_trend(measured(0, 1, 7, half=None)).word == OPEN


def test_without_intervals_nothing_is_decided():
    for judge in (
        judging.all_above_zero,
        judging.rises,
        judging.rises_then_falls,
        judging.no_trend,
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
    for judge in (judging.rises, judging.rises_then_falls, judging.no_trend):
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
