"""Probabilities of sizes as arrays: refused if they are none, and what follows from them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from grid.capacity.cost import check_cost
from grid.errors import GridError

_MULTIPLY = 0.7e-9
"""CPU seconds of a multiplication in `numpy.convolve`."""


def checked_density(law: npt.ArrayLike, sizes: Sequence[int]) -> npt.NDArray[np.float64]:
    """Return probabilities of sizes on clusters as an array.

    Parameters
    ----------
    law : array of float
        ``law[n_1, ..., n_C]`` is the probability of these sizes.
    sizes : sequence of int
        Processors of each cluster, from 1.

    Raises
    ------
    GridError
        If they do not sum to 1 or one is negative, a cluster has no processor, or a size is larger
        than its cluster.

    Examples
    --------
    >>> checked_density([0, 1], [3])
    array([0., 1.])
    """
    found = np.asarray(law, dtype=np.float64)
    for size in sizes:
        if size != int(size) or size < 1:
            raise GridError(f"processors of a cluster: found {size}; accepted: a number from 1")
    if found.ndim != len(sizes) or found.size == 0:
        raise GridError(
            f"probabilities of sizes: found shape {found.shape}; accepted: {len(sizes)} dimensions"
        )
    if not ((found >= 0).all() and abs(found.sum() - 1) < 1e-9):
        raise GridError(
            f"probabilities of sizes: found {found.min():g} at least, a sum of {found.sum():g}; "
            "accepted: numbers from 0 that sum to 1"
        )
    for largest, size in zip(np.argwhere(found).max(axis=0), sizes, strict=True):
        if largest > size:
            raise GridError(
                f"size of a component: found {largest}; accepted: to {size}, the cluster's"
            )
    return found


def of_jobs(law: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the probabilities of sizes of those draws that are jobs: not 0 on all clusters.

    Raises
    ------
    GridError
        If there are none.

    Examples
    --------
    >>> of_jobs(np.array([0.5, 0.25, 0.25]))
    array([0. , 0.5, 0.5])
    """
    if not law.flat[0]:
        return law
    jobs = law.copy()
    jobs.flat[0] = 0.0
    if not jobs.any():
        raise no_job()
    return jobs / jobs.sum()


def no_job() -> GridError:
    """Return the error of sizes that are 0 only."""
    return GridError("sizes of jobs: found 0 only; accepted: some processors")


def mean_of(law: npt.NDArray[np.float64]) -> float:
    """Return the mean sum of sizes whose probability is ``law[n_1, ..., n_C]``.

    >>> mean_of(np.array([[0, 0], [0.5, 0.5]]))
    1.5
    """
    return float(sum(np.sum(law * axis) for axis in np.ogrid[tuple(map(slice, law.shape))]))


def sum_of(laws: Sequence[npt.ArrayLike]) -> npt.NDArray[np.float64]:
    """Return the probabilities of the sum of independent sizes.

    Raises
    ------
    GridError
        If there are too many sizes.

    Examples
    --------
    >>> sum_of([[0.5, 0.5], [0.5, 0.5]])
    array([0.25, 0.5 , 0.25])
    """
    lengths = np.cumsum([len(np.asarray(law)) for law in laws])
    check_cost("sum of sizes", _MULTIPLY * float(lengths @ np.diff(lengths, prepend=0)))
    total = np.ones(1)
    for law in laws:
        total = np.convolve(total, np.asarray(law, dtype=np.float64))
    return total


def with_zero(law: npt.ArrayLike, zero: float) -> npt.NDArray[np.float64]:
    """Return the probabilities of a size that is 0 with probability `zero`, else as it was.

    >>> with_zero([0, 0.5, 0.5], 0.2)
    array([0.2, 0.4, 0.4])
    """
    mixed = (1.0 - zero) * np.asarray(law, dtype=np.float64)
    mixed[0] += zero
    return mixed
