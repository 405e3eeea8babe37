"""One job's way: submitted, known, sent, landed, started, and out by the end or a failure."""

from __future__ import annotations

from typing import Any

import numpy as np

from grid.jobs import ANYWHERE
from grid.kernel.bandwidth import set_demand, slide
from grid.kernel.compile import inlined, part
from grid.kernel.events import schedule
from grid.kernel.processors import (
    ask_for_plan,
    bring_up,
    hold,
    release,
    take_down,
    touch,
)
from grid.kernel.queues import first, join, leave
from grid.kernel.state import (
    ADVERTISED,
    ADVERTISEMENT,
    ANNOUNCED,
    COALLOCATED,
    DOWN,
    END,
    FREE,
    GLOBAL,
    LANDING,
    LOCAL,
    METADATA,
    METADATA_SENT,
    NONE,
    ORDER,
    RUNNING,
    SUBMISSION,
    TRANSFER,
    TRANSFER_SENT,
    TRANSIT,
    VACANT,
)


@inlined
def _vacate(state: Any, slots: Any, job: int) -> None:
    slots[job].status = VACANT
    slots[job].next = state.vacant
    state.vacant = job
    state.live -= 1


@inlined
def _record(state: Any, slots: Any, finished: Any, job: int, start: float, finish: float) -> None:
    """Write the row of a job that leaves."""
    slot = slots[job]
    row = finished[state.finished]
    state.finished += 1
    row.number = slot.number
    row.arrival = slot.arrival
    row.size = slot.size
    row.runtime = slot.runtime
    row.deadline = slot.deadline
    row.start = start
    row.finish = finish
    row.execution_time = slot.execution_time
    row.origin = slot.origin
    row.restarts = slot.restarts
    row.cluster = slot.cluster


@part
def submit(state: Any, slots: Any, events: Any, finished: Any, row: Any) -> None:
    """Take a row of the workload into the grid, at its arrival."""
    job = state.vacant
    slot = slots[job]
    state.vacant = slot.next
    state.live += 1
    state.submitted += 1
    state.messages[SUBMISSION] += 1
    slot.number = row.number
    slot.arrival = row.arrival
    slot.size = row.size
    slot.runtime = row.runtime
    slot.deadline = row.deadline
    slot.requested_time = row.requested_time
    slot.origin = row.origin
    slot.request = row.request
    for index in range(len(slot.components)):
        slot.components[index] = row.components[index]
    slot.computation_fraction = row.computation_fraction
    slot.ppbw = row.ppbw
    slot.cluster = NONE
    slot.execution_time = np.nan
    slot.restarts = 0
    slot.placed = 0
    slot.first_processor = NONE
    slot.first_turn = NONE
    slot.turns_due = 0
    if slot.size > state.largest:
        state.rejected += 1
        _record(state, slots, finished, job, np.nan, np.nan)
        _vacate(state, slots, job)
        return
    if slot.origin != ANYWHERE:
        # Submitted through a cluster's local scheduler: its broker tells the global one.
        state.messages[METADATA_SENT] += 1
        delay = state.latency[slot.origin]
        if delay > 0.0:
            slot.status = ANNOUNCED
            state.in_flight += 1
            schedule(state, events, state.now + delay, METADATA, job)
            return
    become_known(state, slots, job)


@inlined
def become_known(state: Any, slots: Any, job: int) -> None:
    """Put a job into the global queue and have the global scheduler asked about it."""
    slot = slots[job]
    queue = len(state.take)
    blocked = state.stop_at_wait == 1 and state.waiting[queue] > 0
    if slot.restarts == 0:
        state.serial += 1
        slot.serial = state.serial
    slot.key = 0.0
    slot.status = GLOBAL
    join(state, slots, queue, job)
    if state.collect == 1:
        state.collected += 1
    elif state.cursor == NONE and not blocked:
        state.cursor = job


@part
def send(state: Any, slots: Any, events: Any, job: int, cluster: int) -> None:
    """Send a job from the global queue to the local scheduler of a cluster."""
    slot = slots[job]
    leave(state, slots, len(state.take), job)
    slot.cluster = cluster
    slot.execution_time = slot.runtime / state.rate[cluster]
    state.load[cluster] += slot.execution_time * slot.size
    state.unfinished[cluster] += 1
    delay = state.latency[cluster]
    if slot.origin == ANYWHERE:
        state.messages[TRANSFER_SENT] += 1
    else:
        # The job's data are with its origin, which is told to transfer them.
        state.messages[ORDER] += 1
        if slot.origin != cluster:
            state.messages[TRANSFER_SENT] += 1
            delay += 2.0 * state.latency[slot.origin]
    if delay > 0.0:
        slot.status = TRANSIT
        state.in_flight += 1
        schedule(state, events, state.now + delay, TRANSFER, job)
    else:
        land(state, slots, job)


