"""The meta-schedulers of `beosim`, job by job against the paper written down literally."""

from __future__ import annotations

import math

import numpy as np
import pytest

from agents.coallocation.settings import ChunkingSettings, PenaltySettings, SatisfySettings
from agents.model import GridModel
from agents.pace.predictor import Prediction
from agents.registry import GLOBAL, global_scheduler, local_scheduler
from agents.schedulers import GlobalScheduler
from agents.selection import JobSelection
from grid.distributions import Exponential, UniformSizes
from grid.errors import GridError
from grid.jobs import job_table
from grid.platform import topology
from grid.platform.brokers import Advertising
from grid.platform.distance import DistanceCosts
from grid.platform.multicluster import Cluster, Platform
from grid.platform.topology import CENTRE, Link, network
from grid.settings import declared
from grid.workloads.per_cluster import PerClusterWorkload
from grid.workloads.table import Table
from tests.agents.plain_beosim import PlainBeosim, PlainJob
from tests.agents.small_grids import set_to

POLICIES = [name for name, where in GLOBAL.items() if where.startswith("agents.coallocation")]
CLASS_B = ["b1", "b2", "b3", "b4"]
SEEDS = range(12)


def random_platform(rng, clusters, latencies=(0.0,)):
    """Return a star, or one with a switch between, of unequal clusters and links."""
    lag = rng.choice(latencies, clusters + 2).tolist()
    sizes = rng.integers(3, 9, clusters).tolist()
    rates = rng.choice([0.5, 1.0, 2.0], clusters) if rng.random() < 0.5 else np.ones(clusters)
    capacities = rng.choice([20.0, 40.0, 60.0, math.inf], clusters + 2, p=[0.3, 0.3, 0.3, 0.1])
    if rng.random() < 0.5:
        capacities[:] = 40.0
    capacities = capacities.tolist()
    if rng.random() < 0.6:
        return Platform.star(sizes, rates.tolist(), capacities[:clusters], lag[:clusters])
    names = [f"C{index + 1}" for index in range(clusters)]
    links, nodes = [], [CENTRE, "S1", "S2"]
    for name, capacity, latency in zip(names, capacities, lag, strict=False):
        links.append(Link(name, nodes[rng.integers(len(nodes))], capacity, latency))
        if rng.random() < 0.3:
            nodes.append(name)  # another cluster may hang on this one
    links.append(Link("S1", CENTRE, capacities[-1], lag[-1]))
    links.append(Link("S2", "S1", capacities[-2], lag[-2]))
    parts = tuple(map(Cluster, names, sizes, rates.tolist()))
    return Platform(parts, network(names, links, ["S1", "S2"]))


def random_jobs(rng, platform, count=60):
    """Return jobs of any bandwidth, some arriving together, some larger than any cluster."""
    jobs, sizes = job_table(count), platform.sizes
    largest = int(min(sizes.max() + 4, sizes.sum(), 12))
    jobs["size"] = rng.integers(1, largest + 1, count)
    jobs["arrival"] = np.sort(rng.integers(0, 90, count))
    jobs["runtime"] = rng.exponential(30, count)
    jobs["origin"] = rng.integers(-1 if rng.random() < 0.3 else 0, len(sizes), count)
    jobs["computation_fraction"] = rng.choice([0.0, 0.3, 0.7, 1.0], count)
    bisection = rng.choice([0.0, 10.0, 20.0, 40.0], count) * 4 * (jobs["size"] - 1)
    if rng.random() < 0.5:
        jobs["ppbw"] = bisection / jobs["size"] ** 2.0  # eq. 8, often just at a threshold
    else:
        jobs["ppbw"] = rng.lognormal(1.5, 1.5, count)
    return jobs


def links_of(platform):
    """Return (capacity, clusters beyond) of each link."""
    beyond = [set(np.flatnonzero(side).tolist()) for side in topology.sides(platform.graph)]
    return list(zip(topology.capacities(platform.graph).tolist(), beyond, strict=True))


