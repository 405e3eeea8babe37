"""Formulas: sums of terms, each with the weight that was learned for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import numpy as np
import numpy.typing as npt
from pydantic import Field

Floats = npt.NDArray[np.float64]

HUGE = 1e9
"""Weights are not larger than this, so that sums are numbers."""
Weight = Annotated[float, Field(strict=True, ge=-HUGE, le=HUGE, allow_inf_nan=False)]

FIGURES = 4
"""Significant figures of weights as they are shown."""


def array_of(weights: Mapping[str, float], terms: Mapping[str, str]) -> Floats:
    """Return the weights of terms in the order of these, 0 where one is not given."""
    return np.array([float(weights.get(name, 0.0)) for name in terms])


def formula_of(weights: Mapping[str, float], terms: Mapping[str, str]) -> str:
    """Return a formula as people write it.

    Examples
    --------
    >>> formula_of({"time": 2.5, "size": -1.0}, {"time": "log t", "size": "log n", "age": "a"})
    '2.5 log t - log n'
    """
    told = ""
    for name, term in terms.items():
        weight = float(weights.get(name, 0.0))
        if weight:
            sign = ("-" if weight < 0 else "") if not told else (" - " if weight < 0 else " + ")
            factor = f"{abs(weight):.{FIGURES}g}"
            told += sign + (term if factor == "1" else f"{factor} {term}")
    return told or "0"
