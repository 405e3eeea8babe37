"""Parameters that a user gives, checked: what is wrong is told by key, in one line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pydantic

from agents.registry import built_in_kinds, kinds_of, predictor
from agents.schedulers import Scheduler
from agents.selection import JobSelection
from experiments.scenario.jobs import deadline_classes
from experiments.scenario.meanings import meaning
from experiments.scenario.parameters import (
    ALIASES,
    RANGES,
    TABLES,
    Parameters,
    names_of_one,
    with_settings,
)
from grid.accepted import accepted, place_of
from grid.errors import GridError, WorkloadError
from grid.foreign import plain, quoted
from grid.names import meant
from grid.platform.distance import DistanceCosts
from grid.platform.energy import EnergySettings
from grid.settings import declared, in_words
from grid.workloads.deadlines import class_table

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

LISTED = "`metasched validate SCENARIO --all` lists them"
MISSHAPEN = ("missing", "tuple_type", "too_long", "model_type")
"""Errors of which the parameter's own words say more than their kind."""

INSTEAD = {
    "seed": "accepted: beside the scenario, which runs with any seed: the option or argument seed, "
    "or the key seed of a study",
    "platform": "accepted: [[clusters]] in the scenario's file, the option of that name, or the "
    "key platform of a study",
    "workload": "accepted: before the tables of the scenario's file, the option of that name, or "
    "the table [workloads] of a study",
} | {
    key: "accepted: before the tables of the scenario's file, the option of that name, the field "
    f"{level}_scheduler, or the table [policies] of a study"
    for level in ("global", "local")
    for key in (level, f"{level}_scheduler")
}
"""Of names that one might expect: how to say what they would, in a shell, a file or Python."""

OF_ALL = (JobSelection, DistanceCosts, EnergySettings)
"""Settings of the grid and of all global schedulers."""


class ScenarioError(GridError):
    """A scenario that cannot be used; the message names the file and the key."""


def kinds_for(
    names: Iterable[str],
    schedulers: Sequence[type[Scheduler]] = (),
    others: Iterable[Any] = (),
) -> tuple[Any, ...]:
    """Return the settings of which there are parameters.

    Parameters
    ----------
    names : iterable of str
        Of parameters that are given.
    schedulers : sequence of type
        The policies in use: what they can be set to, and what the built-in ones can.
    others : iterable of type
        Settings of other policies: those of which a parameter is given that is not known else.
    """
    kinds = dict.fromkeys((*OF_ALL, *built_in_kinds(), *kinds_of(*schedulers)))
    unknown = {*names}.difference(Parameters.model_fields, *map(declared, kinds))
    for kind in others:
        if unknown & declared(kind).keys():
            kinds[kind] = None
            unknown.difference_update(declared(kind))
    return tuple(kinds)


def plain_values(parameters: Parameters, schedulers: Sequence[type[Scheduler]]) -> dict[str, Any]:
    """Return the value of each parameter that these policies can be given with, ready for JSON.

    Without those of users' policies that are not in use, whose names no reader would know.
    """
    known = with_settings(kinds_for((), schedulers)).model_fields
    return parameters.model_dump(mode="json", include={*known})


def checked(
    values: Mapping[str, Any],
    where: str,
    schedulers: Sequence[type[Scheduler]] = (),
    others: Iterable[Any] = (),
    imports: bool = True,
    new: Iterable[str] | None = None,
) -> Parameters:
    """Return parameters of these values; `schedulers` and `others` are those of `kinds_for`.

    Code of users that is named is looked at, unless it is not to be imported. `new` are those that
    are given at `where`, None: all.

    Raises
    ------
    ScenarioError
        Naming the first key that is unknown or whose value is not accepted.
    """
    kind = with_settings(kinds_for(values, schedulers, others))
    for key in values:
        if not key.isprintable():  # nor can pydantic take half a character
            raise ScenarioError(f"{where}: {quoted(key)}: unknown parameter; accepted: a name")
    if both := names_of_one(values):
        raise ScenarioError(f"{where}: {both}")
    given = {ALIASES.get(key, key): key for key in values}
    try:
        parameters = kind.by_any_name(values)
    except pydantic.ValidationError as failure:
        raise ScenarioError(f"{where}: {_told(failure.errors(), given, kind)}") from None
    if imports and isinstance(parameters.prediction, str):
        try:
            predictor(parameters.prediction)
        except GridError as error:
            raise ScenarioError(f"{where}: {error}") from None
    given_here = {ALIASES.get(key, key) for key in (given.values() if new is None else new)}
    for low, high in RANGES:
        least, most = getattr(parameters, low), getattr(parameters, high)
        apart = high == "max_runtime" and parameters.runtimes == "bounded-pareto"
        if most < least or (apart and most == least):
            ends = (high, most, "above" if apart else "from"), (low, least, "up to")
            if low in given_here and high not in given_here:  # which is what is wrong then
                ends = (low, least, "below" if apart else "up to"), ends[0]
            (name, found, bound), (other, limit, _) = ends
            raise ScenarioError(
                f"{where}: {parameters.called(name)}: found {found}; accepted: {bound} "
                f"{parameters.called(other)}, {limit}"
            )
    try:
        class_table(deadline_classes(parameters))
    except WorkloadError as error:
        raise ScenarioError(f"{where}: service_classes: {error}") from None
    return parameters


