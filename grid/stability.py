"""Whether a run has a steady state, or its queue grows for as long as jobs arrive."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from grid.finished import Records
from grid.records import completed

Floats = npt.NDArray[np.float64]

BATCHES = 30
"""Parts of equal length of the time in which jobs arrive."""
FEWEST = 1000
"""Fewer jobs say nothing of a steady state: the ups and downs of a queue last for hundreds."""
NOISE, GROWTH, JOBS = 3.0, 1.25, 1.0
"""A queue grows from one third to the next if it is longer by more than so many standard errors, by
more than this factor and by more than so many jobs."""


def is_stable(records: Records) -> bool | None:
    """Tell whether the queue of a run stopped growing; None if there are too few jobs to tell.

    Parameters
    ----------
    records : Records
        Of the whole run, in any order.

    Notes
    -----
    A queue that grows without end grows linearly: by two thirds from the second to the last third
    of the time in which jobs arrive. One that has settled differs there by its noise.
    """
    done = completed(records)
    if len(done) < FEWEST or done["arrival"].min() == done["arrival"].max():
        return None
    return is_settled(queue_lengths(done["arrival"], done["start"]))


def queue_lengths(arrival: Floats, start: Floats, batches: int = BATCHES) -> Floats:
    """Return the mean number of waiting jobs in equal parts of the time in which jobs arrive.

    Parameters
    ----------
    arrival, start : array, shape (jobs,)
        Of each job, in any order, s.
    batches : int
        How many parts.

    Examples
    --------
    >>> queue_lengths(np.array([0.0, 10.0]), np.array([4.0, 10.0]), 2).tolist()
    [0.8, 0.0]
    """
    edges = np.linspace(arrival.min(), arrival.max(), batches + 1)
    waited = _time_since(arrival, edges) - _time_since(start, edges)
    lengths: Floats = np.diff(waited) / np.diff(edges)
    return np.maximum(lengths, 0.0)  # whatever rounding left


def _time_since(times: Floats, edges: Floats) -> Floats:
    """Return the time that passed since those of `times` that are before an edge, in all."""
    ordered = np.sort(times) - edges[0]
    sums = np.concatenate([[0.0], np.cumsum(ordered)])
    count = np.searchsorted(ordered, edges - edges[0])
    since: Floats = count * (edges - edges[0]) - sums[count]
    return since


def is_settled(lengths: Floats) -> bool:
    """Tell whether a queue stopped growing.

    Parameters
    ----------
    lengths : array, shape (batches,)
        Its mean lengths in equal parts of the time, a multiple of 3 of them.
    """
    first, middle, last = lengths.reshape(3, -1)
    return not (_grew(first, middle) and _grew(middle, last))


def _grew(before: Floats, after: Floats) -> bool:
    """Tell whether a queue grew from one third of the time to the next."""
    noise = math.sqrt((before.var(ddof=1) + after.var(ddof=1)) / len(before))
    more = after.mean() - before.mean()
    return bool(more > max(NOISE * noise, (GROWTH - 1) * before.mean(), JOBS))
