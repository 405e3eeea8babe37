"""The kernel's tables of a platform at the beginning, before any job."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import numpy.typing as npt

from grid.errors import PlatformError
from grid.kernel import state as k
from grid.kernel.dtypes import BELIEF, PROCESSOR
from grid.kernel.policies.fields import CLUSTERS, COMPILED, LINKS, of_tier
from grid.kernel.record import CLUSTER, LINK
from grid.kernel.state import NONE, State
from grid.platform import topology
from grid.platform.brokers import BOTH, CHANGE, PERIODIC, Advertising
from grid.platform.multicluster import Platform

Table = npt.NDArray[np.void]


def new_state(platform: Platform) -> State:
    """Return the state of a platform without jobs.

    Raises
    ------
    PlatformError
        If it has too many links.
    """
    clusters, links = len(platform.clusters), len(topology.uplinks(platform.graph))
    capacity = next((room for room in k.CAPACITIES if room >= links), None)
    if capacity is None:
        raise PlatformError(f"platform: {links} links; accepted: {k.CAPACITIES[-1]}")
    state = State(np.zeros(1, k.state_dtype(capacity)), {CLUSTER: clusters, LINK: links})
    state.clusters, state.links = clusters, links
    state.cursor = state.vacant = state.vacant_turn = state.vacant_news = NONE
    state.landing_first = state.landing_last = NONE
    state.root = state.head = state.smallest = state.running = state.usage_changed = NONE
    state.line_first = state.line_last = NONE
    state.profile_of = NONE
    state.line_turn = k.NOBODY
    state.refused_size = state.max_jumps = k.NOBODY
    state.exhausted = state.recording = 1
    state.sliding_end = state.sliding_overdue = state.statistics.counted_from = np.inf
    state.statistics.interval = state.statistics.due = 1
    state.known["head_arrival"] = np.inf
    state.returned_at = -np.inf
    state.known["released"] = NONE
    _set_clusters(state, platform)
    _set_links(state, platform)
    return state


def known_columns(state: State) -> dict[str, npt.NDArray[Any]]:
    """Return what the global scheduler knows of each cluster and link, by name."""
    return {
        field.name: state.known[field.name][:count]
        for fields, count in ((CLUSTERS, state.clusters), (LINKS, state.links))
        for field in of_tier(fields, COMPILED)
    }


def _set_clusters(state: State, platform: Platform) -> None:
    sizes = platform.sizes
    state.size = state.up = state.remaining = state.free = sizes
    state.rate = state.predicted_rate = platform.rates
    state.first_processor = np.cumsum(sizes) - sizes
    state.largest = int(sizes.max())
    state.known["clusters"] = state.clusters
    known = known_columns(state)
    for name in ("size", "free", "up"):
        known[name][:] = sizes
    known["rate"][:] = platform.rates


def _set_links(state: State, platform: Platform) -> None:
    # Links hang on nodes: clusters first, then switches, as `topology.uplinks` lists them.
    graph = platform.graph
    links = topology.uplinks(graph)
    index = {node: i for i, (node, _) in enumerate(links)}
    parents = [index.get(parent, NONE) for _, parent in links]
    depth = nx.single_source_shortest_path_length(graph, topology.CENTRE)
    state.parent = parents
    state.deep_first = sorted(range(len(links)), key=lambda link: -depth[links[link][0]])
    state.capacity = topology.capacities(graph)
    state.link_latency = [graph.edges[link]["latency"] for link in links]
    state.known["links"] = len(links)
    known = known_columns(state)
    known["parent"][:] = state.parent
    known["deep_first"][:] = state.deep_first
    known["capacity"][:] = state.capacity


def _hops(platform: Platform) -> npt.NDArray[np.int64]:
    return np.array([len(chain) + 1 for chain in platform.chains])


def latencies(platform: Platform, latency: float) -> npt.NDArray[np.float64]:
    """Return the time (s) of a message from each cluster to the global broker, as `set_brokers`."""
    return _hops(platform) * latency + topology.latencies(platform.graph)


def known_at_once(
    platform: Platform, latency: float, advertising: Advertising
) -> npt.NDArray[np.bool_]:
    """Return of which clusters the global broker knows the present state, as `set_brokers`."""
    told = advertising.loss == 0 and advertising.when in (CHANGE, BOTH)
    return (latencies(platform, latency) == 0) & told | advertising.truth


def set_brokers(
    state: State, platform: Platform, latency: float, advertising: Advertising
) -> Table:
    """Set how brokers tell each other what they know; return what each believes at first.

    Parameters
    ----------
    state : State
    platform : Platform
    latency : float
        Time of a message from one broker to the next, beside the latency of the links, s.
    advertising : Advertising
    """
    hops, links = _hops(platform), topology.latencies(platform.graph)
    state.hops = hops
    state.latency = latencies(platform, latency)
    state.hop_latency, state.loss = latency, advertising.loss
    state.truth = int(advertising.truth)
    # Who knows the truth learns of each change, whenever brokers would tell.
    state.on_change = int(advertising.when in (CHANGE, BOTH) or advertising.truth)
    periodic = advertising.when in (PERIODIC, BOTH) and not advertising.truth
    state.period = advertising.period if periodic else 0.0
    state.at_once = known_at_once(platform, latency, advertising)
    # Of each cluster one row after the other, from the lowest broker to the global one.
    state.first_belief = np.cumsum(hops) - hops
    beliefs = np.zeros(int(hops.sum()), BELIEF)
    beliefs["cluster"] = np.repeat(np.arange(state.clusters), hops)
    beliefs["broker"] = [broker for chain in platform.chains for broker in (*chain, NONE)]
    beliefs["above"] = np.arange(1, len(beliefs) + 1)
    beliefs["above"][np.cumsum(hops) - 1] = NONE
    beliefs["delay"] = latency
    beliefs["delay"][state.first_belief] += links
    state.first_hop = beliefs["delay"][state.first_belief]
    for name in ("free", "up"):
        beliefs[name] = platform.sizes[beliefs["cluster"]]
    return beliefs


def free_processors(platform: Platform) -> Table:
    """Return the processors of all clusters, one cluster after the other, each without a job."""
    processors = np.zeros(platform.sizes.sum(), PROCESSOR)
    processors["holder"], processors["turn"] = k.FREE, NONE
    processors["cluster"] = np.repeat(np.arange(len(platform.sizes)), platform.sizes)
    return processors
