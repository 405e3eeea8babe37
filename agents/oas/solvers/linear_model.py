"""A mixed-integer linear model in sparse arrays, and its optimum by the solver HiGHS of SciPy."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from functools import partial
from threading import Thread
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

BOUND_ERROR = 1e-6
"""By which a bound may be wrong; makespans are whole slots."""


class Minimum(NamedTuple):
    """The values of all variables, None if none were found in time, and what no sum is below."""

    values: npt.NDArray[np.float64] | None
    bound: float


def whole_bound(lowest: float, least: int) -> int:
    """Return what no whole number is below that is not below a solver's bound, `least` at least."""
    return math.ceil(lowest - BOUND_ERROR) if lowest > least else least


class LinearModel:
    """Variables, and constraints on sums of them times factors."""

    def __init__(self) -> None:
        self.lows: list[float] = []
        self.highs: list[float] = []
        self.integrality: list[int] = []
        self._rows: list[tuple[Any, Any]] = []
        self._limits: list[tuple[float, float]] = []

    def variables(self, high: float, *shape: int, whole: bool = True) -> Any:
        """Return the indices of new variables from 0 to `high`."""
        first, count = len(self.lows), math.prod(shape)
        self.lows += [0.0] * count
        self.highs += [high] * count
        self.integrality += [int(whole)] * count
        return np.arange(first, first + count).reshape(shape)

    def add(self, low: float, terms: Iterable[tuple[Any, float]], high: float) -> None:
        """Hold a sum of variables times factors between two limits."""
        self._rows.append(tuple(zip(*terms, strict=True)) or ((), ()))  # type: ignore[arg-type]
        self._limits.append((low, high))

    def at_most(self, high: float, terms: Iterable[tuple[Any, float]]) -> None:
        """Hold a sum below a limit."""
        self.add(-math.inf, terms, high)

    def minimise(self, terms: Iterable[tuple[Any, float]], time_limit: float) -> Minimum:
        """Return the least value of a sum, or the best that is found in so many seconds."""
        from scipy import optimize

        objective = np.zeros(len(self.lows))
        for column, factor in terms:
            objective[column] = factor
        result = _interruptible(
            partial(
                optimize.milp,
                objective,
                integrality=self.integrality,
                bounds=optimize.Bounds(self.lows, self.highs),
                constraints=self._constraints(),
                options={"time_limit": time_limit, "mip_rel_gap": 0.0},
            )
        )
        bound = result.mip_dual_bound
        return Minimum(result.x, -math.inf if bound is None or not math.isfinite(bound) else bound)

    def _constraints(self) -> Any:
        """Return the constraints as SciPy takes them."""
        from scipy import optimize, sparse

        lengths = [len(columns) for columns, _ in self._rows]
        matrix = sparse.csr_array(
            (
                np.array([factor for _, factors in self._rows for factor in factors], float),
                np.array([column for columns, _ in self._rows for column in columns], np.int64),
                np.cumsum([0, *lengths]),
            ),
            shape=(len(self._rows), len(self.lows)),
        )
        lows, highs = zip(*self._limits, strict=True)
        return optimize.LinearConstraint(matrix, lows, highs)


def _interruptible(solve: Callable[[], Any]) -> Any:
    """Return what a solver returns that computes in C++, where Python handles no Ctrl-C.

    SciPy cannot stop HiGHS: after Ctrl-C it goes on in its thread to its limit, or until the
    process ends, which waits for no daemon.
    """
    found: Future[Any] = Future()

    def fill() -> None:
        try:
            found.set_result(solve())
        except BaseException as error:
            found.set_exception(error)

    Thread(target=fill, daemon=True).start()
    return found.result()
