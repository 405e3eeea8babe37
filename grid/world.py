"""The world: a multicluster's state, its clock and the kernel that moves it, as one object."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numba
import numpy as np
import numpy.typing as npt
from numba.core import types

from grid import topology
from grid.errors import PlacementError, PlatformError
from grid.jobs import JOB, JobArray
from grid.kernel import access
from grid.kernel import state as k
from grid.kernel.advance import advance
from grid.kernel.processors import set_plan
from grid.platform import Platform

Indices = npt.NDArray[np.int64]

CHUNK = 16384
"""Rows of finished jobs that are kept in the kernel before they are taken out."""


def _column(name: str, doc: str) -> Any:
    def column(self: World) -> npt.NDArray[Any]:
        return self._columns[name]

    column.__doc__ = doc
    return functools.cached_property(column)


@functools.cache
def _loop(capacity: int) -> Callable[..., int]:
    """Return the kernel's loop for a capacity, as a function that takes its arguments on trust.

    numba's dispatcher looks up the types of all arguments at each call, which takes as long as
    a short decision in Python.
    """
    state, sliding = k.state_dtype(capacity), k.sliding_dtype(capacity)
    finished = k.finished_dtype(capacity)
    tables = (state, k.SLOT, k.EVENT, JOB, finished, k.PROCESSOR, k.TURN, sliding)
    arguments = [numba.from_dtype(table)[::1] for table in tables]
    signature = types.int64(*arguments, types.float64[::1], types.float64)
    loop: Callable[..., int] = advance.get_compile_result(signature).entry_point
    return loop


class World:
    """A multicluster in motion.

    Parameters
    ----------
    platform : Platform
        Clusters and links.
    latency : float
        Time that a message between a cluster's broker and the global one takes beside the
        latency of the links on its way, s.
    tracked : bool
        Keep the identity of every processor, which plans with processor sets and failures need.
    place : callable, optional
        Python decision of the global scheduler: takes the slot of a job, returns the index of a
        cluster, ``WAIT``, or ``START`` after filling `take`.
    rank : callable, optional
        Python decision of a local scheduler: takes the slot of a job that landed on its cluster,
        returns its priority (lowest first).

    Attributes
    ----------
    slots : structured array
        The live jobs, by slot (dtype `grid.kernel.state.SLOT`).
    jobs : dict of str to array
        The columns of `slots`; the same dict for ever.
    """

    def __init__(
        self,
        platform: Platform,
        latency: float = 0.0,
        tracked: bool = False,
        place: Callable[[int], int] | None = None,
        rank: Callable[[int], float] | None = None,
    ) -> None:
        self.platform = platform
        self._place = place
        self._rank = rank
        links = topology.uplinks(platform.graph)
        self.links = len(links)
        self.clusters = len(platform.clusters)
        rooms = [room for room in k.CAPACITIES if room >= self.links]
        if not rooms:
            raise PlatformError(f"platform: {self.links} links; accepted: {k.CAPACITIES[-1]}")
        self.capacity = rooms[0]
        self._box = np.zeros(1, k.state_dtype(self.capacity))
        self.slots = np.zeros(0, k.SLOT)
        self.jobs: dict[str, npt.NDArray[Any]] = {}
        self._events = np.zeros(0, k.EVENT)
        self._finished = np.zeros(0, k.finished_dtype(self.capacity))
        self._sliding = np.zeros(8, k.sliding_dtype(self.capacity))
        self._turns = np.zeros(0, k.TURN)
        self._chunk = np.zeros(0, JOB)
        self._source: Iterator[JobArray] = iter(())
        self._records: list[npt.NDArray[np.void]] = []
        self.memory = np.zeros(1)
        self._set_up(tracked, latency, links)
        self._grow()

    def _set_up(self, tracked: bool, latency: float, links: Sequence[tuple[str, str]]) -> None:
        platform, box = self.platform, self._box
        sizes = platform.sizes
        self._columns = {
            name: box[name][0, : self.clusters]
            for name in box.dtype.names or ()
            if box[name].shape == (1, self.capacity)
        }
        for name in ("demand", "capacity"):
            self._columns[name] = box[name][0, : self.links]
        self._columns["waiting"] = box["waiting"][0]
        self.take = box["take"][0]
        for name in ("cursor", "vacant", "vacant_turn", "landing_first", "landing_last"):
            box[name] = k.NONE
        for name in ("root", "running", "parent"):
            box[name] = k.NONE
        box["clusters"], box["links"] = self.clusters, self.links
        box["exhausted"] = 1
        box["tracked"] = int(tracked)
        box["largest"] = sizes.max()
        for name, values in (
            ("size", sizes),
            ("up", sizes),
            ("free", sizes),
            ("known_free", sizes),
            ("rate", platform.rates),
            ("first_processor", np.cumsum(sizes) - sizes),
            ("latency", latency + topology.latencies(platform.graph)),
        ):
            self._columns[name][:] = values
        # Links hang on nodes: clusters first, then switches, as `topology.uplinks` lists them.
        index = {node: i for i, (node, _) in enumerate(links)}
        parents = [index.get(parent, k.NONE) for _, parent in links]
        box["parent"][0, : self.links] = parents
        depth = [0] * self.links
        for link in range(self.links):
            node = parents[link]
            while node != k.NONE:
                depth[link] += 1
                node = parents[node]
        box["deep_first"][0, : self.links] = sorted(range(self.links), key=lambda i: -depth[i])
        self._columns["capacity"][:] = topology.capacities(platform.graph)
        self._processors = np.zeros(int(sizes.sum()) if tracked else 0, k.PROCESSOR)
        self._processors["holder"] = k.FREE
        self._processors["turn"] = k.NONE
        if tracked:
            self._processors["cluster"] = np.repeat(np.arange(self.clusters), sizes)

    def _grow(self) -> None:
        """Make room: twice the slots, and tables that fit them."""
        old = len(self.slots)
        if old == 0 or self._box["vacant"][0] == k.NONE:
            size = max(64, 2 * old)
            self.slots = np.concatenate([self.slots, np.zeros(size - old, k.SLOT)])
            self.slots["next"][old:] = np.arange(old + 1, size + 1)
            self.slots["next"][-1] = self._box["vacant"][0]
            self._box["vacant"] = old
            self.jobs.update({name: self.slots[name] for name in k.SLOT.names or ()})
            finished = self._finished
            self._finished = np.zeros(max(CHUNK, 2 * size), finished.dtype)
            self._finished[: len(finished)] = finished
        room = 2 * (int(self._box["events"][0]) + len(self.slots) + 2 * self.capacity)
        if len(self._events) < room:
            more = np.zeros(room - len(self._events), k.EVENT)
            self._events = np.concatenate([self._events, more])
        if self._box["sliding"][0] == len(self._sliding):
            self._sliding = np.concatenate([self._sliding, np.zeros_like(self._sliding)])

    free = _column("free", "Free processors of each cluster.")
    up = _column("up", "Processors of each cluster that have not failed.")
    running_count = _column("running_count", "Jobs running on each cluster.")
    waiting = _column(
        "waiting", "Jobs waiting at each cluster; the last column is the global queue."
    )
    done = _column("done", "Jobs completed by each cluster alone.")
    demand = _column("demand", "Bandwidth that jobs need on each link, Mbit/s.")
    link_capacity = _column("capacity", "Capacity of each link, Mbit/s.")
    latency = _column("latency", "Time of a message between each cluster and the centre, s.")
    load = _column("load", "Work sent to each cluster and not known finished, processor-seconds.")
    known_free = _column("known_free", "Free processors as the global broker knows them.")
    known_waiting = _column("known_waiting", "Waiting jobs as the global broker knows them.")
    known_at = _column("known_at", "When that was the truth, s.")

    @property
    def now(self) -> float:
        """Simulated time, s."""
        return float(self._box["now"][0])

    def count(self, name: str) -> int:
        """Return one of the counters of the state record, such as ``"completed"``."""
        return int(self._box[name][0])

    @property
    def messages(self) -> dict[str, int]:
        """Messages about jobs and resources so far, by kind."""
        return dict(zip(k.MESSAGE_KINDS, self._box["messages"][0].tolist(), strict=True))

    def busy_area(self) -> npt.NDArray[np.float64]:
        """Return the processor-seconds that each cluster was held until now."""
        busy = self.up - self.free
        area: npt.NDArray[np.float64] = self._columns["area"] + busy * (
            self.now - self._columns["changed"]
        )
        return area

    # What decides -------------------------------------------------------------------------------

    def set_global(
        self,
        address: int = 0,
        memory: npt.NDArray[np.float64] | None = None,
        stream: npt.NDArray[np.uint64] | None = None,
        collect: bool = False,
        in_order: bool = False,
        spans: bool = False,
    ) -> None:
        """Say how the global scheduler decides.

        Parameters
        ----------
        address : int
            Address of a compiled `place`, or 0 for the Python one.
        memory : array of float64, optional
            What a compiled `place` gets as its memory.
        stream : array of uint64, shape (4,), optional
            Random stream that a compiled `place` finds in ``state.stream``.
        collect : bool
            Collect jobs for rounds instead of offering them one by one.
        in_order : bool
            A job that must wait blocks those behind it (FCFS).
        spans : bool
            Jobs may be split across clusters, so that one larger than any cluster is accepted.
        """
        self._box["place_at"] = address
        self._box["collect"] = int(collect)
        self._box["stop_at_wait"] = int(in_order)
        sizes = self._columns["size"]
        self._box["largest"] = sizes.sum() if spans else sizes.max()
        if memory is not None:
            self.memory = memory
        if stream is not None:
            self._box["stream"] = stream

    def set_local(self, cluster: int, address: int = 0, planned: bool = False) -> None:
        """Say how a cluster serves its queue: a compiled or Python rank, or plans."""
        self._columns["priority_at"][cluster] = address
        self._columns["planned"][cluster] = int(planned)

    def notify(self, wanted: bool) -> None:
        """Have `advance` return when jobs were collected, or not."""
        self._box["notify"] = int(wanted)

    # Jobs in ------------------------------------------------------------------------------------

    def feed(self, source: Iterator[JobArray]) -> None:
        """Let the jobs of an iterator of chunks, in order of arrival, come one after the other."""
        self._source = source
        self._box["exhausted"] = 0

    def submit(self, jobs: JobArray) -> None:
        """Let these jobs come (in order of arrival), once all earlier ones have."""
        self._source = iter((jobs,))
        self._box["exhausted"] = 0

    def _next_chunk(self) -> None:
        chunk = next(self._source, None)
        if chunk is None:
            self._box["exhausted"] = 1
        else:
            self._chunk = np.ascontiguousarray(chunk)
            self._box["fed"], self._box["chunk_length"] = 0, len(chunk)

    @property
    def in_flight(self) -> int:
        """Messages about jobs and resources that are on their way."""
        return self.count("in_flight")

    # Time ---------------------------------------------------------------------------------------

    def advance(self, until: float) -> int:
        """Let everything happen up to and including `until`.

        Parameters
        ----------
        until : float
            Simulated time, s.

        Returns
        -------
        int
            Why it stopped (`grid.kernel.state`): ``TIME``, ``OVER`` (nothing is left to happen),
            ``COLLECTED`` (jobs wait for a round) or ``LANDED`` (planners are wanted).

        Raises
        ------
        PlacementError
            If a decision cannot be carried out.
        """
        box, k_place, k_rank = self._box, k.PLACE, k.RANK
        job, answer, answered = box["job"], box["answer"], box["answered"]
        place, rank, loop = self._place, self._rank, _loop(self.capacity)
        arguments: tuple[Any, ...] | None = None
        while True:
            if arguments is None:
                arguments = (
                    box, self.slots, self._events, self._chunk, self._finished,
                    self._processors, self._turns, self._sliding, self.memory, until,
                )  # fmt: skip
            reason = loop(*arguments)
            if reason == k_place and place is not None:
                answer[0] = place(job.item())
                answered[0] = 1
                continue
            if reason == k_rank and rank is not None:
                answer[0] = rank(job.item())
                answered[0] = 1
                continue
            arguments = None
            if reason == k.FEED:
                self._next_chunk()
            elif reason == k.DRAIN:
                self._drain()
            elif reason == k.FULL:
                self._grow()
            elif reason == k.BROKEN:
                raise PlacementError(self._broken())
            else:
                return int(reason)

    def _broken(self) -> str:
        slot = self.slots[self._box["job"][0]]
        job = f"job {slot['number']} (size {slot['size']})"
        answer = self._box["answer"][0]
        names = self.platform.names
        if slot["status"] == k.LANDING:
            return f"{names[slot['cluster']]}: priority of {job}: {answer}; accepted: a number"
        if answer == k.START:
            taken = {
                names[c] if c < self.clusters else f"cluster {c}": int(count)
                for c, count in enumerate(self.take)
                if count
            }
            free = dict(zip(names, self.free.tolist(), strict=True))
            return (
                f"placement of {job}: {taken}; accepted: {slot['size']} processors in all, "
                f"of those free: {free}"
            )
        sizes = ", ".join(f"{c.name} ({c.size})" for c in self.platform.clusters)
        if 0 <= answer < self.clusters:
            found = f"{names[int(answer)]}, which has {self._columns['size'][int(answer)]}"
        else:
            found = f"cluster {answer:g}"
        return f"placement of {job}: {found}; accepted: a cluster that can hold it, of {sizes}"

    # Jobs and queues ----------------------------------------------------------------------------

    def queue(self, cluster: int | None = None) -> Indices:
        """Return the slots of the jobs waiting at a cluster (or globally), in order of service."""
        queue = self.capacity if cluster is None else cluster
        out = np.empty(int(self.waiting[queue]), np.int64)
        access.queued(self._box, self.slots, queue, out)
        return out

    def running(self, cluster: int) -> tuple[Indices, Indices]:
        """Return the slots of the jobs running on a cluster, and their processors there."""
        out = np.empty(int(self.running_count[cluster]), np.int64)
        counts = np.empty_like(out)
        access.running(self._box, self.slots, self._sliding, cluster, out, counts)
        return out, counts

    def collected(self) -> Indices:
        """Return the slots of the collected jobs, and forget that there are new ones."""
        self._box["collected"] = 0
        return self.queue()

    def send(self, jobs: Indices, clusters: Indices) -> None:
        """Send jobs of the global queue to clusters, in the order given."""
        slots = self.slots
        for job, cluster in zip(jobs.tolist(), clusters.tolist(), strict=True):
            if not 0 <= cluster < self.clusters or (
                slots["size"][job] > self._columns["size"][cluster]
            ):
                self._box["job"], self._box["answer"] = job, cluster
                raise PlacementError(self._broken())
        access.send_all(self._box, slots, self._events, jobs, clusters)

    def wanting_plans(self) -> Indices:
        """Return the clusters whose planners are wanted, and forget that they are."""
        wanting = np.flatnonzero(self._columns["replan"])
        self._columns["replan"][:] = 0
        self._box["replan_any"] = 0
        return wanting

    def plan(
        self,
        cluster: int,
        order: Sequence[int] | Indices,
        resources: Sequence[Sequence[int]] | None = None,
    ) -> None:
        """Replace the plan by which a cluster serves its queue.

        Waiting jobs that the plan does not name wait for another plan.

        Parameters
        ----------
        cluster : int
            Index of the cluster.
        order : sequence of int
            Slots of waiting jobs, in the order in which they shall start.
        resources : sequence of sequences of int, optional
            For each job the processors that it shall run on, 0-based within the cluster. Each
            processor then serves its jobs in this order, and a job starts when all of its
            processors have come to it.

        Raises
        ------
        PlacementError
            If the plan names a job twice or one that does not wait there, or wrong processors.
        """
        name = self.platform.names[cluster]
        jobs = np.asarray(order, np.int64)
        slots = self.slots
        valid = (jobs >= 0) & (jobs < len(slots))
        known = valid.all() and bool(
            ((slots["status"][jobs] == k.LOCAL) & (slots["cluster"][jobs] == cluster)).all()
        )
        if not known or len(np.unique(jobs)) != len(jobs):
            raise PlacementError(f"plan of {name}: accepted: jobs that wait there, each once")
        sets = np.empty(0, np.int64)
        if resources is not None and len(jobs):
            if not len(self._processors):
                raise PlacementError(f"plan of {name}: processors named in an untracked world")
            for job, chosen in zip(jobs.tolist(), resources, strict=True):
                size = int(slots["size"][job])
                inside = all(0 <= r < self._columns["size"][cluster] for r in chosen)
                if len(set(chosen)) != size or len(chosen) != size or not inside:
                    raise PlacementError(
                        f"plan of {name}: job {slots['number'][job]} (size {size}) on processors "
                        f"{list(chosen)}; accepted: {size} different ones below "
                        f"{self._columns['size'][cluster]}"
                    )
            sets = np.concatenate([np.asarray(r, np.int64) for r in resources])
            self._grow_turns(len(sets))
        set_plan(self._box, slots, self._processors, self._turns, cluster, jobs, sets)

    def _grow_turns(self, more: int) -> None:
        old = len(self._turns)
        self._turns = np.concatenate([self._turns, np.zeros(more, k.TURN)])
        self._turns["next"][old:] = np.arange(old + 1, old + more + 1)
        self._turns["next"][-1] = self._box["vacant_turn"][0]
        self._box["vacant_turn"] = old

    # Failures -----------------------------------------------------------------------------------

    def fail(self, cluster: int, processor: int, time: float, repaired: float = np.inf) -> None:
        """Have a processor fail at a time (s), and be repaired at another.

        The job on it is lost so far and starts again from its queue. The world must be `tracked`.
        """
        index = int(self._columns["first_processor"][cluster]) + processor
        self._grow()
        access.add_event(self._box, self._events, time, k.FAIL, index)
        if repaired < np.inf:
            access.add_event(self._box, self._events, repaired, k.REPAIR, index)

    # Jobs out -----------------------------------------------------------------------------------

    def wait(self, until: float) -> None:
        """Let time pass in which nothing happens, after `advance` said ``OVER``."""
        self._box["now"] = max(self.now, until)

    def _drain(self) -> None:
        count = int(self._box["finished"][0])
        self._records.append(self._finished[:count].copy())
        self._box["finished"] = 0

    def latest(self, count: int) -> npt.NDArray[np.void]:
        """Return the rows of the last `count` jobs that left, at most `CHUNK`, oldest first."""
        rows = self._finished[: int(self._box["finished"][0])]
        if len(rows) < count and self._records:
            rows = np.concatenate([self._records[-1][-count:], rows])
        return rows[max(0, len(rows) - count) :].copy()

    def records(self) -> npt.NDArray[np.void]:
        """Return a row for each job that left, in order of leaving (`finished_dtype`)."""
        self._drain()
        self._records = [np.concatenate(self._records)]
        return self._records[0]
