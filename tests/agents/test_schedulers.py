"""Schedulers of one's own: what they see, what they may answer, and that it is done."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numba
import numpy as np
import pytest

from agents.messages import Message, name_jobs
from agents.registry import global_scheduler
from agents.schedulers import GlobalScheduler, LocalScheduler, PlanningScheduler
from agents.selection import JobSelection
from grid.errors import GridError, PlacementError
from grid.kernel.state import START
from grid.platform.multicluster import Platform

from .small_grids import FAR, PLATFORM, RATES, SIZES, done, model_of, ran, table, workload


def serve(jobs, landed, rank, size):
    """Return the starts of jobs on one cluster: by rank, the head of the queue blocks."""
    starts, running, waiting, now = {}, [], [], 0.0
    arrivals = sorted(range(len(jobs)), key=lambda i: (landed[i], i))
    while arrivals or waiting:
        now = min([landed[arrivals[0]]] if arrivals else [] + [end for end, _ in running])
        if running and arrivals:
            now = min(now, min(end for end, _ in running))
        running = [(end, held) for end, held in running if end > now]
        while arrivals and landed[arrivals[0]] <= now:
            waiting.append(arrivals.pop(0))
        waiting.sort(key=lambda i: (rank(jobs[i]), landed[i], i))
        while waiting and jobs[waiting[0]]["size"] <= size - sum(held for _, held in running):
            i = waiting.pop(0)
            starts[i] = now
            running.append((now + jobs[i]["execution_time"], jobs[i]["size"]))
        if not arrivals and waiting:
            now = min(end for end, _ in running)
    return [starts[i] for i in range(len(jobs))]


class EarliestDeadline(LocalScheduler):
    def priority(self, job):
        return job.deadline


@pytest.mark.parametrize(
    ("local", "rank"),
    [
        ("fcfs", lambda job: 0.0),
        ("sjf", lambda job: job["execution_time"]),
        (EarliestDeadline, lambda job: job["deadline"]),
    ],
)
def test_disciplines_serve_by_rank_and_the_head_blocks(local, rank):
    jobs = done(ran("round-robin", local, workload(count=150, rate=1.2)))
    for c, size in enumerate(SIZES):
        mine = jobs[jobs["cluster"] == c]
        assert mine["start"].tolist() == serve(mine, mine["arrival"].tolist(), rank, size)
        assert (mine["start"] > mine["arrival"]).sum() > 10


@pytest.mark.parametrize(
    ("name", "value", "accepted"),
    [
        ("only_chooses", "yes", "True or False"),
        ("spans", 3, "True or False"),
        ("uses_deadlines", "no", "True or False or None"),
        ("queues", "by-component", "global, local, by-components"),
        ("queues", 5, "global, local, by-components"),
        ("queues", {}, "global, local, by-components"),
    ],
)
def test_what_a_class_says_of_itself_by_another_value_is_refused(name, value, accepted):
    kind = type("Mine", (GlobalScheduler,), {name: value, "place": lambda self, job: None})
    with pytest.raises(GridError, match=f"^Mine: {name}: found {value!r}; accepted: {accepted}"):
        model_of(kind, "fcfs")


@pytest.mark.parametrize("selection", ["easy", "conservative"])
@pytest.mark.parametrize("global_", ["home", "ect", "a4"])
def test_nothing_is_reserved_of_who_sends_each_job_on_at_once(global_, selection):
    rows = (0.0, 4, 100.0), (1.0, 6, 50.0), (2.0, 2, 120.0)
    one = Platform.star([6])
    starts = [
        done(ran(global_, "easy", jobs, platform=one, settings=[JobSelection(selection=each)]))
        for each in ("fpfs", selection)
        for jobs in [table(*((*row, np.inf, 0) for row in rows))]
    ]
    assert (starts[0]["start"] == starts[1]["start"]).all()


@numba.njit
def by_deadline(job, now):
    return job.deadline


class CompiledDeadline(LocalScheduler):
    priority = by_deadline


@pytest.mark.parametrize("local", [EarliestDeadline, CompiledDeadline])
def test_an_infinite_rank_comes_last_but_is_served(local):
    jobs = table((0, 8, 5.0), (1, 8, 5.0), (2, 8, 5.0, 50.0))
    assert done(ran("dll", local, jobs, Platform.star([8])))["start"].tolist() == [0.0, 10.0, 5.0]


def test_equal_ranks_are_served_in_order_of_landing():
    class Indifferent(LocalScheduler):
        def priority(self, job):
            return -7

    expected = done(ran("dll", "fcfs", workload(rate=1.0)))["start"].tolist()
    assert done(ran("dll", Indifferent, workload(rate=1.0)))["start"].tolist() == expected


def test_a_planner_gets_all_waiting_jobs_and_when_processors_fall_free():
    seen = []

    class Reversed(PlanningScheduler):
        def plan(self, jobs, release):
            seen.append((self.model.now, [job.number for job in jobs], release.tolist()))
            return reversed(jobs)

    jobs = table((0, 3, 10.0), (1, 2, 4.0), (2, 4, 5.0), (3, 1, 9.0), (4, 1, 9.0))
    model = ran("dll", Reversed, jobs, Platform.star([4]))
    assert seen == [
        (0.0, [1], [0.0] * 4),
        (1.0, [2], [0.0, 9.0, 9.0, 9.0]),
        (2.0, [2, 3], [0.0, 8.0, 8.0, 8.0]),
        (3.0, [3, 2, 4], [0.0, 7.0, 7.0, 7.0]),
        (4.0, [2, 3, 5], [6.0, 6.0, 6.0, 8.0]),
    ]
    assert done(model)["start"].tolist() == [0.0, 24.0, 19.0, 3.0, 10.0]


@pytest.mark.parametrize("give", [list, tuple, iter, lambda jobs: np.array(jobs, object)])
def test_a_plan_may_be_any_sequence(give):
    class Planner(PlanningScheduler):
        def plan(self, jobs, release):
            return give(sorted(jobs, key=lambda job: job.deadline))

    assert len(done(ran("dll", Planner, workload(rate=1.0)))) == 60


def test_what_a_scheduler_sees_of_a_job_and_of_clusters():
    class Curious(GlobalScheduler):
        def place(self, job):
            seen.append(
                (job.number, job.arrival, job.size, job.predicted_runtime, job.deadline, job.origin,
                 job.requested_time, job.computation_fraction, job.ppbw, repr(job))
            )  # fmt: skip
            assert np.isnan(job.predicted_time)
            return self.clusters[job.size % 3]

    class Local(LocalScheduler):
        def priority(self, job):
            times.append(job.predicted_time)
            return 0

    seen, times = [], []
    model = ran(Curious, Local, table((0.5, 2, 7.0, 30.0, 1), (1, 3, 9.0)), PLATFORM)
    assert seen[0] == (
        1,
        0.5,
        2,
        7.0,
        30.0,
        1,
        np.inf,
        1.0,
        0.0,
        "Job(1, size=2, predicted_runtime=7.0)",
    )
    assert seen[1][5] == -1
    assert times == [7.0 / RATES[2], 9.0 / RATES[0]]
    known = model.scheduler.clusters
    assert [(c.index, c.name, c.size, c.rate) for c in known] == [
        (0, "C1", 8, 1.0),
        (1, "C2", 6, 1.3),
        (2, "C3", 4, 0.7),
    ]
    assert repr(known[1]) == "KnownCluster('C2', size=6, rate=1.3)"


def test_a_waiting_job_is_offered_again_at_each_change():
    offers = []

    class OnlyWhenIdle(GlobalScheduler):
        def place(self, job):
            offers.append((self.model.now, job.number))
            first = self.clusters[0]
            return {first.name: job.size} if first.free == first.size else None

    model = ran(OnlyWhenIdle, "fcfs", table((0, 1, 10.0), (1, 1, 3.0), (2, 1, 4.0)))
    assert offers == [(0, 1), (1, 2), (2, 3), (10, 2), (10, 3), (13, 3)]
    assert done(model)["start"].tolist() == [0.0, 10.0, 13.0]


@dataclass(frozen=True, kw_only=True)
class Need(Message):
    """A user's own message."""

    size: int


