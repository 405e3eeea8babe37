"""The event loop: one, resumable, for every policy and every view of a run.

At each instant, in this order: completions, repairs and failures, what brokers deliver, arrivals;
then decisions about jobs that the global scheduler knows, ranks for jobs that landed on clusters,
and starts. The loop returns whenever somebody outside must act, and goes on from there: results
do not depend on how often it is interrupted.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from grid.kernel.advertisements import advertise, hear, is_news_out, pass_on, tick_again
from grid.kernel.arrival import become_known, enqueue, land, next_arrival, submit
from grid.kernel.compile import compiled, inlined
from grid.kernel.events import kind_of, plan_failure, remove_next
from grid.kernel.execution import complete, fail, repair, retire, start_waiting
from grid.kernel.placing import place_jobs
from grid.kernel.policies.decisions import call_priority
from grid.kernel.queueing.backfilling import note_newcomer, serve
from grid.kernel.queueing.fair_share import has_room, open_rows, rank_by_usage, reorder
from grid.kernel.queueing.global_backfilling import next_beginning, place_beside_reservations
from grid.kernel.queueing.global_queue import offer_again
from grid.kernel.requeue import give_back
from grid.kernel.state import (
    ADVERTISEMENT,
    ASKED,
    BREAK,
    BROKEN,
    COLLECTED,
    DRAIN,
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
    PREDICT,
    RANK,
    REPAIR,
    RETIRE,
    TICK,
    TIME,
)
from grid.kernel.statistics import let_time_pass
from grid.kernel.termination import count_in_vain, nothing_awaited


@inlined
def _is_stale(slots: Any, event: Any) -> bool:
    """Tell whether an event is the end of a job that a failure stopped before."""
    return kind_of(event) == END and slots[event.subject].end_event != event.turn


@inlined
def _change(
    state: Any,
    slots: Any,
    events: Any,
    processors: Any,
    turns: Any,
    sliding: Any,
    kind: int,
    processor: int,
) -> None:
    """Have a processor fail, go, or come back."""
    if kind in (BREAK, MEND):
        state.background -= 1
        count_in_vain(state)
    if kind == REPAIR:
        repair(state, slots, processors, turns, processor)
    elif kind == FAIL:
        fail(state, slots, events, processors, turns, sliding, processor)
    elif kind == RETIRE:
        retire(state, slots, processors, turns, processor)
    elif kind == BREAK:
        state.broken += 1
        fail(state, slots, events, processors, turns, sliding, processor)
        plan_failure(state, events, MEND, state.mean_down, processor)
    else:
        state.broken -= 1
        repair(state, slots, processors, turns, processor)
        plan_failure(state, events, BREAK, state.mean_up, processor)


@inlined
def _happen(
    state: Any,
    slots: Any,
    events: Any,
    processors: Any,
    turns: Any,
    sliding: Any,
    finished: Any,
    splits: Any,
    beliefs: Any,
    news: Any,
) -> bool:
    """Let the events of this instant happen that stand in the heap or slide.

    If queues are visited, one departure at a time, and what else happens when there is none.
    """
    # Those of the failure model may be overdue: after the last job nobody waits for them.
    while state.events > 0 and events[0].time <= state.now:
        if kind_of(events[0]) != END:
            break
        job = events[0].subject
        stale = processors is not None and _is_stale(slots, events[0])
        remove_next(state, events)
        if not stale:
            slots[job].end_event = NONE
            complete(state, slots, processors, turns, sliding, finished, splits, job)
            if state.visits == 1:
                return True
    while sliding is not None and state.sliding_end <= state.now:
        job = sliding[state.sliding_first].job
        complete(state, slots, processors, turns, sliding, finished, splits, job)
        if state.visits == 1:
            return True
    while state.events > 0 and events[0].time <= state.now:
        kind, subject = kind_of(events[0]), events[0].subject
        item = events[0].news
        remove_next(state, events)
        if processors is not None and kind in (REPAIR, FAIL, RETIRE, MEND, BREAK):
            _change(state, slots, events, processors, turns, sliding, kind, subject)
        elif kind == ADVERTISEMENT:
            state.in_flight -= 1
            state.advertising -= 1
            above = hear(state, beliefs, news, subject, item)
            if pass_on(state, events, beliefs, news, above, item):
                offer_again(state)
        elif kind == TICK:
            state.ticking = 0
            state.tick = 1
        elif kind == METADATA:
            state.in_flight -= 1
            become_known(state, slots, subject)
        else:
            state.in_flight -= 1
            land(state, slots, subject)
    return False


@inlined
def _settle(
    state: Any,
    slots: Any,
    events: Any,
    processors: Any,
    turns: Any,
    sliding: Any,
    profile: Any,
    finished: Any,
    memory: Any,
    foresight: Any,
) -> int:
    """Take every decision that is open at this instant, and start what can start."""
    if processors is not None and state.shrunk_any == 1 and state.answered == 0:
        give_back(state, slots, events, processors, turns)
    if sliding is not None:
        if foresight is None:
            reason = place_jobs(state, slots, events, processors, turns, sliding, finished, memory)
        else:
            reason = place_beside_reservations(
                state, slots, events, processors, turns, sliding, finished, memory, foresight
            )
        if reason != GO_ON:
            return reason
    while state.landing_first != NONE:
        job = state.landing_first
        cluster = slots[job].cluster
        if state.planned[cluster] == 1:
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
        if not rank <= np.inf:
            state.job = job
            state.answer = rank
            return BROKEN
        enqueue(state, slots, job, rank)
        if profile is not None:
            note_newcomer(state, slots, job)
    if state.replan_any == 1:
        return LANDED
    if state.mispredicted_any == 1:
        return MISPREDICTED
    for index in range(state.touched_count):
        cluster = state.touched_list[index]
        if state.half_life[cluster] > 0.0:
            reorder(state, slots, cluster)
        if profile is not None and state.service[cluster] != HEAD:
            serve(state, slots, events, processors, turns, sliding, profile, cluster)
        else:
            start_waiting(state, slots, events, processors, turns, cluster)
    return GO_ON


@inlined
def _advertise(state: Any, slots: Any, events: Any, beliefs: Any, news: Any) -> None:
    """Have the brokers of clusters tell what changed at this instant, or what is due to be told."""
    heard = False
    for index in range(state.touched_count):
        cluster = state.touched_list[index]
        state.touched[cluster] = 0
        if state.on_change == 1 and state.tick == 0:
            heard |= advertise(state, events, beliefs, news, cluster)
    if state.tick == 1:
        state.tick = 0
        # Else nobody would learn anything new from telling it again, and the run would never end.
        happens = state.events > state.background + state.advertising or state.sliding > 0
        arrives = state.fed < state.chunk_length or state.exhausted == 0
        if happens or arrives or is_news_out(state, beliefs):
            tick_again(state, events)
        for cluster in range(state.clusters):
            heard |= advertise(state, events, beliefs, news, cluster)
    elif state.period > 0.0 and state.ticking == 0 and state.touched_count > 0:
        tick_again(state, events)
    state.touched_count = 0
    if heard:
        offer_again(state)


@compiled()
def advance(
    box: Any,
    slots: Any,
    events: Any,
    chunk: Any,
    finished: Any,
    processors: Any,
    turns: Any,
    sliding: Any,
    profile: Any,
    splits: Any,
    beliefs: Any,
    news: Any,
    memory: Any,
    foresight: Any,
    until: float,
) -> int:
    """Let everything happen up to and including `until`, or until somebody outside must act.

    Parameters
    ----------
    box, slots, events, chunk, finished, processors, turns, sliding, profile, beliefs, news
        The tables of `grid.kernel.dtypes`, structured arrays; the first holds one state record.
        Without `processors` their identities are not kept, and none changes; without `sliding`
        the global scheduler collects jobs, and starts none itself; without `profile` clusters start
        no job before the head of their queue. What handles an absent table is not compiled.
    splits : array of int32, shape (rows, clusters)
        Processors of the co-allocated jobs among `finished`, on each cluster.
    memory : array of float64
        Belongs to the global scheduler's policy.
    foresight : Foresight or None
        What jobs that wait globally have reserved; without it none of them does.
    until : float
        Simulated time, s.

    Returns
    -------
    int
        The reason, one of ``TIME`` to ``MISPREDICTED`` of `grid.kernel.state`.
    """
    state = box[0]
    while True:
        if state.mid_instant == 0:
            reason = _settle(
                state,
                slots,
                events,
                processors,
                turns,
                sliding,
                profile,
                finished,
                memory,
                foresight,
            )
            if reason != GO_ON:
                return reason
            _advertise(state, slots, events, beliefs, news)
            if state.offering_all == 1:
                continue  # what the global scheduler heard at once
            if state.collected > 0 and state.notify == 1:
                return COLLECTED
            if state.news + state.clusters > len(news):
                return FULL
            # At most one event a live job is added before this point is reached again.
            if state.events + len(slots) + 2 * len(state.free) > len(events):
                return FULL
        if state.finished + len(slots) > len(finished):
            return DRAIN
        if state.splits + state.sliding > len(splits):
            return DRAIN
        if state.fed == state.chunk_length and state.exhausted == 0:
            return FEED
        while processors is not None and state.events > 0 and _is_stale(slots, events[0]):
            remove_next(state, events)
        arriving = state.fed < state.chunk_length
        time = next_arrival(state, chunk)
        if state.events > 0 and events[0].time < time:
            time = events[0].time
        if state.sliding_end < time:
            time = state.sliding_end
        if state.mid_instant == 1 and time > state.now:
            state.mid_instant = 0
            continue
        if not arriving and nothing_awaited(state):
            time = np.inf
        reserved = np.inf
        if foresight is not None:
            reserved = next_beginning(state, foresight.reservations)
            time = min(time, reserved)
        if time == np.inf:
            state.coming = np.inf
            return OVER
        if time > until:
            state.now = max(state.now, until)
            state.coming = time
            return TIME
        if state.mid_instant == 0:
            state.instants += 1
            let_time_pass(state, time)
            if time > state.now:
                state.now = time
            state.known.now = state.now
            if reserved <= state.now:
                offer_again(state)
            state.mid_instant = 1
            more = _happen(
                state, slots, events, processors, turns, sliding, finished, splits, beliefs, news
            )
            if more:
                state.mid_instant = 0
                continue
        while next_arrival(state, chunk) <= state.now:
            if state.vacant == NONE:
                return FULL
            if state.finished == len(finished):
                return DRAIN
            if state.usage_room > 0:
                if not has_room(state):
                    return FULL
                open_rows(state, chunk[state.fed].user)
            if state.predicting == ASKED and state.answered == 0:
                return PREDICT
            submit(state, slots, events, finished, chunk[state.fed])
            state.fed += 1
            if state.visits == 1:
                break
        if state.fed < state.chunk_length or state.exhausted == 1:
            state.mid_instant = 0
