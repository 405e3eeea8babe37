"""What counts as a number in an argument of a user's (no truth value), and lists of counts."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any


class Counts(list[int]):
    """A list that is copied as a whole, where Mesa's collector would copy number by number."""

    def __deepcopy__(self, memo: object) -> Counts:
        return Counts(self)


def is_whole(value: Any, least: int = 0) -> bool:
    """Return whether a value is an integer, and at least so large.

    Examples
    --------
    >>> is_whole(3), is_whole(3, least=4), is_whole(3.0), is_whole(True)
    (True, False, False, False)
    """
    return is_real(value) and isinstance(value, Integral) and int(value) >= least


def is_real(value: Any) -> bool:
    """Return whether a value is a number; NaN and infinity are."""
    return isinstance(value, Real) and not isinstance(value, bool)
