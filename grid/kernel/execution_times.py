"""How long a job runs on each cluster: e_ij of `muscle`, section 2.

That is its run time over the rate of the cluster, unless the job has a row in a table of execution
times of its own: there, infinity is for clusters on which it cannot run. What is expected may have
a table as well, with a row for each slot. Tables are found by their addresses, for few runs have
any.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import float64, types
from numba.extending import intrinsic

from grid.jobs import BY_RATES
from grid.kernel.compile import inlined
from grid.kernel.state import State

_BYTES = 8


@intrinsic
def number_at(typing_context: Any, table: Any, index: Any) -> Any:
    """Return a number of the table at an address, without checking that there is one."""

    def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        offset = builder.mul(values[1], values[1].type(_BYTES))
        pointer = context.get_value_type(types.CPointer(float64))
        return builder.load(builder.inttoptr(builder.add(values[0], offset), pointer))

    return float64(types.int64, types.int64), codegen


@inlined
def execution_time(state: State, slot: Any, cluster: int) -> float:
    """Return how long a job runs on a cluster, s."""
    if slot.times_row == BY_RATES:
        return float(slot.runtime / state.rate[cluster])
    time = number_at(state.times_at, slot.times_row * state.clusters + cluster)
    if state.limited == 1 and time < np.inf:
        time = min(time, slot.runtime / state.rate[cluster])
    return float(time)


@inlined
def predicted_by_rates(state: State, slot: Any) -> bool:
    """Tell whether what is expected of a job differs from cluster to cluster by rates alone."""
    return slot.times_row == BY_RATES or state.limited == 1


@inlined
def predicted_time(state: State, slots: Any, job: int, cluster: int) -> float:
    """Return how long a job is expected to run on a cluster, s."""
    slot = slots[job]
    if state.predicted_at != 0:
        return float(number_at(state.predicted_at, job * state.clusters + cluster))
    if predicted_by_rates(state, slot):
        return float(slot.predicted_runtime / state.predicted_rate[cluster])
    # Both factors are exactly 1 where predictions are exact.
    of_job = slot.predicted_runtime / slot.runtime
    of_cluster = state.rate[cluster] / state.predicted_rate[cluster]
    return float(execution_time(state, slot, cluster) * of_job * of_cluster)


@inlined
def can_run(state: State, slot: Any, cluster: int) -> bool:
    """Tell whether a job can run on a cluster, if its processors are enough."""
    if state.partial == 0 or slot.times_row == BY_RATES:
        return True
    return execution_time(state, slot, cluster) < np.inf


@inlined
def room_for(state: State, slot: Any) -> int:
    """Return the processors of the clusters, or the largest of them, on which a job can run."""
    most = total = 0
    for cluster in range(state.clusters):
        if can_run(state, slot, cluster):
            most = max(most, state.size[cluster])
            total += state.size[cluster]
    return int(total if state.spans == 1 else most)


@inlined
def show_clusters(state: State, slots: Any, job: int) -> None:
    """Have whoever decides about a job know the clusters as they are for it.

    Those on which it cannot run have no processors, until `show_as_they_are`.
    """
    if state.times_at == 0 and state.predicted_at == 0:
        return
    known, slot = state.known, slots[job]
    for cluster in range(state.clusters):
        rate = state.predicted_rate[cluster]
        if not can_run(state, slot, cluster):
            state.hiding = 1
            state.hidden_free[cluster], state.hidden_up[cluster] = (
                known.free[cluster],
                known.up[cluster],
            )
            known.size[cluster] = known.free[cluster] = known.up[cluster] = 0
        elif not predicted_by_rates(state, slot) or state.predicted_at != 0:
            rate = slot.predicted_runtime / predicted_time(state, slots, job, cluster)
        known.rate[cluster] = rate


@inlined
def show_as_they_are(state: State) -> None:
    """End what `show_clusters` began, but for the rates."""
    if state.hiding == 0:
        return
    state.hiding = 0
    for cluster in range(state.clusters):
        if state.known.size[cluster] == 0:
            state.known.size[cluster] = state.size[cluster]
            state.known.free[cluster] = state.hidden_free[cluster]
            state.known.up[cluster] = state.hidden_up[cluster]
