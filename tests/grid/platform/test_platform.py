import json
import math
import pickle
import tomllib

import numpy as np
import pytest

from grid.errors import PlatformError
from grid.foreign import quoted
from grid.platform.multicluster import Cluster, Platform
from grid.platform.topology import CENTRE, capacities, latencies, path_latency, sides, star, uplinks

TREE = """
[[clusters]]
name = "A"
size = 20
rate = 1.5
switch = "S"
capacity = 100
latency = 0.5

[[clusters]]
name = "B"
size = 16
switch = "S"

[[clusters]]
name = "D"
size = 12

[[switches]]
name = "S"
capacity = inf
latency = 0.25
"""

LINKS = """
clusters = [{name = "A", size = 4}, {name = "B", size = 4}]
switches = [{name = "S"}]
links = [
  {between = ["A", "S"], capacity = 10.5},
  {between = ["S", "switch"], latency = 2},
  {between = ["S", "B"]},
]
"""


@pytest.mark.parametrize("text", [TREE, LINKS])
def test_plain_tables_make_the_same_platform_again(text):
    platform = Platform.from_dict(tomllib.loads(text))
    tables = platform.to_dict()
    again = Platform.from_dict(tables)
    assert again.clusters == platform.clusters
    assert uplinks(again.graph) == uplinks(platform.graph)
    assert capacities(again.graph).tolist() == capacities(platform.graph).tolist()
    assert latencies(again.graph).tolist() == latencies(platform.graph).tolist()
    assert [switch["name"] for switch in tables["switches"]] == ["S"]
    assert json.loads(json.dumps(tables)) == tables


@pytest.fixture
def toml(tmp_path):
    def write(text):
        path = tmp_path / "site.toml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def refusal(call, *arguments):
    with pytest.raises(PlatformError) as caught:
        call(*arguments)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_star():
    platform = Platform.star([20, 16], [1.0, 1.2], capacity=100, latency=[0.0, 0.1])
    assert platform.clusters == (Cluster("C1", 20, 1.0), Cluster("C2", 16, 1.2))
    assert platform.names == ("C1", "C2")
    assert platform.sizes.tolist() == [20, 16]
    assert platform.sizes.dtype == np.int64
    assert platform.rates.tolist() == [1.0, 1.2]
    assert capacities(platform.graph).tolist() == [100, 100]
    assert latencies(platform.graph).tolist() == [0.0, 0.1]


def test_arrays_given_are_kept_as_plain_numbers():
    platform = Platform.star(np.array([3, 4]), np.float32(2))
    assert json.dumps([[c.name, c.size, c.rate] for c in platform.clusters]) == (
        '[["C1", 3, 2.0], ["C2", 4, 2.0]]'
    )


def test_index():
    platform = Platform.star([1, 2, 3])
    assert [platform.index(name) for name in ("C3", "C1")] == [2, 0]
    assert refusal(platform.index, "C4") == "cluster 'C4': unknown; accepted: C1, C2, C3"


def test_pickled():
    platform = pickle.loads(pickle.dumps(Platform.star([1, 2])))
    assert platform.index("C2") == 1
    assert uplinks(platform.graph) == [("C1", CENTRE), ("C2", CENTRE)]


@pytest.mark.parametrize("size", [0, -1, 2.0, "4", True, None, 2**31])
def test_sizes_refused(size):
    assert f"cluster A: size is {size!r}; accepted: an integer" in refusal(Cluster, "A", size)


@pytest.mark.parametrize(
    "rate", [0, -1.0, 1e-300, 1e7, math.nan, math.inf, "1", True, None, 10**400]
)
def test_rates_refused(rate):
    assert f"cluster A: rate is {quoted(rate)}; accepted: a positive" in refusal(
        Cluster, "A", 1, rate
    )


@pytest.mark.parametrize("name", ["", " ", "a ", "C1:2", "a+b", "a,b", "a=b", "a\nb", 3, None])
def test_names_refused(name):
    assert f"cluster {name!r}: not a name" in refusal(Cluster, name, 1)