def test_names_and_words():
    model = model_of("dll", EarliestDeadline)
    assert [cluster.scheduler.name for cluster in model.clusters] == [
        f"EARLIESTDEADLINE C{k}" for k in (1, 2, 3)
    ]
    said = Need(sender="C1", receiver="DLL", sent=0.0, due=1.0, size=3)
    assert str(said) == "C1 -> DLL: Need"
    assert name_jobs((1, 2, 3, 4)) == "jobs 1, 2, 3, 4"


def test_two_schedulers_of_a_class_keep_their_own_state():
    class Alternating(GlobalScheduler):
        def __init__(self, model):
            super().__init__(model)
            self.turn = itertools.cycle(self.clusters)

        def place(self, job):
            return next(self.turn)

    for _ in range(2):
        jobs = workload(count=9, largest=4)
        assert done(ran(Alternating, "fcfs", jobs))["cluster"].tolist() == [0, 1, 2] * 3


def test_messages_reach_the_schedulers_of_their_brokers():
    """A global and a local scheduler of a user's may talk through their brokers."""
    heard = []

    class Chatting(GlobalScheduler):
        def place(self, job):
            self.model.broker.send(Need, self.model.clusters[2].broker, size=job.size)
            return self.clusters[2]

    class Listening(LocalScheduler):
        def receive(self, message):
            heard.append((self.cluster.name, self.model.now, message.size))

        def priority(self, job):
            return 0.0

    model = ran(Chatting, Listening, table((1, 2, 5.0), (3, 3, 5.0)), FAR, latency=0.5)
    delay = model.world.state.latency[2]
    assert heard == [("C3", 1 + delay, 2), ("C3", 3 + delay, 3)]
    assert model.messages_posted == 2
    assert model.in_flight == 0


