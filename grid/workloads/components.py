"""The components of synthetic jobs: drawn one by one, or those of a split size."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from grid.distributions import size_at
from grid.errors import require
from grid.jobs import MAX_COMPONENTS, JobArray
from grid.kernel.compile import compiled
from grid.streams import Stream, below, uniform


def check_composition(composition: Sequence[float]) -> None:
    """Raise `WorkloadError` unless a job-stream composition can be used."""
    for percent in composition:
        require(0 <= percent <= 100, "composition", percent, "percentages from 0 to 100")
    require(
        len(composition) <= MAX_COMPONENTS,
        "composition",
        len(composition),
        f"at most {MAX_COMPONENTS} percentages, of jobs with 1, 2, ... components",
    )
    total = math.fsum(composition)
    require(
        not composition or abs(total - 100) < 1e-9,
        "composition",
        list(composition),
        "percentages that sum to 100",
    )


@compiled()
def fill_components(
    jobs: JobArray,
    composition: npt.NDArray[np.float64],
    counts: Stream,
    minimum: int,
    cumulative: npt.NDArray[np.float64],
    first: npt.NDArray[np.int64],
    draws: Stream,
) -> None:
    """Draw how many components jobs have, and the size of each (compiled)."""
    for row in range(len(jobs)):
        job = jobs[row]
        draw, last = uniform(counts), 0
        while last < len(composition) - 1 and draw >= composition[last]:
            last += 1
        job.size = 0
        for index in range(last + 1):
            job.components[index] = size_at(cumulative, first, minimum, uniform(draws))
            job.size += job.components[index]


@compiled()
def split(jobs: JobArray, largest: int) -> None:
    """Split jobs into as few components of at most `largest` processors as there can be."""
    for row in range(len(jobs)):
        job = jobs[row]
        count = (job.size + largest - 1) // largest
        for index in range(count):
            job.components[index] = (job.size + index) // count


@compiled()
def scatter(jobs: JobArray, clusters: int, draws: Stream) -> None:
    """Exchange the component of each cluster, the first one first, for that of a later one."""
    for row in range(len(jobs)):
        components = jobs[row].components
        for index in range(clusters - 1):
            other = index + below(draws, clusters - index)
            components[index], components[other] = components[other], components[index]
