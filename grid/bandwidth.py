"""What sharing links does to jobs that span clusters (`beosim`, sections 3.3 to 3.7).

Written plainly, to be checked against the paper by eye; compiled versions are tested against it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from grid.errors import GridError
from grid.foreign import quoted
from grid.kernel.statistics import TOLERANCE

FloatArray = npt.NDArray[np.float64]


def link_demand(
    counts: npt.ArrayLike, ppbw: npt.ArrayLike, side: npt.NDArray[np.bool_]
) -> FloatArray:
    """Return the bandwidth that all-to-all jobs need on each link to run at full speed.

    Equation 1 of `beosim`, generalised from a star to a tree: with n nodes in all, k of them on
    one side of a link, each of the k sends (n - k) of its (n - 1) messages across.

    Parameters
    ----------
    counts : array_like of int, shape (clusters,) or (jobs, clusters)
        Nodes of a job on each cluster.
    ppbw : array_like of float, scalar or shape (jobs,)
        Bandwidth that each node of a job needs, Mbit/s.
    side : ndarray of bool, shape (links, clusters)
        Which clusters lie on one and the same side of each link (`grid.platform.topology.sides`).

    Returns
    -------
    ndarray of float, shape (links,) or (jobs, links)
        Demand in Mbit/s; 0 where a job has all its nodes on one side.

    Examples
    --------
    Six nodes on three clusters of a star, three of them on the first (Figure 5):

    >>> link_demand([3, 2, 1], 10.0, np.eye(3, dtype=bool)).tolist()
    [18.0, 16.0, 10.0]
    """
    nodes = np.asarray(counts, np.float64)  # whose products, unlike those of integers, never wrap
    total = nodes.sum(axis=-1, keepdims=True)
    far = nodes @ np.asarray(side, np.float64).T
    others = np.maximum(total - 1, 1)  # a job of one node has none, and sends nothing
    demand: FloatArray = far * (total - far) / others * np.asarray(ppbw)[..., np.newaxis]
    return demand


def bandwidth_shares(demands: npt.ArrayLike, capacities: npt.ArrayLike) -> FloatArray:
    """Return the share of its required bandwidth that each job is allotted.

    The saturation algorithm of `beosim` (section 3.5, equations 3 to 5): the most saturated link
    slows every job on it that is not yet slowed, by the ratio of what is still available there to
    what those jobs require; they keep that ratio on all their links; and so on, until no link is
    saturated. Step 3 of the paper prints the initial ratio of equation 3 as the factor; the
    current one of equation 4 is used instead, since the initial one leaves bandwidth unused on
    saturated links after the first. The outcome is bottleneck fairness: the ratio of a slowed job
    is the largest of all ratios on some full link.

    Parameters
    ----------
    demands : array_like of float, shape (jobs, links)
        What each job requires on each link, Mbit/s (`link_demand`).
    capacities : array_like of float, shape (links,)
        Capacity of each link, Mbit/s, positive; inf for no limit.

    Returns
    -------
    ndarray of float, shape (jobs,)
        Ratios in (0, 1]; exactly 1 for a job that crosses no saturated link.

    Examples
    --------
    The first link gives its only job 10 of 20 Mbit/s. On the second that job then takes 10 of
    45, and the other job gets the remaining 35 of the 40 that it requires.

    >>> bandwidth_shares([[20, 20], [0, 40]], [10, 45]).tolist()
    [0.5, 0.875]
    """
    demand = np.asarray(demands, np.float64)
    capacity = np.asarray(capacities, np.float64)
    ratios = np.ones(len(demand))
    unconstrained = np.ones(len(demand), np.bool_)
    level = 0.0
    while True:
        # Both sums are made afresh: subtracting would leave an emptied link looking saturated.
        required = demand[unconstrained].sum(axis=0)
        taken = (ratios[:, np.newaxis] * demand)[~unconstrained].sum(axis=0)
        saturation = np.full(len(capacity), np.inf)
        np.divide(capacity - taken, required, out=saturation, where=required > 0)  # eq. 4
        # Levels only rise; rounding on a nearly full link must not make one fall, below 0 even.
        level = max(level, saturation.min(initial=np.inf))
        if level >= 1 - TOLERANCE:
            return ratios
        bottlenecks = saturation <= level * (1 + TOLERANCE)
        slowed = unconstrained & (demand[:, bottlenecks] > 0).any(axis=1)
        ratios[slowed] = level
        unconstrained &= ~slowed


def allotment_ratios(
    nodes: npt.ArrayLike, ppbw: npt.ArrayLike, capacity: npt.ArrayLike
) -> FloatArray:
    """Return allotted over required bandwidth of all-to-all jobs on a star of dedicated links.

    Equation 1 of `beosim` (`link_demand`), then its saturation algorithm (`bandwidth_shares`).

    Parameters
    ----------
    nodes : array_like of int, shape (jobs, links)
        Nodes of each job on the cluster at the end of each link.
    ppbw : array_like of float, scalar or shape (jobs,)
        Bandwidth that each node of a job needs, Mbit/s, from 0.
    capacity : array_like of float, scalar or shape (links,)
        Capacity of each link, Mbit/s, above 0; inf for no limit.

    Returns
    -------
    ndarray of float, shape (jobs,)
        Ratios in (0, 1]; 1 for a job on one cluster.

    Raises
    ------
    GridError
        If a number is outside its range.

    Examples
    --------
    Two jobs need 18 Mbit/s each of a link of 27; the third uses no link.

    >>> nodes = [[3, 3, 0], [3, 0, 3], [0, 5, 0]]
    >>> allotment_ratios(nodes, 10.0, [27, 100, 100]).tolist()
    [0.75, 0.75, 1.0]
    """
    counts = np.atleast_2d(np.asarray(nodes))
    jobs, links = counts.shape
    bandwidths = np.broadcast_to(np.asarray(ppbw, np.float64), jobs)
    capacities = np.broadcast_to(np.asarray(capacity, np.float64), links)
    for name, valid, values, accepted in (
        ("nodes", (counts >= 0) & (counts == np.floor(counts)), counts, "whole numbers from 0"),
        ("ppbw", (bandwidths >= 0) & (bandwidths < np.inf), bandwidths, "Mbit/s, from 0"),
        ("capacity", capacities > 0, capacities, "Mbit/s, above 0"),
    ):
        if not valid.all():
            raise GridError(
                f"{name}: found {quoted(values[~valid][0].item())}; accepted: {accepted}"
            )
    return bandwidth_shares(link_demand(counts, bandwidths, np.eye(links, dtype=bool)), capacities)


def residual_times(
    computation: npt.ArrayLike,
    communication: npt.ArrayLike,
    elapsed: npt.ArrayLike,
    old_ratio: npt.ArrayLike,
    new_ratio: npt.ArrayLike,
) -> tuple[FloatArray, FloatArray]:
    """Return what is left of running jobs after a change in the use of the links.

    Equations 6 and 7 of `beosim`: the time since the last change was spent on computation and
    communication in proportion to what was left of each. The communication left is kept in
    stretched time, as long as it takes at the present ratio, so it is multiplied by the old ratio
    before it is divided by the new one.

    Parameters
    ----------
    computation, communication : array_like of float
        Residual times at the last change, s, communication stretched by `old_ratio`.
    elapsed : array_like of float
        Time since the last change, s.
    old_ratio, new_ratio : array_like of float
        Allotment ratio since the last change, and from now on (`bandwidth_shares`).

    Returns
    -------
    tuple of two ndarrays of float
        Residual computation and communication, s, the latter stretched by `new_ratio`; their sum
        is the time to the job's end if nothing changes again.

    Examples
    --------
    Of 70 s computing and 30 s communicating half is done when the bandwidth is halved:

    >>> [float(time) for time in residual_times(70, 30, 50, 1, 0.5)]
    [35.0, 30.0]
    """
    total = np.add(computation, communication, dtype=np.float64)
    total, passed = np.broadcast_arrays(total, np.asarray(elapsed, np.float64))
    done = np.divide(passed, total, out=np.ones(total.shape), where=total > 0)
    left = np.maximum(1 - done, 0)  # rounding may put the end of a job just before now
    return computation * left, communication * left * old_ratio / new_ratio
