"""Simulation of the full queue, with Poisson arrivals (`maxutil`, section 5).

Under FCFS the maximal utilization is where the mean response time reaches a threshold. Under FPFS
it is where a queue that begins with many jobs runs neither empty nor over for longest.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from agents.model import GridModel
from experiments.maxutil.heavy_traffic import batch_means
from experiments.maxutil.system import System
from experiments.sweeps.executors import steps
from experiments.sweeps.statistics import Interval, mean_interval
from experiments.sweeps.sweep import Observation
from grid.workloads.synthetic import SyntheticWorkload

LOAD_STEP = 5e-4
"""How exactly the load is found at which the mean response time reaches the threshold."""
RATE_STEP = 1e-6
"""The same of the load under which the queue lasts."""
LOOKS = 2000
"""Times that a run is looked at while jobs arrive, to tell the utilization."""
LOOKS_AT_RESPONSE = 200
"""The same, to tell whether the mean response time is above the threshold already."""
LOOKS_AT_QUEUE = 20
"""The same, of one whose queue must last: while as many jobs arrive as it began with."""
BALANCED = 0.01
"""Share of the arrivals by which a queue may change and still be told to neither grow nor drain."""

LASTED, REACHED = "lasted", "reached"
"""What is kept of a search: the arrivals for which a queue lasted, whether the threshold was
reached."""


@dataclass(frozen=True)
class Reached:
    """Where the mean response time reached the threshold.

    Attributes
    ----------
    load : float
        Offered.
    response : float
        Mean response time of all jobs, in mean service times.
    utilization : Interval
        Of the processors while jobs arrived, by batch means.
    at_all : bool
        It was reached; else these are the numbers at a load of 1, the highest.
    """

    load: float
    response: float
    utilization: Interval
    at_all: bool


@dataclass(frozen=True)
class Lasted:
    """How long a queue ran neither empty nor over.

    Attributes
    ----------
    load : float
        Offered.
    arrivals : int
        Until then, or all of them.
    change : int
        By how many jobs it ended longer than it began.
    utilization : Interval
        Of the processors in that time, by batch means.
    """

    load: float
    arrivals: int
    change: int
    utilization: Interval

    @property
    def balanced(self) -> bool:
        """Whether about as many jobs left as came, so that what was carried is what can be."""
        return abs(self.change) <= BALANCED * self.arrivals


@dataclass(frozen=True)
class PoissonArrivals:
    """Jobs of a system that arrive by a Poisson process.

    Attributes
    ----------
    system : System
    arrivals : int
    seed : int
        Of all runs, which differ in the rate of the arrivals alone.
    """

    system: System
    arrivals: int
    seed: int

    def _workload(
        self, load: float, looks: int, at_once: int = 0
    ) -> tuple[SyntheticWorkload, float]:
        """Return jobs that offer a load, and the time between that many looks (s)."""
        system = self.system
        rate = load * system.processors / (system.job_size * system.runtimes.mean)
        workload = SyntheticWorkload(
            count=at_once + self.arrivals,
            rate=rate,
            at_once=at_once,
            seed=self.seed,
            **system.mix(),
        )
        return workload, self.arrivals / (rate * max(1, looks))

    def model(self, load: float, looks: int = LOOKS) -> GridModel:
        """Return a model whose queue is empty in the beginning, ready to step."""
        return self.system.model(*self._workload(load, looks), self.seed)

    def threshold_reached(self, threshold: float) -> Reached:
        """Return the lowest load up to 1 at which the mean response time is at least the threshold.

        Parameters
        ----------
        threshold : float
            In mean service times, above 0.
        """
        low, high = 0.0, 1.0
        while high - low > LOAD_STEP:
            middle = (low + high) / 2
            if self._response(middle, threshold) < threshold:
                low = middle
            else:
                high = middle
        model = self.model(high)
        utilization = mean_interval(batch_means(model))
        response = self._response(high, math.inf)
        return Reached(high, response, utilization, response >= threshold)

    def _response(self, load: float, enough: float) -> float:
        """Return the mean response time in mean service times, or something above `enough`."""
        model = self.model(load, LOOKS_AT_RESPONSE)
        world, mean = model.world, self.system.runtimes.mean
        world.log.stream(None)
        total = 0.0
        for _ in steps(model):
            found = world.statistics
            total = found.jobs * (found.mean_turnaround or 0.0) / mean
            if total > enough * self.arrivals:
                break
        return total / self.arrivals

    def longest(self, start: int, bound: int) -> Lasted:
        """Return the run in which the queue lasted longest.

        By bisection over the load: a queue that runs over has too much of it. If one lasts for all
        arrivals, that is it.

        Parameters
        ----------
        start : int
            Jobs that wait in the beginning.
        bound : int
            Jobs of which so many are too many to wait.
        """
        low, high = 0.0, 1.0
        best: Lasted | None = None
        while high - low > RATE_STEP and (best is None or best.arrivals < self.arrivals):
            found = self._lasting((low + high) / 2, start, bound)
            if best is None or found.arrivals > best.arrivals:
                best = found
            low, high = (low, found.load) if found.change > 0 else (found.load, high)
        assert best is not None
        return best

    def _lasting(self, load: float, start: int, bound: int) -> Lasted:
        """Run until the queue is empty, too long, or nobody arrives any more."""
        workload, interval = self._workload(load, self.arrivals * LOOKS_AT_QUEUE // start, start)
        model = self.system.model(workload, interval, self.seed)
        means = batch_means(model, lambda: not 0 < model.queued < bound)
        arrived = model.world.state.submitted - start
        return Lasted(load, arrived, model.queued - start, mean_interval(means))


@dataclass(frozen=True)
class FullQueue:
    """The search for the maximal utilization of a system, as one run among many.

    Attributes
    ----------
    system : System
    jobs : int
        Arrivals of each run of the search.
    threshold : float
        Under FCFS.
    start, bound : int
        Under FPFS.
    """

    system: System
    jobs: int
    threshold: float = 0.0
    start: int = 0
    bound: int = 0

    def model(self, seed: int = 0) -> GridModel:
        """Return a model of the highest load, ready to step."""
        return PoissonArrivals(self.system, self.jobs, seed).model(1.0)

    def cut(self, jobs: int) -> FullQueue:
        """Return a search by runs of so many jobs at most."""
        return replace(self, jobs=min(jobs, self.jobs))

    def to_dict(self) -> dict[str, Any]:
        """Return what tells it from others, ready for JSON."""
        searched = {"threshold": self.threshold, "start": self.start, "bound": self.bound}
        return {"arrivals": self.jobs, **searched, **self.system.to_dict()}

    def observed(self, seed: int) -> Observation:
        """Do it, and return what is kept of it: arrivals until the queue ran empty or over, too."""
        arrivals = PoissonArrivals(self.system, self.jobs, seed)
        if self.bound:
            lasted = arrivals.longest(self.start, self.bound)
            return {
                "utilization": [lasted.utilization.mean],
                LASTED: [float(lasted.arrivals)],
            }
        reached = arrivals.threshold_reached(self.threshold)
        return {"utilization": [reached.utilization.mean], REACHED: [float(reached.at_all)]}
