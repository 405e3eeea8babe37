"""What a scheduler seeds random number generators with."""

from __future__ import annotations

import pickle
import random
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from experiments.checks.authorship import is_of_author

MAKERS: tuple[tuple[ModuleType, str], ...] = (
    *((random, name) for name in ("Random", "seed")),
    *((np.random, name) for name in ("default_rng", "RandomState", "seed")),
    *((np.random, name) for name in ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")),
)
"""What makes a generator of its arguments, or seeds one that everybody shares."""

Seedings = dict[tuple[str, bytes], str]
"""In words, by where it was done and with what."""


@contextmanager
def seedings(scheduler: type) -> Iterator[Seedings]:
    """Note each generator that code of a scheduler's author makes or seeds, in Python."""
    noted: Seedings = {}
    replaced: list[tuple[ModuleType, str, Any]] = []
    authors = [
        module
        for module in [*sys.modules.values()]
        if is_of_author(getattr(module, "__file__", None) or "", scheduler)
    ]
    for home, name in MAKERS:
        maker = getattr(home, name)
        watched = _watched(maker, f"{home.__name__}.{name}", scheduler, noted)
        for module in [home, *authors]:
            for key in [key for key, value in vars(module).items() if value is maker]:
                replaced.append((module, key, maker))
                setattr(module, key, watched)
    try:
        yield noted
    finally:
        for module, key, maker in replaced:
            setattr(module, key, maker)


def _watched(maker: Any, name: str, scheduler: type, noted: Seedings) -> Callable[..., Any]:
    """Return what does the same as a maker, a class for a class, and notes its author's calls."""

    def note(*given: Any, **named: Any) -> None:
        code, line = sys._getframe(2).f_code, sys._getframe(2).f_lineno
        if is_of_author(code.co_filename, scheduler):
            shown = [*map(repr, given), *(f"{key}={value!r}" for key, value in named.items())]
            where = f"{Path(code.co_filename).name}:{line}"
            words = f"{name}({', '.join(shown)}) in {where}"
            noted[f"{code.co_filename}:{line}:{name}", _key(given, named)] = words

    if not isinstance(maker, type):

        def make(*given: Any, **named: Any) -> Any:
            note(*given, **named)
            return maker(*given, **named)

        return make

    class Watched(maker):  # type: ignore[misc]
        def __init__(self, *given: Any, **named: Any) -> None:
            note(*given, **named)
            super().__init__(*given, **named)

    return Watched


def _key(given: tuple[Any, ...], named: dict[str, Any]) -> bytes:
    try:
        return pickle.dumps((given, named))
    except Exception:  # whatever their own methods raise
        return repr((given, named)).encode()
