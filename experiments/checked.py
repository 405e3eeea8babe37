"""Parameters that a user gives, checked: what is wrong is told by key, in one line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pydantic

from experiments.parameters import ALIASES, RANGES, Parameters
from experiments.workload import deadline_classes
from grid.errors import GridError, WorkloadError
from grid.foreign import plain, quoted
from grid.names import meant
from grid.workloads.deadlines import class_table

LISTED = "`metasched validate SCENARIO --all` lists them"
MISSHAPEN = ("missing", "tuple_type", "too_long", "model_type")
"""Errors of which the parameter's own words say more than their kind."""


class ScenarioError(GridError):
    """A scenario that cannot be used; the message names the file and the key."""


def checked(values: Mapping[str, Any], where: str) -> Parameters:
    """Return parameters of these values.

    Raises
    ------
    ScenarioError
        Naming the first key that is unknown or whose value is not accepted.
    """
    for key in values:
        if not key.isprintable():  # nor can pydantic take half a character
            raise ScenarioError(f"{where}: {quoted(key)}: unknown parameter; accepted: a name")
    given = {ALIASES.get(key, key): key for key in values}
    try:
        parameters = Parameters.by_any_name(values)
    except pydantic.ValidationError as failure:
        errors = failure.errors()
        of_one_key = [each for each in errors if each["loc"][0] == errors[0]["loc"][0]]
        # Each branch of a union has its errors: the deepest are those of the branch that is meant.
        error = max(of_one_key, key=lambda each: len(each["loc"]))
        first, *rest = error["loc"]
        place = _place([given.get(str(first), first), *rest])
        if error["type"] == "extra_forbidden" and len(error["loc"]) == 1:
            name = given.get(str(first), str(first))
            known = meant(name, (*Parameters.model_fields, *ALIASES), LISTED)
            raise ScenarioError(f"{where}: {plain(name)}: unknown parameter; {known}") from None
        reasons = dict.fromkeys(
            each["msg"][0].lower() + each["msg"][1:]
            for each in of_one_key
            if _place(each["loc"]) == _place(error["loc"]) and each["type"] not in MISSHAPEN
        )
        reason = " or ".join(reasons)
        if error["type"] in MISSHAPEN:
            words = (Parameters.model_fields[str(error["loc"][0])].description or "").split()
            reason = f"accepted: {' '.join(words)}"[:-1]
        raise ScenarioError(f"{where}: {place}: found {quoted(error['input'])}; {reason}") from None
    for low, high in RANGES:
        least, most = getattr(parameters, low), getattr(parameters, high)
        if most < least:
            named = parameters.called(high)
            accepted = f"from {parameters.called(low)}, {least}"
            raise ScenarioError(f"{where}: {named}: found {most}; accepted: {accepted}")
    most = parameters.max_runtime
    if parameters.runtimes == "bounded-pareto" and most == parameters.min_runtime:
        raise ScenarioError(
            f"{where}: max_runtime: found {most}; accepted: above min_runtime, {most}"
        )
    try:
        class_table(deadline_classes(parameters))
    except WorkloadError as error:
        raise ScenarioError(f"{where}: service_classes: {error}") from None
    return parameters


def _place(location: Sequence[str | int]) -> str:
    """Return the place of an error as a user writes it."""
    return ".".join(str(part) for part in location if not _is_branch(str(part)))


def _is_branch(part: str) -> bool:
    """Tell whether a part of an error's place names a branch of a union, not a key."""
    return not part.isdigit() and part not in Parameters.model_fields and not part.isidentifier()
