"""Percentiles of many values, of which memory holds a bounded number."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

EXACT = 1_000_000
"""So many values are kept, and their percentiles are exact."""
ERROR = 1e-3
"""Relative error, at most, of percentiles of more values."""

_LEAST, _MOST = 1e-6, 1e18
"""Values below count as 0, values above as this large."""
_BASE = math.log((1 + ERROR) / (1 - ERROR))
_FIRST, _LAST = (math.ceil(math.log(value) / _BASE) for value in (_LEAST, _MOST))


class Percentiles:
    """Values from 0 on, and their percentiles.

    Notes
    -----
    Beyond `EXACT` values only a histogram is kept, whose buckets grow by a constant factor, so that
    any value of a bucket is within `ERROR` of its middle (DDSketch: Masson, Rim and Lee, PVLDB
    12(12), 2019). The values' order matters in neither.

    Examples
    --------
    >>> percentiles = Percentiles()
    >>> percentiles.add(np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
    >>> percentiles.at(50), percentiles.at(95)
    (3.0, 4.8)
    """

    def __init__(self) -> None:
        self._count = 0
        self._values: list[Floats] | None = []
        self._buckets = np.zeros(0, np.int64)

    @property
    def exact(self) -> bool:
        """Whether all values are still kept."""
        return self._values is not None

    def add(self, values: Floats) -> None:
        """Add values, in an array that nobody changes later."""
        self._count += len(values)
        if self._values is not None:
            self._values.append(values)
            if self._count <= EXACT:
                return
            self._buckets = np.zeros(_LAST - _FIRST + 2, np.int64)
            kept, self._values = self._values, None
            values = np.concatenate(kept)
        logarithms = np.log(np.clip(values, _LEAST / 2, _MOST)) / _BASE
        buckets = np.maximum(np.ceil(logarithms).astype(np.int64) - _FIRST + 1, 0)
        self._buckets += np.bincount(buckets, minlength=len(self._buckets))

    def at(self, percent: float) -> float | None:
        """Return a percentile, interpolated between values as far as they are kept.

        Parameters
        ----------
        percent : float
            0 to 100.

        Returns
        -------
        float or None
            None without values.
        """
        if not self._count:
            return None
        if self._values is not None:
            self._values = [np.concatenate(self._values)]
            return float(np.percentile(self._values[0], percent))
        rank = math.floor(percent / 100 * (self._count - 1))
        bucket = int(np.searchsorted(np.cumsum(self._buckets), rank, side="right"))
        if bucket == 0:
            return 0.0
        return 2 * math.exp((bucket - 1 + _FIRST) * _BASE) / (math.exp(_BASE) + 1)
