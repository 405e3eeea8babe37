"""The event log: complete, in order, of the true times, and the same however a run is watched."""

from __future__ import annotations

import io
import json
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from agents.messages import Message
from agents.schedulers import GlobalScheduler, LocalScheduler
from experiments.events.log import EventLog
from experiments.run.append_file import Growing
from grid.errors import GridError
from grid.platform.brokers import Advertising
from grid.workloads.table import Table
from tests.agents.a4.test_discovery import tree
from tests.agents.small_grids import FAR, PLATFORM, model_of, table, workload
from tests.experiments.watched import Splits

WAY = ["submitted", "known", "sent", "landed", "started", "finished"]


class Text(io.StringIO):
    place = Path("events.jsonl")


def logged(model):
    """Run a model to its end; return the events of its log."""
    file = Text()
    log = EventLog(model, file)
    model.run()
    log.close()
    return [json.loads(line) for line in file.getvalue().splitlines()]


def ways(events):
    """Return the events of each job but messages, by number."""
    found = {}
    for event in events:
        if "job" in event and "kind" not in event:
            found.setdefault(event["job"], []).append(event)
    return found


MODELS = {
    "rounds": {"jobs": ("batch", {"share": 0.4}), "latency": 0.5},
    "at once": {"global_": "ect", "local": "fcfs"},
    "far": {"global_": "dll", "platform": FAR, "jobs": ("open", {"share": 0.5})},
    "open rounds": {"platform": FAR, "jobs": ("open", {"share": 0.5})},
    "planned": {"global_": "round-robin", "local": "titan"},
}


@pytest.mark.parametrize("latency", [0.0, 0.5])
@pytest.mark.parametrize("global_", ["muscle", "a4"])
def test_jobs_of_one_number_are_told_apart_in_all_that_is_said_of_them(global_, latency):
    jobs = table((0, 4, 20.0, 20.0, 0), (1, 4, 9.0, 25.0, 0), (2, 2, 3.0, 20.0, 1)).jobs
    jobs["number"] = [7, 7, 8]
    local = "titan" if global_ == "muscle" else "fcfs"
    events = logged(model_of(global_, local, Table(jobs), tree(), latency=latency))
    told = {(7, 1), (7, 2), (8, None)}
    assert {(e["job"], e.get("which")) for e in events if "job" in e} == told
    for name in WAY:
        whose = Counter((e["job"], e.get("which")) for e in events if e["event"] == name)
        assert whose == dict.fromkeys(told, 1)
    for event in events:
        for each in (event, *event.get("spaces", ())):
            if "jobs" in each:
                which = each.get("which", [0] * len(each["jobs"]))
                assert [place > 0 for place in which] == [job == 7 for job in each["jobs"]]


class Places(GlobalScheduler):
    def place(self, job):
        return {"C1": job.size} if self.clusters[0].free >= job.size else None


def made(options):
    options = dict(options)
    if "jobs" in options:
        mode, changes = options.pop("jobs")
        options["jobs"] = workload(mode, **changes)
    return model_of(**options)


@pytest.mark.parametrize("options", MODELS.values(), ids=MODELS.keys())
def test_every_job_goes_its_way_at_its_times(options):
    model = made(options)
    events = logged(model)
    assert [event["serial"] for event in events] == [*range(1, len(events) + 1)]
    times = [event["time"] for event in events]
    assert times == sorted(times)
    found, latency = ways(events), model.world.state.latency
    names = model.world.platform.names
    records = model.world.log.records()
    assert len(found) == len(records) == 60
    for row in records:
        story = found[row["number"]]
        assert [event["event"] for event in story] == WAY
        submitted, known, sent, landed, started, finished = (event["time"] for event in story)
        origin, cluster = row["origin"], row["cluster"]
        assert submitted == row["arrival"]
        assert known == pytest.approx(submitted + (latency[origin] if origin >= 0 else 0))
        moves = 2 * latency[origin] if origin not in (-1, cluster) else 0
        assert landed == pytest.approx(sent + latency[cluster] + moves)
        assert (started, finished) == (row["start"], row["finish"])
        assert story[4]["placement"] == {names[cluster]: row["size"]}


@pytest.mark.thorough
@pytest.mark.parametrize("options", MODELS.values(), ids=MODELS.keys())
def test_a_log_changes_nothing_and_no_step_changes_it(options):
    quiet = made(options)
    quiet.run()
    logs = []
    for interval in (0.7, 1000.0):
        model = made({**options, "interval": interval})
        logs.append(logged(model))
        assert (
            np.asarray(model.world.log.records()) == np.asarray(quiet.world.log.records())
        ).all()
        assert model.world.messages == quiet.world.messages
    assert logs[0] == logs[1]


