"""The maximal utilization: a search for the load above which queues grow without end.

A load is tried by independent replications, which are the same at every load but for how fast jobs
arrive (common random numbers). They begin with empty queues. A queue that is just borne grows like
the square root of time, one that is borne grows less and settles, one that is not grows more and at
last in proportion to time. So what tells is the ratio of its mean lengths in the last and the first
third of a run. Near the maximal utilization the ratio tells nothing, the nearer the longer runs
are: then loads on either side are tried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from agents.coallocation.settings import PenaltySettings
from agents.model import GridModel
from experiments.scenario.checked import naming
from experiments.scenario.scenario import Scenario
from experiments.scenario.unread import idle
from experiments.show.numbers import percent
from experiments.sweeps.bracket import WIDTH, Bracket
from experiments.sweeps.compiling import saying_when_compiling
from experiments.sweeps.executors import local_workers
from experiments.sweeps.forecast import Forecast
from experiments.sweeps.inputs import digest_of_files
from experiments.sweeps.no_steady_state import is_far_lost
from experiments.sweeps.run_store import Kept
from experiments.sweeps.statistics import ratio_interval
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
from grid.world.finished import Records

REPLICATIONS = 8
"""Runs at each load unless told otherwise."""
ONE = [((), 1.0)]
"""A run, which is expected to take as long as any other."""


class Rejected(NamedTuple):
    """What runs rejected of the jobs that left: shares of their number and of their work."""

    jobs: float
    work: float


@dataclass(frozen=True)
class Saturation:
    """The maximal load that a scenario's policy bears.

    That is a utilization where jobs take as long on any cluster, and links slow none.
    A policy that rejects jobs bears a load without doing all of its work: then what is found is
    the maximal load offered, which is no utilization.

    Attributes
    ----------
    scenario : Scenario
    seed : int
        Of which those of the runs are spawned.
    replications : int
    bracket : Bracket
    of_loads : dict of float to Rejected
        What was rejected at each load that was tried.
    """

    scenario: Scenario
    seed: int
    replications: int
    bracket: Bracket
    of_loads: dict[float, Rejected] = field(default_factory=dict)

    @cached_property
    def files(self) -> str:
        """What tells its runs from those of other code (`digest_of_files`)."""
        return digest_of_files(self.scenario)

    @property
    def all_rejected(self) -> bool:
        """Whether runs of a load rejected all jobs: then no load tells anything."""
        return any(each.jobs == 1 for each in self.of_loads.values())

    @property
    def rejects(self) -> bool:
        """Whether any job was rejected."""
        return any(each.jobs > 0 for each in self.of_loads.values())

    @property
    def high(self) -> float | None:
        """The lowest load known not to be borne, None if nothing tells.

        At load 1 clusters would be busy all the time, but not where part of the work is rejected.
        """
        return (
            None if self.rejects and self.bracket.high not in self.of_loads else self.bracket.high
        )

    @property
    def is_utilization(self) -> bool:
        """Whether jobs take as long wherever they run, so that load is a share of processors."""
        settings = self.scenario.parameters
        given = settings.model_dump()
        slower = given["computation_fraction"] < 1 or given["staging_time"] or given["staging_data"]
        penalized = self.scenario.policy.settings_type is PenaltySettings
        return not (slower or penalized or np.ptp(self.scenario.platform.rates) > 0.0)

    @property
    def found(self) -> str:
        """What was found, for people: a line."""
        low, high, tried = self.bracket.low, self.bracket.high, self.bracket.growth
        what = "utilization" if self.is_utilization else "load"
        what = "load offered, with what was rejected of it" if self.rejects else what
        if low in tried and high in tried:
            where = f"between {low:.5g} and {high:.5g}"
        elif low in tried:
            where = f"above {low:.5g}; of loads above it, up to {max(tried):.5g}, runs did not tell"
            if max(tried) == low:
                where = f"above {low:.5g}, the highest load that was tried"
        elif high in tried:
            where = f"below {high:.5g}; of loads below it, to {min(tried):.5g}, runs did not tell"
            if min(tried) == high:
                where = f"below {high:.5g}, the lowest load that was tried"
        else:
            of = [f"{load:.5g}" for load in dict.fromkeys((min(tried), max(tried)))]
            loads = f"load {of[0]}" if len(of) == 1 else f"loads from {of[0]} to {of[1]}"
            where = f"not found; of {loads} no runs told"
        return f"maximal {what}: {where}"

    @property
    def without_effect(self) -> dict[str, str]:
        """Parameters that were chosen for the scenario and mean nothing here, and why."""
        parameters = self.scenario.parameters
        chosen = "load" in parameters.model_fields_set - self.scenario.packaged
        own = {"load": "the search sets it"} if chosen else {}
        return {parameters.called(name): why for name, why in (own | idle(self.scenario)).items()}

    @property
    def remarks(self) -> list[str]:
        """What the bracket does not say, for people: a line each.

        What was rejected, and why it is wider than asked for, if it is.
        """
        bracket, lines = self.bracket, []
        if not (self.is_utilization or self.rejects):
            lines.append(
                "load: work over what all processors can do; another share of them is in use, for "
                "jobs take longer on some clusters, or where they are split"
            )
        if self.rejects:
            load, most = max(self.of_loads.items(), key=lambda each: each[1].work)
            lines.append(
                f"rejected: up to {percent(most.jobs)} of the jobs, {percent(most.work)} of the "
                f"work (at load {load:.5g}); this is no utilization, which is of work that was done"
            )
        if bracket.untold and bracket.high - bracket.low > bracket.width:
            first, last = bracket.untold[0], bracket.untold[-1]
            of = f"load {first:.5g}" if first == last else f"loads from {first:.5g} to {last:.5g}"
            lines.append(
                f"wider than the width asked for, {bracket.width:g}: of {of} runs did not tell; "
                "more jobs a run would, or more replications"
            )
        return lines

    def next_load(self) -> float | None:
        """Return the load to try next; None if the search is over."""
        return None if self.all_rejected else self.bracket.next_load()

    def learn(self, load: float, runs: Sequence[Observation]) -> None:
        """Take note of what runs at a load came to."""
        gone = np.sum([each["rejected"] for each in runs], axis=0)
        left = np.sum([each["left"] for each in runs], axis=0)
        self.of_loads[load] = Rejected(*(gone / np.maximum(left, 1e-300)).tolist())
        if self.all_rejected:
            return
        lengths = np.array([each["lengths"] for each in runs])
        self.bracket.learn(load, ratio_interval(lengths[:, 1], lengths[:, 0]))

    def at(self, load: float) -> Scenario:
        """Return the scenario at a load."""
        return self.scenario.changed([f"load={load!r}"])

    def summary(self) -> dict[str, Any]:
        """Return it in numbers, ready for JSON.

        Returns
        -------
        dict
            ``scenario``, ``seed``, ``replications``; ``low`` and ``high``, between which it lies
            (0 and 1, which are not tried, if no load told otherwise);
            ``loads`` that were tried, from the lowest, each with its ``growth`` (the mean queue in
            the last third of runs over that in the first, one job added to both), the half-width
            ``ci95`` of its 95 % confidence interval, and the ``verdict`` of its own runs: borne,
            not borne, open; `Scenario.to_dict`, but for the parameter ``load``. If jobs were
            rejected, ``low`` and ``high`` (null if no load was found not to be borne) are of the
            load offered, and ``rejected`` has the shares of ``jobs`` and ``work`` of each ``load``.
        """
        given = self.scenario.to_dict()
        del given["parameters"]["load"]  # which no run had, but by chance
        rejected = [
            {"load": load, **each._asdict()} for load, each in sorted(self.of_loads.items())
        ]
        return {
            "scenario": self.scenario.name,
            "seed": self.seed,
            "replications": self.replications,
            "low": self.bracket.low,
            "high": self.high,
            "loads": [
                {
                    "load": load,
                    "growth": growth.mean,
                    "ci95": growth.half_width,
                    "verdict": self.bracket.verdict(load),
                }
                for load, growth in sorted(self.bracket.growth.items())
            ],
            **({"rejected": rejected} if self.rejects else {}),
            **given,
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
        For a scenario that has no load, too few jobs to tell whether queues grow, or a platform
        with planned changes, which have them grow or shrink whatever the load.
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
        with naming(scenario.path or scenario.name, scenario.parameters, scenario.sources):
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
        while loads := [(each, load) for each in found if (load := each.next_load())]:
            runs = [
                [
                    Run(each.at(load), seed, (), first, f"load {load:.5g}", each.files)
                    for seed in seeds
                ]
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
                each.learn(load, [done[run.key] for run in of_load])
                if not each.all_rejected:
                    tell(f"load {load:.5g}: {each.bracket.verdict(load)}")
    return found


def _check(scenario: Scenario, width: float) -> None:
    """Raise `GridError` for what has no maximal utilization that a search could find."""
    parameters = scenario.parameters
    if not 0 < width < 1:
        raise GridError(f"width: found {width!r}; accepted: a number above 0, below 1")
    if scenario.workload is not None:
        raise GridError(
            "workload: found a log; accepted: synthetic jobs, whose load can be set; of "
            "logs, a study may vary load_factor"
        )
    if parameters.mode != "open":
        default = "" if "mode" in parameters.model_fields_set else " (the default)"
        found = f"mode: found {parameters.mode!r}{default}"
        raise GridError(f"{found}; accepted: 'open', which has a load")
    if parameters.jobs < FEWEST:
        raise GridError(
            f"jobs: found {parameters.jobs}; accepted: a whole number from {FEWEST}, for fewer say "
            "nothing of queues that grow"
        )
    if scenario.platform.changes:
        raise GridError(
            f"changes of the platform: found {len(scenario.platform.changes)}; accepted: none, for "
            "each has queues grow or shrink, whatever the load"
        )
    check_importable(scenario, "saturation")
    scenario.model()  # what it refuses, it refuses before any process is started


def _observe(model: GridModel, steps: Iterable[None]) -> Observation:
    """Return the mean queue in the first and the last third of a run; it ends once it is lost."""
    rejected, left = np.zeros(2), np.zeros(2)  # jobs, and their work

    def add(records: Records) -> None:
        work, gone = records["size"] * records["runtime"], np.isnan(records["start"])
        np.add(left, (len(work), work.sum()), out=left)
        np.add(rejected, (gone.sum(), work[gone].sum()), out=rejected)

    model.world.log.stream(add)
    for _ in steps:
        if is_far_lost(model):
            break
    model.world.log.flush()
    lengths = model.world.statistics.mean_queue
    thirds = lengths[len(lengths) % 3 :].reshape(3, -1).mean(1)
    # One job more in both: a queue of less than a job has nothing to tell of growth.
    return {
        "lengths": [float(thirds[0]) + 1, float(thirds[2]) + 1],
        "rejected": rejected.tolist(),
        "left": left.tolist(),
    }
