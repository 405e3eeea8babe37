"""EASY and conservative backfilling of jobs that a meta-scheduler may split."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from agents.model import GridModel
from agents.pace.predictor import Prediction
from agents.registry import global_scheduler, local_scheduler
from agents.schedulers import GlobalScheduler
from agents.selection import RESERVATIONS, JobSelection
from grid.errors import GridError
from grid.jobs import job_table
from grid.platform import topology
from grid.platform.brokers import Advertising
from grid.platform.changes import Change, Failures
from grid.platform.distance import DistanceCosts
from grid.platform.multicluster import Platform
from grid.workloads.table import Table
from tests.agents.coallocation.test_coallocation import (
    POLICIES,
    assert_equal,
    links_of,
    outcome,
    random_jobs,
    random_platform,
)
from tests.agents.plain_beosim import PlainJob
from tests.agents.plain_reservations import PlainMixed, PlainReservations
from tests.agents.small_grids import most_held, set_to

ENOUGH = {"easy": 50, "conservative": 30}
"""Jobs of a trial: of reservations of all, the plain simulator takes time as their cube."""
PLAIN = [name for name in POLICIES if name != "adaptive"]  # which learns from whatever it is asked


def ran(
    policy, platform, jobs, selection, costs=None, prediction="exact", local="fcfs", **settings
):
    model = GridModel(
        platform,
        Table(jobs),
        global_scheduler(policy) if isinstance(policy, str) else policy,
        local_scheduler(local),
        interval=1e9,
        advertising=Advertising(truth=True),
        settings=[
            Prediction(prediction),
            JobSelection(selection),
            *set_to(policy, **settings),
            costs or DistanceCosts(),
        ],
    )
    model.run()
    return outcome(model)


def plainly(
    policy,
    platform,
    jobs,
    selection,
    wrong=False,
    costs=None,
    simulator=PlainReservations,
    **settings,
):
    sizes, graph = platform.sizes, platform.graph
    jobs = jobs.copy()
    jobs["arrival"] += np.append(topology.latencies(graph), 0.0)[jobs["origin"]]
    plain = simulator(
        policy,
        sizes.tolist(),
        platform.rates.tolist(),
        links_of(platform),
        most=RESERVATIONS[selection],
        expected=dict(zip(jobs["number"].tolist(), jobs["requested_time"].tolist(), strict=True))
        if wrong
        else None,
        latencies=[graph.edges[link]["latency"] for link in topology.uplinks(graph)],
        costs=costs or DistanceCosts(),
        **settings,
    )
    largest = sizes.max() if policy in ("no-share", "migration-only") else sizes.sum()
    names = "number", "arrival", "size", "runtime", "origin", "computation_fraction", "ppbw"
    done = plain.run(
        [PlainJob(*(job[name].item() for name in names)) for job in jobs if job["size"] <= largest]
    )
    return {job.number: (job.start, job.finish, job.take) for job in done}, plain


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("selection", RESERVATIONS)
@pytest.mark.parametrize("policy", PLAIN)
def test_job_by_job_as_the_plain_simulator(policy, selection, seed):
    """Where ends slide, their rounding may decide whether all that is reserved still fits.

    So under conservative backfilling links are wide, and policies as narrow as ever.
    """
    rng = np.random.default_rng([seed, PLAIN.index(policy), 41])
    platform = random_platform(rng, 1 + seed % 6, [0.0, 0.125] if seed % 3 == 2 else (0.0,))
    jobs = random_jobs(rng, platform, ENOUGH[selection])
    jobs["runtime"] = rng.exponential(30, len(jobs)) + 0.1
    jobs["requested_time"] = jobs["runtime"] * rng.lognormal(0.2, 0.6, len(jobs))
    wrong = seed % 2 == 1
    settings = {
        "lslt": rng.choice([40.0, 80.0, 100.0, 120.0]).item(),
        "chunk": rng.choice([0, 50, 75, 85, 100]).item(),
        "penalty": rng.choice([1.0, 1.3]).item(),
    }
    if seed % 3 == 2:
        settings["costs"] = DistanceCosts(*rng.choice([[0, 2, 0], [3, 0, 0], [2, 5, 20]]).tolist())
    if selection == "conservative":
        settings["lslt"] /= 1e2
        jobs["ppbw"] /= 1e2
    prediction = "requested" if wrong else "exact"
    found = ran(policy, platform, jobs, selection, prediction=prediction, **settings)
    expected, plain = plainly(policy, platform, jobs, selection, wrong, **settings)
    assert_equal(found, expected)
    assert selection == "easy" or plain.saturated_from == np.inf


@pytest.mark.thorough
@pytest.mark.parametrize("selection", RESERVATIONS)
def test_a_job_that_waits_alone_does_not_insist_on_processors_that_are_late(selection):
    platform = Platform.star([4, 2, 1])
    jobs = job_table(5)
    jobs["number"] = np.arange(1, 6)
    jobs["arrival"] = [0, 0, 0, 1, 2]
    jobs["size"] = [4, 2, 1, 2, 1]
    jobs["origin"] = [0, 1, 2, 0, 2]
    jobs["runtime"] = [100, 20, 5, 8, 30]
    jobs["requested_time"] = [10, 50, 5, 8, 30]  # so that job 4 reserves what job 1 holds
    found = ran("migration-only", platform, jobs, selection, prediction="requested")
    assert found[5] == (5.0, 35.0, [0, 0, 1])  # which leaves job 4 alone
    assert found[4] == (20.0, 28.0, [0, 2, 0])


def quiet(rng, clusters, count=60):
    """Return a platform and jobs that never saturate a link, of exact run times."""
    platform = random_platform(rng, clusters)
    jobs = random_jobs(rng, platform, count)
    jobs["runtime"] = rng.integers(1, 60, len(jobs))
    jobs["computation_fraction"] = 0.5  # so that equal times are equal in both simulators
    jobs["ppbw"] *= rng.choice([0.0, 1e-4])
    return platform, jobs


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("selection", RESERVATIONS)
@pytest.mark.parametrize("policy", PLAIN)
def test_no_reservation_is_moved_back_while_no_end_slides(policy, selection, seed):
    """Of the head under EASY, of every job under conservative backfilling."""
    rng = np.random.default_rng([seed, PLAIN.index(policy), 43])
    platform, jobs = quiet(rng, 1 + seed % 5, ENOUGH[selection])
    expected, plain = plainly(policy, platform, jobs, selection, chunk=50, penalty=1.25)
    found = ran(policy, platform, jobs, selection, chunk=50, penalty=1.25)
    assert_equal(found, expected)
    assert plain.saturated_from == np.inf
    assert plain.first_begin
    for number, begin in plain.first_begin.items():
        assert found[number][0] <= begin * (1 + 1e-9), number


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("selection", RESERVATIONS)
def test_one_cluster_is_served_as_its_local_scheduler_would(selection, seed):
    rng = np.random.default_rng([seed, 47])
    # A job that waits alone reserves nothing: one that a failure threw back may go before it.
    what = "fail" if selection == "easy" else "drain"
    starts = rng.integers(0, 400, 4 * (seed % 2)) / 4.0
    changes = [Change("C1", what, at, at + 50.0, 1) for at in starts]
    platform = replace(Platform.star([16]), changes=tuple(changes))
    jobs = random_jobs(rng, platform, RESERVATIONS["conservative"])  # so that all may reserve
    jobs["size"] = rng.integers(1, 13, len(jobs))
    jobs["origin"] = -1
    jobs["runtime"] = rng.integers(1, 60, len(jobs)) / 4.0
    jobs["requested_time"] = jobs["runtime"] * rng.choice([0.25, 0.5, 1.0, 3.0], len(jobs))
    model = GridModel(
        platform,
        Table(jobs),
        global_scheduler("round-robin"),
        local_scheduler(selection),
        interval=1e9,
        advertising=Advertising(truth=True),
        settings=[Prediction("requested")],
    )
    model.run()
    globally = ran("migration-only", platform, jobs, selection, prediction="requested")
    assert globally == outcome(model)
    fcfs = ran("migration-only", platform, jobs, "fcfs")
    assert globally != fcfs


@pytest.mark.thorough
@pytest.mark.parametrize("selection", RESERVATIONS)
def test_queues_are_served_when_processors_are_to_go(selection):
    platform = replace(Platform.star([4]), changes=(Change("C1", "drain", 12.5, 200.0, 1),))
    jobs = job_table(5)
    jobs["number"] = np.arange(1, 6)
    jobs["arrival"] = [0, 0, 0, 1, 2]
    jobs["size"] = [1, 2, 1, 2, 1]
    jobs["runtime"] = [10, 100, 20, 5, 50]  # job 4 was to start at 20 s, when job 3 ends
    jobs["origin"], jobs["computation_fraction"] = -1, 1.0
    assert ran("first-fit", platform, jobs, selection)[5][0] == 12.5


class PlainFirstFit(GlobalScheduler):
    """First-Fit as a user writes it, in Python."""

    spans = True

    def place(self, job):
        whole = [cluster for cluster in self.clusters if cluster.free >= job.size]
        home = [cluster for cluster in whole if cluster.index == job.origin]
        if whole:
            cluster = (home or [min(whole, key=lambda cluster: cluster.free)])[0]
            return {cluster.name: job.size}
        take, left = {}, job.size
        for cluster in sorted(self.clusters, key=lambda cluster: -cluster.free):
            take[cluster.name] = min(left, cluster.free)
            left -= take[cluster.name]
        return None if left else take


@pytest.mark.thorough
@pytest.mark.parametrize("selection", RESERVATIONS)
def test_python_is_asked_about_moments_to_come_as_compiled_policies_are(selection):
    rng = np.random.default_rng(53)
    platform, jobs = quiet(rng, 4)
    assert ran(PlainFirstFit, platform, jobs, selection) == ran(
        "first-fit", platform, jobs, selection
    )


@pytest.mark.thorough
@pytest.mark.parametrize("selection", RESERVATIONS)
def test_the_time_of_the_model_is_that_which_is_asked_about(selection):
    asked = []

    class Asked(PlainFirstFit):
        def place(self, job):
            take, model = super().place(job), self.model
            asked.append((model.now, model.world.now, take is not None))
            return take

    platform, jobs = quiet(np.random.default_rng(71), 3)
    found = ran(Asked, platform, jobs, selection)
    to_come = [(at, now) for at, now, _ in asked if at != now]
    assert to_come
    assert min(at - now for at, now in to_come) > 0.0
    begun = {start for start, _, _ in found.values()}
    assert begun <= {at for at, _, starts in asked if starts}


class Mixed(PlainFirstFit):
    """Has small jobs wait in the queue of a cluster, and starts the others itself."""

    def place(self, job):
        if job.size > 3:
            return super().place(job)
        able = [cluster for cluster in self.clusters if cluster.up >= job.size]
        return min(able, key=lambda cluster: cluster.unfinished, default=None)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("selection", RESERVATIONS)
def test_a_policy_that_has_some_jobs_wait_at_clusters(selection, seed):
    rng = np.random.default_rng([seed, 67])
    platform, jobs = quiet(rng, 2 + seed % 3, ENOUGH[selection])
    wrong = seed % 2 == 1
    jobs["requested_time"] = jobs["runtime"] * rng.choice([0.5, 1.0, 3.0], len(jobs))
    prediction = "requested" if wrong else "exact"
    found = ran(Mixed, platform, jobs, selection, prediction=prediction)
    expected, plain = plainly("first-fit", platform, jobs, selection, wrong, simulator=PlainMixed)
    assert_equal(found, expected)
    assert plain.saturated_from == np.inf


@pytest.mark.thorough
@pytest.mark.parametrize("local", ["fcfs", "fpfs", "easy", "conservative"])
@pytest.mark.parametrize("selection", RESERVATIONS)
def test_what_starts_from_the_queue_of_a_cluster_is_reckoned_with(selection, local):
    for seed in range(8):
        rng = np.random.default_rng([seed, 61])
        change = Change("C1", "drain", 100.0, 300.0, 2)
        platform = replace(Platform.star([10, 8, 6]), changes=(change,) if seed % 2 else ())
        jobs = random_jobs(rng, platform, 120)
        jobs["size"] = rng.integers(1, 17, len(jobs))
        jobs["origin"] = -1
        jobs["runtime"] = rng.integers(1, 60, len(jobs))
        found = ran(Mixed, platform, jobs, selection, local=local)
        assert len(found) == len(jobs)
        starts, finishes, takes = zip(*found.values(), strict=True)
        for cluster, size in enumerate(platform.sizes.tolist()):
            assert most_held(starts, finishes, [take[cluster] for take in takes]) <= size


@pytest.mark.thorough
@pytest.mark.parametrize("selection", RESERVATIONS)
@pytest.mark.parametrize("policy", ["b3", "adaptive", "a1"])
def test_runs_with_failures_end(policy, selection):
    rng = np.random.default_rng(59)
    platform = Platform.star([8, 6, 4], capacity=40.0)
    jobs = random_jobs(rng, platform, 80)
    failures = Failures(400.0, 30.0)
    model = GridModel(
        platform,
        Table(jobs),
        global_scheduler(policy),
        local_scheduler("fcfs"),
        advertising=Advertising(truth=True),
        failures=failures,
        settings=[JobSelection(selection)],
    )
    model.run()
    world = model.world
    assert world.state.restarted > 0
    assert world.state.completed + world.state.rejected == len(jobs)


def test_a_scheduler_that_is_told_late_is_refused():
    platform, jobs = quiet(np.random.default_rng(1), 2)
    with pytest.raises(GridError, match="selection: found 'easy', of a scheduler that brokers"):
        GridModel(
            platform,
            Table(jobs),
            global_scheduler("b3"),
            local_scheduler("fcfs"),
            latency=1.0,
            settings=[JobSelection("easy")],
        )


def test_a_scheduler_that_visits_queues_has_no_reservations():
    class Visitor(GlobalScheduler):
        queues = "global"
        selection = "easy"

    platform, jobs = quiet(np.random.default_rng(1), 2)
    with pytest.raises(GridError, match="Visitor: selection: found 'easy'; accepted: none"):
        GridModel(platform, Table(jobs), Visitor, local_scheduler("fcfs"))
