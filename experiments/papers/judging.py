"""Claims of a paper, judged by measured intervals: each holds, fails, or stays open.

Of many intervals of 95 % some lie outside by chance. What fails does so by wider ones, which hold
all of their numbers with 95 % (Bonferroni): those of one claim, or of claims that shall hold
together. That all hold needs no wider ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from experiments.sweeps.statistics import Interval

HOLDS, FAILS, OPEN = "holds", "fails", "open"

CLOSE = "too close"
"""More runs would hardly decide a claim: all that it compares is sharply known."""

TRENDS = (
    "- What rises or falls along a series (*grows*, *decreases*, *the more ... the more*) *holds* "
    "if the last interval is clear of the first, and none is clearly on the wrong side of an "
    "earlier one; it *fails* if one is, and is otherwise *open*.\n"
)
"""How pages tell what `rises` judges."""

FAILS_SURELY = (
    "- What *fails* does so by wider intervals than are shown: all that one claim compares hold "
    "their means with 95 % together (Bonferroni). An interval of 95 % alone leaves it *open*.\n"
)
"""How pages tell why a number of which the interval is on the wrong side may leave a claim open."""

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
        `HOLDS`, `FAILS`, `OPEN` or `CLOSE`.
    evidence : tuple of Measured
        The numbers that decide.
    judge : callable, optional
        Returns the word if it is one of so many claims that shall hold together; None if there is
        no chance in it.
    lasting : bool
        It stands, whatever more runs would say; else it only says that nothing speaks against it.
    """

    word: str
    evidence: tuple[Measured, ...] = ()
    judge: Callable[[int], str] | None = None
    lasting: bool = True

    def among(self, claims: int) -> str:
        """Return the word, if it is one of so many claims that shall hold together."""
        return self.word if self.judge is None else self.judge(claims)


def by_chance(judge: Callable[[int], str], evidence: Sequence[Measured]) -> Verdict:
    """Return what is said by a judge who is told among how many claims this one is."""
    return Verdict(judge(1), tuple(evidence), judge)


def joint(words: Iterable[str]) -> str:
    """Return the verdict over several readings: the one that all have, else `OPEN`."""
    different = set(words)
    return different.pop() if len(different) == 1 else OPEN


def together(words: Iterable[str]) -> str:
    """Return the verdict on claims that shall all hold; one that fails makes all fail."""
    found = set(words)
    return FAILS if FAILS in found else OPEN if OPEN in found else HOLDS


def words(verdicts: Sequence[Verdict], claims: int = 1) -> list[str]:
    """Return the words of verdicts of which none shall fail by chance, as one of so many claims."""
    doubtful = sum(each.judge is not None for each in verdicts)
    return [each.among(claims * doubtful) for each in verdicts]


def inside(interval: Interval | Range, low: float, high: float, among: int = 1) -> str:
    """Return whether a number lies between two others.

    It holds if its whole interval does, fails if none of it does, as one among so many, and is open
    else.
    """
    wide = interval.widened(among) if isinstance(interval, Interval) else interval
    if wide.high < low or wide.low > high:
        return FAILS
    return HOLDS if low <= interval.low and interval.high <= high else OPEN


def all_inside(measured: Sequence[Measured], low: float, high: float) -> Verdict:
    """Judge that every number lies between two others; it is open without numbers.

    The evidence is the lowest and the highest number.
    """

    def word(claims: int) -> str:
        among = claims * len(measured)
        return together(inside(each.value, low, high, among) for each in measured)

    return by_chance(word, extremes(measured)) if measured else Verdict(OPEN)


def all_above_zero(measured: Sequence[Measured]) -> Verdict:
    """Judge that every number is above 0.

    It holds if all intervals are, fails if one is below, and is open else, as it is without
    numbers. The evidence is the lowest and the highest number.
    """

    def word(claims: int) -> str:
        if measured and all(each.value.low > 0 for each in measured):
            return HOLDS
        return FAILS if any(each.high < 0 for each in _widened(measured, claims)) else OPEN

    return by_chance(word, extremes(measured))


