"""Numbers as people read them; a dash where nothing defines one."""

from __future__ import annotations

NONE = "-"
DIGITS = ((100, 0), (10, 1), (1, 2))
"""Digits after the point, of numbers from so much on."""


def time_told(seconds: float | None) -> str:
    """Return a time in the unit that suits it.

    >>> time_told(4.25), time_told(7300), time_told(None)
    ('4.25 s', '2.03 h', '-')
    """
    if seconds is None:
        return NONE
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "min")):
        if abs(seconds) >= 2 * size:
            return f"{number_told(seconds / size)} {unit}"
    return f"{number_told(seconds)} s"


def number_told(value: float | None) -> str:
    """Return a number with some three digits.

    >>> number_told(12345.6), number_told(1.25), number_told(7), number_told(0.4474)
    ('12,346', '1.25', '7', '0.447')
    """
    if value is None:
        return NONE
    digits = next((digits for least, digits in DIGITS if abs(value) >= least), 3)
    text = f"{value:,.{digits}f}"
    return text.rstrip("0").rstrip(".") if digits else text


def share_told(share: float | None) -> str:
    """Return a share in percent.

    >>> share_told(0.853)
    '85.3 %'
    """
    return NONE if share is None else f"{100 * share:.1f} %"


def jobs_told(count: int) -> str:
    """Return a number of jobs.

    >>> jobs_told(1), jobs_told(1200)
    ('1 job', '1,200 jobs')
    """
    return "1 job" if count == 1 else f"{count:,} jobs"
