"""Decisions: where a job goes, and which of the waiting jobs is served first.

Both go through the same door in three tiers: a built-in compiled function, a user's own compiled
function, called by its address, or Python, for which the loop returns and is called again.

A compiled decision has one of four signatures::

    place(known, job, memory) -> int
    largest(known, memory) -> int
    visit(known, memory) -> int
    priority(job, now) -> float

`known` and `job` are records (`fields`): what brokers have told, and a job; `memory` is
an array of floats that belongs to the policy; `now` is the simulated time, s. `place` returns the
index of a cluster to send the job to, ``WAIT`` to leave it in the global queue, ``START`` after
writing into ``known.take`` how many processors the job shall hold on each cluster from this instant
on, or ``REJECT`` if it can never start, even if all processors were there and free. `largest` is
optional: it returns a size such that `place` would have every larger job wait, now and until more
processors are known to be free, so that it need not be asked about them. `visit` belongs to a
policy that visits queues instead of having jobs offered in order of arrival: it returns the index
of the queue whose head shall be placed now (that of a cluster, or ``known.clusters`` for the global
one), or -1 for none; it is asked again and again, with ``known.event`` telling what came of it,
until it says so (`grid.kernel.queueing.visiting`). `priority` returns a number, and the job with
the lowest is served first; equal ones in order of their arrival at the cluster.

Of link i, which joins node i (clusters first, then switches) to node ``known.parent[i]`` (-1: the
central switch), ``known.capacity`` and ``known.demand`` (Mbit/s) are the truth.

Where jobs have reservations, `place` is asked about moments to come, too: ``known.now``,
``known.free`` and ``known.demand`` are then what is expected, and what it writes into `memory` and
``known.stream`` is undone (`grid.kernel.queueing.availability_profile`).

`grid.kernel.policies.fields` lists the fields of both records. What has not happened yet is as
predicted: ``job.predicted_runtime`` and ``job.predicted_time`` (s) and ``known.rate``, by which a
run time is divided for the execution time on a cluster. How long a job runs and when it will end,
no record says.

The fields of both records can be read and not be set. Of their columns, a policy writes
``known.take`` and ``known.stream`` only; nothing checks that it leaves the others alone.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Collection
from typing import Any, NoReturn

import numba
from numba.core import types, typing
from numba.core.dispatcher import Dispatcher
from numba.core.errors import TypingError
from numba.extending import lower_setattr_generic, models, register_model

from grid.errors import PlacementError
from grid.kernel.compile import address_of, caller
from grid.kernel.dtypes import SLOT
from grid.kernel.policies.fields import COMPILED, INSTEAD, JOBS, WRITTEN, of_tier
from grid.kernel.policies.policy_view import known_dtype

call_place = caller(types.int64)
"""Call a compiled `place`: ``call_place(address, known, job, memory)``."""

call_largest = caller(types.int64)
"""Call a compiled `largest`: ``call_largest(address, known, memory)``."""

call_visit = caller(types.int64)
"""Call a compiled `visit`: ``call_visit(address, known, memory)``."""

call_priority = caller(types.float64)
"""Call a compiled `priority`: ``call_priority(address, job, now)``."""


JOB_FIELDS = frozenset(field.name for field in of_tier(JOBS, COMPILED))
"""What compiled decisions read of a slot."""


_ITS_OWN = frozenset(field.name for field in WRITTEN)
_TAKEN = {
    "`place`": ("known", "job", "memory"),
    "`largest`": ("known", "memory"),
    "`visit`": ("known", "memory"),
    "`priority`": ("job", "now"),
}
_REFUSED = "accepted: one that writes into known.take, known.stream and memory alone"


class ReadOnlyArray(types.NestedArray):
    """The type of an array in a record, into which a compiled decision cannot write."""

    def __init__(self, dtype: Any, shape: tuple[int, ...]) -> None:
        super().__init__(dtype, shape)
        self.mutable = False


register_model(ReadOnlyArray)(models.NestedArrayModel)


class ReadOnlyRecord(types.Record):
    """The type of a record of which a compiled decision can set no field; in memory, the same.

    Nor can it write into arrays there, but into those that are for it (`WRITTEN`). It has no other
    fields than `seen`, if that is given.
    """

    def __init__(self, dtype: Any, seen: Collection[str] | None = None) -> None:
        record = numba.from_dtype(dtype)
        fields = [
            (name, field._asdict())
            for name, field in record.fields.items()
            if seen is None or name in seen
        ]
        super().__init__(fields, record.size, record.aligned)

    def typeof(self, key: str) -> Any:
        """Return the type of a field, or say which fields there are."""
        if key not in self.fields:
            accepted = INSTEAD.get(key, ", ".join(self.fields))
            raise PlacementError(
                f"compiled decision that reads the field {key!r} of a record; accepted: {accepted}"
            )
        found = super().typeof(key)
        if isinstance(found, types.NestedArray) and key not in _ITS_OWN:
            return ReadOnlyArray(found.dtype, found.shape)
        return found


register_model(ReadOnlyRecord)(models.RecordModel)


@lower_setattr_generic(ReadOnlyRecord)
def _refuse_to_set(context: Any, builder: Any, signature: Any, values: Any, field: str) -> NoReturn:
    raise PlacementError(f"compiled decision that sets the field {field!r} of a record; {_REFUSED}")


@functools.cache
def place_address(function: Any, capacity: int) -> int:
    """Compile a `place` for kernels of one capacity and return its address.

    Raises
    ------
    PlacementError
        If it returns something else than an integer, or sets a field of a record.
    """
    known, job = ReadOnlyRecord(known_dtype(capacity)), ReadOnlyRecord(SLOT, JOB_FIELDS)
    signature = types.int64(known, job, types.float64[::1])
    return _address(function, signature, types.Integer, "`place`", "an integer")


@functools.cache
def known_address(function: Any, capacity: int, name: str) -> int:
    """Compile a `largest` or `visit` for kernels of one capacity and return its address.

    Raises
    ------
    PlacementError
        If it returns something else than an integer, or sets a field of a record.
    """
    signature = types.int64(ReadOnlyRecord(known_dtype(capacity)), types.float64[::1])
    return _address(function, signature, types.Integer, f"`{name}`", "an integer")


@functools.cache
def priority_address(function: Any) -> int:
    """Compile a `priority` and return its address.

    Raises
    ------
    PlacementError
        If it returns something else than a number, or sets a field of a record.
    """
    signature = types.float64(ReadOnlyRecord(SLOT, JOB_FIELDS), types.float64)
    return _address(function, signature, (types.Integer, types.Float), "`priority`", "a number")


def _address(function: Any, signature: Any, kinds: Any, name: str, accepted: str) -> int:
    takes = inspect.signature(function.py_func)
    _check_indices(function)
    try:
        takes.bind(*signature.args)
    except TypeError:
        wanted = ", ".join(_TAKEN[name])
        raise PlacementError(f"compiled {name} that takes {takes}; accepted: ({wanted})") from None
    inferred = typing.signature(None, *signature.args)
    try:
        found = function.get_compile_result(inferred).signature.return_type
    except TypingError as error:
        if "readonly array" not in str(error):
            raise
        raise PlacementError(
            f"compiled {name} that writes into an array of `known`; {_REFUSED}"
        ) from None
    if not isinstance(found, kinds):
        found = types.unliteral(found)  # type: ignore[attr-defined]
        raise PlacementError(f"compiled {name} that returns {found}; accepted: {accepted}")
    if found != signature.return_type:
        function = _apart(function)
    return address_of(function, signature)


def _check_indices(function: Any) -> None:
    """Have a function and those that it calls check indices, which numba does if it is told to."""
    if function.targetoptions.get("boundscheck") is not None:  # as its author says
        return
    function.targetoptions["boundscheck"] = True
    used = inspect.getclosurevars(function.py_func)
    for each in (*used.globals.values(), *used.nonlocals.values()):
        if isinstance(each, Dispatcher):
            _check_indices(each)


@functools.cache
def _apart(function: Any) -> Any:
    """Return the function once more, to be compiled into one that converts what it returns."""
    return numba.jit(**function.targetoptions)(function.py_func)
