"""How often studies are wrong, and find what is there, where the truth is known."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from experiments.studies.database import StudyDatabase
from experiments.studies.definition import Definition
from experiments.studies.outcome import StudyOutcome
from experiments.studies.ranking import surely_apart, surely_better
from experiments.sweeps.observations import DREW
from tests.experiments.made_up_studies import STUDY, made_up

LEVEL = 0.05
NAMES = "abcdefghij"


def waits(rng, kind, windows, policies):
    """Return waits of equal policies in windows: exchanging them changes nothing."""
    shape = windows, policies
    if kind == "normal":
        return 1000 + 300 * rng.normal(size=(windows, 1)) + 100 * rng.normal(size=shape)
    if kind == "heavy tails":
        return 1000 + 100 * rng.standard_t(1.5, size=shape)
    if kind == "levels":  # of windows differ by far more than policies
        return 1000 * np.exp(2 * rng.normal(size=(windows, 1)) + 0.3 * rng.normal(size=shape))
    if kind == "both":
        return 1000 * np.exp(rng.normal(size=(windows, 1)) + 1.5 * rng.normal(size=shape))
    if kind == "yes or no":
        return 1.0 * (rng.random(shape) < 0.5)
    if kind == "counts":
        return 1.0 * rng.poisson(1.0, shape)
    if kind == "whole numbers":
        return np.round(rng.normal(100, 3, shape))
    assert kind == "often the same"
    rare = rng.random(shape) < 0.3
    return (
        1000 * np.exp(rng.normal(size=(windows, 1))) * np.where(rare, rng.lognormal(size=shape), 1)
    )


KINDS = ("normal", "heavy tails", "levels", "both", "often the same")
WHOLE = ("yes or no", "counts", "whole numbers")
"""Differences of a few of these are often all the same number."""


def better(table):
    return surely_better(pd.DataFrame(table, columns=list(NAMES[: table.shape[1]])))


def share_called_different(kind, windows, policies, studies, seed=1):
    rng = np.random.default_rng(seed)
    return np.mean([bool(better(waits(rng, kind, windows, policies))) for _ in range(studies)])


def share_found(kind, windows, policies, studies, seed=2):
    """Return how often the first policy, better by one standard deviation, is called better.

    That is one of the paired differences; of their logarithms where windows differ in level.
    """
    rng, found = np.random.default_rng(seed), 0
    for _ in range(studies):
        table = waits(rng, kind, windows, policies)
        if kind == "normal":
            table[:, 0] -= 100 * math.sqrt(2)
        else:
            table[:, 0] *= math.exp(-math.sqrt(2) * {"levels": 0.3, "both": 1.5}[kind])
        found += ("a", "b") in better(table)
    return found / studies


def chance(studies):
    """Return what a share may be above `LEVEL` by chance: one time in thousands."""
    return LEVEL + 3.3 * math.sqrt(LEVEL * (1 - LEVEL) / studies)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("windows", "policies"), [(6, 2), (6, 3), (12, 3)])
def test_equal_policies_are_seldom_called_different(kind, windows, policies):
    assert share_called_different(kind, windows, policies, 300) <= chance(300)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kind", WHOLE)
@pytest.mark.parametrize("windows", [2, 3, 4, 5])
@pytest.mark.parametrize("policies", [2, 5, 10])
def test_equal_policies_are_seldom_called_different_for_a_few_equal_numbers(
    kind, windows, policies
):
    assert share_called_different(kind, windows, policies, 200) <= chance(200)


def test_what_is_the_same_whatever_the_seed_needs_no_chance():
    table = pd.DataFrame({"a": [7.0, 7.0], "b": [9.0, 9.0]})
    assert surely_better(table) == set()
    assert surely_better(table, fixed={"a", "b"}) == {("a", "b")}
    assert surely_better(table, fixed={"a"}) == set()


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*KINDS, *WHOLE])
@pytest.mark.parametrize("windows", [2, 5, 6, 7, 9, 12, 40])
@pytest.mark.parametrize("policies", [2, 3, 5])
def test_equal_policies_are_seldom_called_different_in_many_studies(kind, windows, policies):
    assert share_called_different(kind, windows, policies, 1000) <= chance(1000)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", ["normal", "levels", "both"])
@pytest.mark.parametrize(("windows", "policies"), [(12, 2), (15, 3), (25, 5)])
def test_a_policy_better_by_a_standard_deviation_is_found_in_most_studies(kind, windows, policies):
    assert share_found(kind, windows, policies, 200) > 0.6


def test_six_windows_tell_two_policies_apart_and_no_more():
    levels = np.array([[3.0], [500.0], [40.0], [9000.0], [1.0], [77.0]])
    assert better(levels * [1.0, 1.3]) == {("a", "b")}
    assert better(levels * [1.0, 1.3, 1.31]) == set()


@pytest.mark.parametrize("kind", KINDS)
def test_a_parameter_without_effect_is_seldom_said_to_have_one(kind):
    """Twelve windows, four policies: their effects are judged together, and not one by one."""
    rng, called, studies = np.random.default_rng(4), 0, 200
    for _ in range(studies):
        before, after = waits(rng, kind, 12, 4), waits(rng, kind, 12, 4)
        called += any(surely_apart(list((after - before).T)))
    assert called / studies <= chance(studies)


@pytest.mark.thorough
def test_a_parameter_of_many_values_without_effect_is_seldom_said_to_have_one():
    """All pairs of the values of a parameter are judged together."""
    rng, called, studies, values = np.random.default_rng(5), 0, 60, [1, 2, 3, 4, 5, 6, 7]
    study = Definition.of_text(STUDY.replace("[100, 1000]", str(values)), "study.toml")
    same = {"workload": "synthetic", "policy": "dll over fcfs", "seed": 7, "unfinished": 0.0}
    for _ in range(studies):
        noise = rng.normal(100.0, 10.0, (len(values), 12))
        runs = pd.DataFrame(
            {"link_mbps": value, "replication": place, "mean_turnaround": found, **same}
            for value, of in zip(values, noise.tolist(), strict=True)
            for place, found in enumerate(of)
        )
        effects = StudyOutcome(study, {}, runs.assign(rejected=0.0, stable=1.0), len(runs), "")
        called += bool(effects.effects["surely_changes"].any())
    assert called / studies <= chance(studies)


@pytest.mark.parametrize("logs", [True, False])
def test_the_same_schedules_of_a_whole_log_differ_surely(logs, tmp_path):
    """Though deadlines that nobody heeds are drawn anew for each seed."""

    def result(policy, workload, setting, replication):
        met = {"deadlines_met": 0.5 + replication / 100, DREW: 1.0}
        return {"mean_turnaround": 100.0 + 3.0 * policy.startswith("dll"), **met}

    path = made_up(tmp_path / "study.db", result)
    StudyDatabase(path, {}, {"inputs": {"a.swf": "0"} if logs else {}})
    ranks = StudyOutcome.read(path).ranking["rank"].tolist()
    assert ranks == ([1, 2, 1, 2] if logs else [1, 1, 1, 1])
