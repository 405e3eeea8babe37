"""Simulation in heavy traffic: there is always another job waiting (`maxutil`, section 5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.model import GridModel
from experiments.maxutil.system import System
from experiments.sweeps.executors import steps
from experiments.sweeps.statistics import Interval, mean_interval
from experiments.sweeps.sweep import Observation
from grid.workloads.backlog import BacklogWorkload

LOOKS = 400
"""Times at least that a run is looked at."""
BATCHES = 20
"""Parts of a run of equal length, each of which gives a mean that is all but independent."""
WARM_UP = 0.05
"""Share of a run that comes first and counts nothing: clusters begin empty."""


@dataclass(frozen=True)
class HeavyTraffic:
    """A run of a system in which so many jobs wait all the time.

    Attributes
    ----------
    system : System
    jobs : int
        How many there are.
    waiting : int
        Jobs that wait: whenever one starts, another comes to the end of the queue. FCFS needs no
        more than one. Under FPFS the queue is searched, so that it makes a difference.
    """

    system: System
    jobs: int
    waiting: int = 1

    def model(self, seed: int = 0) -> GridModel:
        """Return a model of it, ready to step."""
        system = self.system
        workload = BacklogWorkload(count=self.jobs, waiting=self.waiting, seed=seed, **system.mix())
        # If no processor were ever idle it would take this long.
        least = self.jobs * system.runtimes.mean * system.job_size / system.processors
        return system.model(workload, least / LOOKS, seed)

    def cut(self, jobs: int) -> HeavyTraffic:
        """Return a run of so many jobs at most."""
        return replace(self, jobs=min(jobs, self.jobs))

    def to_dict(self) -> dict[str, Any]:
        """Return what tells it from others, ready for JSON."""
        return {"jobs": self.jobs, "waiting": self.waiting, **self.system.to_dict()}

    def utilization(self, seed: int) -> Interval:
        """Run it, and return the utilization with its 95 % confidence interval (batch means)."""
        return mean_interval(batch_means(self.model(seed)))

    def observed(self, seed: int) -> Observation:
        """Run it, and return what is kept of it."""
        return {"utilization": [self.utilization(seed).mean]}


def batch_means(
    model: GridModel, ends: Callable[[], bool] = lambda: False
) -> npt.NDArray[np.float64]:
    """Return the utilization in each part of a run, until all jobs have come.

    Parameters
    ----------
    model : GridModel
        New.
    ends : callable
        Tells after a step whether the run is over before.
    """
    world = model.world
    world.log.stream(None)
    times, areas = [0.0], [0.0]
    for _ in steps(model):
        if world.state.submitted == model.workload.count:
            break
        times.append(world.now)
        areas.append(float(world.busy_area().sum()))
        if ends():
            break
    first = int(WARM_UP * len(times))
    length = (len(times) - 1 - first) // BATCHES
    if length == 0:  # of a run that is far too short
        return np.array([np.nan])
    bounds = len(times) - 1 - length * np.arange(BATCHES + 1)[::-1]
    held, passed = np.diff(np.array(areas)[bounds]), np.diff(np.array(times)[bounds])
    return held / (passed * float(world.platform.sizes.sum()))
