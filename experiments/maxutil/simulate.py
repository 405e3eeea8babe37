"""The answer of a simulation: what was simulated how, and what came of it."""

from __future__ import annotations

import math
from typing import Any

from experiments.maxutil.formulas import Answer
from experiments.maxutil.heavy_traffic import HeavyTraffic
from experiments.maxutil.poisson import PoissonArrivals
from experiments.maxutil.system import System
from experiments.show.numbers import number
from experiments.sweeps.compiling import saying_when_compiling
from experiments.sweeps.statistics import Interval
from grid.capacity import Capacity
from grid.errors import GridError

WAITING = 100
"""Jobs that wait under FPFS, unless told otherwise."""


def simulated(
    system: System,
    jobs: int,
    seed: int,
    method: str = "heavy",
    waiting: int | None = None,
    threshold: float = 1000.0,
    start: int = 1000,
    bound: int = 2000,
) -> Answer:
    """Simulate a system, and return its capacity with how that was found.

    Parameters
    ----------
    system : System
    jobs : int
        That start in heavy traffic; or arrivals of a run.
    seed : int
    method : {"heavy", "poisson"}
    waiting : int, optional
        Jobs that wait in heavy traffic; by default 1 under FCFS, `WAITING` under FPFS.
    threshold : float
        Mean response time at the maximal utilization (FCFS, Poisson arrivals), in mean service
        times.
    start, bound : int
        Jobs that wait in the beginning, and how many are too many (FPFS, Poisson arrivals).

    Raises
    ------
    GridError
        For what the system or the method does not accept.

    Examples
    --------
    >>> system = System((32, 32, 32, 32), "U[1,14]", placement="ff", service="deterministic")
    >>> round(simulated(system, 100_000, seed=1).capacity.capacity_loss, 2)
    0.28
    """
    how: dict[str, Any] = {"seed": seed}
    meanings = {"mpl": "jobs served at a time, by eq. 3"}
    remark = ""
    overtaking = system.policy == "fpfs" and system.max_jumps != 0
    if overtaking:
        meanings["utilization"] = "carried with so many waiting: with more or fewer it differs"
    elif method == "poisson" and system.policy == "fcfs":
        meanings |= {
            "while jobs wait": "at the threshold",
            "utilization": "carried as the mean response time reaches the threshold",
            "capacity loss": "idle then, also while no job waits; less with a higher threshold",
        }
    if system.together:
        meanings["job size"] = "processors of a job under way, that is weighted by run times"
    with saying_when_compiling(always=False):
        if method == "heavy":
            if waiting is None:
                waiting = 1 if system.policy == "fcfs" else WAITING
            utilization = HeavyTraffic(system, jobs, waiting).utilization(seed)
            how |= {"jobs": jobs, "waiting": waiting}
            words = f"heavy traffic, {jobs:,} jobs, {waiting:,} waiting"
        elif system.policy == "fcfs":
            reached = PoissonArrivals(system, jobs, seed).threshold_reached(threshold)
            utilization = reached.utilization
            how |= {
                "arrivals": jobs,
                "threshold": threshold,
                "load": reached.load,
                "mean_response": reached.response,
                "threshold_reached": reached.at_all,
            }
            response = f"{number(reached.response)} service times"
            if reached.at_all:
                words = (
                    f"{jobs:,} Poisson arrivals, mean response {response} at an offered load of "
                    f"{reached.load:.4f} (threshold {number(threshold)})"
                )
            else:
                meanings |= {
                    "while jobs wait": "at an offered load of 1",
                    "utilization": "carried then; it may not be the most",
                    "capacity loss": "idle then, also while no job waits",
                }
                words = (
                    f"{jobs:,} Poisson arrivals, mean response only {response} up to an offered "
                    f"load of 1, never the threshold of {number(threshold)}: more --jobs, a lower "
                    "--threshold or --method heavy would tell the maximal utilization"
                )
        else:
            if not 0 < start < bound:
                raise GridError(
                    f"--start: found {start} and --bound {bound}; accepted: a number above 0, "
                    "below the bound"
                )
            lasted = PoissonArrivals(system, jobs, seed).longest(start, bound)
            utilization = lasted.utilization
            how |= {
                "arrivals": jobs,
                "start": start,
                "bound": bound,
                "load": lasted.load,
                "lasted": lasted.arrivals,
                "balanced": lasted.balanced,
            }
            words = (
                f"Poisson arrivals at an offered load of {lasted.load:.5f}: a queue of {start:,} "
                f"reached neither 0 nor {bound:,} for {lasted.arrivals:,} of {jobs:,}"
            )
            if not lasted.balanced:
                grew = "grew" if lasted.change > 0 else "shrank"
                meanings["utilization"] = f"carried while the queue {grew}, out of balance"
                more = "more --jobs" if lasted.arrivals == jobs else "a higher --start and --bound"
                remark = (
                    f", and {grew} by {abs(lasted.change):,}: {more} or --method heavy would tell "
                    "what can be carried"
                )
    if math.isnan(utilization.mean):
        raise GridError(
            f"--jobs: found {jobs}, too few to tell anything by ({words}); accepted: more, or "
            "another length of the queue"
        )
    per_job = system.processors / system.job_size
    half = utilization.half_width
    return Answer(
        f"{system.title}: simulated, {words}{remark}",
        Capacity(utilization.mean * per_job, system.job_size, system.processors),
        system.left_out,
        Interval(utilization.mean, half),
        how,
        meanings,
    )
