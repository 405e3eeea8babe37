"""How the kernel is compiled: one set of options, one cache, functions called by address.

The underscore option `_nrt` switches numba's reference counting off: more than half the time of
a resumable loop is spent in it, and nothing compiled here allocates. It is kept in this one place.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numba
import platformdirs
from numba.core import caching, cgutils, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.extending import intrinsic

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


_ROOT = Path(__file__).resolve().parents[2]
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


def _cache_folder() -> Path | None:
    """Return a writable folder for compiled code, or None.

    ``NUMBA_CACHE_DIR`` says where it is, else the user's cache.
    """
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    folder = Path(chosen) if chosen else Path(platformdirs.user_cache_dir("metasched")) / "compiled"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK) else None


CACHE_FOLDER = _cache_folder()
if CACHE_FOLDER is not None:
    numba.config.CACHE_DIR = str(CACHE_FOLDER)

_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "boundscheck": True,
    "_nrt": False,
}


class _Locator(caching.UserProvidedCacheLocator):  # type: ignore[misc]
    """Where compiled code of a source file is: in a folder named by all that it is made of.

    numba's own cache does not notice a change in a module that a compiled function calls.
    """

    def __init__(self, function: Callable[..., Any], file: str) -> None:
        super().__init__(function, file)
        path = Path(file).resolve()
        self._ours = path.is_relative_to(_ROOT) and path.relative_to(_ROOT).parts[0] in PACKAGES
        folder = Path(self.get_cache_path())
        if self._ours:
            self._cache_path = str(folder.with_name(module_digest(path)))
        else:  # a user's, who may import any of ours
            self._cache_path = str(folder.with_name(f"{_all_sources()}-{folder.name}"))

    def get_source_stamp(self) -> Any:
        """Return what tells versions of the file apart; the folder does for our own."""
        return None if self._ours else super().get_source_stamp()


@functools.cache
def _all_sources() -> str:
    return sources_digest(_ROOT)


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


def compiled(*, cache: bool = True, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function of the kernel when it is first called.

    Parameters
    ----------
    cache : bool
        Keep the compiled code for later processes.
    **options
        Options of `numba.njit` that differ from the project's.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        dispatcher = numba.njit(**(_OPTIONS | options))(function)
        if cache and CACHE_FOLDER is not None:
            with suppress(OSError, RuntimeError):  # a folder in it that is not to be written to
                dispatcher._cache = _Cache(function)
        return dispatcher

    return decorate


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


_HELPER: dict[str, Any] = {
    "cache": False,
    "pipeline_class": _HelperCompiler,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}


def inlined(function: Callable[..., Any]) -> Any:
    """Compile a small helper into each of its callers, whose cache holds it too."""
    return compiled(**_HELPER, forceinline=True)(function)


def unchecked(function: Callable[..., Any]) -> Any:
    """Compile as `inlined` does, but without checking indices: for the innermost loops only."""
    return compiled(**_HELPER, forceinline=True, boundscheck=False)(function)


def part(function: Callable[..., Any]) -> Any:
    """Compile a large helper once, to be called from other compiled functions."""
    return compiled(**_HELPER)(function)


def caller(return_type: Any) -> Any:
    """Return an intrinsic ``call(address, *arguments)`` that calls a compiled function.

    The kernel calls decisions by an address kept in its state, so that a new policy recompiles
    nothing and the compile cache serves every process. An exception raised by the function goes on
    to the caller.
    """

    @intrinsic
    def call(typing_context: Any, address: Any, *arguments: Any) -> Any:
        types_of_arguments = arguments[0].types if len(arguments) == 1 else arguments

        def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            convention = context.call_conv
            pointer = convention.get_function_type(return_type, types_of_arguments).as_pointer()
            function = builder.inttoptr(values[0], pointer)
            packed = cgutils.unpack_tuple(builder, values[1], len(types_of_arguments))
            status, result = convention.call_function(
                builder, function, return_type, types_of_arguments, packed
            )
            with cgutils.if_unlikely(builder, status.is_error):
                convention.return_status_propagate(builder, status)
            return result

        signature = return_type(types.int64, types.StarArgTuple(types_of_arguments))  # type: ignore[attr-defined]
        return signature, codegen

    return call


def address_of(dispatcher: Any, signature: Any) -> int:
    """Compile `dispatcher` for `signature` and return the address of its machine code."""
    result = dispatcher.get_compile_result(signature)
    return int(result.library.get_pointer_to_function(result.fndesc.llvm_func_name))
