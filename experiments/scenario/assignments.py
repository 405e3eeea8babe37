"""Parameters of a scenario as people set them: ``name=value``, in texts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from experiments.scenario.checked import ScenarioError
from grid.errors import GridError
from grid.foreign import plain, quoted
from grid.strict import json_of, toml_of

_EXACT = 1e15
"""Whole numbers below are told by all of their digits."""


def read_settings(settings: str | Sequence[str], where: str) -> dict[str, Any]:
    """Return values by name: the last one of a name counts, and comes last.

    Parameters
    ----------
    settings : str or sequence of str
        One, or some.
    where : str
        Where they come from, for messages.

    Raises
    ------
    ScenarioError
        For what is no ``name=value``, or a list or table that is none in TOML or JSON.

    Examples
    --------
    >>> read_settings(["load = 0.9", "mode=open", "load=0.8"], "--set")
    {'mode': 'open', 'load': 0.8}
    """
    given: dict[str, Any] = {}
    is_one = isinstance(settings, str) or not isinstance(settings, Iterable)
    for setting in [settings] if is_one else settings:
        if not (isinstance(setting, str) and "=" in setting):
            raise ScenarioError(f"{where}: found {quoted(setting)}; accepted: name=value")
        key, _, text = setting.partition("=")
        if not key.strip():
            raise ScenarioError(f"{where}: found {quoted(setting)}; accepted: name=value")
        given.pop(key.strip(), None)
        value = given[key.strip()] = _value(text.strip())
        if isinstance(value, str) and value[:1] + value[-1:] in ("[]", "{}"):
            what = "list" if value[0] == "[" else "table"
            raise ScenarioError(
                f"{where}: {plain(key.strip())}: found {quoted(value)}; accepted: a {what} as in "
                "TOML or JSON, texts in quotes that the shell leaves there: '[\"C1\"]'"
            )
    return given


def _value(text: str) -> Any:
    """Return the value that `text` is in TOML, or in JSON as it is shown, or `text` itself."""
    with suppress(GridError):
        table = toml_of(f"value = {text}", "value")
        return table["value"] if len(table) == 1 else text
    with suppress(GridError):
        return json_of(text, "value")
    return text


def shown(value: object) -> str:
    """Return the value of a parameter as ``--set`` takes it, whatever kind of number a table has.

    >>> shown(30_000_000.0), shown(0.5), shown([1.0, 2.5]), shown("open"), shown(True)
    ('30000000', '0.5', '[1, 2.5]', 'open', 'true')
    """
    return value if isinstance(value, str) else json.dumps(_whole(value))


def _whole(value: Any) -> Any:
    """Return whole numbers as such, in lists and tables too."""
    if isinstance(value, Mapping):
        return {key: _whole(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_whole(each) for each in value]
    value = value.item() if isinstance(value, np.generic) else value
    is_whole = isinstance(value, float) and value.is_integer() and abs(value) < _EXACT
    return int(value) if is_whole else value
