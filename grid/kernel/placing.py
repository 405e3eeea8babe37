"""The global scheduler's decisions: which jobs are offered, and what becomes of the answers."""

from __future__ import annotations

from typing import Any

from grid.kernel.arrival import send
from grid.kernel.compile import inlined
from grid.kernel.departure import reject
from grid.kernel.execution import start_as_taken
from grid.kernel.policies.decisions import call_place, call_visit
from grid.kernel.queueing.global_queue import ASK, first_offered, leave_line, next_offered
from grid.kernel.queueing.visiting import nothing_happened, tell_outcome
from grid.kernel.state import BROKEN, DRAIN, FULL, GO_ON, NONE, PLACE, REJECT, START, VISIT, WAIT

REFUSED_START, IMPOSSIBLE = -1, -2
"""What may be wrong with a start: clusters are not as free as told, or it can never be had."""


@inlined
def taken_for(state: Any, size: int, excused: bool) -> int:
    """Return how many processors `known.take` names, if they are the job's and can be had.

    Clusters refuse a start for which they are not as free as brokers had told; who knows all at
    once has no excuse for asking for what is not free, unless excused. Where there is no cluster,
    its size is 0.
    """
    taken, refused = 0, False
    for cluster in range(len(state.free)):
        count = state.known.take[cluster]
        if count != 0:
            if count < 0 or count > state.size[cluster]:
                return IMPOSSIBLE
            if count > state.free[cluster]:
                if state.at_once[cluster] == 1 and not excused:
                    return IMPOSSIBLE
                refused = True
            taken += count
    if taken != size:
        return IMPOSSIBLE
    return REFUSED_START if refused else taken


@inlined
def clear_take(state: Any) -> None:
    """Forget what the last start took."""
    for cluster in range(state.clusters):
        state.known.take[cluster] = 0


@inlined
def _visited(state: Any, memory: Any) -> float:
    """Return the queue whose head the scheduler tries next, or NONE."""
    if state.answered == 1:
        state.answered = 0
        return float(state.answer)
    return float(call_visit(state.visit_at, state.known, memory))


@inlined
def _can_be_visited(state: Any, queue: int) -> bool:
    if 0 <= queue <= state.clusters:
        return bool(state.known.queued[queue] > 0)
    return queue == NONE


@inlined
def broken(state: Any, job: int, answer: float) -> int:
    """Return why the loop cannot go on: an answer that cannot be carried out."""
    state.job = job
    state.answer = answer
    return BROKEN


@inlined
def place_jobs(
    state: Any,
    slots: Any,
    events: Any,
    processors: Any,
    turns: Any,
    sliding: Any,
    finished: Any,
    memory: Any,
) -> int:
    """Offer the jobs that are to be offered; return why that cannot go on, or GO_ON."""
    if state.cursor == NONE and state.offering_all == 1:
        state.cursor = first_offered(state, slots, memory)
    while state.cursor != NONE:
        if state.cursor == ASK:
            if state.answered == 0 and state.visit_at == 0:
                state.job = NONE
                return VISIT
            wanted = _visited(state, memory)
            visited = int(wanted)
            if visited != wanted or not _can_be_visited(state, visited):
                return broken(state, NONE, wanted)
            state.cursor = NONE if visited == NONE else state.line_first[visited]
            continue
        job = state.cursor
        if state.answered == 1:
            state.answered = 0
            answer = int(state.answer)
            if answer != state.answer:
                return broken(state, job, state.answer)
        elif state.place_at != 0:
            answer = call_place(state.place_at, state.known, slots[job], memory)
        else:
            state.job = job
            return PLACE
        following, size, queue = slots[job].next, slots[job].size, slots[job].queue
        if answer == START:
            taken = taken_for(state, size, False)
            if taken == IMPOSSIBLE:
                return broken(state, job, answer)
            if taken == REFUSED_START:
                state.refused += 1
                answer = WAIT
            elif state.sliding == len(sliding):
                state.answered = 1
                state.answer = answer
                return FULL
            else:
                start_as_taken(state, slots, events, processors, turns, sliding, job)
            clear_take(state)
        elif 0 <= answer < state.clusters and size <= state.size[answer]:
            send(state, slots, events, job, answer)
        elif answer == REJECT:
            if state.finished == len(finished):
                state.answered = 1
                state.answer = answer
                return DRAIN
            leave_line(state, slots, job)
            reject(state, slots, finished, job)
        elif answer != WAIT:
            return broken(state, job, answer)
        waits = answer == WAIT
        if state.visits == 1:
            tell_outcome(state, queue, waits)
        state.cursor = next_offered(state, slots, size, following, waits, memory)
    state.offering_all = 0
    if state.visits == 1:
        nothing_happened(state)
    return GO_ON
