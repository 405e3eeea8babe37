"""The event loop: one, resumable, for every policy and every view of a run.

At each instant, in this order: completions, repairs and failures, what brokers deliver, arrivals;
then decisions about jobs that the global scheduler knows, again while clusters give such jobs back
at once, ranks for jobs that landed on clusters, and starts. The loop returns whenever somebody
outside must act, and goes on from there: results do not depend on how often it is interrupted.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from grid.kernel.advertisements import advertise, hear, is_news_out, pass_on, tick_again
from grid.kernel.compile import compiled, inlined
from grid.kernel.events import kind_of, remove_next
from grid.kernel.lifecycle.arrival import become_known, enqueue, land, next_arrival, submit
from grid.kernel.lifecycle.changes import change
from grid.kernel.lifecycle.execution import complete, run_over, run_over_with_parts, start_waiting
from grid.kernel.lifecycle.requeue import give_back, give_back_landing
from grid.kernel.lifecycle.termination import events_awaited, nothing_awaited
from grid.kernel.placing import broken, place_jobs
from grid.kernel.policies.decisions import call_priority
from grid.kernel.processors import have_served
from grid.kernel.queueing.backfilling import note_newcomer, serve
from grid.kernel.queueing.fair_share import has_room, open_rows, rank_by_usage, reorder
from grid.kernel.queueing.global_backfilling import next_beginning, place_beside_reservations
from grid.kernel.queueing.global_queue import offer_again
from grid.kernel.state import (
    ADVERTISEMENT,
    ASKED,
    BREAK,
    CHANGED,
    COLLECTED,
    DRAIN,
    DUE,
    END,
    FAIL,
    FEED,
    FULL,
    GO_ON,
    HEAD,
    LANDED,
    MEND,
    METADATA,
    MISPREDICTED,
    NONE,
    OVER,
    OVERDUE,
    PREDICT,
    RANK,
    REPAIR,
    RETIRE,
    TICK,
    TIME,
    TIMED,
    UNTOUCHED,
    State,
)
from grid.kernel.statistics import let_time_pass
from grid.kernel.tables import Tables


@inlined
def _is_stale(slots: Any, processors: Any, event: Any) -> bool:
    """Tell whether an event is of a job that a failure stopped before."""
    if processors is None or len(processors) == 0:
        return False
    kind = kind_of(event)
    return kind in (END, OVERDUE) and slots[event.subject].end_event != event.turn


@inlined
def _ended(state: State, tables: Tables) -> bool:
    """Let jobs end whose ends stand in the heap; tell whether one did that the scheduler is told.

    Who visits queues is told of one departure at a time.
    """
    slots, events = tables.slots, tables.events
    # Events of the failure model may be overdue: after the last job nobody waits for them.
    while state.events > 0 and events[0].time <= state.now and kind_of(events[0]) == END:
        job = events[0].subject
        stale = _is_stale(slots, tables.processors, events[0])
        remove_next(state, events)
        if not stale:
            slots[job].end_event = NONE
            complete(state, tables, job)
            if state.visits == 1:
                return True
    return False


@inlined
def _slid(state: State, tables: Tables) -> bool:
    """Let co-allocated jobs end; tell whether one did that the scheduler is told, as `_ended`."""
    while state.sliding_end <= state.now:
        complete(state, tables, tables.sliding[state.sliding_first].job)
        if state.visits == 1:
            return True
    return False


@inlined
def _happen(state: State, tables: Tables, processors: Any) -> None:
    """Let the events of this instant happen that are no ends of jobs."""
    events = tables.events
    while state.events > 0 and events[0].time <= state.now:
        kind, subject, item = kind_of(events[0]), events[0].subject, events[0].news
        stale = _is_stale(tables.slots, processors, events[0])
        remove_next(state, events)
        if kind == OVERDUE:
            if not stale:
                run_over(state, tables, subject)
        elif kind == DUE:
            have_served(state, subject)
        elif processors is not None and kind in (REPAIR, FAIL, RETIRE, MEND, BREAK):
            change(state, tables, kind, subject)
        elif kind == ADVERTISEMENT:
            _deliver(state, tables, subject, item)
        elif kind == TICK:
            state.ticking = 0
            state.tick = 1
        elif kind == METADATA:
            state.in_flight -= 1
            become_known(state, tables, subject)
        else:
            state.in_flight -= 1
            land(state, tables.slots, subject)


@inlined
def _deliver(state: State, tables: Tables, row: int, item: int) -> None:
    """Have a broker hear an advertisement, and pass it on."""
    state.in_flight -= 1
    state.advertising -= 1
    above = hear(state, tables.beliefs, tables.news, row, item)
    if pass_on(state, tables, above, item):
        offer_again(state)


@inlined
def _give_back(state: State, tables: Tables, processors: Any) -> None:
    """Have clusters that lost processors give jobs back; where none can be lost, none does."""
    if processors is not None and state.shrunk_any == 1 and state.answered == 0:
        give_back(state, tables)


@inlined
def _come_back(state: State, tables: Tables, processors: Any) -> bool:
    """Have jobs given back that were sent at this instant, as of old news; tell if any are."""
    if processors is not None and state.shrunk_any == 1 and state.answered == 0:
        return give_back_landing(state, tables)
    return False


@inlined
def _place(state: State, tables: Tables, foresight: Any) -> int:
    """Have jobs placed that are offered; return why that cannot go on, or GO_ON."""
    if foresight is None or len(foresight.reservations) == 0:
        return place_jobs(state, tables)
    return place_beside_reservations(state, tables)


@inlined
def _rank_landed(state: State, tables: Tables, profile: Any) -> int:
    """Rank the jobs that landed on clusters; return why that cannot go on, or GO_ON."""
    slots = tables.slots
    while state.landing_first != NONE:
        job = state.landing_first
        cluster = slots[job].cluster
        if state.planned[cluster] > 0:
            rank = np.inf
        elif state.answered == 1:
            rank = state.answer
            state.answered = 0
        elif state.half_life[cluster] > 0.0:
            rank = rank_by_usage(state, slots[job], cluster)
        elif state.priority_at[cluster] != 0:
            rank = call_priority(state.priority_at[cluster], slots[job], state.now)
        else:
            state.job = job
            return RANK
        never = state.service[cluster] == TIMED and rank == np.inf
        if never or not rank <= np.inf:
            return broken(state, job, rank)
        enqueue(state, tables, job, rank)
        if profile is not None and len(profile) > 0:
            note_newcomer(state, slots, job)
    return GO_ON


@inlined
def _serve_queues(state: State, tables: Tables, profile: Any) -> None:
    """Start what can start on the clusters where something changed."""
    for index in range(state.touched_count):
        cluster = state.touched_list[index]
        if state.half_life[cluster] > 0.0:
            reorder(state, tables.slots, tables.by_size, cluster)
        if profile is not None and state.service[cluster] != HEAD:
            serve(state, tables, cluster)
        else:
            start_waiting(state, tables, cluster)


@inlined
def _settle(state: State, tables: Tables) -> int:
    """Take every decision that is open at this instant, and start what can start."""
    _give_back(state, tables, tables.processors)
    reason = _place(state, tables, tables.foresight)
    while reason == GO_ON and _come_back(state, tables, tables.processors):
        reason = _place(state, tables, tables.foresight)
    if reason == GO_ON:
        reason = _rank_landed(state, tables, tables.profile)
    if reason != GO_ON:
        return reason
    if state.replan_any == 1:
        return LANDED
    if state.mispredicted_any == 1:
        return MISPREDICTED
    _serve_queues(state, tables, tables.profile)
    return GO_ON


@inlined
def _advertise(state: State, tables: Tables) -> None:
    """Have the brokers of clusters tell what changed at this instant, or what is due to be told."""
    heard, changed = False, False
    for index in range(state.touched_count):
        cluster = state.touched_list[index]
        if state.touched[cluster] == CHANGED:
            changed = True
            if state.on_change == 1 and state.tick == 0:
                heard |= advertise(state, tables, cluster)
        state.touched[cluster] = UNTOUCHED
    if state.tick == 1:
        state.tick = 0
        # Else nobody would learn anything new from telling it again, and the run would never end.
        happens = events_awaited(state) > state.advertising or state.sliding > 0
        arrives = state.fed < state.chunk_length or state.exhausted == 0
        if happens or arrives or is_news_out(state, tables.beliefs):
            tick_again(state, tables.events)
        for cluster in range(state.clusters):
            heard |= advertise(state, tables, cluster)
    elif state.period > 0.0 and state.ticking == 0 and (changed or state.instants == 0):
        tick_again(state, tables.events)
    state.touched_count = 0
    if heard:
        offer_again(state)


@inlined
def _close_instant(state: State, tables: Tables) -> int:
    """Decide, start and advertise; return why the loop cannot go on, or GO_ON."""
    while True:
        reason = _settle(state, tables)
        if reason != GO_ON:
            return reason
        _advertise(state, tables)
        if state.offering_all == 0:
            break  # else the global scheduler heard something at once
    if state.collected > 0 and state.notify == 1:
        return COLLECTED
    if state.news + state.clusters > len(tables.news):
        return FULL
    # At most one event a live job is added before this point is reached again.
    if state.events + len(tables.slots) + 2 * len(state.free) > len(tables.events):
        return FULL
    return GO_ON


@inlined
def _lacking(state: State, tables: Tables) -> int:
    """Return what is needed before time goes on: rows for jobs that leave, jobs; or GO_ON."""
    if state.finished + len(tables.slots) > len(tables.finished):
        return DRAIN
    if state.splits + state.sliding > len(tables.splits):
        return DRAIN
    if state.fed == state.chunk_length and state.exhausted == 0:
        return FEED
    return GO_ON


@inlined
def _next_event(state: State, tables: Tables) -> float:
    """Return when the next job arrives or ends, or something else is due, s."""
    slots, events = tables.slots, tables.events
    while state.events > 0 and _is_stale(slots, tables.processors, events[0]):
        remove_next(state, events)
    time = next_arrival(state, tables.chunk)
    if state.events > 0 and events[0].time < time:
        time = events[0].time
    if state.sliding_end < time:
        time = state.sliding_end
    if state.sliding_overdue < time:
        time = state.sliding_overdue
    return float(time)


@inlined
def _open_instant(state: State, time: float, reserved: float) -> None:
    """Begin the instant at a time (s)."""
    state.mid_instant = 1
    state.instants += 1
    if time > state.now:
        state.now = time
    let_time_pass(state)
    state.known.now = state.now
    if reserved <= state.now:
        offer_again(state)


@inlined
def _take_arrivals(state: State, tables: Tables) -> int:
    """Submit the jobs that arrive at this instant; return why that cannot go on, or GO_ON.

    Who visits queues is told of one arrival at a time.
    """
    chunk = tables.chunk
    while next_arrival(state, chunk) <= state.now:
        if state.vacant == NONE:
            return FULL
        if state.finished == len(tables.finished):
            return DRAIN
        if state.usage_room > 0:
            if not has_room(state):
                return FULL
            open_rows(state, chunk[state.fed].user)
        if state.predicting == ASKED and state.answered == 0:
            return PREDICT
        submit(state, tables, chunk[state.fed])
        state.fed += 1
        if state.visits == 1:
            break
    if state.fed < state.chunk_length or state.exhausted == 1:
        state.mid_instant = 0
    return GO_ON


@compiled()
def advance(tables: Tables, until: float) -> int:
    """Let everything happen up to and including `until`, or until somebody outside must act.

    Parameters
    ----------
    tables : Tables
        What it works on.
    until : float
        Simulated time, s.

    Returns
    -------
    int
        The reason, one of ``TIME`` to ``VISIT`` of `grid.kernel.state`.
    """
    state = tables.box[0]
    while True:
        reason = GO_ON
        if state.mid_instant == 0:
            reason = _close_instant(state, tables)
        if reason == GO_ON:
            reason = _lacking(state, tables)
        if reason != GO_ON:
            return reason
        time = _next_event(state, tables)
        if state.mid_instant == 1 and time > state.now:
            state.mid_instant = 0
            continue
        if state.fed == state.chunk_length and nothing_awaited(state):
            time = np.inf
        reserved = next_beginning(state, tables.foresight)
        time = min(time, reserved)
        if time == np.inf:
            state.coming = np.inf
            return OVER
        if time > until:
            state.now = max(state.now, until)
            state.coming = time
            return TIME
        if state.mid_instant == 0:
            _open_instant(state, time, reserved)
            if state.sliding_overdue <= state.now:
                run_over_with_parts(state, tables)
            if _ended(state, tables) or _slid(state, tables):
                state.mid_instant = 0
                continue
            _happen(state, tables, tables.processors)
        reason = _take_arrivals(state, tables)
        if reason != GO_ON:
            return reason
