"""How a cluster gives back jobs that it can no longer hold, since processors went."""

from __future__ import annotations

from grid.kernel.compile import inlined, part
from grid.kernel.lifecycle.arrival import announce
from grid.kernel.lifecycle.departure import leave_unrun
from grid.kernel.processors import forget_plan, touch
from grid.kernel.queueing.fair_share import fold, unfold
from grid.kernel.queueing.queues import after, first, leave
from grid.kernel.state import NONE, State
from grid.kernel.tables import Tables


@part
def _hand_back(state: State, tables: Tables, job: int) -> None:
    """Have a cluster that can no longer hold a job give it back to the global scheduler."""
    slot = tables.slots[job]
    cluster = slot.cluster
    leave_unrun(state, tables, job)
    slot.cluster = NONE
    slot.given_back_by = cluster
    slot.news_at = state.now
    slot.serial = NONE  # it is known anew, behind all others
    touch(state, cluster)
    announce(state, tables, job, cluster)


@part
def give_back_landing(state: State, tables: Tables) -> bool:
    """Have clusters give back the jobs that land and that they could hold as of older news only.

    Tell whether there are any.
    """
    slots, any_ = tables.slots, False
    job, previous = state.landing_first, NONE
    while job != NONE:
        following, cluster = slots[job].next, slots[job].cluster
        too_late = state.shrunk_at[cluster] > slots[job].news_at
        if too_late and slots[job].size > state.remaining[cluster]:
            if previous == NONE:
                state.landing_first = following
            else:
                slots[previous].next = following
            if following == NONE:
                state.landing_last = previous
            _hand_back(state, tables, job)
            any_ = True
        else:
            previous = job
        job = following
    return any_


@part
def give_back(state: State, tables: Tables) -> None:
    """Have clusters that lose processors give back the jobs that they can no longer hold.

    That is every such job that waits there, or lands there now.
    """
    give_back_landing(state, tables)
    for cluster in range(state.clusters):
        if state.shrunk[cluster] == 1:
            state.shrunk[cluster] = 0
            _give_back_waiting(state, tables, cluster)


@inlined
def _give_back_waiting(state: State, tables: Tables, cluster: int) -> None:
    slots = tables.slots
    too_large = False
    unfold(state, slots, tables.by_size, cluster)
    job = first(state, slots, cluster)
    while job != NONE:
        too_large |= slots[job].size > state.remaining[cluster]
        job = after(state, slots, cluster, job)
    if too_large and state.planned[cluster] > 0:
        forget_plan(state, tables, cluster)  # its planner is asked anyway
    job = first(state, slots, cluster)
    while job != NONE:
        following = after(state, slots, cluster, job)
        if slots[job].size > state.remaining[cluster]:
            leave(state, slots, tables.by_size, cluster, job)
            _hand_back(state, tables, job)
        job = following
    fold(state, slots, tables.by_size, cluster)
