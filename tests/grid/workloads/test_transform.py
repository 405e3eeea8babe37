from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from grid.errors import WorkloadError
from grid.jobs import job_table
from grid.workloads.transform import scale_load, window


@pytest.fixture
def jobs():
    rows = job_table(5)
    rows["size"], rows["runtime"] = 1, 10.0
    rows["arrival"] = [100, 110, 110, 130, 200]
    rows["deadline"] = [150, math.inf, 160, 180, 250]
    return rows


def test_scale_load(jobs):
    before = jobs.copy()
    fast = scale_load(jobs, 2)
    assert fast["arrival"].tolist() == [50, 55, 55, 65, 100]
    assert fast["deadline"].tolist() == [100, math.inf, 105, 115, 150]
    assert (jobs == before).all()
    assert (scale_load(fast, 0.5) == jobs).all()


@pytest.mark.parametrize("factor", [0, -1, math.nan, math.inf])
def test_scale_load_refuses(jobs, factor):
    with pytest.raises(WorkloadError, match="load_factor: found"):
        scale_load(jobs, factor)


def test_window_is_half_open_and_counts_from_the_first_submit(jobs):
    part = window(jobs, 10, 100)
    assert part["number"].tolist() == [2, 3, 4]
    assert part["arrival"].tolist() == [0, 0, 20]
    assert part["deadline"].tolist() == [math.inf, 50, 70]
    assert window(jobs, 0)["arrival"].tolist() == [0, 10, 10, 30, 100]
    assert window(jobs, 5, 11)["arrival"].tolist() == [5, 5]
    assert jobs["arrival"][0] == 100


@pytest.mark.parametrize(
    ("start", "end", "named"),
    [
        (-1, 5, "window_start: found -1"),
        (math.nan, 5, "window_start: found nan"),
        (5, 5, "window_end: found 5 s"),
        (5, math.nan, "window_end: found nan s"),
        (40, 90, "empty workload: found none of 5 jobs in the window from 40 to 90 s"),
        (1e12, math.inf, "window from 1,000,000,000,000 s on; .* which are from 0 to 100 s$"),
        (2e6, 5, "window_end: found 5 s; accepted: above window_start, 2,000,000 s$"),
    ],
)
def test_window_refuses(jobs, start, end, named):
    with pytest.raises(WorkloadError, match=named):
        window(jobs, start, end)


def test_windows_part_a_log(jobs):
    jobs["arrival"] = np.array([0.1, 0.2, 0.3, 0.7, 1.1]) + 1e6 / 3
    edges = [0, 0.1, 0.25, 1.0, math.inf]
    parts = [window(jobs, a, b) for a, b in itertools.pairwise(edges)]
    assert np.concatenate(parts)["number"].tolist() == [1, 2, 3, 4, 5]
    assert all(part["arrival"].min() >= 0 for part in parts)


def test_no_load_factor_leads_beyond_all_time(jobs):
    assert scale_load(jobs, 1e-9)["arrival"][-1] == 200e9
    with pytest.raises(WorkloadError, match=r"load_factor: found 1e-10; accepted: arrivals up to"):
        scale_load(jobs, 1e-10)