def ran(policy, platform, jobs, costs=None, **settings):
    """Return {number: (start, finish, processors on each cluster)} of the completed jobs."""
    model = GridModel(
        platform,
        Table(jobs),
        global_scheduler(policy),
        local_scheduler("fcfs"),
        interval=1e9,
        advertising=Advertising(truth=True),
        settings=[
            JobSelection(settings.pop("selection", "fpfs")),
            *set_to(policy, **settings),
            costs or DistanceCosts(),
        ],
    )
    model.run()
    return outcome(model)


def outcome(model):
    records = model.world.log.records()
    found = {}
    for row in records:
        if row["cluster"] >= 0:
            take = [0] * model.world.clusters
            take[row["cluster"]] = int(row["size"])
        elif row["split"] >= 0:
            take = records.takes[row["split"]].tolist()
        else:
            continue  # rejected
        found[int(row["number"])] = float(row["start"]), float(row["finish"]), take
    return found


def plainly(policy, platform, jobs, **settings):
    """Return the same of the plain simulator, and the simulator.

    It gets a job when the global scheduler is told of it.
    """
    sizes, graph = platform.sizes, platform.graph
    jobs = jobs.copy()
    jobs["arrival"] += np.append(topology.latencies(graph), 0.0)[jobs["origin"]]
    settings["latencies"] = [graph.edges[link]["latency"] for link in topology.uplinks(graph)]
    whole = policy in ("no-share", "migration-only")
    largest = sizes.max() if whole else sizes.sum()
    plain = PlainBeosim(
        policy, sizes.tolist(), platform.rates.tolist(), links_of(platform), **settings
    )
    names = "number", "arrival", "size", "runtime", "origin", "computation_fraction", "ppbw"
    done = plain.run(
        [PlainJob(*(job[name].item() for name in names)) for job in jobs if job["size"] <= largest]
    )
    return {job.number: (job.start, job.finish, job.take) for job in done}, plain


def assert_equal(found, expected):
    assert found.keys() == expected.keys()
    for number, (start, finish, take) in expected.items():
        assert found[number][2] == take, number
        assert found[number][:2] == pytest.approx((start, finish), rel=1e-9), number


@pytest.mark.sampled(16)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("policy", POLICIES)
def test_job_by_job_as_the_plain_simulator(policy, seed):
    rng = np.random.default_rng([seed, POLICIES.index(policy)])
    platform = random_platform(rng, 2 + seed % 7)
    jobs = random_jobs(rng, platform)
    settings = {
        "lslt": rng.choice([40.0, 80.0, 100.0, 120.0]).item(),
        "chunk": rng.choice([0, 50, 75, 85, 100]).item(),
        "penalty": rng.choice([1.0, 1.3]).item(),
        "selection": "fcfs" if seed % 4 == 3 else "fpfs",
    }
    found = ran(policy, platform, jobs, **settings)
    expected, _ = plainly(policy, platform, jobs, **settings)
    assert_equal(found, expected)
    if policy in ("first-fit", "ideal", "fixed-penalty"):
        assert any(sum(count > 0 for count in take) > 1 for *_, take in found.values())


@pytest.mark.sampled(20)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("policy", POLICIES)
def test_distance_costs_job_by_job(policy, seed):
    rng = np.random.default_rng([seed, POLICIES.index(policy), 23])
    platform = random_platform(rng, 2 + seed % 7, [0.0, 0.125, 0.3])
    jobs = random_jobs(rng, platform)
    costs = DistanceCosts(*rng.choice([[0, 2, 0], [0, 0, 9], [3, 0, 0], [2, 5, 20]]).tolist())
    settings = {"chunk": 50, "selection": "fcfs" if seed % 4 == 3 else "fpfs", "costs": costs}
    found = ran(policy, platform, jobs, **settings)
    expected, plain = plainly(policy, platform, jobs, **settings)
    assert_equal(found, expected)
    if costs.staging_time > 0 and policy != "no-share":
        assert any(plain.staging(job) > 0 for job in plain.done)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("policy", POLICIES)
