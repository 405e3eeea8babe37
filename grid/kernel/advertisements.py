"""What brokers tell each other of their clusters: processors, queues, finished work.

A cluster's broker tells the one above it, which passes the news on, up to the global one. Each
believes what it heard last.
"""

from __future__ import annotations

from typing import Any

from grid.kernel.compile import inlined, part
from grid.kernel.events import schedule
from grid.kernel.policies.message_hook import tell
from grid.kernel.policies.policy_view import change_work, share_work
from grid.kernel.processors import learn_up
from grid.kernel.state import ADVERTISED, ADVERTISEMENT, NONE, TICK, State
from grid.kernel.tables import Tables
from grid.streams import uniform


@inlined
def learn_finished(state: State, cluster: int, work: float, jobs: int) -> None:
    """Let the global broker know of work that a cluster is through with."""
    state.known.unfinished[cluster] -= jobs
    if state.known.unfinished[cluster] == 0:
        work = state.known.work[cluster]  # whatever rounding left
    change_work(state.known, cluster, -work)


@inlined
def learn_done(state: State, cluster: int, work: float) -> None:
    """Take note that a cluster is through with a job, for its broker to tell, or known at once."""
    if state.at_once[cluster] == 1:
        learn_finished(state, cluster, work, 1)
    else:
        state.finished_work[cluster] += work
        state.finished_jobs[cluster] += 1


@part
def learn_returned(state: State, beliefs: Any, cluster: int, at: float, size: int) -> None:
    """Let the brokers above a cluster know that it gave a job back at a time (s).

    So fewer processors remained than the job needs, if no advertisement of later has told of more.
    """
    if at > state.returned_at[cluster]:
        state.returned_at[cluster] = at
        state.returned_size[cluster] = size
    elif at == state.returned_at[cluster]:
        state.returned_size[cluster] = min(state.returned_size[cluster], size)
    if state.known.at[cluster] <= at:
        state.known.up[cluster] = min(state.known.up[cluster], size - 1)
        state.known.free[cluster] = min(state.known.free[cluster], state.known.up[cluster])
        share_work(state.known, cluster)
    first = state.first_belief[cluster]
    for row in range(first, first + state.hops[cluster]):
        if beliefs[row].at <= at:
            beliefs[row].up = min(beliefs[row].up, size - 1)
            beliefs[row].free = min(beliefs[row].free, beliefs[row].up)


@inlined
def news_of(state: State, cluster: int, size: int) -> float:
    """Return as of when (s) a cluster is known that a job of a size is sent to.

    What it gave back tells nothing of whether it can hold a smaller job.
    """
    if size >= state.returned_size[cluster]:
        return float(max(state.known.at[cluster], state.returned_at[cluster]))
    return float(state.known.at[cluster])


@inlined
def _lost(state: State) -> bool:
    """Draw whether a message is lost on a hop."""
    if state.loss > 0.0 and uniform(state.loss_stream) < state.loss:
        state.lost += 1
        return True
    return False


@inlined
def repeated(
    state: State, kind: int, job: int, sender: int, receiver: int, after: float = 0.0
) -> float:
    """Count a message that is sent again until each hop has carried it; return the time lost, s.

    Sender and receiver are clusters, or NONE for the global broker; it is sent `after` s from now.
    """
    time, up, hops = 0.0, 0, 0
    if sender != NONE:
        up = hops = state.hops[sender]
    if receiver != NONE:
        hops += state.hops[receiver]
    state.messages[kind] += 1
    tell(state, kind, job, sender, receiver, NONE, after)
    for hop in range(hops):
        one_way = state.hop_latency
        if hop == 0 and up > 0:
            one_way = state.first_hop[sender]
        elif hop == hops - 1 and hops > up:
            one_way = state.first_hop[receiver]
        while _lost(state):
            tell(state, kind, job, sender, receiver, hop, after + time)
            state.messages[kind] += 1
            time += 2.0 * one_way  # until the acknowledgement is overdue
    return time


