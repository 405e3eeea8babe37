"""What the electricity of a run came to: energy, cost and CO2, summed up as jobs leave."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from grid.kernel.state import NONE
from grid.platform.energy import KWH, Power, Series
from grid.world.finished import Records

Floats = npt.NDArray[np.float64]

NAMES = ("energy_kwh", "cost", "co2_kg")
GRAMS = 1000.0
"""Of a kilogram."""
ALWAYS = Series([1.0], 3600.0)
"""Whose integral is time."""


class Meter:
    """What the processors of clusters drew: those that jobs held, and all others.

    Of a job that a failure threw back counts what it held in its last attempt; before, its
    processors count as idle, and so do those that are down. Memory does not grow with jobs.

    Parameters
    ----------
    powers : sequence of Power
        Of each cluster.
    sizes : sequence of int
        Processors of each.
    """

    def __init__(self, powers: Sequence[Power], sizes: Sequence[int]) -> None:
        self._powers, self._sizes = powers, sizes
        self._held = np.zeros((len(sizes), len(NAMES)))

    def add(self, records: Records, since: float = -np.inf) -> None:
        """Add jobs that left, from a time (s) on."""
        rows = records.rows[~np.isnan(records["start"])]
        rows = rows[rows["finish"] > since]
        if not len(rows):
            return
        whole = rows["split"] == NONE
        start, finish = np.maximum(rows["start"], since), rows["finish"]
        for index, power in enumerate(self._powers):
            held = np.where(whole & (rows["cluster"] == index), rows["size"], 0)
            held[~whole] = records.takes[rows["split"][~whole], index]
            at = np.flatnonzero(held)
            for kind, series in enumerate(_series(power)):
                if series is not None and len(at):
                    over = series.integral(finish[at]) - series.integral(start[at])
                    # One after the other, so that sums are the same bits in any portions.
                    before = self._held[index, kind]
                    self._held[index, kind] = np.cumsum([before, *(held[at] * over)])[-1]

    def totals(self, begin: float, end: float) -> list[dict[str, float | None]]:
        """Return what each cluster came to from one time to another, s.

        Returns
        -------
        list of dict
            energy_kwh; cost, None without a price; co2_kg, None without carbon.
        """
        found = []
        for power, size, held in zip(self._powers, self._sizes, self._held.tolist(), strict=True):
            numbers: dict[str, float | None] = {}
            for name, series, of_jobs in zip(NAMES, _series(power), held, strict=True):
                if series is None:
                    numbers[name] = None
                    continue
                first, last = series.integral(np.array([begin, end])).tolist()
                idle = size * (last - first) - of_jobs
                total = (power.busy * of_jobs + power.idle * idle) / KWH
                numbers[name] = total / GRAMS if name == "co2_kg" else total
            found.append(numbers)
        return found


def _series(power: Power) -> tuple[Series | None, ...]:
    return ALWAYS, power.price, power.carbon


def summed(clusters: Sequence[dict[str, Any]]) -> dict[str, float | None]:
    """Return what all clusters came to together; None of what is not told of each."""
    found: dict[str, float | None] = {}
    for name in NAMES:
        told = [each[name] for each in clusters if each[name] is not None]
        found[name] = float(sum(told)) if told and len(told) == len(clusters) else None
    return found
