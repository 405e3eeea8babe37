"""Metrics of a user's own: functions that make a number of a result, by name."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from numbers import Real
from typing import TYPE_CHECKING, TypeAlias

from agents.registry import module_of
from grid.errors import GridError

if TYPE_CHECKING:
    from experiments.results import Result

Metric: TypeAlias = "Callable[[Result], float | None]"
"""Returns a number of a finished run, or None (or NaN) where nothing defines one."""


def own_metric(name: str) -> Metric:
    """Return a user's metric.

    Parameters
    ----------
    name : str
        ``module:function``, with the module importable from the current folder.

    Raises
    ------
    GridError
        If there is none of that name.
    """
    module, _, function = name.partition(":")
    if not function or module[:1] in ("", "."):
        raise GridError(f"metric {name!r}: unknown; accepted: module:function")
    found = getattr(module_of("metric", name, module), function, None)
    if not callable(found):
        raise GridError(
            f"metric {name!r}: module {module!r} has no function {function!r}; accepted: one that "
            "takes an experiments.results.Result"
        )
    metric: Metric = found
    return metric


def measured(
    result: Result, names: Sequence[str], taken: Collection[str]
) -> dict[str, float | None]:
    """Return what metrics make of a result, by the names of their functions.

    Parameters
    ----------
    result : Result
        With its jobs.
    names : sequence of str
        As `own_metric` takes them.
    taken : collection of str
        Names that a result has already.

    Raises
    ------
    GridError
        For a name that is there twice, or a metric that is no number.
    """
    found: dict[str, float | None] = {}
    for name in names:
        function = name.partition(":")[2]
        if function in taken or function in found:
            raise GridError(f"metric {name!r}: {function} is there already; accepted: a new name")
        value = own_metric(name)(result)
        if value is not None and (isinstance(value, bool) or not isinstance(value, Real)):
            raise GridError(f"metric {name!r}: found {value!r}; accepted: a number, or None")
        number = math.nan if value is None else float(value)
        found[function] = number if math.isfinite(number) else None
    return found
