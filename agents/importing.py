"""Import modules of users, which lie beside their scenarios or in the current folder.

A file of a user's must not stand in for a module that others mean: `grid.py` or `random.py` beside
a scenario is imported neither by this product nor by Python's own modules, here or in a process
that is started.
"""

from __future__ import annotations

import ast
import importlib
import os
import sys
import threading
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import resolve_name
from pathlib import Path
from types import ModuleType
from typing import Any

from grid.errors import GridError
from grid.foreign import quoted
from grid.names import meant

CODE = Path(__file__).resolve().parents[1]
"""The folder of the packages of this product."""
OURS = ("agents", "experiments", "grid", "metasched")

NAMED = "accepted: the name of a Python file, without .py"

_one_at_a_time = threading.RLock()
_folders: list[str] = []
"""Those that were added for users, in the order in which they are searched."""


class _Reserved(MetaPathFinder):
    """Finds modules of Python and of this product where they are installed."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return where such a module is; None of any other, which is searched for as usual."""
        if name in OURS:
            return PathFinder.find_spec(name, [str(CODE)])
        if name in sys.stdlib_module_names:
            return PathFinder.find_spec(name, [each for each in sys.path if each not in _folders])
        return None


def importable_from(folder: Path) -> None:
    """Have the modules in a folder found before all others, as Python does for a script's own.

    Those of Python and of this product are found before them, unless Python itself searches there.
    """
    path = str(folder.resolve())
    if path not in sys.path or path in _folders:
        _folders[:] = [path, *(each for each in _folders if each != path)]
    sys.path[:] = [path, *(each for each in sys.path if each != path)]
    if not any(isinstance(finder, _Reserved) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Reserved())


def check_no_path(kind: str, name: str, module: str) -> None:
    """Raise `GridError` for a path where a name of a kind of thing has that of a module."""
    path = Path(module)
    if path.name != module:
        accepted = f"accepted: the name of a Python file, without folders and .py: {path.stem}"
        raise GridError(f"{kind} {quoted(name)}: found a path; {accepted}")


def module_of(kind: str, name: str, module: str) -> ModuleType:
    """Return the module that a name of a kind of thing is in, also one of the current folder.

    Raises
    ------
    GridError
        If there is no such module, or its file is no text.
    """
    check_no_path(kind, name, module)
    if str(Path.cwd()) not in sys.path:
        importable_from(Path.cwd())
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if not f"{module}.".startswith(f"{error.name}."):
            raise
        there = [path.stem for each in _folders for path in Path(each).glob("*.py")]
        known = instead_of(module) or f"; {meant(module, there, NAMED)}"
        raise GridError(f"{kind} {name!r}: no module {module!r}{known}") from None
    except SyntaxError:
        own = _own_file(module)
        if own is not None and b"\0" in own.read_bytes():  # of which Python does not say where
            raise GridError(f"{own}: found a null byte; accepted: Python") from None
        raise


def own_files(modules: Iterable[str]) -> dict[str, str]:
    """Return the files of users' modules, and of all that their `import` statements name.

    Installed packages are left out, but for those that the modules are of.

    Parameters
    ----------
    modules : iterable of str
        Their names; nothing is imported.

    Returns
    -------
    dict of str to str
        Paths, by what tells files from each other wherever they lie: ``package/module.py``.
    """
    left, seen, found = [*modules], {""}, {}
    tops = {each.partition(".")[0] for each in left}
    while left:
        name = left.pop()
        top = name.partition(".")[0]
        if name in seen or top in (*OURS, *sys.stdlib_module_names):
            continue
        seen.add(name)
        left.append(name.rpartition(".")[0])
        spec = _spec(name)
        if spec is None or spec.origin is None or not os.path.isfile(spec.origin):
            continue
        parts = Path(spec.origin).parts
        if top in tops or {"site-packages", "dist-packages"}.isdisjoint(parts):
            package = spec.submodule_search_locations is not None
            found["/".join(parts[-name.count(".") - 1 - package :])] = spec.origin
            left.extend(_imported(spec.origin, spec.parent))
    return found


