"""When a run or a round is over although more will happen: nobody waits for what it changes."""

from __future__ import annotations

from grid.kernel.compile import inlined
from grid.kernel.state import State

IN_VAIN = 1_000_000
"""Failures and repairs in a row, while no job arrives or runs, after which none is waited for."""


@inlined
def count_in_vain(state: State) -> None:
    """Count a failure or a repair; anew if a job has arrived or run since the last."""
    steps = state.submitted + state.started + state.completed
    if steps != state.steps or state.started > state.completed + state.restarted:
        state.steps = steps
        state.in_vain = 0
    state.in_vain += 1


@inlined
def _all_back(state: State) -> bool:
    """Tell whether nothing is down that will be repaired, and the global broker knows that."""
    if state.broken > 0:
        return False
    for cluster in range(state.clusters):
        if state.known.at[cluster] < state.touched_at[cluster]:
            return False
    return True


@inlined
def events_awaited(state: State) -> int:
    """Return how many events may matter to a job, or are messages under way.

    Failures by chance never count; planned changes do while there are jobs, or none came yet.
    """
    gone = state.live == 0 and state.submitted > 0
    over = gone and state.fed == state.chunk_length and state.exhausted == 1
    return int(state.events - state.background - (state.changes if over else 0))


@inlined
def nothing_awaited(state: State) -> bool:
    """Tell whether, if no job arrives, nobody waits for anything that is still to happen.

    So it is between rounds, whatever that is; else once all jobs have left and no message is under
    way, or if they wait though nothing is down and no change is planned: no repair by chance will
    make one start. On large grids that may never be seen, so that very many in vain are enough.
    """
    if state.sliding > 0:
        return False
    if state.between == 1 and state.live == 0:
        return True
    if state.in_vain >= IN_VAIN:  # what is told of them goes on as they do
        return bool(events_awaited(state) <= state.ticking + state.in_flight)
    if events_awaited(state) > 0 or state.awaited == 1:
        return False
    return bool(state.live == 0 or _all_back(state))
