"""Parameters of synthetic jobs: each changes the jobs, or is named as without effect."""

from __future__ import annotations

import pytest

from experiments.scenario.jobs import build_workload
from experiments.scenario.scenario import Scenario
from experiments.scenario.unread import idle
from grid.distributions import Exponential, UniformSizes
from grid.errors import GridError
from grid.platform.multicluster import Platform
from grid.workloads.per_cluster import PerClusterWorkload
from grid.workloads.synthetic import BatchWorkload

OF_JOBS = {
    **{"jobs": 30, "queue": 3, "load": 0.3, "sizes": "normal", "min_size": 2, "max_size": 3},
    **{"q": 0.5, "runtimes": "deterministic", "mean_runtime": 7.0, "runtime_cv": 2.5},
    **{"min_runtime": 2.0, "max_runtime": 50.0, "pareto_exponent": 1.5, "composition": (20, 80)},
    **{
        "request": "ordered",
        "jobs_per_cluster": 9,
        "interarrival": 3.0,
        "workload_model": "lublin-feitelson",
    },
    **{"local_share": 0.5, "queue_shares": (30, 70), "own_jobs": {"C1": {"interarrival": 9.0}}},
}


def batches(workload):
    while workload.left:
        yield workload.next_batch(0.0)


@pytest.mark.parametrize("mode", ["open", "batch", "per-cluster"])
@pytest.mark.parametrize(
    "also",
    [
        {},
        {"composition": (50, 50)},
        {"runtimes": "hyperexponential", "queue_shares": (100, 0)},
        {"runtimes": "bounded-pareto", "sizes": "powers-of-two"},
        {"workload_model": "lublin-feitelson"},
    ],
)
def test_a_parameter_of_synthetic_jobs_changes_them_or_is_named(mode, also):
    platform = Platform.star([8, 8])
    base = {"jobs": 20, "jobs_per_cluster": 10, "mode": mode, "max_size": 4, **also}

    def jobs_of(given):
        scenario = Scenario("each", platform, given, "ordered", "fcfs")
        try:
            (workload, _) = build_workload(None, scenario.parameters, platform, 1)
        except GridError:  # of models of whole workloads, in other modes
            return scenario, None
        chunks = batches(workload) if isinstance(workload, BatchWorkload) else workload.chunks()
        return scenario, [jobs.tobytes() for jobs in chunks]

    _, before = jobs_of(base)
    for name, value in OF_JOBS.items():
        scenario, now = jobs_of({**base, name: value})
        if None not in (before, now):
            assert (now == before) == (name in idle(scenario)), name


@pytest.mark.parametrize("given", [{"composition": (50, 50)}, {"origins": (0.5, 0.5)}])
def test_streams_of_clusters_have_no_components_and_no_other_origins(given):
    with pytest.raises(GridError, match="accepted: none, of jobs of clusters' own streams"):
        PerClusterWorkload(
            count=2, clusters=2, interarrival=1, sizes=UniformSizes(1, 2),
            runtimes=Exponential(1), **given,
        )  # fmt: skip


def test_who_ends_the_split_jobs_of_a_packaged_scenario_is_told():
    assert "composition" in idle(Scenario.load("queues").changed(["mode=per-cluster"]))
    assert "composition" not in idle(Scenario.load("queues"))
