"""The maximal utilization: a search for the load above which queues grow without end.

A load is tried by independent replications, which are the same at every load but for how fast jobs
arrive (common random numbers). Near the maximal utilization some runs settle and others do not, the
more so the shorter they are. So two loads are searched for: the highest that all runs bear, and the
lowest that none does. What is sought lies between them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from agents.model import GridModel
from experiments.compiling import saying_when_compiling
from experiments.parameters import Parameters
from experiments.scenario import Scenario
from experiments.studies.lost import is_lost, until_lost
from experiments.studies.sweep import (
    ENOUGH,
    Observation,
    check_importable,
    observed,
    try_out,
    worker_pool,
)
from grid.errors import GridError
from grid.stability import FEWEST

WIDTH = 0.005
"""How narrow the search goes unless told otherwise."""
REPLICATIONS = 8
"""Runs at each load unless told otherwise."""


@dataclass
class Bracket:
    """What is known of a maximal utilization, and which load to try next.

    Attributes
    ----------
    width : float
        A gap between two loads that is not searched any further.
    tried : dict of float to int
        Of each load, how many replications bear it.
    low, high : float
        The highest load that all replications bear, and the lowest that none does; 0 and 1 until
        one is tried, for at 1 clusters are busy all the time.

    Examples
    --------
    >>> bracket = Bracket(0.3)
    >>> bracket.next_load()
    0.5
    >>> bracket.learn(0.5, borne=8, of=8)
    >>> bracket.next_load()
    0.75
    >>> bracket.learn(0.75, borne=0, of=8)
    >>> bracket.low, bracket.high, bracket.next_load()
    (0.5, 0.75, None)
    """

    width: float = WIDTH
    tried: dict[float, int] = field(default_factory=dict)
    low: float = 0.0
    high: float = 1.0

    def learn(self, load: float, borne: int, of: int) -> None:
        """Take note that so many of all replications bear a load."""
        self.tried[load] = borne
        if borne == of:
            self.low = max(self.low, load)
        elif borne == 0:
            self.high = min(self.high, load)

    def next_load(self) -> float | None:
        """Return the load to try next; None once the bracket is as narrow as it gets."""
        mixed = [load for load in self.tried if self.low < load < self.high]
        gaps = [(self.low, min(mixed)), (max(mixed), self.high)] if mixed else []
        for below, above in gaps or [(self.low, self.high)]:
            if above - below > self.width * (1 + 1e-9):
                return (below + above) / 2
        return None


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

    def at(self, load: float) -> Scenario:
        """Return the scenario at a load."""
        return self.scenario.changed([f"load={load!r}"])

    def summary(self) -> dict[str, Any]:
        """Return it in numbers, ready for JSON.

        Returns
        -------
        dict
            ``scenario``, ``seed``, ``replications``; ``low`` and ``high``, between which it lies;
            ``loads`` that were tried, from the lowest, each with the runs that are ``unstable``;
            `Scenario.to_dict`.
        """
        return {
            "scenario": self.scenario.name,
            "seed": self.seed,
            "replications": self.replications,
            "low": self.bracket.low,
            "high": self.bracket.high,
            "loads": [
                {"load": load, "unstable": self.replications - borne}
                for load, borne in sorted(self.bracket.tried.items())
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
        Runs at each load, of which one whose queue grows without end is not carried to its end.
    workers : int
        Processes; they change nothing but the time.
    width : float
        A narrower gap between two loads is not searched.

    Raises
    ------
    GridError
        For a scenario that has no load, or too few jobs to tell whether queues grow.
    """
    return find_saturations([scenario], seed, tell, replications, workers, width)[0]


def find_saturations(
    scenarios: Sequence[Scenario],
    seed: int,
    tell: Callable[[str], object],
    replications: int = REPLICATIONS,
    workers: int = 1,
    width: float = WIDTH,
) -> list[Saturation]:
    """Search for several scenarios at once, as `find_saturation` does for one."""
    for scenario in scenarios:
        _check(scenario, width)
    seeds = np.random.SeedSequence(seed).generate_state(replications).tolist()
    found = [Saturation(each, seed, replications, Bracket(width)) for each in scenarios]
    first = scenarios[0].changed([f"jobs={ENOUGH}", "warmup=0"])
    with saying_when_compiling(always=False):
        try_out(first)
    with worker_pool(workers, first) as pool:
        while loads := [(each, load) for each in found if (load := each.bracket.next_load())]:
            runs = [
                [pool.submit(observed, each.at(load), seed, _observe) for seed in seeds]
                for each, load in loads
            ]
            for (each, load), of_load in zip(loads, runs, strict=True):
                borne = sum(run.result()[0]["stable"] == [1.0] for run in of_load)
                each.bracket.learn(load, borne, replications)
                tell(
                    f"load {load:.5g}: the queue grows in {replications - borne} of {replications}"
                )
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
    """Return whether the queue of a run settled; it ends once that is lost."""
    model.world.stream_records(None)
    for _ in until_lost(model, steps):
        pass
    return {"stable": [float(model.world.statistics.stable is True and not is_lost(model))]}
