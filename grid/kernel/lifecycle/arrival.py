"""A job's way in: submitted, known to the global scheduler, sent to a cluster, landed, queued."""

from __future__ import annotations

from typing import Any

import numpy as np

from grid.jobs import ANYWHERE
from grid.kernel.advertisements import learn_returned, news_of, repeated
from grid.kernel.compile import inlined, part
from grid.kernel.distance import stage
from grid.kernel.events import schedule
from grid.kernel.execution_times import execution_time, predicted_time, room_for
from grid.kernel.lifecycle.departure import reject
from grid.kernel.policies.policy_view import change_work
from grid.kernel.processors import ask_for_plan, touch
from grid.kernel.queueing.fair_share import in_lines, line_up
from grid.kernel.queueing.global_queue import join_line, leave_line, offer, offer_again, overtake
from grid.kernel.queueing.queues import join
from grid.kernel.queueing.visiting import queue_of
from grid.kernel.state import (
    ANNOUNCED,
    ASKED,
    DUE,
    GLOBAL,
    LANDING,
    LOCAL,
    METADATA,
    METADATA_SENT,
    NONE,
    ORDER,
    REQUESTED,
    SUBMISSION,
    TIMED,
    TRANSFER,
    TRANSFER_SENT,
    TRANSIT,
    State,
)
from grid.kernel.statistics import count_arrival
from grid.kernel.tables import Tables


@inlined
def next_arrival(state: State, chunk: Any) -> float:
    """Return when the next job arrives, s: as the workload says, or when the backlog has room."""
    if state.fed == state.chunk_length:
        return np.inf
    if state.backlog == 0:
        return float(chunk[state.fed].arrival)
    return float(state.now if state.waiting[len(state.free)] < state.backlog else np.inf)


@inlined
def take_in(state: State, slots: Any, row: Any) -> int:
    """Give a row of the workload a slot, which is returned."""
    job = state.vacant
    slot = slots[job]
    state.vacant = slot.next
    state.live += 1
    state.submitted += 1
    count_arrival(state)
    slot.number = row.number
    slot.submission = state.submitted
    slot.arrival = row.arrival if state.backlog == 0 else state.now
    slot.size = row.size
    slot.runtime = row.runtime
    slot.predicted_runtime = row.runtime
    if state.predicting == ASKED:
        slot.predicted_runtime = state.answer
        state.answered = 0
    elif state.predicting == REQUESTED:
        slot.predicted_runtime = row.requested_time
    slot.deadline = row.deadline
    slot.requested_time = row.requested_time
    slot.origin = row.origin
    slot.request = row.request
    slot.components = row.components
    slot.computation_fraction = row.computation_fraction
    slot.ppbw = row.ppbw
    slot.user = row.user
    slot.application = row.application
    slot.times_row = row.times_row
    slot.recorded_wait = row.recorded_wait
    slot.serial = NONE
    slot.given_back_by = NONE
    slot.cluster = NONE
    slot.execution_time = np.nan
    slot.predicted_time = np.nan
    slot.restarts = 0
    slot.preempted_by = NONE
    slot.placed = 0
    slot.first_processor = NONE
    slot.first_turn = NONE
    slot.turns_due = 0
    return int(job)


@inlined
def submit(state: State, tables: Tables, row: Any) -> None:
    """Take a row of the workload into the grid, at its arrival."""
    slots = tables.slots
    job = take_in(state, slots, row)
    slot = slots[job]
    state.messages[SUBMISSION] += 1
    if slot.origin != ANYWHERE:
        state.received[slot.origin] += 1
    if slot.size > state.largest or (state.partial == 1 and slot.size > room_for(state, slot)):
        reject(state, tables, job)
        return
    if slot.origin != ANYWHERE and state.visits == 1 and queue_of(state, slot) == slot.origin:
        become_known(state, tables, job)  # it stays there until its queue is visited
    elif slot.origin != ANYWHERE:  # it was submitted through a cluster's local scheduler
        announce(state, tables, job, slot.origin)
    else:
        become_known(state, tables, job)


