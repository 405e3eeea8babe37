"""What became of the jobs of a period, and what would have under other policies."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from experiments.run.running import run
from experiments.scenario.checked import ScenarioError
from experiments.scenario.scenario import Scenario
from experiments.service.shadow.period import Period
from experiments.studies.outputs import write_csv
from grid.errors import GridError
from grid.foreign import quoted
from grid.kernel.statistics import SLOWDOWN_BOUND
from grid.platform.multicluster import Platform

AS_IT_WAS = "as it was"
HOME = "home"
_RAN = "start", "finish"


class Pair(NamedTuple):
    """A global and a local scheduler."""

    global_: str
    local: str

    def __str__(self) -> str:
        """Return what they are called."""
        return f"{self.global_}/{self.local}"


@dataclass(frozen=True)
class Outcome:
    """What became of the jobs that are counted.

    Attributes
    ----------
    name : str
        The pair of policies, or `AS_IT_WAS`.
    jobs : int
        That ran.
    rejected : int
        That some site would have refused.
    mean_wait, p95_wait, mean_bounded_slowdown, utilization : float or None
        None if none ran.
    notes : tuple of str
        What the simulation says of itself.
    """

    name: str
    jobs: int
    rejected: int
    mean_wait: float | None
    p95_wait: float | None
    mean_bounded_slowdown: float | None
    utilization: float
    notes: tuple[str, ...] = ()


def pairs_of(text: str) -> tuple[Pair, ...]:
    """Return the pairs that a text such as ``dll/easy,muscle/titan`` names.

    Raises
    ------
    GridError
        If it names none.
    """
    found = tuple(Pair(*each.strip().split("/", 1)) for each in text.split(",") if "/" in each)
    if len(found) != len(text.split(",")) or not all(map(all, found)):
        accepted = "pairs GLOBAL/LOCAL with commas between them"
        raise GridError(f"--policies: found {quoted(text)}; accepted: {accepted}")
    return tuple(dict.fromkeys(found))


def usual(scenario: Scenario) -> tuple[Pair, ...]:
    """Return the pair of a grid, and that in which each job runs where it was submitted."""
    told = scenario.to_dict()
    return tuple(dict.fromkeys((Pair(told["global"], told["local"]), Pair(HOME, "easy"))))


def check(scenario: Scenario, pairs: Sequence[Pair]) -> None:
    """Try pairs of policies on jobs of one processor.

    Raises
    ------
    GridError
        If one of them is none, or cannot be used.
    """
    names = scenario.platform.names
    table = pd.DataFrame({"site": names, "size": 1, "from": 0.0, "runtime": 1.0, "requested": 1.0})
    for pair in pairs:
        try:
            chosen = _under(pair, scenario, scenario.platform)
            if chosen.largest_job > chosen.platform.sizes.max():
                raise GridError("it splits jobs; accepted: one that has each run at one site")
            _run(chosen, table.assign(fixed=False), 0)
        except GridError as error:
            raise ScenarioError(f"policies {pair}: {error}") from None


def outcomes(
    period: Period, scenario: Scenario, pairs: Sequence[Pair], seed: int = 0
) -> list[Outcome]:
    """Return what became of the jobs of a period, and would have under pairs of policies.

    Parameters
    ----------
    period : Period
    scenario : Scenario
        With the grid's parameters.
    pairs : sequence of Pair
    seed : int

    Raises
    ------
    KeyboardInterrupt
        If a simulation is interrupted.
    """
    jobs = period.jobs
    wait, took = jobs["started"] - jobs["arrival"], jobs["ended"] - jobs["started"]
    slowdown = ((wait + took) / took.clip(lower=SLOWDOWN_BOUND)).clip(lower=1.0)
    used = period.used(jobs["started"], jobs["ended"])
    found = [_outcome(AS_IT_WAS, wait[jobs["counted"]], slowdown[jobs["counted"]], used)]
    for pair in pairs if period.count else ():
        ran, notes = _run(_under(pair, scenario, period.platform), jobs, seed)
        counts = jobs["counted"].to_numpy()
        start, finish = ((ran[name] + jobs["from"].min()).set_axis(jobs.index) for name in _RAN)
        used = period.used(start, finish)
        of = ran[counts]
        found.append(_outcome(str(pair), of["wait"], of["bounded_slowdown"], used, notes))
    return found


def _outcome(
    name: str, waits: pd.Series, slowdowns: pd.Series, used: float, notes: Sequence[str] = ()
) -> Outcome:
    ran = waits.dropna()
    some = len(ran) > 0
    return Outcome(
        name,
        len(ran),
        len(waits) - len(ran),
        float(ran.mean()) if some else None,
        float(np.percentile(ran, 95)) if some else None,
        float(slowdowns.dropna().mean()) if some else None,
        used,
        tuple(notes),
    )


def _under(pair: Pair, scenario: Scenario, platform: Platform) -> Scenario:
    """Return the scenario under other policies, without deadlines, for no job has one."""
    return scenario.with_parameters(
        {"assign_deadlines": False},
        scenario.path or scenario.name,
        platform=platform,
        global_scheduler=pair.global_,
        local_scheduler=pair.local,
    )


def _run(scenario: Scenario, jobs: pd.DataFrame, seed: int) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Simulate jobs; return what became of each, in their order, and notes."""
    with TemporaryDirectory(prefix="metasched-") as folder:
        path = Path(folder) / "jobs.csv"
        write_csv(_table(jobs, scenario.platform), path)
        result = run(dataclasses.replace(scenario, workload=str(path)), seed=seed)
    if result.interrupted:
        raise KeyboardInterrupt
    ran = result.jobs.set_index("job").reindex(range(1, len(jobs) + 1))
    return ran, tuple(result.notes)


def _table(jobs: pd.DataFrame, platform: Platform) -> pd.DataFrame:
    """Return jobs as a table of them; one that is fixed can run at its site alone."""
    rates: Mapping[str, float] = dict(zip(platform.names, platform.rates.tolist(), strict=True))
    own, site, fixed = jobs["site"].map(rates), jobs["site"], jobs["fixed"]
    best = own.where(fixed, max(rates.values()))  # predictions are of the shortest time
    table: dict[str, Any] = {
        "job": np.arange(1, len(jobs) + 1),
        "arrival": jobs["from"] - jobs["from"].min(),
        "size": jobs["size"],
        "requested_time": jobs["requested"] * own / best,
        "origin": site,
        **({"user": jobs["user"]} if "user" in jobs else {}),
    }
    for name, rate in rates.items():
        table[f"runtime@{name}"] = (jobs["runtime"] * own / rate).where(~fixed | (site == name))
    return pd.DataFrame(table)
