"""The verdict on steady state, on queues whose state is known."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from grid.finished import Records
from grid.kernel.state import FINISHED
from grid.stability import is_settled, is_stable, queue_lengths


def single_server(load, jobs, seed):
    """Return records of an M/M/1 queue."""
    rng = np.random.default_rng(seed)
    arrival = np.cumsum(rng.exponential(1.0, jobs))
    runtime = rng.exponential(load, jobs)
    finish = np.zeros(jobs)
    end = 0.0
    for index in range(jobs):
        end = max(end, arrival[index]) + runtime[index]
        finish[index] = end
    rows = np.zeros(jobs, FINISHED)
    rows["arrival"], rows["start"], rows["finish"] = arrival, finish - runtime, finish
    return Records(rows, np.zeros((0, 1), np.int32))


@pytest.mark.parametrize("seed", range(10))
def test_a_server_that_cannot_keep_up_is_not_stable(seed):
    for load in (1.1, 1.3, 2.0):
        assert is_stable(single_server(load, 20_000, seed)) is False


def test_a_server_that_keeps_up_is_stable():
    for load in (0.3, 0.7, 0.9):
        verdicts = [is_stable(single_server(load, 20_000, seed)) for seed in range(30)]
        assert verdicts == [True] * 30


def test_few_jobs_say_nothing():
    assert is_stable(single_server(2.0, 999, 1)) is None
    together = single_server(0.5, 1400, 1)
    together["arrival"][:] = 0.0
    assert is_stable(together) is None


def test_queue_lengths_are_those_of_a_count_by_hand():
    rng = np.random.default_rng(2)
    arrival = rng.uniform(0, 100, 200)
    start = arrival + rng.exponential(20, 200) * (rng.random(200) < 0.7)
    edges = np.linspace(arrival.min(), arrival.max(), 7)
    expected = [
        sum(np.clip(start, low, high) - np.clip(arrival, low, high)) / (high - low)
        for low, high in itertools.pairwise(edges)
    ]
    shuffled = rng.permutation(200)
    assert queue_lengths(arrival[shuffled], start[shuffled], 6) == pytest.approx(expected)


def test_growth_has_to_last():
    grows = np.arange(30.0)
    assert not is_settled(10 * grows)
    assert is_settled(np.minimum(10 * grows, 95.0))  # warm-up
    assert is_settled(np.full(30, 1000.0) + np.resize([5.0, -5.0], 30))
    assert is_settled(grows / 100)  # less than a job
