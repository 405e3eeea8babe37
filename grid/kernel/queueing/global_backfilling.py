"""Backfilling of the global queue: jobs go before others beside what those have reserved.

A reservation is a moment and processors on some clusters: the first moment, of those at which a
running job is expected to end or a reservation begins or ends, at which the policy, asked as if it
were then, starts the job on processors that are free for all of its expected time. In order of the
queue, the first `state.most_reservations` jobs that must wait have one: the first alone under EASY.
A job starts as soon as the policy starts it on processors that nobody has reserved for a part of
its expected time, or, as reserved, when its reservation begins. Whoever goes before one with a
reservation must slow nobody: no link that it uses is then asked for more than it has.

Ends slide where links are saturated, so that a reservation is no promise there. When a job ends, or
processors change, each job in order gets an earlier moment if there is one; when what is reserved
no longer fits, all reservations are made anew.

A policy that sends a job to the queue of a cluster does so when nobody with a reservation is before
it; what it would send waits otherwise.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from grid.kernel.compile import inlined, part
from grid.kernel.execution_times import show_as_they_are, show_clusters
from grid.kernel.lifecycle.arrival import send
from grid.kernel.lifecycle.departure import reject
from grid.kernel.lifecycle.execution import start_as_taken
from grid.kernel.placing import broken, clear_take, is_there, keep_answer, may_go
from grid.kernel.policies.decisions import call_largest, call_place
from grid.kernel.queueing.availability_profile import (
    come_back,
    could_hold,
    fits,
    foresee,
    imagine,
    let_pass,
    propose,
    reserve,
    see_now,
    soon,
)
from grid.kernel.queueing.global_queue import leave_line
from grid.kernel.state import DRAIN, FULL, GO_ON, NOBODY, NONE, PLACE, REJECT, START, WAIT, State
from grid.kernel.tables import Tables


@inlined
def _begin_pass(state: State, profile: Any) -> None:
    """Begin with the newcomers, if nothing else has happened; else with the head of the queue.

    So it is unless a job runs for longer than was foreseen.
    """
    state.passing = 1
    as_foreseen = state.foreseen == 1 and state.soonest > state.now
    if state.cursor != NONE and state.reservations > 0 and as_foreseen:
        state.before = state.reservations
        state.moment = NONE
        let_pass(state, profile)
    else:
        _begin_anew(state)


@inlined
def _begin_anew(state: State) -> None:
    state.cursor = state.line_first[0]
    state.moment = NONE
    state.before = 0
    state.foreseen = 0
    state.too_large = NOBODY


@inlined
def _go_on(state: State, following: int) -> None:
    """Go on to the job behind the one at the cursor, or NONE."""
    state.cursor = following
    state.moment = NONE


# The job at the cursor may have a reservation of its own: row `state.before` of the reservations.
# While the job is tried, that is not in the profile, and what it may get is in their last row.


@inlined
def _has_own(state: State, foresight: Any) -> bool:
    if state.before >= state.reservations:
        return False
    return bool(foresight.reservations[state.before].job == state.cursor)


@inlined
def _tried(foresight: Any) -> Any:
    return foresight.reservations[len(foresight.reservations) - 1]


@inlined
def _withdraw(state: State, foresight: Any) -> None:
    """Take the job's own reservation out of the profile, to try the job without it."""
    reserve(state, foresight.profile, foresight.reservations[state.before], -1)


@inlined
def _put_back(state: State, foresight: Any) -> None:
    """Have the job wait for its own reservation, and go on beside that."""
    reserve(state, foresight.profile, foresight.reservations[state.before], 1)
    state.before += 1


@part
def _keep(state: State, foresight: Any, own: bool) -> None:
    """Have the job wait for what has been tried, instead of its own reservation if it has one."""
    reservations = foresight.reservations
    if not own:
        if state.reservations == state.most_reservations:
            state.reservations -= 1
            reserve(state, foresight.profile, reservations[state.reservations], -1)
        for index in range(state.reservations, state.before, -1):
            reservations[index] = reservations[index - 1]
        state.reservations += 1
    reservations[state.before] = _tried(foresight)
    _put_back(state, foresight)


@part
def _drop(state: State, reservations: Any) -> None:
    """Forget the job's own reservation, which is no longer in the profile."""
    state.reservations -= 1
    for index in range(state.before, state.reservations):
        reservations[index] = reservations[index + 1]


@inlined
def _must_wait(state: State, slot: Any, memory: Any) -> bool:
    """Tell whether the policy would start no job as large at the moment imagined."""
    if state.largest_at == 0:
        return False
    largest = call_largest(state.largest_at, state.known, memory)
    if state.moment == 0 and state.partial == 0:
        state.too_large = min(state.too_large, largest + 1)
    return bool(slot.size > largest)


