"""The source files of `grid` and `agents`, and digests that tell versions of them apart."""

from __future__ import annotations

import functools
import hashlib
import re
import time
from pathlib import Path

import numba

PACKAGES = ("grid", "agents")
"""Where compiled code is, and what it is made of."""


def sources_digest(root: Path) -> str:
    """Return a digest of every source file of `grid` and `agents` below a folder.

    All of them count: compiled code reads constants from modules that hold none itself.
    """
    digest = hashlib.sha256(numba.__version__.encode())
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


_LOADED = time.time()
_ROOT = Path(__file__).resolve().parents[1]
_IMPORTS = re.compile(
    r"^[ \t]*(?:from[ \t]+((?:grid|agents)[\w.]*)[ \t]+import[ \t]*(\([^)]*\)|.*)"
    r"|import[ \t]+((?:grid|agents)[\w.]*))",
    re.MULTILINE,
)


@functools.cache
def _imported(path: Path, root: Path) -> set[Path]:
    """Return the files of `grid` and `agents` that a source file imports anywhere in it."""
    found = set()
    for package, names, module in _IMPORTS.findall(path.read_text(encoding="utf-8")):
        above = (package or module).replace(".", "/")
        parts = [f"{above}/{name}" for name in re.findall(r"\w+", names)]
        for each in (above, *parts):
            found.update({root / f"{each}.py", root / each / "__init__.py"})
    return {each for each in found if each.is_file()}


def made_of(path: Path, root: Path = _ROOT) -> set[Path]:
    """Return a source file of `grid` or `agents` with all that it imports there, or they do."""
    known, found = {path}, [path]
    while found:
        new = _imported(found.pop(), root) - known
        known |= new
        found.extend(new)
    return known


def module_digest(path: Path, root: Path = _ROOT) -> str:
    """Return a digest of all that compiled code of a source file can be made of.

    Constants count, which come from modules that hold no compiled code. It is the same wherever
    the packages are installed.
    """
    digest = hashlib.sha256(numba.__version__.encode())
    for each in sorted(made_of(path, root)):
        digest.update(f"{each.relative_to(root)}\n".encode() + each.read_bytes())
    return digest.hexdigest()[:16]


def has_changed(path: Path, root: Path = _ROOT) -> bool:
    """Return whether what a file is made of may be other code by now than that which was loaded."""
    return max(each.stat().st_ctime for each in made_of(path, root)) > _LOADED


@functools.cache
def all_sources() -> str:
    """Return the digest of the sources that are running."""
    return sources_digest(_ROOT)


def is_ours(path: Path) -> bool:
    """Return whether a file is a source of `grid` or `agents`."""
    return path.is_relative_to(_ROOT) and path.relative_to(_ROOT).parts[0] in PACKAGES
