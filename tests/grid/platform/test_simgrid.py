from __future__ import annotations

import math

import pytest

from grid.errors import PlatformError
from grid.platform.multicluster import Platform
from grid.platform.reading import read_platform
from grid.platform.simgrid_units import MBIT, SECONDS, SPEED, measured

HEAD = '<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
A = '<cluster id="A" prefix="a" suffix="" radical="0-3" speed="2Gf" bw="1GBps" lat="1ms"/>'
C = A.replace('"A"', '"C"').replace('"a"', '"c"')
B = '<cluster id="B" prefix="b" suffix="" radical="0,2-3" core="2" speed="1Gf" bb_bw="1MBps"/>'


def read(tmp_path, inside, head=HEAD):
    path = tmp_path / "site.xml"
    path.write_text(f'{head}<platform version="4.1">{inside}</platform>')
    return read_platform(path)


def links(platform):
    return {
        tuple(link["between"]): (link["capacity"], pytest.approx(link["latency"]))
        for link in platform.to_dict()["links"]
    }


def route(src, dst, *names, gates=("", "")):
    cables = "".join(f'<link_ctn id="{name}"/>' for name in names)
    gateways = f'gw_src="{gates[0]}" gw_dst="{gates[1]}"'
    return f'<zoneRoute src="{src}" dst="{dst}" {gateways}>{cables}</zoneRoute>'


def link(name, bandwidth="100MBps", latency="10ms", other=""):
    return f'<link id="{name}" bandwidth="{bandwidth}" latency="{latency}" {other}/>'


def zone(name, inside):
    return f'<zone id="{name}" routing="Full">{inside}</zone>'


def test_one_cluster(tmp_path):
    platform = read(tmp_path, A)
    assert platform.names == ("A",)
    assert platform.sizes.tolist() == [4]
    assert platform.speed == 2e9
    assert links(platform) == {("A", "switch"): (math.inf, 0.001)}


def test_clusters_and_the_links_that_all_their_routes_share(tmp_path):
    inside = A + B + link("own") + link("both", "10MBps", "4ms") + route("A", "B", "own", "both")
    platform = read(tmp_path, zone("site", inside))
    assert platform.sizes.tolist() == [4, 6]
    assert platform.rates.tolist() == [1.0, 0.5]
    # Both cross each cable once: of its latency, each has half.
    assert links(platform) == {
        ("A", "switch"): (80.0, 0.001 + 0.005 + 0.002),
        ("B", "switch"): (8.0, 0.005 + 0.002),
    }
    assert any("rate 1 is 2 Gflop/s, the speed of A" in note for note in platform.notes)


def test_own_links_of_three(tmp_path):
    cables = link("a") + link("b", "50MBps") + link("c", "25MBps") + link("x")
    routes = route("A", "B", "a", "b") + route("A", "C", "a", "c") + route("B", "C", "b", "c")
    found = links(read(tmp_path, zone("site", A + B + C + cables + routes)))
    assert [found[name, "switch"][0] for name in "ABC"] == [800.0, 8.0, 200.0]


def test_a_backbone_that_three_share_is_told(tmp_path):
    routes = "".join(route(*pair, "x") for pair in ("AB", "AC", "BC"))
    platform = read(tmp_path, zone("site", A + B + C + link("x") + routes))
    assert [found[0] for found in links(platform).values()] == [800.0, 8.0, 800.0]
    assert any("more than two parts, at: 1 (x)" in note for note in platform.notes)


def test_zones_are_switches(tmp_path):
    inner = zone("inner", A + B)
    cables = link("wan", "1MBps", "20ms")
    top = zone("top", inner + zone("lone", C) + cables + route("inner", "lone", "wan"))
    platform = read(tmp_path, top)
    assert platform.names == ("A", "B", "C")
    assert links(platform) == {
        ("A", "inner"): (math.inf, 0.001),
        ("B", "inner"): (8.0, 0.0),
        ("C", "switch"): (8.0, 0.001 + 0.010),
        ("inner", "switch"): (8.0, 0.010),
    }


def test_a_tree_of_routers(tmp_path):
    routers = "".join(f'<router id="{name}"/>' for name in ("north", "hub", "south"))
    paths = "".join(
        f'<route src="{end}" dst="hub"><link_ctn id="{end}-hub"/></route>'
        for end in ("north", "south")
    )
    core = zone("core", routers + link("north-hub", "1MBps") + link("south-hub", "2MBps") + paths)
    joined = route("A", "core", "a", gates=("", "north")) + route("core", "B", gates=("south", ""))
    platform = read(tmp_path, zone("top", core + A + B + link("a", "3MBps") + joined))
    assert links(platform) == {
        ("A", "north"): (24.0, 0.011),
        ("B", "south"): (8.0, 0.0),
        ("north", "switch"): (math.inf, 0.0),
        ("hub", "north"): (8.0, 0.01),
        ("south", "hub"): (16.0, 0.01),
    }
    ring = paths + '<route src="north" dst="south"><link_ctn id="a"/></route>'
    cables = link("north-hub") + link("south-hub")
    circle = zone("core", routers + cables + ring)
    platform = read(tmp_path, zone("top", circle + A + B + link("a") + joined))
    assert any("networks of routers that are no tree: 1 (core)" in each for each in platform.notes)
    assert set(links(platform)) == {("A", "switch"), ("B", "switch")}


