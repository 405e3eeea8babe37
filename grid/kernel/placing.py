"""The global scheduler's decisions: which jobs are offered, and what becomes of the answers."""

from __future__ import annotations

from typing import Any

from grid.kernel.compile import inlined
from grid.kernel.execution_times import can_run, show_as_they_are, show_clusters
from grid.kernel.lifecycle.arrival import send
from grid.kernel.lifecycle.departure import reject
from grid.kernel.lifecycle.execution import start_as_taken
from grid.kernel.policies.decisions import call_place, call_visit
from grid.kernel.queueing.global_queue import ASK, first_offered, leave_line, next_offered
from grid.kernel.queueing.visiting import nothing_happened, tell_outcome
from grid.kernel.state import (
    BROKEN,
    DRAIN,
    FULL,
    GO_ON,
    NONE,
    PLACE,
    REJECT,
    START,
    VISIT,
    WAIT,
    State,
)
from grid.kernel.tables import Tables

REFUSED_START, IMPOSSIBLE = -1, -2
"""What may be wrong with a start: clusters are not as free as was told, or were not told to be."""


@inlined
def taken_for(state: State, slot: Any, by_told: bool) -> int:
    """Return how many processors `known.take` names, if they are the job's and can be had.

    Clusters refuse a start for which they are not as free as brokers had told. Who decides by what
    those have told (and not, in rounds, by what it has booked) has no excuse for asking for more.
    Where there is no cluster, its size is 0.
    """
    taken, refused = 0, False
    for cluster in range(len(state.free)):
        count = state.known.take[cluster]
        if count != 0:
            if count < 0 or count > state.size[cluster] or not can_run(state, slot, cluster):
                return IMPOSSIBLE
            if by_told and count > state.known.free[cluster]:
                return IMPOSSIBLE
            refused |= count > state.free[cluster]
            taken += count
    if taken != slot.size:
        return IMPOSSIBLE
    return REFUSED_START if refused else taken


@inlined
def is_there(state: State, slot: Any) -> bool:
    """Tell whether `known.take` names as many processors as a job needs, all of them free."""
    taken = 0
    for cluster in range(len(state.free)):
        count = state.known.take[cluster]
        can = count == 0 or can_run(state, slot, cluster)
        if not can or not 0 <= count <= state.known.free[cluster]:
            return False
        taken += count
    return bool(taken == slot.size)


@inlined
def may_go(state: State, slot: Any, answer: int) -> bool:
    """Tell whether a job can run where it is to be sent, if it is."""
    return answer < 0 or can_run(state, slot, answer)


@inlined
def clear_take(state: State) -> None:
    """Forget what the last start took."""
    for cluster in range(state.clusters):
        state.known.take[cluster] = 0


@inlined
def _visited(state: State, memory: Any) -> float:
    """Return the queue whose head the scheduler tries next, or NONE."""
    if state.answered == 1:
        state.answered = 0
        return float(state.answer)
    return float(call_visit(state.visit_at, state.known, memory))


@inlined
def _can_be_visited(state: State, queue: int) -> bool:
    if 0 <= queue <= state.clusters:
        return bool(state.known.queued[queue] > 0)
    return queue == NONE


@inlined
def broken(state: State, job: int, answer: float) -> int:
    """Return why the loop cannot go on: an answer that cannot be carried out."""
    state.job = job
    state.answer = answer
    return BROKEN


@inlined
def keep_answer(state: State, answer: int, reason: int) -> int:
    """Have an answer carried out when there is room; return why the loop cannot go on."""
    state.answered = 1
    state.answer = answer
    return reason


@inlined
def _visit(state: State, memory: Any) -> int:
    """Have the scheduler name the queue whose head is placed next, or none."""
    if state.answered == 0 and state.visit_at == 0:
        state.job = NONE
        return VISIT
    wanted = _visited(state, memory)
    visited = int(wanted)
    if visited != wanted or not _can_be_visited(state, visited):
        return broken(state, NONE, wanted)
    state.cursor = NONE if visited == NONE else state.line_first[visited]
    return GO_ON


@inlined
def _start(state: State, tables: Tables, job: int) -> tuple[int, bool]:
    """Start a job as `known.take` says, as `_carry_out`."""
    taken = taken_for(state, tables.slots[job], True)
    if taken == IMPOSSIBLE:
        return broken(state, job, START), False
    if taken == REFUSED_START:
        state.refused += 1
    elif state.sliding == len(tables.sliding):
        return keep_answer(state, START, FULL), False
    else:
        start_as_taken(state, tables, job)
    clear_take(state)
    return GO_ON, taken == REFUSED_START


@inlined
def _can_hold(state: State, slot: Any, cluster: int) -> bool:
    return bool(slot.size <= state.size[cluster] and can_run(state, slot, cluster))


@inlined
def _carry_out(state: State, tables: Tables, job: int, answer: int) -> tuple[int, bool]:
    """Do with a job as answered; return why that cannot be, or GO_ON, and whether it waits."""
    if answer == START:
        return _start(state, tables, job)
    if 0 <= answer < state.clusters and _can_hold(state, tables.slots[job], answer):
        send(state, tables.slots, tables.events, job, answer)
    elif answer == REJECT:
        if state.finished == len(tables.finished):
            return keep_answer(state, answer, DRAIN), False
        leave_line(state, tables.slots, job)
        reject(state, tables, job)
    elif answer != WAIT:
        return broken(state, job, answer), False
    return GO_ON, answer == WAIT


@inlined
def _place(state: State, tables: Tables) -> int:
    """Have the job at the cursor placed, and go on to the next that is offered."""
    slots, job = tables.slots, state.cursor
    if state.answered == 1:
        state.answered = 0
        show_as_they_are(state)
        answer = int(state.answer)
        if answer != state.answer:
            return broken(state, job, state.answer)
    else:
        show_clusters(state, slots, job)
        if state.place_at == 0:
            state.job = job
            return PLACE
        answer = call_place(state.place_at, state.known, slots[job], tables.memory)
        show_as_they_are(state)
    following, size, queue = slots[job].next, slots[job].size, slots[job].queue
    reason, waits = _carry_out(state, tables, job, answer)
    if reason != GO_ON:
        return reason
    if state.visits == 1:
        tell_outcome(state, queue, waits)
    state.cursor = next_offered(state, slots, size, following, waits, tables.memory)
    return GO_ON


@inlined
def place_jobs(state: State, tables: Tables) -> int:
    """Offer the jobs that are to be offered; return why that cannot go on, or GO_ON."""
    if state.cursor == NONE and state.offering_all == 1:
        state.cursor = first_offered(state, tables.slots, tables.memory)
    while state.cursor != NONE:
        reason = _visit(state, tables.memory) if state.cursor == ASK else _place(state, tables)
        if reason != GO_ON:
            return reason
    state.offering_all = 0
    if state.visits == 1:
        nothing_happened(state)
    return GO_ON
