"""The event loop compiled for a world: with room enough, and without what it has no use for."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba.core import types

from grid.jobs import JOB
from grid.kernel import dtypes
from grid.kernel.advance import advance
from grid.kernel.state import state_dtype
from grid.kernel.tables import Foresight, Tables


def _rows(dtype: np.dtype[np.void]) -> Any:
    return numba.from_dtype(dtype)[::1]


@functools.cache
def loop(
    capacity: int, tracked: bool, offering: bool, backfilling: bool, foreseeing: bool
) -> Callable[[Tables, float], int]:
    """Return `advance` for a capacity, as a function that takes its arguments on trust.

    numba's dispatcher looks up the types of all arguments at each call, which takes as long as
    a short decision in Python. Unless `tracked`, processors are None; unless `offering`, sliding;
    unless `backfilling`, profile and
    subtrees; unless `foreseeing`, foresight.
    """
    memory: Any = types.float64[::1]
    splits: Any = types.int32[:, ::1]
    foresight: Any = types.none
    if foreseeing:
        parts = dtypes.moment_dtype(capacity), dtypes.reservation_dtype(capacity), dtypes.RELEASE
        foresight = types.NamedTuple([*map(_rows, parts), memory], Foresight)  # type: ignore[attr-defined]
    tables = Tables(
        box=_rows(state_dtype(capacity)),
        slots=_rows(dtypes.SLOT),
        events=_rows(dtypes.EVENT),
        chunk=_rows(JOB),
        finished=_rows(dtypes.FINISHED),
        splits=splits,
        processors=_rows(dtypes.PROCESSOR) if tracked else types.none,
        turns=_rows(dtypes.TURN),
        sliding=_rows(dtypes.sliding_dtype(capacity)) if offering else types.none,
        profile=_rows(dtypes.PROFILE) if backfilling else types.none,
        subtrees=_rows(dtypes.SUBTREE) if backfilling else types.none,
        beliefs=_rows(dtypes.BELIEF),
        news=_rows(dtypes.NEWS),
        memory=memory,
        foresight=foresight,
    )
    kind = types.NamedTuple(tables, Tables)  # type: ignore[attr-defined]
    # Its own name spells every field of every table, and is part of that of each function.
    kind.name = f"Tables{capacity, tracked, offering, backfilling, foreseeing}"
    signature = types.int64(kind, types.float64)
    entry: Callable[[Tables, float], int] = advance.get_compile_result(signature).entry_point
    return entry