@inlined
def land(state: Any, slots: Any, job: int) -> None:
    """Queue a job for its rank at the cluster that it was sent to."""
    slots[job].status = LANDING
    slots[job].next = NONE
    if state.landing_first == NONE:
        state.landing_first = job
    else:
        slots[state.landing_last].next = job
    state.landing_last = job


@inlined
def enqueue(state: Any, slots: Any, job: int, key: float) -> None:
    """Put a landed job, the first in line, into its cluster's queue with the rank given."""
    slot = slots[job]
    cluster = slot.cluster
    state.landing_first = slot.next
    if slot.restarts == 0:
        state.serial += 1
        slot.serial = state.serial
    slot.key = key
    slot.status = LOCAL
    join(state, slots, cluster, job)
    touch(state, cluster)
    ask_for_plan(state, cluster)


@inlined
def start_waiting(
    state: Any, slots: Any, events: Any, processors: Any, turns: Any, cluster: int
) -> None:
    """Start jobs from the head of a cluster's queue while they fit."""
    while state.waiting[cluster] > 0:
        job = first(state, slots, cluster)
        slot = slots[job]
        if slot.key == np.inf or slot.size > state.free[cluster]:
            break
        leave(state, slots, cluster, job)
        start(state, slots, events, processors, turns, job)


@part
def start(state: Any, slots: Any, events: Any, processors: Any, turns: Any, job: int) -> None:
    """Start a job on the cluster that it was sent to."""
    slot = slots[job]
    cluster = slot.cluster
    hold(state, slots, processors, turns, cluster, job, slot.size)
    slot.status = RUNNING
    slot.start = state.now
    slot.end = state.now + slot.execution_time
    at = schedule(state, events, slot.end, END, job)
    slot.end_event = events[at].serial
    slot.previous = NONE
    slot.next = state.running[cluster]
    if slot.next != NONE:
        slots[slot.next].previous = job
    state.running[cluster] = job
    state.running_count[cluster] += 1
    state.started += 1


@part
def start_as_taken(
    state: Any, slots: Any, events: Any, processors: Any, turns: Any, sliding: Any, job: int
) -> None:
    """Start a job of the global queue on the processors that `state.take` names."""
    slot = slots[job]
    leave(state, slots, len(state.take), job)
    parts, last, rate = 0, 0, np.inf
    for cluster in range(state.clusters):
        if state.take[cluster] > 0:
            parts += 1
            last = cluster
            rate = min(rate, state.rate[cluster])
    slot.execution_time = slot.runtime / rate
    slot.placed = 1
    if parts == 1:
        slot.cluster = last
        state.load[last] += slot.execution_time * slot.size
        state.unfinished[last] += 1
        start(state, slots, events, processors, turns, job)
        return
    row = sliding[state.sliding]
    slot.sliding = state.sliding
    state.sliding += 1
    slot.status = COALLOCATED
    slot.cluster = NONE
    slot.start = state.now
    row.job = job
    row.since = state.now
    row.ratio = 1.0
    row.end = np.inf
    row.computation_left = slot.execution_time * slot.computation_fraction
    row.communication_left = slot.execution_time - row.computation_left
    for cluster in range(state.clusters):
        count = state.take[cluster]
        row.take[cluster] = count
        if count > 0:
            state.load[cluster] += slot.execution_time * count
            state.unfinished[cluster] += 1
            state.running_count[cluster] += 1
            hold(state, slots, processors, turns, cluster, job, count)
    set_demand(state, row, slot.size, slot.ppbw)
    slide(state, slots, sliding)
    state.started += 1


@inlined
def learn_finished(state: Any, cluster: int, work: float, jobs: int) -> None:
    """Let the global broker know of work that a cluster is through with."""
    state.load[cluster] -= work
    state.unfinished[cluster] -= jobs
    if state.unfinished[cluster] == 0:
        state.load[cluster] = 0.0  # whatever rounding left


