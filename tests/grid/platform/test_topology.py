import math
import pickle

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grid.errors import PlatformError
from grid.platform.topology import (
    CENTRE,
    Link,
    capacities,
    clusters_of,
    latencies,
    network,
    path_latency,
    sides,
    star,
    uplinks,
    validate,
)


@st.composite
def trees(draw):
    """Return any valid network: each node hangs on one that came before it, clusters included."""
    kinds = draw(st.lists(st.booleans(), min_size=1, max_size=8))
    names = [f"{'C' if is_cluster else 'S'}{i}" for i, is_cluster in enumerate(kinds)]
    links = []
    for i, name in enumerate(names):
        other = draw(st.sampled_from([CENTRE, *names[:i]]))
        pair = draw(st.permutations([name, other]))
        links.append(Link(*pair, 1.0 + i, draw(st.floats(0, 10))))
    clusters = [name for name in names if name[0] == "C"]
    switches = [name for name in names if name[0] == "S"]
    return network(clusters, draw(st.permutations(links)), switches)


def two_level():
    links = [Link("A", "S", 10, 1), Link("B", "S", 20, 2), Link("S", "R", 30, 4)]
    links += [Link("R", CENTRE, 40, 8), Link("D", CENTRE, math.inf, 16)]
    return network(["A", "B", "D"], links, ["R", "S"])


def test_star():
    graph = star(["C1", "C2", "C3"], [1, 2, 3], 0.5)
    assert clusters_of(graph) == ["C1", "C2", "C3"]
    assert uplinks(graph) == [("C1", CENTRE), ("C2", CENTRE), ("C3", CENTRE)]
    assert capacities(graph).tolist() == [1, 2, 3]
    assert sides(graph).tolist() == np.eye(3, dtype=bool).tolist()
    assert latencies(graph).tolist() == [0.5] * 3
    assert path_latency(graph, "C1", "C3") == 1.0
    assert path_latency(graph, "C1", "C1") == 0.0


def test_tree_arrays_follow_clusters_then_switches():
    graph = two_level()
    assert uplinks(graph) == [("A", "S"), ("B", "S"), ("D", CENTRE), ("R", CENTRE), ("S", "R")]
    assert capacities(graph).tolist() == [10, 20, math.inf, 40, 30]
    expected = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [1, 1, 0]]
    assert sides(graph).astype(int).tolist() == expected
    assert latencies(graph).tolist() == [13, 14, 16]
    assert path_latency(graph, "A", "B") == 3
    assert path_latency(graph, "A", "D") == 29


def test_a_cluster_may_carry_another():
    graph = network(["A", "B"], [Link("A", CENTRE), Link("B", "A")])
    assert sides(graph).astype(int).tolist() == [[1, 1], [0, 1]]


@given(trees())
def test_a_link_parts_the_clusters_as_cutting_it_does(graph):
    clusters = clusters_of(graph)
    for (node, parent), far in zip(uplinks(graph), sides(graph), strict=True):
        cut = nx.Graph(graph)
        cut.remove_edge(node, parent)
        near = nx.node_connected_component(cut, CENTRE)
        assert [name not in near for name in clusters] == far.tolist()


@given(trees())
def test_latencies_add_up_along_paths(graph):
    clusters = clusters_of(graph)
    shortest = dict(nx.all_pairs_dijkstra_path_length(graph, weight="latency"))
    assert latencies(graph) == pytest.approx([shortest[name][CENTRE] for name in clusters])
    for a in clusters:
        for b in clusters:
            assert path_latency(graph, a, b) == pytest.approx(shortest[a][b])
            assert path_latency(graph, a, b) == path_latency(graph, b, a)


@given(trees())
def test_every_link_has_one_row(graph):
    assert {frozenset(link) for link in uplinks(graph)} == {frozenset(e) for e in graph.edges}
    assert capacities(graph).shape == (len(sides(graph)),)


