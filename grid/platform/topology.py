"""The network between the clusters: a tree of switches and dedicated links, as a networkx graph.

By default a star: one link joins each cluster to the central switch (`beosim`, section 3.1). Any
tree will do. Nodes carry `kind` ("cluster" or "switch"), links `capacity` (Mbit/s; inf means
unlimited) and `latency` (s). Rooted at the central switch, the tree has exactly one link above each
other node; that is the order of every array over links: the links above the clusters, in the
order of the clusters, then those above the further switches. A cluster has an ideal switch of its
own, so other clusters may hang on it: it need not be a leaf.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from numbers import Real
from typing import NamedTuple

import networkx as nx
import numpy as np
import numpy.typing as npt

from grid.errors import PlatformError
from grid.foreign import quoted
from grid.jobs import LONGEST

CENTRE = "switch"
"""Name of the central switch, which every network has."""

NARROWEST = 1e-6
"""Least capacity of a link, Mbit/s: what crosses it still ends some time."""

CLUSTER, SWITCH = "cluster", "switch"


class Link(NamedTuple):
    """A dedicated link between two nodes: capacity in Mbit/s, latency in s."""

    a: str
    b: str
    capacity: float = 1000.0
    latency: float = 0.0


def number(value: object) -> float:
    """Return `value` as a float, NaN if it is no real number (a bool is none)."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf


GRID = "(grid)"
"""Where tables say that jobs come from which were submitted through no cluster."""


def check_name(kind: str, name: object) -> None:
    """Refuse a name of a node that could not be read back from ``C1:5+C3:4`` or ``C1=FILE``.

    Raises
    ------
    PlatformError
        If `name` is no text, empty, unprintable, padded with spaces or holds one of ``:+,=``; or
        if it is `GRID`.
    """
    usable = isinstance(name, str) and name and name == name.strip() and name.isprintable()
    if not usable or set(str(name)) & set(":+,=") or name == GRID:
        raise PlatformError(
            f"{kind} {quoted(name)}: not a name; accepted: printable text without : + , = "
            f"and without spaces around it, other than {GRID}"
        )


def per_cluster(values: object, count: int, what: str) -> list[float]:
    """Return one value for each cluster from one for all, or from one each.

    Raises
    ------
    PlatformError
        If `values` is neither one value nor `count` of them.
    """
    array = np.asarray(values)
    if array.shape not in {(), (count,)}:
        raise PlatformError(
            f"{what}: shape {array.shape} given; accepted: one value, or one for each of "
            f"{count} clusters"
        )
    return list(np.broadcast_to(array, count).tolist())


def star(
    clusters: Sequence[str],
    capacity: float | Sequence[float] = 1000.0,
    latency: float | Sequence[float] = 0.0,
) -> nx.Graph:
    """Return a star: each cluster joined to the central switch by a link of its own.

    Parameters
    ----------
    clusters : sequence of str
        Names of the clusters.
    capacity : float or sequence of float
        Capacity of the links, Mbit/s, one for all or one each.
    latency : float or sequence of float
        Latency of the links, s, one for all or one each.

    Raises
    ------
    PlatformError
        As `network`; and if the lengths differ.

    Examples
    --------
    >>> graph = star(["C1", "C2"], capacity=[1000, 100])
    >>> capacities(graph).tolist()
    [1000.0, 100.0]
    """
    capacity_of = per_cluster(capacity, len(clusters), "capacity")
    latency_of = per_cluster(latency, len(clusters), "latency")
    return network(clusters, map(Link, clusters, [CENTRE] * len(clusters), capacity_of, latency_of))


def network(
    clusters: Iterable[str], links: Iterable[Link], switches: Iterable[str] = ()
) -> nx.Graph:
    """Return the validated, frozen graph of clusters, switches and links.

    Parameters
    ----------
    clusters, switches : iterable of str
        Names; the central switch is always there and is not listed.
    links : iterable of Link
        All links; they must join the nodes to one tree.

    Raises
    ------
    PlatformError
        If a name is unusable or used twice, a link leads to an unknown node, or `validate`
        refuses the graph.

    Examples
    --------
    >>> graph = network(
    ...     ["C1", "C2", "C3"],
    ...     [Link("C1", "S"), Link("C2", "S"), Link("C3", CENTRE), Link("S", CENTRE, 100.0)],
    ...     switches=["S"],
    ... )
    >>> sides(graph).astype(int).tolist()
    [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0]]
    """
    graph = nx.Graph()
    graph.add_node(CENTRE, kind=SWITCH)
    for kind, names in ((CLUSTER, clusters), (SWITCH, switches)):
        for name in names:
            check_name(kind, name)
            if name in graph:
                owner = "the central switch" if name == CENTRE else "another node"
                raise PlatformError(
                    f"{kind} {name}: the name of {owner}; accepted: a name of its own"
                )
            graph.add_node(name, kind=kind)
    for link in links:
        for end in (link.a, link.b):
            if end not in graph:
                raise PlatformError(
                    f"link {link.a} - {link.b}: unknown node {quoted(end)}; known: "
                    f"{', '.join(graph)}"
                )
        if graph.has_edge(link.a, link.b):
            # A graph has room for one edge between two nodes and would forget the first.
            _refuse_cycle([link.a, link.b])
        graph.add_edge(link.a, link.b, capacity=link.capacity, latency=link.latency)
    validate(graph)
    return nx.freeze(graph)


