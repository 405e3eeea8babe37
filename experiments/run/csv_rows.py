"""Rows of a CSV file, written as Python writes numbers, a column at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow
from pyarrow import compute


def csv_rows(columns: Sequence[npt.NDArray[Any]]) -> str:
    """Return the rows of a table, each with its line end.

    Numbers read back as they are; NaN is nothing.

    Parameters
    ----------
    columns : sequence of array, shape (rows,)
        Numbers, or text.

    Examples
    --------
    >>> print(csv_rows([np.array([1, 2]), np.array([0.1, np.nan]), np.array(["a", 'b"'], object)]))
    1,0.1,a
    2,,"b\"\"\"
    <BLANKLINE>
    """
    if not len(columns[0]):
        return ""
    lines = compute.binary_join_element_wise(*map(_cells, columns), ",")
    return "\n".join([*lines.to_pylist(), ""])


def _cells(column: npt.NDArray[Any]) -> Any:
    if column.dtype == object:
        cells = pyarrow.array(column, pyarrow.string())
        quoted = compute.match_substring_regex(cells, '[",\r\n]')
        if compute.any(quoted).as_py():
            doubled = compute.replace_substring(cells, '"', '""')
            doubled = compute.binary_join_element_wise('"', doubled, '"', "")
            cells = compute.if_else(quoted, doubled, cells)
        return cells
    cells = pyarrow.array(column).cast(pyarrow.string())
    if column.dtype.kind != "f":
        return cells
    # Arrow writes 1.0 as 1, and goes over to powers of ten elsewhere.
    with np.errstate(invalid="ignore"):  # of NaN
        whole = np.trunc(column) == column
    cells = compute.if_else(whole, compute.binary_join_element_wise(cells, ".0", ""), cells)
    size = np.abs(column)
    others = ~((size >= 1e-4) & (size < 1e10) | (size == 0.0))
    if others.any():
        words = ["" if number != number else repr(number) for number in column[others].tolist()]
        cells = compute.replace_with_mask(cells, others, pyarrow.array(words, pyarrow.string()))
    return cells
