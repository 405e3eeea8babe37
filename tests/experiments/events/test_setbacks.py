"""What sets jobs back, in the event log: all of it, and all that follows at the same instant."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.schedulers import REJECT, GlobalScheduler
from grid.jobs import ANYWHERE
from grid.platform.brokers import Advertising
from tests.agents.a4.test_discovery import tree
from tests.agents.small_grids import PLATFORM, model_of, table
from tests.experiments.events.test_events import Places, all_counts, counted, logged, ways


@pytest.mark.parametrize(
    ("scheduler", "way"),
    [
        (
            "dll",
            "submitted known sent landed started restarted returned known sent landed started"
            " finished",
        ),
        (Places, "submitted known started restarted known started finished"),
    ],
)
def test_a_failure_is_told(scheduler, way):
    platform = PLATFORM.star([4])
    model = model_of(scheduler, "fcfs", jobs=table((0, 4, 5)), platform=platform, tracked=True)
    model.world.resources.fail(0, 2, 3.0, repaired=7.0)
    story = ways(logged(model))[1]
    assert " ".join(event["event"] for event in story) == way
    assert [e["time"] for e in story if e["event"] in ("restarted", "started")] == [0, 3, 7]


@pytest.mark.parametrize("latency", [0.0, 0.5])
@pytest.mark.parametrize(
    ("what", "job", "way"),
    [
        (
            "fail",
            1,
            "submitted known sent landed started restarted returned known sent landed started"
            " finished",
        ),
        ("drain", 3, "submitted known sent landed returned known sent landed started finished"),
    ],
)
def test_a_job_that_goes_back_and_on_at_one_instant_is_told(what, job, way, latency):
    jobs = table((0, 4, 50), (1, 8, 100), (2, 4, 10))
    model = model_of("dll", "fcfs", jobs, PLATFORM.star([4, 8]), latency=latency, tracked=True)
    for processor in (2, 3):
        getattr(model.world.resources, what)(0, processor, 20.0, 200.0)
    story = ways(logged(model))[job]
    assert " ".join(event["event"] for event in story) == way
    again = [event for event in story if event["event"] == "known"][-1]
    assert (again["time"], again["sender"]) == (20 + latency, "C1")
    assert [e["receiver"] for e in story if e["event"] == "sent"] == ["C1", "C2"]


def test_a_job_that_comes_back_when_it_is_sent_is_told_of_twice():
    jobs, told = table((1, 8, 100), (25, 4, 10)), Advertising("periodic", 30.0)
    model = model_of("dll", "fcfs", jobs, PLATFORM.star([4, 8]), advertising=told, tracked=True)
    for processor in (2, 3):
        model.world.resources.drain(0, processor, 20.0)
    events = [event for event in logged(model) if event.get("job") == 2]
    assert [
        (event["time"], event.get("kind", event["event"]), event.get("sender"))
        for event in events
        if event.get("receiver") != "C2"
    ] == [
        (25, "submitted", "users"),
        (25, "known", "users"),
        (25, "sent", "DLL"),
        (25, "transfer", "DLL"),
        (25, "returned", None),
        (25, "metadata", "C1"),
        (25, "known", "C1"),
        (101, "started", None),
        (111, "finished", None),
    ]
    there = [event.get("kind", event["event"]) for event in events[7:10]]
    assert there == ["sent", "transfer", "landed"]


def test_no_advertisement_is_told_of_but_those_that_came():
    """A job that comes back tells of fewer processors, and of nothing else."""
    jobs, seldom = table((0, 4, 50), (1, 8, 100), (2, 4, 10)), Advertising("periodic", 1000.0)
    model = model_of(
        "dll", "fcfs", jobs, PLATFORM.star([4, 8]), latency=0.5, advertising=seldom, tracked=True
    )
    for processor in (2, 3):
        model.world.resources.drain(0, processor, 20.0)
    events = [event["event"] for event in logged(model) if event["time"] < 1000]
    assert "returned" in events
    assert "advertised" not in events


class Varies(GlobalScheduler):
    """Starts jobs on one cluster or two, sends or rejects them, and not always the same."""

    spans = True

    def place(self, job):
        turn = (int(self.model.now) + job.number) % 5
        first, second, *_ = self.clusters
        half, rest = job.size // 2, job.size - job.size // 2
        if turn == 0 and half and first.free >= half and second.free >= rest:
            return {first.name: half, second.name: rest}
        if turn == 1 and job.number % 3 == 0:
            return REJECT
        large = [cluster for cluster in self.clusters if cluster.size >= job.size]
        for cluster in large:
            if turn < 3 and cluster.free >= job.size:
                return {cluster.name: job.size}
        return large[turn % len(large)]


FOLLOWING = {
    None: {"submitted"},
    "submitted": {"known", "rejected"},
    "known": {"sent", "started", "rejected"},
    "sent": {"landed", "returned"},
    "landed": {"started", "returned"},
    "started": {"restarted", "finished"},
    "restarted": {"landed", "known", "returned"},
    "returned": {"known"},
}
"""Which event of a job may follow which."""

changes = st.lists(
    st.tuples(
        st.sampled_from(["fail", "drain"]),
        st.integers(0, 2),  # cluster
        st.integers(1, 8),  # processors
        st.integers(0, 30),  # from, s
        st.integers(1, 40),  # for, s
    ),
    min_size=1,
    max_size=8,
)
arriving = st.lists(
    st.tuples(
        st.integers(0, 20), st.integers(1, 4), st.integers(1, 15), st.sampled_from([ANYWHERE, 0, 1])
    ),
    min_size=3,
    max_size=15,
)


@pytest.mark.parametrize("shape", ["star", "tree"])
@pytest.mark.parametrize(
    ("scheduler", "local"),
    [("dll", "easy"), ("ect", "fcfs"), ("a4", "sjf"), ("b3", "fcfs"), (Varies, "fcfs")],
)
@settings(max_examples=10)
@given(
    rows=arriving,
    changes=changes,
    latency=st.sampled_from([0.0, 0.5]),
    lossy=st.booleans(),
    when=st.sampled_from(["both", "periodic"]),
)
def test_all_that_befalls_jobs_is_told(
    scheduler, local, shape, rows, changes, latency, lossy, when
):
    platform = tree() if shape == "tree" else PLATFORM
    jobs = table(*((at, size, time, np.inf, where) for at, size, time, where in sorted(rows)))
    told = Advertising(when, 5.0, loss=0.3 * lossy)
    model = model_of(
        scheduler, local, jobs, platform, latency=latency, advertising=told, tracked=True
    )
    for what, cluster, count, start, lasting in changes:
        for processor in range(min(count, platform.clusters[cluster].size)):
            change = getattr(model.world.resources, what)
            change(cluster, processor, float(start), float(start + lasting))
    events = logged(model)
    assert counted(events) == all_counts(model)
    _agree(model, events)
    for story in ways(events).values():
        names = [None, *(e["event"] for e in story if e["event"] in {*FOLLOWING, "finished"})]
        assert all(after in FOLLOWING[name] for name, after in pairwise(names))


def _agree(model, events):
    """Assert that the job events of a log are as many as the kernel counted, or as messages are."""
    found, state, world = Counter(e["event"] for e in events), model.world.state, model.scheduler
    for name in ("submitted", "started", "rejected", "restarted"):
        assert found[name] == getattr(state, name), name
    assert found["finished"] == state.completed
    messages = [e for e in events if e["event"] == "message"]
    orders = [e for e in messages if e["kind"] in ("order", "transfer")]
    assert found["sent"] == sum(e["sender"] == world.name for e in orders)
    news = ("at", "free", "waiting")
    told = {
        (e["cluster"], *(e[key] for key in news)) for e in messages if e["kind"] == "advertisement"
    }
    at_once = dict(zip(model.world.platform.names, state.at_once, strict=True))
    for event in events:
        if event["event"] == "advertised" and not at_once[event["sender"]]:
            assert (event["sender"], *(event[key] for key in ("sent", *news[1:]))) in told
    at_once = sum(e["receiver"] == world.name for e in events if e["event"] == "submitted")
    assert found["known"] == at_once + sum(e["kind"] == "metadata" for e in messages)
