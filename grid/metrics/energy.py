"""What the electricity of a run came to: energy, cost and CO2, summed up as jobs leave."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from grid.kernel.state import NONE
from grid.platform.energy import KWH, Power, Series
from grid.platform.multicluster import Cluster
from grid.world.finished import Records

Floats = npt.NDArray[np.float64]
T = TypeVar("T", float, Floats)

NAMES = ("energy_kwh", "cost", "co2_kg")
GRAMS = 1000.0
"""Of a kilogram."""
ALWAYS = Series([1.0], 3600.0)
"""Whose integral is time."""
STEPS = 64
"""Most steps of `Meter.over_time`."""


class Meter:
    """What the processors of clusters drew: those that jobs held, and all others.

    Of a job that a failure threw back counts what it held in its last attempt; before, its
    processors count as idle, and so do those that are down. Memory does not grow with jobs.

    Parameters
    ----------
    powers : sequence of Power
        Of each cluster.
    clusters : sequence of Cluster
    """

    def __init__(self, powers: Sequence[Power], clusters: Sequence[Cluster]) -> None:
        self._powers, self._clusters = powers, clusters
        self._held = np.zeros((len(clusters), len(NAMES)))
        self._step = 1.0  # s
        self._held_in_steps = np.zeros((len(clusters), len(NAMES), STEPS))

    def add(self, records: Records, since: float = -np.inf) -> None:
        """Add jobs that left, from a time (s) on."""
        rows = records.rows[~np.isnan(records["start"])]
        rows = rows[rows["finish"] > since]
        if not len(rows):
            return
        whole = rows["split"] == NONE
        start, finish = np.maximum(rows["start"], since), rows["finish"]
        for part in self._widened(finish):
            for index, power in enumerate(self._powers):
                held = np.where(whole & (rows["cluster"] == index), rows["size"], 0)[part]
                split = ~whole[part]
                held[split] = records.takes[rows["split"][part][split], index]
                at = np.flatnonzero(held)
                if len(at):
                    self._hold(index, power, held[at], start[part][at], finish[part][at])

    def _widened(self, finish: Floats) -> Iterator[slice]:
        """Yield rows one portion after the other, once steps are wide enough for their ends (s)."""
        ends, first = np.maximum.accumulate(finish), 0
        while first < len(ends):
            while ends[first] > STEPS * self._step:
                pairs = self._held_in_steps[:, :, ::2] + self._held_in_steps[:, :, 1::2]
                self._held_in_steps[:] = np.pad(pairs, ((0, 0), (0, 0), (0, STEPS // 2)))
                self._step *= 2
            last = int(np.searchsorted(ends, STEPS * self._step, side="right"))
            yield slice(first, last)
            first = last

    def _hold(
        self, index: int, power: Power, held: npt.NDArray[np.int64], start: Floats, finish: Floats
    ) -> None:
        """Add processors of a cluster that jobs held from `start` to `finish`, s."""
        first = np.minimum(start // self._step, STEPS - 1).astype(np.int64)
        last = np.maximum(np.ceil(finish / self._step).astype(np.int64) - 1, first)
        often = last - first + 1
        row = np.repeat(np.arange(len(held)), often)
        step = np.arange(len(row)) - np.repeat(np.cumsum(often) - often - first, often)
        begin = np.maximum(start[row], step * self._step)
        end = np.minimum(finish[row], (step + 1) * self._step)
        for kind, series in enumerate(_series(power)):
            if series is None:
                continue
            # One after the other, so that sums are the same bits in any portions.
            over = series.integral(finish) - series.integral(start)
            self._held[index, kind] = np.cumsum([self._held[index, kind], *(held * over)])[-1]
            over = series.integral(end) - series.integral(begin)
            np.add.at(self._held_in_steps[index, kind], step, held[row] * over)

    def over_time(self, begin: float, end: float) -> dict[str, Floats]:
        """Return what each cluster came to in the steps between two times, s.

        Returns
        -------
        dict of array, shape (steps,)
            ``from`` and ``to``, s, and of each cluster ``energy_kwh NAME``, and ``cost NAME`` and
            ``co2_kg NAME`` if they are told.
        """
        edges = np.clip(np.arange(STEPS + 1) * self._step, begin, end)
        there = edges[:-1] < edges[1:]
        table = {"from": edges[:-1][there], "to": edges[1:][there]}
        for power, cluster, held in zip(
            self._powers, self._clusters, self._held_in_steps[:, :, there], strict=True
        ):
            for name, series, of_jobs in zip(NAMES, _series(power), held, strict=True):
                if series is not None:
                    over = series.integral(table["to"]) - series.integral(table["from"])
                    table[f"{name} {cluster.name}"] = _drawn(
                        name, power, of_jobs, cluster.size * over - of_jobs
                    )
        return table

    def totals(self, begin: float, end: float) -> list[dict[str, float | None]]:
        """Return what each cluster came to from one time to another, s.

        Returns
        -------
        list of dict
            energy_kwh; cost, None without a price; co2_kg, None without carbon.
        """
        found = []
        for power, cluster, held in zip(
            self._powers, self._clusters, self._held.tolist(), strict=True
        ):
            numbers: dict[str, float | None] = {}
            for name, series, of_jobs in zip(NAMES, _series(power), held, strict=True):
                if series is None:
                    numbers[name] = None
                    continue
                first, last = series.integral(np.array([begin, end])).tolist()
                idle = cluster.size * (last - first) - of_jobs
                numbers[name] = _drawn(name, power, of_jobs, idle)
            found.append(numbers)
        return found


def _drawn(name: str, power: Power, busy: T, idle: T) -> T:
    """Return what processor-seconds, or what a series makes of them, came to."""
    total = (power.busy * busy + power.idle * idle) / KWH
    return total / GRAMS if name == "co2_kg" else total


def _series(power: Power) -> tuple[Series | None, ...]:
    return ALWAYS, power.price, power.carbon


def summed(clusters: Sequence[dict[str, Any]]) -> dict[str, float | None]:
    """Return what all clusters came to together; None of what is not told of each."""
    found: dict[str, float | None] = {}
    for name in NAMES:
        told = [each[name] for each in clusters if each[name] is not None]
        found[name] = float(sum(told)) if told and len(told) == len(clusters) else None
    return found