def test_clusters_and_graph_belong_together():
    graph = star(["A", "B"])
    a, b = Cluster("A", 1), Cluster("B", 1)
    assert Platform([a, b], graph).clusters == (a, b)
    for clusters, named in (((b, a), "B, A"), ((a,), "A"), ((a, a), "A, A")):
        message = refusal(Platform, clusters, graph)
        assert message == f"network: its clusters are A, B; accepted: {named}"
    assert "at least one cluster" in refusal(Platform, (), graph)
    assert "at least one cluster" in refusal(Platform.star, [])
    assert "rates: shape (2,) given" in refusal(Platform.star, [1, 2, 3], [1, 2])


def test_toml_tree(toml):
    platform = Platform.from_toml(toml(TREE))
    assert platform.clusters == (Cluster("A", 20, 1.5), Cluster("B", 16), Cluster("D", 12))
    assert uplinks(platform.graph) == [("A", "S"), ("B", "S"), ("D", CENTRE), ("S", CENTRE)]
    assert capacities(platform.graph).tolist() == [100, 1000, 1000, math.inf]
    assert latencies(platform.graph).tolist() == [0.75, 0.25, 0]
    assert sides(platform.graph)[3].tolist() == [True, True, False]


def test_toml_links(toml):
    platform = Platform.from_toml(str(toml(LINKS)))
    assert uplinks(platform.graph) == [("A", "S"), ("B", "S"), ("S", CENTRE)]
    assert capacities(platform.graph).tolist() == [10.5, 1000, 1000]
    assert path_latency(platform.graph, "A", "B") == 0
    assert latencies(platform.graph).tolist() == [2, 2]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("size = 20", "size = 0", "cluster A: size is 0; accepted: an integer from 1"),
        ("size = 20", "size = 2.5", "cluster A: size is 2.5; accepted: an integer"),
        ("size = 20", "", "cluster A: key 'size' is missing; required: name, size"),
        ("size = 20", "nodes = 20", "cluster A: unknown key 'nodes'; accepted: bro"),
        (
            "rate = 1.5",
            "rate = -1",
            "cluster A: rate is -1; accepted: a positive number from 1e-06",
        ),
        ("rate = 1.5", "rate = nan", "cluster A: rate is nan"),
        ("rate = 1.5", 'rate = "x"', "cluster A: rate is 'x'"),
        ("capacity = 100", "capacity = 0", "link A - S: capacity is 0; accepted: Mbit/s from"),
        ("capacity = 100", "capacity = [1]", "link A - S: capacity is [1]; accepted"),
        ("latency = 0.5", "latency = -1", "link A - S: latency is -1; accepted: a finite"),
        (
            'switch = "S"',
            'switch = "T"',
            "link of 'A': switch is 'T'; accepted: switch, B, D, S",
        ),
        ('switch = "S"', "switch = 1", "link of 'A': switch is 1; accepted: switch, B"),
        ('switch = "S"', 'switch = "A"', "link of 'A': switch is 'A'; accepted: switch, B, D, S"),
        ('"D"', '"A"', "cluster A: the name of another node"),
        ('"D"', '""', "cluster '': not a name"),
        ('"D"', "4", "cluster 4: not a name"),
        ('"D"', '"switch"', "cluster switch: the name of the central switch"),
        ("[[switches]]", "[[routers]]", "platform: unknown key 'routers'; did you mean brokers"),
        ("[[switches]]", "[switches]", "switches: {'capacity': "),
        ('[[switches]]\nname = "S"', '[[switches]]\nswitch = "S"', "key 'name' is missing"),
    ],
)
def test_toml_refused(toml, old, new, message):
    path = toml(TREE.replace(old, new, 1))
    found = refusal(Platform.from_toml, path)
    assert found.startswith(f"{path}: ")
    assert message in found


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('["A", "S"]', '["A"]', "links: between is ['A']; accepted: a list of two names"),
        ('["A", "S"]', '"AS"', "links: between is 'AS'; accepted: a list of two names"),
        ('["A", "S"]', '["A", "X"]', "link A - X: unknown node 'X'"),
        ('["A", "S"]', '["S", "S"]', "links: cycle S - S; accepted: links that form one tree"),
        ('["A", "S"]', '["B", "S"]', "links: cycle "),
        ('{between = ["S", "B"]},', "", "cluster B: not connected to the central switch"),
        ('["S", "switch"]', '["A", "B"]', "links: cycle "),
        ("capacity = 10.5", "width = 1", "link 1: unknown key 'width'; accepted: bet"),
        ("between", "ends", "link 1: unknown key 'ends'"),
        (
            '"A", size = 4',
            '"A", size = 4, capacity = 1',
            "cluster A: unknown key 'capacity'; accepted: in [[links]], as links are listed; here",
        ),
        (
            '"A", size = 4',
            '"A", size = 4, color = 1',
            "'color'; accepted: broker, hardware, name, rate, size",
        ),
        (
            '{name = "S"}',
            '{name = "S", switch = "switch"}',
            "switch S: unknown key 'switch'; accepted: in [[li",
        ),
        ('{name = "S"}', '"S"', "switch 1: 'S' found; accepted: a table"),
        ('{name = "S"}', '{name = "S"}, {}', "switch 2: key 'name' is missing"),
        ('{name = "S"}', '{name = "S"}, {name = 99999999999999999999}', "switches.1.name: found"),
    ],
)
def test_toml_links_refused(toml, old, new, message):
    path = toml(LINKS.replace(old, new, 1))
    found = refusal(Platform.from_toml, path)
    assert found.startswith(f"{path}: ")
    assert message in found


