"""Who decides in a world: Python functions that it calls, or the addresses of compiled ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from grid.kernel import state as k
from grid.kernel.queueing.fair_share import give_share
from grid.platform.brokers import Advertising
from grid.platform.multicluster import Platform
from grid.world.job_queries import Contents
from grid.world.validation import check_memory


class Deciders(Contents):
    """What the world is told about its schedulers.

    Parameters
    ----------
    platform, latency, tracked, advertising, place, rank, visit
        As of `grid.world.World`.
    """

    def __init__(
        self,
        platform: Platform,
        latency: float,
        tracked: bool,
        advertising: Advertising,
        place: Callable[[int], int] | None,
        rank: Callable[[int], float] | None,
        visit: Callable[[], float] | None,
    ) -> None:
        super().__init__(platform, latency, tracked, advertising)
        self._place = place
        self._rank = rank
        self._visit = visit
        self._predict: Callable[[np.void], float] | None = None

    def set_global(
        self,
        address: int = 0,
        memory: npt.NDArray[np.float64] | None = None,
        stream: npt.NDArray[np.uint64] | None = None,
        collect: bool = False,
        max_jumps: float = np.inf,
        spans: bool = False,
        penalty: float = 0.0,
        larger_wait: bool = False,
        reconsiders: bool = False,
        largest: int = 0,
        queues: str = "",
        visit: int = 0,
        reservations: int = 0,
    ) -> None:
        """Say how the global scheduler decides.

        Parameters
        ----------
        address : int
            Address of a compiled `place`, or 0 for the Python one.
        memory : array of float64, optional
            What a compiled `place` gets as its memory.
        stream : array of uint64, shape (4,), optional
            Random stream that a compiled `place` finds in ``known.stream``.
        collect : bool
            Collect jobs for rounds instead of offering them one by one.
        max_jumps : float
            How often a waiting job may be overtaken, from 0 (FCFS).
        spans : bool
            Jobs may be split across clusters, so that one larger than any cluster is accepted.
        penalty : float
            Factor on the execution time of a job that is split, whatever its links; 0: the links
            that it shares decide.
        larger_wait : bool
            When a job must wait, so must all that are as large or larger, so that they need not be
            asked about. What happens is the same, sooner computed.
        reconsiders : bool
            An arrival has all waiting jobs offered.
        largest : int
            Address of a compiled `largest`, or 0.
        queues : str
            Which queues the scheduler visits, a key of `grid.kernel.state.QUEUES`; none: jobs are
            offered to it in order of arrival.
        visit : int
            Address of a compiled `visit`, or 0 for the Python one.
        reservations : int
            How many of the first waiting jobs have reservations, beside which others may start
            (`grid.kernel.queueing.global_backfilling`); 0: the first that fits, or `max_jumps`
            decides.
        """
        free = max_jumps == np.inf
        self._box["collect"], self._box["reconsider"] = int(collect), int(reconsiders)
        self._box["max_jumps"] = k.NOBODY if free else int(max_jumps)
        self.set_addresses(address, largest, visit)
        self._box["penalty"] = penalty
        sizes = self.columns["size"]
        self._box["largest"] = sizes.sum() if spans else sizes.max()
        # Only who knows all at once can rely on what it found before, and is never refused a start.
        relies = larger_wait and free and bool(self.columns["at_once"].all())
        relies = relies and reservations == 0
        self._box["larger_wait"] = int(larger_wait)
        self._box["by_size"] = int(relies and self._box["largest"][0] < k.LINES)
        # Who collects jobs from the beginning, and splits none, never starts one itself.
        self._offering = not collect or spans or self.count("submitted") > 0
        self._arguments = None
        self._box["visits"] = int(queues != "")
        self._box["queues"] = k.QUEUES[queues]
        if memory is not None:
            check_memory(memory)
            self.memory = memory
        if stream is not None:
            self._box["known"]["stream"] = stream
        self._box["most_reservations"] = reservations
        self._foresight = None
        if reservations > 0:
            self._make_foresight()

    def set_addresses(self, place: int, largest: int, visit: int) -> None:
        """Say where the compiled decisions of the global scheduler are, 0 for Python's."""
        # Unless all may be overtaken, a large job blocks those behind it, now or later.
        free = self._box["max_jumps"][0] == k.NOBODY
        self._box["place_at"], self._box["visit_at"] = place, visit
        self._box["largest_at"] = largest if free else 0

    def set_local(
        self,
        cluster: int,
        address: int = 0,
        planned: bool = False,
        service: str = "head",
        max_jumps: float = np.inf,
        half_life: float = 0.0,
        shares: Mapping[int, float] | None = None,
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
        """
        self.columns["priority_at"][cluster] = address
        self.columns["planned"][cluster] = int(planned)
        self.columns["service"][cluster] = k.SERVICES[service]
        self.columns["half_life"][cluster] = half_life
        if half_life > 0.0:
            for user, share in (shares or {}).items():
                self._make_room_for_user()
                give_share(self._box, cluster, user, share)
            self._make_room_for_user()
        jumps = k.NOBODY if max_jumps == np.inf else int(max_jumps)
        self.columns["may_be_overtaken"][cluster] = jumps
        if service != "head":
            self._make_profile()
            self._arguments = None

    def notify(self, wanted: bool) -> None:
        """Have `advance` return when jobs were collected or ended unexpectedly, or not."""
        self._box["notify"] = int(wanted)

    def await_room(self, wanted: bool) -> None:
        """Have `advance` return ``COLLECTED`` when processors may have become free, too, or not."""
        self._box["awaits_room"] = int(wanted)

    def set_prediction(
        self,
        rates: npt.NDArray[np.float64],
        predict: Callable[[np.void], float] | None = None,
        requested: bool = False,
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
        """
        self.known["rate"][:] = rates
        asked = k.TRUTH if predict is None else k.ASKED
        self._box["predicting"] = k.REQUESTED if requested else asked
        self._predict = predict
