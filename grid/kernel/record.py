"""Records of the kernel, whose fields are declared once: for numpy, for Python and for mypy.

In Python a `Record` wraps an array of one record. In compiled functions its class is the annotation
of that record itself, which has fields of the same names and types.

Examples
--------
>>> class Counts(Record):
...     now = Number(float)  # s
...     waiting = Column(np.int64, CLUSTER)  # jobs
>>> table = np.zeros(1, Counts.dtype_of({CLUSTER: 16}))
>>> counts = Counts(table, {CLUSTER: 2})
>>> counts.now, counts.waiting[1] = 4.5, 3
>>> counts.now, counts.waiting.tolist(), table["now"].item()
(4.5, [0, 3], 4.5)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Generic, Self, TypeVar, overload

import numpy as np
import numpy.typing as npt

from grid.kernel.policies.fields import CLUSTER, LINK, QUEUE

__all__ = ["CLUSTER", "LINK", "QUEUE", "Column", "Field", "Nested", "Number", "Record"]

T = TypeVar("T")
N = TypeVar("N", bound=np.generic)
R = TypeVar("R", bound="Record")

Lengths = Mapping[str, int]
"""Elements of a column that has one for each CLUSTER, LINK or QUEUE."""


class Field(Generic[T]):
    """A field of a record, which Python reads as a `T`.

    Parameters
    ----------
    dtype : type or callable
        Of the field or of its elements; or takes `Lengths` and returns a dtype.
    *shape : int or str
        For an array: how many elements it has, or CLUSTER, LINK or QUEUE for one each.
    """

    name: str

    def __init__(self, dtype: type[Any] | Callable[[Lengths], Any], *shape: int | str) -> None:
        self._dtype, self._shape = dtype, shape

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, record: None, owner: type) -> Self: ...

    @overload
    def __get__(self, record: Record, owner: type) -> T: ...

    def __get__(self, record: Record | None, owner: type) -> Any:
        return self if record is None else record._views[self.name]

    def column(self, lengths: Lengths) -> tuple[str, Any, tuple[Any, ...]]:
        """Return the field of a dtype with room for so many elements."""
        dtype = self._dtype if isinstance(self._dtype, type) else self._dtype(lengths)
        return self.name, dtype, self._cut(lengths)

    def view(self, array: npt.NDArray[np.void], lengths: Lengths) -> Any:
        """Return what Python sees of the field of an array of one record."""
        return array[self.name][0]

    def _cut(self, lengths: Lengths) -> tuple[int | None, ...]:
        """Return the lengths of the array, None where they are not told."""
        return tuple(lengths.get(each) if isinstance(each, str) else each for each in self._shape)


class Number(Field[T]):
    """A number: an ``int`` (int64) or a ``float`` (float64)."""

    def __init__(self, kind: type[T]) -> None:
        super().__init__(np.int64 if kind is int else np.float64)

    @overload
    def __get__(self, record: None, owner: type) -> Self: ...

    @overload
    def __get__(self, record: Record, owner: type) -> T: ...

    def __get__(self, record: Record | None, owner: type) -> Any:
        return self if record is None else record._views[self.name].item()

    def __set__(self, record: Record, value: T) -> None:
        record._views[self.name][0] = value

    def cell(self, record: Record) -> npt.NDArray[Any]:
        """Return the number as an array of one element, for who reads or sets it often."""
        return record._views[self.name]

    def view(self, array: npt.NDArray[np.void], lengths: Lengths) -> npt.NDArray[Any]:
        """Return the number as an array of one element."""
        return array[self.name]


class Column(Field[npt.NDArray[N]]):
    """An array, of which Python sees as much as there are clusters or links."""

    def __init__(self, dtype: type[N], *shape: int | str) -> None:
        super().__init__(dtype, *shape)

    def __set__(self, record: Record, value: npt.ArrayLike) -> None:
        record._views[self.name][...] = value

    def view(self, array: npt.NDArray[np.void], lengths: Lengths) -> npt.NDArray[N]:
        """Return as many elements as there are."""
        return array[self.name][0][tuple(map(slice, self._cut(lengths)))]


class Nested(Field[R]):
    """A record within the record."""

    def __init__(self, kind: type[R]) -> None:
        super().__init__(kind.dtype_of)
        self._kind = kind

    def view(self, array: npt.NDArray[np.void], lengths: Lengths) -> R:
        """Return the record."""
        return self._kind(array[self.name], lengths)


class Record:
    """One record, with its fields as attributes.

    Parameters
    ----------
    array : structured array, shape (1,)
        Of the dtype that `dtype_of` returns.
    lengths : mapping of str to int, optional
        How many clusters and links Python sees of columns; by default all that there is room for.
    """

    fields: ClassVar[tuple[Field[Any], ...]]

    def __init_subclass__(cls) -> None:
        cls.fields = tuple(each for each in vars(cls).values() if isinstance(each, Field))

    def __init__(self, array: npt.NDArray[np.void], lengths: Lengths | None = None) -> None:
        self.array, self.lengths = array, lengths or {}
        self._views = {field.name: field.view(array, self.lengths) for field in self.fields}

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.array, self.lengths)

    @classmethod
    def dtype_of(cls, lengths: Lengths) -> np.dtype[np.void]:
        """Return the dtype of the record with room for so many clusters, links and queues."""
        return np.dtype([field.column(lengths) for field in cls.fields], align=True)
