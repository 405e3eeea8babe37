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

from grid.kernel.arrival import send
from grid.kernel.compile import inlined, part
from grid.kernel.departure import reject
from grid.kernel.execution import start_as_taken
from grid.kernel.placing import broken, clear_take
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
)
from grid.kernel.queueing.global_queue import leave_line
from grid.kernel.state import DRAIN, FULL, GO_ON, NOBODY, NONE, PLACE, REJECT, START, WAIT


@inlined
def _begin_pass(state: Any, profile: Any) -> None:
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
def _begin_anew(state: Any) -> None:
    state.cursor = state.line_first[0]
    state.moment = NONE
    state.before = 0
    state.foreseen = 0
    state.too_large = NOBODY


@inlined
def _has_own(state: Any, foresight: Any, job: int) -> bool:
    """Tell whether the job that is being tried has a reservation."""
    own = foresight.reservations[state.before]
    return bool(state.before < state.reservations and own.job == job)


@part
def _keep(state: Any, profile: Any, reservations: Any, own: bool) -> None:
    """Keep what is in the last row of the reservations as that of the job being tried."""
    if not own:
        if state.reservations == state.most_reservations:
            state.reservations -= 1
            reserve(state, profile, reservations[state.reservations], -1)
        for index in range(state.reservations, state.before, -1):
            reservations[index] = reservations[index - 1]
        state.reservations += 1
    reservations[state.before] = reservations[len(reservations) - 1]
    reserve(state, profile, reservations[state.before], 1)
    state.before += 1


@part
def _drop(state: Any, reservations: Any) -> None:
    """Forget the reservation of the job being tried, which is no longer in the profile."""
    state.reservations -= 1
    for index in range(state.before, state.reservations):
        reservations[index] = reservations[index + 1]


@inlined
def _is_there(state: Any, size: int) -> bool:
    """Tell whether `known.take` names as many processors as a job needs, all of them free."""
    taken = 0
    for cluster in range(len(state.free)):
        count = state.known.take[cluster]
        if count < 0 or count > state.known.free[cluster]:
            return False
        taken += count
    return bool(taken == size)


@inlined
def _must_wait(state: Any, slot: Any, memory: Any) -> bool:
    """Tell whether the policy would start no job as large at the moment imagined."""
    if state.largest_at == 0:
        return False
    largest = call_largest(state.largest_at, state.known, memory)
    if state.moment == 0:
        state.too_large = min(state.too_large, largest + 1)
    return bool(slot.size > largest)


@inlined
def _asked(state: Any, slot: Any, memory: Any, kept: Any) -> int:
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
def _can_start_as_reserved(state: Any, own: Any) -> bool:
    can = own.begin <= state.now
    for cluster in range(state.clusters):
        can &= own.take[cluster] <= state.free[cluster]
    return bool(can)


@inlined
def _is_late(state: Any, own: Any) -> bool:
    """Tell whether what is reserved cannot be had though its time has come."""
    return bool(own.begin <= state.now and not _can_start_as_reserved(state, own))


@inlined
def _start(
    state: Any,
    slots: Any,
    events: Any,
    processors: Any,
    turns: Any,
    sliding: Any,
    profile: Any,
    reservation: Any,
) -> None:
    """Start the job of a reservation, now."""
    for cluster in range(state.clusters):
        state.known.take[cluster] = reservation.take[cluster]
    if state.foreseen == 1:
        reserve(state, profile, reservation, 1)
        state.soonest = min(state.soonest, reservation.end)
    start_as_taken(state, slots, events, processors, turns, sliding, reservation.job)
    clear_take(state)


@inlined
def _has_room(state: Any, profile: Any, sliding: Any) -> bool:
    """Tell whether the tables have room for whatever becomes of one job."""
    running = state.started - state.completed - state.restarted
    rows = max(state.moments, running + 2 * state.reservations) + 8
    return bool(rows <= len(profile) and state.sliding < len(sliding))


@inlined
def next_beginning(state: Any, reservations: Any) -> float:
    """Return when the next reservation begins while no job runs, s; infinity: none does.

    If one runs, its end has all reservations looked at again.
    """
    next_ = np.inf
    if state.started == state.completed + state.restarted:
        for index in range(state.reservations):
            if reservations[index].begin > state.now:
                next_ = min(next_, reservations[index].begin)
    return next_


