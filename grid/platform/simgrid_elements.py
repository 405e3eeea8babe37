"""Elements in platforms of SimGrid that mean something here, and what their attributes may be."""

from __future__ import annotations

from collections import Counter
from xml.etree.ElementTree import Element

from grid.foreign import plain
from grid.names import nearest

ZONES, ROUTES = ("zone", "AS"), ("zoneRoute", "ASroute")

SHOWN = 3
"""Names of a kind that a note shows."""

_HOSTS = "id speed power core availability_file state_file"
_NUMBERED = "prefix suffix radical bw lat"
_CABLE = "id bandwidth latency sharing_policy"
_ROUTE = (
    "src dst symmetrical symmetric action impact_on_src impact_on_dst "
    "impact_on_src_with_other_recv impact_on_dst_with_other_send"
)
ATTRIBUTES = {
    tag: frozenset(names.split())
    for tag, names in {
        "platform": "version",
        **dict.fromkeys(ZONES, "id routing"),
        "cluster": f"{_HOSTS} {_NUMBERED} sharing_policy topology topo_parameters bb_bw bb_lat "
        "bb_sharing_policy router_id limiter_link loopback_bw loopback_lat",
        "cabinet": f"{_HOSTS} {_NUMBERED}",
        "host": f"{_HOSTS} speed_file availability state coordinates pstate interference_send "
        "interference_recv interference_send_recv max_outgoing_rate",
        "router": "id coordinates",
        "link": f"{_CABLE} bandwidth_file latency_file state state_file",
        "backbone": _CABLE,
        "link_ctn": "id direction",
        "route": _ROUTE,
        **dict.fromkeys(ROUTES, f"{_ROUTE} gw_src gw_dst"),
    }.items()
}
"""Of each element, those that a version of SimGrid's document type has, or that count here."""


def unknown_attributes(root: Element) -> list[str]:
    """Return, in words, the attributes that mean nothing to SimGrid, the most frequent first.

    Of the first of them, it is said which may be meant.

    Examples
    --------
    >>> unknown_attributes(Element("cluster", {"cores": "4", "xmlns:x": "y", "rack": "7"}))
    ['cores of cluster: did you mean core?', 'rack of cluster']
    """
    found = Counter(
        (each.tag, name)
        for each in root.iter()
        for name in each.attrib
        if name not in ATTRIBUTES.get(each.tag, each.attrib)
        if not name.startswith(("xml", "xsi:"))
    )
    words = []
    for place, ((tag, name), count) in enumerate(found.most_common()):
        near = nearest(name, ATTRIBUTES[tag], 1) if place < SHOWN else []
        likely = "".join(f": did you mean {each}?" for each in near)
        words += [f"{plain(name, 20)} of {tag}{likely}"] * count
    return words
