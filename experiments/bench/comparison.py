"""What several replications on clusters say of the policies, and a table of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from experiments.bench.clusters import Clusters, Schedule, Way
from experiments.show.numbers import NONE, percent
from experiments.show.tables import print_whole
from experiments.sweeps.statistics import Interval, mean_interval
from grid.jobs import JobArray

METRICS: dict[str, Callable[[Schedule, JobArray], float]] = {
    "turnaround": Schedule.turnaround,
    "slowdown": Schedule.slowdown,
}


class Pair(NamedTuple):
    """What became of the jobs of a replication, and what a simulation makes of them."""

    jobs: JobArray
    real: Schedule
    simulated: Schedule | None


@dataclass(frozen=True)
class Comparison:
    """Replications of the same jobs under several policies.

    Attributes
    ----------
    found : dict of Way to list of Pair
        In the order of the seeds.
    seeds : sequence of int
    """

    found: dict[Way, list[Pair]]
    seeds: Sequence[int]

    def values(self, way: Way, metric: str) -> list[float]:
        """Return a metric of each replication on the clusters."""
        return [METRICS[metric](pair.real, pair.jobs) for pair in self.found[way]]

    def difference(self, one: Way, other: Way, metric: str) -> Interval:
        """Return the mean paired difference of two policies."""
        pairs = zip(self.values(one, metric), self.values(other, metric), strict=True)
        return mean_interval([here - there for here, there in pairs])

    def simulation(self, way: Way) -> dict[str, Any] | None:
        """Return how the simulation compares: of all jobs, how far off their starts were."""
        off, same, means = [], [], {name: list[float]() for name in METRICS}
        for jobs, real, simulated in self.found[way]:
            if simulated is None:
                return None
            off.append(np.abs(real.start - simulated.start))
            same.append(real.site == simulated.site)
            for name, metric in METRICS.items():
                means[name].append(metric(simulated, jobs))
        all_off = np.concatenate(off)
        return {
            **means,
            "start_off_mean": float(all_off.mean()),
            "start_off_90": float(np.quantile(all_off, 0.9)),
            "same_site": float(np.concatenate(same).mean()),
        }

    def summary(self) -> dict[str, Any]:
        """Return it in numbers, ready for JSON; times in s."""
        policies: list[dict[str, Any]] = []
        for way in self.found:
            values = {name: self.values(way, name) for name in METRICS}
            means = {f"mean_{name}": _told(mean_interval(each)) for name, each in values.items()}
            policies.append(
                {"name": way.name, **values, **means, "simulated": self.simulation(way)}
            )
        differences = [
            {"of": one.name, "to": other.name}
            | {name: _told(self.difference(one, other, name)) for name in METRICS}
            for one, other in combinations(self.found, 2)
        ]
        return {"seeds": [*self.seeds], "policies": policies, "differences": differences}


def compare(
    clusters: Clusters, seeds: Sequence[int], ended: Callable[[float], object]
) -> Comparison:
    """Have the jobs of some seeds run under all policies in turn.

    Which of them is first changes with the seed: what else the machine does at a time is not the
    lot of one policy alone.

    Parameters
    ----------
    clusters : Clusters
    seeds : sequence of int
        Of the replications.
    ended : callable
        Is told of each run that was not kept how long it took, s.
    """
    ways = clusters.ways
    found: dict[Way, list[Pair]] = {way: [] for way in ways}
    for seed in seeds:
        jobs, first = clusters.drawn(seed), seed % len(ways)
        for way in (*ways[first:], *ways[:first]):
            kept, began = clusters.is_kept(way, seed), time.monotonic()
            real = clusters.run(way, seed)
            if not kept:
                ended(time.monotonic() - began)
            simulated = clusters.simulated(way, seed) if way.like else None
            found[way].append(Pair(jobs, real, simulated))
    return Comparison(found, seeds)


def print_comparison(found: Comparison, console: Console) -> None:
    """Print the means of the policies, their differences, and each replication."""
    several = len(found.seeds) > 1
    table = _table("", "turnaround (s)", "slowdown", "simulated (s)", "start off by (s)")
    table.add_column("9 in 10 within", justify="right")
    table.add_column("same site", justify="right")
    for way in found.found:
        means = [_shown(mean_interval(found.values(way, name))) for name in METRICS]
        told, cells = found.simulation(way), [NONE] * 4
        if told is not None:
            turnaround = mean_interval(told["turnaround"])
            off = f"{told['start_off_mean']:.1f}", f"{told['start_off_90']:.1f}"
            cells = [f"{turnaround.mean:.1f}", *off, percent(told["same_site"])]
        table.add_row(*map(Text, (way.name, *means, *cells)))
    print_whole(table, console)
    if several:
        table = _table("difference", *METRICS)
        for one, other in combinations(found.found, 2):
            cells = [_shown(found.difference(one, other, name)) for name in METRICS]
            table.add_row(*map(Text, (f"{one.name} - {other.name}", *cells)))
        print_whole(table, console)
        ways = [*found.found]
        table = _table("turnaround; slowdown of seed", *(way.name for way in ways))
        for at, seed in enumerate(found.seeds):
            columns = [[found.values(way, name)[at] for name in METRICS] for way in ways]
            table.add_row(f"{seed}", *(f"{mean:.1f}; {slow:.2f}" for mean, slow in columns))
        print_whole(table, console)
    interval = "means with 95 % intervals, of paired differences too" if several else "one run each"
    console.print(f"{interval}; start off by: how far starts are from those of the simulation")


def _table(*columns: str) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for at, column in enumerate(columns):
        table.add_column(column, justify="right" if at else "left")
    return table


def _shown(interval: Interval) -> str:
    half = "" if interval.half_width is None else f" ± {interval.half_width:.2f}"
    return f"{interval.mean:.2f}{half}"


def _told(interval: Interval) -> dict[str, float | None]:
    return {"mean": interval.mean, "half_width": interval.half_width}