def some_above_zero(measured: Sequence[Measured]) -> Verdict:
    """Judge that some number is above 0.

    It holds if one is, by intervals that hold all of them with 95 %; fails if none is, and is open
    else, as it is without numbers. The evidence is the lowest and the highest number.
    """

    def word(claims: int) -> str:
        wide = _widened(measured, claims)
        if any(each.low > 0 for each in wide):
            return HOLDS
        return FAILS if measured and all(each.high < 0 for each in wide) else OPEN

    return by_chance(word, extremes(measured))


def above_all(one: Measured, others: Sequence[Measured]) -> Verdict:
    """Judge that a number is above others.

    It holds if its interval is above all of theirs, fails if it is below one, and is open else.
    """
    every = (one, *others)

    def word(claims: int) -> str:
        if all(one.value.low > each.value.high for each in others):
            return HOLDS
        here, *there = _widened(every, claims)
        return FAILS if any(here.high < each.low for each in there) else OPEN

    return by_chance(word, every)


def is_number(measured: Measured, number: float) -> Verdict:
    """Judge that a share is a number that a paper prints.

    It fails if the interval does not hold the number, and stays open if it does but is wider than
    `SHARP` to each side. That it holds lasts until a smaller interval does not hold the number.
    """
    interval = measured.value
    sharp = interval.half_width is not None and interval.half_width <= SHARP

    def word(claims: int) -> str:
        (wide,) = _widened((measured,), claims)
        if not wide.low <= number <= wide.high:
            return FAILS
        return HOLDS if sharp and interval.low <= number <= interval.high else OPEN

    verdict = by_chance(word, (measured,))
    return verdict._replace(lasting=verdict.word != HOLDS)


def rises(measured: Sequence[Measured]) -> Verdict:
    """Judge that numbers rise from the first to the last.

    It holds if the last interval is above the first and none is below an earlier one, fails if the
    last is below the first or one is below an earlier one, and is open else, as it is without
    numbers.
    """
    if not measured:
        return Verdict(OPEN)
    plain = [each.value for each in measured]

    def word(claims: int) -> str:
        if _falls(_widened(measured, claims)):
            return FAILS
        return HOLDS if plain[-1].low > plain[0].high and not _falls(plain) else OPEN

    return by_chance(word, _course(measured))


def _falls(intervals: Sequence[Interval]) -> bool:
    """Tell whether one is below an earlier one."""
    return any(
        later.high < earlier.low
        for index, later in enumerate(intervals)
        for earlier in intervals[:index]
    )


def rises_then_falls(measured: Sequence[Measured]) -> Verdict:
    """Judge that numbers have their peak inside.

    It holds if an interval is above both the first and the last, fails if the first or the last is
    above all others, and is open else.
    """
    first, *inside, last = measured
    ends = max(first.value.high, last.value.high)

    def word(claims: int) -> str:
        if any(each.value.low > ends for each in inside):
            return HOLDS
        wide = _widened(measured, claims)
        for end, others in ((wide[0], wide[1:]), (wide[-1], wide[:-1])):
            if all(end.low > other.high for other in others):
                return FAILS
        return OPEN

    return by_chance(word, _course(measured))


def no_trend(measured: Sequence[Measured], margin: float) -> Verdict:
    """Judge that numbers neither rise nor fall: that the last is within a margin of the first."""
    change = measured[-1].value.minus(measured[0].value)
    return by_chance(lambda claims: inside(change, -margin, margin, claims), _course(measured))


def all_of(*verdicts: Verdict) -> Verdict:
    """Judge that claims hold together; one that fails makes all fail."""
    evidence = (measured for each in verdicts for measured in each.evidence)
    return by_chance(
        lambda claims: together(words(verdicts, claims)), tuple(dict.fromkeys(evidence))
    )


def extremes(measured: Sequence[Measured]) -> tuple[Measured, ...]:
    """Return the lowest and the highest number; of one or none all that there is."""
    ordered = sorted(measured, key=lambda each: each.value.mean)
    return (*ordered[:1], *ordered[1:][-1:])


def _widened(measured: Sequence[Measured], claims: int) -> list[Interval]:
    """Return the intervals, so wide that they all hold theirs, in one of so many claims."""
    return [each.value.widened(claims * len(measured)) for each in measured]


def _course(measured: Sequence[Measured]) -> tuple[Measured, ...]:
    """Return the first, the highest and the last number."""
    highest = max(measured, key=lambda each: each.value.mean)
    return tuple(dict.fromkeys((measured[0], highest, measured[-1])))