@inlined
def learn(
    state: Any, cluster: int, time: float, work: float, jobs: int, free: int, waiting: int
) -> None:
    """Let the global broker know what a cluster's broker said at `time`."""
    learn_finished(state, cluster, work, jobs)
    state.known_free[cluster] = free
    state.known_waiting[cluster] = waiting
    state.known_at[cluster] = time


@inlined
def _part(
    state: Any,
    slots: Any,
    processors: Any,
    turns: Any,
    cluster: int,
    job: int,
    count: int,
    keeps: bool,
) -> None:
    """Take a job off `count` processors of a cluster, which keeps it or is through with it."""
    release(state, slots, processors, turns, cluster, job, count)
    state.running_count[cluster] -= 1
    if keeps:
        return
    work = slots[job].execution_time * count
    if state.latency[cluster] > 0.0:
        state.finished_work[cluster] += work
        state.finished_jobs[cluster] += 1
    else:
        learn_finished(state, cluster, work, 1)


@part
def take_off(
    state: Any,
    slots: Any,
    processors: Any,
    turns: Any,
    sliding: Any,
    finished: Any,
    job: int,
    keeps: bool,
) -> None:
    """Take a running job off all its processors; its cluster may keep it, to start it again.

    The next row of `finished` gets the placement of a co-allocated job.
    """
    slot = slots[job]
    if slot.status == RUNNING:
        if slot.previous == NONE:
            state.running[slot.cluster] = slot.next
        else:
            slots[slot.previous].next = slot.next
        if slot.next != NONE:
            slots[slot.next].previous = slot.previous
        _part(state, slots, processors, turns, slot.cluster, job, slot.size, keeps)
        return
    take = sliding[slot.sliding].take
    for cluster in range(state.clusters):
        finished[state.finished].take[cluster] = take[cluster]
        if take[cluster] > 0:
            _part(state, slots, processors, turns, cluster, job, take[cluster], False)
    # Rows stay in order of start, which settles ties.
    state.sliding -= 1
    for index in range(slot.sliding, state.sliding):
        sliding[index] = sliding[index + 1]
        slots[sliding[index].job].sliding = index
    slide(state, slots, sliding)


@inlined
def offer_again(state: Any, slots: Any) -> None:
    """Have every job of the global queue offered again, from its head."""
    if state.collect == 0:
        state.cursor = first(state, slots, len(state.take))


@part
def complete(
    state: Any, slots: Any, processors: Any, turns: Any, sliding: Any, finished: Any, job: int
) -> None:
    """End a job that ran to completion."""
    slot = slots[job]
    take_off(state, slots, processors, turns, sliding, finished, job, False)
    _record(state, slots, finished, job, slot.start, state.now)
    if slot.cluster != NONE:
        state.done[slot.cluster] += 1
    _vacate(state, slots, job)
    state.completed += 1
    offer_again(state, slots)


@part
def fail(
    state: Any, slots: Any, processors: Any, turns: Any, sliding: Any, finished: Any, processor: int
) -> None:
    """Fail a processor; the job on it goes back to the queue that it was started from."""
    job = processors[processor].holder
    if job == DOWN:
        return
    if job != FREE:
        slot = slots[job]
        take_off(state, slots, processors, turns, sliding, finished, job, slot.placed == 0)
        slot.end_event = NONE
        slot.restarts += 1
        state.restarted += 1
        if slot.placed == 1:
            slot.cluster = NONE
            become_known(state, slots, job)
        else:
            land(state, slots, job)
    take_down(state, slots, processors, turns, processor)
    offer_again(state, slots)


@part
def repair(state: Any, slots: Any, processors: Any, turns: Any, processor: int) -> None:
    """Bring a failed processor back."""
    if processors[processor].holder == DOWN:
        bring_up(state, slots, processors, turns, processor)
        offer_again(state, slots)


@inlined
def advertise(state: Any, events: Any, cluster: int) -> None:
    """Have a cluster's broker tell the global one what changed at this instant."""
    work, jobs = state.finished_work[cluster], state.finished_jobs[cluster]
    free, waiting = state.free[cluster], state.waiting[cluster]
    state.finished_work[cluster] = 0.0
    state.finished_jobs[cluster] = 0
    state.messages[ADVERTISED] += 1
    delay = state.latency[cluster]
    if delay > 0.0:
        state.in_flight += 1
        at = schedule(state, events, state.now + delay, ADVERTISEMENT, cluster)
        events[at].work = work
        events[at].jobs = jobs
        events[at].free = free
        events[at].waiting = waiting
    else:
        learn(state, cluster, state.now, 0.0, 0, free, waiting)