@inlined
def hear(state: State, beliefs: Any, news: Any, row: int, item: int) -> int:
    """Have a broker believe what an advertisement says; return the row above it, or NONE."""
    belief, told = beliefs[row], news[item]
    # The age, since what was believed was true, grew at a constant rate.
    since = state.now - belief.heard_at
    belief.age += since * (0.5 * (state.now + belief.heard_at) - belief.at)
    belief.heard += 1
    belief.heard_at = state.now
    belief.at = told.at
    belief.free = told.free
    belief.up = told.up
    belief.waiting = told.waiting
    belief.left = told.left
    if belief.above == NONE:
        cluster = belief.cluster
        work = told.finished_work - state.told_work[cluster]
        learn_finished(state, cluster, work, told.finished_jobs - state.told_jobs[cluster])
        state.told_work[cluster] = told.finished_work
        state.told_jobs[cluster] = told.finished_jobs
        state.known.at[cluster] = told.at
        state.known.free[cluster] = told.free
        learn_up(state, cluster, told.up)
        state.known.waiting[cluster] = told.waiting
    return int(belief.above)


@part
def pass_on(state: State, tables: Tables, row: int, item: int) -> bool:
    """Carry news to the broker of `row`, and on up; tell whether the global one heard it at once.

    It stops where a hop takes time or loses it.
    """
    events, beliefs, news = tables.events, tables.beliefs, tables.news
    while row != NONE:
        state.messages[ADVERTISED] += 1
        cluster = beliefs[row].cluster
        if _lost(state):
            tell(state, ADVERTISED, item, cluster, row, row - state.first_belief[cluster], 0.0)
            break
        tell(state, ADVERTISED, item, cluster, row, NONE, 0.0)
        if beliefs[row].delay > 0.0:
            state.in_flight += 1
            state.advertising += 1
            at = schedule(state, events, state.now + beliefs[row].delay, ADVERTISEMENT, row)
            events[at].news = item
            return False
        row = hear(state, beliefs, news, row, item)
    news[item].next = state.vacant_news
    state.vacant_news = item
    state.news -= 1
    return row == NONE


@part
def advertise(state: State, tables: Tables, cluster: int) -> bool:
    """Have a cluster's broker tell what is true now; tell whether the global one heard it."""
    if state.at_once[cluster] == 1:
        state.known.at[cluster] = state.now
        state.known.waiting[cluster] = state.waiting[cluster]
        if state.truth == 1:
            return False
        if state.hops[cluster] == 1:
            state.messages[ADVERTISED] += 1
            state.sent[cluster] += 1
            tell(state, ADVERTISED, NONE, cluster, state.first_belief[cluster], NONE, 0.0)
            return False
    state.sent[cluster] += 1
    if state.running_count[cluster] == 0 and state.waiting[cluster] == 0:
        state.left[cluster] = 0.0  # whatever rounding left
    news, item = tables.news, state.vacant_news
    state.vacant_news = news[item].next
    state.news += 1
    told = news[item]
    told.at = state.now
    told.free = state.free[cluster]
    told.up = state.remaining[cluster]
    told.waiting = state.waiting[cluster]
    told.left = state.left[cluster]
    told.finished_work = state.finished_work[cluster]
    told.finished_jobs = state.finished_jobs[cluster]
    heard = pass_on(state, tables, state.first_belief[cluster], item)
    return heard and state.at_once[cluster] == 0


@inlined
def tick_again(state: State, events: Any) -> None:
    """Have clusters be advertised at the next multiple of the period."""
    state.ticking = 1
    ticks = state.now // state.period + 1.0
    schedule(state, events, max(ticks * state.period, state.now), TICK, 0)


@inlined
def is_news_out(state: State, beliefs: Any) -> bool:
    """Tell whether some broker has not heard of the last change of a cluster."""
    for row in range(len(beliefs)):
        cluster = beliefs[row].cluster
        if state.at_once[cluster] == 0 and beliefs[row].at < state.touched_at[cluster]:
            return True
    return False
