"""The multicluster: its clusters, and the network that joins them, from Python or from TOML."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Integral
from os import PathLike
from typing import Any

import networkx as nx
import numpy as np
import numpy.typing as npt

from grid.errors import PlatformError
from grid.foreign import plain, quoted
from grid.names import meant
from grid.platform.brokers import Broker, chains
from grid.platform.changes import Change, check_changes
from grid.platform.topology import (
    CENTRE,
    Link,
    check_name,
    clusters_of,
    network,
    number,
    per_cluster,
    star,
    uplinks,
)
from grid.platform.topology import validate as validate_network
from grid.strict import text_of, toml_of

MAX_SIZE = 10_000_000
"""Most processors of one cluster: schedulers keep numbers for each of them."""

SLOWEST, FASTEST = 1e-6, 1e6
"""Range of service rate ratios."""


@dataclass(frozen=True)
class Cluster:
    """A cluster of equal processors.

    Attributes
    ----------
    name : str
        Unique in its platform.
    size : int
        Processors, at least 1.
    rate : float
        Service rate ratio (`muscle`, Table 3), positive: a job's execution time here is its run
        time at rate 1 divided by it.
    broker : str
        Name of the broker above the cluster's own; empty: the global scheduler's.
    hardware : str
        Name, or file, of PACE's model of it, for jobs that name an application; empty: none.

    Raises
    ------
    PlatformError
        If a value is outside its range.
    """

    name: str
    size: int
    rate: float = 1.0
    broker: str = ""
    hardware: str = ""

    def __post_init__(self) -> None:
        check_name("cluster", self.name)
        size_is_integer = isinstance(self.size, Integral) and not isinstance(self.size, bool)
        if not size_is_integer or not 1 <= self.size <= MAX_SIZE:
            raise PlatformError(
                f"cluster {self.name}: size is {quoted(self.size)}; "
                f"accepted: an integer from 1 to {MAX_SIZE}"
            )
        if not SLOWEST <= number(self.rate) <= FASTEST:
            raise PlatformError(
                f"cluster {self.name}: rate is {quoted(self.rate)}; "
                f"accepted: a positive number from {SLOWEST:g} to {FASTEST:g}"
            )
        if not isinstance(self.hardware, str):
            raise PlatformError(f"cluster {self.name}: hardware is no text; accepted: a name")
        # Plain numbers, whatever the caller had, so that a cluster can be written as JSON.
        object.__setattr__(self, "size", int(self.size))
        object.__setattr__(self, "rate", number(self.rate))


@dataclass(frozen=True)
class Platform:
    """Clusters and the network between them.

    Attributes
    ----------
    clusters : tuple of Cluster
        At least one; their order is that of every array over clusters.
    graph : networkx.Graph
        Their network, as `grid.platform.topology` builds it.
    brokers : tuple of Broker
        Those between the clusters' own brokers and the global scheduler's.
    changes : tuple of Change
        Processors that join, are drained or fail at given times.
    speed : float or None
        Operations a second (flop/s) of a processor of rate 1, where workloads say what jobs compute
        (Batsim's do); None: not known.
    notes : tuple of str
        What its file says that has no meaning here.

    Raises
    ------
    PlatformError
        If there is no cluster, the graph is not a valid network, its clusters are others, the
        brokers form no tree, or a change is of nothing that is there.

    Examples
    --------
    >>> platform = Platform.star([20, 16, 12, 10], [1.0, 1.2, 1.4, 1.6])
    >>> platform.names
    ('C1', 'C2', 'C3', 'C4')
    >>> platform.index("C3"), platform.sizes.sum().item()
    (2, 58)
    """

    clusters: tuple[Cluster, ...]
    graph: nx.Graph
    brokers: tuple[Broker, ...] = ()
    changes: tuple[Change, ...] = ()
    speed: float | None = None
    notes: tuple[str, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "clusters", tuple(self.clusters))
        object.__setattr__(self, "brokers", tuple(self.brokers))
        object.__setattr__(self, "changes", tuple(self.changes))
        if not self.clusters:
            raise PlatformError("clusters: none; accepted: at least one cluster")
        validate_network(self.graph)
        if clusters_of(self.graph) != list(self.names):
            raise PlatformError(
                f"network: its clusters are {', '.join(clusters_of(self.graph)) or 'none'}; "
                f"accepted: {', '.join(self.names)}"
            )
        if self.speed is not None and not 0 < number(self.speed) < math.inf:
            raise PlatformError(f"speed is {quoted(self.speed)}; accepted: flop/s above 0")
        _ = self.chains
        check_changes(self.changes, {cluster.name: cluster.size for cluster in self.clusters})

    @cached_property
    def chains(self) -> list[list[int]]:
        """The brokers above each cluster's own, from the lowest up (`grid.platform.brokers`)."""
        return chains([(cluster.name, cluster.broker) for cluster in self.clusters], self.brokers)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the clusters."""
        return tuple(cluster.name for cluster in self.clusters)

    @cached_property
    def _index_of(self) -> dict[str, int]:
        return {name: index for index, name in enumerate(self.names)}

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        """Processors of each cluster: shape (clusters,)."""
        return np.array([cluster.size for cluster in self.clusters], np.int64)

    @property
    def rates(self) -> npt.NDArray[np.float64]:
        """Service rate ratio of each cluster: shape (clusters,)."""
        return np.array([cluster.rate for cluster in self.clusters], np.float64)

    def index(self, name: str) -> int:
        """Return the position of a cluster, from 0.

        Raises
        ------
        PlatformError
            If no cluster has that name; the message lists those that exist.
        """
        try:
            return self._index_of[name]
        except KeyError:
            known = meant(name, self.names)
            raise PlatformError(f"cluster {quoted(name)}: unknown; {known}") from None

    @classmethod
    def star(
        cls,
        sizes: Sequence[int],
        rates: float | Sequence[float] = 1.0,
        capacity: float | Sequence[float] = 1000.0,
        latency: float | Sequence[float] = 0.0,
    ) -> Platform:
        """Return clusters C1, C2, ... around the central switch.

        Parameters
        ----------
        sizes : sequence of int
            Processors of each cluster.
        rates : float or sequence of float
            Service rate ratios, one for all or one each; so too the next two.
        capacity : float or sequence of float
            Capacity of the links, Mbit/s.
        latency : float or sequence of float
            Latency of the links, s.

        Raises
        ------
        PlatformError
            If a value is outside its range or the lengths differ.
        """
        if not isinstance(sizes, Sequence | np.ndarray) or isinstance(sizes, str):
            raise PlatformError(f"sizes: found {quoted(sizes)}; accepted: a list of processors")
        names = [f"C{index + 1}" for index in range(len(sizes))]
        clusters = tuple(map(Cluster, names, sizes, per_cluster(rates, len(sizes), "rates")))
        return cls(clusters, star(names, capacity, latency))

    @classmethod
    def from_toml(cls, path: str | PathLike[str]) -> Platform:
        """Read a platform from a TOML file with the tables of `from_dict`.

        Raises
        ------
        PlatformError
            If the file cannot be read, is not TOML, or describes no usable platform.
        """
        text = text_of(path, "a TOML file", PlatformError)
        return cls.from_dict(toml_of(text, str(path), PlatformError), str(path))

    @classmethod
    def from_dict(cls, mapping: Mapping[str, Any], where: str = "platform") -> Platform:
        """Build a platform from plain tables.

        Parameters
        ----------
        mapping : mapping
            Lists of tables: `clusters` (`name`, `size`, `rate` = 1.0, `broker` where there are
            some), and optionally `brokers` (`name`, `parent`, by default the global scheduler's),
            `changes` (as `Change`) and `switches` (`name`). Each cluster and switch may say what
            its link towards the central switch is: `switch` (the node it hangs on, by default the
            central "switch"), `capacity` (Mbit/s, 1000 by default) and `latency` (s, 0 by default).
            Or a list `links` gives every link instead: `between` (two names), `capacity`,
            `latency`. `speed` is that of `Platform`.
        where : str
            What begins every message, such as the name of the file.

        Raises
        ------
        PlatformError
            Naming the key or the element, what was found and what is accepted.

        Examples
        --------
        >>> platform = Platform.from_dict({"clusters": [{"name": "A", "size": 8, "latency": 0.1}]})
        >>> platform.clusters
        (Cluster(name='A', size=8, rate=1.0, broker='', hardware=''),)
        """
        if not isinstance(mapping, Mapping):
            raise PlatformError(f"{where}: found {quoted(mapping)}; accepted: tables by name")
        try:
            return cls(*_parts(mapping), speed=mapping.get("speed"))
        except PlatformError as error:
            raise PlatformError(f"{where}: {error}") from None

    def to_dict(self) -> dict[str, Any]:
        """Return the platform as plain tables, of which `from_dict` makes its equal.

        Examples
        --------
        >>> Platform.star([8]).to_dict()["links"]
        [{'between': ['C1', 'switch'], 'capacity': 1000.0, 'latency': 0.0}]
        """
        switches = set(self.graph) - {*self.names, CENTRE}
        return {
            "clusters": [_without_empty(cluster) for cluster in self.clusters],
            "brokers": [_without_empty(broker) for broker in self.brokers],
            "changes": [_without_empty(change) for change in self.changes],
            "switches": [{"name": name} for name in self.graph if name in switches],
            "links": [
                {"between": list(ends)}
                | {key: number(self.graph.edges[ends][key]) for key in sorted(_LINK_KEYS)}
                for ends in uplinks(self.graph)
            ],
            **({} if self.speed is None else {"speed": self.speed}),
        }


PLATFORM_KEYS = {"clusters", "brokers", "changes", "switches", "links", "speed"}
"""What plain tables may say of a platform."""

_LINK_KEYS = {"capacity", "latency"}
_UPLINK_KEYS = {"switch"} | _LINK_KEYS


def _without_empty(part: Cluster | Broker | Change) -> dict[str, Any]:
    values = dataclasses.asdict(part).items()
    return {key: value for key, value in values if value not in ("", None, math.inf)}


def _parts(
    mapping: Mapping[str, Any],
) -> tuple[tuple[Cluster, ...], nx.Graph, tuple[Broker, ...], tuple[Change, ...]]:
    """Return the clusters, the graph, the brokers and the changes that plain tables describe."""
    _refuse_unknown("platform", mapping, PLATFORM_KEYS)
    uplink_keys = set() if "links" in mapping else _UPLINK_KEYS
    optional = {"rate", "broker", "hardware"} | uplink_keys
    nodes = {
        "clusters": list(_tables(mapping, "clusters", {"name", "size"}, optional)),
        "switches": list(_tables(mapping, "switches", {"name"}, uplink_keys)),
    }
    if "links" in mapping:
        tables = list(_tables(mapping, "links", {"between"}, _LINK_KEYS))
        links = [Link(*_ends(table["between"]), **_chosen(table, _LINK_KEYS)) for table in tables]
    else:
        names = [CENTRE, *(table["name"] for table in nodes["clusters"] + nodes["switches"])]
        for table in nodes["clusters"] + nodes["switches"]:
            above, own = table.get("switch", CENTRE), table["name"]
            if above not in names or above == own != CENTRE:
                others = ", ".join(str(name) for name in names if name != own)
                raise PlatformError(
                    f"link of {quoted(own)}: switch is {quoted(above)}; "
                    f"accepted: {plain(others, 200)}"
                )
        links = [
            Link(table["name"], table.get("switch", CENTRE), **_chosen(table, _LINK_KEYS))
            for table in nodes["clusters"] + nodes["switches"]
        ]
    clusters = tuple(
        Cluster(**_chosen(table, {"name", "size", "rate", "broker", "hardware"}))
        for table in nodes["clusters"]
    )
    switches = [table["name"] for table in nodes["switches"]]
    brokers = tuple(Broker(**table) for table in _tables(mapping, "brokers", {"name"}, {"parent"}))
    wanted, free = {"cluster", "what", "at"}, {"until", "processors"}
    of_changes = enumerate(_tables(mapping, "changes", wanted, free), 1)
    changes = tuple(_change(entry, table) for entry, table in of_changes)
    graph = network([cluster.name for cluster in clusters], links, switches)
    return clusters, graph, brokers, changes


def _tables(
    mapping: Mapping[str, Any], section: str, required: set[str], optional: set[str]
) -> Iterator[Mapping[str, Any]]:
    """Yield the tables of a section, their keys checked."""
    tables = mapping.get(section, [])
    if not isinstance(tables, list):
        raise PlatformError(f"{section}: {quoted(tables)} found; accepted: a list, [[{section}]]")
    for entry, table in enumerate(tables, 1):
        place = _place(section, entry, table)
        if not isinstance(table, Mapping):
            raise PlatformError(f"{place}: {quoted(table)} found; accepted: a table")
        _refuse_unknown(place, table, required | optional)
        for key in sorted(required - set(table)):
            raise PlatformError(f"{place}: key {key!r} is missing; required: {_listed(required)}")
        yield table


def _place(section: str, entry: int, table: object) -> str:
    """Return what a message calls a table: by its name, else by its place in the list, from 1."""
    if section == "changes" and isinstance(table, Mapping) and "cluster" in table:
        return f"change {entry}, of cluster {plain(str(table['cluster']))}"
    name = table.get("name") if isinstance(table, Mapping) else None
    one = section.removesuffix("es" if section == "switches" else "s")
    return f"{one} {plain(name) if isinstance(name, str) and name else entry}"


def _change(entry: int, table: Mapping[str, Any]) -> Change:
    """Return a change, which an error calls by its place in the list, from 1."""
    try:
        return Change(**table)
    except PlatformError as error:
        raise PlatformError(str(error).replace("change", f"change {entry},", 1)) from None


def _refuse_unknown(place: str, table: Mapping[str, Any], accepted: set[str]) -> None:
    for key in table:
        if key not in accepted:
            known = meant(key, sorted(accepted))
            if key in _UPLINK_KEYS and place.startswith(("cluster ", "switch ")):
                known = f"accepted: in [[links]], as links are listed; here {_listed(accepted)}"
            raise PlatformError(f"{place}: unknown key {quoted(key)}; {known}")


def _ends(between: object) -> tuple[str, str]:
    if not isinstance(between, list) or len(between) != 2:
        raise PlatformError(f"links: between is {quoted(between)}; accepted: a list of two names")
    return between[0], between[1]


def _chosen(table: Mapping[str, Any], keys: set[str]) -> dict[str, Any]:
    return {key: table[key] for key in table if key in keys}


def _listed(keys: set[str]) -> str:
    return ", ".join(sorted(keys))
