"""A job's way through: started on one cluster or several, and taken off at its end."""

from __future__ import annotations

from typing import Any

import numpy as np

from grid.kernel.advertisements import learn_done
from grid.kernel.bandwidth import find_overdue, overdue_at, set_demand, slide
from grid.kernel.compile import inlined, part
from grid.kernel.distance import lag, stage
from grid.kernel.events import schedule
from grid.kernel.execution_times import execution_time, predicted_time
from grid.kernel.lifecycle.arrival import take_in
from grid.kernel.lifecycle.departure import record, vacate
from grid.kernel.policies.policy_view import change_work
from grid.kernel.processors import ask_for_plan, have_served, hold, release
from grid.kernel.queueing.fair_share import charge_end, charge_start, leave_head
from grid.kernel.queueing.global_queue import leave_line, offer_again, overtake
from grid.kernel.queueing.queues import first
from grid.kernel.queueing.releases import keep_in_order
from grid.kernel.queueing.visiting import note_placement, note_release
from grid.kernel.state import AT_ENDS, COALLOCATED, EASY, END, NONE, OVERDUE, RUNNING, State
from grid.kernel.statistics import count_completion, let_time_pass
from grid.kernel.tables import Tables


@inlined
def start_waiting(state: State, tables: Tables, cluster: int) -> None:
    """Start jobs from the head of a cluster's queue while they fit."""
    slots = tables.slots
    while state.root[cluster] != NONE:
        job = first(state, slots, cluster)
        slot = slots[job]
        if slot.size > state.free[cluster] or (state.planned[cluster] > 0 and slot.key == np.inf):
            break
        leave_head(state, slots, tables.by_size, cluster, job)
        start(state, tables, job)


@inlined
def _end_at(state: State, events: Any, slot: Any, job: int, end: float, expected: float) -> None:
    """Have a job that starts now end at a time (s) that nothing will change.

    Whoever relies on when it was expected to end (s) learns first that it does not. If the time is
    infinity, somebody outside says when it ends (`grid.world.jobs.Jobs.end`).
    """
    slot.end = end
    overruns = state.relied_on == 1 and state.now < expected < end
    if overruns or end < np.inf:
        time, kind = (expected, OVERDUE) if overruns else (end, END)
        slot.end_event = events[schedule(state, events, time, kind, job)].turn


@inlined
def _serve_without(state: State, tables: Tables, slot: Any) -> None:
    """Have queues served that rely on a job to have ended by now, which runs on."""
    if slot.status == RUNNING:
        have_served(state, slot.cluster)
    else:
        take = tables.sliding[slot.sliding].take
        for cluster in range(state.clusters):
            if take[cluster] > 0:
                have_served(state, cluster)
    if state.most_reservations > 0:
        offer_again(state)


@part
def run_over(state: State, tables: Tables, job: int) -> None:
    """Have a job run for longer than it was expected to, to an end that nothing will change."""
    slot = tables.slots[job]
    if slot.end < np.inf:
        slot.end_event = tables.events[schedule(state, tables.events, slot.end, END, job)].turn
    _serve_without(state, tables, slot)


@part
def run_over_with_parts(state: State, tables: Tables) -> None:
    """Have jobs with sliding ends run for longer than they were expected to."""
    for index in range(state.sliding):
        slot = tables.slots[tables.sliding[index].job]
        if overdue_at(slot) == state.sliding_overdue:
            _serve_without(state, tables, slot)
    find_overdue(state, tables.slots, tables.sliding)


@inlined
def start(state: State, tables: Tables, job: int) -> None:
    """Start a job on the cluster that it was sent to."""
    slots, slot = tables.slots, tables.slots[job]
    cluster = slot.cluster
    hold(state, tables, cluster, job, slot.size)
    slot.status = RUNNING
    slot.start = state.now
    charge_start(state, slot, cluster, slot.size)
    end, expected = state.now + slot.execution_time, state.now + slot.predicted_time
    _end_at(state, tables.events, slot, job, end, expected)
    slot.previous = NONE
    slot.next = state.running[cluster]
    if slot.next != NONE:
        slots[slot.next].previous = job
    state.running[cluster] = job
    state.running_count[cluster] += 1
    let_time_pass(state)
    state.started += 1
    state.foreseen = 0  # as who waited in the queue of a cluster was not
    if state.service[cluster] >= EASY:
        keep_in_order(state, slots, job)


