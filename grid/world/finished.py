"""Jobs that left the grid: a row for each, and where those on several clusters ran."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from grid.kernel.state import NONE


@dataclass(frozen=True, eq=False)
class Records:
    """Jobs that left the grid, completed, rejected or withdrawn.

    Indexed like a structured array: by the name of a column, or by a mask, indices or a slice of
    rows, which gives records again. To numpy they are their rows.

    Parameters
    ----------
    rows : structured array, shape (jobs,)
        Of dtype `grid.kernel.dtypes.FINISHED`.
    takes : array of int32, shape (co-allocated jobs, clusters)
        Processors of each co-allocated job on each cluster, at the index `split` of its row.

    Examples
    --------
    >>> from grid.kernel.dtypes import FINISHED
    >>> rows = np.zeros(3, FINISHED)
    >>> rows["size"], rows["split"] = [8, 6, 3], [NONE, 0, NONE]
    >>> records = Records(rows, np.array([[4, 2]], np.int32))
    >>> large = records[records["size"] > 5]
    >>> len(large), large["split"].tolist(), large.takes[0].tolist()
    (2, [-1, 0], [4, 2])
    """

    rows: npt.NDArray[np.void]
    takes: npt.NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[np.void]:
        return iter(self.rows)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.array(self.rows, dtype, copy=copy)

    @overload
    def __getitem__(self, which: str) -> npt.NDArray[Any]: ...

    @overload
    def __getitem__(self, which: slice | npt.NDArray[Any]) -> Records: ...

    def __getitem__(self, which: Any) -> Any:
        return self.rows[which] if isinstance(which, str) else Records(self.rows[which], self.takes)


def in_order(records: Records) -> npt.NDArray[np.int64]:
    """Return the rows of jobs in order of arrival, then number, then submission."""
    return np.lexsort((records["submission"], records["number"], records["arrival"]))


def last(chunks: Sequence[Records], count: int) -> Records:
    """Return the last jobs of chunks of records as one, with no other jobs' `takes`.

    Parameters
    ----------
    chunks : sequence of Records
        One or more.
    count : int
        Jobs to return; all of them if there are fewer.
    """
    rows, takes = [], []
    for chunk in reversed(chunks):
        rows.append(chunk.rows[max(0, len(chunk) - count) :])
        split = rows[-1]["split"]
        takes.append(chunk.takes[split[split != NONE]])
        count -= len(rows[-1])
        if count == 0:
            break
    records = Records(np.concatenate(rows[::-1]), np.concatenate(takes[::-1]))
    records["split"][records["split"] != NONE] = np.arange(len(records.takes))
    return records
