"""Total requests: one cluster as large as all, and the sum of the components (`maxutil`)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy.typing as npt

from grid.capacity.density import sum_of
from grid.capacity.level import Capacity
from grid.capacity.ordered import ordered_capacity


def total_capacity(
    components: Sequence[npt.ArrayLike], processors: int, slotted: bool = False
) -> Capacity:
    """Return the exact capacity for total requests, FCFS (`maxutil`, eqs. 2 and 3).

    Parameters
    ----------
    components : sequence of arrays of float
        Of each component that a job's size is the sum of: the probability of 0, 1, 2, ...
        processors, independent of the other components.
    processors : int
        Of the single cluster.
    slotted : bool
        Eq. 4, for deterministic service in step, in place of eq. 2, for exponential service.

    Raises
    ------
    GridError
        As `ordered_capacity` does.

    Examples
    --------
    Two components of U[1, 2] on four processors:

    >>> total_capacity([[0, 0.5, 0.5], [0, 0.5, 0.5]], 4)
    Capacity(mpl=1.032258064516129, job_size=3.0, processors=4)
    """
    return ordered_capacity([sum_of(components)], [processors], slotted)
