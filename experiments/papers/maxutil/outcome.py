"""What formulas and runs came to for each system."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

from experiments.maxutil.formulas import Question
from experiments.papers.claims import Measured
from experiments.papers.maxutil.points import Point, Tiny, run
from experiments.sweeps.statistics import Interval, mean_interval
from experiments.sweeps.sweep import Observation, Run
from grid.capacity import Requests, true_capacity
from grid.workloads.component_sizes import parse_sizes


class Outcome:
    """The capacity losses of all systems, of several independent runs each.

    Parameters
    ----------
    scale : float
        Jobs of a run, in units of `points.JOBS`.
    replications : int
        Runs of each system, of seeds 0, 1, ...
    """

    def __init__(self, scale: float, replications: int) -> None:
        self.scale, self.replications = scale, replications
        self._of: dict[Point, npt.NDArray[np.float64]] = {}

    def run(
        self, points: Iterable[Point], carry_out: Callable[[list[Run]], dict[str, Observation]]
    ) -> None:
        """Have the runs of systems carried out."""
        runs = {
            point: [run(point, self.scale, seed) for seed in range(self.replications)]
            for point in dict.fromkeys(points)
        }
        found = carry_out([each for of_point in runs.values() for each in of_point])
        for point, of_point in runs.items():
            rows = [found[each.key]["utilization"][0] for each in of_point]
            self._of[point] = 1.0 - np.array(rows)

    def losses(self, point: Point) -> npt.NDArray[np.float64]:
        """Return the capacity loss in each run."""
        return self._of[point]

    def loss(self, point: Point) -> Interval:
        """Return the mean capacity loss."""
        return mean_interval(self.losses(point))

    def more(self, one: Point, other: Point, where: str) -> Measured:
        """Return by how much more is lost in one system than in another, run by run."""
        return Measured(where, mean_interval(self.losses(one) - self.losses(other)))


@cache
def formula(point: Point) -> float:
    """Return the capacity loss by eq. 2, or 5 for unordered requests."""
    system = point.system
    question = Question(
        system.request,
        (system.law,),
        len(system.sizes),
        system.sizes,
        system.zero,
        slotted=False,
        dependent=system.dependent,
        draws=system.draws,
    )
    return question.answer().capacity.capacity_loss


@cache
def truth(tiny: Tiny) -> tuple[float, int]:
    """Return the capacity loss of a tiny system by its Markov chain, and the number of states."""
    law = parse_sizes(tiny.law, tiny.size).density()
    requests = Requests.independent(law, tiny.clusters, tiny.size)
    capacity, states = true_capacity(requests, tiny.waiting, tiny.max_jumps)
    return capacity.capacity_loss, states


def farthest(measured: Sequence[Measured]) -> Measured:
    """Return the number that is farthest from 0."""
    return max(measured, key=lambda each: abs(each.value.mean))