def test_section_6_job_by_job(policy):
    """The paper's own workload; a fifth of its nodes for A1, of which all mappings are tried."""
    scale = 5 if policy == "a1" else 1
    jobs = np.concatenate(
        [
            *PerClusterWorkload(
                count=1600,
                clusters=4,
                interarrival=150.0,
                sizes=UniformSizes(10 // scale, 50 // scale),
                runtimes=Exponential(450.0),
                computation_fraction=0.7,
                bisection_bandwidth=500.0,
                seed=1,
            ).chunks()
        ]
    )
    platform = Platform.star([100 // scale] * 4)
    expected, plain = plainly(policy, platform, jobs)
    assert_equal(ran(policy, platform, jobs), expected)
    if policy == "a1":
        assert 900 < max(plain.most_demand) <= 1000 * (1 + 1e-9)
    elif policy in ("first-fit", *CLASS_B):
        assert max(plain.most_demand) > 1000


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", SEEDS)
def test_a1_with_an_objective(seed):
    rng = np.random.default_rng([seed, 99])
    clusters = 2 + seed % 4
    platform = Platform.star(rng.integers(3, 8, clusters).tolist(), capacity=40.0)
    jobs = random_jobs(rng, platform)
    settings = {"solution": "least-demand", "lslt": 100.0}
    expected, _ = plainly("a1", platform, jobs, **settings)
    assert_equal(ran("a1", platform, jobs, **settings), expected)


@pytest.mark.parametrize("seed", range(40))
def test_a1_finds_a_mapping_of_least_demand_on_any_tree(seed):
    """Other mappings may need as little: what is compared is how much the whole grid needs."""
    rng = np.random.default_rng([seed, 17])
    platform = random_platform(rng, 2 + seed % 4)
    job = random_jobs(rng, platform, 1)
    job["size"] = platform.sizes.max() + 2
    job["ppbw"] = rng.choice([2.0, 8.0, 20.0])
    _, plain = plainly("a1", platform, job, solution="least-demand")
    found = ran("a1", platform, job, solution="least-demand")
    assert found.keys() == {each.number for each in plain.done}
    for each in plain.done:
        assert plain.objective(each, found[1][2])[0] == plain.objective(each, each.take)[0]


@pytest.mark.parametrize("seed", SEEDS)
def test_identities(seed):
    rng = np.random.default_rng([seed, 7])
    platform = random_platform(rng, 2 + seed % 7)
    jobs = random_jobs(rng, platform)
    jobs = jobs[jobs["size"] <= platform.sizes.max()]  # else Migration Only rejects them
    unlimited = Platform.star(platform.sizes.tolist(), platform.rates.tolist(), math.inf)
    for policy, settings, same in (
        ("b1", {"lslt": 1e12}, "first-fit"),
        ("b3", {"chunk": 0}, "b1"),
        ("b3", {"chunk": 100}, "migration-only"),
        ("fixed-penalty", {"penalty": 1.0}, "ideal"),
    ):
        assert ran(policy, platform, jobs, **settings) == ran(same, platform, jobs)
    assert ran("ideal", platform, jobs) == ran("first-fit", unlimited, jobs)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("solution", ["first", "least-demand"])
def test_a1_is_never_over_its_threshold(seed, solution):
    rng = np.random.default_rng([seed, 5])
    platform = random_platform(rng, 3 + seed % 3)
    jobs = random_jobs(rng, platform, 150)
    lslt = rng.choice([40.0, 100.0, 120.0]).item()
    model = GridModel(
        platform,
        Table(jobs),
        global_scheduler("a1"),
        local_scheduler("fcfs"),
        interval=1.0,
        settings=[SatisfySettings(lslt=lslt, solution=solution)],
    )
    most = np.zeros(model.world.links)
    while model.running:
        model.step()
        most = np.maximum(most, model.world.state.demand)
    assert (most <= lslt / 100 * model.world.state.capacity * (1 + 1e-9)).all()
    assert (most > 0).any()


@pytest.mark.parametrize("policy", [*CLASS_B, "a1"])
def test_beside_the_threshold_and_just_at_it(policy):
    """Jobs that need exactly the threshold: equality does not saturate, eq. 1 decides for A1."""
    platform = Platform.star([10, 10, 10, 10], capacity=1000.0)
    jobs = job_table(12)
    jobs["arrival"], jobs["size"] = np.arange(12.0), 14
    jobs["runtime"] = np.linspace(100, 130, 12)
    jobs["origin"] = 0
    jobs["computation_fraction"] = 0.7
    jobs["ppbw"] = 500 * 4 * 13 / 14**2
    for lslt in (50.0, 100.0):
        expected, plain = plainly(policy, platform, jobs, lslt=lslt)
        assert_equal(ran(policy, platform, jobs, lslt=lslt), expected)
        assert max(plain.most_demand) > 0 or policy == "b3"


def test_a1_is_practical_on_16_clusters_with_jobs_of_200_nodes():
    rng = np.random.default_rng(1)
    platform = Platform.star([100] * 16, capacity=1000.0)
    jobs = job_table(400)
    jobs["arrival"] = np.cumsum(rng.exponential(10, 400))
    jobs["size"] = rng.integers(150, 201, 400)
    jobs["runtime"] = rng.exponential(100, 400)
    jobs["origin"] = rng.integers(0, 16, 400)
    jobs["computation_fraction"] = 0.5
    jobs["ppbw"] = 100 * 4 * (jobs["size"] - 1) / jobs["size"] ** 2.0
    for solution in ("first", "least-demand"):
        found = ran("a1", platform, jobs, solution=solution)
        assert len(found) == 400
        assert all(sum(count > 0 for count in take) > 1 for *_, take in found.values())


@pytest.mark.parametrize("policy", [name for name in POLICIES if name != "no-share"])
def test_old_news_and_wrong_predictions_lose_no_job(policy):
    rng = np.random.default_rng(3)
    platform = Platform.star([8, 6, 5], [1.0, 2.0, 0.5], capacity=40.0, latency=[0.3, 0.1, 0.2])
    jobs = random_jobs(rng, platform)
    jobs = jobs[jobs["size"] <= 8]
    model = GridModel(
        platform,
        Table(jobs),
        global_scheduler(policy),
        local_scheduler("titan"),
        interval=10.0,
        latency=0.5,
        settings=[*set_to(policy, chunk=50), Prediction(error=0.5)],
    )
    model.run()
    found = outcome(model)
    assert len(found) == len(jobs)
    for cluster, size in enumerate(platform.sizes.tolist()):
        for _, now, _ in found.values():
            held = [take[cluster] for start, end, take in found.values() if start < now <= end]
            assert sum(held) <= size
    assert model.world.state.refused > 0


class PlainLinks(GlobalScheduler):
    """B1 at LSLT 100 %, as a user writes it in Python."""

    spans = True

    def place(self, job):
        fitting = [cluster for cluster in self.clusters if cluster.free >= job.size]
        if job.origin >= 0 and self.clusters[job.origin].free >= job.size:
            return {self.clusters[job.origin].name: job.size}
        if fitting:
            return {min(fitting, key=lambda cluster: cluster.free).name: job.size}
        usable = [c for c in self.clusters if c.free and all(map(self.bears, c.links))]
        take, left = {}, job.size
        for cluster in sorted(usable, key=lambda cluster: -cluster.free):
            take[cluster.name] = min(left, cluster.free)
            left -= take[cluster.name]
        return None if left else take

    @staticmethod
    def bears(link):
        return link.demand <= link.capacity * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_python_sees_the_links_that_compiled_policies_see(seed):
    rng = np.random.default_rng([seed, 11])
    platform = random_platform(rng, 4)
    jobs = random_jobs(rng, platform)
    model = GridModel(platform, Table(jobs), PlainLinks, local_scheduler("fcfs"), interval=1e9)
    model.run()
    assert outcome(model) == ran("b1", platform, jobs)


@pytest.mark.parametrize(
    ("name", "value", "accepted"),
    [
        ("lslt", 0.0, "above 0"),
        ("lslt", math.nan, "a finite number"),
        ("chunk", 101, "at most 100"),
        ("chunk", 84.5, "a whole number"),
        ("penalty", 0.9, "from 1"),
        ("solution", "best", "'first' or 'least-demand'"),
        ("selection", "sjf", "'fpfs', 'fcfs', 'easy' or 'conservative'"),
        ("max_jumps", -1, "from 0 or 'any'"),
    ],
)
def test_settings_out_of_range_are_refused(name, value, accepted):
    kinds = JobSelection, ChunkingSettings, SatisfySettings, PenaltySettings
    kind = next(each for each in kinds if name in declared(each))
    with pytest.raises(GridError, match=rf"^{name}: found .*; accepted: {accepted}$"):
        kind(**{name: value})
