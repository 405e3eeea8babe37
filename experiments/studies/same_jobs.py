"""Whether the policies of a study differ, and have the same jobs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from experiments.scenario.assignments import shown
from experiments.scenario.unread import of_jobs
from experiments.studies.definition import Policy
from grid.errors import GridError
from grid.foreign import quoted

if TYPE_CHECKING:
    from experiments.scenario.scenario import Scenario


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
