"""Jobs drawn whole from a log, components scattered over clusters, and jobs at once."""

from __future__ import annotations

import numpy as np
import pytest

from grid.distributions import Empirical, Exponential, UniformSizes
from grid.errors import WorkloadError
from grid.jobs import MAX_COMPONENTS
from grid.workloads.component_sizes import sizes_of_log
from grid.workloads.sample import JobSample
from grid.workloads.source import CHUNK
from grid.workloads.synthetic import SyntheticWorkload

SAMPLE = JobSample(np.array([1, 2, 7]), np.array([10.0, 20.0, 70.0]))
MIX = {"count": 30_000, "rate": 1.0, "sizes": UniformSizes(1, 8), "runtimes": Exponential(5.0)}


def jobs_of(**parameters):
    return np.concatenate(list(SyntheticWorkload(**(MIX | parameters)).chunks()))


def test_size_and_run_time_come_together():
    jobs = jobs_of(sample=SAMPLE)
    assert (jobs["runtime"] == 10.0 * jobs["size"]).all()
    counts = [(jobs["size"] == size).sum() for size in SAMPLE.sizes]
    assert sum(counts) == len(jobs)
    assert counts == pytest.approx([10_000] * 3, rel=0.05)


def test_a_sample_changes_no_arrival():
    assert (jobs_of(sample=SAMPLE)["arrival"] == jobs_of()["arrival"]).all()


def test_a_sample_and_a_composition_do_not_go_together():
    with pytest.raises(WorkloadError, match="composition"):
        jobs_of(sample=SAMPLE, composition=[100])


def test_components_are_scattered_over_all_sets_of_clusters():
    jobs = jobs_of(composition=[0, 100], request="ordered", scattered_over=3)
    there = jobs["components"] > 0
    assert (there.sum(axis=1) == 2).all()
    assert not there[:, 3:].any()
    assert there[:, :3].mean(axis=0) == pytest.approx([2 / 3] * 3, abs=0.01)
    assert (jobs["components"].sum(axis=1) == jobs["size"]).all()
    # The smaller one of a split job is not always the first.
    split = jobs_of(largest_component=4, sizes=UniformSizes(7, 7), request="ordered",
                    scattered_over=2)  # fmt: skip
    assert (split["components"][:, 0] == 3).mean() == pytest.approx(0.5, abs=0.01)


def test_nothing_is_scattered_over_too_many():
    with pytest.raises(WorkloadError, match="scatter"):
        jobs_of(scattered_over=MAX_COMPONENTS + 1)


@pytest.mark.parametrize("at_once", [1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK])
def test_jobs_that_are_there_from_the_beginning(at_once):
    arrivals = jobs_of(at_once=at_once)["arrival"]
    assert (arrivals[:at_once] == 0).all()
    assert (arrivals[at_once:] == jobs_of(count=MIX["count"] - at_once)["arrival"]).all()


def test_jobs_at_once_are_a_count():
    with pytest.raises(WorkloadError, match="at once"):
        jobs_of(at_once=-1)


def test_too_large_jobs_of_a_log_are_left_out(tmp_path):
    log = tmp_path / "log.swf"
    log.write_text("\n".join(f"{n} {n} -1 {10 * n} {n}" + " -1" * 13 for n in (1, 2, 3, 50, 60)))
    sample = JobSample.of_log(log, 3)
    assert sample.sizes.tolist() == [1, 2, 3]
    assert sample.runtimes.tolist() == [10.0, 20.0, 30.0]
    assert sample.left_out == 2
    assert sizes_of_log(log, 3).left_out == 2
    assert Empirical(tuple(sample.runtimes.tolist())).mean == 20.0
    with pytest.raises(WorkloadError, match="smallest job has size 1"):
        JobSample.of_log(log, 0)
