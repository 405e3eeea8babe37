"""The main loop and backfilling, on cases by hand and against what must hold."""

from __future__ import annotations

import math

import numpy as np

from agents.slurm.backfill import Space, backfill, serve_in_order
from agents.slurm.conf import Partition, Scheduling
from agents.slurm.nodes import Occupied
from agents.slurm.preemption import Room
from agents.slurm.qos import InUse
from agents.slurm.waiting import Waiting, hindrance

MAIN = Partition("main")
DEFAULTS = Scheduling()


def job(slot, size, limit, partition=MAIN, nodes=4, user=0, priority=0, since=0.0, mask=None):
    mask = np.ones(nodes, bool) if mask is None else np.array(mask, bool)
    waiting = Waiting(slot, size, limit, user, partition, mask, since, priority)
    return waiting._replace(hindrance=hindrance(waiting, ran_over=False, lacking=""))


def there(free, jobs=(), now=0.0):
    ends = np.array([end for end, _ in jobs], float)
    held = np.array([counts for _, counts in jobs], int).reshape(-1, len(free))
    return Occupied(now, np.array(free), np.ones(len(free), int), ends, held, 0.0)


def space(nodes=4, now=0.0):
    return Space(now, now + DEFAULTS.bf_window, nodes)


def slots(started):
    return [each.slot for each, _ in started]


def main_loop(jobs, occupied, depth=100, options=DEFAULTS):
    spaces = space(len(occupied.free))
    return slots(
        serve_in_order(jobs, occupied, spaces, InUse(()), options, depth, no_room(occupied))
    )


def no_room(occupied):
    return Room(None, (), occupied, InUse(()))


def filled(jobs, occupied, options=DEFAULTS, reserved=None):
    spaces = reserved or space(len(occupied.free))
    found, following = backfill(jobs, occupied, spaces, InUse(()), options, no_room(occupied))
    return slots(found), following


def test_main_loop_ends_at_the_first_job_that_does_not_fit():
    jobs = [job(0, 1, 60), job(1, 4, 60), job(2, 1, 60)]
    assert main_loop(jobs, there([1, 1, 1, 1])) == [0]


def test_main_loop_goes_on_in_partitions_of_other_nodes():
    left, right = Partition("left"), Partition("right")
    jobs = [
        job(0, 3, 60, left, mask=[1, 1, 0, 0]),
        job(1, 1, 60, left, mask=[1, 1, 0, 0]),
        job(2, 1, 60, mask=[1, 1, 1, 0]),
        job(3, 1, 60, right, mask=[0, 0, 1, 1]),
    ]
    assert main_loop(jobs, there([1, 1, 0, 1])) == [3]
    assert main_loop(jobs, there([1, 1, 1, 1])) == [2, 3]


def test_jobs_beyond_limits_hold_nobody_back():
    short, down = Partition("short", max_time=60), Partition("down", up=False)
    jobs = [job(0, 1, 120, short), job(1, 9, 60, down), job(2, 1, 60)]
    assert main_loop(jobs, there([1, 1, 1, 1])) == [2]
    assert filled(jobs, there([1, 1, 1, 1])) == ([2], math.inf)


def test_depths_and_most_starts():
    jobs = [job(slot, 1, 60) for slot in range(4)]
    assert main_loop(jobs, there([1] * 4), depth=2) == [0, 1]
    assert main_loop(jobs, there([1] * 4), options=Scheduling(sched_max_job_start=1)) == [0]
    assert main_loop(jobs, there([1] * 4), options=Scheduling(partition_job_depth=3)) == [0, 1, 2]
    assert filled(jobs, there([1] * 4), Scheduling(bf_max_job_test=2))[0] == [0, 1]
    assert filled(jobs, there([1] * 4), Scheduling(bf_max_job_start=3))[0] == [0, 1, 2]


def test_most_jobs_of_a_user():
    jobs = [job(0, 1, 60, user=1), job(1, 1, 60, user=1), job(2, 1, 60, user=2)]
    for name in ("bf_max_job_user", "bf_max_job_user_part"):
        assert filled(jobs, there([1] * 4), Scheduling(**{name: 1}))[0] == [0, 2]
    assert filled(jobs, there([1] * 4), Scheduling(bf_max_job_part=2))[0] == [0, 1]


