"""What formulas and runs came to for each system."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from experiments.maxutil.formulas import Question
from experiments.papers import outcome
from experiments.papers.judging import Measured
from experiments.papers.maxutil.systems import Point, Tiny, run
from experiments.papers.outcome import Floats
from experiments.sweeps.statistics import Interval, mean_interval
from experiments.sweeps.sweep import Run
from grid.capacity import Requests, true_capacity
from grid.workloads.component_sizes import parse_sizes


class Outcome(outcome.Outcome):
    """The replications of all systems: their capacity losses."""

    columns = ("utilization",)

    def run_of(self, point: Point, seed: int) -> Run:
        """Return a run of a system."""
        return run(point, self.scale, seed)

    def losses(self, point: Point) -> Floats:
        """Return the capacity loss in each run."""
        return 1.0 - self.values(point)

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
