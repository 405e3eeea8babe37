from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from grid.distributions import Exponential, UniformSizes
from grid.errors import WorkloadError
from grid.workloads import per_cluster
from grid.workloads.deadlines import ServiceClass
from grid.workloads.per_cluster import OwnJobs, PerClusterWorkload
from grid.workloads.synthetic import SyntheticWorkload

WORKLOAD = PerClusterWorkload(
    count=6000,
    clusters=3,
    interarrival=150.0,
    sizes=UniformSizes(10, 50),
    runtimes=Exponential(450.0),
    computation_fraction=0.7,
    bisection_bandwidth=500.0,
    seed=4,
)


def jobs_of(workload):
    return np.concatenate(list(workload.chunks()))


def test_each_cluster_has_its_own_poisson_stream():
    jobs = jobs_of(replace(WORKLOAD, count=90_000))
    assert jobs["number"].tolist() == list(range(1, 90_001))
    assert (np.diff(jobs["arrival"]) >= 0).all()
    for cluster in range(3):
        here = jobs[jobs["origin"] == cluster]
        assert len(here) == 30_000
        gaps = np.diff(here["arrival"], prepend=0.0)
        assert gaps.mean() == pytest.approx(150.0, rel=0.03)
        assert gaps.std() == pytest.approx(150.0, rel=0.03)
        assert abs(np.corrcoef(gaps[1:], gaps[:-1])[0, 1]) < 0.02
        assert here["runtime"].mean() == pytest.approx(450.0, rel=0.03)
        sizes = np.bincount(here["size"], minlength=51)
        assert sizes[:10].sum() == 0
        assert (sizes[10:] > 0).all()  # both ends included
        assert here["size"].mean() == pytest.approx(30.0, rel=0.01)


def test_the_draws_of_a_cluster_depend_on_no_other():
    alone = jobs_of(replace(WORKLOAD, count=2000, clusters=1))
    first = jobs_of(WORKLOAD)
    first = first[first["origin"] == 0]
    for column in ("arrival", "size", "runtime", "ppbw"):
        assert (alone[column] == first[column]).all()


@pytest.mark.parametrize("chunk", [1, 7, 5999, 10_000])
def test_the_size_of_chunks_does_not_matter(monkeypatch, chunk):
    jobs = jobs_of(replace(WORKLOAD, count=300))
    monkeypatch.setattr(per_cluster, "CHUNK", chunk)
    assert (jobs_of(replace(WORKLOAD, count=300)) == jobs).all()


@pytest.mark.parametrize(
    "workload",
    [
        WORKLOAD,
        SyntheticWorkload(
            count=50,
            rate=1.0,
            sizes=UniformSizes(1, 9),
            runtimes=Exponential(1.0),
            computation_fraction=0.7,
            bisection_bandwidth=500.0,
        ),
    ],
)
def test_equation_8(workload):
    """Half of a job needs the bisection bandwidth towards the other half, by eq. 1."""
    jobs = jobs_of(workload)
    jobs = jobs[jobs["size"] % 2 == 0]
    half = jobs["size"] / 2
    assert half * jobs["ppbw"] * half / (jobs["size"] - 1) == pytest.approx(500.0)
    assert (jobs["computation_fraction"] == 0.7).all()


def test_jobs_of_one_node_need_nothing():
    jobs = jobs_of(replace(WORKLOAD, sizes=UniformSizes(1, 1)))
    assert (jobs["ppbw"] == 0).all()


def test_deadlines_count_from_arrivals():
    jobs = jobs_of(replace(WORKLOAD, classes=(ServiceClass("all", 1.0, 2.0, 2.0),)))
    assert jobs["deadline"] == pytest.approx(jobs["arrival"] + 3 * jobs["runtime"])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"count": 7}, "count of jobs: found 7; accepted: a multiple of the number of clusters, 3"),
        ({"interarrival": 0.0}, "interarrival time: found 0.0; accepted: s, above 0"),
        ({"computation_fraction": 1.1}, "computation fraction: found 1.1; accepted: a number from"),
        ({"bisection_bandwidth": -1.0}, "bisection bandwidth: found -1.0; accepted: Mbit/s, from"),
    ],
)
def test_bad_parameters_are_named(change, words):
    with pytest.raises(WorkloadError, match=f"^{words}"):
        replace(WORKLOAD, **change)


OWN = {1: OwnJobs(75.0, UniformSizes(1, 4), Exponential(100.0))}


def test_a_cluster_may_have_jobs_of_its_own():
    jobs = jobs_of(replace(WORKLOAD, count=80_001, own=OWN))
    counts = np.bincount(jobs["origin"])
    assert counts.tolist() == [20_000, 40_001, 20_000]  # in proportion to the rates
    assert (np.diff(jobs["arrival"]) >= 0).all()
    here = jobs[jobs["origin"] == 1]
    assert np.diff(here["arrival"], prepend=0.0).mean() == pytest.approx(75.0, rel=0.03)
    assert here["runtime"].mean() == pytest.approx(100.0, rel=0.03)
    assert sorted({*here["size"].tolist()}) == [1, 2, 3, 4]
    ends = [jobs["arrival"][jobs["origin"] == cluster].max() for cluster in range(3)]
    assert min(ends) > 0.97 * max(ends)  # all come for about as long


def test_jobs_of_one_cluster_change_nothing_of_the_others():
    common, some = jobs_of(WORKLOAD), jobs_of(replace(WORKLOAD, own=OWN))
    for cluster in (0, 2):
        theirs = [jobs[jobs["origin"] == cluster][:1000] for jobs in (common, some)]
        for column in ("arrival", "size", "runtime", "ppbw"):
            assert (theirs[0][column] == theirs[1][column]).all()
    alike = {cluster: OwnJobs(150.0, WORKLOAD.sizes, WORKLOAD.runtimes) for cluster in range(3)}
    assert jobs_of(replace(WORKLOAD, own=alike)).tobytes() == common.tobytes()


def test_a_cluster_that_is_not_there_has_no_jobs():
    with pytest.raises(WorkloadError, match="clusters with jobs of their own: found"):
        replace(WORKLOAD, own={3: OWN[1]})
    with pytest.raises(WorkloadError, match="interarrival time: found 0"):
        replace(WORKLOAD, own={0: OwnJobs(0.0, UniformSizes(1, 4), Exponential(1.0))})
