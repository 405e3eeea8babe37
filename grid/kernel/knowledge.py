"""What brokers tell the global one of their clusters: free processors, queues, finished work."""

from __future__ import annotations

from typing import Any

from grid.kernel.compile import inlined
from grid.kernel.events import schedule
from grid.kernel.state import ADVERTISED, ADVERTISEMENT


@inlined
def learn_finished(state: Any, cluster: int, work: float, jobs: int) -> None:
    """Let the global broker know of work that a cluster is through with."""
    state.known.load[cluster] -= work
    state.known.unfinished[cluster] -= jobs
    if state.known.unfinished[cluster] == 0:
        state.known.load[cluster] = 0.0  # whatever rounding left


@inlined
def learn(
    state: Any, cluster: int, time: float, work: float, jobs: int, free: int, waiting: int
) -> None:
    """Let the global broker know what a cluster's broker said at `time`."""
    learn_finished(state, cluster, work, jobs)
    state.known.free[cluster] = free
    state.known.waiting[cluster] = waiting
    state.known.at[cluster] = time


@inlined
def advertise(state: Any, events: Any, cluster: int) -> None:
    """Have a cluster's broker tell the global one what changed at this instant."""
    work, jobs = state.finished_work[cluster], state.finished_jobs[cluster]
    free, waiting = state.free[cluster], state.waiting[cluster]
    state.finished_work[cluster] = 0.0
    state.finished_jobs[cluster] = 0
    state.messages[ADVERTISED] += 1
    state.sent[cluster] += 1
    delay = state.latency[cluster]
    if delay > 0.0:
        state.in_flight += 1
        at = schedule(state, events, state.now + delay, ADVERTISEMENT, cluster)
        events[at].work = work
        events[at].jobs = jobs
        events[at].free = free
        events[at].waiting = waiting
    else:
        learn(state, cluster, state.now, 0.0, 0, free, waiting)
