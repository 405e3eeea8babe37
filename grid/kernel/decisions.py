"""Decisions: where a job goes, and which of the waiting jobs is served first.

Both go through the same door in three tiers: a built-in compiled function, a user's own compiled
function, called by its address, or Python, for which the loop returns and is called again.

A compiled decision has one of two signatures::

    place(known, job, memory) -> int
    priority(job, now) -> float

`known` and `job` are records of `grid.kernel.state`: what brokers have told, and a job; `memory` is
an array of floats that belongs to the policy; `now` is the simulated time, s. `place` returns the
index of a cluster to send the job to, ``WAIT`` to leave it in the global queue, or ``START`` after
writing into ``known.take`` how many processors the job shall hold on each cluster from this instant
on. `priority` returns a number, and the job with the lowest is served first; equal ones in order of
their arrival at the cluster.
"""

from __future__ import annotations

from typing import Any

import numba
from numba.core import types

from grid.kernel.compile import address_of, caller
from grid.kernel.state import SLOT, known_dtype

call_place = caller(types.int64)
"""Call a compiled `place`: ``call_place(address, known, job, memory)``."""

call_priority = caller(types.float64)
"""Call a compiled `priority`: ``call_priority(address, job, now)``."""


def place_address(function: Any, capacity: int) -> int:
    """Compile a `place` for kernels of one capacity and return its address."""
    known, job = numba.from_dtype(known_dtype(capacity)), numba.from_dtype(SLOT)
    return address_of(function, types.int64(known, job, types.float64[::1]))


def priority_address(function: Any) -> int:
    """Compile a `priority` and return its address."""
    return address_of(function, types.float64(numba.from_dtype(SLOT), types.float64))