def test_hosts_are_clusters_by_their_speed(tmp_path):
    hosts = (
        '<host id="h1" speed="1Gf" core="4"/><host id="h2" speed="2Gf"/>'
        '<cabinet id="c" radical="1-10" prefix="x" suffix="" speed="1Gf" bw="1Bps"/>'
        '<host id="master_host" speed="9Gf"/>'
        '<host id="m"  speed="9Gf"><prop id="role" value="master"/></host>'
    )
    platform = read(tmp_path, zone("z", hosts + '<backbone id="b" bandwidth="1MBps"/>'))
    assert dict(zip(platform.names, platform.sizes.tolist(), strict=True)) == {
        "z-1Gf": 14,
        "z-2Gf": 1,
    }
    assert any("hosts of the master: 2 (master_host, m)" in note for note in platform.notes)
    alone = read(tmp_path, zone("z", "".join(f'<host id="{n}" speed="1Gf"/>' for n in "abc")))
    assert alone.names == ("z",)


def test_the_latency_of_a_cabinet_counts_as_that_of_a_cluster(tmp_path):
    cabinet = '<cabinet id="c" radical="{2}" prefix="c" suffix="" speed="{0}Gf" lat="{1}ms"/>'
    backbone = '<backbone id="b" bandwidth="1MBps" latency="1ms"/>'
    first = zone("one", cabinet.format(1, 100, "1-3") + cabinet.format(1, 100, 4) + backbone)
    mixed = cabinet.format(1, 100, 5) + cabinet.format(1, 300, 6) + cabinet.format(2, 7, 8)
    platform = read(tmp_path, zone("z", first + zone("two", mixed)))
    assert links(platform) == {
        ("one", "switch"): (8.0, 0.101),
        ("two-1Gf", "two"): (math.inf, 0.3),
        ("two-2Gf", "two"): (math.inf, 0.007),
        ("two", "switch"): (math.inf, 0.0),
    }
    told = "latencies of hosts and cabinets but the longest, of: 1 (two-1Gf) left out"
    assert told in platform.notes
    alone = read(tmp_path, zone("z", cabinet.format(1, 100, 1)))
    assert "latencies" not in "".join(alone.notes)


def test_what_has_no_meaning_is_named(tmp_path):
    cluster = A.replace("/>", ' limiter_link="1MBps"><prop id="watt" value="1"/></cluster>')
    rest = '<config id="General"/><storage id="s"/>'
    fat = link("fat", other='sharing_policy="FATPIPE"')
    platform = read(tmp_path, rest + zone("z", cluster + B + fat + link("x") + route(*"AB", "fat")))
    told = "\n".join(platform.notes)
    assert "no meaning here: 3 (config, storage, prop) left out" in told
    assert "within clusters: 2 (bw, limiter_link) left out" in told
    assert "(FATPIPE), of: 1 (fat) left out" in told
    assert "links of no route between clusters: 1 (x) left out" in told
    assert links(platform)["A", "switch"] == (math.inf, 0.006)


def test_attributes_that_no_version_of_simgrid_has_are_named(tmp_path):
    old = '<host id="h" power="1Gf" availability="1" state="ON"/><AS id="i" routing="Full"/>'
    platform = read(tmp_path, zone("z", A.replace("lat=", 'cores="4" rack="1" lat=') + old))
    assert platform.sizes.tolist() == [4, 1]
    told = "attributes that SimGrid does not have: 2 (cores of cluster: did you mean core?, rack of"
    assert [note for note in platform.notes if "attributes" in note] == [
        f"{told} cluster) left out"
    ]