def validate(graph: nx.Graph) -> None:
    """Refuse a graph that is not a tree of clusters and switches with usable links.

    Raises
    ------
    PlatformError
        Naming the node, the link or the nodes of the cycle that are wrong.
    """
    if graph.is_directed() or graph.is_multigraph():
        raise PlatformError(f"network: {type(graph).__name__} given; accepted: networkx.Graph")
    for node, kind in graph.nodes(data="kind"):
        if kind not in (CLUSTER, SWITCH):
            raise PlatformError(
                f"node {node}: kind is {quoted(kind)}; accepted: {CLUSTER}, {SWITCH}"
            )
        check_name(kind, node)
    if graph.nodes.get(CENTRE, {}).get("kind") != SWITCH:
        raise PlatformError(f"network: no central switch; accepted: a switch named {CENTRE!r}")
    for a, b, link in graph.edges(data=True):
        if not number(link.get("capacity")) >= NARROWEST:
            raise PlatformError(
                f"link {a} - {b}: capacity is {quoted(link.get('capacity'))}; "
                f"accepted: Mbit/s from {NARROWEST:g}, inf for no limit"
            )
        if not 0 <= number(link.get("latency")) <= LONGEST:
            raise PlatformError(
                f"link {a} - {b}: latency is {quoted(link.get('latency'))}; "
                f"accepted: a finite number of seconds, from 0 to {LONGEST:g}"
            )
    if cycles := nx.cycle_basis(graph):
        _refuse_cycle(cycles[0])
    if stray := set(graph) - nx.node_connected_component(graph, CENTRE):
        name = next(node for node in graph if node in stray)
        raise PlatformError(
            f"{graph.nodes[name]['kind']} {name}: not connected to the central switch "
            f"{CENTRE!r}; accepted: links that form one tree"
        )


def _refuse_cycle(nodes: list[str]) -> None:
    """Raise the error that names the nodes of a cycle."""
    path = " - ".join([*nodes, nodes[0]])
    raise PlatformError(f"links: cycle {path}; accepted: links that form one tree")


def clusters_of(graph: nx.Graph) -> list[str]:
    """Return the names of the clusters, in the order of every array over clusters."""
    return [name for name, kind in graph.nodes(data="kind") if kind == CLUSTER]


def uplinks(graph: nx.Graph) -> list[tuple[str, str]]:
    """Return the links as (node, the next node towards the central switch), in array order."""
    above = {node: parent for parent, node in nx.bfs_edges(graph, CENTRE)}
    clusters = clusters_of(graph)
    switches = [name for name, kind in graph.nodes(data="kind") if kind == SWITCH]
    return [(name, above[name]) for name in clusters + switches if name != CENTRE]


def capacities(graph: nx.Graph) -> npt.NDArray[np.float64]:
    """Return the capacity of each link: shape (links,), Mbit/s."""
    return np.array([graph.edges[link]["capacity"] for link in uplinks(graph)], np.float64)


def sides(graph: nx.Graph) -> npt.NDArray[np.bool_]:
    """Return which clusters lie on the far side of each link, away from the central switch.

    Returns
    -------
    ndarray of bool, shape (links, clusters)
        The identity for a star.
    """
    tree = nx.bfs_tree(graph, CENTRE)
    column = {name: index for index, name in enumerate(clusters_of(graph))}
    links = uplinks(graph)
    far = np.zeros((len(links), len(column)), np.bool_)
    for row, (node, _) in enumerate(links):
        for name in {node} | nx.descendants(tree, node):
            if name in column:
                far[row, column[name]] = True
    return far


def path_latency(graph: nx.Graph, source: str, target: str) -> float:
    """Return the latency of the path between two nodes, in s; the same both ways.

    Examples
    --------
    >>> path_latency(star(["C1", "C2"], latency=[0.25, 0.5]), "C1", "C2")
    0.75
    """
    path = nx.shortest_path(graph, source, target)
    return math.fsum(graph.edges[link]["latency"] for link in nx.utils.pairwise(path))


def latencies(graph: nx.Graph) -> npt.NDArray[np.float64]:
    """Return the latency from each cluster to the central switch: shape (clusters,), s."""
    return np.array([path_latency(graph, name, CENTRE) for name in clusters_of(graph)], np.float64)
