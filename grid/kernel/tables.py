"""The tables of the kernel, which travel through it as one."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from grid.kernel.compile import inlined

Table = npt.NDArray[np.void]
"""A structured array; its dtype is in `grid.kernel.dtypes` or `grid.kernel.state`."""


class Foresight(NamedTuple):
    """The tables of a run in which jobs that wait globally have reservations.

    They are used in `grid.kernel.queueing.global_backfilling`.
    """

    profile: Table
    """Moments to come (`moment_dtype`); `state.moments` rows are in use."""

    reservations: Table
    """Of `reservation_dtype`, in the order of the queue; `state.reservations` rows are in use, and
    the last one is of the job that is being tried."""

    releases: Table
    """Scratch of `RELEASE`, a row for each slot."""

    memory: npt.NDArray[np.float64]
    """The policy's, while it is asked about a moment to come."""


class Tables(NamedTuple):
    """What the event loop works on.

    Functions that index one table or two take those; functions that reach for more, or pass them
    on, take all. A table that a run has no use for has no rows. In plain runs (`grid.kernel.loop`)
    some are None, and what handles them is not compiled: numba leaves a branch out only where it
    compares a parameter with None, so such a table is given to the function that asks.
    """

    box: Table
    """One record: the state (`state_dtype`)."""

    slots: Table
    """The live jobs (`SLOT`), and vacant rows."""

    events: Table
    """A heap of `EVENT`; `state.events` rows are in use."""

    chunk: Table
    """The jobs that arrive next (`grid.jobs.JOB`); `state.fed` rows have arrived."""

    finished: Table
    """The jobs that left since the table was taken out (`FINISHED`); `state.finished` rows."""

    splits: npt.NDArray[np.int32]
    """Processors of the co-allocated jobs among those, shape (rows, clusters); `state.splits` rows.
    """

    processors: Table | Any
    """Who holds each processor (`PROCESSOR`). Without rows, or None, in a run that is not tracked:
    no processor has an identity, and none fails, goes or comes back."""

    turns: Table
    """Turns of jobs on processors in plans that name them (`TURN`), linked lists."""

    sliding: Table
    """The co-allocated jobs that run (`sliding_dtype`); `state.sliding` rows."""

    profile: Table | Any
    """Scratch of conservative backfilling (`PROFILE`). Without rows, or None, where every cluster
    starts jobs from the head of its queue only."""

    blocks: Table | Any
    """The blocks that the rows of the profile stand in (`PROFILE_BLOCK`)."""

    changes: Table | Any
    """What the profile is made from (`RELEASE`), a heap while it is."""

    by_size: Table | Any
    """The waiting jobs of each size (`BY_SIZE`). Without rows, or None, where there is no profile.
    """

    beliefs: Table
    """What each broker believes of each cluster below it (`BELIEF`)."""

    news: Table
    """Advertisements on their way (`NEWS`), and vacant rows."""

    memory: npt.NDArray[np.float64]
    """Belongs to the global scheduler's policy."""

    foresight: Foresight | Any
    """What jobs that wait globally have reserved. Its tables have no rows, or it is None, where
    they reserve nothing."""


_UNUSED: Any = None


@inlined
def between_runs(
    box: Any, slots: Any, events: Any, processors: Any, turns: Any, sliding: Any
) -> Tables:
    """Return the tables that change while the loop stands still; it alone uses the others."""
    return Tables(
        box, slots, events, _UNUSED, _UNUSED, _UNUSED, processors, turns, sliding, _UNUSED,
        _UNUSED, _UNUSED, _UNUSED, _UNUSED, _UNUSED, _UNUSED, _UNUSED,
    )  # fmt: skip
