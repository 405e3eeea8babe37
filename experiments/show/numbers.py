"""Numbers as people read them: one way to tell numbers, shares, times and means, everywhere.

Times are told in seconds below 2 minutes, in minutes below 2 hours, in hours below 2 days, and in
days from there on. A column of a table or an axis of a picture has one unit, that of its largest
value, in its heading; a study one for each metric. Files and ``--json`` have seconds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

NONE = "-"
"""Stands where nothing defines a number."""

_DIGITS = ((100, 0), (10, 1), (1, 2))
"""Digits after the point, of numbers from so much on."""
_PLAIN = 1e8
"""From here on numbers have an exponent."""


class Scale(NamedTuple):
    """A unit, and how many of the base unit (of which numbers are kept) it is."""

    size: float
    unit: str

    def told(self, value: float | None, half: float | None = None) -> str:
        """Return a number in this unit, which is not added, with its half-width if it has one.

        >>> Scale(60.0, "min").told(3228.0, 992.0), Scale(1.0, "").told(0.123456, 0.00123)
        ('54 ± 17', '0.1235 ± 0.0012')
        >>> PLAIN.told(-0.3, 13.0)
        '0 ± 13'
        """
        if value is None or half is None or not (math.isfinite(value) and math.isfinite(half)):
            return number(None if value is None else self._of(value))
        value, half = value / self.size, half / self.size
        if not half or abs(value) >= _PLAIN or half >= _PLAIN or half < 1e-6:
            return f"{number(value)} ± {number(half)}"
        digits = max(0, 1 - math.floor(math.log10(half)))
        return f"{value:z,.{digits}f} ± {half:,.{digits}f}"

    def column(self, values: Sequence[float | None]) -> list[str]:
        """Return numbers of a column in this unit: all whole, or but for 0 of three digits or more.

        >>> PLAIN.column([0.7904, 0.855, 0.0]), PLAIN.column([1.0, 1.001]), PLAIN.column([1.0, 5.0])
        (['0.790', '0.855', '0'], ['1.00', '1.00'], ['1', '5'])
        >>> PLAIN.column([0.000355, 36.7, None])
        ['< 0.001', '36.7', '-']
        """
        scaled = [None if value is None else self._of(value) for value in values]
        most = largest(scaled)
        zeros = any(each is not None and math.isfinite(each) and each % 1 for each in scaled)
        return [
            "< 0.001" if each and 0 < each < 0.001 and most >= 1 else number(each, zeros)
            for each in scaled
        ]

    def _of(self, value: float) -> float:
        """Return a number in this unit: 0.07 is 7 %, though 0.07 / 0.01 is not quite 7."""
        return float(f"{value / self.size:.12g}")

    def with_unit(self, value: float | None, half: float | None = None) -> str:
        """Return a number with the unit."""
        told = self.told(value, half)
        return told if told == NONE or not self.unit else f"{told} {self.unit}"


PLAIN, PERCENT = Scale(1.0, ""), Scale(0.01, "%")
POINTS = Scale(0.01, "percentage points")
"""Of differences of shares, which are none themselves."""
_TIMES = (Scale(86_400.0, "d"), Scale(3600.0, "h"), Scale(60.0, "min"))
SECONDS = Scale(1.0, "s")


def time_scale(most: float, least: float = math.inf) -> Scale:
    """Return the unit of times (s) of which the largest is given.

    It is a smaller one where half of it would be more than the least that must be read.

    >>> time_scale(9000.0).unit, time_scale(9000.0, 450.0).unit
    ('h', 'min')
    """
    fits = (each for each in _TIMES if abs(most) >= 2 * each.size and least >= each.size / 2)
    return next(fits, SECONDS)


def duration(seconds: float | None, half: float | None = None) -> str:
    """Return a time (s) in the unit that suits it, with its half-width if it has one.

    >>> duration(4.25), duration(7300), duration(None), duration(3228.0, 992.0)
    ('4.25 s', '2.03 h', '-', '54 ± 17 min')
    """
    return time_scale(seconds or 0.0).with_unit(seconds, half)


def countdown(seconds: float) -> str:
    """Return a time that people wait for (s), which is no more exact than they need.

    >>> countdown(4.2), countdown(75), countdown(7500), countdown(1_220_400)
    ('4 s', '1 min 15 s', '2 h 5 min', '14 d 3 h')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours < 48 else f"{hours // 24} d {hours % 24} h"


