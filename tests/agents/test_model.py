"""The model as a whole: the same bits however it is watched, and what its agents know and tell."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

from agents.messages import JobMetadata, JobSubmitted
from agents.model import GridModel
from agents.schedulers import GlobalScheduler, LocalScheduler
from grid.errors import GridError
from grid.platform.brokers import Advertising
from grid.platform.multicluster import Platform

from .small_grids import FAR, OUTCOME, PLATFORM, done, heard, model_of, ran, table, workload

GLOBALS = ("muscle", "dll", "wrand", "round-robin", "ect", "a4")
LOCALS = ("titan", "fcfs", "sjf")


def bits(model):
    """Return all that a run came to, bit by bit."""
    records = model.world.log.records()
    return (
        [records[name].tobytes() for name in OUTCOME],
        [(r.number, r.dispatched, r.jobs.tobytes(), r.cps.tobytes()) for r in model.rounds],
        model.messages_posted,
        model.world.messages,
        model.world.state.instants,
        model.now,
        [str(message) for message in model.said],
    )


def look_at_everything(model):
    for agent in list(model.agents):
        for name in dir(agent):
            if not name.startswith("_"):
                getattr(agent, name)
    for cluster in model.clusters:
        cluster.release_times()
        model.world.jobs.waiting(cluster.index)
        model.world.jobs.running(cluster.index)
    for known in model.scheduler.clusters:
        _ = known.load, known.work, known.free, known.waiting, known.age
    _ = model.in_flight, model.messages, model.world.busy_area(), model.world.log.latest(5)
    [str(message) for message in model.said]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("local", LOCALS)
@pytest.mark.parametrize("global_", GLOBALS)
def test_a_run_is_the_same_bits_however_it_is_stepped_and_watched(global_, local):
    for mode in ("open", "batch"):
        for latency, share in ((0.0, 0.0), (0.0, 0.5), (0.7, 0.5)):

            def make(interval, mode=mode, latency=latency, share=share):
                jobs = workload(mode, share=share, count=40)
                return model_of(global_, local, jobs, latency=latency, interval=interval)

            whole = make(3600.0)
            whole.run()
            assert whole.world.state.completed == 40
            expected = bits(whole)
            for interval in (1.0, 60.0):
                model = make(interval)
                if interval == 1.0:
                    messages = heard(model)
                while model.running:
                    model.step()
                    if interval == 60.0:
                        look_at_everything(model)
                assert bits(model) == expected
            assert len(messages) >= model.messages_posted


def test_a_model_that_has_ended_can_be_stepped_on():
    model = ran("dll", "fcfs")
    before = bits(model)
    model.step()
    assert bits(model) == before


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("global_", "local"), [("wrand", "fcfs"), ("dll", "titan"), ("muscle", "titan")]
)
def test_the_seed_decides_and_nothing_else(global_, local):
    """Equal clusters, so that MUSCLE has something to choose."""
    platform = Platform.star([6, 6, 6])
    runs = [
        bits(ran(global_, local, workload(count=60, rate=0.6), platform, seed=seed))
        for seed in (1, 1, 2)
    ]
    assert runs[0] == runs[1]
    assert runs[0] != runs[2]


def test_another_workload_seed_is_another_run():
    assert bits(ran(jobs=workload(seed=1))) != bits(ran(jobs=workload(seed=2)))


def test_models_do_not_disturb_each_other():
    expected = bits(ran(seed=3))
    one, other = model_of(seed=3, interval=7.0), model_of(seed=4, interval=11.0)
    while one.running:
        one.step()
        other.step()
    assert bits(one) == expected


def test_the_data_collector_counts_what_happened():
    model = model_of(latency=0.5, interval=5.0)
    model.run()
    frame = model.datacollector.get_model_vars_dataframe()
    last = frame.iloc[-1]
    assert last["completed"] == 60
    assert last["messages"] == model.messages
    assert last["busy"] == [0, 0, 0]
    assert last["queued"] == 0
    assert frame["now"].is_monotonic_increasing
    assert (frame["completed"].diff().dropna() >= 0).all()


def test_clusters_show_what_runs_and_waits():
    model = model_of("dll", "fcfs", table((0, 8, 10.0), (1, 5, 10.0), (2, 1, 4.0)), interval=5.0)
    model.step()
    first, second, third = model.clusters
    assert (first.busy, first.free, first.running, first.waiting) == (8, 0, 1, 0)
    assert (second.busy, third.busy) == (5, 1)
    assert first.release_times().tolist() == [5.0] * 8
    assert third.release_times()[:3].tolist() == [0.0] * 3
    assert third.release_times()[3] == pytest.approx(2 + 4 / 0.7 - 5)
    assert first.utilization == 1.0
    assert second.utilization == pytest.approx(5 * 4 / (6 * 5))


def test_submissions_are_told_from_users_and_from_clusters():
    jobs = table((0, 1, 5.0), (0, 2, 5.0), (2, 1, 5.0, np.inf, 1), (2, 1, 5.0, np.inf, 1))
    model = model_of("muscle", "titan", jobs, FAR, latency=1.0)
    messages = heard(model)
    model.run()
    told = [m for m in messages if isinstance(m, (JobSubmitted, JobMetadata))]
    assert [(type(m), m.sender, m.jobs, m.due) for m in told] == [
        (JobSubmitted, "users", (1, 2), 0.0),
        (JobMetadata, "C2", (3, 4), 3.2),
    ]
    assert [m.sent for m in told] == [0.0, 2.0]


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("interval", 0.0),
        ("interval", -1.0),
        ("interval", float("nan")),
        ("latency", -0.1),
        ("latency", float("inf")),
        ("latency", float("nan")),
        ("round_threshold", -1.0),
        ("round_threshold", float("nan")),
        ("weights", (1.0, 2.0)),
        ("weights", (-1.0, 2.0, 1.0)),
        ("weights", [(4.0, 3.0, 1.0)] * 2),
        ("idle", "least"),
    ],
)
def test_impossible_options_are_named(option, value):
    with pytest.raises(GridError, match=option) as caught:
        model_of(**{option: value})
    assert "\n" not in str(caught.value)
    assert "accepted" in str(caught.value)


# The three tiers ---------------------------------------------------------------------------------


def test_too_large_jobs_are_rejected_and_the_rest_go_on():
    for global_ in GLOBALS:
        model = ran(global_, "fcfs", table((0, 9, 5.0), (1, 8, 5.0), (2, 30, 1.0)))
        assert (model.world.state.rejected, model.world.state.completed) == (2, 1)
        records = model.world.log.records()
        assert records["number"][np.isnan(records["start"])].tolist() == [1, 3]


# Knowledge ----------------------------------------------------------------------------------------


@pytest.mark.sampled(2)
@pytest.mark.parametrize("local", ["fcfs", "sjf", "titan"])
@pytest.mark.parametrize("latency", [0.0, 2.0, 25.0])
def test_what_is_known_of_a_cluster_is_the_truth_one_latency_ago(latency, local):
    """Worked out after the run from where and when each job was sent, started and finished."""
    seen = []

    class Watching(GlobalScheduler):
        turn = 0

        def place(self, job):
            known = [(c.free, c.waiting, c.load * c.size, c.age) for c in self.clusters]
            fitting = [c for c in self.clusters if c.size >= job.size]
            self.turn += 1
            chosen = fitting[self.turn * 7 // 3 % len(fitting)]
            seen.append((self.model.now, job.number, chosen.index, known))
            return chosen

    model = ran(Watching, local, workload(count=150, rate=0.9), FAR, latency=latency)
    jobs = done(model)
    row = {number: index for index, number in enumerate(jobs["number"].tolist())}
    sent = np.zeros(len(jobs))
    for now, number, _, _ in seen:
        sent[row[number]] = now
    delays = model.world.state.latency
    waited = False
    for c in range(3):
        mine = jobs[jobs["cluster"] == c]
        landed = (sent + delays[c])[jobs["cluster"] == c]
        decided = sent[jobs["cluster"] == c]
        changes = np.unique(np.concatenate([landed, mine["start"], mine["finish"]]))
        for now, _, _, known in seen:
            free, waiting, load, age = known[c]
            told = changes[changes + delays[c] <= now]
            if delays[c] == 0.0:
                told = told[told < now]  # jobs that land now are not queued yet
            if not len(told):
                assert (free, waiting) == (PLATFORM.sizes[c], 0)
                continue
            then = told[-1]
            busy = mine["size"][(mine["start"] <= then) & (then < mine["finish"])].sum()
            assert free == PLATFORM.sizes[c] - busy
            queued = ((landed <= then) & (then < mine["start"])).sum()
            assert waiting == queued
            waited |= bool(queued)
            if delays[c] > 0.0:
                assert age == pytest.approx(now - then, abs=1e-9)
            left = (decided < now) & ~(mine["finish"] + delays[c] <= now)
            assert load == pytest.approx((mine["execution_time"] * mine["size"])[left].sum())
    assert waited
    assert len(seen) == 150


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("latency", "advertising"), [(0.0, Advertising()), (2.0, Advertising("periodic", truth=True))]
)
def test_what_is_known_at_once_is_the_truth_now(latency, advertising):
    class Watching(GlobalScheduler):
        def place(self, job):
            world = self.model.world
            assert [c.free for c in self.clusters] == world.state.free[:3].tolist()
            assert [c.waiting for c in self.clusters] == world.state.waiting[:3].tolist()
            waited.append(max(c.waiting for c in self.clusters))
            return max((c for c in self.clusters if c.size >= job.size), key=lambda c: c.free)

    for local in LOCALS:
        waited = []
        jobs = workload(count=100, rate=0.9)
        ran(Watching, local, jobs, latency=latency, advertising=advertising)
        assert max(waited) > 0


def test_agents_are_those_of_mesa():
    model = model_of(latency=0.5)
    kinds = {kind.__name__: len(agents) for kind, agents in model.agents_by_type.items()}
    assert kinds == {
        "Exact": 1,
        "MuscleScheduler": 1,
        "A4Broker": 4,
        "ClusterAgent": 3,
        "TitanScheduler": 3,
    }
    assert all(agent.model is model for agent in model.agents)


def test_nothing_keeps_a_model_alive_that_nobody_needs():
    model = ran("ect", "fcfs")
    gone = weakref.ref(model)
    del model
    gc.collect()
    assert gone() is None


def test_two_models_of_one_workload_run_the_same_jobs():
    batches = workload("batch", count=30)
    first, second = (done(ran("dll", "fcfs", batches)) for _ in range(2))
    assert len(first) == 30
    assert first.tobytes() == second.tobytes()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"interval": "a"}, "interval: found 'a'; accepted: seconds, above 0"),
        ({"latency": None}, "latency: found None; accepted: seconds, from 0"),
        ({"round_threshold": "a"}, "round_threshold: found 'a'; accepted: seconds, from 0"),
        ({"seed": -1}, "seed: found -1; accepted: a whole number from 0"),
        ({"seed": 1.5}, "seed: found 1.5; accepted: a whole number from 0"),
        ({"settings": [3]}, "settings: found 3; accepted: a list of objects of frozen"),
    ],
)
def test_what_a_model_cannot_take_is_told_in_a_line(given, says):
    with pytest.raises(GridError) as error:
        model_of("ect", "fcfs", **given)
    assert str(error.value).startswith(says)


@pytest.mark.parametrize("which", ["platform", "workload", "global_scheduler", "local_scheduler"])
def test_what_no_model_can_be_made_of_is_told_in_a_line(which):
    given = {
        "platform": PLATFORM,
        "workload": workload(count=1),
        "global_scheduler": GlobalScheduler,
        "local_scheduler": LocalScheduler,
    }
    with pytest.raises(GridError) as error:
        GridModel(**(given | {which: 5}))
    assert str(error.value).startswith(f"{which}: found 5; accepted: ")


def test_agents_say_what_they_are():
    model = model_of("muscle", "titan", workload(count=3))
    cluster = model.clusters[0]
    free = f"{cluster.free} of {cluster.size} processors free"
    assert repr(model) == "<GridModel at 0 s: MUSCLE, clusters: 3, completed: 0>"
    assert repr(model.scheduler) == "<MuscleScheduler MUSCLE>"
    assert repr(cluster) == f"<ClusterAgent {cluster.name}: {free}; jobs waiting: 0>"
    assert repr(cluster.scheduler) == f"<TitanScheduler TITAN {cluster.name}>"
    assert repr(cluster.broker) == f"<A4Broker {cluster.name}>"
    assert repr(model.pace.predictor) == "<Exact>"