@inlined
def start_outside(state: State, tables: Tables, row: Any, cluster: int) -> int:
    """Take in a job that somebody outside has started on a cluster, now; return its slot."""
    job = take_in(state, tables.slots, row)
    slot = tables.slots[job]
    state.serial += 1
    slot.serial = state.serial
    slot.cluster = cluster
    slot.placed = 1
    slot.staging = 0.0
    slot.execution_time = execution_time(state, slot, cluster)
    slot.predicted_time = predicted_time(state, tables.slots, job, cluster)
    _expect(state, slot, cluster, slot.size)
    start(state, tables, job)
    return job


@inlined
def reckon(state: State, slots: Any, job: int) -> tuple[int, int, float]:
    """Work out the times of a job where `known.take` puts it.

    Returns its parts, the last cluster with one, and how long it runs, s, but for staging and for
    what links make of it.
    """
    slot = slots[job]
    parts, last, longest, expected = 0, 0, 0.0, 0.0
    for cluster in range(state.clusters):
        if state.known.take[cluster] > 0:
            parts += 1
            last = cluster
            longest = max(longest, execution_time(state, slot, cluster))
            expected = max(expected, predicted_time(state, slots, job, cluster))
    slot.execution_time, slot.predicted_time = longest, expected
    time = slot.execution_time * (state.penalty if state.penalty > 0.0 else 1.0)
    if state.stages == 1:
        slot.staging = 0.0
        for cluster in range(state.clusters):
            if state.known.take[cluster] > 0:
                stage(state, slot, cluster)
    return parts, last, time


@inlined
def residual(state: State, slot: Any, time: float) -> tuple[float, float]:
    """Return how long a job that is split so, and runs for `time` (s), computes and communicates.

    Where no link is saturated.
    """
    computation = time * slot.computation_fraction
    communication = time - computation
    if state.message_rate > 0.0 and state.penalty == 0.0:
        computation += communication * lag(state)
    return computation, communication


@inlined
def start_as_taken(state: State, tables: Tables, job: int) -> None:
    """Start a job of the global queue on the processors that `known.take` names."""
    slot = tables.slots[job]
    overtake(state, tables.slots, job)
    leave_line(state, tables.slots, job)
    if state.visits == 1:
        note_placement(state, slot)
    parts, last, time = reckon(state, tables.slots, job)
    slot.placed = 1
    if parts == 1:
        slot.cluster = last
        state.profile_of = NONE  # no reservation there knew of it
        _expect(state, slot, last, slot.size)
        start(state, tables, job)
    else:
        _start_parts(state, tables, job, time)


@inlined
def _expect(state: State, slot: Any, cluster: int, count: int) -> None:
    """Count a job that starts on `count` processors of a cluster as work of the cluster."""
    work = slot.predicted_time * count
    change_work(state.known, cluster, work)
    state.left[cluster] += work
    state.known.unfinished[cluster] += 1


@inlined
def _start_parts(state: State, tables: Tables, job: int, time: float) -> None:
    """Start a job on several clusters, where it runs for `time` (s) unless links are saturated."""
    slot, row = tables.slots[job], tables.sliding[state.sliding]
    slot.sliding = state.sliding
    state.sliding += 1
    slot.status = COALLOCATED
    slot.cluster = NONE
    slot.start = state.now
    row.job = job
    row.turn = state.started
    row.since = state.now + slot.staging
    row.ratio = row.allotted = 1.0
    row.end = np.inf
    row.computation_left, row.communication_left = residual(state, slot, time)
    for cluster in range(state.clusters):
        count = state.known.take[cluster]
        row.take[cluster] = count
        if count > 0:
            _expect(state, slot, cluster, count)
            state.running_count[cluster] += 1
            hold(state, tables, cluster, job, count)
            charge_start(state, slot, cluster, count)
    if state.penalty > 0.0:
        end = row.since + row.computation_left + row.communication_left
        expected = end + (slot.predicted_time - slot.execution_time)
        _end_at(state, tables.events, slot, job, end, expected)
    else:
        set_demand(state, row, slot.size, slot.ppbw)
        slide(state, tables.slots, tables.sliding, True)
    let_time_pass(state)
    state.started += 1


