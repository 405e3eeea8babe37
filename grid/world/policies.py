"""How a world's schedulers decide: flags, functions in Python, addresses of compiled ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from grid.kernel import state as k
from grid.kernel.queueing.fair_share import give_share
from grid.world.storage import Storage
from grid.world.validation import check_memory

LATER: Any = object()
"""What a `place` answers that puts its decision off: the world stops, and asks again."""


class GlobalRules:
    """How jobs are offered to a global scheduler, and what it may do with them.

    A subclass sets what differs from these defaults, or each of its objects does.
    """

    max_jumps: float = math.inf
    """How often a waiting job may be overtaken: 0 is FCFS, more FPFS (`maxutil`, section 2.4)."""

    queues: str = ""
    """Which queues it visits instead of having jobs offered in order of arrival: "global", one for
    all jobs; "local", that of the cluster of origin; "by-components", the local one for jobs of a
    single component and the global one for others."""

    spans: bool = False
    """Jobs larger than any cluster are accepted, since the scheduler will split them."""

    penalty: float = 0.0
    """Factor on the execution time of a job that is split, whatever its links; 0: links decide."""

    larger_wait: bool = False
    """When `place` has a job wait, it would have any as large wait too, or reject it, until
    something changes: those are not asked about, and what happens is the same."""

    reconsiders: bool = False
    """An arrival has all waiting jobs offered, not only the new one."""

    collects: bool = False
    """Jobs are collected and allocated in rounds; `place` is never called."""


class Addresses(NamedTuple):
    """Where the compiled decisions of a global scheduler are; 0 for those that Python makes."""

    place: int = 0
    largest: int = 0
    visit: int = 0


class Policies:
    """Whom a world asks, and what it has been told of them.

    Parameters
    ----------
    storage : Storage
        Of the world.
    place, rank, visit : callable or None
        Decisions in Python, as of `grid.world.world.World`.

    Attributes
    ----------
    predict : callable or None
        Takes the row of a job that arrives and returns the run time to expect on a cluster of
        rate 1, s.
    """

    def __init__(
        self,
        storage: Storage,
        place: Callable[[int], int] | None,
        rank: Callable[[int], float] | None,
        visit: Callable[[], float] | None,
    ) -> None:
        self._storage = storage
        self.place = place
        self.rank = rank
        self.visit = visit
        self.predict: Callable[[np.void], float] | None = None

    @property
    def asked_about(self) -> float:
        """The time that the global scheduler is asked about, s: now, or one to come."""
        state = self._storage.state
        return float(state.known["now"]) if state.passing else state.now

    def set_global(
        self,
        rules: GlobalRules | None = None,
        compiled: Addresses | None = None,
        memory: npt.NDArray[np.float64] | None = None,
        stream: npt.NDArray[np.uint64] | None = None,
        reservations: int = 0,
    ) -> None:
        """Say how the global scheduler decides.

        Parameters
        ----------
        rules : GlobalRules, optional
            How jobs are offered to it, and what it may do with them.
        compiled : Addresses, optional
            Its compiled decisions.
        memory : array of float64, optional
            What a compiled `place` gets as its memory.
        stream : array of uint64, shape (4,), optional
            Random stream that a compiled `place` finds in ``known.stream``.
        reservations : int
            How many of the first waiting jobs have reservations, beside which others may start
            (`grid.kernel.queueing.global_backfilling`); 0: the first that fits, or `max_jumps`
            decides.
        """
        rules = rules or GlobalRules()
        storage, state = self._storage, self._storage.state
        free = reservations > 0 or rules.max_jumps == np.inf
        state.collect, state.reconsider = int(rules.collects), int(rules.reconsiders)
        state.max_jumps = k.NOBODY if free else int(rules.max_jumps)
        self.set_addresses(compiled or Addresses())
        state.penalty = rules.penalty
        state.largest = int(state.size.sum() if rules.spans else state.size.max())
        state.spans = int(rules.spans)
        # What is refused to a job that cannot run everywhere says nothing of larger ones.
        larger_wait = rules.larger_wait and state.partial == 0
        # Only who knows all at once can rely on what it found before, and is never refused a start.
        relies = larger_wait and free and reservations == 0 and bool(state.at_once.all())
        state.larger_wait = int(larger_wait)
        state.by_size = int(relies and state.largest < k.LINES)
        state.visits, state.queues = int(rules.queues != ""), k.QUEUES[rules.queues]
        if memory is not None:
            check_memory(memory)
            storage.replace(memory=memory)
        if stream is not None:
            state.known["stream"] = stream
        state.most_reservations = reservations
        state.relied_on |= int(reservations > 0)
        storage.forget_foresight()
        if reservations > 0:
            storage.make_foresight()

    def set_addresses(self, compiled: Addresses) -> None:
        """Say where the compiled decisions of the global scheduler are."""
        state = self._storage.state
        state.place_at, state.visit_at = compiled.place, compiled.visit
        # Unless all may be overtaken, a large job blocks those behind it, now or later.
        state.largest_at = compiled.largest if state.max_jumps == k.NOBODY else 0

    def limit_size(self, largest: int) -> None:
        """Have larger jobs rejected as they are submitted, beside those that are anyway."""
        self._storage.state.largest = min(self._storage.state.largest, largest)

    def set_local(
        self,
        cluster: int,
        address: int = 0,
        planned: bool = False,
        service: str = "head",
        max_jumps: float = np.inf,
        half_life: float = 0.0,
        shares: Mapping[int, float] | None = None,
        at_ends: bool = False,
    ) -> None:
        """Say how a cluster serves its queue.

        Parameters
        ----------
        cluster : int
            Index of the cluster.
        address : int
            Address of a compiled `priority`, or 0 for the Python one.
        planned : bool
            Plans give the order instead.
        service : str
            Which jobs start, a key of `grid.kernel.state.SERVICES`: those at the head of the queue
            while they fit, or others too. To be said before any job arrives.
        max_jumps : float
            How often a waiting job may be overtaken under ``"fpfs"``.
        half_life : float
            The order is that of what users have used, of which half counts after so long, s
            (`grid.kernel.queueing.fair_share`), whatever a `priority`; 0: it is not. To be said
            before any job arrives.
        shares : mapping of int to float, optional
            Of users, by number; those of all others are 1.
        at_ends : bool
            Another plan is asked for when a job ends, too.
        """
        storage, state = self._storage, self._storage.state
        state.priority_at[cluster] = address
        asked = k.AT_ENDS if at_ends else k.AT_LANDINGS
        state.planned[cluster] = asked if planned else k.NEVER
        state.service[cluster] = k.SERVICES[service]
        state.relied_on |= int(k.SERVICES[service] >= k.EASY)
        state.half_life[cluster] = half_life
        if half_life > 0.0:
            for user, share in (shares or {}).items():
                storage.make_room_for_user()
                give_share(state.array, cluster, user, share)
            storage.make_room_for_user()
        state.may_be_overtaken[cluster] = k.NOBODY if max_jumps == np.inf else int(max_jumps)
        if service != "head":
            storage.make_room_to_backfill()

    def notify(self, wanted: bool) -> None:
        """Have `World.advance` return when jobs were collected or ended unexpectedly, or not."""
        self._storage.state.notify = int(wanted)

    def await_room(self, wanted: bool) -> None:
        """Have `World.advance` return ``COLLECTED`` also when processors may be free, or not."""
        self._storage.state.awaits_room = int(wanted)

    def set_prediction(
        self,
        rates: npt.NDArray[np.float64],
        predict: Callable[[np.void], float] | None = None,
        requested: bool = False,
        on_each_cluster: bool = False,
    ) -> None:
        """Say what those who decide expect of execution times, instead of the truth.

        Parameters
        ----------
        rates : array, shape (clusters,)
            Speed of each cluster relative to rate 1 that they expect.
        predict : callable, optional
            Takes the row of a job that arrives and returns the run time on a cluster of rate 1
            that they expect, s. Called once a job, in order of arrival.
        requested : bool
            They expect the requested time, which every job has then.
        on_each_cluster : bool
            Each time, `predict` calls `expect`.
        """
        self._storage.known["rate"][:] = self._storage.state.predicted_rate = rates
        asked = k.TRUTH if predict is None else k.ASKED
        self._storage.state.predicting = k.REQUESTED if requested else asked
        self.predict = predict
        if on_each_cluster:
            self._storage.make_room_to_predict()

    def expect(self, times: npt.NDArray[np.float64]) -> None:
        """Say how long the job that arrives is expected to run on each cluster, s."""
        assert self._storage.predicted is not None
        self._storage.predicted[self._storage.state.vacant] = times
