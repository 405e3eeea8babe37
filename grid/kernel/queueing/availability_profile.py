"""What is to come, as far as it can be foreseen: a profile of free processors and link demand.

Each row holds from its time until that of the next one. It counts on jobs that run to end as
predicted, by the links as they are shared now, and on jobs that wait to keep their reservations. A
policy is asked about a moment of it as about now: `known.free`, `known.demand` and `known.now` are
those of the row, and what it writes into its memory or draws at random is undone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from grid.kernel.bandwidth import set_demand
from grid.kernel.compile import inlined, part, unchecked
from grid.kernel.lifecycle.execution import reckon, residual
from grid.kernel.queueing.releases import (
    drop_first,
    expected_end,
    expected_end_of_parts,
    freed_by,
    order,
)
from grid.kernel.state import COALLOCATED, NONE, State
from grid.kernel.statistics import TOLERANCE
from grid.kernel.tables import Tables


@inlined
def soon(state: State) -> float:
    """Return the instant after now, at which jobs that run longer than expected shall end."""
    return float(np.nextafter(state.now, np.inf))


@part
def _gather_releases(state: State, tables: Tables) -> int:
    """Make a heap of the ends of all running jobs; return how many there are.

    One that runs for longer than expected is about to end, but holds its processors now.
    """
    slots, sliding, releases = tables.slots, tables.sliding, tables.foresight.releases
    count = 0
    for cluster in range(state.clusters):
        job = state.running[cluster]
        while job != NONE:
            releases[count].time = max(expected_end(state, slots[job]), soon(state))
            releases[count].what = job
            count += 1
            job = slots[job].next
    for index in range(state.sliding):
        job = sliding[index].job
        releases[count].time = max(expected_end_of_parts(state, slots[job]), soon(state))
        releases[count].what = job
        count += 1
    order(releases, count)
    return count


@inlined
def see_now(state: State, profile: Any) -> None:
    """Begin the profile with what there is now."""
    state.moments = 1
    profile[0].time = state.now
    for cluster in range(state.clusters):
        profile[0].free[cluster] = state.free[cluster]
    for link in range(state.links):
        profile[0].demand[link] = state.demand[link]


@part
def _expect_running(state: State, tables: Tables) -> None:
    """Write the profile of the running jobs alone."""
    slots, sliding = tables.slots, tables.sliding
    profile, releases = tables.foresight.profile, tables.foresight.releases
    see_now(state, profile)
    count = _gather_releases(state, tables)
    state.soonest = releases[0].time if count > 0 else np.inf
    while count > 0:
        time, job = releases[0].time, releases[0].what
        count = drop_first(releases, count)
        if time > profile[state.moments - 1].time:
            profile[state.moments] = profile[state.moments - 1]
            profile[state.moments].time = time
            state.moments += 1
        row = profile[state.moments - 1]
        if slots[job].status != COALLOCATED:
            cluster = slots[job].cluster
            row.free[cluster] += freed_by(state, tables, cluster, job, slots[job].size)
            continue
        ending = sliding[slots[job].sliding]
        for cluster in range(state.clusters):
            if ending.take[cluster] > 0:
                held = ending.take[cluster]
                row.free[cluster] += freed_by(state, tables, cluster, job, held)
        if state.penalty == 0.0:
            for link in range(state.links):
                row.demand[link] -= ending.demand[link]


@part
def propose(state: State, slots: Any, reservation: Any, begin: float) -> None:
    """Write what would be reserved for its job if that began at a time (s) as `known.take` says.

    That is cleared.
    """
    slot = slots[reservation.job]
    before = slot.execution_time, slot.predicted_time, slot.staging
    parts, _, time = reckon(state, slots, reservation.job)
    reservation.begin = begin
    begin = state.now if begin <= soon(state) else begin
    reservation.end = begin + slot.predicted_time
    for cluster in range(state.clusters):
        reservation.take[cluster] = state.known.take[cluster]
    for link in range(state.links):
        reservation.demand[link] = 0.0
    if parts > 1:
        computation, communication = residual(state, slot, time)
        end = begin + slot.staging + computation + communication
        reservation.end = end + (slot.predicted_time - slot.execution_time)
        if state.penalty == 0.0:
            set_demand(state, reservation, slot.size, slot.ppbw)
    slot.execution_time, slot.predicted_time, slot.staging = before
    for cluster in range(state.clusters):
        state.known.take[cluster] = 0


@part
def foresee(state: State, tables: Tables) -> None:
    """Write the profile; forget all reservations if they no longer fit.

    A reservation whose time has come begins now or, if some job runs longer than expected, when
    that shall end: those who wait for its processors keep their places.
    """
    profile = tables.foresight.profile
    _expect_running(state, tables)
    due = soon(state) if state.soonest <= soon(state) else state.now
    fits = True
    for index in range(state.reservations):
        reservation = tables.foresight.reservations[index]
        if reservation.begin <= state.now:
            for cluster in range(state.clusters):
                state.known.take[cluster] = reservation.take[cluster]
            propose(state, tables.slots, reservation, due)
        fits &= reserve(state, profile, reservation, 1)
    if not fits:
        state.reservations = 0
        _expect_running(state, tables)
    state.foreseen = 1


@part
def let_pass(state: State, profile: Any) -> None:
    """Have the profile begin now: moments that have passed were as what is now."""
    past = 0
    while past + 1 < state.moments and profile[past + 1].time <= state.now:
        past += 1
    state.moments -= past
    if past > 0:
        for index in range(state.moments):
            profile[index] = profile[index + past]
    profile[0].time = state.now


@unchecked
def _moment_at(state: State, profile: Any, time: float, begin: int) -> int:
    """Return the row that begins at a time (s), not before row `begin`; it is made if need be."""
    row = begin
    while row < state.moments and profile[row].time < time:
        row += 1
    if row == state.moments or profile[row].time > time:
        for below in range(state.moments, row, -1):
            profile[below] = profile[below - 1]
        profile[row] = profile[row - 1]
        profile[row].time = time
        state.moments += 1
    return row


@part
def reserve(state: State, profile: Any, reservation: Any, times: int) -> bool:
    """Put a reservation into the profile, or (-1 times) take it out; tell whether all of it fits.

    A job that shall take no time claims nothing.
    """
    begin = _moment_at(state, profile, reservation.begin, 0)
    end = _moment_at(state, profile, reservation.end, begin)
    fits = True
    for index in range(begin, end):
        row = profile[index]
        for cluster in range(state.clusters):
            row.free[cluster] -= times * reservation.take[cluster]
            fits &= row.free[cluster] >= 0
        for link in range(state.links):
            row.demand[link] += times * reservation.demand[link]
    return fits


@part
def fits(state: State, profile: Any, first: int, reservation: Any, slows_nobody: bool) -> bool:
    """Tell whether a reservation that begins with row `first` fits into the profile.

    If need be only where no link that it uses is asked for more than it has.
    """
    index = first
    while index < state.moments and profile[index].time < reservation.end:
        row = profile[index]
        for cluster in range(state.clusters):
            if reservation.take[cluster] > row.free[cluster]:
                return False
        if slows_nobody:
            for link in range(state.links):
                demand = row.demand[link] + reservation.demand[link]
                if reservation.demand[link] > 0.0 and state.capacity[link] < demand * (
                    1.0 - TOLERANCE
                ):
                    return False
        index += 1
    return True


@inlined
def could_hold(state: State, moment: Any, size: int) -> bool:
    """Tell whether as many processors as a job needs are free at a moment."""
    free = 0
    for cluster in range(state.clusters):
        free += moment.free[cluster]
    return free >= size


@inlined
def imagine(state: State, moment: Any) -> None:
    """Have the scheduler know a moment as if it were now."""
    state.known.now = moment.time
    for cluster in range(state.clusters):
        state.known.free[cluster] = moment.free[cluster]
    for link in range(state.links):
        state.known.demand[link] = moment.demand[link]


@inlined
def come_back(state: State) -> None:
    """Have the scheduler know what is true now; it knows all at once."""
    state.known.now = state.now
    for cluster in range(state.clusters):
        state.known.free[cluster] = state.free[cluster]
    for link in range(state.links):
        state.known.demand[link] = state.demand[link]
