"""The model in whole numbers, which solvers and compiled code need, and how true they are."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from agents.oas.instance import Instance
from agents.oas.model import execution_time, pair_demand, powers, slots
from grid.errors import GridError

LARGEST_SUM = 2**50
"""Of durations times nodes, and of loads: solvers add without overflow below it."""

LARGEST_PRODUCT = 2**60
"""Of all loads and all durations: solvers multiply them, and end the process if that overflows."""


@dataclass(frozen=True)
class Scaled:
    """Durations and loads of an instance as whole numbers.

    Attributes
    ----------
    levels : list of int
        Of each cluster: how many higher effective powers there are.
    durations : list of list of int
        Of each job on nodes the slowest of which are of each level, in units of `unit`.
    loads : list of list of int
        Of each job, on the link of a cluster that has so many of its tasks.
    capacities : list of int
        Of each link.
    unit : Fraction
        Seconds.
    raised : int
        Jobs of which a duration was rounded up, to 1 from what is less, although all others were
        rounded down.
    exact_times, exact_loads : bool
        Whether nothing was rounded.
    """

    levels: list[int]
    durations: list[list[int]]
    loads: list[list[int]]
    capacities: list[int]
    unit: Fraction
    raised: int
    exact_times: bool
    exact_loads: bool

    @classmethod
    def of(cls, instance: Instance, slot: Fraction | None = None, up: bool = False) -> Scaled:
        """Return an instance in whole numbers.

        Parameters
        ----------
        instance : Instance
        slot : Fraction, optional
            Seconds, the unit then; durations are whole slots.
        up : bool
            What must be rounded is rounded so that every schedule in whole numbers is one of the
            instance; else so that every schedule of the instance is one in whole numbers.

        Raises
        ------
        GridError
            For a slot so short that there are too many.
        """
        rising = powers(instance)
        levels = [rising.index(cluster.effective_power) for cluster in instance.clusters]
        seconds = [[execution_time(job, power) for power in rising] for job in instance.jobs]
        rounded: Callable[[Fraction], int] = math.ceil if up else math.floor
        horizon = instance.nodes * sum((row[-1] for row in seconds), Fraction(0))
        raised = 0
        if slot is None:
            scale, exact_times = _scale([each for row in seconds for each in row], horizon)
            durations = [[max(1, rounded(each * scale)) for each in row] for row in seconds]
            raised = 0 if up else sum(row[0] * scale < 1 for row in seconds)
        else:
            if horizon > LARGEST_SUM * slot:
                least = float(horizon / LARGEST_SUM)
                raise GridError(f"slot: found {float(slot):g}; accepted: at least {least:.1g}")
            scale, exact_times = 1 / slot, True
            durations = [[slots(each, slot) for each in row] for row in seconds]
        links = [cluster.link_mbps for cluster in instance.clusters]
        pairs = [pair_demand(job) for job in instance.jobs]
        heaviest = max(
            *links,
            sum(pair * job.tasks**2 for pair, job in zip(pairs, instance.jobs, strict=True)),
        )
        most = min(LARGEST_SUM, LARGEST_PRODUCT // max(1, sum(row[-1] for row in durations)))
        fineness, exact_loads = _scale([*pairs, *links], Fraction(heaviest), most)
        scaled_links = [link * fineness for link in links]
        widest = max(cluster.nodes for cluster in instance.clusters)
        loads = [
            _loads(pair * fineness, job.tasks, min(job.tasks, widest), scaled_links, up)
            for pair, job in zip(pairs, instance.jobs, strict=True)
        ]
        capacities = [math.floor(link) for link in scaled_links]
        return cls(
            levels, durations, loads, capacities, 1 / scale, raised, exact_times, exact_loads
        )


def _scale(
    numbers: Sequence[Fraction], largest_sum: Fraction, most: int = LARGEST_SUM
) -> tuple[Fraction, bool]:
    """Return by what to multiply numbers so that they are whole, and whether they are then.

    Where that would be too large, they are as large as they may be.
    """
    scale = Fraction(
        math.lcm(*(each.denominator for each in numbers)),
        math.gcd(*(each.numerator for each in numbers)),
    )
    largest = most / largest_sum
    return (scale, True) if scale <= largest else (largest, False)


def _loads(pair: Fraction, tasks: int, most: int, links: Sequence[Fraction], up: bool) -> list[int]:
    """Return the load of each number of tasks up to `most`, rounded to whole numbers.

    What fits beside nothing on a link still does when it is rounded up: it is all that the link
    carries then.
    """
    if not up:
        return [math.floor(pair * n * (tasks - n)) for n in range(most + 1)]
    full = {math.floor(link) + 1: link for link in sorted(links)}
    loads = []
    for n in range(most + 1):
        load = pair * n * (tasks - n)
        whole = math.ceil(load)
        loads.append(whole - 1 if whole in full and load <= full[whole] else whole)
    return loads
