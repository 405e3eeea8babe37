"""Statistics of logs: Tables 1 and 2 of `maxutil`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from experiments.papers.maxutil.paper_tables import SIZE
from experiments.papers.maxutil.systems import CLUSTERS
from grid.logs.swf import read_swf

LONGEST = 900.0
"""Longest run time by day on the DAS, s: Fig. 2 ends there."""


@dataclass(frozen=True)
class Log:
    """A log given for one of the paper's.

    Attributes
    ----------
    name : str
        ``CTC`` or ``DAS``, for whose log it stands.
    path : path
    sizes : int array, shape (jobs,)
        Processors.
    runtimes : float array, shape (jobs,)
        Run times, s.
    """

    name: str
    path: Path
    sizes: npt.NDArray[np.int64]
    runtimes: npt.NDArray[np.float64]

    @classmethod
    def read(cls, name: str, path: Path) -> Log:
        """Read and clean a log in SWF.

        Raises
        ------
        WorkloadError
            If it cannot be read.
        """
        jobs = read_swf(path).jobs
        return cls(name, path, jobs["size"], jobs["runtime"])

    def statistics(self) -> Iterator[tuple[str, str, int, float, float]]:
        """Yield rows of Tables 1 and 2: table, jobs of which kind, their number, mean and cv."""
        most = CLUSTERS * SIZE
        fits = self.sizes <= most
        for table, values in (("sizes", self.sizes), ("service times, s", self.runtimes)):
            yield (table, f"{self.name}: all", *_summary(values))
            if fits.any() and not fits.all():
                yield (table, f"{self.name}: up to {most} processors", *_summary(values[fits]))
            if self.name == "DAS" and table != "sizes":
                short = values[values <= LONGEST]
                if short.size:
                    yield (table, f"{self.name}: up to {LONGEST:g} s", *_summary(short))

    def size_density(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return sizes, and the share of jobs of each (Fig. 1)."""
        counts = np.bincount(self.sizes[self.sizes <= CLUSTERS * SIZE])
        return np.arange(1.0, len(counts)), counts[1:] / len(self.sizes)

    def runtime_density(
        self, width: float = 10.0
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return middles of intervals of run times (s), and the share of jobs in each (Fig. 2)."""
        edges = np.arange(0.0, LONGEST + width, width)
        counts, _ = np.histogram(self.runtimes, edges)
        return edges[:-1] + width / 2, counts / len(self.runtimes)


def logs_in_words(logs: Sequence[Log]) -> str:
    """Return what logs are called together: ``log`` or ``logs``."""
    return "log" if len(logs) == 1 else "logs"


def _summary(values: npt.NDArray[np.float64] | npt.NDArray[np.int64]) -> tuple[int, float, float]:
    mean = float(values.mean())
    return len(values), mean, float(values.std()) / mean