@inlined
def _asked(state: State, slot: Any, memory: Any, kept: Any) -> int:
    """Ask a compiled policy about the moment imagined, without a trace unless that is now."""
    if state.moment == 0:
        return int(call_place(state.place_at, state.known, slot, memory))
    stream = state.known.stream
    for index in range(len(kept)):
        kept[index] = memory[index]
    a, b, c, d = stream[0], stream[1], stream[2], stream[3]
    answer = call_place(state.place_at, state.known, slot, kept)
    stream[0], stream[1], stream[2], stream[3] = a, b, c, d
    return int(answer)


@inlined
def _can_start_as_reserved(state: State, own: Any) -> bool:
    can = own.begin <= soon(state)
    for cluster in range(state.clusters):
        can &= own.take[cluster] <= state.free[cluster]
    return bool(can)


@inlined
def _is_late(state: State, own: Any) -> bool:
    """Tell whether what is reserved cannot be had though its time has come."""
    return bool(own.begin <= soon(state) and not _can_start_as_reserved(state, own))


@inlined
def _has_room(state: State, profile: Any, sliding: Any) -> bool:
    """Tell whether the tables have room for whatever becomes of one job."""
    running = state.started - state.completed - state.restarted
    rows = max(state.moments, running + 2 * state.reservations) + 8
    return bool(rows <= len(profile) and state.sliding < len(sliding))


@inlined
def next_beginning(state: State, foresight: Any) -> float:
    """Return when the next reservation begins while no job runs, s; infinity: none does.

    If one runs, its end has all reservations looked at again.
    """
    next_ = np.inf
    if foresight is not None and state.started == state.completed + state.restarted:
        for index in range(state.reservations):
            if foresight.reservations[index].begin > soon(state):
                next_ = min(next_, foresight.reservations[index].begin)
    return next_


@inlined
def _begin_job(state: State, foresight: Any, own: bool) -> None:
    """Begin to try a job with what there is now, beside all reservations but its own."""
    state.moment = 0
    if state.foreseen == 1:
        if own:
            _withdraw(state, foresight)
    elif state.reservations == int(own) and not (
        own and _is_late(state, foresight.reservations[state.before])
    ):
        see_now(state, foresight.profile)  # which is all that matters if it can start
    else:
        state.moments = 0


@part
def _look_ahead(state: State, tables: Tables) -> None:
    """Foresee what is to come, but for what the job being tried has reserved."""
    foresee(state, tables)
    if state.before > state.reservations:
        _begin_anew(state)
    elif _has_own(state, tables.foresight):
        _withdraw(state, tables.foresight)


@inlined
def _may_have(state: State, foresight: Any, own: bool, reserves: bool) -> bool:
    """Tell whether the job may have the moment: now, or what it reserves before its own time."""
    if not (reserves or state.moment == 0) or state.moment >= state.moments:
        return False
    until = np.inf
    if own:
        reserved = foresight.reservations[state.before]
        until = -np.inf if _can_start_as_reserved(state, reserved) else reserved.begin
    return bool(foresight.profile[state.moment].time < until)


@part
def _start(state: State, tables: Tables, own: bool) -> None:
    """Start a job as it was tried; if that moves the ends of others, look ahead anew."""
    foresight, tried = tables.foresight, _tried(tables.foresight)
    if own:
        _drop(state, foresight.reservations)
    for cluster in range(state.clusters):
        state.known.take[cluster] = tried.take[cluster]
    if state.foreseen == 1:
        reserve(state, foresight.profile, tried, 1)
        state.soonest = min(state.soonest, tried.end)
    foreseen = state.foreseen
    start_as_taken(state, tables, tried.job)
    state.foreseen = foreseen
    clear_take(state)
    if state.overloaded == 1:
        state.foreseen = 0
        if state.reservations > 0:
            foresee(state, tables)
            if state.reservations == 0:
                _begin_anew(state)


@inlined
def _fall_back(state: State, tables: Tables, own: bool) -> None:
    """Have a job that may have no moment start as it has reserved, if it can, or wait."""
    foresight = tables.foresight
    _go_on(state, tables.slots[state.cursor].next)
    if own and _can_start_as_reserved(state, foresight.reservations[state.before]):
        foresight.reservations[len(foresight.reservations) - 1] = foresight.reservations[
            state.before
        ]
        _tried(foresight).begin = state.now
        _start(state, tables, own)
    elif own:
        _put_back(state, foresight)


