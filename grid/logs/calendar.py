"""Dates by the clock of the site that a log comes from."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, date, datetime, timedelta, timezone

SITES_CLOCK = timezone(timedelta(0), "(site's clock)")
"""The time zone of a site that its log does not name: only differences of its times are known."""


def clock_at(start: datetime, seconds: float) -> datetime:
    """Return what a clock shows some seconds after it showed `start`, summer time included.

    Examples
    --------
    >>> from zoneinfo import ZoneInfo
    >>> midnight = datetime(2003, 3, 30, tzinfo=ZoneInfo("Europe/Stockholm"))
    >>> clock_at(midnight, 86_400.0).isoformat()
    '2003-03-31T01:00:00+02:00'
    """
    return (start.astimezone(UTC) + timedelta(seconds=seconds)).astimezone(start.tzinfo)


def written(clock: datetime) -> str:
    """Return a date as JSON has it, with its zone if that is known."""
    return (clock.replace(tzinfo=None) if clock.tzinfo is SITES_CLOCK else clock).isoformat()


def zone_of(clock: datetime) -> str:
    """Return in words which clock it is."""
    return "the site's clock" if clock.tzinfo is SITES_CLOCK else str(clock.tzinfo)


def read(text: str) -> datetime:
    """Return the date that `written` wrote."""
    clock = datetime.fromisoformat(text)
    return clock.replace(tzinfo=SITES_CLOCK) if clock.tzinfo is None else clock


def shown(start: datetime, seconds: float) -> str:
    """Return what a clock shows some seconds after it showed `start`, as people read it.

    Examples
    --------
    >>> shown(datetime(2003, 3, 30, 23, 59, tzinfo=UTC), 61.7)
    '2003-03-31 00:00:01'
    >>> shown(datetime(9999, 12, 31, 23, 59, tzinfo=UTC), 3600.0)
    ''
    """
    with suppress(OverflowError, ValueError):  # beyond the calendar
        return f"{clock_at(start, seconds):%Y-%m-%d %H:%M:%S}"
    return ""


def parsed(text: str) -> date | datetime:
    """Return a date, which may have a time and a zone, of its ISO 8601 text.

    Raises
    ------
    ValueError
        If it is none.

    Examples
    --------
    >>> parsed("2003-02-03")
    datetime.date(2003, 2, 3)
    >>> parsed("2003-02-03 08:30")
    datetime.datetime(2003, 2, 3, 8, 30)
    """
    if "-" not in text:  # as no number of seconds has it
        raise ValueError(text)
    whole_day = len(text) <= len("2003-02-03")
    return date.fromisoformat(text) if whole_day else datetime.fromisoformat(text)


def seconds_until(said: str, start: datetime) -> float:
    """Return how long after `start` the same clock shows a date, s; below 0 if before.

    Parameters
    ----------
    said : str
        By the clock, from its first instant on; or with a zone of its own.
    start : datetime
        With a time zone.

    Raises
    ------
    ValueError
        If the date has a zone and that of the clock is not known, or the clock never shows it: it
        says what is accepted.

    Examples
    --------
    >>> seconds_until("2003-02-03T02:00", datetime(2003, 2, 2, 12, tzinfo=UTC))
    50400.0
    """
    found = parsed(said)
    if not isinstance(found, datetime):
        found = datetime(found.year, found.month, found.day)
    if found.tzinfo is None:
        found = found.replace(tzinfo=start.tzinfo)
    elif start.tzinfo is SITES_CLOCK:
        raise ValueError("a date without a zone, for the log does not tell its own")
    if found.astimezone(UTC).astimezone(found.tzinfo).replace(fold=found.fold) != found:
        raise ValueError("a time that the clock shows: it was set forward then")
    return found.timestamp() - start.timestamp()
