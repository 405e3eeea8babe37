"""What a study asks for: metrics that its runs have, by short ones, policies with the same jobs."""

from __future__ import annotations

import json
from collections import ChainMap
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from experiments.run.own_metrics import OF_RUNS, TAKEN
from experiments.scenario.assignments import shown
from experiments.scenario.parameters import Parameters
from experiments.scenario.unread import of_jobs
from experiments.show.labels import METRICS, OF_DEADLINES, TABLES, WITHIN, may_lack, why_none
from experiments.studies.definition import Definition, Policy
from experiments.studies.study_run import StudyRun, numbers_of
from experiments.studies.tables import COUNTS
from experiments.sweeps.observations import LEFT, is_reason
from grid.errors import GridError
from grid.foreign import quoted
from grid.names import meant

if TYPE_CHECKING:
    from experiments.scenario.scenario import Scenario

NO_NUMBERS = {"stable": "true or false", "cp_basis": "a word"}
"""Metrics of a run of which there is no mean, and what they are."""
Found = Mapping[str, Sequence[float]]
"""The numbers of a run."""


def check_asked(
    study: Definition,
    first: Iterable[StudyRun],
    others: Iterable[Any],
    deadlines: bool,
    where: str,
) -> None:
    """Run short runs of a study, and raise `GridError` for a metric that none of them has.

    Parameters
    ----------
    study : Definition
    first : iterable of StudyRun
        One of each policy: they have everything compiled, too.
    others : iterable of Runnable
        In the other settings: run if the first ones leave open whether there is such a metric.
    deadlines : bool
        Whether jobs of the log that came in none of these may have deadlines.
    where : str
        A file, named in messages.
    """
    tried: list[Found] = []
    first = list(first)
    own = {name.rpartition(":")[2] for run in first for name in run.scenario.own_metrics}
    taken = own | (TAKEN - Parameters.model_fields.keys())  # no run's number is named as those are
    if clash := sorted(taken & study.vary.keys()):
        what = "a column of results" if clash[0] in OF_RUNS else "a metric"
        raise GridError(
            f"{where}: vary: {clash[0]}: found {what}, too; accepted: one of another name"
        )
    told = [*METRICS, *own, *TABLES, *_partial(study, {})]
    _check_known(study, {key: [0.0] for key in told}, where)  # before anything is compiled
    for run in first:
        tried.append(numbers_of(run, 0))
        some = {name: [0.0] for name in _partial(study, tried[-1])}
        _check_known(study, some | dict(tried[-1]), where)
    of_all = dict(ChainMap(*map(dict, tried)))
    for run in others:
        if not _partial(study, of_all):
            break
        of_all |= numbers_of(run, 0)
    _check_known(study, of_all, where)
    _check_defined(study, tried, deadlines, where)


def _partial(study: Definition, found: Mapping[str, Any]) -> list[str]:
    """Return the metrics of a study that are none of those found, and that some runs may have.

    They are numbers of a table, such as that of the levels of brokers, or of what not all policies
    do, such as preemptions.
    """
    return [name for name in study.reported if may_lack(name) and name not in found]


def metrics_among(found: Found) -> list[str]:
    """Return the names of the metrics among the numbers of a run."""
    return [name for name in found if name not in (*COUNTS, LEFT) and not is_reason(name)]


def _check_known(study: Definition, found: Found, where: str) -> None:
    """Raise `GridError`, naming a file, for a metric that is none of those found in runs."""
    metrics = metrics_among(found)
    for key, names in (("metric", [study.metric]), ("report", study.report)):
        for name in names:
            if name not in metrics:
                known = "accepted: a number of a run (docs/results.md), such as 'mean_wait'"
                if name in NO_NUMBERS:
                    raise GridError(
                        f"{where}: {key}: found {quoted(name)}, which is {NO_NUMBERS[name]} and "
                        f"has no mean; {known}"
                    )
                if name.partition(WITHIN)[0] in TABLES and WITHIN in name:
                    known = "accepted: a number that some run has (docs/results.md)"
                    raise GridError(f"{where}: {key}: found {quoted(name)}; {known}")
                if name in TABLES:
                    numbers = [each for each in metrics if each.startswith(f"{name}{WITHIN}")]
                    raise GridError(
                        f"{where}: {key}: found {quoted(name)}, which is a table; accepted: a "
                        f"number in it, {' or '.join(numbers) or f'{name}{WITHIN}...'}"
                    )
                if ":" in name:
                    function = name.rpartition(":")[2]
                    known = f"accepted: {function}, with own_metrics = [{name!r}]"
                raise GridError(
                    f"{where}: {key}: found {quoted(name)}; {meant(name, metrics, known)}"
                )


def _check_defined(
    study: Definition,
    found: Sequence[Found],
    deadlines: bool,
    where: str,
) -> None:
    """Raise `GridError`, naming a file, if no run of a study can have its metric.

    Parameters
    ----------
    study : Definition
    found : sequence of mapping
        What short runs of each policy came to.
    deadlines : bool
        Whether jobs of the log that came in none of these may have deadlines.
    where : str
    """
    name = study.metric
    alike = len(study.workloads) <= 1 and not {"mode", "assign_deadlines"} & study.vary.keys()
    if not alike or any(value == value for run in found for value in run.get(name, ())):
        return
    why = why_none(name)
    if why and not (deadlines and name in OF_DEADLINES):
        raise GridError(f"{where}: metric: found {name!r}; accepted: one that runs have; {why}")


def check_policies(
    path: object, policies: Sequence[Policy], scenarios: Mapping[tuple[str, Any], Scenario]
) -> None:
    """Raise `GridError` if two policies are the same under two names, or have different jobs.

    Parameters
    ----------
    path : path
        Of the study.
    policies : sequence of Policy
    scenarios : mapping of tuple to Scenario
        What each policy runs in each setting.
    """
    runs: dict[str, list[dict[str, Any]]] = {}
    for (label, _), scenario in scenarios.items():
        runs.setdefault(label, []).append(scenario.to_dict())
    seen: dict[str, str] = {}
    for label, all_of in runs.items():
        other = seen.setdefault(json.dumps(all_of), label)
        if other != label:
            raise GridError(
                f"{path}: policies: found {quoted(other)} and {quoted(label)}, which are the same; "
                "accepted: policies that differ"
            )
    for label, at in scenarios:
        here = {each.label: scenarios[each.label, at] for each in policies}
        own = next(each.set for each in policies if each.label == label)
        _check_jobs(f"{path}: policies: {quoted(label)}: set", label, own, here)


def _check_jobs(
    where: str, label: str, own: Mapping[str, Any], scenarios: Mapping[str, Scenario]
) -> None:
    """Raise `GridError` if own parameters of a policy give it other jobs than others have."""
    values = {of: each.to_dict()["parameters"] for of, each in scenarios.items()}
    for name in sorted(own.keys() & of_jobs(scenarios[label])):
        found = values[label][name]
        for other, its in values.items():
            if its[name] != found:
                raise GridError(
                    f"{where}: {name}: found {shown(found)}, but {shown(its[name])} in "
                    f"{quoted(other)}: they would not have the same jobs; accepted: parameters "
                    f"that do not change the jobs (settings may differ in {name}: [vary])"
                )
