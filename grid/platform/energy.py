"""What the electricity of clusters costs and emits, and how much of it processors draw."""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from grid.errors import GridError, blaming
from grid.foreign import plain, quoted
from grid.logs.calendar import SITES_CLOCK, parsed, read, seconds_until
from grid.logs.files import number
from grid.named_files import alone
from grid.names import meant
from grid.settings import Checked, setting
from grid.strict import text_of

Floats = npt.NDArray[np.float64]

KWH = 3.6e6
"""Watt-seconds of a kilowatt-hour."""

MOST = 1e9
"""Highest number of watts, and of a price or grams for a kilowatt-hour."""

COLUMNS = ("time", "value")
"""Of a series."""

SERIES = ("price", "carbon")
"""Settings that may name files of series."""


@dataclass(frozen=True)
class EnergySettings(Checked):
    """Of electricity: of all clusters alike, or of each by its name."""

    group = "energy"

    idle_watts: float | dict[str, float] = setting(
        {},
        "What a processor draws that no job holds: a number, or a table such as "
        "{C1 = 60, C2 = 90}; none: 0.",
        unit="W",
        least=0,
        most=MOST,
    )
    busy_watts: float | dict[str, float] = setting(
        {},
        "What a processor draws that a job holds, likewise; none: no energy is told.",
        unit="W",
        least=0,
        most=MOST,
    )
    price: float | str | dict[str, float | str] = setting(
        {},
        "What a kilowatt-hour costs: a number, a CSV file of columns time (s, or dates) and value, "
        "or a table of these by cluster; none: no cost is told.",
        unit="1/kWh",
        least=-MOST,
        most=MOST,
        files=alone,
    )
    carbon: float | str | dict[str, float | str] = setting(
        {},
        "What a kilowatt-hour emits, likewise; none: no CO2 is told.",
        unit="g/kWh",
        least=0,
        most=MOST,
        files=alone,
    )