def merged(
    before: Parameters, given: Mapping[str, Any], where: str, without: Iterable[str] = ()
) -> dict[str, Any]:
    """Return the values of parameters that were given, with others in their place, by name.

    Parameters
    ----------
    before : Parameters
    given : mapping of str to Any
    where : str
        Where these come from, for messages.
    without : iterable of str
        Parameters whose values are left out.

    Raises
    ------
    ScenarioError
        If one is given by two names.
    """
    if both := names_of_one(given):
        raise ScenarioError(f"{where}: {both}")
    gone = {*without, *(ALIASES.get(key, key) for key in given)}
    kept = {key: of for key, of in before.given().items() if ALIASES.get(key, key) not in gone}
    return kept | dict(given)


def check_smallest(parameters: Parameters, largest: int) -> None:
    """Refuse synthetic jobs of which none fits clusters that hold a job of so many processors."""
    if (least := parameters.min_size) > largest:
        raise ScenarioError(
            f"{parameters.called('min_size')}: found {least}; accepted: at most {largest}, the "
            "largest job that the clusters can hold"
        )


def check_warmup(parameters: Parameters, jobs: int) -> None:
    """Refuse a warm-up that leaves out all jobs of a run."""
    if 0 < jobs <= (found := parameters.warmup):
        raise ScenarioError(
            f"warmup: found {found}; accepted: a whole number below {jobs}, the jobs of the run"
        )


@contextmanager
def naming(where: str, parameters: Parameters, sources: Mapping[str, str]) -> Iterator[None]:
    """Have errors that begin with the name of a parameter say first where it was given.

    That is at `where`, unless `sources` have another place.
    """
    try:
        yield
    except GridError as error:
        first = str(error).partition(" ")[0].rstrip(":")
        if first not in type(parameters).model_fields and first not in ALIASES:
            raise
        place = sources.get(ALIASES.get(first, first), where)
        raise ScenarioError(f"{place}: {error}") from error


def _told(
    errors: Sequence[ErrorDetails], given: Mapping[str, str], all_of: type[Parameters]
) -> str:
    """Return the first of pydantic's errors in a line of ours.

    Parameters
    ----------
    errors : sequence of dict
    given : mapping of str to str
        Names as they were given, by parameter.
    all_of : type
        The class of all parameters.
    """
    of_one_key = [each for each in errors if each["loc"][0] == errors[0]["loc"][0]]
    # Each branch of a union has its errors: the deepest are those of the branch that is meant. Of
    # one that takes lists of lists, a list's first number says no more than that it is another.
    # What is missing may be there by a wrong name, which says more.
    error = max(
        of_one_key,
        key=lambda each: (
            len(each["loc"]) - (each["type"] == "tuple_type"),
            each["type"] == "extra_forbidden",
        ),
    )
    parameter, kind = str(error["loc"][0]), error["type"]
    key, rest = given.get(parameter, parameter), error["loc"][1:]
    if kind == "extra_forbidden" and not rest:
        known = INSTEAD.get(key) or meant(key, (*all_of.model_fields, *ALIASES, *INSTEAD), LISTED)
        return f"{plain(key)}: unknown parameter; {known}"
    if kind == "extra_forbidden":
        known = meant(rest[-1], TABLES[parameter].model_fields)
        return f"{place_of([key, *rest])}: unknown key; {known}"
    reason = ""
    if kind == "missing":
        of_table = [each["loc"] for each in of_one_key if each["loc"][:-1] == error["loc"][:-1]]
        keys = [str(loc[-1]) for loc in of_table if not isinstance(loc[-1], int)]
        rest = rest[:-1]
        if keys:
            known = ", ".join(TABLES[parameter].model_fields)
            reason = f"missing: {', '.join(keys)}; accepted: a table of {known}"
    elif kind not in MISSHAPEN:
        of_place = [each for each in of_one_key if place_of(each["loc"]) == place_of(error["loc"])]
        reason = accepted(
            [each for each in of_place if each["type"] not in MISSHAPEN or _is_no_list(each)]
        )
    own = next(filter(None, (declared(each).get(parameter) for each in all_of.kinds)), None)
    if not reason and own is not None:
        reason = f"accepted: {in_words(own)}"
    if not reason:
        reason = f"accepted: {meaning(parameter, all_of)}"[:-1]
    return f"{place_of([key, *rest])}: found {quoted(error['input'])}; {reason}"


def _is_no_list(error: ErrorDetails) -> bool:
    """Tell whether an error is that a parameter itself, which may be a list, is none."""
    is_list = isinstance(error["input"], list | tuple)
    return error["type"] == "tuple_type" and place_of(error["loc"]).isidentifier() and not is_list
