"""Metrics of a user's own: functions that make a number of a result, by name."""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from numbers import Real
from typing import Any, TypeAlias

from agents.importing import instead_of, module_of
from experiments.cli.users_errors import in_a_line, is_whole, told, warn
from experiments.show.labels import METRICS, TABLES
from grid.errors import GridError
from grid.foreign import one_line, quoted
from grid.names import meant

OF_RUNS = {
    *("policy", "workload", "replication", "seed", "completed", "rejected", "unfinished", "stable"),
    *("rank", "n", "mean", "half_width", "difference", "better", "worse", "surely_worse"),
    *("parameter", "from", "to", "lower", "higher", "surely_changes", "unstable"),
    *("drew", "all_left_at", "thrown_back", "never_heard", "too_large"),
}
"""Columns that tables of several runs have beside metrics."""
TAKEN = {*METRICS, *OF_RUNS, *TABLES, "cp_basis", "saturated"}
"""Names of metrics that are not a user's own."""

Metric: TypeAlias = Callable[[Any], float | None]
"""Returns a finite number of a finished run, or None (or NaN) where nothing defines one."""
TAKES_RESULT = "accepted: a function of one argument, a metasched.Result"

FAILED = "failed/"
"""Of a metric of the user's own that failed there is a column that begins so."""


def own_metric(name: str) -> Metric:
    """Return a user's metric.

    Parameters
    ----------
    name : str
        ``module:function``, with the module importable from the current folder.

    Raises
    ------
    GridError
        If there is none of that name, or it is no function of a result.
    """
    module, _, function = name.partition(":")
    if not module or not function:
        raise GridError(f"metric {name!r}: unknown; accepted: module:function")
    home = module_of("metric", name, module)
    found = getattr(home, function, None)
    if not callable(found):
        own = [key for key, each in vars(home).items() if inspect.isfunction(each)]
        known = meant(function, own, TAKES_RESULT)
        raise GridError(
            f"metric {name!r}: module {module!r} has no function {function!r}{instead_of(module)}; "
            f"{known}"
        )
    if inspect.isclass(found):
        raise GridError(f"metric {name!r}: found a class; {TAKES_RESULT}")
    if (taken := _arguments(found)) is not None:
        raise GridError(f"metric {name!r}: found {function}{taken}; {TAKES_RESULT}")
    metric: Metric = found
    return metric


def _arguments(found: Callable[..., object]) -> inspect.Signature | None:
    """Return what a function takes if it cannot be called with one argument."""
    try:
        taken = inspect.signature(found)
    except (TypeError, ValueError):  # of some that are compiled nothing is known
        return None
    try:
        taken.bind(None)
    except TypeError:
        return taken
    return None


def check_names(names: Sequence[str]) -> None:
    """Raise `GridError` for a metric that cannot be found, or is named as another is."""
    found = {*TAKEN}
    for name in names:
        own_metric(name)
        function = name.partition(":")[2]
        if function in found:
            raise GridError(f"metric {name!r}: {function} is there already; accepted: a new name")
        found.add(function)


def measured(
    result: Callable[[], object], names: Sequence[str]
) -> tuple[dict[str, float | None], dict[str, BaseException]]:
    """Return what metrics make of a result, and what those raised that failed.

    Parameters
    ----------
    result : callable
        Makes the result that a metric gets, which it may change.
    names : sequence of str
        As `check_names` takes them.

    Returns
    -------
    dict of str to float or None
        By the names of their functions; None of one that failed.
    dict of str to exception
        By their names.
    """
    found: dict[str, float | None] = {}
    failures: dict[str, BaseException] = {}
    for name in names:
        number = math.nan
        try:
            number = _number(own_metric(name)(result()))
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            failures[name] = error
        found[name.partition(":")[2]] = None if math.isnan(number) else number
    return found, failures


def _number(value: object) -> float:
    """Return what a metric returned as a number, NaN for None.

    Raises
    ------
    GridError
        If it is neither a number that files can hold, nor None.
    """
    number = math.nan if value is None else math.inf
    if isinstance(value, Real) and not isinstance(value, bool):
        with suppress(OverflowError):
            number = float(value)
    if math.isinf(number):
        raise GridError(f"found {quoted(value)}; accepted: a finite number, None or NaN")
    return number


def tell_failures(failures: Mapping[str, BaseException], where: str = "; it is null") -> None:
    """Say on standard error, in a line each, which metrics failed, of what, and what of it."""
    for name, error in failures.items():
        line = one_line(f"metric {name}: {in_a_line(error)}{where}")
        warn(line)
        if is_whole():
            print(told(error), end="", file=sys.stderr)
