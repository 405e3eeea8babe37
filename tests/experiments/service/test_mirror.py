"""The mirror, told of ends as they come, decides as a simulation does that knows all along."""

from __future__ import annotations

import numpy as np
import pytest

from agents.model import GridModel
from experiments.scenario.scenario import Scenario
from experiments.service.mirror import Mirror
from grid.jobs import job_table
from grid.platform.multicluster import Platform
from grid.workloads.table import Table

PLATFORM = Platform.star([4, 3, 6], rates=[1.0, 1.5, 2.0])
COUNT = 60


def drawn():
    """Return jobs at instants and for times that no two share."""
    rng = np.random.default_rng(7)
    jobs = job_table(COUNT)
    jobs["arrival"] = np.cumsum(rng.exponential(4.0, COUNT))
    jobs["size"] = rng.integers(1, 4, COUNT)
    jobs["runtime"] = rng.uniform(5.0, 60.0, COUNT)
    jobs["requested_time"] = jobs["runtime"] * rng.uniform(0.7, 2.0, COUNT)
    jobs["deadline"] = jobs["arrival"] + jobs["requested_time"] * rng.uniform(1.0, 4.0, COUNT)
    return jobs


def scenario(policy, local, **given):
    given = {"mode": "open", "prediction": "requested", "assign_deadlines": False} | given
    return Scenario("mirrored", PLATFORM, given, policy, local)


def simulated(chosen, jobs):
    """Return when and where each job starts in a simulation."""

    def made(platform, workload, *makers, **options):
        return GridModel(platform, Table(jobs), *makers, **options, tracked=True)

    model = chosen.model(made=made)
    model.run()
    rows = model.world.log.records()
    return {row["number"].item(): (row["start"].item(), row["cluster"].item()) for row in rows}


def mirrored(chosen, jobs):
    """Return the same where jobs are submitted one by one, and ended from outside."""
    model, starts, ends = chosen.model(made=Mirror), {}, {}
    coming = [*jobs]
    while coming or ends or len(starts) < COUNT:
        arrival = coming[0]["arrival"].item() if coming else np.inf
        now = min([arrival, *ends.values(), max(model.due, model.now)])
        model.advance(now)
        for job in [job for job, end in ends.items() if end <= now]:
            model.end(job)
            del ends[job]
        if now == arrival:
            row = np.array([coming.pop(0)])
            row["runtime"] = np.inf
            model.submit(row)
        model.advance(now)
        for job, cluster in model.starts():
            starts[job] = (model.now, cluster)
            ends[job] = now + jobs["runtime"][job - 1].item() / PLATFORM.rates[cluster]
    return starts


@pytest.mark.parametrize(
    ("policy", "local", "given"),
    [
        ("dll", "easy", {}),
        ("ect", "conservative", {}),
        ("round-robin", "sjf", {"latency": 0.5}),
        ("muscle", "titan", {}),
        ("muscle", "titan", {"latency": 0.5}),
        ("dll", "slurm", {}),
        ("dll", "fair-share", {}),
    ],
)
def test_it_decides_as_a_simulation(policy, local, given):
    jobs, chosen = drawn(), scenario(policy, local, **given)
    one, other = simulated(chosen, jobs), mirrored(chosen, jobs)
    assert one.keys() == other.keys()
    assert len(one) == COUNT
    for job, (start, cluster) in one.items():
        assert other[job][1] == cluster, job
        assert other[job][0] == pytest.approx(start, abs=1e-6), job
