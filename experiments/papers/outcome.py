"""What the runs of a paper's points came to, replication by replication."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from experiments.sweeps.statistics import Interval, mean_interval
from experiments.sweeps.sweep import Observation, Run

Floats = npt.NDArray[np.float64]
LOST = Interval(math.inf, 0.0)
"""What stands for a mean that says nothing but how long the run was."""


def at_least(fewest: int, asked: float) -> str:
    """Return that runs have more jobs than `--scale` asks for, in Markdown; empty if not."""
    if asked >= fewest:
        return ""
    return f"**Too few jobs**: `--scale` asks for {asked:,.0f} a run; each has at least {fewest:,}."


class Outcome(ABC):
    """The replications of all points.

    Replications are independent. The jobs of one depend on the workload alone, so that points are
    compared replication by replication.

    Parameters
    ----------
    scale : float
        Jobs of a run, in units of the paper's.
    replications : int
        Runs of each point, of seeds 0, 1, ...
    """

    columns: ClassVar[tuple[str, ...]]
    """What is told of each point, the first first."""
    lost: ClassVar[str]
    """Column of a table that counts the replications without a steady state."""

    def __init__(self, scale: float, replications: int) -> None:
        self.scale, self.replications = scale, replications
        self._of: dict[Any, dict[str, Floats]] = {}

    @abstractmethod
    def run_of(self, point: Any, seed: int) -> Run:
        """Return a run of a point."""

    def run(
        self,
        points: Iterable[Any],
        carry_out: Callable[[list[Run]], Mapping[str, Observation]],
    ) -> None:
        """Have the runs of points carried out."""
        runs = {
            point: [self.run_of(point, seed) for seed in range(self.replications)]
            for point in dict.fromkeys(points)
        }
        found = carry_out([each for of_point in runs.values() for each in of_point])
        for point, of_point in runs.items():
            rows = [found[each.key] for each in of_point]
            self._of[point] = {name: np.array([row[name][0] for row in rows]) for name in rows[0]}

    def values(self, point: Any, column: str = "") -> Floats:
        """Return what each replication of a point came to; in the first column unless told."""
        return self._of[point][column or self.columns[0]]

    def stable(self, point: Any) -> bool:
        """Tell whether all replications have a steady state, as far as is known (NaN: not)."""
        return bool(self._of[point]["stable"].all())

    def mean(self, point: Any, column: str = "") -> Interval:
        """Return the mean over the replications; infinite without a steady state, NaN for none."""
        return mean_interval(self.values(point, column)) if self.stable(point) else LOST

    def compared(self, one: Any, other: Any, stable: Callable[[], Interval]) -> Interval | None:
        """Return how one point compares with another: what is said if both are stable.

        It is infinite if one of them has no steady state, None if neither has; and without a
        half-width, so that it decides nothing, if runs do not tell whether they have one.
        """
        if self.stable(one) and self.stable(other):
            return stable()
        if self.stable(one) or self.stable(other):
            return self.infinite(-math.inf if self.stable(one) else math.inf, (one, other))
        return None

    def agree(self, point: Any) -> bool:
        """Tell whether runs of a point, more than one, are at one about its steady state."""
        stable = self.values(point, "stable")
        return len(stable) > 1 and bool((stable == stable[0]).all())

    def infinite(self, value: float, points: Iterable[Any]) -> Interval:
        """Return what stands for a comparison of points some of which have no steady state."""
        return Interval(value, 0.0 if all(map(self.agree, points)) else None)

    def told(self, point: Any) -> dict[str, object]:
        """Return what a point is, for a table."""
        return asdict(point)

    def row(self, point: Any) -> dict[str, object]:
        """Return what a point is, and the mean of each column and its half-width (``_ci``).

        They are None without a steady state, or if there is nothing to tell.
        """
        stable = self.values(point, "stable")
        row = self.told(point) | {
            "replications": self.replications,
            self.lost: int((stable == 0).sum()),
        }
        for column in self.columns:
            found, name = self.mean(point, column), column.replace(" ", "_")
            row[name], row[f"{name}_ci"] = found[:2] if found.mean < math.inf else (None, None)
        return row
