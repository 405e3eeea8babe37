"""How TITAN searches, and the ranges of what it can be told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agents.numbers import is_real, is_whole
from agents.titan.decoding import CODINGS
from grid.errors import GridError
from grid.metrics.performance import check_idle, check_weights


@dataclass(frozen=True)
class Settings:
    """How TITAN searches.

    Attributes
    ----------
    coding : {"order", "two-dimensional"}
        The order of the jobs alone, each of which gets the processors that are free first; or the
        paper's, in which each job has processors of its own. The paper's searches far worse.
    population : int
        Schedules in a generation, at least 2.
    moves : int
        Orders that a local search tries when breeding has stalled, 0 for none. Breeding goes on
        from what it finds. The two-dimensional coding has none, nor have given `generations`.
    patience : int
        Breeding has stalled after so many generations without an improvement, at least 1. The paper
        stops as soon as two generations differ by less than a threshold: that is 1, without moves.
    threshold : float
        Least relative decrease of the best CP that counts as an improvement, in [0, 1).
    generations : int or None
        Most generations after the first, of the genetic algorithm alone; None derives it from
        `effort`.
    effort : int
        Most jobs placed in one search (population x jobs x generations, and moves x jobs) when
        `generations` is None: it bounds the time for long queues. A million take 15 to 30 ms.
    elite : float
        Share of the population that survives unchanged, in [0, 1), at least one: the best orders,
        one for each distinct CP.
    crossover, mutation : float
        Probabilities that a pair is crossed, and that a child is mutated, in [0, 1].
    start : {"list", "random"}
        TITAN without a seed schedule starts from the jobs in order of landing, or at random.
    weights : sequence of float
        (Wo, Wm, Wi) of eq. 1.
    idle : {"total", "mean"}
        Reading of idle-time.

    Raises
    ------
    GridError
        For a value outside its range.
    """

    coding: str = "order"
    population: int = 50
    moves: int = 50_000
    patience: int = 500
    threshold: float = 1e-4
    generations: int | None = None
    effort: int = 12_000_000
    elite: float = 0.4
    crossover: float = 0.3
    mutation: float = 1.0
    start: str = "list"
    weights: Sequence[float] = (4.0, 3.0, 1.0)
    idle: str = "total"

    def __post_init__(self) -> None:
        check_weights(self.weights)
        check_idle(self.idle)
        for name, accepted, valid in (
            ("coding", f"one of {', '.join(CODINGS)}", self.coding in CODINGS),
            ("start", "list or random", self.start in ("list", "random")),
            ("population", "an integer >= 2", is_whole(self.population, 2)),
            ("moves", "an integer >= 0", is_whole(self.moves, 0)),
            ("patience", "an integer >= 1", is_whole(self.patience, 1)),
            ("effort", "an integer >= 1", is_whole(self.effort, 1)),
            (
                "generations",
                "an integer >= 0 or None",
                self.generations is None or is_whole(self.generations, 0),
            ),
            ("threshold", "a number in [0, 1)", _share(self.threshold) and self.threshold < 1),
            ("elite", "a number in [0, 1)", _share(self.elite) and self.elite < 1),
            ("crossover", "a number in [0, 1]", _share(self.crossover)),
            ("mutation", "a number in [0, 1]", _share(self.mutation)),
        ):
            if not valid:
                raise GridError(f"{name}: found {getattr(self, name)!r}; accepted is {accepted}")


def _share(value: Any) -> bool:
    return is_real(value) and bool(0 <= value <= 1)
