"""Evolution: CMA-ES, of DEAP, finds the weights of a policy with which runs come out best.

CMA-ES (N. Hansen and A. Ostermeier, 2001) draws candidates from a normal law whose mean and
covariance follow the better ones. It asks for no gradient, and formulas have few weights.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
from deap import base, cma

from agents.learned.formula import Floats

SPREAD = 0.5
"""Standard deviation of each weight of the first candidates."""


class Generation(NamedTuple):
    """How far evolution has come.

    Attributes
    ----------
    weights : float array
        The best so far.
    loss : float
        Theirs.
    """

    weights: Floats
    loss: float


class _Fitness(base.Fitness):  # type: ignore[misc]
    weights = (-1.0,)


class _Candidate(list[float]):
    def __init__(self, weights: Sequence[float]) -> None:
        super().__init__(weights)
        self.fitness = _Fitness()


def population_of(weights: int) -> int:
    """Return how many candidates a generation has, as CMA-ES recommends.

    >>> population_of(6)
    9
    """
    return 4 + int(3 * math.log(weights))


def evolve(
    begun: Generation,
    losses: Callable[[Sequence[Floats]], Sequence[float]],
    generations: int,
    seed: int,
) -> Iterator[Generation]:
    """Yield the best weights so far: first those that it begins with, then after each generation.

    Parameters
    ----------
    begun : Generation
        What it begins with.
    losses : callable
        Takes the weights of candidates and returns how bad they are.
    generations : int
    seed : int

    Examples
    --------
    >>> def losses(candidates):
    ...     return [float(((each - [3.0, -1.0]) ** 2).sum()) for each in candidates]
    >>> *_, last = evolve(Generation(np.zeros(2), 10.0), losses, 60, seed=1)
    >>> last.weights.round(2).tolist()
    [3.0, -1.0]
    """
    size = population_of(len(begun.weights))
    strategy, best = cma.Strategy([*begun.weights], SPREAD, lambda_=size), begun
    yield best
    state = np.random.RandomState(seed).get_state()
    for _ in range(generations):
        with _drawing(state):
            candidates = strategy.generate(_Candidate)
            state = np.random.get_state()
        weights = [np.array(each) for each in candidates]
        for candidate, loss in zip(candidates, losses(weights), strict=True):
            candidate.fitness.values = (loss,)
            if loss < best.loss:
                best = Generation(np.array(candidate), loss)
        strategy.update(candidates)
        yield best


@contextmanager
def _drawing(state: object) -> Iterator[None]:
    """Have numpy's own stream, from which DEAP draws, be at a state of ours meanwhile."""
    before = np.random.get_state()
    np.random.set_state(state)  # type: ignore[arg-type]
    try:
        yield
    finally:
        np.random.set_state(before)
