"""Who decides: global schedulers, local schedulers and the brokers between them.

Mesa, of which they are agents, is imported here first: without what it imports for tables and for
spaces, which comes when it is used.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import FrameType, ModuleType
from typing import Any

LATER = ("pandas", "scipy.spatial", "scipy.spatial.distance")
"""Modules that Mesa imports and that no run needs: half the time of its import."""


class _Later(ModuleType):
    """A module that is imported as soon as something of it is used."""

    importing = True

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)

        def used(*given: Any, **named: Any) -> Any:
            return getattr(import_module(self.__name__), name)(*given, **named)

        # `from ... import name` asks for it, too: what is called later can wait.
        return used if self.importing else getattr(import_module(self.__name__), name)


@contextmanager
def _without() -> Iterator[None]:
    """Have others import what is `LATER` when they use it, and find out soon who asks them.

    Mesa's loggers are named for the modules that make them, for which `inspect` would read the
    source of all callers and look through all modules: a quarter of the time of its import.
    """
    later = {name: _Later(name) for name in LATER if name not in sys.modules}
    stack, module_of = inspect.stack, inspect.getmodule

    def quick_stack(context: int = 1) -> Any:
        return [(sys._getframe(1),), (sys._getframe(2),)]

    def quick_module(found: object, file: str | None = None) -> ModuleType | None:
        if isinstance(found, FrameType):
            return sys.modules[found.f_globals["__name__"]]
        return module_of(found, file)

    sys.modules.update(later)
    inspect.stack, inspect.getmodule = quick_stack, quick_module  # type: ignore[assignment]
    try:
        yield
    finally:
        inspect.stack, inspect.getmodule = stack, module_of
        for name, module in later.items():
            module.importing = False
            del sys.modules[name]


def _import_mesa() -> None:
    import networkx  # noqa: F401  # as a whole, before anything is put off
    import numpy  # noqa: F401

    try:
        with _without():
            import_module("mesa")
    except Exception:  # one that uses them while it is imported: as any other module, then
        for name in [each for each in sys.modules if each.partition(".")[0] == "mesa"]:
            del sys.modules[name]


if "mesa" not in sys.modules:
    _import_mesa()
