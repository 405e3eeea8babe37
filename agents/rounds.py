"""The rounds of a global scheduler that works in rounds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass
class Round:
    """One round.

    Attributes
    ----------
    number : int
        From 1.
    dispatched : float
        When, s.
    jobs : array, shape (clusters,)
        Jobs allocated to each cluster.
    cps : array, shape (clusters,)
        CP that each local scheduler expects of its new schedule, s; 0 for a cluster without jobs,
        NaN as long as it has not told.
    """

    number: int
    dispatched: float
    jobs: npt.NDArray[np.int64]
    cps: npt.NDArray[np.float64]
