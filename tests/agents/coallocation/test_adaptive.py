"""The policy that learns what jobs need of links; job by job it is in `test_coallocation`."""

from __future__ import annotations

import numpy as np
import pytest
from numba import types

from agents.coallocation.adaptive import AdaptiveScheduler
from agents.coallocation.bandwidth_estimator import expected_bandwidth
from agents.model import GridModel
from agents.registry import global_scheduler, local_scheduler
from grid.jobs import job_table
from grid.kernel.compile import compiled
from grid.kernel.policies.decisions import ReadOnlyRecord
from grid.kernel.policies.policy_view import known_dtype
from grid.platform.multicluster import Platform
from grid.workloads.table import Table


@compiled(cache=False)
def expected(memory, size):
    return expected_bandwidth(memory, size)


def workload(seed, bsbw, count=12_000, clusters=4, largest=50, runtime=450.0):
    """Return jobs as in section 6 of the paper."""
    rng = np.random.default_rng(seed)
    jobs = job_table(count)
    jobs["arrival"] = np.cumsum(rng.exponential(150 / clusters, count))
    jobs["size"] = rng.integers(10, largest + 1, count)
    jobs["runtime"] = rng.exponential(runtime, count)
    jobs["origin"] = rng.integers(0, clusters, count)
    jobs["computation_fraction"] = 0.7
    jobs["ppbw"] = bsbw * 4 * (jobs["size"] - 1) / jobs["size"] ** 2.0
    return jobs


def model_of(policy, jobs, clusters=4, nodes=100, interval=1e12):
    return GridModel(
        Platform.star([nodes] * clusters, capacity=1000.0),
        Table(jobs),
        global_scheduler(policy),
        local_scheduler("fcfs"),
        interval=interval,
    )


def mean_turnaround(policy, jobs, **platform):
    model = model_of(policy, jobs, **platform)
    model.run()
    records = model.world.log.records()
    return (records["finish"] - records["arrival"]).mean()


@pytest.mark.thorough
def test_it_reads_nothing_of_a_job_but_size_and_origin():
    """It compiles for jobs that have nothing else."""
    job = ReadOnlyRecord(np.dtype([("size", np.int64), ("origin", np.int64)], align=True))
    known = ReadOnlyRecord(known_dtype(4))
    AdaptiveScheduler.__dict__["place"].get_compile_result(
        types.int64(known, job, types.float64[::1])
    )


def test_it_learns_what_jobs_need():
    model = model_of("adaptive", workload(1, 700.0))
    memory = model.world.tables.memory
    assert expected(memory, 30) == 0.0
    model.run()
    for size in (8, 15, 16, 31, 32, 63, 64):  # of the last kind no job was seen
        assert expected(memory, size) == pytest.approx(700.0)


def test_bandwidth_that_varies_counts_for_more_than_its_mean():
    jobs = workload(1, 300.0)
    jobs["ppbw"] *= np.random.default_rng(2).choice([0.5, 1.5], len(jobs))
    model = model_of("adaptive", jobs)
    model.run()
    # mean and one standard deviation of the hundred jobs or so seen last
    assert expected(model.world.tables.memory, 64) == pytest.approx(300 + 150, rel=0.15)


def test_links_stay_within_their_capacity_once_it_has_learnt():
    jobs = workload(3, 900.0, count=3000)
    model = model_of("adaptive", jobs, interval=50.0)
    most = []
    while model.running:
        model.step()
        most.append(model.world.state.demand.max())
    assert max(most) > 900
    assert max(most[len(most) // 10 :]) <= 1000 * (1 + 1e-9)


@pytest.mark.thorough
@pytest.mark.parametrize("bsbw", [300.0, 600.0, 900.0])
@pytest.mark.parametrize(
    ("clusters", "largest", "runtime"), [(2, 50, 450.0), (4, 50, 450.0), (4, 90, 225.0)]
)
def test_turnaround_is_better_than_that_of_b3(bsbw, clusters, largest, runtime):
    better = []
    for seed in range(4):
        jobs = workload(seed, bsbw, clusters=clusters, largest=largest, runtime=runtime)
        policies = "adaptive", "b3"
        ours, theirs = (mean_turnaround(policy, jobs, clusters=clusters) for policy in policies)
        better.append(ours / theirs - 1)
    assert np.mean(better) + 2.35 * np.std(better, ddof=1) / 2 < 0  # 95 %, one-sided


def test_a_job_that_no_cluster_can_hold_runs_whatever_it_needs():
    jobs = job_table(40)
    jobs["arrival"], jobs["size"], jobs["origin"] = np.arange(40.0), 15, 0
    jobs["runtime"], jobs["computation_fraction"], jobs["ppbw"] = 10.0, 0.5, 5000.0
    model = model_of("adaptive", jobs, nodes=10)
    model.run()
    assert len(model.world.log.records()) == 40
