"""Laws of the sizes of job components (`maxutil`, section 2.5; `queues`), and how they are written.

====================  ==========================================================================
``U[a,b]``            every size from a to b equally likely
``D(q)[a,b]``         size i has weight q^i, three times that if i is 2, 4, 8, ... (but not 1)
``swf:FILE``          the sizes of the jobs of a log in the Standard Workload Format
====================  ==========================================================================
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from grid.distributions import SizeDistribution, UniformSizes
from grid.errors import WorkloadError, require
from grid.foreign import quoted
from grid.logs.files import number
from grid.workloads.sample import JobSample

_INTERVAL = r"\[\s*(?P<low>\d{1,9})\s*,\s*(?P<high>\d{1,9})\s*\]"
_LAW = re.compile(rf"\s*(?:U|D\s*\((?P<q>[^()]*)\))\s*{_INTERVAL}\s*", re.ASCII)
_LOG = "swf:"

ACCEPTED = "U[a,b], D(q)[a,b] or swf:FILE, such as 'D(0.9)[1,32]'"


@dataclass(frozen=True)
class TabulatedSizes(SizeDistribution):
    """Sizes by a table of weights.

    Parameters
    ----------
    minimum, maximum : int
        Smallest and largest size, both included.
    weights : tuple of float
        Of each size from the smallest, from 0; they need not sum to 1.
    left_out : int
        Jobs of a log that were too large to count.

    Examples
    --------
    >>> TabulatedSizes(1, 3, (1, 0, 1)).density()
    array([0. , 0.5, 0. , 0.5])
    """

    weights: tuple[float, ...]
    left_out: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        count = self.maximum - self.minimum + 1
        fit = len(self.weights) == count and min(self.weights) >= 0
        require(
            fit and 0 < sum(self.weights) < np.inf,
            "weights of sizes",
            self.weights,
            f"{count} numbers from 0, not all of them 0",
        )

    def cumulative(self) -> npt.NDArray[np.float64]:
        """Return P(size <= n) of each size from the smallest."""
        table = np.cumsum(self.weights)
        return table / table[-1]

    def cdf(self, n: int) -> float:
        """Return P(size <= n) for minimum <= n <= maximum."""
        return float(self.cumulative()[n - self.minimum])


def favouring_powers_of_two(q: float, minimum: int, maximum: int) -> TabulatedSizes:
    """Return D(q), which favours small sizes and powers of two (`maxutil`, section 2.5).

    Size i has a probability proportional to q^i, and three times that if i is a power of two. 1 is
    not counted as one: only so do Tables 4 and 5 come out.

    Parameters
    ----------
    q : float
        Above 0, at most 1.
    minimum, maximum : int
        Smallest and largest size, both included.

    Raises
    ------
    WorkloadError
        For what is not accepted.

    Examples
    --------
    >>> round(favouring_powers_of_two(0.9, 1, 8).mean, 3)
    3.996
    """
    require(0 < q <= 1, "q", q, "a number above 0, at most 1")
    UniformSizes(minimum, maximum)  # refuses what is no interval
    sizes = np.arange(minimum, maximum + 1)
    power = (sizes & (sizes - 1) == 0) & (sizes > 1)
    weights = np.where(power, 3.0, 1.0) * q ** (sizes - minimum).astype(float)
    return TabulatedSizes(minimum, maximum, tuple(weights.tolist()))


def sizes_of_log(path: str | os.PathLike[str], largest: int) -> TabulatedSizes:
    """Return the sizes of the jobs of a log as they are distributed there.

    Parameters
    ----------
    path : path
        The log, read and cleaned by `grid.logs.swf.read_swf`.
    largest : int
        Larger jobs are left out; `TabulatedSizes.left_out` says how many.

    Raises
    ------
    WorkloadError
        If the file cannot be read, or all jobs are larger.
    """
    sample = JobSample.of_log(path, largest)
    kept = sample.sizes
    low, high = int(kept.min()), int(kept.max())
    weights = np.bincount(kept)[low:].astype(float)
    return TabulatedSizes(low, high, tuple(weights.tolist()), sample.left_out)


def parse_sizes(text: str, largest: int) -> SizeDistribution:
    """Return the law that a text such as ``D(0.9)[1,32]`` describes.

    Parameters
    ----------
    text : str
        One of the forms in the head of this module.
    largest : int
        Most processors that a size may have: refused in an interval, left out of a log.

    Raises
    ------
    WorkloadError
        For a text that says no law, or one whose sizes are not all accepted.

    Examples
    --------
    >>> parse_sizes("U[1,7]", 32).mean
    4.0
    """
    if text.startswith(_LOG):
        return sizes_of_log(text.removeprefix(_LOG), largest)
    law = _LAW.fullmatch(text)
    if law is None:
        raise WorkloadError(f"distribution: found {quoted(text)}; accepted: {ACCEPTED}")
    low, high = int(law["low"]), int(law["high"])
    if not 1 <= low <= high <= largest:
        raise WorkloadError(
            f"distribution {quoted(text)}: found sizes from {low} to {high}; accepted: from 1 to "
            f"at most {largest}, the lower one first"
        )
    if law["q"] is None:
        return UniformSizes(low, high)
    try:
        q = number(law["q"].strip())
    except ValueError:
        q = 0.0
    if not 0 < q <= 1:
        raise WorkloadError(
            f"distribution {quoted(text)}: found q = {quoted(law['q'])}; accepted: a number above "
            "0, at most 1"
        )
    return favouring_powers_of_two(q, low, high)
