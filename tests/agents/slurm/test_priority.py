"""Priorities and fair share, by hand."""

from __future__ import annotations

import pytest

from agents.slurm.conf import Partition, Priority
from agents.slurm.priority import Sizes, age_factor, partition_factor, priority, size_factor
from agents.slurm.usage import Association, Usage, classic, fair_tree

ALL = Sizes(4, 32)


def test_factors():
    settings = Priority(max_age=1000.0)
    assert [age_factor(waited, settings) for waited in (0, 250, 5000)] == [0, 0.25, 1]
    assert size_factor(16, 2, 600, ALL, settings) == 0.5
    assert size_factor(16, 1, 600, ALL, Priority(favor_small=True)) == 1 - 0.375
    assert size_factor(16, 2, 600, ALL, Priority(relative_to_time=True)) == 16 / 10 / 32
    assert partition_factor(Partition("p", job_factor=2), 8, settings) == 0.25
    assert partition_factor(Partition("p", job_factor=0), 0, settings) == 0
    assert partition_factor(Partition("p", job_factor=2), 8, Priority(normal_partitions=False)) == 2


def test_priority_is_whole_and_at_least_1():
    settings = Priority(age=10, fair_share=100, job_size=1000, partition=10_000, qos=100_000)
    assert priority((1, 1, 1, 1, 1), settings) == 111_110
    assert priority((0.19, 0, 0, 0, 0), settings) == 1
    assert priority((0, 0, 0, 0, 0), settings) == 1


def test_usage_decays_and_grows():
    usage, user = Usage(100.0), Association(0, 1)
    usage.begin(7, user, 4, 0.0)
    usage.look(100.0)
    assert usage.used[user] == 400
    assert usage.end_others([7], 100.0) is False
    assert usage.end_others([], 200.0) is True
    assert usage.used[user] == 400 / 2 + 400
    usage.look(400.0)
    assert usage.used[user] == 600 / 4
    usage.know(Association(0, 2))
    assert usage.used[Association(0, 2)] == 0
    usage.look(100_000.0)
    assert usage.used[user] == pytest.approx(600 * 2.0 ** (-998 + 0))


def test_fair_tree_goes_by_accounts_first():
    a, b, c, d = (Association(0, 1), Association(0, 2), Association(1, 1), Association(1, 3))
    # Account 0 has used less than account 1, so both its users come first.
    found = fair_tree({a: 10.0, b: 30.0, c: 60.0, d: 0.0})
    assert found == {a: 1.0, b: 0.75, d: 0.5, c: 0.25}


def test_equals_have_equal_factors():
    a, b, c = Association(0, 1), Association(0, 2), Association(0, 3)
    found = fair_tree({a: 5.0, b: 5.0, c: 1.0})
    assert found == {c: 1.0, a: pytest.approx(2 / 3), b: found[a]}
    assert set(fair_tree({a: 0.0, b: 0.0}).values()) == {1.0}


def test_classic_fair_share():
    a, b, c = Association(0, 1), Association(0, 2), Association(1, 3)
    found = classic({a: 20.0, b: 0.0, c: 20.0})
    # User a: half of all was its own; S = 1/4, U = 1/2. User b: U = 0 + (1/2 - 0) / 2.
    assert found == {a: 2.0**-2, b: 2.0**-1, c: 2.0**-1}
    assert classic({a: 0.0}) == {a: 1.0}
