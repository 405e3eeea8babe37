"""Decisions: where a job goes, and which of the waiting jobs is served first.

Both go through the same door in three tiers: a built-in compiled function, a user's own compiled
function, called by its address, or Python, for which the loop returns and is called again.

A compiled decision has one of two signatures::

    place(state, job, memory) -> int
    priority(state, job, cluster) -> float

`state` and `job` are records of `grid.kernel.state`; `memory` is an array of floats that belongs
to the policy. `place` returns the index of a cluster to send the job to, ``WAIT`` to leave it in
the global queue, or ``START`` after writing into ``state.take`` how many processors the job shall
hold on each cluster from this instant on. `priority` returns a number, and the job with the
lowest is served first; equal ones in order of their arrival at the cluster.
"""

from __future__ import annotations

from typing import Any

import numba
from numba.core import types

from grid.kernel.compile import address_of, caller
from grid.kernel.state import SLOT, state_dtype

call_place = caller(types.int64)
"""Call a compiled `place`: ``call_place(address, state, job, memory)``."""

call_priority = caller(types.float64)
"""Call a compiled `priority`: ``call_priority(address, state, job, cluster)``."""


def place_address(function: Any, capacity: int) -> int:
    """Compile a `place` for kernels of one capacity and return its address."""
    state, job = numba.from_dtype(state_dtype(capacity)), numba.from_dtype(SLOT)
    return address_of(function, types.int64(state, job, types.float64[::1]))


def priority_address(function: Any, capacity: int) -> int:
    """Compile a `priority` for kernels of one capacity and return its address."""
    state, job = numba.from_dtype(state_dtype(capacity)), numba.from_dtype(SLOT)
    return address_of(function, types.float64(state, job, types.int64))