@pytest.mark.parametrize(
    ("route", "told"),
    [
        (route("A", "BB"), "zoneRoute A-BB: dst 'BB': unknown; did you mean B?"),
        (route("nowhere", "B"), "nowhere-B: src 'nowhere': unknown; accepted: a zone or cluster"),
        (route("A", "B", "wann"), "link_ctn 'wann': unknown; did you mean wan?"),
        (route("A", "B", "north_link_0"), "link_ctn 'north_link_0': unknown; accepted: a link"),
        (route("A", "B", gates=("aA_routr", "")), "gw_src 'aA_routr': unknown; did you mean aA_ro"),
        (route("A", "B", gates=("a3", "b1")), "gw_dst 'b1': unknown; accepted: a host or router"),
        (route("A", "B", gates=("a03", "")), "gw_src 'a03': unknown"),
        ('<ASroute src="A"/>', "ASroute A-: dst '': unknown"),
        ('<route src="a0" dst="a4"/>', "route a0-a4: dst 'a4': unknown"),
        ('<route src="a0" dst="a1"><link_ctn id="B_UP"/></route>', "link_ctn 'B_UP': unknown"),
    ],
)
def test_routes_of_what_the_file_does_not_define(tmp_path, route, told):
    with pytest.raises(PlatformError) as caught:
        read(tmp_path, zone("site", route + A + B + link("wan")))
    assert f"{tmp_path / 'site.xml'}: " in str(caught.value)
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("inside", "told"),
    [
        (A.replace("0-3", "0-63,70,5-9"), "cluster A: found host 'a5' twice; accepted: each name"),
        (A + C.replace('"c"', '"a"'), "cluster C: found host 'a0' twice, also of cluster A"),
        (A + '<cabinet id="A" prefix="a" suffix="" radical="3"/>', "cabinet A: found host 'a3' tw"),
        (A + '<host id="a3"/>', "host a3: found its name twice, also of a cluster or cabinet"),
        (A + '<host id="h"/><router id="h"/>', "router h: found its name twice; accepted: each"),
        (A + zone("A", C), "zone A: found its name twice"),
        (A + link("x") + '<backbone id="x"/>', "backbone x: "),
    ],
)
def test_names_that_are_there_twice(tmp_path, inside, told):
    with pytest.raises(PlatformError) as caught:
        read(tmp_path, zone("site", inside))
    assert f"site.xml: {told}" in str(caught.value)


def test_routes_may_name_what_simgrid_makes_of_clusters(tmp_path):
    routes = (
        route("A", "B", "A_link_0_UP", "B_backbone", "wan_DOWN", gates=("aA_router", "b3"))
        + '<route src="a0" dst="b2"><link_ctn id="link_c1_DOWN"/></route>'
        + route("A", "inner", gates=("a3", "c1"))
    )
    inner = zone("inner", '<cabinet id="C" prefix="c" suffix="" radical="1" speed="1Gf"/>')
    platform = read(tmp_path, zone("site", routes + A + B + inner + link("wan", latency="0")))
    assert links(platform)["B", "switch"] == (8.0, 0.0)
    told = "\n".join(platform.notes)
    assert "routes between hosts: 1 (a0-b2) left out" in told
    assert "links within clusters, on routes: 2 (A_link_0, B_backbone) left out" in told


def test_routes_of_other_zones_are_told(tmp_path):
    path = route("A", "B", "wan")
    platform = read(tmp_path, zone("site", zone("inner", A) + B + path + link("wan", "1Bps")))
    assert "routes of other zones: 1 (A-B) left out" in platform.notes


def test_names_that_no_cluster_may_have(tmp_path):
    odd = B.replace('"B"', '"switch"').replace("b", "c")
    names = read(tmp_path, zone("z", A.replace('"A"', '"a:b,c=d+e&#x200B;"') + odd)).names
    assert names == ("a_b_c_d_e_", "switch-2")


@pytest.mark.parametrize(
    ("text", "units", "value"),
    [
        ("16.673E9flops", SPEED, 16.673e9),
        ("286.087kf", SPEED, 286_087),
        ("5", SPEED, 5),
        ("1Gbps", MBIT, 1000),
        ("1.25GBps", MBIT, 10_000),
        ("1KiBps", MBIT, None),
        ("1kiBps", MBIT, 8192e-6),
        ("1162500000", MBIT, 9300),
        ("1m", SECONDS, 60),
        ("0", SECONDS, 0),
        ("-1s", SECONDS, None),
        ("nan", SECONDS, None),
        ("", SPEED, None),
    ],
)
def test_units(text, units, value):
    if value is None:
        with pytest.raises(PlatformError, match="accepted: a number from 0 and a unit"):
            measured(text, units, from_0=True)
    else:
        assert measured(text, units, from_0=True) == pytest.approx(value)


BOMB = '<!DOCTYPE p [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>'
FILE = '<!DOCTYPE p [<!ENTITY a SYSTEM "file:///etc/passwd">]>'


