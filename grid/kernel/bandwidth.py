"""Co-allocated jobs: they share links, so their ends slide both ways (`beosim`, 3.3-3.7).

`grid.bandwidth` says the same plainly, for reading and for testing this against.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from grid.kernel.compile import inlined, part, unchecked
from grid.kernel.processors import have_served
from grid.kernel.state import NOBODY, NONE, State
from grid.kernel.statistics import TOLERANCE, let_links_pass


@inlined
def set_demand(state: State, row: Any, size: int, ppbw: float) -> None:
    """Compute the bandwidth a job needs on each link (`beosim`, eq. 1, on a tree).

    Of the messages of an all-to-all job of n nodes, those between the s nodes on one side of a
    link and the n - s on the other cross it: s (n - s) / (n - 1) x PPBW.
    """
    for link in range(state.links):
        state.node_count[link] = row.take[link] if link < state.clusters else 0
    for index in range(state.links):
        link = state.deep_first[index]
        side = state.node_count[link]
        row.demand[link] = side * (size - side) / (size - 1.0) * ppbw
        if state.parent[link] != NONE:
            state.node_count[state.parent[link]] += side


@unchecked
def _sum_demand(state: State, sliding: Any) -> None:
    """Sum the demand on each link afresh.

    Subtracting what ended would leave an emptied link looking used.
    """
    for link in range(state.links):
        demand = 0.0
        for index in range(state.sliding):
            demand += sliding[index].demand[link]
        state.demand[link] = demand


@unchecked
def _find_saturated(state: State) -> int:
    """List the links of which the demand is above the capacity, and let schedulers know it.

    None but these can ever bind a job: where others leave less than required, they had been full.
    """
    count = 0
    for link in range(state.links):
        demand, capacity = state.demand[link], state.capacity[link]
        state.known.demand[link] = demand
        state.saturated_links[count] = link
        count += int(capacity < demand * (1.0 - TOLERANCE))
    return count


@unchecked
def _allot(state: State, sliding: Any, count: int) -> None:
    """Share the links among the co-allocated jobs: the saturation algorithm (`beosim`, 3.5).

    Of the first `count` links listed, the most saturated binds its jobs at its current ratio
    (eq. 4), and what they are allotted is no longer available to the others.
    """
    links, available, required = state.saturated_links, state.available, state.required
    for index in range(state.sliding):
        sliding[index].allotted = 1.0
    for place in range(count):
        available[place] = state.capacity[links[place]]
        required[place] = state.demand[links[place]]
    level = 0.0
    while True:
        least = np.inf
        for place in range(count):
            least = min(least, available[place] / required[place])
        # Levels only rise; rounding on a nearly full link must not make one fall.
        level = max(level, least)
        if level >= 1.0 - TOLERANCE:
            break
        others = 0
        for place in range(count):
            link = links[place]
            if available[place] / required[place] > level * (1.0 + TOLERANCE):
                links[others] = link
                others += 1
                continue
            for index in range(state.sliding):
                row = sliding[index]
                bound = (row.allotted == 1.0) & (row.demand[link] > 0.0)
                row.allotted = level if bound else row.allotted
        count = 0
        for place in range(others):
            link = links[place]
            left, unbound = state.capacity[link], 0.0
            for index in range(state.sliding):
                row = sliding[index]
                free = row.allotted == 1.0
                left -= 0.0 if free else row.demand[link] * row.allotted
                unbound += row.demand[link] if free else 0.0
            if unbound > 0.0:
                links[count] = link
                available[count] = left
                required[count] = unbound
                count += 1


@unchecked
def _find_first(state: State, sliding: Any) -> None:
    """Find the row that ends first; equal ends go in order of start."""
    first, end, turn = NONE, np.inf, NOBODY
    for index in range(state.sliding):
        row = sliding[index]
        if row.end < end or (row.end == end and row.turn < turn):
            first, end, turn = index, row.end, row.turn
    state.sliding_first = first
    state.sliding_end = end


@inlined
def overdue_at(slot: Any) -> float:
    """Return when a job is expected to end, s, as links are now; it runs on if it ends later."""
    return float(slot.end + (slot.predicted_time - slot.execution_time))


@unchecked
def find_overdue(state: State, slots: Any, sliding: Any) -> None:
    """Find when the next job runs for longer than it is expected to as links are now."""
    overdue = np.inf
    for index in range(state.sliding if state.relied_on == 1 else 0):
        slot = slots[sliding[index].job]
        time = overdue_at(slot)
        if state.now < time < min(overdue, slot.end):
            overdue = time
    state.sliding_overdue = overdue


@inlined
def _move_end(state: State, slots: Any, row: Any) -> None:
    """Move the end of a job whose share of the links has changed, or that has none yet."""
    left = row.computation_left + row.communication_left
    begun = max(state.now, row.since)  # later while its data are being staged
    past = (begun - row.since) / left if left > 0.0 else 0.0
    row.computation_left -= past * row.computation_left
    row.communication_left -= past * row.communication_left
    # Residual communication is in stretched time: back by the old ratio, then the new.
    row.communication_left *= row.ratio / row.allotted
    row.ratio = row.allotted
    row.since = begun
    row.end = begun + row.computation_left + row.communication_left
    slots[row.job].end = row.end
    if state.relied_on == 1:
        for cluster in range(state.clusters):
            if row.take[cluster] > 0:
                state.disturbed[cluster] = 1
                have_served(state, cluster)


@part
def slide(state: State, slots: Any, sliding: Any, started: bool) -> None:
    """Share the links afresh and move the ends of the jobs whose share changed (eqs. 5-7).

    Either the job in the last row has `started`, or one has ended. Where no link is saturated,
    before and after, that changes nothing for the others.
    """
    let_links_pass(state)
    last = state.sliding - 1
    if started:
        for link in range(state.links):
            state.demand[link] += sliding[last].demand[link]
    else:
        _sum_demand(state, sliding)
    count = _find_saturated(state)
    if count > 0 or state.overloaded == 1:
        _allot(state, sliding, count)
        state.overloaded = int(count > 0)
        for index in range(state.sliding):
            row = sliding[index]
            if row.allotted != row.ratio or row.end == np.inf:
                _move_end(state, slots, row)
        _find_first(state, sliding)
    elif started:
        row = sliding[last]
        _move_end(state, slots, row)
        if row.end < state.sliding_end:
            state.sliding_end = row.end
            state.sliding_first = last
    else:
        _find_first(state, sliding)
    find_overdue(state, slots, sliding)
