"""What the world asks of the kernel's tables between two runs of the loop."""

from __future__ import annotations

from typing import Any

import numba

from grid.kernel.compile import compiled
from grid.kernel.events import plan_failure, schedule
from grid.kernel.execution_times import execution_time, predicted_time
from grid.kernel.lifecycle.arrival import send
from grid.kernel.lifecycle.changes import preempt as throw_back_for
from grid.kernel.lifecycle.departure import withdraw as leave_early
from grid.kernel.lifecycle.execution import start_as_taken, start_outside
from grid.kernel.placing import REFUSED_START, clear_take, taken_for
from grid.kernel.policies.policy_view import change_work
from grid.kernel.queueing.fair_share import fold, open_rows, unfold
from grid.kernel.queueing.queues import after, first
from grid.kernel.state import BREAK, END, LOCAL, NONE, State
from grid.kernel.tables import Tables, between_runs


@compiled()
def queued(box: Any, slots: Any, queue: int, out: Any) -> int:
    """Write the slots of a queue's jobs, in order of service, into `out`; return how many."""
    state: State = box[0]
    unfold(state, slots, None, queue)
    job, count = first(state, slots, queue), 0
    while job != NONE:
        out[count] = job
        count += 1
        job = after(state, slots, queue, job)
    fold(state, slots, None, queue)
    return count


@compiled()
def running(box: Any, slots: Any, sliding: Any, cluster: int, out: Any, counts: Any) -> None:
    """Write the slots of the jobs running on a cluster, and their processors there."""
    state: State = box[0]
    index = 0
    job = state.running[cluster]
    while job != NONE:
        out[index] = job
        counts[index] = slots[job].size
        index += 1
        job = slots[job].next
    for row in range(state.sliding):
        if sliding[row].take[cluster] > 0:
            out[index] = sliding[row].job
            counts[index] = sliding[row].take[cluster]
            index += 1


@compiled()
def send_all(box: Any, slots: Any, events: Any, jobs: Any, clusters: Any, after: float) -> None:
    """Send jobs of the global queue to clusters, in the order given, `after` s from now."""
    state: State = box[0]
    for index in range(len(jobs)):
        send(state, slots, events, jobs[index], clusters[index], after)


@compiled()
def start_split(
    box: Any, slots: Any, events: Any, processors: Any, turns: Any, sliding: Any, job: int
) -> int:
    """Start a job of the global queue as `known.take` says; return what `taken_for` does."""
    state, tables = box[0], between_runs(box, slots, events, processors, turns, sliding)
    taken = taken_for(state, slots[job], False)
    if taken > 0:
        start_as_taken(state, tables, job)
        clear_take(state)
    elif taken == REFUSED_START:
        state.refused += 1
        clear_take(state)
    return int(taken)


@compiled()
def preempt(
    box: Any, slots: Any, events: Any, processors: Any, turns: Any, sliding: Any, job: int, by: int
) -> None:
    """Have a running job go back to the queue of its cluster, for another job."""
    tables = between_runs(box, slots, events, processors, turns, sliding)
    throw_back_for(box[0], tables, job, by)


@compiled()
def adopt(
    box: Any,
    slots: Any,
    events: Any,
    processors: Any,
    turns: Any,
    sliding: Any,
    row: Any,
    cluster: int,
    expected: float,
) -> int:
    """Take in a job that runs on a cluster from now on; return its slot."""
    state = box[0]
    state.answer = expected
    if state.usage_room > 0:
        open_rows(state, row[0].user)
    tables = between_runs(box, slots, events, processors, turns, sliding)
    return int(start_outside(state, tables, row[0], cluster))


@compiled()
def end(box: Any, slots: Any, events: Any, job: int) -> None:
    """Have a job that runs on one cluster end now, as what happens first from here on."""
    state, slot = box[0], slots[job]
    slot.execution_time = state.now - slot.start
    slot.runtime = slot.execution_time * state.rate[slot.cluster]
    slot.end = state.now
    slot.end_event = events[schedule(state, events, state.now, END, job)].turn


@compiled()
def withdraw(tables: Tables, job: int) -> None:
    """Have a job leave that waits, globally or at a cluster."""
    leave_early(tables.box[0], tables, job)


def prepare_to_withdraw(tables: Tables) -> None:
    """Compile `withdraw`, for whoever must not wait for that when it is called."""
    withdraw.compile((numba.typeof(tables), numba.int64))


@compiled()
def mould(box: Any, slots: Any, job: int, row: int, size: int) -> None:
    """Give a job that waits, globally or at a cluster, another size and row of execution times.

    The global broker counted its work when it sent the job: it is told of the difference as of work
    that is done.
    """
    state: State = box[0]
    slot = slots[job]
    work, cluster = slot.predicted_time * slot.size, slot.cluster
    slot.times_row, slot.size = row, size
    if slot.status != LOCAL:
        return
    staging = slot.staging if state.stages == 1 else 0.0
    slot.execution_time = execution_time(state, slot, cluster) + staging
    slot.predicted_time = predicted_time(state, slots, job, cluster) + staging
    more = slot.predicted_time * size - work
    state.left[cluster] += more
    if state.at_once[cluster] == 1:
        change_work(state.known, cluster, more)
    else:
        state.finished_work[cluster] -= more


@compiled()
def plan_failures(box: Any, events: Any, processors: Any) -> None:
    """Have every processor fail after an exponential time."""
    for processor in range(len(processors)):
        plan_failure(box[0], events, BREAK, box[0].mean_up, processor)


@compiled()
def add_events(box: Any, events: Any, time: float, kind: int, first: int, count: int) -> None:
    """Schedule a failure or a repair of each of so many processors, one after the other."""
    box[0].changes += count
    for subject in range(first, first + count):
        schedule(box[0], events, time, kind, subject)
