"""The decisions of agents in many worlds, carried out in one compiled call."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from experiments.environments.episode import LATEST
from experiments.environments.observing import candidates, observe, observe_locally
from experiments.environments.rewards import REWARDS
from grid.kernel.advance import advance
from grid.kernel.compile import compiled, inlined
from grid.kernel.processors import set_plan
from grid.kernel.state import LANDED, NONE, PLACE, WAIT
from grid.kernel.statistics import late_by, slowdown

_SLOWDOWN, _WAIT, _TURNAROUND, _MET = range(len(REWARDS))


@inlined
def _reward(kind: int, row: Any) -> float:
    """Return the reward of a job that has ended, of the kind at an index of `REWARDS`."""
    if kind == _SLOWDOWN:
        return -slowdown(row, row.finish)
    if kind == _WAIT:
        return float(row.arrival - row.start)
    if kind == _TURNAROUND:
        return float(row.arrival - row.finish)
    return 1.0 if row.deadline < np.inf and late_by(row.finish, row.deadline) == 0.0 else 0.0


@inlined
def _left(state: Any) -> int:
    """Return how many jobs have left."""
    return int(state.completed + state.rejected + state.withdrawn)


@inlined
def _earned(tables: Any, kind: int, counted: int, cluster: int, most: int, until: float) -> float:
    """Return the rewards of those who have left since, of a cluster, or all.

    They are of the first so many that leave, at `most`, and have ended by `until`.
    """
    total, state = 0.0, tables.box[0]
    before = _left(state) - state.finished
    for at in range(counted, min(state.finished, most - before)):
        row = tables.finished[at]
        ended = not np.isnan(row.start) and row.finish <= until
        if ended and (cluster == NONE or row.cluster == cluster):
            total += _reward(kind, row)
    return total


INFO = np.dtype([("time", np.float64), ("job", np.int64), ("left", np.int64)])
"""What is told of a world beside what is seen."""


@inlined
def _write_info(state: Any, job: Any, info: Any) -> None:
    """Write what is told of a world that stands at a decision about a job."""
    info.time = state.now
    info.job = job.number
    info.left = _left(state)


class Worlds(NamedTuple):
    """What is decided and told of worlds that go on together.

    Attributes
    ----------
    go : bool array
        Which of them go on; then, in which of these the next decision has come.
    actions : int array
        What is decided: clusters, or which of the jobs that are seen; the last one waits.
    counted : int array
        Of the jobs that left and are still in the tables, how many have been rewarded.
    earned : float array
        Takes the rewards of those since.
    info : array of `INFO`
        Takes the time, which job is decided about, and how many have left.
    most : int
        Of the jobs that leave, the first so many are rewarded.
    until : float
        Of these, those that have ended by then (s) are.
    """

    go: Any
    actions: Any
    counted: Any
    earned: Any
    info: Any
    most: int
    until: float


class SeenGlobally(NamedTuple):
    """What `observe` writes for each world."""

    job: Any
    told: Any
    waiting: Any
    mask: Any


class SeenLocally(NamedTuple):
    """What `observe_locally` writes for each world."""

    jobs: Any
    own: Any
    mask: Any


class Queues(NamedTuple):
    """The queues at which a local scheduler decides in worlds.

    Attributes
    ----------
    starts : int array, shape (worlds, processors)
        Slots of the jobs that are to start at this instant.
    started : int array
        How many these are.
    slots : int array, shape (worlds, window)
        Of the jobs that are seen.
    """

    starts: Any
    started: Any
    slots: Any


@compiled()
def masked(actions: Any, mask: Any, over: Any) -> int:
    """Return the first world that is not over and whose action may not be taken, else `NONE`."""
    for each in range(len(actions)):
        action = actions[each]
        if not over[each] and not (0 <= action < mask.shape[1] and mask[each, action] == 1):
            return each
    return NONE


@compiled(allocates=True)
def step_all(tables_of: Any, worlds: Worlds, kind: int, seen: SeenGlobally) -> None:
    """Take the decisions in worlds, and let everything happen until the next one in each.

    Parameters
    ----------
    tables_of : list of Tables
        Of the worlds: a list within a tuple would be slow to pass.
    worlds : Worlds
    kind : int
        Index of the reward.
    seen : SeenGlobally
    """
    go = worlds.go
    for each in range(len(go)):
        if not go[each]:
            continue
        tables, action = tables_of[each], worlds.actions[each]
        state = tables.box[0]
        state.answer = WAIT if action == state.clusters else action
        state.answered = 1
        go[each] = advance(tables, LATEST) == PLACE
        worlds.earned[each] = _earned(
            tables, kind, worlds.counted[each], NONE, worlds.most, worlds.until
        )
        worlds.counted[each] = state.finished
        if go[each]:
            _write_info(state, tables.slots[state.job], worlds.info[each])
            observe(
                tables.box,
                tables.slots,
                state.job,
                False,
                seen.job[each],
                seen.told[each],
                seen.waiting[each],
                seen.mask[each],
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
    tables_of: Any,
    processors: Any,
    worlds: Worlds,
    kind: int,
    cluster: int,
    queues: Queues,
    seen: SeenLocally,
) -> None:
    """Do as `step_all` does, where the local scheduler of a cluster decides.

    Parameters
    ----------
    tables_of : list of Tables
    processors : list of arrays
        Of the worlds.
    worlds : Worlds
    kind : int
        Index of the reward.
    cluster : int
    queues : Queues
    seen : SeenLocally
    """
    go, starts, started, slots = worlds.go, queues.starts, queues.started, queues.slots
    window, nothing = seen.jobs.shape[1], np.empty(0, np.int64)
    for each in range(len(go)):
        if not go[each]:
            continue
        tables, action, go[each] = tables_of[each], worlds.actions[each], False
        state, acts = tables.box[0], action == window
        if not acts:
            starts[each, started[each]] = slots[each, action]
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
                    seen.jobs[each],
                    seen.own[each],
                    seen.mask[each],
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
        worlds.earned[each] = _earned(
            tables, kind, worlds.counted[each], cluster, worlds.most, worlds.until
        )
        worlds.counted[each] = state.finished
        if go[each]:
            _write_info(state, tables.slots[slots[each, 0]], worlds.info[each])