@inlined
def _ask(state: State, tables: Tables, own: bool) -> int:
    """Ask the policy about the job at the moment; return why that cannot go on, or GO_ON."""
    job, moment = state.cursor, tables.foresight.profile[state.moment]
    slot = tables.slots[job]
    if state.answered == 1:
        state.answered = 0
        show_as_they_are(state)
        answer = int(state.answer)
        if answer != state.answer:
            come_back(state)
            return broken(state, job, state.answer)
    else:
        known_to_wait = state.moment == 0 and slot.size >= state.too_large
        may_be_sent = state.moment == 0 and state.before == 0  # for which nothing need be free
        if known_to_wait or not (may_be_sent or could_hold(state, moment, slot.size)):
            state.moment += 1
            return GO_ON
        imagine(state, moment)
        show_clusters(state, tables.slots, job)
        if state.place_at == 0:
            state.job = job
            return PLACE
        answer = WAIT
        if not _must_wait(state, slot, tables.memory):
            answer = _asked(state, slot, tables.memory, tables.foresight.memory)
        show_as_they_are(state)
    there = answer != START or is_there(state, slot)
    come_back(state)
    if not (there and REJECT <= answer < state.clusters and may_go(state, slot, answer)):
        return broken(state, job, answer)
    if answer == START:
        _try_start(state, tables, own)
    elif answer == REJECT or (answer >= 0 and state.moment == 0 and state.before == 0):
        return _part_with(state, tables, own, answer)
    else:
        if answer == WAIT and state.moment == 0 and state.larger_wait == 1:
            state.too_large = min(state.too_large, slot.size)
        state.moment += 1
    return GO_ON


@inlined
def _try_start(state: State, tables: Tables, own: bool) -> None:
    """Start or reserve what `known.take` names, if that fits; else go on to the next moment."""
    foresight, tried = tables.foresight, _tried(tables.foresight)
    profile, first = foresight.profile, state.moment
    slot = tables.slots[state.cursor]
    tried.job = state.cursor
    propose(state, tables.slots, tried, profile[first].time)
    if not fits(state, profile, first, tried, state.before > 0):
        state.moment += 1
        return
    _go_on(state, slot.next)
    if first == 0:
        _start(state, tables, own)
    else:
        _keep(state, foresight, own)


@inlined
def _part_with(state: State, tables: Tables, own: bool, answer: int) -> int:
    """Reject a job or send it to a cluster; return why that cannot be, or GO_ON."""
    job, following = state.cursor, tables.slots[state.cursor].next
    if answer == REJECT and state.finished == len(tables.finished):
        return keep_answer(state, answer, DRAIN)
    if answer != REJECT and tables.slots[job].size > state.size[answer]:
        return broken(state, job, answer)
    if own:
        _drop(state, tables.foresight.reservations)
    if answer == REJECT:
        leave_line(state, tables.slots, job)
        reject(state, tables, job)
    else:
        send(state, tables.slots, tables.events, job, answer)
    _go_on(state, following)
    return GO_ON


@inlined
def _try_job(state: State, tables: Tables) -> int:
    """Take one step with the job at the cursor; return why that cannot go on, or GO_ON.

    It is tried now and then, if it may have a reservation, at one moment to come after another.
    """
    slot, foresight = tables.slots[state.cursor], tables.foresight
    own = _has_own(state, foresight)
    needs_one = slot.next != NONE or state.reservations > 0  # others could go before it
    if state.moment == NONE:
        if slot.size >= state.too_large and state.before >= state.most_reservations:
            _go_on(state, slot.next)
            return GO_ON
        if not _has_room(state, foresight.profile, tables.sliding):
            return FULL
        if not own and state.before == 0 and state.reservations == state.most_reservations == 1:
            # EASY reserves for the first job alone, and a failure threw this one back to the head.
            state.reservations = 0
            state.foreseen = 0
        _begin_job(state, foresight, own)
    if state.foreseen == 0 and state.moment == state.moments:
        if needs_one:
            _look_ahead(state, tables)
        else:
            _go_on(state, NONE)
    elif _may_have(state, foresight, own, needs_one and state.before < state.most_reservations):
        return _ask(state, tables, own)
    else:
        _fall_back(state, tables, own)
    return GO_ON


@inlined
def place_beside_reservations(state: State, tables: Tables) -> int:
    """Offer the jobs that are to be offered; return why that cannot go on, or GO_ON."""
    if state.passing == 0 and (state.cursor != NONE or state.offering_all == 1):
        _begin_pass(state, tables.foresight.profile)
    while state.cursor != NONE:
        reason = _try_job(state, tables)
        if reason != GO_ON:
            return reason
    state.offering_all = 0
    state.passing = 0
    return GO_ON
