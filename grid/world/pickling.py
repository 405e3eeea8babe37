"""Pickles of arrays that share memory: what is a view of a table stays one."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


class Pickler(pickle.Pickler):
    """A pickler that takes no copies of views.

    By itself a pickle holds a view as an array of its own, so that a world read from it would write
    in one place and read in another.

    Examples
    --------
    >>> import io
    >>> table, file = np.zeros(3), io.BytesIO()
    >>> Pickler(file).dump((table, table[1:]))
    >>> table, view = pickle.loads(file.getvalue())
    >>> view[0] = 5.0
    >>> table.tolist()
    [0.0, 5.0, 0.0]
    """

    def reducer_override(self, thing: Any) -> Any:
        """Return how to make a view anew; all else as any pickler does."""
        if type(thing) not in (np.ndarray, np.void):
            return NotImplemented
        owner = thing
        while type(owner.base) in (np.ndarray, np.void):
            owner = owner.base
        flags = owner.flags
        in_order = flags.c_contiguous or flags.f_contiguous
        if owner is thing or type(owner) is not np.ndarray or not in_order or owner.dtype.hasobject:
            return NotImplemented
        begin = owner.__array_interface__["data"][0]
        offset = thing.__array_interface__["data"][0] - begin
        if type(thing) is np.void:
            return _row, (owner, thing.dtype, offset)
        return _view, (owner, thing.dtype, offset, thing.shape, thing.strides)


def _view(
    owner: Array, dtype: np.dtype[Any], offset: int, shape: Any = (), strides: Any = ()
) -> Array:
    """Return an array in the memory of another."""
    return np.ndarray(shape, dtype, owner, offset, strides)


def _row(owner: Array, dtype: np.dtype[Any], offset: int) -> Any:
    """Return a record in the memory of an array."""
    return _view(owner, dtype, offset)[()]
