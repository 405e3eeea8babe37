"""How somebody outside is told of each message that the kernel carries, as it is sent or lost.

The kernel calls a C function at an address kept in its state; there is none unless somebody asks
for the messages one by one.
"""

from __future__ import annotations

import ctypes
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from grid.kernel.compile import inlined
from grid.kernel.state import State

LISTENER = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 5, ctypes.c_double)
"""Makes of ``hear(kind, item, sender, receiver, hop, after)`` what the kernel can call.

`kind` is one of `grid.kernel.state.MESSAGE_KINDS`. Of an advertisement, `item` is the row of the
news (NONE: what is true now), `sender` the cluster that it is about and `receiver` the row of
beliefs that it is for. Else `item` is a job's slot, and sender and receiver are clusters (NONE: the
global broker). `hop` is NONE if the message is sent, else the hop, from 0, on which it is lost, and
`after` the time (s) from now to its sending, or to its first one if it has been sent again.
"""


@intrinsic
def _call(typing_context: Any, address: Any, *arguments: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        integer = ir.IntType(64)
        function = ir.FunctionType(ir.VoidType(), [integer] * 5 + [ir.DoubleType()])
        builder.call(builder.inttoptr(values[0], function.as_pointer()), _unpacked(builder, values))
        return context.get_dummy_value()

    def _unpacked(builder: Any, values: Any) -> list[Any]:
        return [builder.extract_value(values[1], index) for index in range(6)]

    accepted = types.StarArgTuple((*[types.int64] * 5, types.float64))  # type: ignore[attr-defined]
    return types.void(types.int64, accepted), codegen


@inlined
def tell(
    state: State, kind: int, item: int, sender: int, receiver: int, hop: int, after: float
) -> None:
    """Tell whoever listens of a message."""
    if state.listener_at != 0:
        _call(state.listener_at, kind, item, sender, receiver, hop, after)
