"""Whether makespans that rounding cannot tell apart are one: then the best schedule is optimal."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from fractions import Fraction

MOST_SUMS = 1_000_000
"""Of half of the jobs."""


def no_sum_between(choices: Sequence[Sequence[Fraction]], low: Fraction, high: Fraction) -> bool:
    """Return whether it is certain that no sum of choices is from `low` to below `high`.

    The makespan of a schedule in which jobs start at 0 or when others finish is such a sum.

    Parameters
    ----------
    choices : sequence of sequence of Fraction
        The execution times that each job can have; a sum has at most one of each job.
    low, high : Fraction

    Examples
    --------
    >>> two = [[Fraction(2), Fraction(3)], [Fraction(10)]]
    >>> [no_sum_between(two, Fraction(4), Fraction(high)) for high in (10, 11)]
    [True, False]
    """
    halves: list[list[Fraction]] = []
    for jobs in (choices[::2], choices[1::2]):
        sums = {Fraction(0)}
        for times in jobs:
            sums |= {each + time for each in sums for time in times}
            if len(sums) > MOST_SUMS:
                return False
        halves.append(sorted(sums))
    one, other = halves
    for each in one:
        at = bisect_left(other, low - each)
        if at < len(other) and other[at] < high - each:
            return False
    return True
