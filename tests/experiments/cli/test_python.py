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
        ({"events": 3}, "events: found 3; accepted: a path"),
        ({"follow": "x"}, "follow 'x': found no such job; accepted: the number of a job"),
        ({"pace": -1}, "pace: found -1; accepted: simulated seconds a second, above 0"),
        ({"pace": "fast"}, "pace: found 'fast'; accepted: simulated seconds a second, above 0"),
    ],
)
def test_what_a_run_cannot_be_given_is_told(given, words):
    with pytest.raises(GridError) as caught:
        metasched.run("quickstart", **given)
    assert str(caught.value) == words


def test_what_is_no_platform_is_told():
    with pytest.raises(GridError, match="sizes: found 5; accepted: a list of processors"):
        Platform.star(5)
    with pytest.raises(GridError, match="platform: found 3; accepted: tables by name"):
        Platform.from_dict(3)


def test_a_parameter_is_changed_once():
    with pytest.raises(GridError, match="changed: jobs: found twice; accepted: once"):
        metasched.Scenario.load("quickstart").changed(["jobs=3"], jobs=4)
