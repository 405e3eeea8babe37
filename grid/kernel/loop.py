"""The event loop compiled for a world: with room enough, and able to do what it needs."""

from __future__ import annotations

import enum
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


class Kind(enum.Enum):
    """What a compiled loop can do. Few kinds: each takes half a minute to compile, once."""

    PLAIN = "plain"
    """No processor has an identity, so that none fails, and queues are served from their heads."""

    FULL = "full"
    """All but reservations of jobs that wait globally."""

    FORESEEING = "foreseeing"
    """All."""


WITHOUT = {
    Kind.PLAIN: ("processors", "profile", "blocks", "changes", "by_size", "foresight"),
    Kind.FULL: ("foresight",),
    Kind.FORESEEING: (),
}
"""Tables that are None in runs of each kind."""


def _rows(dtype: np.dtype[np.void]) -> Any:
    return numba.from_dtype(dtype)[::1]


@functools.cache
def loop(capacity: int, kind: Kind) -> Callable[[Tables, float], int]:
    """Return `advance` for a capacity, as a function that takes its arguments on trust.

    numba's dispatcher looks up the types of all arguments at each call, which takes as long as
    a short decision in Python.
    """
    memory: Any = types.float64[::1]
    splits: Any = types.int32[:, ::1]
    parts = dtypes.moment_dtype(capacity), dtypes.reservation_dtype(capacity), dtypes.RELEASE
    tables = Tables(
        box=_rows(state_dtype(capacity)),
        slots=_rows(dtypes.SLOT),
        events=_rows(dtypes.EVENT),
        chunk=_rows(JOB),
        finished=_rows(dtypes.FINISHED),
        splits=splits,
        processors=_rows(dtypes.PROCESSOR),
        turns=_rows(dtypes.TURN),
        sliding=_rows(dtypes.sliding_dtype(capacity)),
        profile=_rows(dtypes.PROFILE),
        blocks=_rows(dtypes.PROFILE_BLOCK),
        changes=_rows(dtypes.RELEASE),
        by_size=_rows(dtypes.BY_SIZE),
        beliefs=_rows(dtypes.BELIEF),
        news=_rows(dtypes.NEWS),
        memory=memory,
        foresight=types.NamedTuple([*map(_rows, parts), memory], Foresight),  # type: ignore[attr-defined]
    )
    left_out: dict[str, Any] = dict.fromkeys(WITHOUT[kind], types.none)
    taken = tables._replace(**left_out)
    of = types.NamedTuple(taken, Tables)  # type: ignore[attr-defined]
    # Its own name spells every field of every table, and is part of that of each function.
    of.name = f"Tables{capacity, kind.value}"
    signature = types.int64(of, types.float64)
    entry: Callable[[Tables, float], int] = advance.get_compile_result(signature).entry_point
    return entry
