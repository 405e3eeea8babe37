"""What the electricity of a run came to, worked out a second time, step by step of its series."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from experiments.checks.recomputed import Done, Numbers
from experiments.checks.verdicts import Verdict
from experiments.run.result_files import ResultFiles, read_electricity
from experiments.show.numbers import counted
from grid.metrics.energy import NAMES
from grid.platform.energy import EnergySettings, Power, Series, powers
from grid.platform.multicluster import Cluster

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
    given = _given(result)
    numbers: Numbers = {}
    totals: dict[str, list[float]] = {name: [] for name in NAMES}
    for index, cluster in enumerate(clusters):
        power = None if given is None or not begin < end else given[index]
        for name, each in _series(power):
            place = f"clusters/{index}/{name}"
            if power is None or each is None:
                numbers[place] = None, 0.0
                continue
            drawn = _drawn(name, power, cluster, each, ran, begin, end)
            numbers[place] = drawn, abs(drawn)
            totals[name].append(drawn)
    for name, found in totals.items():
        whole = math.fsum(found) if len(found) == len(clusters) else None
        numbers[f"metrics/{name}"] = whole, abs(whole or 0.0)
    return numbers


def electricity_verdicts(ran: Sequence[Done], result: ResultFiles) -> Iterator[Verdict]:
    """Yield whether what it came to over time is right, if the run tells it.

    Raises
    ------
    GridError
        If the file is missing, or none that a run writes.
    """
    table = read_electricity(result)
    if len(table):
        of_what = f"{counted(len(table), 'interval')} of electricity.csv"
        wrong = _wrong(ran, result, table.to_dict("records"))
        yield Verdict.of("electricity over time is right", wrong, of_what)


def _wrong(
    ran: Sequence[Done], result: ResultFiles, rows: Sequence[dict[str, float]]
) -> Iterator[str]:
    given = _given(result) or ()
    ends = [row["to"] for row in rows]
    there: list[list[Done]] = [[] for _ in rows]
    for job in ran:
        for step in range(bisect_right(ends, job.start), len(rows)):
            if rows[step]["from"] >= job.finish:
                break
            there[step].append(job)
    for row, jobs in zip(rows, there, strict=True):
        begin, end = row["from"], row["to"]
        for cluster, power in zip(result.platform.clusters, given, strict=True):
            for name, each in _series(power):
                if each is None:
                    continue
                right = _drawn(name, power, cluster, each, jobs, begin, end)
                found = row.get(f"{name} {cluster.name}", math.nan)
                if not math.isclose(found, right, rel_tol=1e-6, abs_tol=1e-9):
                    yield (
                        f"{name} {cluster.name}: {found} from {begin} to {end} s; jobs.csv makes "
                        f"it {right}"
                    )


def _given(result: ResultFiles) -> tuple[Power, ...] | None:
    start = result.summary.get("start") or ""
    return powers(result.parameters.of(EnergySettings), result.platform.names, start)


def _series(power: Power | None) -> Iterator[tuple[str, Series | None]]:
    series = (None,) * 3 if power is None else (ALWAYS, power.price, power.carbon)
    return zip(NAMES, series, strict=True)


def _drawn(
    name: str,
    power: Power,
    cluster: Cluster,
    series: Series,
    ran: Sequence[Done],
    begin: float,
    end: float,
) -> float:
    """Return what a cluster came to from one time to another, s."""
    busy = math.fsum(
        job.placement[cluster.name] * _over(series, max(job.start, begin), min(job.finish, end))
        for job in ran
        if cluster.name in job.placement and job.finish > begin
    )
    idle = cluster.size * _over(series, begin, end) - busy
    drawn = (power.busy * busy + power.idle * idle) / 3.6e6
    return drawn / 1000.0 if name == "co2_kg" else drawn


def _over(series: Series, begin: float, end: float) -> float:
    """Return the sum over steps of what a series is there times how long that is within, s.

    Of rounds of the series, one is summed up, for damaged times may be of any number.

    >>> two = Series([1.0, 3.0], step=10.0)
    >>> _over(two, 5.0, 15.0), _over(two, 5.0, 15.0 + 20.0 * 10**12)
    (20.0, 40000000000020.0)
    """
    rounds = max((end - begin) // series.length, 0.0)
    whole = rounds * _steps(series, 0.0, series.length) if rounds else 0.0
    return whole + _steps(series, begin + rounds * series.length, end)


def _steps(series: Series, begin: float, end: float) -> float:
    parts = []
    length, ahead = series.step, series.ahead
    for step in range(int((begin + ahead) // length), int((end + ahead) // length) + 1):
        first, last = max(begin, step * length - ahead), min(end, (step + 1) * length - ahead)
        if last > first:
            parts.append(series.at((first + last) / 2) * (last - first))
    return math.fsum(parts)
