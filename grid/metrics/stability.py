"""Whether a run has a steady state, or its queue grows for as long as jobs arrive."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

FEWEST = 1000
"""Fewer jobs say nothing of a steady state: the ups and downs of a queue last for hundreds."""
NOISE, GROWTH, JOBS = 3.0, 1.25, 1.0
"""A queue grows from one third to the next if it is longer by more than so many standard errors, by
more than this factor and by more than so many jobs."""


def is_settled(lengths: Floats) -> bool:
    """Tell whether a queue stopped growing.

    Parameters
    ----------
    lengths : array, shape (batches,)
        Its mean lengths in parts of the time in which jobs arrive, a multiple of 3 of them.

    Notes
    -----
    A queue that grows without end grows linearly: by two thirds from the second to the last third
    of the time in which jobs arrive. One that has settled differs there by its noise.
    """
    first, middle, last = lengths.reshape(3, -1)
    return not (_grew(first, middle) and _grew(middle, last))


def _grew(before: Floats, after: Floats) -> bool:
    """Tell whether a queue grew from one third of the time to the next."""
    noise = math.sqrt((before.var(ddof=1) + after.var(ddof=1)) / len(before))
    more = after.mean() - before.mean()
    return bool(more > max(NOISE * noise, (GROWTH - 1) * before.mean(), JOBS))
