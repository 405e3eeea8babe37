"""Whose jobs are: who submitted them, what they run, and what their site filed them under."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from grid.jobs import FILED, UNKNOWN
from grid.workloads.table import Table

WHOSE = ("user", "application", *FILED)
"""Columns of ``jobs.csv`` that are there if some job tells them."""


class Whose:
    """What the jobs of a workload say of that.

    Parameters
    ----------
    workload : Workload or BatchWorkload
        Synthetic jobs say nothing.

    Attributes
    ----------
    columns : tuple of str
        Those of `WHOSE` that some job tells.
    """

    def __init__(self, workload: Any) -> None:
        self._table = workload if isinstance(workload, Table) else None
        self.columns: tuple[str, ...] = ()
        if self._table is not None:
            jobs = self._table.jobs
            self.columns = tuple(name for name in WHOSE if (jobs[name] != UNKNOWN).any())

    def of(self, places: npt.NDArray[np.int64]) -> list[npt.NDArray[Any]]:
        """Return the columns of jobs by their places in the workload; "" is unknown.

        Names where there are some, else numbers, both as texts.
        """
        return [self._texts(name, places) for name in self.columns]

    def _texts(self, name: str, places: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
        assert self._table is not None
        numbers, at = np.unique(self._table.jobs[name][places], return_inverse=True)
        names = {
            "application": self._table.applications,
            **{of: dict(enumerate(each)) for of, each in self._table.filed.items()},
        }.get(name, {})
        texts = [
            "" if number == UNKNOWN else names.get(number, str(number))
            for number in numbers.tolist()
        ]
        found: npt.NDArray[Any] = np.array([*texts, ""], object)[at]
        return found
