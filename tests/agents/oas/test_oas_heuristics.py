"""The queues and the insertion: what they start when, and how jobs are distributed."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agents.oas import HEURISTICS, Instance, approximate, verify
from agents.oas.scaled import Scaled
from agents.oas.solvers.packing import Tables, fastest_levels
from grid.errors import GridError
from tests.agents import plain_oas
from tests.agents.small_oas import QUEUES, as_printed, instances, some


@pytest.mark.parametrize(
    ("name", "starts"),
    [
        ("fcfs", [0, 30, 50]),
        ("sjf", [0, 30, 0]),
        ("bjf", [20, 0, 20]),
        ("fpfs", [0, 30, 0]),
        ("spt", [30, 10, 0]),
        ("lpt", [0, 30, 50]),
        ("insertion", [0, 30, 0]),
    ],
)
def test_a_heuristic_serves_jobs_in_its_order(name, starts):
    answer = approximate(name, Instance.from_dict(QUEUES))
    if name == "insertion":
        assert answer.makespan == 50
    else:
        assert [run.start for run in answer.schedule] == starts


def test_a_queue_takes_the_fastest_nodes_on_which_no_link_is_saturated():
    clusters = [{"nodes": 2, "effective_power": p, "link_mbps": 10} for p in (1, 0.5, 0.5)]
    jobs = [
        {"tasks": 1, "base_time": 10, "bandwidth": 0, "sigma": 1},
        {"tasks": 2, "base_time": 10, "bandwidth": 20, "sigma": 1},
    ]
    answer = approximate("fcfs", Instance.from_dict({"clusters": clusters, "jobs": jobs}))
    assert [run.nodes for run in answer.schedule] == [(1, 0, 0), (0, 2, 0)]


@settings(max_examples=40)
@given(instances, st.sampled_from([None, 50, 33.3, 12.345678901234567]))
def test_every_schedule_holds_exactly_as_it_is_printed(instance, slot):
    given_ = Instance.from_dict(instance)
    can_run = [bool(plain_oas.distributions(instance["clusters"], j)) for j in instance["jobs"]]
    for name in HEURISTICS:
        answer = approximate(name, given_, slot)
        assert (answer.status == "feasible") == all(can_run)
        if all(can_run):
            verify(instance, as_printed(answer))
            assert 0 < answer.compaction <= 1
        else:
            assert [line.split(":")[0] for line in answer.why] == [
                f"jobs[{index}]" for index, can in enumerate(can_run) if not can
            ]


@settings(max_examples=200)
@given(instances)
@example(some(1, 5, clusters=(1, 1, 2, 4), link=99.99999999999999))
def test_a_job_is_distributed_if_there_is_any_way(instance):
    given_ = Instance.from_dict(instance)
    tables = Tables.of(given_, Scaled.of(given_, up=True))
    fastest = np.zeros(len(given_.jobs), np.int64)
    fastest_levels(tables, np.zeros((4, len(given_.clusters)), np.int64), fastest)
    levels = Scaled.of(given_).levels
    for job, level in zip(instance["jobs"], fastest, strict=True):
        ways = plain_oas.distributions(instance["clusters"], job)
        slowest = [max(of for of, n in zip(levels, way, strict=True) if n) for way in ways]
        assert level == min(slowest, default=max(levels) + 1)


def test_a_heuristic_that_does_not_exist_is_refused():
    with pytest.raises(GridError, match="heuristic: found 'best'; accepted: fcfs, sjf"):
        approximate("best", Instance.from_dict(some(0, 1)))


@pytest.mark.parametrize("jobs", [300, pytest.param(5000, marks=pytest.mark.slow)])
def test_an_insertion_schedules_many_jobs_on_many_clusters(jobs):
    draw = random.Random(jobs)
    instance = {
        "clusters": [
            {"nodes": 32, "effective_power": draw.randint(5, 10) / 10, "link_mbps": 1000}
            for _ in range(16)
        ],
        "jobs": [
            {
                "tasks": draw.randint(1, 64),
                "base_time": draw.randint(100, 10000),
                "bandwidth": draw.randint(1, 20),
                "sigma": 0.7,
            }
            for _ in range(jobs)
        ],
    }
    given_ = Instance.from_dict(instance)
    answer = approximate("insertion", given_)
    verify(given_, answer)
    assert answer.compaction > 0.8
    assert answer.makespan < approximate("fcfs", given_).makespan