@pytest.mark.parametrize(
    "answer",
    [
        {"C1": 10**30},
        {"C1": -1, "C2": 3},
        {"C1": True, "C2": 1},
        {"C1": np.True_, "C2": 1},
        {"C1": 2.0},
        {"C9": 2},
        {3: 2},
        True,
        0,
        "C1",
        np.zeros((30, 2)),
    ],
)
def test_an_answer_that_is_none_is_told_in_one_line(answer):
    class Wrong(GlobalScheduler):
        def place(self, job):
            return answer

    with pytest.raises(PlacementError) as error:
        ran(Wrong, "fcfs", table((3, 2, 5.0)))
    message = str(error.value)
    assert message.startswith("WRONG at 3 s: placement of job 1: ")
    assert "accepted: one of self.clusters" in message
    assert "C1: at most 8, C2: at most 6, C3: at most 4" in message
    assert "\n" not in message


def test_counts_may_be_numpys():
    class Split(GlobalScheduler):
        def place(self, job):
            return {"C1": np.int16(1), "C3": np.uint64(1), "C2": 0}

    model = ran(Split, "fcfs", table((3, 2, 5.0)))
    assert model.completed == 1
    assert model.world.log.records().takes.tolist() == [[1, 0, 1]]


def test_a_rank_beyond_all_floats_is_a_rank():
    class Extreme(LocalScheduler):
        def priority(self, job):
            return {1: 0, 2: 10**400, 3: -(10**400)}[job.number]

    jobs = table((0, 8, 5.0), (1, 8, 5.0), (2, 8, 5.0))
    assert done(ran("dll", Extreme, jobs, Platform.star([8])))["start"].tolist() == [0.0, 10.0, 5.0]


def test_a_rank_is_no_boolean():
    class Wide(LocalScheduler):
        def priority(self, job):
            return job.size > 1

    with pytest.raises(PlacementError, match=r"WIDE C1 at 3 s: priority of job 1: True; accepted"):
        ran("dll", Wide, table((3, 2, 5.0)))


@numba.njit
def all_of_the_first(known, job, memory):
    known.take[0] = job.size
    return START


class GreedyCompiled(GlobalScheduler):
    place = all_of_the_first


class Greedy(GlobalScheduler):
    def place(self, job):
        return {"C1": job.size}


@pytest.mark.parametrize("scheduler", [Greedy, GreedyCompiled])
@pytest.mark.parametrize("latency", [0.0, 0.5])
def test_nobody_asks_for_more_processors_than_it_was_told_of(scheduler, latency):
    """The second job may ask for what is no longer free until that has been told."""
    jobs = table((0, 5, 10.0), (0.25, 5, 10.0))
    model = model_of(scheduler, "fcfs", jobs, latency=latency)
    with pytest.raises(PlacementError) as error:
        model.run()
    told = "free" if latency == 0.0 else "that brokers tell are free"
    assert str(error.value).endswith(
        f"at {max(latency, 0.25):g} s: placement of job 2 (size 5): {{'C1': 5}}; accepted: 5 "
        f"processors in all, of those {told}: {{'C1': 3, 'C2': 6, 'C3': 4}}"
    )
    assert model.world.state.refused == (latency > 0)


@pytest.mark.parametrize(
    ("name", "value", "accepted"),
    [
        *(("penalty", bad, "a number from 1, or 0") for bad in ("x", -1.0, 0.5, math.nan, True)),
        ("penalty", math.inf, "a number from 1, or 0"),
        *(("half_life", bad, "seconds, above 0, or 0") for bad in ("x", -5.0, math.inf, None)),
        *(("shares", bad, "numbers from 1e-06") for bad in (5, {0: -1.0}, {"a": 1.0}, {0: "x"})),
    ],
)
def test_what_a_class_says_of_penalty_and_shares_is_checked(name, value, accepted):
    if name == "penalty":
        own = type("Own", (global_scheduler("first-fit"),), {name: value})
        given = own, "fcfs"
    else:
        given = "dll", type("Own", (EarliestDeadline,), {name: value})
    with pytest.raises(GridError, match=rf"^Own: {name}: found .*; accepted: {accepted}"):
        model_of(*given)


class Never(LocalScheduler):
    service = "timed"

    def priority(self, job):
        return math.inf


@pytest.mark.parametrize("global_", ["dll", "muscle"])
def test_a_time_that_never_comes_is_refused(global_):
    with pytest.raises(GridError, match=r"priority of .*: inf; accepted: a time \(s\), of service"):
        ran(global_, Never, workload(count=5))


def test_only_a_method_that_will_be_asked_for_is_missed():
    with pytest.raises(GridError, match=r"^Own: no method `visit`$"):
        model_of(type("Own", (GlobalScheduler,), {"queues": "global"}), "fcfs")
    for bases, own in (
        ((GlobalScheduler,), {"collects": True}),
        ((GlobalScheduler,), {"answer": lambda self, slot: 0}),
        ((LocalScheduler,), {"half_life": 60.0}),
        ((LocalScheduler,), {"rank": lambda self, slot: 0.0}),
        ((PlanningScheduler,), {"replan": lambda self: None}),
    ):
        kind = type("Own", bases, own)
        given = (kind, "fcfs") if bases == (GlobalScheduler,) else ("dll", kind)
        assert model_of(*given).clusters
