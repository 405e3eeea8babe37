"""The decisions of agents in many worlds, carried out in one compiled call."""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.learning.episode import LATEST
from experiments.learning.observing import candidates, observe, observe_locally
from experiments.learning.rewards import REWARDS
from grid.kernel.advance import advance
from grid.kernel.compile import compiled, inlined
from grid.kernel.processors import set_plan
from grid.kernel.state import LANDED, NONE, PLACE, WAIT
from grid.kernel.statistics import SLOWDOWN_BOUND

_SLOWDOWN, _WAIT, _TURNAROUND, _MET = range(len(REWARDS))


@inlined
def _reward(kind: int, row: Any) -> float:
    """Return the reward of a job that has ended, of the kind at an index of `REWARDS`."""
    if kind == _SLOWDOWN:
        took = row.finish - row.arrival
        return -max(1.0, took / max(row.execution_time, SLOWDOWN_BOUND))
    if kind == _WAIT:
        return float(row.arrival - row.start)
    if kind == _TURNAROUND:
        return float(row.arrival - row.finish)
    return 1.0 if row.deadline < np.inf and row.finish <= row.deadline else 0.0


@inlined
def _earned(tables: Any, kind: int, counted: int, cluster: int) -> float:
    """Return the rewards of those who have left since, of a cluster, or all."""
    total = 0.0
    for at in range(counted, tables.box[0].finished):
        row = tables.finished[at]
        if not np.isnan(row.start) and (cluster == NONE or row.cluster == cluster):
            total += _reward(kind, row)
    return total


INFO = np.dtype([("time", np.float64), ("job", np.int64), ("left", np.int64)])
"""What is told of a world beside what is seen."""


@inlined
def _write_info(state: Any, job: Any, info: Any) -> None:
    """Write what is told of a world that stands at a decision about a job."""
    info.time = state.now
    info.job = job.number
    info.left = state.completed + state.rejected + state.withdrawn


@compiled(allocates=True)
def step_all(
    worlds: Any,
    go: Any,
    actions: Any,
    kind: int,
    counted: Any,
    earned: Any,
    info: Any,
    job: Any,
    told: Any,
    waiting: Any,
    mask: Any,
) -> None:
    """Take the decisions in worlds, and let everything happen until the next one in each.

    Parameters
    ----------
    worlds : list of Tables
    go : bool array
        Which of them go on; then, in which of these the next decision has come.
    actions : int array
        The clusters to which jobs are sent, or their number.
    kind : int
        Index of the reward.
    counted : int array
        Of the jobs that left and are still in the tables, how many have been rewarded.
    earned : float array
        Takes the rewards of those since.
    info : array of `INFO`
        Takes the time, which job is decided about, and how many have left.
    job, told, waiting, mask : arrays
        Take what is seen, as `observe` writes it for each world.
    """
    for each in range(len(go)):
        if not go[each]:
            continue
        tables = worlds[each]
        state = tables.box[0]
        state.answer = WAIT if actions[each] == state.clusters else actions[each]
        state.answered = 1
        go[each] = advance(tables, LATEST) == PLACE
        earned[each] = _earned(tables, kind, counted[each], NONE)
        counted[each] = state.finished
        if go[each]:
            _write_info(state, tables.slots[state.job], info[each])
            observe(
                tables.box,
                tables.slots,
                state.job,
                False,
                job[each],
                told[each],
                waiting[each],
                mask[each],
            )


@inlined
def _is_alone(state: Any, cluster: int) -> bool:
    """Tell whether no other cluster's planner is wanted."""
    others = 0
    for each in range(state.clusters):
        others += each != cluster and state.replan[each] != 0
    return others == 0


@compiled(allocates=True)
def step_all_locally(
    worlds: Any,
    go: Any,
    actions: Any,
    kind: int,
    counted: Any,
    earned: Any,
    info: Any,
    cluster: int,
    processors: Any,
    starts: Any,
    started: Any,
    slots: Any,
    jobs: Any,
    own: Any,
    mask: Any,
) -> None:
    """Do as `step_all` does, where the local scheduler of a cluster decides.

    Parameters
    ----------
    worlds, go, actions, kind, counted, earned, info
        As of `step_all`; actions are indices of what is seen, or the size of the window.
    cluster : int
    processors : list of arrays
        Of the worlds.
    starts : int array, shape (worlds, processors)
        Slots of the jobs that are to start at this instant.
    started : int array
        How many these are.
    slots : int array, shape (worlds, window)
        Of the jobs that are seen.
    jobs, own, mask : arrays
        Take what is seen, for each world.
    """
    window, nothing = jobs.shape[1], np.empty(0, np.int64)
    for each in range(len(go)):
        if not go[each]:
            continue
        tables, go[each] = worlds[each], False
        state = tables.box[0]
        acts = actions[each] == window
        if not acts:
            starts[each, started[each]] = slots[each, actions[each]]
            started[each] += 1
        while True:
            order = starts[each, : started[each]]
            count, free, fits = candidates(tables.box, tables.slots, cluster, order, slots[each])
            if not acts and fits:
                waits = len(order) > 0 or state.running_count[cluster] > 0
                observe_locally(
                    tables.box,
                    tables.slots,
                    cluster,
                    slots[each],
                    count,
                    free,
                    waits,
                    jobs[each],
                    own[each],
                    mask[each],
                )
                go[each] = True
                break
            set_plan(
                tables.box, tables.slots, processors[each], tables.turns, cluster, order, nothing
            )
            state.replan[cluster] = started[each] = 0
            if advance(tables, LATEST) != LANDED or not _is_alone(state, cluster):
                break
            state.replan[cluster] = state.replan_any = 0
            acts = False
        earned[each] = _earned(tables, kind, counted[each], cluster)
        counted[each] = state.finished
        if go[each]:
            _write_info(state, tables.slots[slots[each, 0]], info[each])