def instant(seconds: float) -> str:
    """Return a moment of simulated time, in seconds as files have it, to the millisecond.

    >>> instant(12345.6789), instant(7200.0)
    ('12,345.679 s', '7,200 s')
    """
    return f"{instants([seconds])[0]} s"


def instants(moments: Sequence[float]) -> list[str]:
    """Return moments for a column, with as many digits as any of them needs, and without a unit.

    >>> instants([7200.0, 7200.25]), instants([3600.0])
    (['7,200.00', '7,200.25'], ['3,600'])
    """
    digits = max((len(f"{each:.3f}".rstrip("0").split(".")[1]) for each in moments), default=0)
    return [f"{each:,.{digits}f}" for each in moments]


def number(value: float | None, zeros: bool = False) -> str:
    """Return a number with some three digits; zeros at its end only if asked for.

    >>> number(12345.6), number(1.25), number(7), number(0.4474), number(2e-5), number(1.5e9)
    ('12,346', '1.25', '7', '0.447', '2e-05', '1.5e+09')
    """
    if value is None or math.isnan(value):
        return NONE
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if abs(value) < 1 or abs(value) >= _PLAIN:
        return f"{value:#.3g}" if zeros and 0 < abs(value) < 1 else f"{value:z.3g}"
    digits = next(digits for least, digits in _DIGITS if abs(value) >= least)
    return f"{value:,.{0 if value == round(value) and not zeros else digits}f}"


def exact(value: float) -> str:
    """Return a number so that who reads it again has the same.

    >>> exact(1.0), exact(0.0001234567), exact(60)
    ('1', '0.0001234567', '60')
    """
    return repr(value).removesuffix(".0")


def percent(share: float | None) -> str:
    """Return a share in percent; none and all only if it is exactly that.

    >>> percent(0.853), percent(0.99999), percent(0.00001), percent(1.0), percent(120.313)
    ('85.3 %', '> 99.9 %', '< 0.1 %', '100.0 %', '12,031 %')
    """
    if share is None or math.isnan(share):
        return NONE
    if share >= 10:
        return f"{100 * share:,.0f} %"
    text = f"{100 * share:.1f} %"
    if text == "100.0 %" and share < 1:
        return "> 99.9 %"
    return "< 0.1 %" if text == "0.0 %" and share > 0 else text


def percent_done(share: float) -> str:
    """Return which share is done, rounded to whole percent: 100 % only of all.

    >>> percent_done(2 / 3), percent_done(0.999), percent_done(1)
    ('67 %', '99 %', '100 %')
    """
    return f"{100 if share >= 1 else min(99, round(100 * share))} %"


def signed_percent(share: float) -> str:
    """Return a change in percent, without the sign %: 0.0 only if there is none.

    >>> signed_percent(0.0314), signed_percent(-0.000073), signed_percent(0.0), signed_percent(19.4)
    ('+3.1', '-0.0073', '+0.0', '+1,940')
    >>> signed_percent(6.6e-7)
    'less than 0.001'
    """
    if 0 < abs(share) < 1e-5:
        return "less than 0.001"
    if share and not round(100 * share, 1):
        return f"{100 * share:+.2g}"
    return f"{100 * share:+,.{0 if abs(share) >= 10 else 1}f}"


def counted(count: float, one: str, many: str = "") -> str:
    """Return how many there are.

    >>> counted(1, "job"), counted(1200, "job"), counted(2, "policy", "policies")
    ('1 job', '1,200 jobs', '2 policies')
    """
    return f"{count:,.0f} {one if count == 1 else many or one + 's'}"


def times(count: float) -> str:
    """Return how often something happened.

    >>> times(1), times(2), times(3)
    ('once', 'twice', '3 times')
    """
    return {1: "once", 2: "twice"}.get(int(count), f"{count:,.0f} times")


def listed(names: Sequence[str], last: str = "and") -> str:
    """Return names in a row, as a sentence has them, with a word before the last.

    >>> listed(["a", "b", "c"]), listed(["4", "8"], "or")
    ('a, b and c', '4 or 8')
    """
    return f" {last} ".join([*([", ".join(names[:-1])] if len(names) > 1 else []), *names[-1:]])


def first_of(names: Sequence[str], most: int) -> str:
    """Return the first of several names, and how many more there are.

    >>> first_of(["a", "b", "c", "d"], 2), first_of(["a", "b"], 2)
    ('a, b and 2 more', 'a, b')
    """
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def largest(values: Iterable[float | None]) -> float:
    """Return the largest magnitude of what is a number among values, 0 if nothing is."""
    return max((abs(v) for v in values if v is not None and math.isfinite(v)), default=0.0)
