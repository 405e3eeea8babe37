from __future__ import annotations

import numpy as np
import pytest

from grid.errors import WorkloadError
from grid.jobs import job_table
from grid.workloads import table
from grid.workloads.table import Table


def jobs(count=5):
    rows = job_table(count)
    rows["size"], rows["runtime"], rows["arrival"] = 2, 10.0, np.arange(count)
    return rows


@pytest.mark.parametrize("chunk", [1, 2, 5, 100])
def test_chunks_hold_every_job_in_order(monkeypatch, chunk):
    monkeypatch.setattr(table, "CHUNK", chunk)
    whole = Table(jobs())
    parts = list(whole.chunks())
    assert max(map(len, parts)) <= chunk
    assert (np.concatenate(parts) == whole.jobs).all()
    assert whole.count == 5
    assert whole.cleaning.dropped == 0


@pytest.mark.parametrize(
    ("column", "value", "found"),
    [
        ("size", 0, "job 3: size is 0"),
        ("runtime", 0.0, "job 3: runtime is 0.0"),
        ("runtime", np.nan, "job 3: runtime is nan"),
        ("runtime", np.inf, "job 3: runtime is inf"),
        ("runtime", 2e12, "job 3: runtime is 2000000000000.0"),
        ("arrival", 0.5, "job 3: arrival is 0.5"),
        ("arrival", np.nan, "job 3: arrival is nan"),
        ("computation_fraction", -0.1, "job 3: computation_fraction is -0.1"),
        ("computation_fraction", 1.1, "job 3: computation_fraction is 1.1"),
        ("computation_fraction", np.nan, "job 3: computation_fraction is nan"),
        ("ppbw", -1.0, "job 3: ppbw is -1.0"),
        ("ppbw", 2e12, "job 3: ppbw is 2000000000000.0"),
        ("ppbw", np.nan, "job 3: ppbw is nan"),
    ],
)
def test_impossible_jobs_are_named(column, value, found):
    rows = jobs()
    rows[column][2] = value
    with pytest.raises(WorkloadError, match=found):
        Table(rows)


def test_no_jobs():
    with pytest.raises(WorkloadError, match="empty workload"):
        Table(job_table(0))
    with pytest.raises(WorkloadError, match=r"grid\.jobs\.JOB"):
        Table(np.zeros(3))
    early = jobs()
    early["arrival"] -= 1
    with pytest.raises(WorkloadError, match="job 1: arrival"):
        Table(early)
