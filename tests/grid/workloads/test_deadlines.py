from __future__ import annotations

import math

import numpy as np
import pytest

from grid.errors import WorkloadError
from grid.jobs import job_table
from grid.workloads.deadlines import ServiceClass, assign_deadlines

PLAIN = (ServiceClass("all", 1.0, 0.0, 5.0),)


@pytest.fixture
def jobs():
    rows = job_table(20_000)
    rows["size"], rows["runtime"] = 1, np.linspace(1, 100, len(rows))
    rows["arrival"] = np.arange(len(rows))
    return rows


def ratios(rows, slowest_rate):
    return (rows["deadline"] - rows["arrival"]) / (rows["runtime"] / slowest_rate) - 1


def test_equation_5(jobs):
    drawn = ratios(assign_deadlines(jobs, 0.5, PLAIN, seed=1), 0.5)
    assert np.isinf(jobs["deadline"]).all()
    assert drawn.min() > -1e-6
    assert drawn.max() < 5
    # Kolmogorov's distance from the uniform law on [0, 5], exceeded once in 1500 times
    steps = np.arange(len(drawn) + 1) / len(drawn)
    cdf = np.sort(drawn) / 5
    assert max((steps[1:] - cdf).max(), (cdf - steps[:-1]).max()) < 2 / math.sqrt(len(drawn))


def test_a_range_of_one_ratio_is_exact(jobs):
    rows = assign_deadlines(jobs, 0.5, [ServiceClass("all", 1, 2, 2)], seed=1)
    assert (rows["deadline"] == jobs["arrival"] + jobs["runtime"] / 0.5 * 3).all()


def test_service_classes(jobs):
    gold, silver = ServiceClass("gold", 0.25, 0, 1), ServiceClass("silver", 0.75, 4, 6)
    drawn = ratios(assign_deadlines(jobs, 1.0, (gold, silver), seed=1), 1.0)
    is_gold = drawn < 1.5
    assert abs(is_gold.mean() - 0.25) < 4 * math.sqrt(0.25 * 0.75 / len(drawn))
    assert drawn[~is_gold].min() >= 4 - 1e-6
    assert drawn.max() < 6
    # class and ratio come from different streams: each class covers its range
    assert abs(drawn[is_gold].mean() - 0.5) < 4 * math.sqrt(1 / 12 / is_gold.sum())
    assert abs(drawn[~is_gold].mean() - 5) < 4 * math.sqrt(4 / 12 / (~is_gold).sum())


def test_deadlines_that_jobs_bring_stay_and_change_no_other(jobs):
    everywhere = assign_deadlines(jobs, 1.0, PLAIN, seed=1)["deadline"]
    jobs["deadline"][::3] = 7.0
    mixed = assign_deadlines(jobs, 1.0, PLAIN, seed=1)["deadline"]
    assert (mixed[::3] == 7.0).all()
    others = np.arange(len(jobs)) % 3 != 0
    assert (mixed[others] == everywhere[others]).all()


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: ServiceClass("gold", 0, 0, 1), "service class gold, share: found 0"),
        (lambda: ServiceClass("gold", 1.5, 0, 1), "service class gold, share: found 1.5"),
        (lambda: ServiceClass("gold", 1, -1, 1), "service class gold, min_ratio: found -1"),
        (lambda: ServiceClass("gold", 1, 2, 1), "service class gold, max_ratio: found 1"),
        (lambda: ServiceClass("gold", 1, 2, math.nan), "service class gold, max_ratio: found nan"),
        (lambda: assign_deadlines(job_table(1), 0.0, PLAIN, 0), "slowest rate: found 0.0"),
        (lambda: assign_deadlines(job_table(1), 1.0, (), 0), "sum of the shares"),
        (
            lambda: assign_deadlines(job_table(1), 1.0, [ServiceClass("a", 0.5, 0, 1)], 0),
            "sum of the shares of service classes: found 0.5",
        ),
        (
            lambda: assign_deadlines(job_table(1), 1.0, [ServiceClass("a", 0.5, 0, 1)] * 2, 0),
            "service classes: found",
        ),
    ],
)
def test_bad_parameters_are_named(make, named):
    with pytest.raises(WorkloadError, match=named):
        make()
