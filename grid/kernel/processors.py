"""Processors: how many are free everywhere, and which ones where a plan or a failure must know.

A plan with processor sets gives each processor a list of turns. A job of the plan is ready when on
each of its processors the turn is its own and the processor is free. Whatever else happens to a
processor (a failure, a co-allocated job that took it) only makes that turn due again, so plans,
failures and jobs with sliding ends meet in two functions: `hold` and `release`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from grid.kernel.compile import compiled, inlined, part
from grid.kernel.policies.policy_view import share_work
from grid.kernel.queueing.queues import first, join, leave
from grid.kernel.state import CHANGED, DOWN, FREE, NONE, RUNNING, TO_SERVE, UNTOUCHED, State
from grid.kernel.tables import Tables, between_runs


@inlined
def have_served(state: State, cluster: int) -> None:
    """Have the queue of a cluster served at this instant, though nothing may have changed."""
    if state.touched[cluster] == UNTOUCHED:
        state.touched[cluster] = TO_SERVE
        state.touched_list[state.touched_count] = cluster
        state.touched_count += 1


@inlined
def touch(state: State, cluster: int) -> None:
    """Note that something changed on a cluster at this instant."""
    have_served(state, cluster)
    if state.touched[cluster] != CHANGED:
        state.touched[cluster] = CHANGED
        state.touched_at[cluster] = state.now


@inlined
def account(state: State, cluster: int) -> None:
    """Bring the processor-seconds held on a cluster up to now."""
    busy = state.up[cluster] - state.free[cluster]
    state.area[cluster] += busy * (state.now - state.changed[cluster])
    state.changed[cluster] = state.now


@inlined
def learn_up(state: State, cluster: int, up: int) -> None:
    """Let the global broker know how many processors of a cluster remain.

    If that is news, a scheduler that works in rounds looks at its jobs again.
    """
    if state.known.up[cluster] != up:
        state.known.up[cluster] = up
        share_work(state.known, cluster)
        if state.collect == 1 and state.waiting[len(state.free)] > 0:
            state.collected += 1


@inlined
def note_change(state: State, cluster: int, freed_until: float) -> None:
    """Note a change of a cluster's free processors, which the global broker may know at once.

    Until `freed_until` (s) more may be free than was expected.
    """
    touch(state, cluster)
    state.disturbed[cluster] = 1
    state.freed_until[cluster] = max(state.freed_until[cluster], freed_until)
    if freed_until > state.now and state.profile_of == cluster:
        state.profile_of = NONE
    if state.at_once[cluster] == 1:
        state.known.free[cluster] = state.free[cluster]
        learn_up(state, cluster, state.remaining[cluster])
        state.known.at[cluster] = state.now


@inlined
def ask_for_plan(state: State, cluster: int) -> None:
    """Ask the cluster's planner for a new plan at the end of this instant."""
    if state.planned[cluster] > 0:
        state.replan[cluster] = 1
        state.replan_any = 1


@inlined
def ask_for_report(state: State, cluster: int) -> None:
    """Have a cluster's scheduler tell anew how far it is booked, unless it plans.

    One that plans is asked for another plan as soon as processors change.
    """
    if state.planned[cluster] == 0:
        state.mispredicted[cluster] = 1
        state.mispredicted_any = state.notify


@part
def _rekey(state: State, slots: Any, cluster: int, job: int, key: float) -> None:
    leave(state, slots, None, cluster, job)
    slots[job].key = key
    join(state, slots, None, cluster, job)


@inlined
def _turn_lost(state: State, tables: Tables, processor: int) -> None:
    """Have the job whose turn it is wait: the processor is no longer free."""
    slots, turn = tables.slots, tables.processors[processor].turn
    if turn != NONE:
        job = tables.turns[turn].job
        if slots[job].turns_due == 0:
            _rekey(state, slots, tables.processors[processor].cluster, job, np.inf)
        slots[job].turns_due += 1


@inlined
def _turn_come(state: State, tables: Tables, processor: int) -> None:
    """Tell the job whose turn it is that the processor is free: it may be ready."""
    slots, turn = tables.slots, tables.processors[processor].turn
    if turn != NONE:
        job = tables.turns[turn].job
        slots[job].turns_due -= 1
        if slots[job].turns_due == 0:
            cluster = tables.processors[processor].cluster
            _rekey(state, slots, cluster, job, slots[job].plan_rank)


