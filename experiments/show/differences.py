"""What differs in what several runs were given: their parameters, and their jobs."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from agents.energy.greenest import GreenestScheduler
from agents.registry import GLOBAL, LOCAL, global_scheduler, local_scheduler
from experiments.run.result_files import parameters_of
from experiments.scenario.assignments import shown
from experiments.scenario.jobs import ORIGINS
from experiments.scenario.parameters import Parameters
from experiments.scenario.unread import OF_JOBS, UNSEEN, of_no_effect
from experiments.show.numbers import NONE
from experiments.show.run_data import Ran
from grid.platform.energy import EnergySettings
from grid.settings import declared

CLOSE, CLOSE_S = 1e-6, 1e-6
"""How far apart two run times of a job may be, told by its starts and ends: a share, s."""


OF_PLATFORM = {"clusters", "nodes"}
"""Parameters that mean nothing beside one another where all clusters are as large and as quick."""

BRIEF = 3
"""Parameters at most that are told beside the name of a policy."""


class Difference(NamedTuple):
    """A parameter, or the seed, that is not the same in all runs.

    Attributes
    ----------
    name : str
    values : list of str
        Of each run, as ``--set`` takes it; `NONE` where it has no such parameter.
    means : list of bool
        Whether it means anything to each run, as far as is known.
    """

    name: str
    values: list[str]
    means: list[bool]

    @property
    def matters(self) -> bool:
        """Whether runs to which it means something have other values of it."""
        return (
            len({value for value, means in zip(self.values, self.means, strict=True) if means}) > 1
        )

    @property
    def cells(self) -> list[str]:
        """The values, in brackets where they mean nothing."""
        each = zip(self.values, self.means, strict=True)
        return [value if means or value == NONE else f"({value})" for value, means in each]


OF_ELECTRICITY = set(declared(EnergySettings))
"""Parameters by which all that electricity comes to is worked out, and few policies go."""

TOLD_OF_JOBS = "assign_deadlines", "only_recorded"
"""Parameters of which the jobs of runs tell all effects, and their sentence does."""


def differences(runs: Sequence[Ran]) -> list[Difference]:
    """Return what of the seed and of the parameters that change results is not the same."""
    return [each for each in parameters(runs) if len({*each.values}) > 1]


def parameters(runs: Sequence[Ran]) -> Iterator[Difference]:
    """Yield the seed and all parameters that change results, as if they differed."""
    given = [{"seed": ran.summary["seed"]} | ran.summary["parameters"] for ran in runs]
    names = dict.fromkeys(name for each in given for name in each if name != "step")
    idle = [_idle(ran) for ran in runs]
    if len({(*ran.platform.sizes.tolist(), *ran.platform.rates.tolist()) for ran in runs}) == 1:
        idle = [of | OF_PLATFORM for of in idle] if len(runs) > 1 else idle
    for name in names:
        values = [shown(each[name]) if each.get(name, {}) != {} else NONE for each in given]
        yield Difference(name, values, [name not in of for of in idle])


def to_blame(runs: Sequence[Ran]) -> list[str]:
    """Return what may be why runs differ; but for what only says which jobs there are, or how.

    And but for rates of electricity, if they decide nothing.
    """
    told = {*TOLD_OF_JOBS, *of_electricity(runs)}
    return [each.name for each in differences(runs) if each.matters and each.name not in told]


def of_electricity(runs: Sequence[Ran]) -> list[str]:
    """Return the rates of electricity that differ and decide nothing."""
    names = [each.name for each in differences(runs) if each.name in OF_ELECTRICITY]
    return [] if any(map(_may_go_by_rates, runs)) else names


def told_apart(runs: Sequence[Ran]) -> list[Ran]:
    """Return the runs with names of their own, and those of one policy with what differs."""
    names, found = [ran.name for ran in runs], []
    for index, ran in enumerate(runs):
        alike = [index, *(at for at, each in enumerate(runs) if each.policy == ran.policy)]
        apart = [each for each in differences([runs[at] for at in alike]) if each.matters]
        brief = ", ".join(f"{each.name} {each.values[0]}" for each in apart)
        name = f"{ran.name} ({index + 1})" if names.count(ran.name) > 1 else ran.name
        brief = brief if len(apart) <= BRIEF else ""
        found.append(dataclasses.replace(ran, name=name, apart=brief))
    return found


def same_jobs(one: Ran, other: Ran) -> bool:
    """Return whether two runs may have had the same jobs, but for deadlines.

    Jobs that left both must be the same as far as ``jobs.csv`` tells; and where they come from the
    same source, so must be the parameters that say what is made of it, but for those whose effects
    would all be seen.
    """
    pairs = both(one, other)
    for here, there in ((one, other), (other, one)):
        lacking = len(here.jobs) - len(pairs)
        if lacking > there.summary.get("unfinished", 0) and not there.summary.get("interrupted"):
            return False
    works = [pairs[name].to_numpy(np.float64) for name in ("work_x", "work_y")]
    known = ~np.isnan(works).any(axis=0)
    if not np.isclose(works[0][known], works[1][known], CLOSE, CLOSE_S).all():
        return False
    if one.summary["workload"] != other.summary["workload"]:
        return True
    made = _made_otherwise(one, other)
    if _submitted(one) == _submitted(other) is not None:
        made -= {"only_recorded"}  # which leaves out jobs, and here none
    all_seen = known.all() and len(pairs) == len(one.jobs) == len(other.jobs)
    return not made & (UNSEEN | {"seed"} if all_seen else OF_JOBS | {"seed"})


def of_one_source(runs: Sequence[Ran]) -> bool:
    """Return whether the jobs of runs came from the same files, or were drawn in the same way."""
    return all(ran.summary["workload"] == runs[0].summary["workload"] for ran in runs)


def all_told(runs: Sequence[Ran]) -> bool:
    """Return whether ``jobs.csv`` tells how long all jobs run on a cluster of rate 1."""
    return all(not np.isnan(ran.work[ran.completed]).any() for ran in runs)


def same_deadlines(one: Ran, other: Ran) -> bool:
    """Return whether two runs that had the same jobs drew the same deadlines for them, if any."""
    return _drawn_deadlines(one) == _drawn_deadlines(other)


def both(one: Ran, other: Ran) -> pd.DataFrame:
    """Return of each job that left both runs its rows there, `row_x` and `row_y`, and its works.

    A job is known by its number, its size, unless that was chosen in a run, and, unless it comes
    with a round, which begins when the one before it is done, its arrival; where sites use the same
    numbers, by its work too.
    """
    in_rounds = any(_in_rounds(ran.summary) for ran in (one, other))
    moulded = any(ran.summary["parameters"].get("mouldable") for ran in (one, other))
    names = ["job", *([] if moulded else ["size"]), *([] if in_rounds else ["arrival"])]
    tables = []
    for ran in (one, other):
        rows = ran.jobs[names].assign(row=np.arange(len(ran.jobs)), work=ran.work)
        again = rows.sort_values("work", kind="stable").groupby(names).cumcount()
        tables.append(rows.assign(again=again))
    return tables[0].merge(tables[1], on=[*names, "again"])


def _submitted(ran: Ran) -> int | None:
    """Return how many jobs a run had; None if it was interrupted, so that more might have come."""
    if ran.summary.get("interrupted"):
        return None
    return len(ran.jobs) + int(ran.summary.get("unfinished", 0))


def _in_rounds(summary: dict[str, Any]) -> bool:
    return summary["workload"] is None and summary["parameters"].get("mode") == "batch"


def _made_otherwise(one: Ran, other: Ran) -> set[str]:
    """Return what differs in how two runs made jobs of one source, and means something to both.

    A run to which it means nothing would be the same with the other's value.
    """
    log = one.summary["workload"] is not None
    ways = []
    for ran in (one, other):
        parameters = _parameters(ran)
        way = parameters.model_dump(include=OF_JOBS) | {"seed": ran.summary["seed"]}
        way["jobs"] += parameters.warmup
        if log and not any(way[name] for name in ORIGINS):
            way["seed"] = None
        ways.append(way)
    idle = _idle(one) | _idle(other) | ({"mode"} if log else set())
    return {name for name in ways[0] if ways[0][name] != ways[1][name]} - idle


def _drawn_deadlines(ran: Ran) -> Any:
    """Return all that drawn deadlines depend on beside the jobs, None if none were drawn."""
    if ran.summary.get("deadlines") not in ("drawn", "mixed"):
        return None
    given = _parameters(ran)
    ratios = given.service_classes or (given.min_deadline_ratio, given.max_deadline_ratio)
    return ratios, ran.summary["seed"], ran.platform.rates.min(), given.speeds


def _parameters(ran: Ran) -> Parameters:
    return parameters_of(ran.summary, ran.name)


def _may_go_by_rates(ran: Ran) -> bool:
    """Return whether a policy may go by rates of electricity; one of a user's own may."""
    policy = ran.summary["global"]
    known = policy in GLOBAL and ran.summary["local"] in LOCAL
    return not known or issubclass(global_scheduler(policy), GreenestScheduler)


def _idle(ran: Ran) -> set[str]:
    """Return the parameters that mean nothing to a run, as far as its schedulers are known."""
    summary = ran.summary
    policies = summary["global"], summary["local"]
    known = policies[0] in GLOBAL and policies[1] in LOCAL
    of_none = of_no_effect(
        _parameters(ran),
        summary["workload"] is not None,
        global_scheduler(policies[0]) if known else None,
        local_scheduler(policies[1]) if known else None,
    )
    return {name for names, _ in of_none for name in names}
