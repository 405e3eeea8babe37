"""Waits of our Slurm against those of real Slurm, on this machine."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.sweeps.statistics import mean_interval
from tests.agents.slurm.real_cluster import Ended, lacking
from tests.agents.slurm.replays import Replication, jobs_of

SEEDS = (1, 2, 3)


def made_up(seed=1, count=30):
    """Return a replication in which each job waited for 7 s."""
    jobs = jobs_of(seed, count)
    ended = [Ended(j.at // 1, j.at // 1 + 7, j.at // 1 + 7 + j.runtime, "COMPLETED") for j in jobs]
    return Replication(jobs, ended)


def test_replications_are_told_as_they_were():
    found = made_up()
    assert set(found.waits.tolist()) == {7.0}
    assert abs(found.late).max() <= 1
    assert not found.longer.any()
    assert (found.simulated("recorded") == 7).all()


@pytest.mark.slow
def test_mean_waits_are_those_of_real_slurm(tmp_path):
    if missing := lacking():
        pytest.skip(f"real Slurm: found none of {missing}; it is not installed here")
    replications = [Replication.of(tmp_path, seed) for seed in SEEDS]
    real = [each.waits.mean() for each in replications]
    less = {
        local: mean_interval(
            [
                each.simulated(local).mean() - mean
                for each, mean in zip(replications, real, strict=True)
            ]
        )
        for local in ("slurm", "conservative", "easy", "fcfs")
    }
    assert less["slurm"].low <= 0 <= less["slurm"].high
    others = [abs(less[local].mean) for local in less if local != "slurm"]
    assert abs(less["slurm"].mean) < min(others)
    correlations = [np.corrcoef(each.simulated("slurm"), each.waits)[0, 1] for each in replications]
    assert min(correlations) > 0.5