def _spec(name: str) -> ModuleSpec | None:
    """Return where a module is, without importing the packages that it is in; None if nowhere."""
    if name in sys.modules:
        return getattr(sys.modules[name], "__spec__", None)
    above, _, last = name.rpartition(".")
    package = _spec(above) if above else None
    path = None if package is None else package.submodule_search_locations
    if above and path is None:
        return None
    try:
        return PathFinder.find_spec(name, path)
    except KeyError:  # a package without a file, in one that is not loaded
        spec = ModuleSpec(name, None, is_package=True)
        spec.submodule_search_locations = [os.path.join(each, last) for each in path or ()]
        return spec


def _imported(file: str, package: str | None) -> Iterator[str]:
    """Yield what may be a module among the names that a file of a package imports."""
    tree = ast.Module([], [])
    with warnings.catch_warnings(), suppress(OSError, SyntaxError, ValueError):
        warnings.simplefilter("ignore")  # which importing it tells
        tree = ast.parse(Path(file).read_bytes())
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            with suppress(ImportError):
                module = resolve_name("." * node.level + (node.module or ""), package)
                yield from (module, *(f"{module}.{each.name}" for each in node.names))


def instead_of(module: str) -> str:
    """Return words on a user's file that is not what a name means; none if there is no such."""
    top = module.partition(".")[0]
    if top not in (*OURS, *sys.stdlib_module_names):
        return ""
    own = _own_file(top)
    whose = "metasched" if top in OURS else "Python"
    return "" if own is None else f" ({own} needs another name: {top} is a module of {whose})"


def classes_in(module: str) -> list[str] | None:
    """Return the classes that a user's file defines, which is not run; None if there is no file."""
    own = _own_file(module) if module.isidentifier() else None
    if own is None:
        return None
    with suppress(OSError, SyntaxError, ValueError):
        found = ast.parse(own.read_bytes()).body
        return [each.name for each in found if isinstance(each, ast.ClassDef)]
    return []


def _own_file(module: str) -> Path | None:
    """Return the file that a module of a user's would be found in."""
    file = beside_scenarios(f"{module}.py")
    return file if os.path.isfile(file) else None


def beside_scenarios(path: str) -> Path:
    """Return where a file is: beside a user's scenario, or else in the current folder."""
    files = (folder / path for folder in map(Path, _folders))
    return next((each for each in files if os.path.isfile(each)), Path(path))


class Paths:
    """Where modules are searched for, so also in the process that unpickles it from then on.

    That is as it was when it was made: it is pickled in the midst of `starting_processes`.
    """

    def __init__(self) -> None:
        folders, path = searched()
        self._searched = [*folders], [*path]

    def __reduce__(self) -> tuple[Any, ...]:
        return search, self._searched


def search(folders: Sequence[str], path: Sequence[str]) -> None:
    """Search for modules as another process does, in users' folders and all others."""
    sys.path[:] = path
    for folder in reversed(folders):
        _folders.insert(0, folder)
        importable_from(Path(folder))
    sys.path[:] = path


def searched() -> tuple[list[str], list[str]]:
    """Return what `search` takes to search as this process does."""
    return _folders, sys.path


def path_without_users() -> list[str]:
    """Return the path of modules without the folders that were added for users."""
    users = {*_folders} - {str(CODE)}
    return [each for each in sys.path if str(Path(each).resolve()) not in users]


@contextmanager
def starting_processes() -> Iterator[None]:
    """Have Python processes that are started begin with `path_without_users`.

    What they unpickle after `Paths` may be of users' modules.
    """
    with _one_at_a_time:
        path, safe = [*sys.path], os.environ.get("PYTHONSAFEPATH")
        sys.path[:] = path_without_users()
        os.environ["PYTHONSAFEPATH"] = "1"
        try:
            yield
        finally:
            sys.path[:] = path
            os.environ.pop("PYTHONSAFEPATH")
            if safe is not None:
                os.environ["PYTHONSAFEPATH"] = safe
