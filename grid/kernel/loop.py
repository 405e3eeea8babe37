"""The event loop compiled for a world: with room enough, and without what it has no use for."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numba
from numba.core import types

from grid.jobs import JOB
from grid.kernel.advance import advance
from grid.kernel.dtypes import (
    BELIEF,
    EVENT,
    FINISHED,
    NEWS,
    PROCESSOR,
    PROFILE,
    SLOT,
    TURN,
    sliding_dtype,
)
from grid.kernel.queueing.availability_profile import (
    RELEASE,
    Foresight,
    moment_dtype,
    reservation_dtype,
)
from grid.kernel.state import state_dtype


@functools.cache
def loop(
    capacity: int, tracked: bool, offering: bool, backfilling: bool, foreseeing: bool
) -> Callable[..., int]:
    """Return `advance` for a capacity, as a function that takes its arguments on trust.

    numba's dispatcher looks up the types of all arguments at each call, which takes as long as
    a short decision in Python. Unless `tracked`, processors are None; unless `offering`, sliding;
    unless `backfilling`, profile; unless `foreseeing`, foresight.
    """
    tables = (
        state_dtype(capacity),
        SLOT,
        EVENT,
        JOB,
        FINISHED,
        PROCESSOR,
        TURN,
        sliding_dtype(capacity),
        PROFILE,
    )
    arguments = [numba.from_dtype(table)[::1] for table in tables]
    if not tracked:
        arguments[tables.index(PROCESSOR)] = types.none
    if not offering:
        arguments[-2] = types.none
    if not backfilling:
        arguments[-1] = types.none
    told = [numba.from_dtype(table)[::1] for table in (BELIEF, NEWS)]
    splits, memory = types.int32[:, ::1], types.float64[::1]
    foresight: Any = types.none
    if foreseeing:
        parts = (moment_dtype(capacity), reservation_dtype(capacity), RELEASE)
        rows = [numba.from_dtype(part)[::1] for part in parts]
        foresight = types.NamedTuple([*rows, memory], Foresight)  # type: ignore[attr-defined]
    signature = types.int64(*arguments, splits, *told, memory, foresight, types.float64)
    entry: Callable[..., int] = advance.get_compile_result(signature).entry_point
    return entry
