"""MUSCLE's composition table: which jobs together fill a resource space of each size.

Row r lists compositions, sets of jobs whose sizes sum to r, and no job twice (`muscle`, section
4.1). The rows are flat arrays, since a job appears at most once in a row.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from grid.errors import PlatformError, WorkloadError
from grid.kernel.compile import compiled, part

Ints = npt.NDArray[np.int64]
Positions = npt.NDArray[np.int32]


class CompositionTable(NamedTuple):
    """The table in flat arrays: row r is at index r, for r up to the largest space.

    Row 0 holds one composition, the empty one, to which any job can be joined.

    Attributes
    ----------
    jobs : int32 array of shape (rows + 1, jobs)
        The jobs of each row, one composition after another.
    starts : int32 array of shape (rows + 1, jobs + 1)
        Where in `jobs` each composition starts; the start after the last is where the last ends.
    counts : int32 array of shape (rows + 1,)
        Compositions in each row.
    composition_of : int32 array of shape (jobs, rows + 1)
        The composition that holds a job in a row, -1 if none does.
    """

    jobs: Positions
    starts: Positions
    counts: Positions
    composition_of: Positions


@part
def _join(row: int, job: int, rest: int, k: int, table: CompositionTable) -> None:
    """Append to `row` the job followed by composition `k` of row `rest`."""
    jobs, starts, counts, composition_of = table
    end = starts[row, counts[row]]
    jobs[row, end] = job
    composition_of[job, row] = counts[row]
    for i in range(starts[rest, k], starts[rest, k + 1]):
        end += 1
        jobs[row, end] = jobs[rest, i]
        composition_of[jobs[rest, i], row] = counts[row]
    counts[row] += 1
    starts[row, counts[row]] = end + 1


@part
def _is_blocked(row: int, rest: int, k: int, table: CompositionTable) -> bool:
    """Tell whether a job of composition `k` of row `rest` is in `row` already (step 8)."""
    for i in range(table.starts[rest, k], table.starts[rest, k + 1]):
        if table.composition_of[table.jobs[rest, i], row] >= 0:
            return True
    return False


@part
def _fill(
    sizes: Ints, table: CompositionTable, first_of_size: Positions, unblocked: Positions
) -> None:
    """Run Algorithm 1 on an empty table.

    `unblocked[row, i]`, i the first job of a size, is how far step 8 has looked for jobs of that
    size: jobs never leave a row, so a composition once blocked stays so and is not looked at again.
    """
    largest = len(table.counts) - 1
    for job in range(len(sizes)):
        size = sizes[job]
        if size > largest:
            continue
        if first_of_size[size] < 0:
            first_of_size[size] = job
            unblocked[:, job] = 0
        kind = first_of_size[size]
        # The printed loop ascends. Descending finds each shorter row as it was before this job,
        # which keeps the job from being joined to itself and changes nothing else.
        for row in range(largest, size - 1, -1):
            rest = row - size
            k: Any = np.int64(unblocked[row, kind])
            while k < table.counts[rest] and _is_blocked(row, rest, k, table):
                k += 1
            unblocked[row, kind] = k
            if k < table.counts[rest]:
                _join(row, job, rest, k, table)


@compiled(allocates=True)
def build_table(sizes: Ints, largest: int) -> CompositionTable:
    """Construct the composition table (`muscle`, Algorithm 1), compiled.

    Steps 3-4 and 5-9 are one here: a job alone is the job joined to row 0's empty composition.

    Where the paper is departed from: a composition that already holds the job is never joined to
    it. Step 8 as printed would open row 4 of the case study with ``J1;J1``.

    Parameters
    ----------
    sizes : int64 array of shape (jobs,)
        Processors each job needs, at least 1.
    largest : int
        Size of the largest resource space, in processors.
    """
    n = len(sizes)
    table = CompositionTable(
        np.empty((largest + 1, n), np.int32),
        np.empty((largest + 1, n + 1), np.int32),
        np.zeros(largest + 1, np.int32),
        np.empty((n, largest + 1), np.int32),
    )
    table.composition_of[:] = -1
    table.starts[:, :2] = 0  # where row 0's empty composition starts and ends
    table.counts[0] = 1
    first_of_size = np.empty(largest + 1, np.int32)
    first_of_size[:] = -1
    _fill(sizes, table, first_of_size, np.empty((largest + 1, n), np.int32))
    return table


def checked_sizes(sizes: npt.ArrayLike) -> Ints:
    """Return job sizes as an array, or raise `WorkloadError`."""
    array = np.asarray(sizes)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise WorkloadError(
            f"sizes: found shape {array.shape} of {array.dtype}, accepted is a list of integers"
        )
    if (array < 1).any():
        job = int(np.argmax(array < 1))
        raise WorkloadError(f"sizes[{job}]: found {array[job]}, accepted is 1 or more")
    return np.ascontiguousarray(array, np.int64)


def composition_table(sizes: npt.ArrayLike, max_size: int) -> list[list[tuple[int, ...]]]:
    """Return MUSCLE's composition table (`muscle`, Algorithm 1 and Table 2).

    Where the paper is departed from: see `build_table`.

    Parameters
    ----------
    sizes : sequence of int, shape (jobs,)
        Processors each job needs.
    max_size : int
        Processors of the largest cluster.

    Returns
    -------
    list of list of tuple of int
        Element r - 1 is row r: its compositions in order, as jobs numbered from 0. A job larger
        than `max_size` appears in no row.

    Raises
    ------
    WorkloadError
        If a size is not an integer of at least 1.
    PlatformError
        If `max_size` is below 1.

    Examples
    --------
    >>> composition_table([2, 1, 4, 3, 1, 2], max_size=6)[3]
    [(2,), (3, 1), (5, 0)]
    """
    if max_size < 1:
        raise PlatformError(f"max_size: found {max_size}, accepted is 1 or more")
    table = build_table(checked_sizes(sizes), max_size)
    return [
        [
            tuple(table.jobs[row, table.starts[row, k] : table.starts[row, k + 1]].tolist())
            for k in range(table.counts[row])
        ]
        for row in range(1, max_size + 1)
    ]