@inlined
def _leave_cluster(
    state: State, tables: Tables, cluster: int, job: int, count: int, keeps: bool
) -> None:
    """Take a job off `count` processors of a cluster, which keeps it or is through with it."""
    release(state, tables, cluster, job, count)
    if state.planned[cluster] == AT_ENDS:
        ask_for_plan(state, cluster)
    charge_end(state, tables.slots[job], cluster, count)
    state.running_count[cluster] -= 1
    if keeps:
        return
    work = tables.slots[job].predicted_time * count
    state.left[cluster] -= work
    learn_done(state, cluster, work)


@part
def take_off(state: State, tables: Tables, job: int, keeps: bool) -> None:
    """Take a running job off all its processors; its cluster may keep it, to start it again."""
    slots, slot = tables.slots, tables.slots[job]
    if slot.status == RUNNING:
        if slot.previous == NONE:
            state.running[slot.cluster] = slot.next
        else:
            slots[slot.previous].next = slot.next
        if slot.next != NONE:
            slots[slot.next].previous = slot.previous
        _leave_cluster(state, tables, slot.cluster, job, slot.size, keeps)
    else:
        _take_off_parts(state, tables, job)


@inlined
def _take_off_parts(state: State, tables: Tables, job: int) -> None:
    """Take a co-allocated job off its clusters."""
    sliding, index = tables.sliding, tables.slots[job].sliding
    take = sliding[index].take
    for cluster in range(state.clusters):
        if take[cluster] > 0:
            _leave_cluster(state, tables, cluster, job, take[cluster], False)
            state.mispredicted[cluster] = 1  # no plan knew of it
    state.mispredicted_any = state.notify
    state.sliding -= 1
    sliding[index] = sliding[state.sliding]
    tables.slots[sliding[index].job].sliding = index
    if state.penalty == 0.0:
        slide(state, tables.slots, sliding, False)


@inlined
def known_at_once(state: State, cluster: int) -> None:
    """Have jobs offered again if the global scheduler knows what changed on a cluster."""
    if state.at_once[cluster] == 1:
        offer_again(state)


@inlined
def _split_of(state: State, splits: Any, sliding: Any, slot: Any) -> int:
    """Have the clusters of a job that ends known; return its row among the splits, or NONE."""
    if slot.status != COALLOCATED:
        return NONE
    take = sliding[slot.sliding].take
    for cluster in range(state.clusters):
        if take[cluster] > 0:
            known_at_once(state, cluster)
    if state.recording == 0:
        return NONE
    split = state.splits
    state.splits += 1
    for cluster in range(state.clusters):
        splits[split, cluster] = take[cluster]
    return int(split)


@part
def complete(state: State, tables: Tables, job: int) -> None:
    """End a job that ran to completion."""
    slot = tables.slots[job]
    if state.visits == 1:
        note_release(state, slot)
    count_completion(state, slot, slot.status == COALLOCATED)
    split = _split_of(state, tables.splits, tables.sliding, slot)
    take_off(state, tables, job, False)
    record(state, tables, job, split, slot.start, state.now)
    if slot.cluster != NONE:
        state.done[slot.cluster] += 1
        if slot.predicted_time != slot.execution_time:
            state.mispredicted[slot.cluster] = 1
            state.mispredicted_any = state.notify
        known_at_once(state, slot.cluster)
    vacate(state, tables.slots, job)
    state.completed += 1
