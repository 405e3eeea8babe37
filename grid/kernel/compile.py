"""How the kernel is compiled: one set of options, one cache, functions called by address.

The underscore option `_nrt` switches numba's reference counting off: more than half the time of
a resumable loop is spent in it, and nothing compiled here allocates. It is kept in this one place.
"""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import platformdirs
from numba.core import cgutils, types
from numba.extending import intrinsic


def _cache_folder() -> Path | None:
    """Return a writable folder for compiled code, or None.

    numba's own cache does not notice a change in a module that a compiled function calls, so the
    folder is keyed by a hash of every source file of the distribution that may hold such code.
    """
    root = Path(__file__).resolve().parents[2]
    digest = hashlib.sha256(numba.__version__.encode())
    for package in ("grid", "agents"):
        for source in sorted((root / package).rglob("*.py")):
            digest.update(source.read_bytes())
    folder = Path(platformdirs.user_cache_dir("metasched")) / "compiled" / digest.hexdigest()[:16]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK) else None


CACHE_FOLDER = _cache_folder()
if CACHE_FOLDER is not None and not os.environ.get("NUMBA_CACHE_DIR"):
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


def inlined(function: Callable[..., Any]) -> Any:
    """Compile a helper of the kernel into each of its callers."""
    return numba.njit(forceinline=True, **_OPTIONS)(function)


@functools.cache
def function_at(function_type: types.FunctionType) -> Any:
    """Return an intrinsic that turns an address into a callable of `function_type`.

    The kernel calls decisions by an address kept in its state, so that a new policy recompiles
    nothing and the compile cache serves every process.
    """

    @intrinsic
    def at(typing_context: Any, address: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            function = cgutils.create_struct_proxy(function_type)(context, builder)
            null = context.get_constant_null(types.voidptr)
            function.jit_addr = builder.inttoptr(
                arguments[0], context.get_value_type(types.voidptr)
            )
            function.c_addr = function.py_addr = null
            return function._getvalue()

        return function_type(types.int64), codegen

    return at


def address_of(dispatcher: Any, signature: Any) -> int:
    """Compile `dispatcher` for `signature` and return the address of its machine code."""
    result = dispatcher.get_compile_result(signature)
    return int(result.library.get_pointer_to_function(result.fndesc.llvm_func_name))
