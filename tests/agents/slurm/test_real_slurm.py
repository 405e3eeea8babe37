"""Waits of our Slurm against those of real Slurm, on this machine."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.sweeps.statistics import mean_interval
from grid.platform.multicluster import Platform
from tests.agents.slurm.real_cluster import Ended, RealCluster, Submission, lacking
from tests.agents.slurm.replays import Replication
from tests.agents.slurm.replays import jobs_of as drawn
from tests.agents.slurm.test_controller import given, jobs_of, written
from tests.agents.small_grids import done, ran

SEEDS = (1, 2, 3)


def made_up(seed=1, count=30):
    """Return a replication in which each job waited for 7 s."""
    jobs = drawn(seed, count)
    ended = [Ended(j.at // 1, j.at // 1 + 7, j.at // 1 + 7 + j.runtime, "COMPLETED") for j in jobs]
    return Replication(jobs, ended)


def test_replications_are_told_as_they_were():
    found = made_up()
    assert set(found.waits.tolist()) == {7.0}
    assert abs(found.late).max() <= 1
    assert not found.longer.any()
    assert (found.simulated("recorded") == 7).all()


PREEMPTING = """\
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=30,bf_window=1440,bf_resolution=60
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
PriorityType=priority/multifactor
PriorityCalcPeriod=1
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
NodeName=n1 CPUs=4 State=UNKNOWN
NodeName=n2 CPUs=4 State=UNKNOWN
NodeName=n3 CPUs=4 State=UNKNOWN
PartitionName=low Nodes=ALL Default=YES MaxTime=1-0 State=UP
PartitionName=mid Nodes=ALL MaxTime=1-0 PriorityTier=2 State=UP
PartitionName=high Nodes=n[1-2] MaxTime=1-0 PriorityTier=3 State=UP
"""
TIERS = ("low", "mid", "high")
REQUEUED = [
    Submission(*job)
    for job in (
        (0, 4, 1500, 40, "low"), (20, 2, 1300, 40, "low"), (40, 2, 1500, 40, "low"),
        (60, 4, 1700, 40, "low"), (300, 3, 400, 15, "mid"), (330, 2, 900, 20, "low"),
        (420, 4, 300, 10, "high"), (480, 8, 200, 10, "low"), (700, 1, 600, 20, "mid"),
        (1000, 6, 300, 10, "high"), (1010, 2, 100, 5, "low"), (1100, 4, 700, 20, "mid"),
        (1500, 2, 500, 15, "high"), (1600, 4, 300, 10, "low"),
    )
]  # fmt: skip


@pytest.mark.slow
def test_preemption_is_that_of_real_slurm(tmp_path):
    """The same jobs are preempted as often, and all start last within a minute of one another."""
    if missing := lacking():
        pytest.skip(f"real Slurm: found none of {missing}; it is not installed here")
    with RealCluster(tmp_path, PREEMPTING, ("n1", "n2", "n3"), 17800, 30) as cluster:
        real = cluster.replay(REQUEUED)
    rows = [
        (job.at, job.size, job.runtime, 60 * job.minutes, TIERS.index(job.partition))
        for job in REQUEUED
    ]
    conf = written(tmp_path, PREEMPTING)
    model = ran(**given(jobs_of(*rows), conf, Platform.star([12]), partitions=TIERS))
    ours = np.sort(done(model), order="number")
    assert ours["restarts"].tolist() == [job.preempted for job in real]
    # A job that is preempted counts as submitted anew.
    begin = next(
        r.submit - job.at for r, job in zip(real, REQUEUED, strict=True) if not r.preempted
    )
    starts = np.array([job.start for job in real]) - begin
    assert abs(ours["start"] - starts).max() < 60


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