@inlined
def place_beside_reservations(
    state: Any,
    slots: Any,
    events: Any,
    processors: Any,
    turns: Any,
    sliding: Any,
    finished: Any,
    memory: Any,
    foresight: Any,
) -> int:
    """Offer the jobs that are to be offered; return why that cannot go on, or GO_ON."""
    profile, reservations = foresight.profile, foresight.reservations
    tried = reservations[len(reservations) - 1]
    if state.passing == 0 and (state.cursor != NONE or state.offering_all == 1):
        _begin_pass(state, profile)
    while state.cursor != NONE:
        job = state.cursor
        slot = slots[job]
        size, following = slot.size, slot.next
        own = _has_own(state, foresight, job)
        needs_one = following != NONE or state.reservations > 0  # others could go before it
        if state.moment == NONE:
            if size >= state.too_large and state.before >= state.most_reservations:
                state.cursor = following
                continue
            if not _has_room(state, profile, sliding):
                return FULL
            state.moment = 0
            if state.foreseen == 1:
                if own:
                    reserve(state, profile, reservations[state.before], -1)
            elif state.reservations == int(own) and not (
                own and _is_late(state, reservations[state.before])
            ):
                see_now(state, profile)  # which is all that matters if it can start
            else:
                state.moments = 0
        if state.foreseen == 0 and state.moment == state.moments:
            if not needs_one:
                break
            foresee(state, slots, processors, sliding, foresight)
            if state.before > state.reservations:
                _begin_anew(state)
            elif _has_own(state, foresight, job):
                reserve(state, profile, reservations[state.before], -1)
            continue
        until = reservations[state.before].begin if own else np.inf
        started = False
        reserves = needs_one and state.before < state.most_reservations
        if (
            (reserves or state.moment == 0)
            and state.moment < state.moments
            and profile[state.moment].time < until
        ):
            moment = profile[state.moment]
            if state.answered == 1:
                state.answered = 0
                answer = int(state.answer)
                if answer != state.answer:
                    come_back(state)
                    return broken(state, job, state.answer)
            else:
                known_to_wait = state.moment == 0 and size >= state.too_large
                if known_to_wait or not could_hold(state, moment, size):
                    state.moment += 1
                    continue
                imagine(state, moment)
                if state.place_at == 0:
                    state.job = job
                    return PLACE
                answer = WAIT
                if not _must_wait(state, slot, memory):
                    answer = _asked(state, slot, memory, foresight.memory)
            is_there = answer != START or _is_there(state, size)
            come_back(state)
            if not is_there or not REJECT <= answer < state.clusters:
                return broken(state, job, answer)
            fitting = False
            if answer == START:
                tried.job = job
                propose(state, slot, tried, moment.time)
                fitting = fits(state, profile, state.moment, tried, state.before > 0)
            if fitting and state.moment > 0:
                _keep(state, profile, reservations, own)
            elif fitting:
                if own:
                    _drop(state, reservations)
                _start(state, slots, events, processors, turns, sliding, profile, tried)
                started = True
            elif answer == REJECT:
                if state.finished == len(finished):
                    state.answered = 1
                    state.answer = answer
                    return DRAIN
                if own:
                    _drop(state, reservations)
                leave_line(state, slots, job)
                reject(state, slots, finished, job)
            elif answer >= 0 and state.moment == 0 and state.before == 0:
                if size > state.size[answer]:
                    return broken(state, job, answer)
                if own:
                    _drop(state, reservations)
                send(state, slots, events, job, answer)
            else:
                if answer == WAIT and state.moment == 0 and state.larger_wait == 1:
                    state.too_large = min(state.too_large, size)
                state.moment += 1
                continue
        elif own and _can_start_as_reserved(state, reservations[state.before]):
            reservations[len(reservations) - 1] = reservations[state.before]
            _drop(state, reservations)
            _start(state, slots, events, processors, turns, sliding, profile, tried)
            started = True
        elif own:
            reserve(state, profile, reservations[state.before], 1)
            state.before += 1
        state.cursor = following
        state.moment = NONE
        if started and state.overloaded == 1:
            # It may have moved the ends of others.
            state.foreseen = 0
            if state.reservations > 0:
                foresee(state, slots, processors, sliding, foresight)
                if state.reservations == 0:
                    _begin_anew(state)
    state.cursor = NONE
    state.offering_all = 0
    state.passing = 0
    return GO_ON
