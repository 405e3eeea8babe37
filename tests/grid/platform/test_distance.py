"""What distance costs jobs, by hand: staging before they begin, latency while they communicate."""

from __future__ import annotations

import math

import numpy as np
import pytest

from grid.errors import GridError
from grid.kernel import state as k
from grid.platform.brokers import Advertising
from grid.platform.distance import DistanceCosts
from grid.platform.multicluster import Cluster, Platform
from grid.platform.topology import CENTRE, Link, network
from grid.world.world import World
from tests.grid.plain_cases import rules, table


def placed(platform, takes, costs, *arguments, penalty=0.0, **columns):
    """Return (start, finish) of jobs started as `takes` says, each when its processors are free."""

    def place(slot):
        take = takes[int(world.jobs["number"][slot]) - 1]
        if (world.state.free < take).any():
            return k.WAIT
        world.take[: len(take)] = take
        return k.START

    world = World(platform, place=place, advertising=Advertising(truth=True))
    world.policies.set_global(rules(spans=True, penalty=penalty))
    world.set_distance(DistanceCosts(**costs))
    world.submit(table(*arguments, **columns))
    world.advance(np.inf)
    return [
        (row["start"], row["finish"]) for row in np.sort(world.log.records().rows, order="number")
    ]


def tree():
    """Return A - S - T - centre, B - S, C - T, D - centre; E hangs on D."""
    links = [Link("A", "S", 100, 1.0), Link("B", "S", 80, 2.0), Link("S", "T", 50, 4.0)]
    links += [Link("C", "T", math.inf, 8.0), Link("T", CENTRE, 40, 16.0)]
    links += [Link("D", CENTRE, 20, 32.0), Link("E", "D", 10, 64.0)]
    return Platform(
        tuple(Cluster(name, 8, rate) for name, rate in zip("ABCDE", [1, 1, 2, 1, 1], strict=True)),
        network("ABCDE", links, ["S", "T"]),
    )


@pytest.mark.parametrize(
    ("origin", "take", "staging"),
    [
        (-1, [0, 4, 0, 0, 0], 0.0),  # it has no origin
        (1, [0, 4, 0, 0, 0], 0.0),  # at home
        (0, [0, 4, 0, 0, 0], 3 + 400 / 80),
        (1, [4, 0, 0, 0, 0], 3 + 400 / 80),
        (0, [0, 0, 0, 4, 0], 3 + 400 / 20),
        (4, [4, 0, 0, 0, 0], 3 + 400 / 10),
        (3, [0, 0, 0, 0, 4], 3 + 400 / 10),
        (1, [0, 2, 0, 2, 0], 3 + 400 / 20),  # of two clusters one is its home
        (0, [0, 2, 2, 0, 0], 3 + 400 / 50),  # the data that come last: to C
    ],
)
def test_staging_takes_its_time_by_the_narrowest_link(origin, take, staging):
    costs = {"staging_time": 3.0, "staging_data": 50.0}
    ((start, finish),) = placed(tree(), [take], costs, [7.0], 4, [20.0], origin=origin)
    runtime = 10.0 if take == [0, 0, 4, 0, 0] else 20.0
    assert finish - start == pytest.approx(staging + runtime)


def test_links_without_limit_leave_only_the_fixed_time():
    platform = Platform.star([4, 4], capacity=math.inf)
    costs = {"staging_time": 3.0, "staging_data": 1e6}
    assert placed(platform, [[0, 4]], costs, [0.0], 4, [20.0], origin=0) == [(0.0, 23.0)]


def test_processors_are_held_meanwhile():
    platform = Platform.star([4, 4])
    costs = {"staging_time": 3.0}
    found = placed(platform, [[0, 4], [0, 4]], costs, [0.0, 1.0], 4, [20.0, 5.0], origin=[0, 1])
    assert found == [(0.0, 23.0), (23.0, 28.0)]


def test_a_split_job_begins_when_its_data_are_there():
    """Each needs all of a link. The first is staged until 5 s, and then has half of it to 10 s."""
    platform = Platform.star([4, 4], capacity=10.0)
    found = placed(
        platform,
        [[1, 1], [1, 1]],
        {"staging_time": 5.0},
        [0.0, 2.0],
        2,
        [20.0, 4.0],
        origin=[0, -1],
        computation_fraction=0.0,
        ppbw=10.0,
    )
    # 5 s at half the bandwidth are 2.5 s of 20 s; the rest it has alone.
    assert found == [(0.0, 27.5), (2.0, 10.0)]


@pytest.mark.parametrize(
    ("take", "longest"),
    [
        ([2, 2, 0, 0, 0], 1 + 2),
        ([2, 0, 2, 0, 0], 1 + 4 + 8),
        ([1, 1, 1, 0, 1], 8 + 16 + 32 + 64),
        ([0, 0, 0, 2, 2], 64),
        ([0, 4, 0, 0, 0], 0),
    ],
)
def test_messages_take_the_longest_path(take, longest):
    for fraction in (0.0, 0.25, 1.0):
        ((_, finish),) = placed(
            tree(),
            [take],
            {"message_rate": 0.5},
            [0.0],
            4,
            [20.0],
            computation_fraction=fraction,
            ppbw=1e-3,
        )
        assert finish == pytest.approx(20 + 20 * (1 - fraction) * 0.5 * longest)


def test_bandwidth_does_not_shorten_latency():
    """f T + (1 - f) T (1 / r + message_rate L), r being 10 of 40 Mbit/s."""
    platform = Platform.star([4, 4], capacity=10.0, latency=[0.1, 0.3])
    ((_, finish),) = placed(
        platform,
        [[1, 1]],
        {"message_rate": 5.0},
        [0.0],
        2,
        [20.0],
        computation_fraction=0.5,
        ppbw=40.0,
    )
    assert finish == pytest.approx(10 + 10 * (4 + 5 * 0.4))


def test_a_fixed_factor_knows_no_latency_but_data_are_staged():
    platform = Platform.star([4, 4], latency=0.5)
    costs = {"message_rate": 5.0, "staging_time": 2.0}
    columns = {"computation_fraction": 0.5, "ppbw": 1e6, "origin": 0}
    found = placed(platform, [[2, 2]], costs, [0.0], 4, [20.0], penalty=1.5, **columns)
    assert found == [(0.5, 32.5)]


@pytest.mark.parametrize("name", ["message_rate", "staging_time", "staging_data"])
@pytest.mark.parametrize("value", [-1.0, math.nan, math.inf])
def test_what_is_no_cost(name, value):
    with pytest.raises(
        GridError, match=rf"^{name}: found {value}; accepted: (from 0|a finite number)"
    ):
        DistanceCosts(**{name: value})
