"""Comprehensive performance: how a schedule is judged (`muscle`, eqs. 1, 7 and 8)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from grid.errors import GridError
from grid.foreign import quoted

IDLE_TIMES = ("total", "mean")
"""Readings of idle-time: summed over the processors, or per processor."""


class Weights(NamedTuple):
    """Weights of the three metrics, in the paper's order (Wo, Wm, Wi)."""

    over_deadline: float
    makespan: float
    idle: float


@dataclass(frozen=True)
class Criteria:
    """How the schedules of a grid are judged (`muscle`, eq. 1).

    Attributes
    ----------
    weights : sequence of float, or one for each cluster
        (Wo, Wm, Wi).
    idle : {"total", "mean"}
        Reading of idle-time (`IDLE_TIMES`).
    """

    weights: Sequence[float] | Sequence[Sequence[float]] = (4.0, 3.0, 1.0)
    idle: str = "mean"


def check_weights(weights: Sequence[float], name: str = "weights") -> Weights:
    """Return `weights`, which an error calls by `name`, as `Weights`.

    Raises
    ------
    GridError
        Unless there are three finite, non-negative numbers, not all of them zero.
    """
    try:
        checked = Weights(*(float(weight) for weight in weights))
    except (OverflowError, TypeError, ValueError):
        checked = Weights(math.nan, math.nan, math.nan)
    if not (all(weight >= 0 for weight in checked) and 0 < sum(checked) < math.inf):
        raise GridError(
            f"{name}: found {quoted(weights)}; accepted are three finite numbers (Wo, Wm, Wi), "
            "none negative and not all zero"
        )
    return checked


def weights_per_cluster(
    weights: Sequence[float] | Sequence[Sequence[float]], clusters: Sequence[str]
) -> list[Weights]:
    """Return the weights of each of the clusters named, given once for all or one by one.

    Raises
    ------
    GridError
        For another number of triples, or one that `check_weights` refuses.
    """
    if len(weights) and isinstance(weights[0], Sequence):
        if len(weights) != len(clusters):
            triples = "triple" if len(weights) == 1 else "triples"
            raise GridError(
                f"weights: found {len(weights)} {triples}; accepted: one for all clusters, or one "
                f"for each of {len(clusters)}"
            )
        return [
            check_weights(each, f"weights of {cluster}")  # type: ignore[arg-type]
            for each, cluster in zip(weights, clusters, strict=True)
        ]
    return [check_weights(weights)] * len(clusters)  # type: ignore[arg-type]


def combine(over_deadline: Any, makespan: Any, idle: Any, weights: Any) -> Any:
    """Return eq. 1 of `muscle`; TITAN compiles it."""
    total = weights[0] + weights[1] + weights[2]
    return (weights[0] * over_deadline + weights[1] * makespan + weights[2] * idle) / total


def comprehensive_performance(
    over_deadline: float, makespan: float, idle: float, weights: Sequence[float] = (4, 3, 1)
) -> float:
    """Return the comprehensive performance CP of a schedule; lower is better.

    The printed eq. 1 swaps two weights: here each metric has its own.

    Parameters
    ----------
    over_deadline, makespan, idle : float
        The three metrics, seconds (idle-time: processor-seconds when `total`).
    weights : sequence of float
        (Wo, Wm, Wi).

    Raises
    ------
    GridError
        As `check_weights`.

    Notes
    -----
    `muscle`, eq. 1.

    Examples
    --------
    >>> comprehensive_performance(over_deadline=2.0, makespan=10.0, idle=6.0)
    5.5
    """
    return float(combine(over_deadline, makespan, idle, check_weights(weights)))


def over_deadline(finishes: npt.ArrayLike, deadlines: npt.ArrayLike) -> float:
    """Return the sum over the jobs of the time each ends after its deadline, seconds.

    Examples
    --------
    >>> over_deadline([3.0, 5.0, 9.0], [4.0, 4.0, float("inf")])
    1.0
    """
    excess = np.asarray(finishes, np.float64) - np.asarray(deadlines, np.float64)
    return float(np.maximum(excess, 0.0).sum())


def idle_time(release: npt.ArrayLike, makespan: float, work: float, kind: str = "total") -> float:
    """Return the idle-time of a cluster from the dispatch up to the makespan.

    Parameters
    ----------
    release : array_like, shape (processors,)
        When each processor is free, seconds after the dispatch; held by earlier jobs until then,
        it counts as busy.
    makespan : float
        Latest end of the dispatched jobs, seconds after the dispatch.
    work : float
        Processor-seconds of the dispatched jobs.
    kind : {"total", "mean"}
        Summed over the processors, or per processor.

    Raises
    ------
    GridError
        For an unknown `kind`.

    Examples
    --------
    >>> idle_time([0.0, 0.0, 4.0], makespan=10.0, work=20.0)
    6.0
    >>> idle_time([0.0, 0.0, 4.0], makespan=10.0, work=20.0, kind="mean")
    2.0
    """
    check_idle(kind)
    release = np.asarray(release, np.float64)
    held = float(np.minimum(release, makespan).sum())
    total = max(0.0, len(release) * makespan - held - work)
    return total / len(release) if kind == "mean" else total


def check_idle(kind: str) -> None:
    """Raise `GridError` unless `kind` is one of `IDLE_TIMES`."""
    if kind not in IDLE_TIMES:
        raise GridError(f"idle: found {quoted(kind)}; accepted are {', '.join(IDLE_TIMES)}")


def mean_comprehensive_performance(cps: npt.ArrayLike, jobs: npt.ArrayLike) -> Any:
    """Return MCP, the mean of the clusters' CP weighted by their numbers of jobs.

    Parameters
    ----------
    cps : array_like, shape (..., clusters)
        CP of each cluster, seconds.
    jobs : array_like, shape (..., clusters)
        Jobs allocated to each cluster; without any job MCP is 0.

    Returns
    -------
    float or array, shape (...)

    Notes
    -----
    `muscle`, eq. 7.

    Examples
    --------
    >>> float(mean_comprehensive_performance([10.0, 20.0], [3, 1]))
    12.5
    """
    shares = np.asarray(jobs, np.float64)
    total = shares.sum(axis=-1)
    return (np.asarray(cps, np.float64) * shares).sum(axis=-1) / np.maximum(total, 1.0)


def performance_balance(cps: npt.ArrayLike, jobs: npt.ArrayLike) -> Any:
    """Return PB, the spread of the clusters' CP around MCP; 0 for a single cluster.

    Parameters
    ----------
    cps, jobs : array_like, shape (..., clusters)
        As for `mean_comprehensive_performance`.

    Returns
    -------
    float or array, shape (...)

    Notes
    -----
    `muscle`, eq. 8: the weighted mean of eq. 7, and n - 1.

    Examples
    --------
    >>> float(performance_balance([8.0, 12.0, 12.0, 8.0, 10.0], [1, 1, 1, 1, 1]))
    2.0
    """
    values = np.asarray(cps, np.float64)
    if values.shape[-1] < 2:
        return np.zeros(values.shape[:-1])
    deviations = values - mean_comprehensive_performance(values, jobs)[..., None]
    return np.sqrt((deviations**2).sum(axis=-1) / (values.shape[-1] - 1))