@inlined
def announce(state: State, tables: Tables, job: int, cluster: int) -> None:
    """Have the broker of a cluster tell the global one of a job."""
    state.sent[cluster] += 1
    delay = state.latency[cluster] + repeated(state, METADATA_SENT, job, cluster, NONE)
    if delay > 0.0:
        tables.slots[job].status = ANNOUNCED
        state.in_flight += 1
        schedule(state, tables.events, state.now + delay, METADATA, job)
    else:
        become_known(state, tables, job)


@inlined
def become_known(state: State, tables: Tables, job: int) -> None:
    """Put a job into the global queue and have the global scheduler asked about it.

    One that a failure threw back has its old place there, so that all are asked about anew.
    """
    slots, slot = tables.slots, tables.slots[job]
    queue = len(state.free)
    cluster = slot.given_back_by
    if cluster != NONE:
        slot.given_back_by = NONE
        learn_returned(state, tables.beliefs, cluster, slot.news_at, slot.size)
    blocked = state.jumps >= state.max_jumps and state.waiting[queue] > 0
    if slot.serial == NONE:
        state.serial += 1
        slot.serial = state.serial
    slot.status = GLOBAL
    if state.visits == 1:
        slot.queue = queue_of(state, slot)
    join_line(state, slots, job)
    if state.collect == 1:
        state.collected += 1
    elif slot.restarts > 0:
        offer_again(state)
    elif not blocked:
        offer(state, slots, job)


@part
def send(state: State, slots: Any, events: Any, job: int, cluster: int, after: float = 0.0) -> None:
    """Send a job from the global queue to a cluster; its broker is told so `after` s from now."""
    slot = slots[job]
    overtake(state, slots, job)
    leave_line(state, slots, job)
    slot.cluster = cluster
    slot.news_at = news_of(state, cluster, slot.size)
    slot.placed = 0
    slot.landed = 0
    slot.execution_time = execution_time(state, slot, cluster)
    slot.predicted_time = predicted_time(state, slots, job, cluster)
    if state.stages == 1:
        slot.staging = 0.0
        stage(state, slot, cluster)
    change_work(state.known, cluster, slot.predicted_time * slot.size)
    state.known.unfinished[cluster] += 1
    delay = state.latency[cluster] + after
    if slot.origin == ANYWHERE:
        delay += repeated(state, TRANSFER_SENT, job, NONE, cluster, after)
        state.received[cluster] += 1
    else:
        # The job's data are with its origin, which is told to transfer them.
        lost = repeated(state, ORDER, job, NONE, slot.origin, after)
        delay += lost
        state.received[slot.origin] += 1
        if slot.origin != cluster:
            ordered = after + state.latency[slot.origin] + lost
            delay += repeated(state, TRANSFER_SENT, job, slot.origin, cluster, ordered)
            state.sent[slot.origin] += 1
            state.received[cluster] += 1
            delay += 2.0 * state.latency[slot.origin]
    if delay > 0.0:
        slot.status = TRANSIT
        state.in_flight += 1
        schedule(state, events, state.now + delay, TRANSFER, job)
    else:
        land(state, slots, job)


@inlined
def land(state: State, slots: Any, job: int) -> None:
    """Queue a job for its rank at the cluster that it was sent to."""
    slots[job].status = LANDING
    slots[job].next = NONE
    if state.landing_first == NONE:
        state.landing_first = job
    else:
        slots[state.landing_last].next = job
    state.landing_last = job


@inlined
def enqueue(state: State, tables: Tables, job: int, key: float) -> None:
    """Put a landed job, the first in line, into its cluster's queue with the rank given."""
    slots, slot = tables.slots, tables.slots[job]
    cluster = slot.cluster
    state.landing_first = slot.next
    if slot.landed == 0:
        slot.landed = 1
        state.left[cluster] += slot.predicted_time * slot.size
        state.serial += 1
        slot.serial = state.serial
    slot.key = key
    slot.status = LOCAL
    if in_lines(state, cluster):
        line_up(state, slots, tables.by_size, cluster, job)
    else:
        join(state, slots, tables.by_size, cluster, job)
    if state.service[cluster] == TIMED and state.now < key < np.inf:
        schedule(state, tables.events, key, DUE, cluster)
    touch(state, cluster)
    ask_for_plan(state, cluster)
