"""Files that parameters name: where they lie, and what else they lead to."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from grid.settings import declared

Leads = Callable[[str], Sequence[str]]


def alone(path: str) -> Sequence[str]:
    """Return a file that leads to no other."""
    return (path,)


def texts(value: Any) -> list[str]:
    """Return the texts, but for empty ones, that a parameter is, or that are in its table.

    >>> texts("a.csv"), texts({"C1": "a.csv", "C2": 3}), texts(3), texts("")
    (['a.csv'], ['a.csv'], [], [])
    """
    each = value.values() if isinstance(value, Mapping) else [value]
    return [of for of in each if isinstance(of, str) and of]


def files_of(values: Mapping[str, Any], kinds: Iterable[Any]) -> list[str]:
    """Return the files that parameters name, and those that these lead to, each once.

    Parameters
    ----------
    values : mapping
        Parameters by name.
    kinds : iterable of type
        The settings that declare which of them name files.
    """
    named = _naming(kinds)
    paths = [
        path
        for name, leads in named.items()
        for text in texts(values.get(name))
        for path in leads(text)
    ]
    return list(dict.fromkeys(paths))


def located(values: Mapping[str, Any], kinds: Iterable[Any], folder: Path) -> dict[str, Any]:
    """Return parameters in which files are relative to where the command runs.

    Parameters
    ----------
    values, kinds
        As for `files_of`.
    folder : Path
        To which files that they name are relative.
    """
    named = _naming(kinds)

    def path_of(given: Any) -> Any:
        if isinstance(given, str) and given:
            return os.fspath(folder / given)
        if isinstance(given, Mapping):
            return {name: path_of(each) for name, each in given.items()}
        return given

    return {name: path_of(given) if name in named else given for name, given in values.items()}


def _naming(kinds: Iterable[Any]) -> dict[str, Leads]:
    """Return the parameters that name files, and what each file leads to."""
    return {
        name: each.setting.files
        for kind in kinds
        for name, each in declared(kind).items()
        if each.setting.files is not None
    }
