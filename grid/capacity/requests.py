"""Unordered requests: what components a job has, whatever the clusters (`maxutil`, section 2.3)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import permutations

import numpy as np
import numpy.typing as npt

from grid.capacity.cost import check_cost, multisets
from grid.capacity.density import checked_density, no_job
from grid.capacity.ordered import check_convolution
from grid.errors import GridError

_LIST = 1e-8
"""CPU seconds of each number in a list of kinds of jobs."""


def non_increasing(largest: int, length: int) -> npt.NDArray[np.int64]:
    """Return all non-increasing vectors of whole numbers from 0 on, in lexicographic order.

    >>> non_increasing(2, 2).tolist()
    [[0, 0], [1, 0], [1, 1], [2, 0], [2, 1], [2, 2]]
    """
    rows = np.empty((math.comb(largest + length, length), length), np.int64)
    column = np.array([largest])
    for k in range(length):
        counts = column + 1
        first = np.repeat(np.cumsum(counts) - counts, counts)
        column = np.arange(counts.sum()) - first
        after = length - 1 - k
        ends = np.array([math.comb(n + after, after) for n in range(largest + 1)])
        rows[:, k] = np.repeat(column, ends[column])  # each once for each way to go on
    return rows


@dataclass(frozen=True, eq=False)
class Requests:
    """A law of unordered requests on clusters of equal size: a density on S_U (section 4.2).

    Attributes
    ----------
    components : int array, shape (kinds, clusters)
        Of each kind of job: its components from the largest to the smallest; some may be 0.
    probabilities : float array, shape (kinds,)
        Of each kind.
    size : int
        Processors of each cluster.
    """

    components: npt.NDArray[np.int64]
    probabilities: npt.NDArray[np.float64]
    size: int

    def __post_init__(self) -> None:
        kinds, probabilities = self.components, self.probabilities
        if kinds.ndim != 2 or len(kinds) != len(probabilities) or kinds.size == 0:
            raise GridError(
                f"requests: found shapes {kinds.shape} and {probabilities.shape}; accepted: a row "
                "of components for each probability"
            )
        if not (np.diff(kinds, axis=1) <= 0).all() or kinds.min() < 0 or kinds.max() > self.size:
            raise GridError(
                f"requests: accepted: components from the largest, at most {self.size}, to the "
                "smallest, at least 0"
            )
        if not (kinds[:, 0] > 0).all():
            raise GridError("requests: found a job without components; accepted: at least one")
        if not ((probabilities >= 0).all() and abs(probabilities.sum() - 1) < 1e-9):
            raise GridError(
                f"requests: found probabilities that sum to {probabilities.sum():g}; accepted: "
                "numbers from 0 that sum to 1"
            )

    @property
    def clusters(self) -> int:
        """How many clusters there are."""
        return self.components.shape[1]

    @property
    def job_size(self) -> float:
        """Mean number of processors of a job."""
        return float(self.probabilities @ self.components.sum(axis=1))

    @classmethod
    def independent(cls, law: npt.ArrayLike, clusters: int, size: int) -> Requests:
        """Return jobs of one component for each cluster, each drawn by itself.

        Parameters
        ----------
        law : array of float
            Probability that a component has 0, 1, 2, ... processors; a draw of zeros only is no
            job.
        clusters : int
            From 1.
        size : int
            Processors of each cluster.

        Raises
        ------
        GridError
            For probabilities that are none, or too many kinds of jobs.

        Examples
        --------
        >>> jobs = Requests.independent([0, 0.5, 0.5], clusters=2, size=4)
        >>> jobs.components.tolist(), jobs.probabilities.tolist()
        ([[1, 1], [2, 1], [2, 2]], [0.25, 0.5, 0.25])
        """
        check_clusters(clusters)
        density = checked_density(law, (size,))
        sizes = np.flatnonzero(density)
        kinds = multisets(len(sizes), clusters)
        numbers = 4.0 * kinds * clusters
        check_cost(f"{kinds:.2g} kinds of unordered requests", _LIST * numbers, numbers)
        ranks = non_increasing(len(sizes) - 1, clusters)
        orders, run = np.ones(len(ranks)), np.ones(len(ranks))
        for k in range(1, clusters):  # k + 1 over how often the last one came: a multinomial count
            run = np.where(ranks[:, k] == ranks[:, k - 1], run + 1, 1)
            orders *= (k + 1) / run
        components = sizes[ranks]
        probabilities = orders * density[components].prod(axis=1)
        return cls._jobs(components, probabilities, size)

    @classmethod
    def split(cls, total: npt.ArrayLike, clusters: int, size: int) -> Requests:
        """Return jobs that are split into as few equal components as fit (dependent sizes).

        Parameters
        ----------
        total : array of float
            Probability that a job has 0, 1, 2, ... processors; 0 is no job.
        clusters : int
            From 1.
        size : int
            Processors of each cluster: a job of J has ceil(J / size) components, whose sizes
            differ by at most one.

        Raises
        ------
        GridError
            For probabilities that are none.

        Examples
        --------
        >>> Requests.split([0, 0, 0, 0, 0.5, 0.5], clusters=3, size=4).components.tolist()
        [[4, 0, 0], [3, 2, 0]]
        """
        check_clusters(clusters)
        density = checked_density(total, (clusters * size,))
        numbers = 4.0 * len(density) * clusters
        check_cost("kinds of unordered requests", _LIST * numbers, numbers)
        jobs = np.flatnonzero(density)
        parts = np.maximum(-(-jobs // size), 1)
        column = np.arange(clusters)
        even = jobs[:, None] // parts[:, None] + (column < (jobs % parts)[:, None])
        return cls._jobs(np.where(column < parts[:, None], even, 0), density[jobs], size)

    @classmethod
    def _jobs(
        cls, components: npt.NDArray[np.int64], probabilities: npt.NDArray[np.float64], size: int
    ) -> Requests:
        """Return the draws that are jobs."""
        jobs = components[:, 0] > 0
        if not jobs.any():
            raise no_job()
        found = probabilities[jobs]
        return cls(components[jobs], found / found.sum(), size)

    def in_any_order(self) -> npt.NDArray[np.float64]:
        """Return the joint probabilities of ordered requests that choose clusters at random.

        Every order of a job's components is equally likely; see `joint_capacity`.
        """
        check_convolution([[self.size] * self.clusters])
        shuffled = float(math.factorial(self.clusters)) * self.components.size
        check_cost("orders of components", _LIST * shuffled)
        joint = np.zeros((self.size + 1,) * self.clusters)
        orders = list(permutations(range(self.clusters)))
        for order in orders:
            np.add.at(joint, tuple(self.components[:, order].T), self.probabilities / len(orders))
        return joint


def check_clusters(clusters: int) -> None:
    """Raise `GridError` unless there is a whole number of clusters."""
    if clusters != int(clusters) or clusters < 1:
        raise GridError(f"clusters: found {clusters}; accepted: a number from 1")
