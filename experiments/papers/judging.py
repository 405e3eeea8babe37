"""Claims of a paper, judged by measured intervals: each holds, fails, or stays open."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from experiments.sweeps.statistics import Interval

HOLDS, FAILS, OPEN = "holds", "fails", "open"

SHARP = 0.05
"""Half-width above which an interval is too wide to confirm a number of a paper."""


class Measured(NamedTuple):
    """A number of ours."""

    where: str
    value: Interval


class Range(NamedTuple):
    """Between what a number lies, of which no one value is known."""

    low: float
    high: float


class Verdict(NamedTuple):
    """What measurements say of a claim.

    Attributes
    ----------
    word : str
        `HOLDS`, `FAILS` or `OPEN`.
    evidence : tuple of Measured
        The numbers that decide.
    """

    word: str
    evidence: tuple[Measured, ...] = ()


def joint(words: Iterable[str]) -> str:
    """Return the verdict over several readings: the one that all have, else `OPEN`."""
    different = set(words)
    return different.pop() if len(different) == 1 else OPEN


def together(words: Iterable[str]) -> str:
    """Return the verdict on claims that shall all hold; one that fails makes all fail."""
    found = set(words)
    return FAILS if FAILS in found else OPEN if OPEN in found else HOLDS


def inside(interval: Interval | Range, low: float, high: float) -> str:
    """Return whether a number lies between two others.

    It holds if its whole interval does, fails if none of it does, and is open else.
    """
    if interval.high < low or interval.low > high:
        return FAILS
    return HOLDS if low <= interval.low and interval.high <= high else OPEN


def all_above_zero(measured: Sequence[Measured]) -> Verdict:
    """Judge that every number is above 0.

    It holds if all intervals are, fails if one is below, and is open else, as it is without
    numbers. The evidence is the lowest and the highest number.
    """
    if measured and all(each.value.low > 0 for each in measured):
        word = HOLDS
    else:
        word = FAILS if any(each.value.high < 0 for each in measured) else OPEN
    return Verdict(word, extremes(measured))


def is_number(measured: Measured, number: float) -> Verdict:
    """Judge that a share is a number that a paper prints.

    It fails if the interval does not hold the number, and stays open if it does but is wider than
    `SHARP` to each side.
    """
    interval = measured.value
    if not interval.low <= number <= interval.high:
        word = FAILS
    else:
        sharp = interval.half_width is not None and interval.half_width <= SHARP
        word = HOLDS if sharp else OPEN
    return Verdict(word, (measured,))


def rises(measured: Sequence[Measured]) -> Verdict:
    """Judge that numbers rise from the first to the last.

    It holds if the last interval is above the first and none is below an earlier one, fails if the
    last is below the first or one is below an earlier one, and is open else, as it is without
    numbers.
    """
    if not measured:
        return Verdict(OPEN)
    falls = any(
        later.value.high < earlier.value.low
        for index, later in enumerate(measured)
        for earlier in measured[:index]
    )
    rises = measured[-1].value.low > measured[0].value.high
    return Verdict(FAILS if falls else HOLDS if rises else OPEN, _course(measured))


def rises_then_falls(measured: Sequence[Measured]) -> Verdict:
    """Judge that numbers have their peak inside.

    It holds if an interval is above both the first and the last, fails if the first or the last is
    above all others, and is open else.
    """
    first, *inside, last = measured
    ends = max(first.value.high, last.value.high)
    if any(each.value.low > ends for each in inside):
        word = HOLDS
    else:
        word = OPEN
        for end, others in ((first, measured[1:]), (last, measured[:-1])):
            if all(end.value.low > other.value.high for other in others):
                word = FAILS
    return Verdict(word, _course(measured))


def no_trend(measured: Sequence[Measured]) -> Verdict:
    """Judge that numbers neither rise nor fall: it fails if the first and last intervals differ."""
    first, last = measured[0].value, measured[-1].value
    if first.half_width is None or last.half_width is None:
        return Verdict(OPEN, _course(measured))
    apart = first.high < last.low or last.high < first.low
    return Verdict(FAILS if apart else HOLDS, _course(measured))


def all_of(*verdicts: Verdict) -> Verdict:
    """Judge that claims hold together; one that fails makes all fail."""
    word = together(each.word for each in verdicts)
    evidence = (measured for each in verdicts for measured in each.evidence)
    return Verdict(word, tuple(dict.fromkeys(evidence)))


def extremes(measured: Sequence[Measured]) -> tuple[Measured, ...]:
    """Return the lowest and the highest number; of one or none all that there is."""
    ordered = sorted(measured, key=lambda each: each.value.mean)
    return (*ordered[:1], *ordered[1:][-1:])


def _course(measured: Sequence[Measured]) -> tuple[Measured, ...]:
    """Return the first, the highest and the last number."""
    highest = max(measured, key=lambda each: each.value.mean)
    return tuple(dict.fromkeys((measured[0], highest, measured[-1])))
