"""Mouldable jobs: with how many processors each of those that MUSCLE allocates shall run (ours).

With few processors a job is efficient, with many it is quick. What no allotment can better is the
longest of its times, and when the processors that there are can have done its work: MUSCLE takes
the allotment that has the least of these bounds, of several that of least work, and packs it as
ever.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from grid.settings import Checked, setting

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class MouldingSettings(Checked):
    """Of schedulers that may choose the size of a job."""

    mouldable: bool = setting(
        False,
        "MUSCLE and TITAN choose with how many processors a job runs that names several `sizes`.",
    )


def moulds(settings: object) -> bool:
    """Tell whether some policy's settings say that it may choose sizes."""
    return isinstance(settings, MouldingSettings) and settings.mouldable


def allot(
    sizes: Sequence[Ints], times: Sequence[Floats], left: Floats, release: Floats
) -> list[int]:
    """Return the index of the size that each job shall have, among its own.

    For a limit, that is the size of least work of those that end within it and, if any can, before
    the deadline. Taken is the limit of least bound, of several the longest; within none that is
    shorter could all jobs end.

    Parameters
    ----------
    sizes : sequence of int array, shape (sizes,)
        Of each job, in increasing order.
    times : sequence of array, shape (sizes,)
        How long it runs with each, s; infinity where it cannot.
    left : array, shape (jobs,)
        Until the deadline of each job, s; infinity without one.
    release : array, shape (processors,)
        When each processor is free, s from now.

    Examples
    --------
    >>> sizes, times = [np.array([1, 2, 4])] * 2, [np.array([8.0, 5.0, 3.0])] * 2
    >>> allot(sizes, times, np.full(2, np.inf), np.zeros(4))
    [1, 1]
    >>> allot(sizes, times, np.array([np.inf, 4.0]), np.zeros(4))
    [1, 2]
    >>> allot(sizes, times, np.full(2, np.inf), np.full(4, 20.0))
    [0, 0]
    >>> allot(sizes * 3, times * 3, np.full(6, np.inf), np.zeros(4))
    [0, 0, 0, 0, 0, 0]
    >>> longest = np.array([1]), np.array([8.0])
    >>> allot([sizes[0], longest[0]], [times[0], longest[1]], np.full(2, np.inf), np.zeros(4))
    [0, 0]
    """
    most = max(map(len, sizes))
    ends = np.full((len(sizes), most), np.inf)
    work = np.full(ends.shape, np.inf)
    for job, (processors, seconds) in enumerate(zip(sizes, times, strict=True)):
        ends[job, : len(seconds)] = seconds
        work[job, : len(seconds)] = seconds * processors
    in_time = ends <= left[:, None]
    ends[~(in_time | ~in_time.any(axis=1, keepdims=True))] = np.inf
    quickest = ends.min(axis=1)
    least = quickest[np.isfinite(quickest)].max(initial=0.0)
    limits = np.unique(ends[np.isfinite(ends) & (ends >= least)])
    free = np.sort(release)
    counts, before = np.arange(1, len(free) + 1), np.cumsum(free)

    def chosen(limit: float) -> Ints:
        return np.where(ends <= limit, work, np.inf).argmin(axis=1)

    def bounds(limit: float) -> tuple[float, float]:
        which = chosen(limit)[:, None]
        of_each, of_work = (np.take_along_axis(each, which, 1) for each in (ends, work))
        done = float(of_work[np.isfinite(of_work)].sum())
        longest = float(of_each[np.isfinite(of_each)].max())
        return longest, float(((done + before) / counts).min())

    # The longest time grows with the limit, and what is to be done falls.
    low, high = 0, len(limits) - 1
    while low < high:
        middle = (low + high) // 2
        longest, done = bounds(limits[middle])
        low, high = (low, middle) if longest >= done else (middle + 1, high)
    if not len(limits):
        return [0] * len(sizes)
    about = limits[max(0, low - 1) : low + 1].tolist()
    best = min(about, key=lambda limit: (max(bounds(limit)), -limit))
    return [int(index) for index in chosen(best)]
