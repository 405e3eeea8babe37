"""The optimum by constraint programming: OR-Tools CP-SAT, on counts of identical nodes.

What a schedule must satisfy is in `_Model.resources`. All else follows from it and is there because
the solver proves little without: that jobs which overlap pairwise share a moment, and so must fit
together (`_Model.overlaps`); that no cluster can work off more than it has nodes for until the
makespan; that a schedule run backwards is as good.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from agents.oas.instance import Instance
from agents.oas.scaled import LARGEST_SUM, Scaled
from agents.oas.schedule import Decision
from agents.oas.solvers.search import search
from agents.oas.solvers.solver_result import Found
from agents.oas.solvers.time_sharing_bound import shared_time

MOST_GROUPS = 3000
"""Pairs of jobs, and groups of three, that are looked at; more would take longer than they help."""


def cp_sat(
    instance: Instance,
    scaled: Scaled,
    start: Sequence[Decision],
    time_limit: float,
    deterministic: bool = False,
    pinned: int = 0,
    whole: bool = False,
    releases: Sequence[Sequence[int]] = (),
) -> Found:
    """Minimise the makespan.

    Parameters
    ----------
    instance : Instance
    scaled : Scaled
    start : sequence of Decision
        A schedule to begin with.
    time_limit : float
        Seconds: wall-clock ones, or those of CP-SAT's deterministic time.
    deterministic : bool
        The limit counts what is computed, by one worker: the same is found every time.
    pinned : int
        So many jobs, the first ones, run as `start` has it, and the makespan is that of the others.
    whole : bool
        No job is split that fits on a cluster.
    releases : sequence of sequence of int, optional
        Before what time each job that is not pinned cannot start on each cluster.
    """
    from ortools.sat.python import cp_model

    model = _Model(instance, scaled, start, pinned, whole, releases)
    if not pinned:
        model.begin_with(shared_time(instance, scaled, model.horizon, time_limit, deterministic))
        if model.shortest >= model.horizon:
            return Found(start, model.shortest)
    solver, status = search(model.cp, time_limit, deterministic)
    if status in (cp_model.INFEASIBLE, cp_model.MODEL_INVALID):  # but `start` is feasible
        return Found(start, model.shortest)
    # The bound of `best_objective_bound` was seen to be above the optimum by what floats round.
    bound = max(model.shortest, solver.response_proto.inner_objective_lower_bound)
    if status == cp_model.UNKNOWN:
        return Found(start, bound)
    return Found([job.decision(solver.value) for job in model.jobs], bound)


@dataclass(frozen=True)
class _Job:
    """Variables of one job: its run, and of each cluster its nodes and the load on the link.

    `most` and `heaviest` are the largest values of `nodes` and `loads`.
    """

    tasks: int
    start: Any
    end: Any
    run: Any
    nodes: list[Any]
    loads: list[Any]
    most: list[int]
    heaviest: list[int]

    def decision(self, value: Any) -> Decision:
        nodes = tuple(int(value(count)) for count in self.nodes)
        return Decision(int(value(self.start)), int(value(self.end)), nodes)


class _Model:
    """The constraints, as CP-SAT takes them."""

    def __init__(
        self,
        instance: Instance,
        scaled: Scaled,
        start: Sequence[Decision],
        pinned: int,
        whole: bool,
        releases: Sequence[Sequence[int]],
    ) -> None:
        from ortools.sat.python import cp_model

        self.cp = cp_model.CpModel()
        self.instance, self.scaled, self.pinned = instance, scaled, pinned
        self.whole = whole
        # No schedule is as good backwards where some time is unlike others.
        self.mirrors = not pinned and not any(map(any, releases))
        self.horizon = max(decision.end for decision in start[pinned:])
        self.shortest = max(row[0] for row in scaled.durations[pinned:])
        self.makespan = self.cp.new_int_var(self.shortest, self.horizon, "makespan")
        self.work: list[list[Any]] = [[] for _ in instance.clusters]
        self.jobs = [self.job(index) for index in range(len(instance.jobs))]
        self.resources()
        self.overlaps()
        for k, cluster in enumerate(instance.clusters):
            held = sum(
                each.nodes[k] * max(0, min(each.end, self.shortest) - each.begin)
                for each in start[:pinned]
            )
            self.cp.add(sum(self.work[k]) + held <= cluster.nodes * self.makespan)
        self.begin_from(start)
        for job, each in zip(self.jobs[:pinned], start, strict=False):
            self.pin(job, each)
        for job, of_job in zip(self.jobs[pinned:], releases, strict=False):
            self.release(job, of_job)
        self.cp.minimize(self.makespan)

    def job(self, index: int) -> _Job:
        """Return the variables of a job; exactly one level is that of its slowest node."""
        from ortools.sat.python.cp_model import Domain

        cp, scaled, tasks = self.cp, self.scaled, self.instance.jobs[index].tasks
        durations, loads = scaled.durations[index], scaled.loads[index]
        whole = self.whole and tasks <= max(each.nodes for each in self.instance.clusters)
        fitting = [
            [
                n
                for n in range(min(cluster.nodes, tasks) + 1)
                if loads[n] <= capacity and not (whole and 0 < n < tasks)
            ]
            for cluster, capacity in zip(self.instance.clusters, scaled.capacities, strict=True)
        ]
        most = [counts[-1] for counts in fitting]
        levels = [cp.new_bool_var("") for _ in durations]
        cp.add_exactly_one(levels)
        parts: list[list[Any]] = [[] for _ in fitting]  # of `nodes`, by level
        for level, (chosen, duration) in enumerate(zip(levels, durations, strict=True)):
            used = [k for k, of in enumerate(scaled.levels) if of <= level]
            counts = [cp.new_int_var(0, most[k], "") for k in used]
            cp.add(sum(counts) == tasks * chosen)
            for k, count in zip(used, counts, strict=True):
                cp.add(count <= most[k] * chosen)
                parts[k].append(count)
                if index >= self.pinned:
                    self.work[k].append(duration * count)
        latest = self.horizon if index >= self.pinned else LARGEST_SUM
        start = cp.new_int_var(0, latest, "")
        end = cp.new_int_var(0, latest, "")
        duration = sum(time * chosen for time, chosen in zip(durations, levels, strict=True))
        size = cp.new_int_var_from_domain(Domain.from_values(durations), "")
        cp.add(size == duration)
        if index >= self.pinned:
            cp.add(end <= self.makespan)
        nodes, demands, heaviest = [], [], []
        for k, counts in enumerate(fitting):
            nodes.append(cp.new_int_var_from_domain(Domain.from_values(counts), ""))
            cp.add(nodes[k] == sum(parts[k]))
            heaviest.append(max(loads[n] for n in counts))
            demands.append(cp.new_int_var(0, heaviest[k], ""))
            cp.add_element(nodes[k], [min(load, heaviest[k]) for load in loads], demands[k])
        run = cp.new_interval_var(start, size, end, "")
        return _Job(tasks, start, end, run, nodes, demands, most, heaviest)

    def resources(self) -> None:
        """Hold nodes and links; redundantly all nodes, and those of all clusters but one."""
        runs = [job.run for job in self.jobs]
        clusters, nodes = self.instance.clusters, self.instance.nodes
        for k, cluster in enumerate(clusters):
            self.cp.add_cumulative(runs, [job.nodes[k] for job in self.jobs], cluster.nodes)
            if any(job.heaviest[k] for job in self.jobs):
                loads = [job.loads[k] for job in self.jobs]
                self.cp.add_cumulative(runs, loads, self.scaled.capacities[k])
            if len(clusters) > 2:
                others = [job.tasks - job.nodes[k] for job in self.jobs]
                self.cp.add_cumulative(runs, others, nodes - cluster.nodes)
        self.cp.add_cumulative(runs, [job.tasks for job in self.jobs], nodes)
        wide = [job.run for job in self.jobs if 2 * job.tasks > nodes]
        self.cp.add_no_overlap(wide)

    def overlaps(self) -> None:
        """Say which jobs may overlap, and that those which may fit together.

        That they do overlap is not asked for: it proves no more, and presolve (OR-Tools 9.15) was
        seen to call such models infeasible where `start` is optimal.
        """
        jobs = range(self.pinned, len(self.jobs))
        if math.comb(len(jobs), 2) > MOST_GROUPS:
            return
        overlapping = {}
        for pair in combinations(jobs, 2):
            one, other = (self.jobs[index] for index in pair)
            before, after, together = (self.cp.new_bool_var("") for _ in range(3))
            self.cp.add_exactly_one(before, after, together)
            self.cp.add(one.end <= other.start).only_enforce_if(before)
            self.cp.add(other.end <= one.start).only_enforce_if(after)
            overlapping[pair] = together
        for size in (2, 3):
            if math.comb(len(jobs), size) <= MOST_GROUPS:
                for group in combinations(jobs, size):
                    together = [overlapping[pair] for pair in combinations(group, 2)]
                    self.fit_together([self.jobs[index] for index in group], together)

    def fit_together(self, group: Sequence[_Job], together: Sequence[Any]) -> None:
        """Have jobs that overlap pairwise share nodes and links."""
        if sum(job.tasks for job in group) > self.instance.nodes:
            self.cp.add_bool_or(literal.negated() for literal in together)
            return
        for k, cluster in enumerate(self.instance.clusters):
            for values, largest, room in (
                ("nodes", "most", cluster.nodes),
                ("loads", "heaviest", self.scaled.capacities[k]),
            ):
                if sum(getattr(job, largest)[k] for job in group) > room:
                    total = sum(getattr(job, values)[k] for job in group)
                    self.cp.add(total <= room).only_enforce_if(together)

    def begin_with(self, bound: int) -> None:
        """Look for no makespan below a bound."""
        self.shortest = max(self.shortest, bound)
        self.cp.add(self.makespan >= bound)

    def pin(self, job: _Job, decision: Decision) -> None:
        """Have a job run when and where it is said to."""
        self.cp.add(job.start == decision.begin)
        for count, value in zip(job.nodes, decision.nodes, strict=True):
            self.cp.add(count == value)

    def release(self, job: _Job, releases: Sequence[int]) -> None:
        """Have a job start on no cluster before a time."""
        for count, release in zip(job.nodes, releases, strict=True):
            if release:
                used = self.cp.new_bool_var("")
                self.cp.add(count == 0).only_enforce_if(used.negated())
                self.cp.add(job.start >= min(release, self.horizon + 1)).only_enforce_if(used)

    def begin_from(self, start: Sequence[Decision]) -> None:
        """Hint at a schedule; of it and its mirror image, at that which is not ruled out here."""
        work = [
            row[0] * job.tasks for row, job in zip(self.scaled.durations, self.jobs, strict=True)
        ]
        largest = work.index(max(work))
        mirrored = False
        if self.mirrors:
            first = self.jobs[largest]
            self.cp.add(first.start + first.end <= self.makespan)
            mirrored = start[largest].begin + start[largest].end > self.horizon
        for job, (begin, end, nodes) in zip(self.jobs, start, strict=True):
            if mirrored:
                begin, end = self.horizon - end, self.horizon - begin
            self.cp.add_hint(job.start, begin)
            self.cp.add_hint(job.end, end)
            for count, value in zip(job.nodes, nodes, strict=True):
                self.cp.add_hint(count, value)
        self.cp.add_hint(self.makespan, self.horizon)