def test_a_network_does_not_change():
    with pytest.raises(nx.NetworkXError):
        star(["C1"]).add_node("C2")
    copy = pickle.loads(pickle.dumps(two_level()))
    assert sides(copy).tolist() == sides(two_level()).tolist()


@pytest.mark.parametrize(
    ("clusters", "links", "switches", "message"),
    [
        (["A", "A"], [], [], "cluster A: the name of another node"),
        (["A"], [], ["A"], "switch A: the name of another node"),
        (["switch"], [], [], "cluster switch: the name of the central switch"),
        ([""], [], [], "cluster '': not a name"),
        ([" "], [], [], "cluster ' ': not a name"),
        (["a\nb"], [], [], r"cluster 'a\\nb': not a name"),
        (["a:b"], [], [], "cluster 'a:b': not a name"),
        ([7], [], [], "cluster 7: not a name"),
        (["A"], [Link("A", "X")], [], "link A - X: unknown node 'X'; known: switch, A$"),
        (["A"], [Link("A", ["X"])], [], r"unknown node \['X'\]"),
        (["A"], [Link("A", CENTRE, 0)], [], "link switch - A: capacity is 0;"),
        (["A"], [Link("A", CENTRE, -1.5)], [], "capacity is -1.5"),
        (["A"], [Link("A", CENTRE, math.nan)], [], "capacity is nan"),
        (["A"], [Link("A", CENTRE, "fast")], [], "capacity is 'fast'"),
        (["A"], [Link("A", CENTRE, True)], [], "capacity is True"),
        (["A"], [Link("A", CENTRE, 1, -1e-9)], [], "link switch - A: latency is -1e-09;"),
        (["A"], [Link("A", CENTRE, 1, math.inf)], [], "latency is inf"),
        (["A"], [Link("A", CENTRE, 1, 10**400)], [], "latency is 1000"),
        (["A"], [Link("A", CENTRE, 1, None)], [], "latency is None"),
        (["A"], [], [], "cluster A: not connected to the central switch"),
        (["A"], [Link("A", CENTRE)], ["S"], "switch S: not connected"),
        (["A", "B"], [Link("A", "B")], [], "cluster A: not connected"),
        (["A"], [Link("A", CENTRE), Link(CENTRE, "A")], [], "cycle switch - A - switch;"),
        (["A"], [Link("A", CENTRE), Link("A", "A")], [], "cycle A - A;"),
    ],
)
def test_refused(clusters, links, switches, message):
    with pytest.raises(PlatformError, match=message) as caught:
        network(clusters, links, switches)
    assert "\n" not in str(caught.value)
    assert "accepted: " in str(caught.value) or "known: " in str(caught.value)


def test_a_cycle_is_named_by_its_nodes_alone():
    links = [Link("A", CENTRE), Link("A", "S"), Link("S", "T"), Link("T", "A"), Link("B", "T")]
    with pytest.raises(PlatformError, match="cycle ") as caught:
        network(["A", "B"], links, ["S", "T"])
    walk = str(caught.value).split("cycle ")[1].split(";")[0].split(" - ")
    assert walk[0] == walk[-1]
    assert sorted(walk[:-1]) == ["A", "S", "T"]


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (nx.DiGraph(), "DiGraph given"),
        (nx.MultiGraph(), "MultiGraph given"),
        (nx.Graph(), "no central switch"),
        (nx.path_graph([CENTRE, "A"]), "node switch: kind is None"),
    ],
)
def test_graphs_built_elsewhere_are_checked(graph, message):
    with pytest.raises(PlatformError, match=message):
        validate(graph)


def test_a_bare_edge_is_refused():
    graph = nx.Graph([(CENTRE, "A")])
    nx.set_node_attributes(graph, {CENTRE: "switch", "A": "cluster"}, "kind")
    with pytest.raises(PlatformError, match="link switch - A: capacity is None"):
        validate(graph)


def test_one_value_for_each_cluster():
    with pytest.raises(PlatformError, match=r"capacity: shape .2,. given.* each of 3 clusters"):
        star(["A", "B", "C"], [1, 2])
