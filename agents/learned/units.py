"""Units: what a small network of one hidden layer adds to a formula.

A unit is gain * max(0, bias + a weighted sum of the formula's terms).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from pydantic import ConfigDict

from agents.learned.formula import Floats, Weight, array_of
from grid.kernel.compile import inlined
from grid.kernel.execution_times import number_at


@dataclass(frozen=True)
class Unit:
    """One of a network.

    Attributes
    ----------
    gain, bias : float
    weights : mapping of str to float
        Of terms, by name, 0 where one is not given.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    gain: Weight
    bias: Weight
    weights: dict[str, Weight]


def numbers_of(
    weights: Mapping[str, float], units: Sequence[Unit], terms: Mapping[str, str]
) -> Floats:
    """Return a formula's weights of terms, then each unit's gain, bias and weights, as an array.

    Examples
    --------
    >>> terms = {"time": "log t", "size": "log n"}
    >>> numbers_of({"time": 1.0}, [Unit(2.0, 3.0, {"size": 4.0})], terms).tolist()
    [1.0, 0.0, 2.0, 3.0, 0.0, 4.0]
    """
    each = [array_of(weights, terms)]
    each += [np.array([unit.gain, unit.bias, *array_of(unit.weights, terms)]) for unit in units]
    return np.concatenate(each)


def units_of(numbers: Floats, terms: Mapping[str, str]) -> tuple[dict[str, float], list[Unit]]:
    """Return the weights and units that `numbers_of` made an array of."""
    own, rest = numbers[: len(terms)].tolist(), numbers[len(terms) :]
    units = [
        Unit(gain, bias, dict(zip(terms, of, strict=True)))
        for gain, bias, *of in rest.reshape(-1, 2 + len(terms)).tolist()
    ]
    return dict(zip(terms, own, strict=True)), units


@inlined
def weighed(address: int, units: int, terms: Any) -> float:
    """Return a weighted sum of terms and what units add, by the numbers at an address."""
    count = len(terms)
    total, at = 0.0, count
    for term in range(count):
        total += number_at(address, term) * terms[term]
    for _ in range(units):
        found = number_at(address, at + 1)
        for term in range(count):
            found += number_at(address, at + 2 + term) * terms[term]
        total += number_at(address, at) * max(0.0, found)
        at += 2 + count
    return total
