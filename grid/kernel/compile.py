"""How the kernel is compiled: one set of options, one cache, functions called by address.

The underscore option `_nrt` switches numba's reference counting off: more than half the time of
a resumable loop is spent in it, and nothing compiled here allocates. It is kept in this one place.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import platformdirs
from numba.core import cgutils, types
from numba.extending import intrinsic


def sources_digest(root: Path) -> str:
    """Return a digest of every source file of `grid` and `agents` below a folder.

    All of them count: compiled code reads constants from modules that hold none itself.
    """
    digest = hashlib.sha256(numba.__version__.encode())
    for package in ("grid", "agents"):
        for path in sorted((root / package).rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _cache_folder() -> Path | None:
    """Return a writable folder for compiled code, or None.

    numba's own cache does not notice a change in a module that a compiled function calls, so the
    folder is keyed by the sources. ``NUMBA_CACHE_DIR`` says where it is, else the user's cache.
    """
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    above = Path(chosen) if chosen else Path(platformdirs.user_cache_dir("metasched")) / "compiled"
    folder = above / sources_digest(Path(__file__).resolve().parents[2])
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK) else None


CACHE_FOLDER = _cache_folder()
if CACHE_FOLDER is not None:
    numba.config.CACHE_DIR = str(CACHE_FOLDER)

_OPTIONS: dict[str, Any] = {
    "cache": CACHE_FOLDER is not None,
    "nogil": True,
    "error_model": "numpy",
    "boundscheck": True,
    "_nrt": False,
}


def compiled(*signature: Any, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function of the kernel (`numba.njit` with the project's options).

    Parameters
    ----------
    *signature
        An explicit numba signature; without one the function compiles when first called.
    **options
        Options of `numba.njit` that differ from the project's.
    """
    return numba.njit(*signature, **(_OPTIONS | options))


_PART: dict[str, Any] = _OPTIONS | {"cache": False}  # the entry points' cache holds it all


def inlined(function: Callable[..., Any]) -> Any:
    """Compile a small helper into each of its callers."""
    return numba.njit(forceinline=True, **_PART)(function)


def part(function: Callable[..., Any]) -> Any:
    """Compile a large helper once, to be called from other compiled functions."""
    return numba.njit(**_PART)(function)


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
