"""Windows of logs between dates, by the clock of the site that a log comes from."""

from __future__ import annotations

import math
from contextlib import suppress
from datetime import date, datetime
from typing import Annotated, Any, SupportsIndex

import numpy as np
import numpy.typing as npt
from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

from experiments.show.numbers import duration
from grid.durations import seconds
from grid.errors import WorkloadError, require
from grid.foreign import quoted
from grid.jobs import LONGEST
from grid.logs.calendar import clock_at, parsed, seconds_until

Floats = npt.NDArray[np.float64]


def _moment(given: Any) -> float | str:
    """Return a time as a number of seconds, and a date in one way of writing it."""
    if isinstance(given, np.datetime64):
        given = given.astype("datetime64[us]").item()
    text = given.isoformat() if isinstance(given, date) else given  # TOML and Python have dates
    if isinstance(text, str):
        with suppress(ValueError):
            return parsed(text).isoformat()
        since = seconds(text) if text[-1:].isalpha() else None  # 2003 might be a year
        if since is not None and since <= LONGEST:
            return since
    elif isinstance(text, float | SupportsIndex) and not isinstance(text, bool):
        number = float(text)
        if 0 <= number <= LONGEST:
            return number
    raise PydanticCustomError(
        "moment",
        f"accepted: from 0 to {LONGEST:g} s, a time such as 4w, or a date such as 2003-02-03 or "
        "2003-02-03T08:00",
    )


Moment = Annotated[float | str, BeforeValidator(_moment)]
"""Seconds after the first submission, also as in ``4w``, or a date."""


def window_of(
    arrivals: Floats, clock: datetime | None, start: float | str, end: float | str | None, log: str
) -> tuple[float, float]:
    """Return when a window begins and ends, s after the first submission of a log.

    Parameters
    ----------
    arrivals : float array
        Of the jobs of the log, increasing, s.
    clock : datetime or None
        What its clock showed at time 0, if that is known.
    start, end : float, str or None
        Seconds after the first arrival, or dates; a date of the day of that may be before it.
    log : str
        Its path; "" if it is several.

    Raises
    ------
    WorkloadError
        If dates are given and the log has none, or others.
    """
    since = arrivals - arrivals[0]
    first = None if clock is None else clock_at(clock, float(arrivals[0]))
    begin = _seconds("window_start", start, first, log)
    until = math.inf if end is None else _seconds("window_end", end, first, log)
    if first is None or not (isinstance(start, str) or isinstance(end, str)):
        return begin, until
    if isinstance(start, str):
        day, last = seconds_until(f"{first:%Y-%m-%d}", first), clock_at(first, float(since[-1]))
        of_log = f"from {first:%Y-%m-%d} to {last:%Y-%m-%d %H:%M}, the last submission"
        of_log += f" of {log}" if log else " at any site"
        require(day <= begin <= since[-1], "window_start", start, of_log)
    later = "the first submission" if begin <= 0 else f"window_start, {start}"
    told = end if isinstance(end, str) else f"{duration(end or 0.0)} after the first submission"
    require(until > max(begin, 0.0), "window_end", told, f"later than {later}")
    following = since[np.searchsorted(since, begin)]
    after = f"{clock_at(first, float(following)):%Y-%m-%d %H:%M:%S}, the first submission in it"
    require(following < until, "window_end", end, f"later than {after}, or another window_start")
    return begin, until


def _seconds(name: str, given: float | str, first: datetime | None, log: str) -> float:
    """Return an end of a window, s after the first submission, when a clock shows `first`."""
    if not isinstance(given, str):
        return given
    number = "seconds after the first submission, for "
    if first is None:
        why = f"{log} does not say when it began" if log else "logs of sites begin together"
        raise WorkloadError(f"{name}: found {quoted(given)}; accepted: {number}{why}")
    try:
        return seconds_until(given, first)
    except ValueError as error:
        raise WorkloadError(f"{name}: found {quoted(given)}; accepted: {error}") from None
