"""What the electricity of a run came to, worked out a second time, step by step of its series."""

from __future__ import annotations

import math
from collections.abc import Sequence

from experiments.checks.recomputed import Done, Numbers
from experiments.run.result_files import ResultFiles
from grid.platform.energy import EnergySettings, Series, powers

NAMES = ("energy_kwh", "cost", "co2_kg")
ALWAYS = Series([1.0], 3600.0)


def electricity(ran: Sequence[Done], result: ResultFiles, begin: float, end: float) -> Numbers:
    """Return energy, cost and CO2 of the run and of each cluster, None of what is not told.

    Parameters
    ----------
    ran : sequence of Done
        All that were completed.
    result : ResultFiles
    begin, end : float
        From when to when the run is judged, s.
    """
    clusters = result.platform.clusters
    start = result.summary.get("start") or ""
    given = powers(result.parameters.of(EnergySettings), result.platform.names, start)
    numbers: Numbers = {}
    totals: dict[str, list[float]] = {name: [] for name in NAMES}
    for index, cluster in enumerate(clusters):
        power = None if given is None or not begin < end else given[index]
        series = (None,) * 3 if power is None else (ALWAYS, power.price, power.carbon)
        for name, each in zip(NAMES, series, strict=True):
            place = f"clusters/{index}/{name}"
            if power is None or each is None:
                numbers[place] = None, 0.0
                continue
            busy = math.fsum(
                job.placement[cluster.name] * _over(each, max(job.start, begin), job.finish)
                for job in ran
                if cluster.name in job.placement and job.finish > begin
            )
            idle = cluster.size * _over(each, begin, end) - busy
            drawn = (power.busy * busy + power.idle * idle) / 3.6e6
            drawn /= 1000.0 if name == "co2_kg" else 1.0
            numbers[place] = drawn, abs(drawn)
            totals[name].append(drawn)
    for name, found in totals.items():
        whole = math.fsum(found) if len(found) == len(clusters) else None
        numbers[f"metrics/{name}"] = whole, abs(whole or 0.0)
    return numbers


def _over(series: Series, begin: float, end: float) -> float:
    """Return the sum over steps of what a series is there times how long that is within, s."""
    parts = []
    length, ahead = series.step, series.ahead
    for step in range(int((begin + ahead) // length), int((end + ahead) // length) + 1):
        first, last = max(begin, step * length - ahead), min(end, (step + 1) * length - ahead)
        if last > first:
            parts.append(series.at((first + last) / 2) * (last - first))
    return math.fsum(parts)
