"""The fields of a scenario, checked: what is none is told by the field's name, in one line."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any

from agents.schedulers import GlobalScheduler, LocalScheduler
from experiments.scenario.checked import ScenarioError
from experiments.scenario.parameters import Parameters
from grid.foreign import quoted
from grid.platform.multicluster import Platform

OUTPUTS = ("seed_schedules",)
"""What a result can hold beside the usual."""
LISTS = {"outputs": ", ".join(OUTPUTS), "own_metrics": "module:function"}
"""Fields that are lists, and of what."""

SITES = "SITE=FILE, or one file"
"""What the workload is a list of, if it is one."""


class GivenParameters:
    """To type checkers: may be given as a mapping, and are `Parameters` once a scenario is made."""

    def __get__(self, of: object, kind: type) -> Parameters:
        raise NotImplementedError

    def __set__(self, of: object, value: Parameters | Mapping[str, Any]) -> None: ...


def check_fields(given: Mapping[str, Any]) -> None:
    """Raise `ScenarioError` for a field of a scenario that cannot be what it is given as."""
    where = f"{given['name']}"
    for key in ("name", "title", "paper"):
        _require(isinstance(given[key], str), where, key, given[key], "a string")
    platform, parameters = given["platform"], given["parameters"]
    read = "a Platform (grid.platform.reading.read_platform reads one from a file)"
    _require(isinstance(platform, Platform), where, "platform", platform, read)
    of_parameters = isinstance(parameters, Parameters | Mapping)
    _require(of_parameters, where, "parameters", parameters, "values of parameters by name")
    for key, base in (("global_scheduler", GlobalScheduler), ("local_scheduler", LocalScheduler)):
        found = given[key]
        known = isinstance(found, str) or (isinstance(found, type) and issubclass(found, base))
        accepted = f"a name, module:Class, or a subclass of agents.schedulers.{base.__name__}"
        _require(known, where, key, found, accepted)
    for key, of in LISTS.items():
        strings(given[key], key, of, where)
    known = all(each in OUTPUTS for each in given["outputs"])
    _require(known, where, "outputs", given["outputs"], f"a list of {LISTS['outputs']}")
    logs = given["workload"]
    one = isinstance(logs, str | os.PathLike | None)
    paths = [logs or ""] if one else strings(logs, "workload", SITES, where)
    named = logs != "" and not any("\0" in os.fspath(path) for path in paths)
    _require(named, where, "workload", logs, f"{SITES}, or None")


def strings(found: Any, key: str, of: str, where: str) -> tuple[str, ...]:
    """Return texts in a list.

    Raises
    ------
    ScenarioError
        If it is none, or not of texts alone.
    """
    is_list = isinstance(found, Sequence) and not isinstance(found, str)
    texts = is_list and all(isinstance(each, str) for each in found)
    _require(texts, where, key, found, f"a list of {of}")
    return tuple(found)


def whole_seed(seed: object, where: str) -> int:
    """Return a seed as Python's own number, whatever kind it is of.

    Raises
    ------
    ScenarioError
        If it is no whole number from 0.
    """
    number = int(seed) if isinstance(seed, Integral) and not isinstance(seed, bool) else -1
    _require(number >= 0, where, "seed", seed, "a whole number from 0")
    return number


def _require(holds: bool, where: str, key: str, found: object, accepted: str) -> None:
    if not holds:
        raise ScenarioError(f"{where}: {key}: found {quoted(found)}; accepted: {accepted}")
