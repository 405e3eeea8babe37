"""Ranks with ties, from samples whose differences are known."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from experiments.studies import ranking
from experiments.studies.definition import Definition
from experiments.studies.ranking import common, differences, p_value, surely_better
from experiments.sweeps.sequential_stopping import next_target
from experiments.sweeps.statistics import mean_interval
from tests.experiments.made_up_studies import STUDY

RNG = np.random.default_rng(5)


def series(values):
    return pd.Series(np.asarray(values, float))


def ranks(samples, more_is_better=False):
    return ranking.ranks(samples, surely_better(common(samples), more_is_better))


def test_clearly_different_policies_have_different_ranks_and_equal_ones_tie():
    jobs = RNG.normal(100, 30, 8)  # what all of them share
    samples = {
        "slowest": series(jobs + 40 + RNG.normal(0, 1, 8)),
        "best": series(jobs),
        "as good": series(jobs + 1e-9 * RNG.normal(0, 1, 8)),
        "slower": series(jobs + 10 + RNG.normal(0, 1, 8)),
    }
    assert ranks(samples) == {"slowest": 4, "best": 1, "as good": 1, "slower": 3}
    assert ranks(samples, more_is_better=True) == {
        "slowest": 1,
        "slower": 2,
        "best": 3,
        "as good": 3,
    }


def test_a_noisy_policy_ties_with_what_it_cannot_be_told_from():
    best = series(RNG.normal(0, 1, 6))
    noisy = series(np.add(best, [90, -80, 60, -50, 70, -40]))
    samples = {"best": best, "worse": best + 5 + series(RNG.normal(0, 0.1, 6)), "noisy": noisy}
    assert ranks(samples) == {"best": 1, "worse": 2, "noisy": 1}


def test_a_difference_that_one_pair_shows_may_not_be_one_of_many_pairs():
    found = [1.0, 1.6, 0.3, 2.2, 0.4]
    assert p_value(found) < 0.05
    two = {"a": series(np.zeros(5)), "b": series(found)}
    assert ranks(two) == {"a": 1, "b": 2}
    noise = {name: series(RNG.normal(0.5, 40, 5)) for name in "cdefg"}
    assert ranks({**two, **noise})["b"] == 1


def test_only_replications_of_both_are_compared():
    one = pd.Series([5.0, 7.0, 9.0], [0, 1, 2])
    other = pd.Series([2.0, 3.0, 100.0], [1, 2, 7])
    assert differences(one, other).tolist() == [5.0, 6.0]
    assert differences(one, pd.Series([1.0], [9])).tolist() == []
    assert ranks({"a": one, "b": pd.Series([1.0], [9])}) == {"a": 1, "b": 1}


def test_all_policies_are_compared_in_the_replications_that_all_have():
    jobs = RNG.normal(100, 30, 9)
    samples = {"a": series(jobs), "b": series(jobs + 5)}
    assert ranks(samples) == {"a": 1, "b": 2}
    few = {**samples, "c": series(jobs)[:1]}
    assert common(few).index.tolist() == [0]
    assert ranks(few) == {"a": 1, "b": 1, "c": 1}


def test_one_window_of_many_does_not_make_a_policy_better():
    """Its mean is far better, but it is the worse one in five of six windows."""
    others = [10.0, 12.0, 9.0, 11.0, 10.0, 10.0]
    lucky = np.add(others, [1.0, 1.0, 2.0, 1.0, 1.5, -1e6])
    assert surely_better(common({"lucky": series(lucky), "steady": series(others)})) == set()


@pytest.mark.parametrize("values", [(1, 2, 3, 4, 5, -6, 7), (3, -1, 2, 2, 5, 8, 4, 0, 0)])
def test_signed_ranks_are_those_of_all_signs(values):
    sizes = np.abs([each for each in values if each])
    places = pd.Series(sizes).rank().to_numpy()
    signs = 1 - 2 * (np.arange(2 ** len(sizes))[:, None] >> np.arange(len(sizes)) & 1)
    found = places @ np.sign([each for each in values if each])
    expected = np.mean(signs @ places >= found) * 2
    assert p_value(values) == pytest.approx(expected)


# Rounds -----------------------------------------------------------------------------------------


def study(**replications):
    definition = Definition.of_text(STUDY, "study.toml")
    how = definition.replications.model_copy(update=replications)
    return definition.model_copy(update={"replications": how})


def runs(count, draws):
    """Return runs of two policies, of which the first has these draws and the other few noise."""
    rows = [
        {
            "policy": policy,
            "replication": replication,
            "mean_turnaround": value,
            "utilization": 0.5,
            "stable": 1.0,
            "unfinished": 0.0,
        }
        for replication in range(count)
        for policy, value in (("a", draws[replication]), ("b", 10.0 + 1e-4 * replication))
    ]
    return pd.DataFrame(rows)


@pytest.mark.thorough
@pytest.mark.parametrize(("precision", "expected"), [(0.2, 9), (0.1, 31), (0.05, 120)])
def test_rounds_end_when_a_known_variance_is_known_well_enough(precision, expected):
    found = []
    for _ in range(40):
        draws = RNG.normal(100, 25, 500)
        how = study(least=5, precision=precision)
        target, rounds = 5, 0
        while (after := next_target(how, runs(target, draws), target, 500)) != target:
            assert target < after <= 2 * target
            target, rounds = after, rounds + 1
        reached = mean_interval(draws[:target])
        assert reached.half_width <= precision * reached.mean
        assert rounds < 12
        found.append(target)
    # (1.96 x 0.25 / precision)^2, and some more, for small samples are not sure of their variance
    assert 0.7 * expected < np.mean(found) < 1.5 * expected


def test_rounds_end_at_the_limit_and_without_a_precision():
    draws = RNG.normal(100, 60, 50)
    assert next_target(study(least=5, precision=0.01), runs(5, draws), 5, 8) == 8
    assert next_target(study(least=5, precision=0.01), runs(8, draws), 8, 8) == 8
    assert next_target(study(least=5), runs(5, draws), 5, 5) == 5
    zero = draws - draws[:5].mean()
    assert next_target(study(least=5, precision=0.1), runs(5, zero), 5, 99) == 10


def test_rounds_go_on_where_queues_grew():
    draws = RNG.normal(100, 60, 50)
    grew = runs(5, draws).assign(stable=0.0)
    assert next_target(study(least=5, precision=0.01), grew, 5, 99) == 10


def test_a_number_that_never_changed_yet_is_not_known_for_sure():
    """As where no job of the first replications had to wait, or a user's metric fails often."""
    calm = runs(3, np.zeros(3)).assign(makespan=range(6))
    calm.loc[calm["policy"] == "b", "mean_turnaround"] = 0.0
    assert next_target(study(least=3, precision=0.1), calm, 3, 20) == 6
    assert next_target(study(least=3), calm, 3, 3) == 3


def test_what_is_not_random_is_not_repeated():
    same = np.full(9, 3.0)
    of_log = runs(2, same)
    of_log.loc[of_log["policy"] == "b", "mean_turnaround"] = 4.0
    assert next_target(study(least=5, precision=0.1), of_log, 2, 30, whole_log=True) == 2
    drawn = of_log.assign(drew=1.0)  # random numbers, which changed nothing yet
    assert next_target(study(least=5, precision=0.1), drawn, 2, 30, whole_log=True) == 5
    seeds_matter = of_log.assign(over_deadline=[1.0, 1.0, 2.0, 1.0])
    assert next_target(study(least=5, precision=0.1), seeds_matter, 2, 30, whole_log=True) == 5
    assert next_target(study(least=5, precision=0.1), runs(2, RNG.normal(9, 1, 9)), 2, 30) == 5
