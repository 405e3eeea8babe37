"""Which jobs of a plan start now."""

from __future__ import annotations

import numpy as np
import pytest

from agents.oas.order import Planned, starting

ENDLESS = np.full(2, np.inf)


def started(plan, free, spare=ENDLESS):
    jobs = [Planned(job, nodes, loads) for job, (nodes, loads) in enumerate(plan)]
    return [each.job for each in starting(jobs, free, spare)]


@pytest.mark.parametrize(
    ("plan", "free", "starts"),
    [
        ([(2, 0), (2, 0), (0, 3)], (4, 4), [0, 1, 2]),
        ([(5, 0), (1, 0), (0, 3)], (4, 4), [2]),  # nobody overtakes on the same cluster
        ([(3, 2), (2, 0), (0, 2), (0, 1)], (4, 4), [0, 2]),  # who waits holds up its cluster only
        ([(5, 1), (0, 1), (1, 0)], (4, 4), []),  # also where it would fit
        ([(0, 1)], (0, 0), []),
    ],
)
def test_jobs_start_in_order_on_each_cluster(plan, free, starts):
    assert started([(nodes, (0.0, 0.0)) for nodes in plan], free) == starts


def test_no_link_gets_more_than_it_has_left():
    plan = [((1, 1), (6.0, 6.0)), ((1, 1), (5.0, 5.0)), ((1, 0), (0.0, 0.0))]
    assert started(plan, (9, 9), np.array([10.0, 20.0])) == [0]
    assert started(plan, (9, 9), np.array([11.0, 11.0])) == [0, 1, 2]
    assert started(plan, (9, 9)) == [0, 1, 2]