def test_a_cluster_hangs_on_another_node():
    tables = {"clusters": [{"name": name, "size": 4} for name in "AB"]}
    for wrong in ("n", "A"):
        tables["clusters"][0]["switch"] = wrong
        assert refusal(Platform.from_dict, tables, "here") == (
            f"here: link of 'A': switch is '{wrong}'; accepted: switch, B"
        )
    tables["clusters"][0]["switch"] = "B"
    assert uplinks(Platform.from_dict(tables).graph) == [("A", "B"), ("B", "switch")]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"color": 1}, "change 2, of cluster A: unknown key 'color'; accepted: "),
        ({"at": -5}, "change 2, of cluster A: at is -5; accepted: seconds"),
        ({"cluster": "Z"}, "change 2, of cluster Z: no such cluster; accepted: A"),
        ({"processors": 9}, "change 2, of cluster A: processors is 9; accepted: "),
    ],
)
def test_changes_are_called_by_their_place_whatever_is_wrong(wrong, words):
    change = {"cluster": "A", "what": "fail", "at": 5}
    tables = {"clusters": [{"name": "A", "size": 4}], "changes": [change, change | wrong]}
    assert refusal(Platform.from_dict, tables, "here").startswith(f"here: {words}")
    del tables["changes"][1]["cluster"]
    assert "here: change 2: " in refusal(Platform.from_dict, tables, "here")


def test_a_loop_of_parents_is_a_cycle():
    tables = {
        "clusters": [{"name": "C", "size": 1}],
        "switches": [{"name": "A", "switch": "B"}, {"name": "B", "switch": "A"}],
    }
    assert refusal(Platform.from_dict, tables, "here") == (
        "here: links: cycle B - A - B; accepted: links that form one tree"
    )
    tables["switches"] = [{"name": a, "switch": b} for a, b in (("X", "Y"), ("Y", "Z"), ("Z", "X"))]
    cycle = refusal(Platform.from_dict, tables).split("cycle ")[1].split(";")[0].split(" - ")
    assert sorted(cycle[1:]) == ["X", "Y", "Z"]


def test_files_that_are_no_toml(toml, tmp_path):
    path = toml('[[clusters]]\nname = "A"\nsize = = 3\n')
    message = refusal(Platform.from_toml, path)
    assert message.startswith(f"{path}: ")
    assert "line 3" in message
    assert "accepted: a TOML file" in message
    assert f"{tmp_path}/none.toml: No such file" in refusal(
        Platform.from_toml, tmp_path / "none.toml"
    )
    assert "Is a directory" in refusal(Platform.from_toml, tmp_path)
    assert "byte 0xff in line 1, which is not UTF-8;" in refusal(
        Platform.from_toml, toml(b"\xff\xfe")
    )
    assert "levels" in refusal(Platform.from_toml, toml("a = " + "[" * 20000))
    assert "clusters: none; accepted: at least one" in refusal(Platform.from_toml, toml(""))
