"""What jobs communicate when they are split: a share of their run time, and a bandwidth."""

from __future__ import annotations

from collections.abc import Container

from grid.errors import require
from grid.jobs import WIDEST, JobArray
from grid.kernel.compile import compiled, inlined

COMMUNICATION = ("computation_fraction", "ppbw")
"""Columns of jobs that tell it."""


def check_communication(computation_fraction: float, bisection_bandwidth: float) -> None:
    """Refuse a share or a bandwidth (Mbit/s) that is none, with a `WorkloadError`."""
    require(
        0 <= computation_fraction <= 1,
        "computation fraction",
        computation_fraction,
        "a number from 0 to 1",
    )
    require(
        0 <= bisection_bandwidth <= WIDEST,
        "bisection bandwidth",
        bisection_bandwidth,
        f"Mbit/s, from 0 to {WIDEST:g}",
    )


def assign_communication(
    jobs: JobArray,
    computation_fraction: float,
    bisection_bandwidth: float,
    told: Container[str] = (),
) -> JobArray:
    """Return the jobs with what they communicate, as if they were synthetic.

    Parameters
    ----------
    jobs : JobArray
    computation_fraction : float
        Share of the run time that is computation where links are not shared (K of `beosim`).
    bisection_bandwidth : float
        What each half of a job tells the other, Mbit/s (BSBW of `beosim`); a job of one processor
        tells nobody anything.
    told : container of str
        Columns, of `COMMUNICATION`, that stay as they are.

    Raises
    ------
    WorkloadError
        If one of them cannot be used.

    Examples
    --------
    >>> from grid.jobs import job_table
    >>> jobs = job_table(2)
    >>> jobs["size"] = 1, 4
    >>> assign_communication(jobs, 0.7, 400.0)["ppbw"].tolist()
    [0.0, 300.0]
    """
    check_communication(computation_fraction, bisection_bandwidth)
    communicating = jobs.copy()
    fill_communication(communicating, float(computation_fraction), float(bisection_bandwidth))
    for name in COMMUNICATION:
        if name in told:
            communicating[name] = jobs[name]
    return communicating


@inlined
def ppbw_at(bisection_bandwidth: float, size: int) -> float:
    """Return the bandwidth that each processor of a job needs, Mbit/s (`beosim`, eq. 8)."""
    return bisection_bandwidth * 4.0 * (size - 1.0) / (size * size)


@compiled()
def fill_communication(
    jobs: JobArray, computation_fraction: float, bisection_bandwidth: float
) -> None:
    """Have all jobs communicate (compiled)."""
    for row in range(len(jobs)):
        jobs[row].computation_fraction = computation_fraction
        jobs[row].ppbw = ppbw_at(bisection_bandwidth, jobs[row].size)
