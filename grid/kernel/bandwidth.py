"""Co-allocated jobs: they share links, so their ends slide both ways (`beosim`, 3.3-3.7).

`grid.bandwidth` says the same plainly, for reading and for testing this against.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from grid.kernel.compile import inlined, part, unchecked
from grid.kernel.state import NONE
from grid.kernel.statistics import TOLERANCE, let_links_pass


@inlined
def set_demand(state: Any, row: Any, size: int, ppbw: float) -> None:
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
def _sum_demand(state: Any, sliding: Any) -> None:
    """Sum the demand on each link afresh.

    Subtracting what ended would leave an emptied link looking used.
    """
    for link in range(state.links):
        demand = 0.0
        for index in range(state.sliding):
            demand += sliding[index].demand[link]
        state.demand[link] = demand


@unchecked
def _is_any_saturated(state: Any) -> bool:
    """Tell whether the demand on some link is above its capacity, and let schedulers know it."""
    saturated = False
    for link in range(state.links):
        demand, capacity = state.demand[link], state.capacity[link]
        state.known.demand[link] = demand
        saturated |= demand > capacity and capacity / demand < 1.0 - TOLERANCE
    return saturated


@unchecked
def _allot(state: Any, sliding: Any) -> None:
    """Share the links among the co-allocated jobs: the saturation algorithm (`beosim`, 3.5).

    The most saturated link binds its jobs at its current ratio (eq. 4), and what they are allotted
    is no longer available to the others.
    """
    for index in range(state.sliding):
        sliding[index].constrained = 0
        sliding[index].allotted = 1.0
    for link in range(state.links):
        state.available[link] = state.capacity[link]
        state.unconstrained[link] = state.demand[link]
    level = 0.0
    while True:
        least = np.inf
        for link in range(state.links):
            if state.unconstrained[link] > 0.0:
                least = min(least, state.available[link] / state.unconstrained[link])
        # Levels only rise; rounding on a nearly full link must not make one fall.
        level = max(level, least)
        if level >= 1.0 - TOLERANCE:
            break
        for link in range(state.links):
            if state.unconstrained[link] <= 0.0:
                continue
            if state.available[link] / state.unconstrained[link] > level * (1.0 + TOLERANCE):
                continue
            for index in range(state.sliding):
                row = sliding[index]
                if row.constrained == 0 and row.demand[link] > 0.0:
                    row.constrained = 1
                    row.allotted = level
        for link in range(state.links):
            available, unconstrained = state.capacity[link], 0.0
            for index in range(state.sliding):
                row = sliding[index]
                bound = row.constrained == 1
                available -= row.demand[link] * row.allotted if bound else 0.0
                unconstrained += 0.0 if bound else row.demand[link]
            state.available[link] = available
            state.unconstrained[link] = unconstrained


@inlined
def _comes_first(state: Any, sliding: Any, index: int) -> bool:
    """Tell whether a row ends before all that were looked at; equal ends go in order of start."""
    row = sliding[index]
    if row.end != state.sliding_end:
        return bool(row.end < state.sliding_end)
    return bool(row.end < np.inf and row.turn < sliding[state.sliding_first].turn)


@inlined
def _look_at(state: Any, sliding: Any, index: int) -> None:
    """Note a row if it is the one that ends first."""
    if _comes_first(state, sliding, index):
        state.sliding_end = sliding[index].end
        state.sliding_first = index


@inlined
def _move_end(state: Any, slots: Any, row: Any) -> None:
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


@part
def slide(state: Any, slots: Any, sliding: Any, started: bool) -> None:
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
    saturated = _is_any_saturated(state)
    if saturated or state.overloaded == 1:
        _allot(state, sliding)
        state.overloaded = int(saturated)
        state.sliding_end = np.inf
        for index in range(state.sliding):
            row = sliding[index]
            if row.allotted != row.ratio or row.end == np.inf:
                _move_end(state, slots, row)
            _look_at(state, sliding, index)
    elif started:
        _move_end(state, slots, sliding[last])
        _look_at(state, sliding, last)
    else:
        state.sliding_end = np.inf
        for index in range(state.sliding):
            _look_at(state, sliding, index)
