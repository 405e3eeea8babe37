"""A schedule: where and when each job runs."""

from __future__ import annotations

from typing import NamedTuple


class Placement(NamedTuple):
    """One job of a cluster's schedule.

    Attributes
    ----------
    job : int
        Index of the job, from 0.
    start : float
        Starting time, seconds after dispatch.
    resources : tuple of int
        The cluster's processors that run it, from 0.
    """

    job: int
    start: float
    resources: tuple[int, ...]
