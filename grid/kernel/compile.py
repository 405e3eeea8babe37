"""How the kernel is compiled: one set of options, one cache, functions called by address."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
import platformdirs
from numba.core import cgutils, types
from numba.extending import intrinsic

F = TypeVar("F", bound=Callable[..., Any])

PLAIN = "METASCHED_PLAIN_NUMBA"
"""Set in the environment, it has the kernel compiled without what leans on numba's insides."""


def _internals() -> Any:
    """Return what leans on numba's insides; None if this numba has others."""
    if os.environ.get(PLAIN):
        return None
    try:
        from grid.kernel import numba_internals
    except (ImportError, AttributeError):
        return None
    return numba_internals


_INTERNALS = _internals()


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

_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "boundscheck": True}


def compiled(
    *, cache: bool = True, allocates: bool = False, **options: Any
) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function of the kernel when it is first called.

    Parameters
    ----------
    cache : bool
        Keep the compiled code for later processes.
    allocates : bool
        The function makes arrays.
    **options
        Options of `numba.njit` that differ from the project's.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        insides = {} if allocates or not _INTERNALS else _INTERNALS.WITHOUT_REFERENCE_COUNTS
        entry = _INTERNALS.ENTRY if _INTERNALS else {}
        dispatcher = numba.njit(**(_OPTIONS | entry | insides | options))(function)
        if cache and _INTERNALS and CACHE_FOLDER is not None:
            _INTERNALS.keep(dispatcher, function)
        return dispatcher

    return decorate


_HELPER: dict[str, Any] = {"cache": False} | (_INTERNALS.HELPER if _INTERNALS else {})


def _helper(function: F, **options: bool) -> F:
    helper: F = compiled(**_HELPER, **options)(function)
    if _INTERNALS:
        _INTERNALS.for_any_constant(helper)
    return helper


def inlined(function: F) -> F:
    """Compile a small helper into each of its callers, whose cache holds it too."""
    return _helper(function, forceinline=True)


def unchecked(function: F) -> F:
    """Compile as `inlined` does, but without checking indices: for the innermost loops only."""
    return _helper(function, forceinline=True, boundscheck=False)


def part(function: F) -> F:
    """Compile a large helper once, to be called from other compiled functions."""
    return _helper(function, forceinline=False)  # which numba would take over from the caller


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