@inlined
def _occupy(slots: Any, processors: Any, processor: int, job: int) -> None:
    processors[processor].holder = job
    processors[processor].next = slots[job].first_processor
    slots[job].first_processor = processor


@inlined
def _vacate_turn(state: State, turns: Any, turn: int) -> None:
    turns[turn].next = state.vacant_turn
    state.vacant_turn = turn
    state.turns -= 1


@part
def take_turns(state: State, tables: Tables, job: int) -> None:
    """Put a ready job of a plan on its processors; their next turns stay due."""
    slots, processors, turns = tables.slots, tables.processors, tables.turns
    turn = slots[job].first_turn
    while turn != NONE:
        processor = turns[turn].processor
        processors[processor].turn = turns[turn].next
        _occupy(slots, processors, processor, job)
        sibling = turns[turn].sibling
        _vacate_turn(state, turns, turn)
        turn = sibling
    slots[job].first_turn = NONE


@part
def doom(state: State, processors: Any, processor: int) -> None:
    """Note a cause for a processor to be down, from now on or as soon as its job has ended."""
    processors[processor].causes += 1
    if processors[processor].causes == 1:
        cluster = processors[processor].cluster
        state.remaining[cluster] -= 1
        state.shrunk_at[cluster] = state.now
        state.shrunk[cluster] = 1
        state.shrunk_any = 1
        note_change(state, cluster, np.inf)
        ask_for_plan(state, cluster)


@part
def spare(state: State, processors: Any, processor: int) -> None:
    """Take a cause for a processor to be down away."""
    processors[processor].causes -= 1
    if processors[processor].causes == 0:
        cluster = processors[processor].cluster
        state.remaining[cluster] += 1
        note_change(state, cluster, np.inf)
        ask_for_plan(state, cluster)
        if state.loss > 0.0:
            ask_for_report(state, cluster)  # the advertisement may get lost


@part
def take_down(state: State, tables: Tables, processor: int) -> None:
    """Make a free processor unavailable."""
    processors = tables.processors
    cluster = processors[processor].cluster
    account(state, cluster)
    _turn_lost(state, tables, processor)
    processors[processor].holder = DOWN
    state.free[cluster] -= 1
    state.up[cluster] -= 1
    note_change(state, cluster, np.inf)
    ask_for_plan(state, cluster)


@inlined
def hold(state: State, tables: Tables, cluster: int, job: int, count: int) -> None:
    """Put a job on `count` processors of a cluster, the free ones of lowest index."""
    account(state, cluster)
    state.free[cluster] -= count
    _hold_identities(state, tables, tables.processors, cluster, job, count)
    note_change(state, cluster, 0.0)


@inlined
def _hold_identities(
    state: State, tables: Tables, processors: Any, cluster: int, job: int, count: int
) -> None:
    if processors is not None and len(processors) > 0:
        _hold_each(state, tables, processors, cluster, job, count)


@part
def _hold_each(
    state: State, tables: Tables, processors: Any, cluster: int, job: int, count: int
) -> None:
    if tables.slots[job].first_turn != NONE:
        take_turns(state, tables, job)
        return
    processor = state.first_processor[cluster]
    while count > 0:
        if processors[processor].holder == FREE:
            _turn_lost(state, tables, processor)
            _occupy(tables.slots, processors, processor, job)
            count -= 1
        processor += 1


@part
def release(state: State, tables: Tables, cluster: int, job: int, count: int) -> None:
    """Free the `count` processors that a job holds on a cluster.

    With identities, all the processors of the job are freed by the first call: a co-allocated
    job's processors form one list, and only the counts are kept for each cluster.
    """
    account(state, cluster)
    state.free[cluster] += count
    _free_identities(state, tables, tables.processors, job)
    slot = tables.slots[job]
    alone = slot.status == RUNNING
    note_change(state, cluster, slot.start + slot.predicted_time if alone else np.inf)


