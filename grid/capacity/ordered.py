"""Ordered requests, which say what they need of which cluster (`maxutil`, section 4.1)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from grid.capacity.cost import check_cost, jobs_at_once
from grid.capacity.density import checked_density, mean_of, no_job, of_jobs
from grid.capacity.level import Capacity, capacity_of

_RARE = 30
"""Jobs that do not come, though so many are due in the mean, as seldom as is negligible."""
_CALL, _TRANSFORM = 3e-5, 2e-9
"""CPU seconds of a convolution by fast Fourier transforms, and for each point and stage of it."""


def ordered_capacity(
    components: Sequence[npt.ArrayLike], sizes: Sequence[int], slotted: bool = False
) -> Capacity:
    """Return the exact capacity for ordered requests of independent components, FCFS.

    Parameters
    ----------
    components : sequence of arrays of float
        For each cluster, the probability that a job's component there has 0, 1, 2, ... processors.
        A draw in which all are 0 is no job.
    sizes : sequence of int
        Processors of each cluster.
    slotted : bool
        Eq. 4, for deterministic service in step, in place of eq. 2, for exponential service.

    Raises
    ------
    GridError
        For probabilities or sizes that are none, a component that is larger than its cluster, or
        what would take too long.

    Notes
    -----
    Since components are independent, F^(i)(N) is the product over the clusters j of F_j^(i)(N_j).
    Those of jobs alone are not, so that draws which are none count as well if there are several
    clusters.

    Examples
    --------
    Jobs of one processor lose nothing; those of D(0.9) on [1, 8] can use 92.86 % of a cluster:

    >>> round(ordered_capacity([[0, 1]], [32]).capacity_loss, 9) + 0.0
    0.0
    >>> from grid.workloads.component_sizes import parse_sizes
    >>> round(ordered_capacity([parse_sizes("D(0.9)[1,8]", 32).density()], [32]).utilization, 4)
    0.9286
    """
    laws = [checked_density(law, (size,)) for law, size in zip(components, sizes, strict=True)]
    if len(laws) == 1:
        laws = [of_jobs(laws[0])]
    blank = math.prod(float(law[0]) for law in laws)
    mean = math.fsum(mean_of(law) for law in laws)
    if blank >= 1.0 or mean == 0.0:
        raise no_job()
    least = sum(int(np.flatnonzero(law)[0]) for law in laws)
    tables = [(size,) for size in sizes]
    jobs = jobs_at_once(sum(sizes), mean / (1.0 - blank), least)
    check_convolution(tables, (jobs + _RARE * blank) / (1.0 - blank))
    fits = (math.prod(parts) for parts in zip(*map(_fits, laws, tables), strict=True))
    return capacity_of(fits, mean, sum(sizes), slotted, blank)


def joint_capacity(joint: npt.ArrayLike, slotted: bool = False) -> Capacity:
    """Return the exact capacity for ordered requests of dependent components, FCFS.

    Parameters
    ----------
    joint : array of float
        ``joint[n_1, ..., n_C]`` is the probability of a job of these components, and the shape
        says how large the clusters are: (N_1 + 1, ..., N_C + 1).
    slotted : bool
        Eq. 4, for deterministic service in step, in place of eq. 2, for exponential service.

    Raises
    ------
    GridError
        For probabilities that are none, or what would take too long.

    Notes
    -----
    F^(i)(N) is of the multidimensional convolution.

    Examples
    --------
    Two jobs that each need all of one of two clusters run side by side half of the time:

    >>> joint_capacity([[0, 0.5], [0.5, 0]])
    Capacity(mpl=1.3333333333333333, job_size=1.0, processors=2)
    """
    law = np.asarray(joint, dtype=np.float64)
    sizes = tuple(length - 1 for length in law.shape)
    law = of_jobs(checked_density(law, sizes))
    mean = mean_of(law)
    least = int(np.argwhere(law).sum(axis=1).min())
    check_convolution([sizes], jobs_at_once(sum(sizes), mean, least))
    return capacity_of(_fits(law, sizes), mean, sum(sizes), slotted)


def check_convolution(tables: Sequence[Sequence[int]], jobs: float = 1) -> None:
    """Refuse to convolve tables over clusters of these sizes if that is too much for so many jobs.

    Raises
    ------
    GridError
        With the estimate.
    """
    points = [math.prod(2.0 * size + 1.0 for size in sizes) for sizes in tables]
    seconds = jobs * math.fsum(_CALL + _TRANSFORM * n * math.log2(n) for n in points)
    check_cost("ordered requests", seconds, 4 * math.fsum(points))


def _fits(law: npt.NDArray[np.float64], sizes: Sequence[int]) -> Iterator[float]:
    """Yield F^(i)(N) for i = 1, 2, ..., convolved by fast Fourier transforms."""
    from scipy import fft

    shape = [fft.next_fast_len(2 * size + 1, real=True) for size in sizes]
    within = tuple(slice(size + 1) for size in sizes)
    once = fft.rfftn(law, shape)
    held = law
    while True:
        yield float(held.sum())
        held = fft.irfftn(fft.rfftn(held, shape) * once, shape)[within].clip(min=0.0)
