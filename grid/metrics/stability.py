"""Whether the queue of a run grew throughout: a sign, and no proof, that it has no steady state."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

FEWEST = 1000
"""Of fewer jobs nothing is said: the ups and downs of a queue last for hundreds."""
NOISE, GROWTH, JOBS = 3.0, 1.25, 1.0
"""A queue grows from one third to the next if it is longer by more than so many standard errors, by
more than this factor and by more than so many jobs."""
GREW = "grew by more than a quarter from each third of the arrivals to the next"
"""What a mean queue did of which `is_settled` says no."""


def is_settled(lengths: Floats) -> bool:
    """Tell whether a queue did not grow from each third of the time to the next.

    Parameters
    ----------
    lengths : array, shape (batches,)
        Its mean lengths in parts of the time in which jobs arrive, a multiple of 3 of them.

    Notes
    -----
    A queue that grows without end grows linearly: by two thirds from the second to the last third
    of the time in which jobs arrive. One that has settled differs there by its noise. Neither is
    proved: one that grows slowly or in waves is taken for settled, and one whose waves or ups and
    downs last about as long as the run for growing.
    """
    first, middle, last = lengths.reshape(3, -1)
    return not (_grew(first, middle) and _grew(middle, last))


def _grew(before: Floats, after: Floats) -> bool:
    """Tell whether a queue grew from one third of the time to the next."""
    noise = math.sqrt((before.var(ddof=1) + after.var(ddof=1)) / len(before))
    more = after.mean() - before.mean()
    return bool(more > max(NOISE * noise, (GROWTH - 1) * before.mean(), JOBS))