@inlined
def _free_identities(state: State, tables: Tables, processors: Any, job: int) -> None:
    if processors is None or len(processors) == 0:
        return
    processor = tables.slots[job].first_processor
    tables.slots[job].first_processor = NONE
    while processor != NONE:
        processors[processor].holder = FREE
        _turn_come(state, tables, processor)
        if processors[processor].causes > 0:
            take_down(state, tables, processor)
        processor = processors[processor].next


@part
def bring_up(state: State, tables: Tables, processor: int) -> None:
    """Make a failed processor available again."""
    cluster = tables.processors[processor].cluster
    account(state, cluster)
    tables.processors[processor].holder = FREE
    state.free[cluster] += 1
    state.up[cluster] += 1
    _turn_come(state, tables, processor)
    note_change(state, cluster, np.inf)


@part
def forget_plan(state: State, tables: Tables, cluster: int) -> None:
    """Make every waiting job of a cluster wait for a plan."""
    while True:
        job = first(state, tables.slots, cluster)
        if job == NONE or tables.slots[job].key == np.inf:
            break
        _rekey(state, tables.slots, cluster, job, np.inf)
    _forget_turns(state, tables, tables.processors, cluster)


@inlined
def _forget_turns(state: State, tables: Tables, processors: Any, cluster: int) -> None:
    if processors is None or len(processors) == 0:
        return
    slots, turns = tables.slots, tables.turns
    begin = state.first_processor[cluster]
    for processor in range(begin, begin + state.size[cluster]):
        turn = processors[processor].turn
        processors[processor].turn = NONE
        while turn != NONE:
            slots[turns[turn].job].first_turn = NONE
            slots[turns[turn].job].turns_due = 0
            following = turns[turn].next
            _vacate_turn(state, turns, turn)
            turn = following


@inlined
def _put_turns(state: State, tables: Tables, processors: Any, order: Any, resources: Any) -> None:
    """Give each processor the turns of a plan, each before those that follow it, so backwards."""
    if processors is None or len(processors) == 0:
        return
    slots, turns = tables.slots, tables.turns
    end = len(resources)
    for rank in range(len(order) - 1, -1, -1):
        job = order[rank]
        slots[job].plan_rank = rank
        cluster = slots[job].cluster
        for place in range(end - slots[job].size, end):
            processor = state.first_processor[cluster] + resources[place]
            turn = state.vacant_turn
            state.vacant_turn = turns[turn].next
            state.turns += 1
            turns[turn].job = job
            turns[turn].processor = processor
            turns[turn].next = processors[processor].turn
            turns[turn].sibling = slots[job].first_turn
            slots[job].first_turn = turn
            processors[processor].turn = turn
        end -= slots[job].size
    _rank_ready(state, tables, order)


@inlined
def _rank_ready(state: State, tables: Tables, order: Any) -> None:
    """Put the jobs of a plan whose turns have all come into their places in the queue."""
    slots, processors, turns = tables.slots, tables.processors, tables.turns
    for rank in range(len(order)):
        job = order[rank]
        turn = slots[job].first_turn
        while turn != NONE:
            processor = turns[turn].processor
            if processors[processor].turn != turn or processors[processor].holder != FREE:
                slots[job].turns_due += 1
            turn = turns[turn].sibling
        if slots[job].turns_due == 0:
            _rekey(state, slots, slots[job].cluster, job, float(rank))


@compiled()
def set_plan(
    box: Any, slots: Any, processors: Any, turns: Any, cluster: int, order: Any, resources: Any
) -> None:
    """Replace the plan of a cluster.

    Parameters
    ----------
    box, slots, processors, turns
        Tables of the kernel.
    cluster : int
        Index of the cluster.
    order : array of int64, shape (jobs,)
        Slots of waiting jobs, in the order in which they shall start.
    resources : array of int64, shape (sum of sizes,)
        Processors (0-based in the cluster) of each job, one job after the other; empty for a plan
        that names no processors.
    """
    state, tables = box[0], between_runs(box, slots, None, processors, turns, None)
    forget_plan(state, tables, cluster)
    if len(resources) == 0:
        for rank in range(len(order)):
            _rekey(state, slots, cluster, order[rank], float(rank))
    else:
        _put_turns(state, tables, processors, order, resources)
    touch(state, cluster)
