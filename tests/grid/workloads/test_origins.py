from __future__ import annotations

import math

import numpy as np
import pytest

from grid.errors import WorkloadError
from grid.jobs import ANYWHERE, job_table
from grid.workloads.origins import assign_origins


@pytest.mark.parametrize("shares", [(0.2, 0.0, 0.5), (0.5, 0.5), (), (1 / 3, 1 / 3, 1 / 3, 0)])
def test_shares(shares):
    jobs = job_table(20_000)
    origins = assign_origins(jobs, shares, seed=3)["origin"]
    assert (jobs["origin"] == ANYWHERE).all()
    for origin, share in enumerate([1 - sum(shares), *shares], ANYWHERE):
        # four standard errors of a share
        error = 4 * math.sqrt(abs(share * (1 - share)) / len(jobs))
        assert abs((origins == origin).mean() - share) <= error + 1e-12
    assert origins.max() < len(shares)


def test_draws_depend_on_seed_and_order_alone():
    one = assign_origins(job_table(100), (0.5,), 1)["origin"]
    assert (one == assign_origins(job_table(200), (0.5,), 1)["origin"][:100]).all()
    assert (one != assign_origins(job_table(100), (0.5,), 2)["origin"]).any()
    assert set(np.unique(one)) == {ANYWHERE, 0}


@pytest.mark.parametrize("shares", [(-0.1,), (1.1,), (0.7, 0.4), (math.nan,)])
def test_bad_shares(shares):
    with pytest.raises(WorkloadError, match="of origins: found"):
        assign_origins(job_table(1), shares, 0)
