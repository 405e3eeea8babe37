"""Platforms of SimGrid, on which Batsim runs too, in XML.

A cluster is one here, of as many processors as its hosts have cores; hosts that stand in a zone by
themselves, or in cabinets, are a cluster of that zone's name, one for each speed. A zone of several
such parts is a switch, the outermost one the central switch. What hangs on it does so by one link:
that which all its routes to the others share, with the backbone of its own in series; the narrowest
counts, and latencies add up. Zones of routers that links join to a tree are switches and links as
they stand. What cannot be told so is left out, and named in the notes of the platform.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple
from xml.etree.ElementTree import Element

import networkx as nx

from grid.errors import PlatformError
from grid.foreign import plain, quoted
from grid.platform.multicluster import Cluster, Platform
from grid.platform.simgrid_elements import ATTRIBUTES, ROUTES, SHOWN, ZONES, unknown_attributes
from grid.platform.simgrid_names import Names, numbered
from grid.platform.simgrid_units import MBIT, SECONDS, SPEED, measured, said
from grid.platform.topology import CENTRE, Link, network
from grid.xml_files import read_xml

WITHIN = ("bw", "limiter_link", "loopback_bw", "loopback_lat", "topology", "topo_parameters")
"""What is said of the network within a cluster."""

MASTER = "master_host"
"""Name of the host on which Batsim decides, where nothing else says which it is."""


class _Cable(NamedTuple):
    capacity: float  # Mbit/s
    latency: float  # s


@dataclass(frozen=True)
class _Part:
    """A node of the tree to be, and the link above it so far."""

    node: str
    capacity: float = math.inf
    latency: float = 0.0

    def over(self, cables: Iterable[_Cable], share: float = 1.0) -> _Part:
        """Return it with more cables in series; of their latency, only a share is its own."""
        cables = list(cables)
        return replace(
            self,
            capacity=min([self.capacity, *(cable.capacity for cable in cables)]),
            latency=self.latency + share * math.fsum(cable.latency for cable in cables),
        )


def read_simgrid(path: Path) -> Platform:
    """Read a platform of SimGrid.

    Rate 1 is the speed of the processors of the first cluster, which is the platform's `speed`.

    Raises
    ------
    PlatformError
        If the file cannot be read, describes no cluster, or has a route of what it does not define.
    """
    root = read_xml(path)
    if root.tag != "platform":
        raise PlatformError(f"{path}: found <{plain(root.tag)}>; accepted: <platform>, of SimGrid")
    try:
        return _Reader(path, root).platform()
    except PlatformError as error:
        raise PlatformError(f"{path}: {error}") from None
    except RecursionError:
        raise PlatformError(f"{path}: zones too deep in each other; accepted: fewer") from None


class _Reader:
    """The clusters, switches and links that were found so far in a file."""

    def __init__(self, path: Path, root: Element) -> None:
        self.root, self.path = root, path
        self.clusters: list[tuple[str, int, float]] = []
        self.switches: list[str] = []
        self.links: list[Link] = []
        self.left_out: dict[str, list[str]] = {}
        self.cables = {each.get("id", ""): self._cable(each) for each in root.iter("link")}
        self.used: set[str] = set()
        self.names = {CENTRE}
        self.again: Counter[str] = Counter()

    def platform(self) -> Platform:
        """Return the platform of the whole file."""
        names = Names(self.root)
        for name in unknown_attributes(self.root):
            self._leave_out("attributes that SimGrid does not have", name)
        for element in self.root.iter():
            # Of ``prop``, only the role of the master means something.
            if element.tag not in ATTRIBUTES and element.get("id") != "role":
                self._leave_out("elements of no meaning here", element.tag)
            for name in WITHIN if element.tag in ("cluster", "cabinet") else ():
                if element.get(name):
                    self._leave_out("networks within clusters", name)
            if element.tag in ("route", *ROUTES):
                names.check(element)
        zones = [each for each in self.root if each.tag in (*ZONES, "cluster")]
        alone = len(zones) == 1 and zones[0].tag in ZONES
        top = self._inside(zones[0] if alone else self.root, CENTRE)
        if not self.clusters:
            raise PlatformError("no cluster and no host found; accepted: at least one")
        if top is not None and top.node != CENTRE:
            self._link(top, CENTRE)
        for name in self.cables:
            if name not in self.used:
                self._leave_out("links of no route between clusters", name)
        speed = self.clusters[0][2]
        clusters = [Cluster(name, size, each / speed) for name, size, each in self.clusters]
        graph = network([each.name for each in clusters], self.links, self.switches)
        notes = [f"{what}: {_some(names)} left out" for what, names in self.left_out.items()]
        if len({each for _, _, each in self.clusters}) > 1:
            notes.insert(0, f"rate 1 is {speed / 1e9:g} Gflop/s, the speed of {clusters[0].name}")
        return Platform(tuple(clusters), graph, speed=speed, notes=tuple(notes))

    def _leave_out(self, what: str, name: str) -> None:
        self.left_out.setdefault(what, []).append(name)

    def _inside(self, zone: Element, name: str = "") -> _Part | None:
        """Return what a zone is to those outside: a switch, its only part, or nothing.

        The switch is new unless it is named.
        """
        parts: dict[str, _Part] = {}
        networks: dict[str, dict[str, str]] = {}
        inside: set[str] = set()
        for child in zone:
            identity = child.get("id", "")
            if child.tag == "cluster":
                found = self._cluster(child)
            elif child.tag in ZONES:
                found = self._inside(child)
                if found is None and child.find("router") is not None:
                    networks[identity] = self._routers(child)
            else:
                continue
            inside.add(identity)
            if found is not None:
                parts[identity] = found
        for group in self._hosts(zone, alone=not parts):
            parts[group.node] = group
        routes = [
            (each.get("src", ""), each.get("dst", ""), each)
            for each in zone
            if each.tag in ROUTES and each.get("src") != each.get("dst")
        ]
        for src, dst, _ in routes:
            if not {src, dst} <= inside:
                self._leave_out("routes of other zones", f"{src}-{dst}")
        above = self._uplinks(parts, routes, networks)
        if len(parts) == 1 and not any(networks.values()):
            return next(iter(above.values()))[0]
        if not parts:
            return None
        if not name:
            name = self._named(zone.get("id", ""))
            self.switches.append(name)
        for part, router in above.values():
            self._link(part, router or name)
        for routers in networks.values():
            if routers:  # a tree of their own: it has to hang on something
                self._link(_Part(next(iter(routers.values()))), name)
        return _Part(name)

    def _uplinks(
        self,
        parts: dict[str, _Part],
        routes: list[tuple[str, str, Element]],
        networks: dict[str, dict[str, str]],
    ) -> dict[str, tuple[_Part, str]]:
        """Return each part with the links of its own above it, and the router it hangs on."""
        shared: dict[str, set[str]] = {}
        router: dict[str, str] = {}
        for src, dst, route in routes:
            names = {self._cable_name(each.get("id", "")) for each in route.iter("link_ctn")}
            for one, other, gate in ((src, dst, "gw_dst"), (dst, src, "gw_src")):
                if one in parts:
                    shared[one] = shared.get(one, names) & names
                    router[one] = networks.get(other, {}).get(route.get(gate, ""), "")
        users = Counter(name for names in shared.values() for name in names)
        found = {}
        for identity, part in parts.items():
            for name in sorted(shared.get(identity, ())):
                # A cable that all share is crossed once on the way, by two uplinks.
                part = part.over(self._cables([name]), 1.0 if users[name] == 1 else 0.5)
            found[identity] = part, router.get(identity, "")
        for name, count in users.items():
            if count > 2:
                self._leave_out("sharing of one link by more than two parts, at", name)
        return found

    def _routers(self, zone: Element) -> dict[str, str]:
        """Return the switches that the routers of a zone are, if links join them to a tree."""
        identities = [each.get("id", "") for each in zone.iter("router")]
        graph = nx.Graph()
        graph.add_nodes_from(identities)
        for route in zone.iter("route"):
            names = [self._cable_name(each.get("id", "")) for each in route.iter("link_ctn")]
            graph.add_edge(route.get("src"), route.get("dst"), names=names)
        if len(identities) < 2:
            return {}
        if set(graph) != set(identities) or not nx.is_tree(graph):
            self._leave_out("networks of routers that are no tree", zone.get("id", ""))
            return {}
        found = {identity: self._named(identity) for identity in identities}
        self.switches += found.values()
        for a, b, names in graph.edges(data="names"):
            self._link(_Part(found[a]).over(self._cables(names)), found[b])
        return found

    def _cluster(self, element: Element) -> _Part | None:
        if _is_master(element):
            self._leave_out("hosts of the master", _of(element))
            return None
        hosts = _count(element)
        node = self._add(_of(element), hosts * _cores(element), self._speed(element))
        backbone = [self._cable(element, "bb_bw", "bb_lat")] if element.get("bb_bw") else []
        return _Part(node, latency=_latency(element)).over(backbone)

    def _hosts(self, zone: Element, alone: bool) -> list[_Part]:
        """Return the clusters that the hosts of a zone are: one for each speed."""
        groups: dict[float, int] = {}
        delays: dict[float, set[float]] = {}
        for element in zone:
            if element.tag not in ("host", "cabinet"):
                continue
            if _is_master(element):
                self._leave_out("hosts of the master", _of(element))
                continue
            count = 1 if element.tag == "host" else _count(element)
            speed = self._speed(element)
            groups[speed] = groups.get(speed, 0) + count * _cores(element)
            delays.setdefault(speed, set()).add(_latency(element))
        backbone = [self._cable(each) for each in zone.findall("backbone")]
        for route in zone.findall("route") if groups or not alone else ():
            self._leave_out("routes between hosts", f"{route.get('src')}-{route.get('dst')}")
        found = []
        for speed, size in groups.items():
            name = zone.get("id", "hosts")
            if not (alone and len(groups) == 1):
                name = f"{name}-{speed / 1e9:g}Gf"
            if len(delays[speed]) > 1:
                self._leave_out("latencies of hosts and cabinets but the longest, of", name)
            node = self._add(name, size, speed)
            found.append(_Part(node, latency=max(delays[speed])).over(backbone))
        return found

    def _add(self, identity: str, size: int, speed: float) -> str:
        name = self._named(identity)
        self.clusters.append((name, size, speed))
        return name

    def _named(self, identity: str) -> str:
        """Return a name for a node, like its own, that no other has."""
        own = "".join(
            "_" if sign in ":+,=" or not sign.isprintable() else sign for sign in identity
        )
        own = own.strip() or "unnamed"
        name = own
        while name in self.names:
            self.again[own] += 1
            name = f"{own}-{self.again[own] + 1}"
        self.names.add(name)
        return name

    def _link(self, part: _Part, above: str) -> None:
        self.links.append(Link(part.node, above, part.capacity, part.latency))

    def _cable_name(self, name: str) -> str:
        """Return the name of a link, of which one direction may have been named."""
        return name if name in self.cables else name.removesuffix("_UP").removesuffix("_DOWN")

    def _cables(self, names: Iterable[str]) -> list[_Cable]:
        """Return the links of these names, but not those of which clusters have told already."""
        for name in names:
            if name not in self.cables and name not in self.used:
                self._leave_out("links within clusters, on routes", name)
            self.used.add(name)
        return [self.cables[name] for name in names if name in self.cables]

    def _cable(self, element: Element, width: str = "bandwidth", delay: str = "latency") -> _Cable:
        capacity = said(element, width, lambda text: measured(text, MBIT))
        if element.get("sharing_policy") == "FATPIPE":
            self._leave_out("limits that bind no sum of flows (FATPIPE), of", _of(element))
            capacity = math.inf
        return _Cable(capacity, _latency(element, delay))

    def _speed(self, element: Element) -> float:
        name = "power" if element.get("power") and not element.get("speed") else "speed"
        if "," in element.get(name, ""):
            self._leave_out("speeds but the first, of", _of(element))
        return said(element, name, lambda text: measured(text.partition(",")[0], SPEED))


def _of(element: Element) -> str:
    return element.get("id", "")


def _latency(element: Element, name: str = "lat") -> float:
    """Return a latency (s), that of the link of each host of a cluster or cabinet unless named."""
    return said(element, name, lambda text: measured(text, SECONDS, from_0=True), "0")


def _some(names: list[str]) -> str:
    """Return how many names there are, and some of them, fit for a line."""
    found = [name for name, _ in Counter(names).most_common(SHOWN + 1)]
    shown = ", ".join(map(plain, found[:SHOWN]))
    return f"{len(names)} ({shown}{', ...' if len(found) > SHOWN else ''})"


def _is_master(element: Element) -> bool:
    role = any(
        each.get("id") == "role" and each.get("value") == "master" for each in element.iter("prop")
    )
    return role or element.get("id") == MASTER


def _cores(element: Element) -> int:
    return said(element, "core", _whole, "1")


def _whole(text: str) -> int:
    if not re.fullmatch(r"[1-9]\d{0,6}", text, re.ASCII):
        raise PlatformError(f"found {quoted(text)}; accepted: a whole number from 1 to 9999999")
    return int(text)


def _count(element: Element) -> int:
    return sum(map(len, said(element, "radical", numbered)))
