"""The maximal utilization: a search for the load above which queues grow without end.

A load is tried by independent replications, which are the same at every load but for how fast jobs
arrive (common random numbers). They begin with empty queues. A queue that is just borne grows like
the square root of time, one that is borne grows less and settles, one that is not grows more and at
last in proportion to time. So what tells is the ratio of its mean lengths in the last and the first
third of a run. Near the maximal utilization the ratio tells nothing, the nearer the longer runs
are: then loads on either side are tried.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Any

import numpy as np

from agents.model import GridModel
from experiments.cli.compiling import saying_when_compiling
from experiments.scenario.parameters import Parameters
from experiments.scenario.scenario import Scenario
from experiments.sweeps.executors import local_workers
from experiments.sweeps.forecast import Forecast
from experiments.sweeps.no_steady_state import is_far_lost
from experiments.sweeps.run_store import Kept
from experiments.sweeps.statistics import Interval, ratio_interval
from experiments.sweeps.sweep import (
    ENOUGH,
    Observation,
    Run,
    Unwatched,
    Watch,
    all_done,
    check_importable,
    observed,
    try_out,
)
from grid.errors import GridError
from grid.metrics.stability import FEWEST

WIDTH = 0.005
"""How narrow the search goes unless told otherwise."""
REPLICATIONS = 8
"""Runs at each load unless told otherwise."""
ONE = [((), 1.0)]
"""A run, which is expected to take as long as any other."""
JUST_BORNE = 3**1.5 - 2**1.5
"""Mean of the square root of time over the last third, divided by that over the first."""


@dataclass
class Bracket:
    """What is known of a maximal utilization, and which load to try next.

    Attributes
    ----------
    width : float
        A gap between two loads that is not searched any further.
    low, high : float
        The highest load known to be borne, and the lowest known not to be; 0 and 1 until one is
        tried, for at 1 clusters are busy all the time.
    growth : dict of float to Interval
        Of each load that was tried, by what factor queues were longer in the last third of runs
        than in the first.

    Examples
    --------
    >>> bracket = Bracket(0.3)
    >>> bracket.next_load()
    0.5
    >>> bracket.learn(0.5, Interval(1.1, 0.2))
    >>> bracket.next_load()
    0.75
    >>> bracket.learn(0.75, Interval(4.9, 0.3))
    >>> bracket.low, bracket.high, bracket.next_load()
    (0.5, 0.75, None)
    """

    width: float = WIDTH
    low: float = 0.0
    high: float = 1.0
    growth: dict[float, Interval] = field(default_factory=dict)

    def learn(self, load: float, growth: Interval) -> None:
        """Take note of how queues grow at a load."""
        self.growth[load] = growth
        if growth.high < JUST_BORNE:
            self.low = max(self.low, load)
        elif growth.low > JUST_BORNE:
            self.high = min(self.high, load)

    def next_load(self) -> float | None:
        """Return the load to try next; None once the bracket is as narrow as it gets."""
        untold = self.untold
        gaps = [(self.low, min(untold)), (max(untold), self.high)] if untold else []
        for below, above in gaps or [(self.low, self.high)]:
            if above - below > self.width * (1 + 1e-9):
                return (below + above) / 2
        return None

    @property
    def untold(self) -> list[float]:
        """Loads that were tried, of which runs did not tell whether they are borne."""
        return sorted(load for load in self.growth if self.low < load < self.high)

    @property
    def loads_left(self) -> int:
        """Loads that there are to try yet, if no doubt remains about any of them."""
        gap = (self.high - self.low) / self.width
        return max(1, math.ceil(math.log2(gap))) if self.next_load() is not None else 0

    def verdict(self, load: float) -> str:
        """Return in a word what became of a load that was tried."""
        if load <= self.low:
            return "borne"
        return "not borne" if load >= self.high else "open"


@dataclass(frozen=True)
class Saturation:
    """The maximal utilization of a scenario's policy.

    Attributes
    ----------
    scenario : Scenario
    seed : int
        Of which those of the runs are spawned.
    replications : int
    bracket : Bracket
    """

    scenario: Scenario
    seed: int
    replications: int
    bracket: Bracket

    @property
    def remarks(self) -> list[str]:
        """What the bracket does not say, for people: a line each.

        Why it is wider than asked for, if it is, and what planned changes of the platform mean.
        """
        bracket, lines = self.bracket, []
        if bracket.untold and bracket.high - bracket.low > bracket.width:
            lines.append(
                f"wider than the width asked for, {bracket.width:g}: of loads from "
                f"{bracket.untold[0]:.5g} to {bracket.untold[-1]:.5g} runs did not tell; more jobs "
                "a run would, or more replications"
            )
        if self.scenario.platform.changes:
            lines.append(
                "planned changes of the platform count as far as the runs reach; load is over all "
                "processors, also those that are away"
            )
        return lines

    def at(self, load: float) -> Scenario:
        """Return the scenario at a load."""
        return self.scenario.changed([f"load={load!r}"])

    def summary(self) -> dict[str, Any]:
        """Return it in numbers, ready for JSON.

        Returns
        -------
        dict
            ``scenario``, ``seed``, ``replications``; ``low`` and ``high``, between which it lies;
            ``loads`` that were tried, from the lowest, each with its ``growth``, the half-width
            ``ci95`` of its 95 % confidence interval, and the ``verdict``: borne, not borne, open;
            `Scenario.to_dict`.
        """
        return {
            "scenario": self.scenario.name,
            "seed": self.seed,
            "replications": self.replications,
            "low": self.bracket.low,
            "high": self.bracket.high,
            "loads": [
                {
                    "load": load,
                    "growth": growth.mean,
                    "ci95": growth.half_width,
                    "verdict": self.bracket.verdict(load),
                }
                for load, growth in sorted(self.bracket.growth.items())
            ],
            **self.scenario.to_dict(),
        }


def find_saturation(
    scenario: Scenario,
    seed: int,
    tell: Callable[[str], object],
    replications: int = REPLICATIONS,
    workers: int = 1,
    width: float = WIDTH,
    watch: Watch | None = None,
) -> Saturation:
    """Find the load above which the queues of a scenario grow without end.

    Parameters
    ----------
    scenario : Scenario
        In mode open, of synthetic jobs; its load does not matter. The more ``jobs``, the narrower
        the bracket can get.
    seed : int
        Of which those of the runs are spawned.
    tell : callable
        Is told in a line how each load went.
    replications : int
        Runs at each load, at least 2; one whose queue is seen to grow without end ends early.
    workers : int
        Processes; they change nothing but the time.
    width : float
        A narrower gap between two loads is not searched.
    watch : Watch, optional
        Is told how the search goes on.

    Raises
    ------
    GridError
        For a scenario that has no load, or too few jobs to tell whether queues grow.
    """
    return find_saturations([scenario], seed, tell, replications, workers, width, None, watch)[0]


def find_saturations(
    scenarios: Sequence[Scenario],
    seed: int,
    tell: Callable[[str], object],
    replications: int = REPLICATIONS,
    workers: int = 1,
    width: float = WIDTH,
    kept: Kept | None = None,
    watch: Watch | None = None,
) -> list[Saturation]:
    """Search for several scenarios at once, as `find_saturation` does for one.

    Finished runs are `kept`, if that is told where.
    """
    watch = watch or Unwatched()
    for scenario in scenarios:
        _check(scenario, width)
    seeds = np.random.SeedSequence(seed).generate_state(replications).tolist()
    found = [Saturation(each, seed, replications, Bracket(width)) for each in scenarios]
    first = scenarios[0].changed([f"jobs={ENOUGH}", "warmup=0"])
    done = {} if kept is None else kept.all()
    work = partial(observed, observe=_observe)
    watch.prepare("compiling what is not compiled yet")
    with saying_when_compiling(always=False):
        try_out(first)
    with local_workers(workers, partial(try_out, first), kept is not None) as crew:
        expected = replications * sum(each.bracket.loads_left for each in found)
        forecast = Forecast([ONE] * expected, workers, known=False, open_ended=True)
        watch.begin(0, forecast, crew.under_way)
        begun = count()
        while loads := [(each, load) for each in found if (load := each.bracket.next_load())]:
            runs = [
                [Run(each.at(load), seed, (), first, f"load {load:.5g}") for seed in seeds]
                for each, load in loads
            ]
            futures = {}
            for run in (run for of_load in runs for run in of_load if run.key not in done):
                piece, of_it = next(begun), [(run, 1.0)]
                if piece >= expected:
                    forecast.expect(piece, ONE)
                futures[crew.executor.submit(all_done, piece, of_it, work)] = piece, run.key
            for future in as_completed(futures):
                piece, key = futures[future]
                (ended,) = future.result()
                watch.advance(piece, [ended.wall])
                done[key] = ended.observed
                if kept is not None:
                    kept.add({key: ended.observed})
            for (each, load), of_load in zip(loads, runs, strict=True):
                lengths = np.array([done[run.key]["lengths"] for run in of_load])
                growth = ratio_interval(lengths[:, 1], lengths[:, 0])
                each.bracket.learn(load, growth)
                tell(f"load {load:.5g}: {each.bracket.verdict(load)}")
    return found


def _check(scenario: Scenario, width: float) -> None:
    """Raise `GridError` for what has no maximal utilization that a search could find."""
    parameters = scenario.parameters
    assert isinstance(parameters, Parameters)
    if not 0 < width < 1:
        raise GridError(f"width: found {width!r}; accepted: a number above 0, below 1")
    if scenario.workload is not None:
        raise GridError("workload: found a log; accepted: synthetic jobs, whose load can be set")
    if parameters.mode != "open":
        raise GridError(f"mode: found {parameters.mode!r}; accepted: 'open', which has a load")
    if parameters.jobs < FEWEST:
        raise GridError(
            f"jobs: found {parameters.jobs}; accepted: a whole number from {FEWEST}, for fewer say "
            "nothing of queues that grow"
        )
    check_importable(scenario, "saturation")
    scenario.model()  # what it refuses, it refuses before any process is started


def _observe(model: GridModel, steps: Iterable[None]) -> Observation:
    """Return the mean queue in the first and the last third of a run; it ends once it is lost."""
    model.world.stream_records(None)
    for _ in steps:
        if is_far_lost(model):
            break
    lengths = model.world.statistics.mean_queue
    thirds = lengths[len(lengths) % 3 :].reshape(3, -1).mean(1)
    # One job more in both: a queue of less than a job has nothing to tell of growth.
    return {"lengths": [float(thirds[0]) + 1, float(thirds[2]) + 1]}