def test_backfilling_delays_no_reservation():
    running = [(600.0, [1, 1, 1, 0])]
    jobs = [job(0, 4, 600), job(1, 1, 660), job(2, 1, 540)]
    assert filled(jobs, there([0, 0, 0, 1], running)) == ([2], 600)


def test_whole_nodes_are_reserved():
    # The first waits for 5 of 8 processors on two nodes, from 600 s on; so both are reserved.
    running = [(600.0, [4, 3])]
    jobs = [job(0, 5, 600, nodes=2), job(1, 1, 1200, nodes=2)]
    assert filled(jobs, there([0, 1], running)) == ([], 600)


def test_reservations_are_rounded_to_the_resolution():
    running = [(630.0, [1, 1, 0])]
    jobs = [job(0, 3, 60, nodes=3), job(1, 1, 599, nodes=3), job(2, 1, 660, nodes=3)]
    assert filled(jobs[::2], there([0, 0, 1], running), Scheduling(bf_resolution=60))[0] == []
    assert filled(jobs, there([0, 0, 1], running), Scheduling(bf_resolution=60))[0] == [1]
    nearly = [jobs[0], job(3, 1, 620, nodes=3)]
    assert filled(nearly, there([0, 0, 1], running), Scheduling(bf_resolution=60))[0] == []
    assert filled(nearly, there([0, 0, 1], running), Scheduling(bf_resolution=1))[0] == [3]


def test_jobs_that_hold_nobody_back():
    running = [(600.0, [1, 1, 1, 0])]
    jobs = [job(0, 4, 600, priority=5, since=-10.0), job(1, 1, 6000)]
    for options in (
        Scheduling(bf_min_prio_reserve=6),
        Scheduling(bf_min_age_reserve=11),
        Scheduling(bf_window=300),
    ):
        assert filled(jobs, there([0, 0, 0, 1], running), options)[0] == [1]
    assert filled(jobs, there([0, 0, 0, 1], running), Scheduling(bf_min_age_reserve=10))[0] == []
    assert main_loop(jobs, there([0, 0, 0, 1]), options=Scheduling(bf_min_prio_reserve=6)) == [1]


def test_only_the_first_of_a_partition_reserve():
    running = [(600.0, [1, 1, 1, 0])]
    jobs = [job(0, 2, 600), job(1, 4, 600), job(2, 1, 1500)]
    # The first has node 0 and 3 from now on but waits for one; the second all after it.
    assert filled(jobs, there([0, 0, 0, 1], running))[0] == []
    options = Scheduling(bf_job_part_count_reserve=1)
    free, _ = filled(jobs, there([0, 0, 0, 1], running), options)
    assert free == [2]


def test_maintenance():
    closed = space()
    closed.reserve(500.0, 900.0, np.array([True, True, False, False]))
    jobs = [job(0, 4, 600), job(1, 2, 600)]
    free = there([1] * 4)
    started = serve_in_order(jobs[1:], free, closed, InUse(()), DEFAULTS, 9, no_room(free))
    assert [alloc.tolist() for _, alloc in started] == [[0, 0, 1, 1]]
    assert filled(jobs[:1], there([1] * 4), reserved=closed) == ([], 900)


def test_backfilling_holds_no_processor_twice():
    random = np.random.default_rng(3)
    for _ in range(300):
        sizes = random.integers(1, 5, 4)
        held = [random.integers(0, sizes + 1)]
        running = there(sizes - held[0], [(float(random.integers(1, 2000)), held[0])])
        jobs = [
            job(slot, int(random.integers(1, 1 + sizes.sum())), 60.0 * int(random.integers(1, 30)))
            for slot in range(12)
        ]
        before = running.free.copy()
        started, following = backfill(jobs, running, space(), InUse(()), DEFAULTS, no_room(running))
        used = sum((alloc for _, alloc in started), np.zeros(4, int))
        assert (used + running.free == before).all()
        assert (running.free >= 0).all()
        assert all(alloc.sum() == each.size for each, alloc in started)
        assert following > 0
        first = jobs[0]  # nobody goes before it that it could not start beside
        if first.slot not in slots(started):
            alone = there(sizes - held[0], [(float(running.ends.max()), held[0])])
            assert alone.fits(first.mask, first.size, 1, math.inf) is None
