"""Whether the queue of a run grew throughout, on queues of which that is known."""

from __future__ import annotations

import numpy as np
import pytest

from grid.distributions import Exponential, UniformSizes
from grid.jobs import job_table
from grid.kernel.policies.decisions import place_address
from grid.metrics.stability import is_settled
from grid.platform.multicluster import Platform
from grid.workloads.synthetic import SyntheticWorkload
from grid.world.policies import Addresses
from grid.world.world import World
from tests.grid.kernel.queueing.test_queues import whole_or_split
from tests.grid.plain_cases import rules


def is_stable(jobs):
    """Return the verdict on a single server that serves jobs in order of arrival."""
    world = World(Platform.star([1]))
    address = Addresses(place_address(whole_or_split, world.capacity))
    world.policies.set_global(rules(max_jumps=0), address, np.ones(1))
    world.log.stream(None)
    world.arrivals.feed(iter(jobs))
    world.advance(np.inf)
    return world.statistics.stable


def single_server(load, jobs, seed):
    """Return the verdict on an M/M/1 queue."""
    laws = {"sizes": UniformSizes(1, 1), "runtimes": Exponential(load), "seed": seed}
    return is_stable(SyntheticWorkload(count=jobs, rate=1.0, **laws).chunks())


@pytest.mark.parametrize("seed", range(10))
def test_a_server_that_cannot_keep_up_is_not_stable(seed):
    for load in (1.1, 1.3, 2.0):
        assert single_server(load, 20_000, seed) is False


def test_a_server_that_keeps_up_is_stable():
    for load in (0.3, 0.7, 0.9):
        assert [single_server(load, 20_000, seed) for seed in range(30)] == [True] * 30


def test_few_jobs_say_nothing():
    assert single_server(2.0, 999, 1) is None
    together = job_table(1400)
    together["size"] = together["runtime"] = 1
    assert is_stable([together]) is None
    together["arrival"] = 7.0
    assert is_stable([together]) is None


def test_growth_has_to_last():
    grows = np.arange(30.0)
    assert not is_settled(10 * grows)
    assert is_settled(np.minimum(10 * grows, 95.0))  # warm-up
    assert is_settled(np.full(30, 1000.0) + np.resize([5.0, -5.0], 30))
    assert is_settled(grows / 100)  # less than a job
