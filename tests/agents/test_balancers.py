"""Global schedulers that decide at once, against the same written in plain Python."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from agents.balancers import EarliestCompletionScheduler
from grid.distributions import Deterministic, UniformSizes
from grid.jobs import ANYWHERE
from grid.platform.changes import Change
from grid.platform.multicluster import Platform
from grid.streams import stream
from grid.workloads.synthetic import SyntheticWorkload

from .plain_muscle import Chance
from .small_grids import FAR, PLATFORM, RATES, SIZES, done, model_of, ran, table, workload

CASES = [(0.0, 0.0), (0.0, 0.6), (0.7, 0.0), (6.0, 0.6)]


def decisions(model):
    """Return [(when the job was known, its record)] in the order of decision."""
    jobs = done(model)
    delay = model.world.state.latency
    known = [
        job["arrival"] + (0.0 if job["origin"] == ANYWHERE else delay[job["origin"]])
        for job in jobs
    ]
    return [(known[i], jobs[i]) for i in sorted(range(len(jobs)), key=lambda i: (known[i], i))]


def fitting(job):
    return [c for c in range(3) if job["size"] <= SIZES[c]]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("local", ["fcfs", "titan"])
@pytest.mark.parametrize(("latency", "share"), CASES)
def test_dll_sends_to_the_least_load_known(latency, share, local):
    """L = sum(e s / m) of what was sent there and not known, a latency later, to have ended."""
    jobs = workload(count=100 if local == "titan" else 200, rate=0.8, share=share)
    model = ran("dll", local, jobs, FAR if latency else PLATFORM, latency=latency)
    delay = model.world.state.latency
    sent = [[] for _ in SIZES]
    for now, job in decisions(model):
        loads = [
            math.fsum(j["execution_time"] * j["size"] for j in each if j["finish"] + delay[c] > now)
            / SIZES[c]
            for c, each in enumerate(sent)
        ]
        chosen = job["cluster"]
        least = min(loads[c] for c in fitting(job))
        assert loads[chosen] == pytest.approx(least, rel=1e-9, abs=1e-12)
        assert all(loads[c] > least for c in fitting(job) if c < chosen)  # of equals the first
        sent[chosen].append(job)
    assert all(len(each) > 10 for each in sent)


def test_dll_knows_completions_after_the_latency():
    """C1 has work of 10 s and 15 s, C2 of 20 s; the 10 s land at 2, end at 12, are known at 14."""
    rows = [(0, 4, 10.0), (0, 4, 20.0), (0, 4, 15.0)]
    for arrival, expected in ((13.9, 1), (14.0, 0)):
        jobs = table(*rows, (arrival, 4, 1.0))
        records = done(ran("dll", "fcfs", jobs, Platform.star([4, 4]), latency=2.0))
        assert records["cluster"].tolist() == [0, 1, 0, expected]


@pytest.mark.parametrize(("latency", "share"), CASES)
def test_wrand_draws_in_proportion_to_capability(latency, share):
    """Decision by decision, from the same stream of random numbers."""
    jobs = workload(count=200, rate=0.8, share=share)
    model = ran("wrand", "fcfs", jobs, FAR if latency else PLATFORM, latency=latency, seed=9)
    chance = Chance(stream(9, "global scheduler"))
    for _, job in decisions(model):
        capable = fitting(job)
        left = chance.below(2**53) / 2**53 * sum(SIZES[c] * RATES[c] for c in capable)
        for chosen in capable:
            left -= SIZES[chosen] * RATES[chosen]
            if left < 0:
                break
        assert job["cluster"] == chosen


def test_wrand_shares_are_those_of_capability():
    """Chi-square over the clusters that can hold a job, at the 0.1 % level."""
    jobs = SyntheticWorkload(
        count=20_000, rate=5.0, sizes=UniformSizes(1, 8), runtimes=Deterministic(0.5), seed=3
    )
    records = done(ran("wrand", "fcfs", jobs, interval=1e6))
    assert len(records) == 20_000
    critical = {1: 10.83, 2: 13.82}
    for low, high, capable in ((1, 4, [0, 1, 2]), (5, 6, [0, 1]), (7, 8, [0])):
        mine = records[(records["size"] >= low) & (records["size"] <= high)]
        counts = np.bincount(mine["cluster"], minlength=3)
        assert counts[[c for c in range(3) if c not in capable]].sum() == 0
        if len(capable) > 1:
            share = np.array([SIZES[c] * RATES[c] for c in capable])
            expected = share / share.sum() * len(mine)
            chi = ((counts[capable] - expected) ** 2 / expected).sum()
            assert chi < critical[len(capable) - 1]


@pytest.mark.parametrize(("latency", "share"), CASES)
def test_round_robin_takes_turns(latency, share):
    jobs = workload(count=200, rate=0.8, share=share)
    model = ran("round-robin", "fcfs", jobs, FAR if latency else PLATFORM, latency=latency)
    turn = 0
    for _, job in decisions(model):
        chosen = next(c for c in ((turn + step) % 3 for step in range(3)) if c in fitting(job))
        assert job["cluster"] == chosen
        turn = chosen + 1


@pytest.mark.parametrize(("latency", "share"), CASES)
def test_home_sends_home_what_its_cluster_can_hold(latency, share):
    jobs = workload(count=200, rate=0.8, share=share)
    model = ran("home", "easy", jobs, FAR if latency else PLATFORM, latency=latency)
    left = model.world.log.records().rows
    assert len(left) == 200
    local = left[left["origin"] != ANYWHERE]
    assert bool(len(local)) == (share > 0)
    fits = local["size"] <= np.array(SIZES)[local["origin"]]
    assert (local["cluster"] == local["origin"])[fits].all()
    assert np.isnan(local["start"][~fits]).all()
    elsewhere = left[left["origin"] == ANYWHERE]
    assert np.isfinite(elsewhere["start"]).all()
    if not share:
        alike = ran("dll", "easy", jobs, FAR if latency else PLATFORM, latency=latency)
        assert alike.world.log.records().rows.tobytes() == left.tobytes()


def plain_book(free, size, now, time):
    """Return the end of a job on the processors first free, and the book with it."""
    first = sorted(free)
    end = max(now, first[size - 1]) + time
    return end, [end] * size + first[size:]


@pytest.mark.parametrize(("latency", "share"), CASES)
def test_ect_sends_to_the_earliest_completion(latency, share):
    jobs = workload(count=200, rate=0.8, share=share)
    model = ran("ect", "fcfs", jobs, FAR if latency else PLATFORM, latency=latency)
    books = [[0.0] * size for size in SIZES]
    for now, job in decisions(model):
        outcomes = {
            c: plain_book(books[c], job["size"], now, job["runtime"] / RATES[c])
            for c in fitting(job)
        }
        chosen = min(outcomes, key=lambda c: outcomes[c][0])
        assert job["cluster"] == chosen
        end, books[chosen] = outcomes[chosen]
        if latency == 0.0:
            assert job["finish"] == end  # its book comes true, to the bit


def test_ect_forgets_its_book_of_a_cluster_where_nothing_is_left():
    """Job 1 is expected to run for 1,000 s and runs for 10; the slow cluster is no better then."""
    jobs = table((0, 8, 10.0), (100, 8, 1000.0))
    jobs.jobs["requested_time"] = 1000.0
    platform = Platform.star([8, 8], [1.0, 0.6])
    model = ran("ect", "fcfs", jobs, platform, prediction="requested")
    assert done(model)["cluster"].tolist() == [0, 0]
    meanwhile = table((0, 8, 10.0), (5, 8, 1000.0))
    meanwhile.jobs["requested_time"] = 1000.0
    assert done(ran("ect", "fcfs", meanwhile, platform, prediction="requested"))[
        "cluster"
    ].tolist() == [0, 1]


@pytest.mark.parametrize("global_", ["ect", "greenest"])
@pytest.mark.parametrize("what", ["join", "drain", "fail"])
def test_no_book_counts_on_processors_that_are_away(global_, what):
    """Three that never come, or go before the first job, are as if they were none."""
    at, until = (1e9, math.inf) if what == "join" else (0.0, math.inf)
    change = Change("C1", what, at, until, 3)
    with_them = replace(Platform.star([11, 6, 4], RATES), changes=(change,))
    jobs, starts = workload(count=150, rate=0.8), []
    for platform in (PLATFORM, with_them):
        model = ran(global_, "fcfs", jobs, platform)
        starts.append(done(model)[["number", "cluster", "start"]].tolist())
    assert SIZES == (8, 6, 4)
    assert starts[0] == starts[1]


def test_processors_that_come_back_are_free_in_the_book():
    change = Change("C1", "drain", 5.0, 50.0, 4)
    platform = replace(Platform.star([8, 8], [1.0, 0.1]), changes=(change,))
    model = ran("ect", "fcfs", table((0, 4, 100.0), (10, 4, 60.0), (60, 4, 10.0)), platform)
    found = done(model)
    assert found["cluster"].tolist() == [0, 0, 0]
    assert found["start"].tolist() == [0.0, 50.0, 100.0]


def test_the_book_of_ect_is_kept_in_order():
    model = model_of("ect", "fcfs", workload(count=200, rate=2.0), interval=5.0)
    assert isinstance(model.scheduler, EarliestCompletionScheduler)
    while model.running:
        model.step()
        for c, book in enumerate(model.scheduler._free_at):
            assert len(book) == SIZES[c]
            assert (np.diff(book) >= 0).all()


@pytest.mark.parametrize("global_", ["dll", "wrand", "round-robin", "ect"])
def test_each_decides_the_moment_a_job_is_known_and_asks_nothing_twice(global_):
    jobs = workload(count=100, rate=2.0, share=0.5)
    model = ran(global_, "fcfs", jobs, FAR, latency=0.5)
    sent = model.world.messages
    origins = done(model)["origin"]
    clusters = done(model)["cluster"]
    local = origins != ANYWHERE
    assert sent["submission"] == 100
    assert sent["metadata"] == sent["order"] == local.sum()
    assert sent["transfer"] == (origins != clusters).sum()
    assert model.world.state.waiting[-1] == 0
