"""Unordered requests, placed Worst Fit: the WF-convolution (`maxutil`, section 4.2)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from grid.capacity.cost import check_cost, jobs_at_once, multisets
from grid.capacity.level import Capacity, capacity_of
from grid.capacity.requests import Requests, non_increasing
from grid.kernel.compile import compiled

_ADD, _SORT = 1e-9, 2e-11
"""CPU seconds of adding a job to a state, and of sorting its components, for each two of them."""


def unordered_capacity(requests: Requests, slotted: bool = False) -> Capacity:
    """Return the approximate capacity for unordered requests placed Worst Fit, FCFS (eqs. 5 and 3).

    Parameters
    ----------
    requests : Requests
        The law of jobs, and the size of the clusters, which are equal.
    slotted : bool
        Eq. 4, for deterministic service in step, in place of eq. 5, for exponential service.

    Raises
    ------
    GridError
        If it would take too long.

    Notes
    -----
    It is an approximation because it runs over all orders in which jobs fill an empty system, but
    not over those in which they leave it. Mostly it loses too little, up to some 0.007 in Tables 3
    and 4, but it is no bound. On a single cluster it is exact.

    Examples
    --------
    >>> jobs = Requests.independent([0, 0.5, 0.5], clusters=2, size=4)
    >>> round(unordered_capacity(jobs).capacity_loss, 4)
    0.1523
    """
    clusters, size = requests.clusters, requests.size
    states = multisets(size + 1, clusters)
    pairs = states * len(requests.probabilities) / (clusters + 1)  # of which one fits the other
    least = int(requests.components.sum(axis=1).min())
    jobs = jobs_at_once(size * clusters, requests.job_size, least)
    check_cost("unordered requests", _ADD * pairs * jobs, 2 * clusters * states)
    grouped = _grouped(requests)
    sorts = states * len(grouped[0]) * clusters**2
    check_cost("unordered requests", (_ADD * pairs + _SORT * sorts) * jobs)
    fits = _fits(requests, grouped)
    return capacity_of(fits, requests.job_size, clusters * size, slotted)


def _fits(requests: Requests, grouped: tuple[npt.NDArray[Any], ...]) -> Iterator[float]:
    """Yield F^(i)(N, ..., N) of the i-fold WF-convolution for i = 1, 2, ..."""
    clusters, size = requests.clusters, requests.size
    states = non_increasing(size, clusters)
    # The place of a non-increasing vector s among all: the sum of rank[k, s[k]].
    rank = np.array(
        [
            [math.comb(n + clusters - 1 - k, clusters - k) for n in range(size + 1)]
            for k in range(clusters)
        ]
    )
    others = np.zeros(max(clusters - 1, 1), np.int64)
    held, after = np.zeros(len(states)), np.zeros(len(states))
    held[0] = 1.0
    while True:
        after[:] = 0.0
        _add(held, after, states, rank, *grouped, size, others)
        held, after = after, held
        yield float(held.sum())


def _grouped(requests: Requests) -> tuple[npt.NDArray[Any], ...]:
    """Return the kinds of jobs in groups that differ in the largest component only.

    Returns
    -------
    smaller : shape (groups, C - 1)
        All components but the largest of a group, from the smallest on; in lexicographic order.
    skip : shape (groups, C - 1)
        The next group that differs in the components up to that one.
    first : shape (groups + 1,)
        Where the kinds of a group begin.
    largest, probability : shape (kinds,)
        Largest component and probability of each kind.
    """
    rising = requests.components[:, ::-1]
    order = np.lexsort(rising.T[::-1])
    rising = rising[order]
    changed = np.ones((len(rising), requests.clusters), bool)  # in the components before that one
    changed[1:, 0] = False
    changed[1:, 1:] = np.logical_or.accumulate(np.diff(rising[:, :-1], axis=0) != 0, axis=1)
    first = np.flatnonzero(changed[:, -1])
    smaller, changed = rising[first, :-1], changed[first, 1:]
    skip: npt.NDArray[np.int64] = np.full(smaller.shape, len(first))
    for group in range(len(first) - 2, -1, -1):
        skip[group] = np.where(changed[group + 1], group + 1, skip[group + 1])
    return (
        np.ascontiguousarray(smaller),
        skip,
        np.append(first, len(rising)),
        np.ascontiguousarray(rising[:, -1]),
        requests.probabilities[order],
    )


@compiled(boundscheck=False)
def _add(
    held: npt.NDArray[np.float64],
    after: npt.NDArray[np.float64],
    states: npt.NDArray[np.int64],
    rank: npt.NDArray[np.int64],
    smaller: npt.NDArray[np.int64],
    skip: npt.NDArray[np.int64],
    first: npt.NDArray[np.int64],
    largest: npt.NDArray[np.int64],
    probability: npt.NDArray[np.float64],
    size: int,
    others: npt.NDArray[np.int64],
) -> None:
    """Add one more job to every state: ord(t + rev(u)) for all t and u that fit (compiled).

    The smallest component goes to the cluster with most processors in use, and so on. All
    clusters but the last are sorted once for a group; where its last one comes in then only moves
    to the front as the largest component rises.
    """
    last = states.shape[1] - 1
    for state in range(len(held)):
        mass = held[state]
        if mass == 0.0:
            continue
        group = 0
        while group < len(smaller):
            beyond = -1
            for k in range(last):
                used = states[state, k] + smaller[group, k]
                if used > size:
                    beyond = k
                    break
                place = k
                while place > 0 and others[place - 1] < used:
                    others[place] = others[place - 1]
                    place -= 1
                others[place] = used
            if beyond >= 0:
                group = skip[group, beyond]
                continue
            base = 0
            for k in range(last):
                base += rank[k, others[k]]
            place = last
            for kind in range(first[group], first[group + 1]):
                used = states[state, last] + largest[kind]
                if used > size:
                    break
                while place > 0 and others[place - 1] < used:
                    place -= 1
                    base += rank[place + 1, others[place]] - rank[place, others[place]]
                after[base + rank[place, used]] += mass * probability[kind]
            group += 1
