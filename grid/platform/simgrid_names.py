"""Names in platforms of SimGrid: each defined once, and routes only of what the file defines."""

from __future__ import annotations

import re
from collections.abc import Collection
from itertools import pairwise
from xml.etree.ElementTree import Element

from grid.errors import PlatformError
from grid.foreign import plain, quoted
from grid.names import meant
from grid.platform.simgrid_elements import ROUTES, ZONES
from grid.platform.simgrid_units import called, said

MOST_HOSTS = 10_000_000


class Names:
    """What the elements of a file define, or have SimGrid define.

    Raises
    ------
    PlatformError
        If two hosts or routers, two links, or two zones or clusters have one name.
    """

    def __init__(self, root: Element) -> None:
        self.zones: set[str] = set()
        self.hosts: set[str] = set()
        self.links: set[str] = set()
        self._clusters: set[str] = set()
        self._numbered: dict[tuple[str, str], list[tuple[range, Element]]] = {}
        kinds = dict.fromkeys((*ZONES, "cluster"), self.zones)
        kinds |= dict.fromkeys(("host", "router", "peer"), self.hosts)
        kinds |= dict.fromkeys(("link", "backbone"), self.links)
        routers = set()
        for each in root.iter():
            identity = each.get("id", "")
            if (defined := kinds.get(each.tag)) is not None:
                if identity and identity in defined:
                    raise _again(called(each), "its name", "")
                defined.add(identity)
            if each.tag in ("cluster", "cabinet"):
                around = each.get("prefix", ""), each.get("suffix", "")
                numbers = said(each, "radical", numbered)
                self._numbered.setdefault(around, []).extend((some, each) for some in numbers)
            if each.tag == "cluster":
                self._clusters.add(identity)
                routers.add(each.get("router_id") or f"{identity}_router".join(around))
        self._check_numbered()
        self.hosts |= routers

    def _check_numbered(self) -> None:
        """Refuse hosts of clusters and cabinets that others have the names of."""
        for (prefix, suffix), found in self._numbered.items():
            found.sort(key=lambda each: each[0].start)
            for (before, owner), (numbers, other) in pairwise(found):
                if numbers.start in before:
                    host = f"host {quoted(f'{prefix}{numbers.start}{suffix}')}"
                    raise _again(called(other), host, called(owner) if owner is not other else "")
        for name in self.hosts:
            if self._is_numbered(name):
                raise _again(plain(f"host {name}"), "its name", "a cluster or cabinet")

    def check(self, route: Element) -> None:
        """Refuse a route of an end, gateway or link that nothing defines."""
        zones = route.tag in ROUTES
        ends = (self.zones, "a zone or cluster") if zones else (self.hosts, "a host or router")
        for key in ("src", "dst"):
            if not self._ends(route.get(key, "")):
                raise _unknown(route, key, route.get(key, ""), *ends)
        for key in ("gw_src", "gw_dst"):
            if (gate := route.get(key)) and not self._ends(gate):
                raise _unknown(route, key, gate, self.hosts, "a host or router")
        for each in route.iter("link_ctn"):
            name = each.get("id", "")
            if not (_either_way(name) & self.links or self._own_link(name)):
                raise _unknown(route, "link_ctn", name, self.links, "a link")

    def _ends(self, name: str) -> bool:
        """Return whether a route may lead to a name."""
        return name in self.zones or name in self.hosts or self._is_numbered(name)

    def _is_numbered(self, name: str) -> bool:
        """Return whether it is a host of a cluster or cabinet."""
        for (prefix, suffix), ranges in self._numbered.items():
            if not name.startswith(prefix):
                continue
            text = name.removeprefix(prefix).removesuffix(suffix)
            number = int(text) if re.fullmatch(r"\d{1,9}", text, re.ASCII) else -1
            if name == f"{prefix}{number}{suffix}" and any(number in each for each, _ in ranges):
                return True
        return False

    def _own_link(self, name: str) -> bool:
        """Return whether SimGrid makes a link of that name, for a cluster or one of its hosts."""
        of_cluster = re.fullmatch(r"(.*)_(?:backbone|link_\d+(?:_.*)?)", name, re.ASCII | re.DOTALL)
        if of_cluster and of_cluster[1] in self._clusters:
            return True
        hosts = (each.removeprefix("link_") for each in _either_way(name) if each[:5] == "link_")
        return any(self._ends(host) for host in hosts)


def _either_way(name: str) -> set[str]:
    """Return the names that a link may have of which one direction may be named."""
    return {name, name.removesuffix("_UP"), name.removesuffix("_DOWN")}


def _again(where: str, what: str, by: str) -> PlatformError:
    there = f", also of {by}" if by else ""
    return PlatformError(f"{where}: found {what} twice{there}; accepted: each name once")


def _unknown(
    route: Element, what: str, name: str, known: Collection[str], kind: str
) -> PlatformError:
    whole = plain(f"{route.tag} {route.get('src', '')}-{route.get('dst', '')}")
    likely = meant(name, map(plain, known), f"accepted: {kind} that the file defines")
    return PlatformError(f"{whole}: {what} {quoted(name)}: unknown; {likely}")


def numbered(radical: str) -> list[range]:
    """Return the numbers that a text such as ``1-29,58`` names.

    Examples
    --------
    >>> numbered("1-29,58")
    [range(1, 30), range(58, 59)]
    """
    found = []
    for part in radical.split(","):
        match = re.fullmatch(r"\s*(\d{1,9})\s*(?:-\s*(\d{1,9})\s*)?", part, re.ASCII)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        found.append(range(first, last + 1))
    if not all(found) or sum(map(len, found)) > MOST_HOSTS:
        raise PlatformError(
            f"found {quoted(radical)}; accepted: numbers of at most 9 digits, such as 1-29,58, of "
            f"at most {MOST_HOSTS} hosts"
        )
    return found
