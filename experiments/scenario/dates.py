"""Windows of logs between dates, by the clock of the site that a log comes from."""

from __future__ import annotations

import math
from contextlib import suppress
from datetime import date, datetime
from typing import Annotated, Any

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

from grid.errors import require
from grid.jobs import LONGEST
from grid.logs.calendar import clock_at, parsed, seconds_until
from grid.workloads.table import Table


def _moment(given: Any) -> float | str:
    """Return a number of seconds as such, and a date in one way of writing it."""
    if isinstance(given, date):  # as TOML and Python have it
        return given.isoformat()
    if isinstance(given, str):
        with suppress(ValueError):
            return parsed(given).isoformat()
    elif isinstance(given, int | float) and not isinstance(given, bool) and 0 <= given <= LONGEST:
        return float(given)
    raise PydanticCustomError(
        "moment",
        f"accepted: from 0 to {LONGEST:g} s, or a date such as 2003-02-03 or 2003-02-03T08:00",
    )


Moment = Annotated[float | str, BeforeValidator(_moment)]
"""Seconds after the first submission, or a date."""


def window_of(
    table: Table, start: float | str, end: float | str | None, log: str
) -> tuple[float, float]:
    """Return when a window begins and ends, s after the first submission of a log.

    It may begin earlier, but on the day of that.

    Raises
    ------
    WorkloadError
        If dates are given and the log has none, or others.
    """
    begin = _seconds("window_start", start, table, log)
    until = math.inf if end is None else _seconds("window_end", end, table, log)
    if isinstance(start, str) and table.start is not None:
        jobs = table.jobs["arrival"]
        first, last = (clock_at(table.start, float(at)) for at in (jobs[0], jobs[-1]))
        day = seconds_until(f"{first:%Y-%m-%d}", first)
        of_log = f"from {first:%Y-%m-%d} to {last:%Y-%m-%d %H:%M}, the last submission of {log}"
        require(day <= begin <= jobs[-1] - jobs[0], "window_start", start, of_log)
    if isinstance(end, str):
        later = "the first submission" if begin <= 0 else f"window_start, {start}"
        require(until > max(begin, 0.0), "window_end", end, f"a date after {later}")
    return begin, until


def _seconds(name: str, given: float | str, table: Table, log: str) -> float:
    if not isinstance(given, str):
        return given
    number = f"seconds after the first submission, for {log} tells no common date"
    if table.start is None:
        require(False, name, given, number)
    assert isinstance(table.start, datetime)
    try:
        since = seconds_until(given, table.start)
    except ValueError as error:
        require(False, name, given, str(error))
    return since - float(table.jobs["arrival"][0])
