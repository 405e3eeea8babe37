"""What leans on numba's insides: the cache of compiled code, and helpers that nothing calls alone.

`grid.kernel.compile` does without if this cannot be imported, as with a numba that differs inside:
then each process compiles for itself, and for longer.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from llvmlite.binding import Linkage
from numba.core import caching, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.targetconfig import TargetConfig

from grid.sources import all_sources, has_changed, is_ours, module_digest

WITHOUT_REFERENCE_COUNTS: dict[str, Any] = {"_nrt": False}
"""More than half the time of a resumable loop is spent in them, and nothing compiled here allocates
unless it says so."""


# A tenth of the time that the kernel took to compile: at each stage of each helper numba spells the
# records that it takes, field by field, and for each call it compares all options.
types.Record.__repr__ = functools.cache(types.Record.__repr__)  # type: ignore[method-assign]
_equal = TargetConfig.__eq__


def _equal_soon(one: TargetConfig, other: object) -> Any:
    same = isinstance(other, TargetConfig) and one._values == other._values
    return same or _equal(one, other)


TargetConfig.__eq__ = _equal_soon

_digest = functools.cache(module_digest)


class _Locator(caching.UserProvidedCacheLocator):  # type: ignore[misc]
    """Where compiled code of a source file is: in a folder named by all that it is made of.

    numba's own cache does not notice a change in a module that a compiled function calls.
    """

    def __init__(self, function: Callable[..., Any], file: str) -> None:
        super().__init__(function, file)
        path = Path(file).resolve()
        self._ours = is_ours(path)
        folder = Path(self.get_cache_path())
        if self._ours:
            self._cache_path = str(folder.with_name(_digest(path)))
        else:  # a user's, who may import any of ours
            self._cache_path = str(folder.with_name(f"{all_sources()}-{folder.name}"))

    def get_source_stamp(self) -> Any:
        """Return what tells versions of the file apart; the folder does for our own."""
        return None if self._ours else super().get_source_stamp()


class _Files(caching.CompileResultCacheImpl):  # type: ignore[misc]
    """Where a function's compiled code is: in the cache's folder or, if it cannot be, nowhere."""

    _locator_classes = (_Locator,)


class _Cache(caching.FunctionCache):  # type: ignore[misc]
    """numba's cache, of which a damaged file or a full disk costs time, but never a run."""

    _impl_class = _Files

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return compiled code; None, and none is left, if it is not there or cannot be read."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # a damaged pickle raises whatever it happens to spell
            with suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save compiled code, if that can be done."""
        with suppress(Exception):  # it reads what is there before
            super().save_overload(sig, data)


class _Later:
    """The cache of a function of ours, looked for when its code first is: most never is.

    If a source has changed since it was loaded, it is not what is compiled: nothing is kept then.
    """

    def __init__(self, dispatcher: Any, function: Callable[..., Any], path: Path) -> None:
        self._dispatcher, self._function, self._path = dispatcher, function, path

    def __getattr__(self, name: str) -> Any:
        self._dispatcher._cache = caching.NullCache()
        with suppress(OSError, RuntimeError):  # a folder in it that is not to be written to
            if not has_changed(self._path):
                self._dispatcher._cache = _Cache(self._function)
        return getattr(self._dispatcher._cache, name)


def keep(dispatcher: Any, function: Callable[..., Any]) -> None:
    """Have what a dispatcher compiles of a function kept for later processes."""
    path = Path(function.__code__.co_filename).resolve()
    with suppress(OSError, RuntimeError):
        later = is_ours(path)
        dispatcher._cache = _Later(dispatcher, function, path) if later else _Cache(function)


class _Ingredient(JITCodeLibrary):  # type: ignore[misc]
    """Code of a helper, optimised and turned into machine code only as part of its callers.

    numba would do both for each helper by itself too, though nothing ever calls it there: two
    thirds of the time that the kernel took to compile.
    """

    def finalize(self) -> None:
        """Link the code of the helper's own helpers, and leave it at that."""
        for library in dict.fromkeys(self._linking_libraries):
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return what Python calls instead, for there is no machine code: a TypeError."""
        return ctypes.cast(ctypes.pythonapi.PyErr_BadArgument, ctypes.c_void_p).value or 0

    @property
    def codegen(self) -> Any:
        """Who is told the helper's environment, which nothing here needs: itself."""
        return self

    def set_env(self, name: str, environment: Any) -> None:
        """Forget an environment."""


class _HelperCompiler(Compiler):  # type: ignore[misc]
    """numba's compiler of functions that other compiled functions call."""

    def define_pipelines(self) -> Any:
        """Return numba's own stages, which shall leave an ingredient."""
        state = self.state
        state.library = _Ingredient(state.targetctx.codegen(), state.func_id.func_qualname)
        return super().define_pipelines()


def for_any_constant(dispatcher: Any) -> None:
    """Have a helper compiled once, not anew for each constant that it is called with."""
    own = dispatcher.get_call_template

    def get_call_template(arguments: Any, named: Any) -> Any:
        known = types.unliteral  # type: ignore[attr-defined]
        return own([*map(known, arguments)], {name: known(named[name]) for name in named})

    dispatcher.get_call_template = get_call_template


HELPER: dict[str, Any] = {
    "pipeline_class": _HelperCompiler,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}
"""Options of helpers."""


class _Entry(JITCodeLibrary):  # type: ignore[misc]
    """Code of a function that Python calls, and of the helpers that it is made of."""

    def _optimize_final_module(self) -> None:
        """Have LLVM know that nobody else calls the helpers, which get only what they use."""
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == Linkage.linkonce_odr:
                function.linkage = "internal"
        super()._optimize_final_module()


class _EntryCompiler(Compiler):  # type: ignore[misc]
    """numba's compiler of functions that Python calls."""

    def define_pipelines(self) -> Any:
        """Return numba's own stages, which shall leave an entry."""
        state = self.state
        state.library = _Entry(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return super().define_pipelines()


ENTRY: dict[str, Any] = {"pipeline_class": _EntryCompiler}
