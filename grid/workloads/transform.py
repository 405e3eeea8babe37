"""Changes to the times of jobs; each returns new jobs. Deadlines keep their distance."""

from __future__ import annotations

import math

import numpy as np

from grid.errors import WorkloadError, require
from grid.jobs import LONGEST, JobArray


def scale_load(jobs: JobArray, factor: float) -> JobArray:
    """Return the jobs with arrival times divided by `factor`, which multiplies the load.

    Parameters
    ----------
    jobs : JobArray
    factor : float
        Above 0; 2 makes jobs arrive twice as fast.

    Raises
    ------
    WorkloadError
        If the factor is not a number above 0, or so small that time goes beyond `LONGEST`.
    """
    require(0 < factor < math.inf, "load_factor", factor, "a number above 0")
    jobs = jobs.copy()
    arrival = jobs["arrival"] / factor
    last = float(arrival.max(initial=0.0))
    require(last <= LONGEST, "load_factor", factor, f"arrivals up to {LONGEST:g} s, not {last:g}")
    jobs["deadline"] += arrival - jobs["arrival"]
    jobs["arrival"] = arrival
    return jobs


def window(jobs: JobArray, start: float, end: float = math.inf) -> JobArray:
    """Return the jobs that arrive in [start, end), with time beginning at `start`.

    Parameters
    ----------
    jobs : JobArray
        In order of arrival.
    start, end : float
        Seconds from the first arrival: 0 <= start < end.

    Raises
    ------
    WorkloadError
        If the window cannot be used or no job arrives in it.
    """
    require(0 <= start < math.inf, "window_start", start, "seconds from 0")
    if not start < end:
        raise WorkloadError(
            f"window_end: found {end:,.15g} s; accepted: above window_start, {start:,.15g} s"
        )
    since = jobs["arrival"] - jobs["arrival"][0]
    kept = jobs[(since >= start) & (since < end)]
    if not len(kept):
        until = f"to {end:,.15g} s" if end < math.inf else "s on"
        raise WorkloadError(
            f"empty workload: found none of {len(jobs):,} jobs in the window from {start:,.15g} "
            f"{until}; accepted: a window with arrivals, which are from 0 to {since[-1]:,.15g} s"
        )
    return moved(kept, jobs["arrival"][0] + start)


def moved(jobs: JobArray, zero: float) -> JobArray:
    """Return the jobs with time counted from `zero`."""
    jobs = jobs.copy()
    jobs["arrival"] = np.maximum(jobs["arrival"] - zero, 0.0)  # rounding makes none negative
    jobs["deadline"] -= zero
    return jobs