def counted(events):
    """Return the messages of a log by the kinds that results count, and how many were lost."""
    kinds, lost = Counter(), 0
    for event in events:
        if event["event"] == "submitted":
            kinds["submission"] += 1
        elif event["event"] in ("message", "lost"):
            kind = event["kind"]
            if kind in ("ResourceQuestion", "ResourceAnswer"):
                kind = "discovery"
            kinds[kind if kind.islower() else "scheduling"] += 1
            lost += event["event"] == "lost"
    return dict(kinds), lost


def all_counts(model):
    """Return the same, as a model counts it."""
    kinds = model.world.messages | {
        "scheduling": model.messages_posted,
        "discovery": model.discovery_messages,
    }
    return {kind: count for kind, count in kinds.items() if count}, model.messages_lost


@pytest.mark.parametrize("options", MODELS.values(), ids=MODELS.keys())
def test_all_messages_are_there(options):
    model = made(options)
    assert counted(logged(model)) == all_counts(model)


@pytest.mark.parametrize("loss", [0.0, 0.3])
@pytest.mark.parametrize("latency", [0.0, 0.4])
@pytest.mark.parametrize(
    ("scheduler", "local", "when"),
    [
        ("muscle", "titan", "both"),
        ("a4", "fcfs", "change"),
        ("dll", "sjf", "periodic"),
        (Places, "fcfs", "both"),
    ],
)
def test_messages_of_a_hierarchy_can_be_counted_from_its_log(scheduler, local, when, latency, loss):
    model = model_of(
        scheduler, local, workload(share=0.6, count=40), tree(latency / 4), latency=latency,
        advertising=Advertising(when, 5.0, loss), tracked=True,
    )  # fmt: skip
    for cluster in range(3):
        for processor in range(4):
            model.world.resources.fail(cluster, processor, 30.0 + 5 * cluster, repaired=60.0)
    events = logged(model)
    assert counted(events) == all_counts(model)
    assert (model.messages_lost > 0) == (loss > 0)
    arrived = {}
    for event in events:
        if event["event"] == "lost":
            assert event["sent"] >= event["time"]
            assert len(event["hop"]) == 2
        elif event.get("kind") in ("transfer", "metadata"):
            arrived[event["job"], event["kind"]] = event["due"]
        elif event["event"] == "returned":  # at once, perhaps, without landing
            arrived.pop((event["job"], "transfer"), None)
        elif event["event"] == "landed" and (event["job"], "transfer") in arrived:
            due = arrived.pop((event["job"], "transfer"))
            assert event["time"] == pytest.approx(due)
        elif event["event"] == "known" and event["sender"] != "users":
            due = arrived.pop((event["job"], "metadata"))
            assert event["time"] == pytest.approx(due)


def test_a_lost_advertisement_says_where_it_was_lost():
    platform = tree()
    model = model_of(
        "dll", "fcfs", platform=platform, latency=0.5, advertising=Advertising(loss=0.5)
    )
    heard = {}  # by the hop on which it is sent: what is told of which cluster, as of when
    lost = 0
    ways = {"C1": ["C1", "west", "coast", "DLL"], "C3": ["C3", "coast", "DLL"]}
    ways["C2"] = ["C2", *ways["C1"][1:]]
    for event in logged(model):
        if event.get("kind") != "advertisement":
            continue
        way = ways[event["cluster"]]
        hop = way.index(event["sender"])
        assert way[hop + 1] == event["receiver"]
        assert event["time"] == event["sent"] == pytest.approx(event["at"] + 0.5 * hop)
        told = event["cluster"], event["at"]
        assert hop == 0 or (*told, event["sender"]) in heard
        if event["event"] == "message":
            heard[(*told, event["receiver"])] = event
        else:
            lost += 1
            assert event["hop"] == [event["sender"], event["receiver"]]
    assert lost > 30


def test_what_is_lost_of_a_question_is_asked_again():
    jobs, lossy = table((0, 4, 20.0, 5.0, 0)), Advertising(loss=0.6)
    model = model_of("a4", "fcfs", jobs, tree(), latency=0.5, advertising=lossy)
    events = logged(model)
    lost = model.messages_lost - model.world.state.lost
    assert model.discovery_messages == 6 + lost
    assert lost > 3
    (known,) = (event["time"] for event in events if event["event"] == "known")
    (answered,) = (event["time"] for event in events if event["event"] == "discovered")
    of_lost = [
        each for each in events if each["event"] == "lost" and each["kind"][:8] == "Resource"
    ]
    assert [each["job"] for each in of_lost] == [1] * lost
    # Each loss is noticed when its acknowledgement is overdue, two latencies later.
    assert answered - known == pytest.approx(6 * 0.5 + lost * 2 * 0.5)


