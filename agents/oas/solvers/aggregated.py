"""The optimum by a time-indexed model of counts, with the solver HiGHS of SciPy.

Nodes of a cluster are identical, so that it does not matter which of them a job gets, only how many
of each cluster. All that the model of `oas` decides in time slots is then, for each job, a *split*
(how many tasks each cluster gets) and the slot in which it starts: one binary variable for each
split and slot. A split tells the slots that the job takes (eqs. 1 to 3) and its demand on each link
(eq. 4). The optimum is that of the model as printed (`milp`), from far fewer variables and none
that could be exchanged for each other.

The model minimises the number of slots that are open, the first ones; jobs run in open slots.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from agents.oas.instance import Instance
from agents.oas.scaled import Scaled
from agents.oas.schedule import Decision
from agents.oas.solvers.linear_model import LinearModel, whole_bound
from agents.oas.solvers.solver_result import Found


class Split(NamedTuple):
    """Tasks of a job on each cluster, and the slots that it then takes."""

    nodes: tuple[int, ...]
    duration: int


def aggregated(
    instance: Instance, scaled: Scaled, start: Sequence[Decision], time_limit: float
) -> Found:
    """Minimise the makespan in time slots; parameters are those of `milp`."""
    model = _Model(instance, scaled, max(decision.end for decision in start))
    values, lowest = model.minimise([(each, 1) for each in model.opened], time_limit)
    bound = whole_bound(lowest, max(row[0] for row in scaled.durations))
    return Found(start if values is None else model.decisions(values), bound)


def splits(instance: Instance, scaled: Scaled, job: int) -> Iterator[Split]:
    """Yield the ways to spread a job over the clusters that saturate no link.

    Examples
    --------
    >>> from agents.oas import Cluster, Job
    >>> clusters = (Cluster(2, 1, 1000), Cluster(2, 0.5, 1000))
    >>> two = Instance(clusters, (Job(2, 60, 10, 1.0),))
    >>> [tuple(each) for each in splits(two, Scaled.of(two, 60), 0)]
    [((0, 2), 2), ((1, 1), 2), ((2, 0), 1)]
    """
    loads, durations = scaled.loads[job], scaled.durations[job]

    def spread(left: int, cluster: int) -> Iterator[tuple[int, ...]]:
        if cluster == len(instance.clusters):
            if not left:
                yield ()
            return
        for count in range(min(left, instance.clusters[cluster].nodes) + 1):
            if loads[count] <= scaled.capacities[cluster]:
                for rest in spread(left - count, cluster + 1):
                    yield (count, *rest)

    for nodes in spread(instance.jobs[job].tasks, 0):
        level = max(of for of, count in zip(scaled.levels, nodes, strict=True) if count)
        yield Split(nodes, durations[level])


def entries(instance: Instance, scaled: Scaled, theta: int, most: int) -> int:
    """Return roughly how many numbers the model has, or something above `most`, for `theta` slots.

    Splits are counted one by one, so that counting them ends.
    """
    total = 0
    for job in range(len(instance.jobs)):
        for split in splits(instance, scaled, job):
            total += split.duration * theta
            if total > most:
                return total
    return total


class _Model(LinearModel):
    """Its variables and constraints."""

    def __init__(self, instance: Instance, scaled: Scaled, theta: int) -> None:
        super().__init__()
        self.opened: list[Any] = [*self.variables(1, theta)]
        for before, after in zip(self.opened, self.opened[1:], strict=False):
            self.at_most(0, [(after, 1), (before, -1)])
        self.starts: list[dict[tuple[Split, int], Any]] = []
        clusters = range(len(instance.clusters))
        held: list[list[list[tuple[Any, float]]]] = [[[] for _ in clusters] for _ in self.opened]
        loaded: list[list[list[tuple[Any, float]]]] = [[[] for _ in clusters] for _ in self.opened]
        for job in range(len(instance.jobs)):
            of_job: dict[tuple[Split, int], Any] = {}
            for split in splits(instance, scaled, job):
                for begin in range(theta - split.duration + 1):
                    chosen = of_job[split, begin] = self.variables(1, 1)[0]
                    for t in range(begin, begin + split.duration):
                        for k in clusters:
                            if split.nodes[k]:
                                held[t][k].append((chosen, split.nodes[k]))
                                share = scaled.loads[job][split.nodes[k]] / scaled.capacities[k]
                                loaded[t][k].append((chosen, share))
            self.add(1, [(each, 1) for each in of_job.values()], 1)
            self.starts.append(of_job)
        for t, is_open in enumerate(self.opened):
            for k in clusters:
                nodes = instance.clusters[k].nodes
                self.at_most(0, [*held[t][k], (is_open, -nodes)])
                self.at_most(1, loaded[t][k])

    def decisions(self, values: Any) -> list[Decision]:
        """Return what the values of the variables say of each job."""
        found = []
        for of_job in self.starts:
            split, begin = max(of_job, key=lambda each: values[of_job[each]])
            found.append(Decision(begin, begin + split.duration, split.nodes))
        return found