class Series:
    """A number over time that changes at even steps, and begins anew after the last.

    Parameters
    ----------
    values : sequence of float
        In each step.
    step : float
        s.
    ahead : float
        How long before time 0 the first of them begins, s.
    dated : bool
        Its steps are those of a calendar.

    Examples
    --------
    >>> series = Series([100.0, 300.0], step=3600.0)
    >>> series.at(0.0), series.at(3600.0), series.at(7200.0)
    (100.0, 300.0, 100.0)
    >>> series.integral(np.array([1800.0, 5400.0, 9000.0])).tolist()
    [180000.0, 900000.0, 1620000.0]
    """

    def __init__(
        self, values: Sequence[float], step: float, ahead: float = 0.0, dated: bool = False
    ) -> None:
        self._values = np.asarray(values, np.float64)
        self.step, self.ahead, self.dated = step, ahead, dated
        self._until = np.concatenate(([0.0], np.cumsum(self._values) * step))

    @property
    def length(self) -> float:
        """Time after which it begins anew, s."""
        return self.step * len(self._values)

    def at(self, time: float) -> float:
        """Return the number at a time, s."""
        return float(self._values[int((time + self.ahead) // self.step) % len(self._values)])

    def integral(self, times: Floats) -> Floats:
        """Return the integral of the number up to each of some times, s, from its first step."""
        rounds, rest = np.divmod(times + self.ahead, self.length)
        place = np.minimum((rest // self.step).astype(np.int64), len(self._values) - 1)
        part = self._until[place] + (rest - place * self.step) * self._values[place]
        found: Floats = rounds * self._until[-1] + part
        return found


class Power(NamedTuple):
    """The electricity of a cluster.

    Attributes
    ----------
    idle, busy : float
        What a processor draws that no job holds, and one that a job holds, W.
    price : Series or None
        What a kilowatt-hour costs.
    carbon : Series or None
        What a kilowatt-hour emits, g.
    """

    idle: float
    busy: float
    price: Series | None
    carbon: Series | None


def powers(
    settings: EnergySettings, clusters: Sequence[str], start: str = ""
) -> tuple[Power, ...] | None:
    """Return the electricity of each cluster; None if no watts are given.

    Parameters
    ----------
    settings : EnergySettings
    clusters : sequence of str
    start : str
        What a clock shows at time 0 (`grid.logs.calendar.written`), "" if that is not known.

    Raises
    ------
    GridError
        If a cluster is unknown or left out, or a file cannot be used: it begins with the setting.
    """
    if settings.busy_watts == {}:
        for name in ("idle_watts", *SERIES):
            if getattr(settings, name) != {}:
                raise GridError(f"{name}: found without busy_watts; accepted: beside busy_watts")
        return None
    columns = {
        name: _of_each(name, getattr(settings, name), clusters)
        for name in ("idle_watts", "busy_watts", *SERIES)
    }
    for name in SERIES:
        known: dict[str, Series] = {}
        columns[name] = [_series(name, each, known, start) for each in columns[name]]
    idle = [0.0 if each is None else each for each in columns["idle_watts"]]
    for name, less, watts in zip(clusters, idle, columns["busy_watts"], strict=True):
        if less > watts:
            accepted = f"at most its busy_watts, {watts:g}"
            raise GridError(f"idle_watts: found {less:g} for {name}; accepted: {accepted}")
    rest = (columns["busy_watts"], columns["price"], columns["carbon"])
    return tuple(Power(*each) for each in zip(idle, *rest, strict=True))


def _of_each(name: str, given: Any, clusters: Sequence[str]) -> list[Any]:
    """Return a setting of each cluster; None where there is none at all."""
    if not isinstance(given, Mapping):
        return [given] * len(clusters)
    for cluster in given:
        if cluster not in clusters:
            raise GridError(
                f"{name}: {plain(cluster, 100)}: no cluster; {meant(cluster, clusters)}"
            )
    if missing := [cluster for cluster in clusters if given and cluster not in given]:
        raise GridError(f"{name}: found none of {missing[0]}; accepted: one of each cluster")
    return [given.get(cluster) for cluster in clusters]


def _series(name: str, given: Any, known: dict[str, Series], start: str) -> Series | None:
    if given is None or isinstance(given, (int, float)):
        return None if given is None else Series([float(given)], 3600.0)
    if given not in known:
        known[given] = read_series(given, name, start)
    return known[given]


def read_series(path: str | os.PathLike[str], name: str, start: str = "") -> Series:
    """Read a series from a CSV file, whose times are at even steps from 0 on, or dates.

    Parameters
    ----------
    path : path
    name : str
        Of the setting that names it: begins messages.
    start : str
        As of `powers`.

    Raises
    ------
    GridError
        If it cannot be read, has a gap, a cell is no number, or dates do not tell of time 0.
    """
    where = f"{name}: {path}"
    with blaming(name):
        what = "a number, a table by cluster, or a CSV file of time (s) and value"
        text = text_of(path, what)
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    times: list[float] = []
    values: list[float] = []
    ahead: float | None = None
    try:
        header = [cell.strip() for cell in next(rows, [])]
        if header != [*COLUMNS]:
            raise GridError(
                f"{where}:1: found {quoted(','.join(header))}; accepted: {','.join(COLUMNS)}"
            )
        for cells in rows:
            place = f"{where}:{rows.line_num}"
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) != len(COLUMNS):
                raise GridError(f"{place}: found {len(cells)} cells; accepted: {len(COLUMNS)}")
            since = _since(cells[0].strip(), start, place)
            if not times and since is not None:
                ahead = -since
            if (since is None) != (ahead is None):
                raise GridError(f"{place}: found {quoted(cells[0])}; accepted: dates, or seconds")
            if since is None or ahead is None:
                time = _cell(cells[0], place, ", or a date such as 2003-02-03T08:00Z")
            else:
                time = since + ahead
            value = _cell(cells[1], place)
            if name == "carbon" and value < 0.0:
                raise GridError(f"{place}: found {quoted(cells[1])}; accepted: g/kWh from 0")
            _check_step(times, time, place, "" if ahead is None else cells[0])
            times.append(time)
            values.append(value)
    except csv.Error as error:
        raise GridError(f"{where}:{rows.line_num}: {error}; accepted: cells and commas") from None
    if not values:
        raise GridError(f"{where}: found no row; accepted: one at least")
    step = times[1] if len(times) > 1 else 3600.0
    series = Series(values, step, ahead or 0.0, ahead is not None)
    if not 0 <= series.ahead < series.length:
        raise GridError(
            f"{where}: found no value for time 0 of the run, {start}; accepted: dates around it, "
            "or seconds"
        )
    if series.dated and len(values) == 1:
        raise GridError(f"{where}: found one date; accepted: two at least, which tell their step")
    return series


def _since(cell: str, start: str, place: str) -> float | None:
    """Return how long after time 0 the date in a cell is, s; None if it is none."""
    try:
        parsed(cell)
    except ValueError:
        return None
    if not start:
        raise GridError(
            f"{place}: found {quoted(cell)}; accepted: seconds, for it is not known when the run "
            "begins: its jobs are not those of a log with dates, or arrivals are scaled"
        )
    try:
        clock, date = read(start), parsed(cell)
        zoned = isinstance(date, datetime) and date.tzinfo is not None
        if not zoned and clock.tzinfo is not SITES_CLOCK:  # or summer time would move it
            raise ValueError("a date with its zone, such as 2003-02-03T08:00Z")
        return seconds_until(cell, clock)
    except ValueError as error:
        raise GridError(f"{place}: found {quoted(cell)}; accepted: {error}") from None


def _cell(cell: str, place: str, also: str = "") -> float:
    try:
        found = number(cell.strip())
    except ValueError:
        found = math.nan
    if not abs(found) <= MOST:
        raise GridError(f"{place}: found {quoted(cell)}; accepted: a number up to {MOST:g}{also}")
    return found


def _check_step(times: Sequence[float], time: float, place: str, date: str) -> None:
    """Raise `GridError` unless a time is a step after the last, the first of all at 0.

    Parameters
    ----------
    times : sequence of float
        Those before, s.
    time : float
    place : str
        Its line, for messages.
    date : str
        As which it is written, if it is no number.
    """
    if len(times) == 1:  # any step will do
        if time > times[0]:
            return
        found = quoted(date) if date else f"{time:.15g}"
        raise GridError(f"{place}: time is {found}; accepted: one after that of the row before")
    wanted = times[-1] + times[1] if times else 0.0
    if abs(time - wanted) > 1e-6 * max(1.0, wanted):
        gap = ": it has a gap" if times and time > wanted else ""
        if date:
            hours = f"{(wanted - times[-1]) / 3600:.15g} h"
            raise GridError(
                f"{place}: time is {quoted(date)}; accepted: {hours} after the one before, for "
                f"dates are at even steps{gap}"
            )
        raise GridError(
            f"{place}: time is {time:.15g}; accepted: {wanted:.15g}, for times are at even steps "
            f"from 0 on{gap}"
        )