def test_discovery_is_told_hop_by_hop():
    jobs = table((0, 4, 20.0, 20.0, 0), (10, 4, 9.0, 25.0, 0))
    model = model_of("a4", "fcfs", jobs, tree(), latency=0.5)
    events = [event for event in logged(model) if event.get("job") == 1]
    talk = [
        (event["time"], event["sender"], event["receiver"], event["kind"])
        for event in events
        if event.get("kind", "").startswith("Resource")
    ]
    assert talk == [
        (1.5, "C1", "west", "ResourceQuestion"),
        (2.0, "west", "C1", "ResourceAnswer"),
    ]
    (answer,) = (event for event in events if event["event"] == "discovered")
    assert (answer["time"], answer["sender"], answer["answered"]) == (2.5, "C1", "west")
    assert (answer["hops"], answer["offers"], answer["cluster"]) == (2, 2, "C2")
    (sent,) = (event["time"] for event in events if event["event"] == "sent")
    assert sent == 2.5


def test_seed_schedules_say_how_they_came_about():
    events = logged(made(MODELS["rounds"]))
    seeds = [event for event in events if event.get("kind") == "SeedSchedule"]
    sizes = {event["job"]: event["size"] for event in events if event["event"] == "submitted"}
    for seed in seeds:
        assert sorted(seed["jobs"]) == sorted(j for s in seed["spaces"] for j in s["jobs"])
        for space in seed["spaces"]:
            assert sum(sizes[job] for job in space["jobs"]) <= space["processors"]
            for job in space["jobs"]:
                place = seed["jobs"].index(job)
                assert seed["starts"][place] == space["start"]
                assert len(seed["resources"][place]) == sizes[job]
    assert {event["round"] for event in seeds} == {*range(1, max(s["round"] for s in seeds) + 1)}


def test_plans_name_the_jobs_that_wait():
    events = logged(made(MODELS["planned"]))
    waiting = {name: set() for name in PLATFORM.names}
    plans = 0
    for event in events:
        if event["event"] == "landed":
            waiting[event["receiver"]].add(event["job"])
        elif event["event"] == "started":
            waiting[next(iter(event["placement"]))].remove(event["job"])
        elif event["event"] == "planned":
            plans += 1
            assert set(event["jobs"]) == waiting[event["receiver"]]
    assert plans > 10


def test_rejected_and_split_jobs():
    jobs = table((0, 8, 5), (1, 6, 5), (2, 99, 5))
    model = model_of(Splits, "fcfs", jobs=jobs, platform=PLATFORM.star([4, 4]))
    found = ways(logged(model))
    assert [event["event"] for event in found[1]] == ["submitted", "known", "started", "finished"]
    assert found[1][2]["placement"] == {"C1": 4, "C2": 4}
    assert [event["time"] for event in found[2]] == [1, 1, 5, 10]
    assert [event["event"] for event in found[3]] == ["submitted", "rejected"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Odd(Message):
    """A user's message, with contents that JSON has nothing for."""

    load: float
    table: object


class Tells(GlobalScheduler):
    """Tells a cluster of each job, in the midst of an instant."""

    def place(self, job):
        cluster = self.clusters[job.number % 2]
        table = {3: np.arange(2), "of": {1.5}, "job": job}
        to = self.model.clusters[cluster.index].broker
        self.model.broker.send(Odd, to, load=float("inf"), table=table)
        return cluster


class Counts(LocalScheduler):
    """Ranks by the messages that it has got."""

    heard = 0

    def receive(self, message):
        super().receive(message)
        self.heard += 1

    def priority(self, job):
        return -self.heard


@pytest.mark.parametrize("latency", [0.0, 3.0])
def test_messages_of_users_are_logged_and_delivered_in_time(latency):
    options = {"latency": latency, "global_": Tells, "local": Counts}
    quiet = model_of(**options)
    quiet.run()
    model = model_of(**options)
    events = [event for event in logged(model) if event.get("kind") == "Odd"]
    assert (np.asarray(model.world.log.records()) == np.asarray(quiet.world.log.records())).all()
    assert len(events) == 60
    assert all(event["due"] == event["time"] + latency for event in events)
    assert events[0]["load"] is None
    assert events[0]["table"]["3"] == [0, 1]
    assert events[0]["table"]["of"] == [1.5]
    assert events[0]["table"]["job"].startswith("Job(")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device here")
def test_a_full_disk_is_told_in_a_line():
    model = made(MODELS["at once"])
    file = Growing(Path("/dev/full"))
    log = EventLog(model, file)
    model.run()
    with pytest.raises(GridError, match="/dev/full: cannot write events"):
        log.close()
    with suppress(OSError):  # of what it may still hold
        file.close()
