"""How long a job runs on each cluster: e_ij of `muscle`, section 2.

That is its run time over the rate of the cluster, unless the job has a row in a table of execution
times of its own. The table is found by its address, for only runs with such jobs have one.
"""

from __future__ import annotations

from typing import Any

from numba import float64, types
from numba.extending import intrinsic

from grid.jobs import BY_RATES
from grid.kernel.compile import inlined
from grid.kernel.state import State

_BYTES = 8


@intrinsic
def _number(typing_context: Any, table: Any, index: Any) -> Any:
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
    return float(_number(state.times_at, slot.times_row * state.clusters + cluster))


@inlined
def predicted_time(state: State, slot: Any, cluster: int) -> float:
    """Return how long a job is expected to run on a cluster, s."""
    if slot.times_row == BY_RATES:
        return float(slot.predicted_runtime / state.predicted_rate[cluster])
    # Both factors are exactly 1 where predictions are exact.
    of_job = slot.predicted_runtime / slot.runtime
    of_cluster = state.rate[cluster] / state.predicted_rate[cluster]
    return float(execution_time(state, slot, cluster) * of_job * of_cluster)


@inlined
def tell_rates(state: State, slot: Any) -> None:
    """Have whoever decides about a job know the rate of each cluster for that job."""
    if state.times_at == 0:
        return
    for cluster in range(state.clusters):
        rate = state.predicted_rate[cluster]
        if slot.times_row != BY_RATES:
            rate = slot.predicted_runtime / predicted_time(state, slot, cluster)
        state.known.rate[cluster] = rate
