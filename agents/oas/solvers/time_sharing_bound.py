"""A bound of the makespan: how its time is shared among the sets of jobs that can run together.

At each moment what runs is part of some largest set of jobs that nodes let run together, and each
job is so for as long as it takes on the nodes that it has. That alone, whatever the order, proves
many optima of wide jobs.
"""

from __future__ import annotations

from agents.oas.instance import Instance
from agents.oas.scaled import Scaled
from agents.oas.solvers.maximal_sets import largest_sets
from agents.oas.solvers.search import search

SHARE = 0.1
"""Of the time for a schedule, that its bound may take."""


def shared_time(
    instance: Instance, scaled: Scaled, horizon: int, time_limit: float, deterministic: bool
) -> int:
    """Return a bound of the makespan, 0 where there are too many sets.

    Parameters
    ----------
    instance : Instance
    scaled : Scaled
    horizon : int
        A makespan that is known.
    time_limit, deterministic
        As for `cp_sat`, which it takes a `SHARE` of.
    """
    from ortools.sat.python import cp_model

    levels = range(len(scaled.durations[0]))
    room = [
        sum(
            cluster.nodes
            for cluster, of in zip(instance.clusters, scaled.levels, strict=True)
            if of <= level
        )
        for level in levels
    ]
    sets = largest_sets([job.tasks for job in instance.jobs], room)
    if not sets:
        return 0
    cp = cp_model.CpModel()
    times = [cp.new_int_var(0, horizon, "") for _ in sets]
    for index, durations in enumerate(scaled.durations):
        chosen = [cp.new_bool_var("") for _ in levels]
        cp.add_exactly_one(chosen)
        needed = 0  # at this level and all faster ones
        for level in levels:
            needed += durations[level] * chosen[level]
            given = (
                time
                for time, together in zip(times, sets, strict=True)
                if together.get(index, len(levels)) <= level
            )
            cp.add(sum(given) >= needed)
    cp.add(sum(times) <= horizon)  # a schedule is known
    cp.minimize(sum(times))
    solver, status = search(cp, SHARE * time_limit, deterministic)
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE, cp_model.UNKNOWN):
        return int(solver.response_proto.inner_objective_lower_bound)
    return 0
