"""Models of PACE as files: those that are packaged, by name, and others, by path."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from grid.errors import GridError
from grid.foreign import quoted
from grid.names import meant
from grid.strict import text_of, toml_of

MODELS = Path(__file__).parent / "models"


def packaged(kind: str) -> list[str]:
    """Return the names of the packaged models of ``applications`` or ``hardware``.

    Examples
    --------
    >>> "jacobi" in packaged("applications")
    True
    """
    return sorted(path.stem for path in (MODELS / kind).glob("*.toml"))


def named(kind: str, name: str) -> dict[str, Any]:
    """Return the tables of a model: of a file if its name ends with ``.toml``, else a packaged one.

    Raises
    ------
    GridError
        If there is none, or it cannot be read.
    """
    known = packaged(kind)
    if not name.endswith(".toml") and name not in known:
        accepted = f"accepted: {', '.join(known)}, or the path of a .toml"
        raise GridError(f"PACE: {kind}: {quoted(name)}: unknown; {meant(name, known, accepted)}")
    path = Path(name) if name.endswith(".toml") else MODELS / kind / f"{name}.toml"
    return toml_of(text_of(path, f"a model of {kind} in TOML"), str(path))


def checked_keys(
    where: str, table: Mapping[str, Any], required: set[str], optional: set[str]
) -> None:
    """Raise `GridError` for a key that is missing or unknown."""
    for key in table:
        if key not in required | optional:
            raise GridError(
                f"{where}: unknown key {quoted(key)}; {meant(key, sorted(required | optional))}"
            )
    for key in sorted(required - set(table)):
        raise GridError(f"{where}: key {key!r} is missing; required: {', '.join(sorted(required))}")
