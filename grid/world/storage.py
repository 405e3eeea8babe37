"""The tables of a world: the kernel's memory, how it is laid out for a platform, and its growth."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from grid.errors import PlatformError
from grid.jobs import JOB
from grid.kernel import dtypes
from grid.kernel import state as k
from grid.kernel.policies.fields import CLUSTERS, COMPILED, LINKS, of_tier
from grid.kernel.queueing.availability_profile import (
    RELEASE,
    Foresight,
    moment_dtype,
    reservation_dtype,
)
from grid.kernel.queueing.fair_share import USAGE, move_rows
from grid.platform import topology
from grid.platform.brokers import BOTH, CHANGE, PERIODIC, Advertising
from grid.platform.distance import DistanceCosts
from grid.platform.multicluster import Platform

CHUNK, SPLITS = 4096, 256
"""Finished jobs, and co-allocated ones among them, that the kernel keeps until they are taken out.
"""


def _column(name: str, doc: str) -> Any:
    def column(self: Tables) -> npt.NDArray[Any]:
        return self.columns[name]

    column.__doc__ = doc
    return functools.cached_property(column)


class Tables:
    """What the kernel works on, for one platform.

    Parameters
    ----------
    platform : Platform
        Clusters and links.
    latency : float
        Time of a message from one broker to the next, beside the latency of the links, s.
    tracked : bool
        Keep the identity of every processor.
    advertising : Advertising
        How brokers tell what they know.

    Attributes
    ----------
    hop_latency : float
        Time of a message from one broker to the next, s.
    slots : structured array
        The live jobs, by slot (dtype `grid.kernel.dtypes.SLOT`).
    jobs : dict of str to array
        The columns of `slots`; the same dict for ever.
    columns : dict of str to array
        What is kept for each cluster, and for each link.
    beliefs : structured array
        What each broker believes of each cluster below it (`grid.kernel.dtypes.BELIEF`).
    news : structured array
        What advertisements on their way say (`grid.kernel.dtypes.NEWS`).
    known : dict of str to array
        What the global scheduler knows of each cluster and link
        (`grid.kernel.policies.policy_view.known_dtype`).
    told : record
        The same, whole, and what happened to the queues that it visits.
    take : array of int64, shape (capacity,)
        Where a decision says how many processors a job shall hold on each cluster.
    memory : array of float64
        What a compiled `place` gets as its memory.
    """

    def __init__(
        self, platform: Platform, latency: float, tracked: bool, advertising: Advertising
    ) -> None:
        self.platform = platform
        self.tracked = tracked
        self.hop_latency = latency
        self.advertising = advertising
        links = topology.uplinks(platform.graph)
        self.links = len(links)
        self.clusters = len(platform.clusters)
        rooms = [room for room in k.CAPACITIES if room >= self.links]
        if not rooms:
            raise PlatformError(f"platform: {self.links} links; accepted: {k.CAPACITIES[-1]}")
        self.capacity = rooms[0]
        self._box = np.zeros(1, k.state_dtype(self.capacity))
        self.slots = np.zeros(0, dtypes.SLOT)
        self.jobs: dict[str, npt.NDArray[Any]] = {}
        self._events = np.zeros(0, dtypes.EVENT)
        self._finished = np.zeros(0, dtypes.FINISHED)
        self._splits = np.zeros((0, self.clusters), np.int32)
        self._processors: Any = (
            np.zeros(platform.sizes.sum(), dtypes.PROCESSOR) if tracked else None
        )
        self._turns = np.zeros(0, dtypes.TURN)
        self._sliding = np.zeros(8, dtypes.sliding_dtype(self.capacity))
        self._usage: Any = None  # wanted where the order depends on what users have used
        self._profile: Any = None  # wanted where a job may start before the head of its queue
        self._foresight: Any = None  # wanted where jobs that wait globally have reservations
        self._chunk = np.zeros(0, JOB)
        self.memory = np.zeros(1)
        self._arguments: tuple[Any, ...] | None = None
        self._offering = True  # the global scheduler is offered jobs, and may start them itself
        self._name_columns()
        self.news = np.zeros(0, dtypes.NEWS)
        self._set_clusters()
        self._set_brokers(latency, advertising)
        self._set_links(links)
        self._grow()

    def _in_order(self) -> tuple[Any, ...]:
        """Return the tables as the loop takes them, None for those that it has no use for."""
        return (
            self._box, self.slots, self._events, self._chunk, self._finished,
            self._processors, self._turns, self._sliding if self._offering else None,
            self._profile, self._splits, self.beliefs, self.news, self.memory,
            self._foresight,
        )  # fmt: skip

    def _name_columns(self) -> None:
        box = self._box
        self.columns = {
            name: box[name][0, : self.clusters]
            for name in box.dtype.names or ()
            if box[name].shape == (1, self.capacity)
        }
        of_links = ("demand", "carried", "saturated", "carried_before", "saturated_before")
        for name in (*of_links, "capacity", "link_latency"):
            self.columns[name] = box[name][0, : self.links]
        self.columns["waiting"] = box["waiting"][0]
        told = box["known"][0]
        self.known = {
            field.name: told[field.name][:count]
            for fields, count in ((CLUSTERS, self.clusters), (LINKS, self.links))
            for field in of_tier(fields, COMPILED)
        }
        self.take = told["take"]
        self.told = told
        told["head_arrival"] = np.inf
        told["released"] = k.NONE

    def _set_clusters(self) -> None:
        platform, box, sizes = self.platform, self._box, self.platform.sizes
        for name in (
            "cursor",
            "vacant",
            "vacant_turn",
            "vacant_news",
            "usage_changed",
            "landing_first",
            "landing_last",
        ):
            box[name] = k.NONE
        for name in ("root", "head", "running", "parent", "line_first", "line_last"):
            box[name] = k.NONE
        box["line_turn"] = box["refused_size"] = box["max_jumps"] = k.NOBODY
        box["clusters"], box["links"] = self.clusters, self.links
        box["exhausted"] = box["recording"] = 1
        box["sliding_end"] = np.inf
        self.sums["counted_from"] = np.inf
        self.sums["interval"] = self.sums["due"] = 1
        box["largest"] = sizes.max()
        for name, values in (
            ("size", sizes),
            ("up", sizes),
            ("remaining", sizes),
            ("free", sizes),
            ("rate", platform.rates),
            ("first_processor", np.cumsum(sizes) - sizes),
        ):
            self.columns[name][:] = values
        box["known"]["clusters"] = self.clusters
        for name, values in (
            ("size", sizes),
            ("rate", platform.rates),
            ("free", sizes),
            ("up", sizes),
        ):
            self.known[name][:] = values
        if self.tracked:
            self._processors["holder"] = k.FREE
            self._processors["turn"] = k.NONE
            self._processors["cluster"] = np.repeat(np.arange(self.clusters), sizes)

    def _set_brokers(self, latency: float, advertising: Advertising) -> None:
        platform, box, columns = self.platform, self._box, self.columns
        hops = np.array([len(chain) + 1 for chain in platform.chains])
        links = topology.latencies(platform.graph)
        columns["hops"][:] = hops
        columns["latency"][:] = hops * latency + links
        periodic = advertising.when in (PERIODIC, BOTH)
        box["hop_latency"], box["loss"] = latency, advertising.loss
        box["truth"] = advertising.truth
        box["on_change"] = advertising.when in (CHANGE, BOTH)
        box["period"] = advertising.period if periodic and not advertising.truth else 0.0
        immediate = (columns["latency"] == 0) & (advertising.loss == 0) & box["on_change"]
        columns["at_once"][:] = immediate | advertising.truth
        # Of each cluster one row after the other, from the lowest broker to the global one.
        columns["first_belief"][:] = np.cumsum(hops) - hops
        self.beliefs = beliefs = np.zeros(int(hops.sum()), dtypes.BELIEF)
        beliefs["cluster"] = np.repeat(np.arange(self.clusters), hops)
        beliefs["broker"] = [broker for chain in platform.chains for broker in (*chain, k.NONE)]
        beliefs["above"] = np.arange(1, len(beliefs) + 1)
        beliefs["above"][np.cumsum(hops) - 1] = k.NONE
        beliefs["delay"] = latency
        beliefs["delay"][columns["first_belief"]] += links
        for name in ("free", "up"):
            beliefs[name] = platform.sizes[beliefs["cluster"]]

    def _set_links(self, links: Sequence[tuple[str, str]]) -> None:
        # Links hang on nodes: clusters first, then switches, as `topology.uplinks` lists them.
        index = {node: i for i, (node, _) in enumerate(links)}
        parents = [index.get(parent, k.NONE) for _, parent in links]
        depth = [0] * self.links
        for link in range(self.links):
            node = parents[link]
            while node != k.NONE:
                depth[link] += 1
                node = parents[node]
        self._box["parent"][0, : self.links] = parents
        self._box["deep_first"][0, : self.links] = sorted(
            range(self.links), key=lambda link: -depth[link]
        )
        graph = self.platform.graph
        self.columns["capacity"][:] = topology.capacities(graph)
        self.columns["link_latency"][:] = [graph.edges[link]["latency"] for link in links]
        self._box["known"]["links"] = self.links
        for name in ("parent", "deep_first", "capacity"):
            self.known[name][:] = self._box[name][0, : self.links]

    def set_distance(self, costs: DistanceCosts) -> None:
        """Say what it costs jobs to run far from their data, or far from themselves."""
        self._box["message_rate"] = costs.message_rate
        self._box["stages"] = costs.staging_time > 0 or costs.staging_data > 0
        self._box["staging_time"] = costs.staging_time
        self._box["staging_data"] = 8 * costs.staging_data

    def limit_size(self, largest: int) -> None:
        """Have larger jobs rejected as they are submitted, beside those that are anyway."""
        self._box["largest"] = min(self.count("largest"), largest)

    def _grow(self) -> None:
        """Make room where there is none: twice the slots, and tables that fit them."""
        self._arguments = None
        old = len(self.slots)
        if old == 0 or self._box["vacant"][0] == k.NONE:
            size = max(64, 2 * old)
            self.slots = np.concatenate([self.slots, np.zeros(size - old, dtypes.SLOT)])
            self.slots["next"][old:] = np.arange(old + 1, size + 1)
            self.slots["next"][-1] = self._box["vacant"][0]
            self._box["vacant"] = old
            self.jobs.update({name: self.slots[name] for name in dtypes.SLOT.names or ()})
            finished = self._finished
            self._finished = np.zeros(max(CHUNK, 2 * size), finished.dtype)
            self._finished[: len(finished)] = finished
        if self._profile is not None:
            self._make_profile()
        if self._usage is not None:
            self._make_room_for_user()
        if self._foresight is not None:
            self._make_foresight()
        room = 2 * (int(self._box["events"][0]) + len(self.slots) + 2 * self.capacity)
        if len(self._events) < room:
            # Twice at least, else each event that is planned would have all of them copied.
            more = np.zeros(max(room - len(self._events), len(self._events)), dtypes.EVENT)
            self._events = np.concatenate([self._events, more])
        old = len(self.news)
        if self.count("news") + self.clusters > old:
            size = max(2 * old, 2 * self.clusters)
            self.news = np.concatenate([self.news, np.zeros(size - old, dtypes.NEWS)])
            self.news["next"][old:] = np.arange(old + 1, size + 1)
            self.news["next"][-1] = self._box["vacant_news"][0]
            self._box["vacant_news"] = old
        if self._box["sliding"][0] == len(self._sliding):
            self._sliding = np.concatenate([self._sliding, np.zeros_like(self._sliding)])
        # All that run may end at one instant: once drained, the table has room for twice as many.
        room = max(SPLITS, 2 * len(self._sliding))
        if len(self._splits) < room:
            more = np.zeros((room - len(self._splits), self.clusters), np.int32)
            self._splits = np.concatenate([self._splits, more])

    def _make_profile(self) -> None:
        """Make room for the ends of running jobs, and three times a job for what is reserved."""
        self._profile = np.zeros(4 * len(self.slots), dtypes.PROFILE)

    def _make_room_for_user(self) -> None:
        """Make room for one more user on every cluster, and half the table vacant."""
        wanted = 2 * (self.count("usages") + self.clusters)
        if wanted > self.count("usage_room"):
            table = np.zeros(1 << (2 * wanted).bit_length(), USAGE)
            move_rows(self._box, table.ctypes.data, len(table))
            self._usage = table

    def _make_foresight(self) -> None:
        """Make room for the ends of running jobs and for reservations, twice as much as is used."""
        old, most = self._foresight, self.count("most_reservations")
        running = self.count("started") - self.count("completed") - self.count("restarted")
        moments = 2 * (max(self.count("moments"), running + 2 * most) + 8)
        profile = np.zeros(moments, moment_dtype(self.capacity))
        reservations = np.zeros(most + 1, reservation_dtype(self.capacity))
        if old is not None:
            reservations = old.reservations
            profile = np.concatenate([old.profile, profile[len(old.profile) :]])
        releases = np.zeros(len(self.slots), RELEASE)
        self._foresight = Foresight(profile, reservations, releases, self.memory.copy())

    def _grow_turns(self, wanted: int) -> None:
        """Make room for `wanted` more turns of plans."""
        old = len(self._turns)
        size = max(2 * old, self.count("turns") + wanted)
        if self.count("turns") + wanted > old:
            self._arguments = None
            self._turns = np.concatenate([self._turns, np.zeros(size - old, dtypes.TURN)])
            self._turns["next"][old:] = np.arange(old + 1, size + 1)
            self._turns["next"][-1] = self._box["vacant_turn"][0]
            self._box["vacant_turn"] = old

    free = _column("free", "Free processors of each cluster.")
    up = _column("up", "Processors of each cluster that have not failed.")
    remaining = _column(
        "remaining", "Processors of each cluster that are up, and do not go when their jobs end."
    )
    running_count = _column("running_count", "Jobs running on each cluster.")
    waiting = _column(
        "waiting", "Jobs waiting at each cluster; the last column is the global queue."
    )
    done = _column("done", "Jobs completed by each cluster alone.")
    demand = _column("demand", "Bandwidth that jobs need on each link, Mbit/s.")
    link_capacity = _column("capacity", "Capacity of each link, Mbit/s.")
    latency = _column("latency", "Time of a message between each cluster and the centre, s.")
    sent = _column("sent", "Messages about jobs and resources that each cluster's broker sent.")
    received = _column("received", "Messages about jobs sent to each cluster's broker.")

    @property
    def now(self) -> float:
        """Simulated time, s."""
        return float(self._box["now"][0])

    def count(self, name: str) -> int:
        """Return one of the counters of the state record, such as ``"completed"``."""
        return int(self._box[name][0])

    def sum_of(self, name: str) -> npt.NDArray[Any]:
        """Return sums of the state record that are an array, such as ``"queue_responses"``."""
        sums: npt.NDArray[Any] = self._box[name][0]
        return sums

    @property
    def messages(self) -> dict[str, int]:
        """Messages about jobs and resources so far, by kind."""
        return dict(zip(k.MESSAGE_KINDS, self._box["messages"][0].tolist(), strict=True))

    def busy_area(self) -> npt.NDArray[np.float64]:
        """Return the processor-seconds that each cluster was held until now."""
        busy = self.up - self.free
        area: npt.NDArray[np.float64] = self.columns["area"] + busy * (
            self.now - self.columns["changed"]
        )
        return area

    @property
    def sums(self) -> Any:
        """What is summed up as the run goes on (`grid.kernel.statistics.STATISTICS`)."""
        return self._box["statistics"][0]

    def link_snapshots(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return what each link carried, and for how long it was saturated, at each snapshot."""
        taken = int(self.sums["snapshots"])
        box = self._box[0]
        return (
            box["snapshot_carried"][:taken, : self.links],
            box["snapshot_saturated"][:taken, : self.links],
        )
