"""From the chance that jobs fit together to the maximal utilization (`maxutil`, eqs. 2 to 4)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

_NEGLIGIBLE = 1e-13


@dataclass(frozen=True)
class Capacity:
    """How much of a multicluster jobs can use when there is always one more waiting.

    Attributes
    ----------
    mpl : float
        M, the mean number of jobs that are served at a time (maximal multiprogramming level).
    job_size : float
        Mean number of processors of a job.
    processors : int
        Of all clusters.
    """

    mpl: float
    job_size: float
    processors: int

    @property
    def utilization(self) -> float:
        """The maximal utilization, the load at which queues grow without end (eq. 3)."""
        return self.mpl * self.job_size / self.processors

    @property
    def capacity_loss(self) -> float:
        """The share of the processors that is idle at the maximal utilization."""
        return max(0.0, 1.0 - self.utilization)  # which is rounded


def capacity_of(
    fits: Iterable[float],
    job_size: float,
    processors: int,
    slotted: bool = False,
    blank: float = 0.0,
) -> Capacity:
    """Return the capacity of a system of which is known how many jobs fit.

    Parameters
    ----------
    fits : iterable of float
        F^(1)(N), F^(2)(N), ...: the probability that the first i jobs fit together. It may be
        endless; it is read until what remains is negligible.
    job_size : float
        Mean number of processors of a draw.
    processors : int
        Of all clusters.
    slotted : bool
        Service is deterministic and jobs start and end in step (eq. 4); else it is exponential
        (eq. 2).
    blank : float
        Probability, below 1, that a draw asks for no processor and is no job.

    Notes
    -----
    Eq. 2 is M = 1 / (1 - sum over i >= 2 of F^(i)(N) / (i (i - 1))). Read with blank draws as jobs,
    both it and eq. 3 hold for the draws: Poisson thinning shows that leaving them out divides the
    denominator by 1 - blank, so that M counts the others and the utilization is the same. In
    eq. 4, M = sum of F^(i)(N) is one less than the draws up to the first job that does not fit, of
    which a share 1 - blank is jobs.
    """
    total = 0.0
    for i, fit in enumerate(fits, 1):
        if slotted:
            total += fit
        elif i > 1:
            total += fit / (i * (i - 1))
        if fit < _NEGLIGIBLE:
            break
    jobs = 1.0 - blank
    mpl = jobs * (total + 1.0) - 1.0 if slotted else jobs / (1.0 - total)
    return Capacity(mpl, job_size / jobs, processors)
