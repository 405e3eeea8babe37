"""The true capacity of tiny systems: a Markov chain solved in full."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from grid.capacity.level import Capacity
from grid.capacity.requests import Requests
from grid.errors import GridError

MOST_STATES = 200_000
"""States that a chain may have."""

Components = tuple[int, ...]
"""Processors of a job: by cluster if it is served, from the largest if it waits."""

Queue = tuple[tuple[Components, int], ...]
"""Waiting jobs from the head, each with how often it was overtaken."""

State = tuple[tuple[Components, ...], Queue]
"""Jobs served, in no order, and the queue."""


def true_capacity(
    requests: Requests, waiting: int = 1, max_jumps: int | None = None
) -> tuple[Capacity, int]:
    """Return the exact capacity for unordered requests placed Worst Fit, and the number of states.

    Service is exponential. A closed queue of `waiting` jobs waits all the time: whenever a job
    starts, the next one enters at the tail. At each departure the queue is scanned from the head,
    and what fits starts (FPFS); a queue of one job is FCFS. A component goes, the largest first, to
    the cluster of most idle processors; to the first of them at a tie.

    Parameters
    ----------
    requests : Requests
        The law of jobs, and the size of the clusters. Ordered requests have a formula that is
        exact (`ordered_capacity`), as total ones have, which are those of a single cluster.
    waiting : int
        K, the number of waiting jobs, from 1. It makes a difference: the longer the queue, the
        more jobs there are that may fit.
    max_jumps : int, optional
        MaxJumps: nobody overtakes a job that was overtaken that often; never by default. 0 is FCFS.

    Raises
    ------
    GridError
        If K or MaxJumps is not accepted, or there are more than `MOST_STATES` states.

    Notes
    -----
    A state of the chain is where the components of the jobs in service are, and what waits in which
    order. From the empty system all states that can come about are listed; the stationary
    probabilities come by iteration on the uniformized chain, to some 10 digits.

    Examples
    --------
    What the approximation (eq. 5) misses, and what overtaking is worth:

    >>> from grid.capacity.unordered import unordered_capacity
    >>> jobs = Requests.independent([0, 1/3, 1/3, 1/3], clusters=2, size=6)
    >>> round(unordered_capacity(jobs).capacity_loss, 4)
    0.1779
    >>> fcfs, states = true_capacity(jobs)
    >>> round(fcfs.capacity_loss, 4), states
    (0.1799, 591)
    >>> fpfs, states = true_capacity(jobs, waiting=2)
    >>> round(fpfs.capacity_loss, 4), states
    (0.1481, 3131)
    """
    if waiting < 1:
        raise GridError(f"waiting jobs: found {waiting}; accepted: a number from 1")
    if max_jumps is not None and max_jumps < 0:
        raise GridError(f"max_jumps: found {max_jumps}; accepted: a number from 0")
    states, moves = _Chain(requests, waiting, max_jumps).explored()
    served = np.array([len(state[0]) for state in states], dtype=np.float64)
    mpl = float(_stationary(served, moves) @ served)
    capacity = Capacity(mpl, requests.job_size, requests.clusters * requests.size)
    return capacity, len(states)


class _Chain:
    """The states that can come about, and how often one follows another."""

    def __init__(self, requests: Requests, waiting: int, max_jumps: int | None) -> None:
        self._kinds = [
            (tuple(kind), probability)
            for kind, probability in zip(
                requests.components.tolist(), requests.probabilities.tolist(), strict=True
            )
            if probability
        ]
        self._clusters, self._size = requests.clusters, requests.size
        self._waiting, self._max_jumps = waiting, max_jumps

    def explored(self) -> tuple[list[State], list[tuple[int, int, float]]]:
        """Return the states, and the rate of each move from one to another."""
        number: dict[State, int] = {}
        moves: list[tuple[int, int, float]] = []
        states: list[State] = []

        def numbered(state: State) -> int:
            if state not in number:
                if len(states) == MOST_STATES:
                    raise GridError(
                        f"chain: found more than {MOST_STATES} states; accepted: a system with "
                        "fewer kinds of jobs, fewer processors or a shorter queue"
                    )
                number[state] = len(states)
                states.append(state)
            return number[state]

        for state, _ in self._filled((), (), 0):
            numbered(state)
        done = 0
        while done < len(states):
            served, queue = states[done]
            for leaving, count in Counter(served).items():
                left = list(served)
                left.remove(leaving)
                for state, probability in self._filled(tuple(left), queue, 0):
                    moves.append((done, numbered(state), count * probability))
            done += 1
        return states, moves

    def _filled(
        self, served: tuple[Components, ...], queue: Queue, at: int
    ) -> Iterator[tuple[State, float]]:
        """Yield what becomes of a queue that is scanned from a place on, and how probably."""
        while at < len(queue) and not self._kept_from_jumps(queue[:at]):
            placed = self._placed(served, queue[at][0])
            if placed is None:
                at += 1
                continue
            served = tuple(sorted((*served, placed)))
            ahead = queue[:at]
            if self._max_jumps is not None:
                ahead = tuple((kind, jumps + 1) for kind, jumps in ahead)
            queue = ahead + queue[at + 1 :]
        if len(queue) == self._waiting:
            yield (served, queue), 1.0
            return
        for kind, probability in self._kinds:
            for state, chance in self._filled(served, (*queue, (kind, 0)), at):
                yield state, probability * chance

    def _kept_from_jumps(self, ahead: Queue) -> bool:
        """Return whether one of those ahead must not be overtaken."""
        return any(jumps == self._max_jumps for _, jumps in ahead)

    def _placed(self, served: tuple[Components, ...], kind: Components) -> Components | None:
        """Return the processors by cluster that Worst Fit gives a job, or None if it waits."""
        idle = [self._size - sum(used) for used in zip(*served, strict=True)]
        idle = idle or [self._size] * self._clusters
        placed = [0] * self._clusters
        for component, cluster in zip(
            kind, sorted(range(self._clusters), key=lambda c: -idle[c]), strict=True
        ):
            if component > idle[cluster]:
                return None
            placed[cluster] = component
        return tuple(placed)


def _stationary(
    rates: npt.NDArray[np.float64], moves: list[tuple[int, int, float]]
) -> npt.NDArray[np.float64]:
    """Return the stationary probabilities of a chain that leaves its states at those rates."""
    from scipy.sparse import csr_array

    origin, target, rate = (np.array(column) for column in zip(*moves, strict=True))
    step = 1.0 / (rates.max() + 1.0)
    into = csr_array((step * rate, (target, origin)), shape=(len(rates), len(rates)))
    stay = 1.0 - step * rates
    probabilities = np.full(len(rates), 1.0 / len(rates))
    change = 1.0
    while change > 1e-13:
        after = into @ probabilities + stay * probabilities
        after /= after.sum()
        change = np.abs(after - probabilities).sum()
        probabilities = after
    return probabilities