@pytest.mark.parametrize(
    ("inside", "head", "found"),
    [
        ("", HEAD, "no cluster and no host found"),
        ("<zone>", HEAD, "mismatched tag"),
        ("&x;", HEAD, ":3: found an entity, 'x'"),
        ("&b;", BOMB, ":1: found an entity, 'a'; accepted: XML without any"),
        ("&a;", FILE, "found an entity, 'a'"),
        (A, '<?xml version="1.0" encoding="klingon"?>', "unknown encoding"),
        (A.replace("0-3", "3-0"), HEAD, "cluster A: radical: found '3-0'; accepted: numbers of"),
        (A.replace("0-3", "0-99999999999"), HEAD, "at most 9 digits"),
        (A.replace("0-3", "0-999999999"), HEAD, "at most 10000000 hosts"),
        (A.replace("2Gf", "0Gf"), HEAD, "cluster A: speed: found '0Gf'; accepted: a number above"),
        (A.replace("2Gf", "9e999f"), HEAD, "cluster A: speed: found '9e999f'"),
        (A.replace("speed", "power").replace("2Gf", "-1f,1f"), HEAD, "A: power: found '-1f'"),
        (A.replace("1ms", "1xs"), HEAD, "cluster A: lat: found '1xs'; accepted: a number from 0"),
        (A.replace("speed", "core='0' speed"), HEAD, "cluster A: core: found '0'"),
        (B.replace("1MBps", "1MB"), HEAD, "cluster B: bb_bw: found '1MB'"),
        (
            link("wan", "0MBps"),
            HEAD,
            "link wan: bandwidth: found '0MBps'; accepted: a number above",
        ),
        (
            link("wan", latency="-10ms"),
            HEAD,
            "link wan: latency: found '-10ms'; accepted: a number",
        ),
        ("<link/>", HEAD, ": link: bandwidth: found ''"),
        ("<zone>" * 5000 + "</zone>" * 5000, HEAD, "zones too deep"),
        (A + C.replace("2Gf", "9999999Gf"), HEAD, "rate is"),
    ],
)
def test_bad_files(tmp_path, inside, head, found):
    with pytest.raises(PlatformError) as caught:
        read(tmp_path, inside, head)
    message = str(caught.value)
    assert message.startswith(str(tmp_path / "site.xml"))
    assert found in message
    assert "accepted: " in message
    assert "\n" not in message


def test_other_xml_and_no_file(tmp_path):
    path = tmp_path / "page.XML"
    path.write_text("<html/>")
    with pytest.raises(PlatformError, match="found <html>; accepted: <platform>"):
        read_platform(path)
    with pytest.raises(PlatformError, match="No such file"):
        read_platform(tmp_path / "none.xml")


def test_toml_is_still_read_and_may_say_the_speed(tmp_path):
    path = tmp_path / "site.toml"
    path.write_text('speed = 2e9\n[[clusters]]\nname = "A"\nsize = 4\n')
    platform = read_platform(path)
    assert platform.speed == 2e9
    assert Platform.from_dict(platform.to_dict()).speed == 2e9
    assert "speed" not in Platform.star([4]).to_dict()
    for wrong in ("0", '"fast"', "inf", "true"):
        path.write_text(f'speed = {wrong}\n[[clusters]]\nname = "A"\nsize = 4\n')
        with pytest.raises(PlatformError, match=r"site\.toml: speed is .*; accepted: flop/s"):
            read_platform(path)


# Names of the clusters of a file, or how many; processors in all; switches.
REAL = {
    "batsim/cluster512.xml": (["A"], 512, 0),
    "batsim/graphene.xml": ([f"AS_sgraphene{n}" for n in range(1, 5)], 144, 0),
    "batsim/small_platform.xml": (2, 4, 0),
    "simgrid/cluster_and_one_host.xml": (["datacenter", "outside"], 3, 0),
    "simgrid/cluster_backbone.xml": (["cluster0"], 100, 0),
    "simgrid/cluster_multi.xml": (["simple", "backboned", "halfduplex"], 8 + 16 + 32, 0),
    "simgrid/g5k.xml": (40, 1528, 22),
    "simgrid/griffon.xml": (3, 92, 0),
    "simgrid/meta_cluster.xml": (["my_cluster1", "my_cluster2"], 60, 0),
    "simgrid/routing_cluster.xml": (["my_cluster1", "my_cluster2"], 6, 0),
    "simgrid/small_platform.xml": (4, 7, 0),
    "simgrid/three_multicore_hosts.xml": (["siteA"], 10, 0),
}


@pytest.mark.parametrize("name", REAL)
def test_real_platforms(traces, name):
    clusters, processors, switches = REAL[name]
    platform = read_platform(traces / name)
    assert "attributes" not in "".join(platform.notes)
    assert clusters in (list(platform.names), len(platform.names))
    assert platform.sizes.sum() == processors
    assert len(platform.to_dict()["switches"]) == switches


def test_every_real_platform_is_listed(traces):
    assert {str(path.relative_to(traces)) for path in traces.rglob("*.xml")} == set(REAL)
