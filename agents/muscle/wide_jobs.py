"""Jobs larger than any cluster, for a global scheduler that works in rounds: split over several."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from agents.muscle.booking import Booked
from agents.view import KnownLink
from grid.kernel.statistics import TOLERANCE

Indices = npt.NDArray[np.int64]


def room(booked: Booked, at: float) -> int:
    """Return how many processors of a cluster are free at a time (s) and promised to no job."""
    return int((booked.release <= at).sum())


def enough_at(size: int, booked: Iterable[Booked]) -> float:
    """Return when there is room for a job on all clusters together, s; infinity: never."""
    release = np.sort(np.concatenate([each.release for each in booked]))
    return float(release[size - 1]) if size <= len(release) else np.inf


def within(links: Iterable[KnownLink], lslt: float) -> bool:
    """Tell whether no link is over a threshold, of which 1 is its capacity (LSLT, `beosim`)."""
    return all(link.demand <= lslt * link.capacity * (1.0 + TOLERANCE) for link in links)


def largest_first(size: int, rooms: Sequence[int]) -> Indices | None:
    """Split a job from the cluster with most room on (`beosim`, First-Fit and B1).

    Parameters
    ----------
    size : int
        Processors of the job.
    rooms : sequence of int, shape (clusters,)
        Processors that it can have of each cluster.

    Returns
    -------
    array of int64, shape (clusters,), or None
        What it takes of each cluster; None if there is not enough. Of equals, the first is taken.

    Examples
    --------
    >>> largest_first(9, [3, 5, 4])
    array([0, 5, 4])
    """
    take = np.zeros(len(rooms), np.int64)
    for cluster in np.argsort(np.negative(rooms), kind="stable").tolist():
        take[cluster] = min(size, rooms[cluster])
        size -= take[cluster]
    return None if size else take


def booked_with(booked: Booked, take: int, finish: float, time: float, slack: float) -> Booked:
    """Return a booking with a part of a split job on the processors that are free first.

    Parameters
    ----------
    take : int
        Processors of the part.
    finish, time, slack : float
        Of the job, as in `Booked.unfinished`.
    """
    release = booked.release.copy()
    release[np.argsort(release, kind="stable")[:take]] = finish
    row = np.array([[finish, time, take, slack]])
    return replace(booked, release=release, unfinished=np.concatenate([booked.unfinished, row]))
