"""The optimum by the mixed-integer model of `oas`, section 3.2, with the solver HiGHS of SciPy.

Numbers in brackets are those of the constraints there. Where they are no linear model as printed:

- a maximum is at least each of its arguments (11, 17), and at most their sum (11);
- SP is at least 1 / effective power of each resource, not the maximum (3), so that ct may stretch
  to the end of the last slot: else (19) and (20) contradict each other;
- ct is counted in slots, ct Tb / eta, and what a resource demands of it is rounded up to whole
  ones, which rules no schedule out and leaves nothing to the tolerance of the solver;
- eq. 4 is quadratic: a binary variable for each number of tasks on a cluster chooses its value, and
  BW is that while the job runs.

`theta`, the number of slots, is the makespan of a schedule that is known.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from agents.oas.instance import Instance
from agents.oas.scaled import Scaled
from agents.oas.schedule import Decision
from agents.oas.solvers.linear_model import LinearModel, whole_bound
from agents.oas.solvers.solver_result import Found


def milp(instance: Instance, scaled: Scaled, start: Sequence[Decision], time_limit: float) -> Found:
    """Minimise the makespan in time slots.

    Parameters
    ----------
    instance : Instance
    scaled : Scaled
        In slots.
    start : sequence of Decision
        A schedule; the answer if none is found in time.
    time_limit : float
        Wall-clock seconds.
    """
    model = _Model(instance, scaled, max(decision.end for decision in start))
    values, lowest = model.minimise([(model.last, 1)], time_limit)
    bound = whole_bound(lowest, max(row[0] for row in scaled.durations))
    return Found(start if values is None else model.decisions(values), bound)


class _Model(LinearModel):
    """Its variables and constraints."""

    def __init__(self, instance: Instance, scaled: Scaled, theta: int) -> None:
        super().__init__()
        self.instance, self.scaled, self.theta = instance, scaled, theta
        self.site = [k for k, c in enumerate(instance.clusters) for _ in range(c.nodes)]
        self.last = self.variables(theta, 1)[0]
        jobs, nodes, clusters = len(instance.jobs), len(self.site), len(instance.clusters)
        self.z = self.variables(1, jobs, nodes)
        self.x = self.variables(1, jobs, nodes, theta)
        self.y = self.variables(1, jobs, theta)
        self.s = self.variables(theta, jobs)
        self.f = self.variables(theta, jobs)
        self.ct = self.variables(theta, jobs, whole=False)
        self.bw = self.variables(math.inf, jobs, clusters, theta, whole=False)
        for node in range(nodes):
            for t in range(theta):
                self.at_most(1, [(self.x[j, node, t], 1) for j in range(jobs)])  # (10)
        for job in range(jobs):
            self.at_most(0, [(self.f[job], 1), (self.last, -1)])  # (9)
            self.order(job)
            self.allocation(job)
            self.demand(job)
        for k in range(clusters):
            for t in range(theta):
                self.at_most(1, [(self.bw[j, k, t], 1) for j in range(jobs)])  # (21), (22)

    def order(self, job: int) -> None:
        """Run a job in slots that follow each other, from s to f."""
        x, y, s, f, ct = self.x[job], self.y[job], self.s[job], self.f[job], self.ct[job]
        slots = range(self.theta)
        self.add(1, [(y[t], 1) for t in slots], 1)  # (15)
        self.add(0, [(s, 1)] + [(y[t], -t) for t in slots], 0)  # (16), with t from 0
        for t in slots:
            for node in range(len(self.site)):
                self.at_most(0, [(x[node, t], t + 1), (f, -1)])  # (17)
                for earlier in range(t):
                    self.at_most(1, [(x[node, earlier], 1), (y[t], 1)])  # (14)
        self.at_most(0, [(f, 1), (s, -1), (ct, -1)])  # (19)
        tasks = self.instance.jobs[job].tasks
        self.at_most(0, [(ct, tasks)] + [(each, -1) for each in x.flat])  # (20)

    def allocation(self, job: int) -> None:
        """Give a job a node for each task, the same ones in all of its slots."""
        x, z, tasks = self.x[job], self.z[job], self.instance.jobs[job].tasks
        self.add(tasks, [(each, 1) for each in z], tasks)  # (12)
        for node, k in enumerate(self.site):
            needed = self.scaled.durations[job][self.scaled.levels[k]]
            self.at_most(0, [(z[node], needed), (self.ct[job], -1)])  # (3), (18)
            self.at_most(0, [(z[node], 1)] + [(each, -1) for each in x[node]])  # (11)
            for t in range(self.theta):
                self.at_most(0, [(x[node, t], 1), (z[node], -1)])  # (11)
                together = [(x[other, t], -1) for other in range(len(z)) if other != node]
                self.at_most(0, [(x[node, t], tasks - 1), *together])  # (13)

    def demand(self, job: int) -> None:
        """Load each link while a job runs (4); loads are shares of the link's capacity."""
        x, z, tasks = self.x[job], self.z[job], self.instance.jobs[job].tasks
        for k, capacity in enumerate(self.scaled.capacities):
            nodes = [node for node, site in enumerate(self.site) if site == k]
            shares = [load / capacity for load in self.scaled.loads[job][: len(nodes) + 1]]
            fitting = [n for n, share in enumerate(shares) if share <= 1]
            chosen = self.variables(1, len(fitting))
            self.add(1, [(each, 1) for each in chosen], 1)
            counted = [(each, n) for each, n in zip(chosen, fitting, strict=True)]
            self.add(0, [*counted, *((z[node], -1) for node in nodes)], 0)
            heaviest = max(shares[n] for n in fitting)
            if heaviest:
                loads = [(each, shares[n]) for each, n in zip(chosen, fitting, strict=True)]
                for t in range(self.theta):
                    runs = [(x[node, t], heaviest / tasks) for node in range(len(z))]
                    self.at_most(heaviest, [*loads, *runs, (self.bw[job, k, t], -1)])

    def decisions(self, values: Any) -> list[Decision]:
        """Return what the values of the variables say of each job."""
        decisions = []
        for job in range(len(self.instance.jobs)):
            nodes = [0] * len(self.instance.clusters)
            for node, k in enumerate(self.site):
                nodes[k] += round(values[self.z[job, node]])
            begin = round(values[self.s[job]])
            level = max(of for of, count in zip(self.scaled.levels, nodes, strict=True) if count)
            end = begin + self.scaled.durations[job][level]
            decisions.append(Decision(begin, end, tuple(nodes)))
        return decisions
