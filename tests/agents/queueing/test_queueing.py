"""The policies of `queues`, job by job against the paper written down literally."""

from __future__ import annotations

import math

import numpy as np
import pytest

from agents.model import GridModel
from agents.queueing.visiting import QueuePolicy, QueueSettings
from agents.registry import GLOBAL, global_scheduler, local_scheduler
from agents.selection import JobSelection
from grid.distributions import Exponential, UniformSizes
from grid.errors import PlacementError
from grid.jobs import ORDERED, UNORDERED, job_table
from grid.kernel.state import NONE
from grid.platform.multicluster import Platform
from grid.streams import below, stream
from grid.workloads.backlog import BacklogWorkload
from grid.workloads.synthetic import SyntheticWorkload
from grid.workloads.table import Table
from tests.agents.plain_queues import PlainJob, PlainQueues

FITTING = ["wf", "ff", "ordered"]
POLICIES = [
    name
    for name, where in GLOBAL.items()
    if where.startswith("agents.queueing") and name not in FITTING
]
SEEDS = range(12)


def random_jobs(rng, sizes, count=150, integral=True):
    """Return unordered requests; on whole seconds many things happen at one instant."""
    jobs, clusters = job_table(count), len(sizes)
    gaps = rng.exponential(1.0, count)
    times = rng.exponential(6.0, count)
    jobs["arrival"] = np.cumsum(np.floor(gaps) if integral else gaps)
    jobs["runtime"] = np.ceil(times) if integral else times
    jobs["origin"] = rng.integers(-1 if rng.random() < 0.3 else 0, clusters, count)
    parts = rng.integers(1, clusters + 1, count)
    for job, number in zip(jobs, parts, strict=True):
        job["components"][:number] = rng.integers(1, min(sizes) // 2 + 2, number)
    jobs["request"] = UNORDERED
    jobs["size"] = jobs["components"].sum(axis=1)
    return jobs


def model_of(policy, sizes, jobs, **options):
    return GridModel(
        Platform.star(sizes),
        Table(jobs),
        global_scheduler(policy) if isinstance(policy, str) else policy,
        local_scheduler("fcfs"),
        **options,
    )


def outcome(model):
    """Return {number: (start, processors on each cluster)}."""
    model.run()
    done = {}
    for row in model.world.log.records():
        take = [0] * model.world.clusters
        if np.isnan(row["start"]):
            take = []
        elif row["split"] == NONE:
            take[row["cluster"]] = row["size"].item()
        else:
            take = model.world.log.records().takes[row["split"]].tolist()
        done[row["number"].item()] = row["start"].item(), take
    return done


def rows(jobs):
    """Return jobs as the plain simulators take them."""
    return [
        PlainJob(
            job["number"].item(),
            job["arrival"].item(),
            job["runtime"].item(),
            job["origin"].item(),
            [size for size in job["components"].tolist() if size],
        )
        for job in jobs
    ]


def literal(policy, sizes, jobs, seed=0, aging=0.0):
    draws = stream(seed, "global scheduler")
    plain = PlainQueues(policy, sizes, lambda count: below(draws, count), aging)
    done = {}
    for job in plain.run(rows(jobs)):
        take = [0] * len(sizes)
        for cluster, count in job.parts:
            take[cluster] = count
        done[job.number] = (job.start, take)
    return done


@pytest.mark.sampled(27)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("policy", POLICIES)
def test_job_by_job_as_the_plain_simulator(policy, seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(5, 9, rng.integers(2, 6)).tolist()
    jobs = random_jobs(rng, sizes, integral=seed % 3 > 0)
    aging = 0.0 if seed % 4 else 25.0
    model = model_of(policy, sizes, jobs, seed=seed, settings=[QueueSettings(aging)])
    assert outcome(model) == literal(policy, sizes, jobs, seed, aging)


class PlainFitting:
    """FCFS and FPFS(MaxJumps) of `maxutil`, section 2.4, literally: a counter for each job."""

    def __init__(self, placement, sizes, max_jumps):
        self.placement, self.max_jumps = placement, max_jumps
        self.idle, self.queue, self.running, self.done = list(sizes), [], [], {}

    def run(self, jobs):
        coming = list(jobs)
        while coming or self.running:
            now = min([job.arrival for job in coming[:1]] + [job.finish for job in self.running])
            for job in [job for job in self.running if job.finish <= now]:
                self.running.remove(job)
                for cluster, count in job.parts:
                    self.idle[cluster] += count
            while coming and coming[0].arrival == now:
                self.queue.append((coming.pop(0), [0]))
            self.scan(now)
        return self.done

    def scan(self, now):
        at = 0
        while at < len(self.queue):
            job, _ = self.queue[at]
            overtaken = self.queue[:at]
            if any(count[0] >= self.max_jumps for _, count in overtaken):
                return
            job.parts = self.place(job)
            if job.parts is None:
                at += 1
                continue
            for _, count in overtaken:
                count[0] += 1
            del self.queue[at]
            job.start, job.finish = now, now + job.runtime
            take = [0] * len(self.idle)
            for cluster, count in job.parts:
                self.idle[cluster] -= count
                take[cluster] = count
            self.running.append(job)
            self.done[job.number] = now, take

    def place(self, job):
        if self.placement == "ordered":
            parts = list(enumerate(job.components))
            return parts if all(self.idle[c] >= n for c, n in parts) else None
        parts, clusters = [], list(range(len(self.idle)))
        if self.placement == "wf":
            clusters.sort(key=lambda cluster: (-self.idle[cluster], cluster))
        for size in sorted(job.components, reverse=True):
            fits = [cluster for cluster in clusters if self.idle[cluster] >= size]
            if not fits:
                return None
            parts.append((fits[0], size))
            clusters.remove(fits[0])
        return parts


@pytest.mark.sampled(27)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("max_jumps", [0, 1, 3, 10, np.inf])
@pytest.mark.parametrize("placement", FITTING)
def test_one_queue_as_the_plain_simulator(placement, max_jumps, seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(5, 9, rng.integers(2, 6)).tolist()
    jobs = random_jobs(rng, sizes, count=100, integral=seed % 3 > 0)
    settings = JobSelection(max_jumps="any" if max_jumps == np.inf else max_jumps)
    model = model_of(placement, sizes, jobs, settings=[settings])
    assert outcome(model) == PlainFitting(placement, sizes, max_jumps).run(rows(jobs))


class PlainEqual(QueuePolicy):
    """EQ-LF, whose choice of a queue is made in Python."""

    queues = "by-components"

    def visit(self, queues):
        last = len(self.clusters)
        if queues.event == "departed":
            self.enabled = list(range(last + 1))
        elif queues.event == "arrived":
            self.enabled = [queues.queue] if queues.jobs[queues.queue] == 1 else []
        elif queues.event == "refused":
            self.enabled.remove(queues.queue)
        else:
            self.enabled.append(self.enabled.pop(0))
        self.enabled = [queue for queue in self.enabled if queues.jobs[queue]]
        return self.enabled[0] if self.enabled else None


@pytest.mark.parametrize("seed", SEEDS[:4])
def test_queues_may_be_chosen_in_python(seed):
    rng = np.random.default_rng(seed)
    sizes = [6, 8, 7]
    jobs = random_jobs(rng, sizes)
    assert outcome(model_of(PlainEqual, sizes, jobs)) == literal("eq-lf", sizes, jobs)


def test_a_queue_without_jobs_cannot_be_visited():
    class Empty(QueuePolicy):
        queues = "by-components"

        def visit(self, queues):
            return 1

    jobs = random_jobs(np.random.default_rng(0), [8, 8])
    jobs["origin"] = 0
    with pytest.raises(PlacementError, match="queue to visit: 1; accepted: one with jobs, of"):
        model_of(Empty, [8, 8], jobs).run()


@pytest.mark.parametrize("answer", ["C1", -1, 3, 0.5, True])
def test_what_is_no_queue_is_refused(answer):
    class Wrong(QueuePolicy):
        queues = "global"

        def visit(self, queues):
            return answer

    jobs = random_jobs(np.random.default_rng(0), [8, 8])
    with pytest.raises(PlacementError, match=r"queue to visit: .*; accepted: an index from 0 to 2"):
        model_of(Wrong, [8, 8], jobs).run()


def policies_of(*names):
    return [policy for policy in POLICIES if policy.split("-")[0] in names]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("policy", policies_of("gp", "lp", "eq", "lq"))
@pytest.mark.parametrize("composition", [(100,), (0, 30, 70)])
def test_reductions(policy, composition):
    """With single-component jobs alone all are LS, with multi-component jobs alone GS."""
    single = len(composition) == 1
    workload = SyntheticWorkload(
        count=3000,
        rate=4.0 if single else 1.2,
        sizes=UniformSizes(1, 5),
        runtimes=Exponential(1.0),
        origins=(1 / 3,) * 3,
        composition=composition,
        seed=4,
    )
    runs = [
        GridModel(
            Platform.star([10, 10, 10]),
            workload,
            global_scheduler(each),
            local_scheduler("fcfs"),
        )
        for each in (policy, "ls-or" if single else "gs")
    ]
    found, expected = map(outcome, runs)
    assert found == expected
    starts = np.array([start for start, _ in found.values()])
    arrivals = [row["arrival"] for row in runs[0].world.log.records()]
    assert (starts > np.array(arrivals)).mean() > 0.1  # many have to wait


def test_single_processors_on_one_cluster_wait_as_erlang_says():
    servers, load = 8, 0.9
    offered = load * servers
    terms = [offered**k / math.factorial(k) for k in range(servers + 1)]
    queued = terms[-1] / (1 - load)
    expected = queued / (sum(terms[:-1]) + queued) / (servers * (1 - load))
    waits = []
    for seed in range(10):
        workload = SyntheticWorkload(
            count=50_000,
            rate=offered,
            sizes=UniformSizes(1, 1),
            runtimes=Exponential(1.0),
            origins=(1.0,),
            composition=(100,),
            seed=seed,
        )
        model = GridModel(
            Platform.star([servers]),
            workload,
            global_scheduler("ls-do"),
            local_scheduler("fcfs"),
            interval=1e4,
        )
        model.run()
        waits.append(model.world.statistics.mean_wait)
    error = np.std(waits, ddof=1) / math.sqrt(len(waits))
    assert abs(np.mean(waits) - expected) < 3.5 * error


def test_aging_bounds_the_wait_of_those_whom_others_go_before():
    def longest_wait(aging):
        workload = SyntheticWorkload(
            count=20_000,
            rate=6.2,
            sizes=UniformSizes(1, 6),
            runtimes=Exponential(1.0),
            origins=(0.5, 0.5),
            composition=(90, 10),
            seed=2,
        )
        model = GridModel(
            Platform.star([16, 16]),
            workload,
            global_scheduler("lp-lf"),
            local_scheduler("fcfs"),
            interval=1e4,
            settings=[QueueSettings(aging)],
        )
        model.run()
        records = model.world.log.records()
        return (records["start"] - records["arrival"]).max()

    assert longest_wait(20.0) < 25.0 < 50.0 < longest_wait(0.0)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("placement", "low", "high", "clusters", "loss"),
    [("ordered", 1, 4, 4, 0.149), ("ordered", 5, 16, 4, 0.321), ("wf", 13, 16, 4, 0.094)],
)
def test_heavy_traffic_loses_what_the_paper_says(placement, low, high, clusters, loss):
    """`maxutil`, Table 3: exact values of the paper."""
    workload = BacklogWorkload(
        count=200_000,
        sizes=UniformSizes(low, high),
        runtimes=Exponential(1.0),
        composition=(0,) * (clusters - 1) + (100,),
        request="ordered" if placement == "ordered" else "unordered",
    )
    model = GridModel(
        Platform.star([32] * clusters),
        workload,
        global_scheduler(placement),
        local_scheduler("fcfs"),
        interval=1e4,
        settings=[JobSelection(selection="fcfs")],
    )
    model.run()
    records = model.world.log.records()
    work = (records["size"] * (records["finish"] - records["start"])).sum()
    assert 1 - work / records["start"].max() / (32 * clusters) == pytest.approx(loss, abs=0.003)
    assert (records["arrival"] <= records["start"]).all()


@pytest.mark.parametrize("policy", [*POLICIES, *FITTING])
def test_what_can_never_start_is_rejected(policy):
    jobs = job_table(3)
    jobs["components"][:, :3] = [[5, 5, 0], [4, 4, 1], [3, 0, 0]]
    jobs["request"], jobs["runtime"], jobs["origin"] = UNORDERED, 1.0, 0
    jobs["size"] = jobs["components"].sum(axis=1)
    found = outcome(model_of(policy, [4, 5], jobs))
    assert [number for number, (start, _) in found.items() if math.isnan(start)] == [1, 2]
    assert found[3][0] == 0.0


@pytest.mark.parametrize("policy", [*POLICIES, *FITTING])
def test_ordered_components_with_gaps_are_placed(policy):
    jobs = job_table(3)
    jobs["components"][:, :3] = [[0, 4, 0], [3, 0, 2], [0, 0, 9]]
    jobs["request"], jobs["runtime"], jobs["origin"] = ORDERED, 1.0, 1
    jobs["size"] = jobs["components"].sum(axis=1)
    found = outcome(model_of(policy, [5, 5, 5], jobs))
    assert [number for number, (start, _) in found.items() if math.isnan(start)] == [3]
    assert sorted(found[2][1]) == [0, 2, 3]
    assert sorted(found[1][1]) == [0, 0, 4]
    if policy == "ordered":
        assert (found[1][1], found[2][1]) == ([0, 4, 0], [3, 0, 2])


def test_response_times_by_kind_and_queue():
    jobs = random_jobs(np.random.default_rng(5), [6, 6, 6], count=300)
    jobs["request"][::2] = ORDERED
    jobs["components"][::2, :4] = np.roll(jobs["components"][::2, :4], 1, axis=1)
    model = model_of("eq-gf", [6, 6, 6], jobs)
    model.world.count_after(100)
    model.run()
    records = np.sort(model.world.log.records()[:], order="number")
    response = (records["finish"] - records["arrival"])[records["arrival"] >= jobs["arrival"][100]]
    kept = jobs[jobs["arrival"] >= jobs["arrival"][100]]
    single = (kept["components"] > 0).sum(axis=1) == 1
    found = model.world.statistics.responses
    assert found.local == pytest.approx(response[single].mean())
    assert found.everywhere == pytest.approx(response[~single].mean())
    for cluster in range(3):
        own = single & (kept["origin"] == cluster)
        assert found.queues[cluster] == pytest.approx(response[own].mean())
    assert found.queues[3] == found.everywhere
