"""Where scenarios are: those that come with the product, by name, and users' own, by path."""

from __future__ import annotations

import os
from importlib import resources
from pathlib import Path

from experiments.scenario.checked import ScenarioError
from grid.foreign import quoted
from grid.names import meant

PACKAGED = Path(str(resources.files("experiments") / "scenarios"))
SUFFIXES = (".toml", ".py")


def is_packaged(path: Path) -> bool:
    """Tell whether a file is that of a scenario that comes with the product."""
    return path.parent == PACKAGED


def scenario_file(name: str | os.PathLike[str]) -> Path:
    """Return the file of a scenario, packaged or a user's, as `Scenario.load` takes it.

    Raises
    ------
    ScenarioError
        If it is neither the name of one nor the path of a file that is there and can be one.
    """
    known = "`metasched scenarios` lists them; or the path of a .toml or .py file"
    if not isinstance(name, str | os.PathLike):
        raise ScenarioError(f"scenario: found {quoted(name)}; accepted: a name; {known}")
    name = os.fspath(name)
    packaged = [PACKAGED / f"{name}{suffix}" for suffix in SUFFIXES]
    path = next((each for each in packaged if os.path.isfile(each)), Path(name))
    if path.suffix not in SUFFIXES and os.path.isfile(path):
        raise ScenarioError(
            f"scenario {quoted(name)}: a file of another kind; accepted: a name; {known}; a log is "
            "given with --workload, as to the scenario site"
        )
    if path.suffix not in SUFFIXES:
        raise ScenarioError(
            f"scenario {quoted(name)}: unknown; {meant(name, packaged_names(), known)}"
        )
    if not os.path.isfile(path):
        lacks = "found no file" if os.path.exists(path) else "no such file"
        raise ScenarioError(f"{path}: {lacks}; accepted: a name; {known}")
    return path


def packaged_names() -> list[str]:
    """Return the names of the scenarios that come with the product."""
    files = (Path(file.name) for file in PACKAGED.iterdir())
    return sorted(file.stem for file in files if file.suffix in SUFFIXES)
