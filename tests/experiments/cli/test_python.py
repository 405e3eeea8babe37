"""What the Python interface refuses, in one line."""

from __future__ import annotations

import pytest

import metasched
from grid.errors import GridError
from grid.platform.multicluster import Platform


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"out": 3}, "out: found 3; accepted: a path"),
        ({"out": "\0"}, "out: found '\\x00'; accepted: a path"),
        ({"events": 3}, "events: found 3; accepted: a path"),
        ({"follow": "x"}, "follow: found 'x'; accepted: the number of a job"),
        ({"follow": 1}, "follow: found with live = False; accepted: with live = True"),
        ({"pace": 5.0, "live": False}, "pace: found with live = False; accepted: with live = True"),
        ({"pace": -1}, "pace: found -1; accepted: simulated seconds a second, above 0"),
        ({"pace": "fast"}, "pace: found 'fast'; accepted: simulated seconds a second, above 0"),
    ],
)
def test_what_a_run_cannot_be_given_is_told(given, words):
    with pytest.raises(GridError) as caught:
        metasched.run("quickstart", **given)
    assert str(caught.value) == words


def test_a_run_does_not_write_over_what_it_reads(tmp_path):
    log, text = tmp_path / "jobs.csv", "arrival,size,runtime\n0,1,5\n"
    log.write_text(text)
    scenario = metasched.Scenario.load("quickstart").changed(workload=str(log))
    for given in ({"out": tmp_path}, {"events": log}):
        with pytest.raises(GridError, match="found a file that is read; accepted: another file"):
            metasched.run(scenario, **given)
    assert log.read_text() == text


def test_what_is_no_platform_is_told():
    with pytest.raises(GridError, match="sizes: found 5; accepted: a list of processors"):
        Platform.star(5)
    with pytest.raises(GridError, match="platform: found 3; accepted: tables by name"):
        Platform.from_dict(3)


def test_a_scenario_is_loaded_with_a_platform_beside_it(tmp_path):
    here, there = tmp_path / "en.toml", tmp_path / "platform.toml"
    here.write_text('[parameters]\nmode = "open"\n')
    there.write_text('[[clusters]]\nname = "A"\nsize = 8\n')
    with pytest.raises(GridError, match=r"or a platform beside .* or of metasched\.load"):
        metasched.load(here)
    for given in (there, str(there), Platform.from_toml(there)):
        for name in (here, "quickstart"):
            (cluster,) = metasched.load(name, given).platform.clusters
            assert (cluster.name, cluster.size) == ("A", 8)
    for name in (here, "quickstart"):
        with pytest.raises(GridError, match="platform: found 3; accepted: a Platform"):
            metasched.load(name, platform=3)


def test_a_parameter_is_changed_once():
    with pytest.raises(GridError, match="changed: jobs: found twice; accepted: once"):
        metasched.Scenario.load("quickstart").changed(["jobs=3"], jobs=4)
