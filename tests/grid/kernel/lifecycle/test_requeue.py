"""Jobs that clusters give back, since they have become too small for them."""

from __future__ import annotations

import numpy as np
import pytest

from grid.kernel import state as k
from grid.platform.brokers import Advertising
from grid.platform.multicluster import Platform
from grid.world.world import World
from tests.grid.plain_cases import rows, table


def test_jobs_that_a_cluster_can_no_longer_hold_are_given_back():
    """Waiting ones at once; those on their way when they come, if they were sent before."""

    def place(job):
        places.append((float(world.now), int(world.jobs["number"][job])))
        return 0 if world.known["up"][0] >= 4 else 1

    places = []
    world = World(Platform.star([4, 4]), 1.0, True, place, lambda job: 0.0)
    world.submit(table([0.0, 0.0, 4.5], [4, 4, 4], [20.0, 5.0, 5.0]))
    world.resources.drain(0, 3, 5.0)
    assert world.advance(np.inf) == k.OVER
    # The processor goes at 21 s, with job 1, and for those that wait behind it from 5 s on.
    assert places == [(0.0, 1), (0.0, 2), (4.5, 3), (6.0, 2), (6.5, 3)]
    found = [(number, cluster, start) for number, cluster, _, _, start, _ in sorted(rows(world))]
    assert found == [(1, 0, 1.0), (2, 1, 7.0), (3, 1, 12.0)]
    assert world.known["work"].tolist() == [0.0, 0.0]
    assert world.state.left.tolist() == [0.0, 0.0]


def test_a_cluster_that_gives_a_job_back_is_known_to_have_no_more_free_than_up():
    """Its message tells of no free processors, but that so many of them cannot be up."""

    def place(job):
        seen.append((float(world.now), world.known["free"][0].item(), world.known["up"][0].item()))
        return 0 if len(seen) < 3 else 1

    seen = []
    seldom = Advertising("periodic", 1000.0)
    world = World(Platform.star([4, 4]), 1.0, True, place, lambda job: 0.0, advertising=seldom)
    world.submit(table([0.0, 0.0], [4, 4], [20.0, 5.0]))
    world.resources.drain(0, 3, 5.0)
    world.advance(np.inf)
    assert seen == [(0.0, 4, 4), (0.0, 4, 4), (6.0, 3, 3)]


def test_a_job_that_comes_back_tells_nothing_of_smaller_ones():
    """They come back, too, if they go to a cluster that can hold neither."""

    def place(job):
        places.append((float(world.now), int(world.jobs["number"][job]), int(world.known["up"][0])))
        return 0 if world.known["up"][0] >= world.jobs["size"][job] else 1

    places = []
    seldom = Advertising("periodic", 1000.0)
    world = World(Platform.star([8, 8]), 1.0, True, place, lambda job: 0.0, advertising=seldom)
    world.submit(table([0.0, 0.0, 7.0], [8, 8, 4], [20.0, 5.0, 5.0]))
    for processor in range(2, 8):
        world.resources.drain(0, processor, 5.0)
    world.advance(30.0)
    assert places == [(0.0, 1, 8), (0.0, 2, 8), (6.0, 2, 7), (7.0, 3, 7), (9.0, 3, 3)]
    assert world.known["at"].tolist() == [0.0, 0.0]  # no advertisement has come
    assert world.tables.beliefs["up"].tolist() == [3, 8]
    assert world.advance(np.inf) == k.OVER
    assert [cluster for _, cluster, *_ in sorted(rows(world))] == [0, 1, 1]


@pytest.mark.parametrize("latency", [0.0, 1.0])
def test_a_job_that_goes_where_it_came_back_from_stays_there(latency):
    places = []

    def place(job):
        places.append(float(world.now))
        return 0

    seldom = Advertising("periodic", 1000.0)
    world = World(Platform.star([4]), latency, True, place, lambda job: 0.0, advertising=seldom)
    world.submit(table([5.0], [4], [5.0]))
    world.resources.drain(0, 3, 2.0, 50.0)
    assert world.advance(np.inf) == k.OVER
    assert places == [5.0, 5.0 + 2 * latency]
    assert [row[4] for row in rows(world)] == [50.0]


@pytest.mark.parametrize("told", [("periodic", 1000.0), ("change", 1000.0, 0.99)])
def test_jobs_sent_on_old_news_come_back_and_go_on_at_once_without_latency(told):
    def place(job):
        places.append((float(world.now), int(world.jobs["number"][job])))
        return int(np.argmax(world.known["up"] >= 4))

    places = []
    advertising = Advertising(*told)
    platform = Platform.star([4, 4, 4])
    world = World(platform, 0.0, True, place, lambda job: 0.0, advertising=advertising)
    world.submit(table([5.0, 6.0], [4, 4], [20.0, 5.0]))
    for cluster in (0, 1):
        world.resources.drain(cluster, 3, 2.0)
    assert world.advance(np.inf) == k.OVER
    assert places == [(5.0, 1), (5.0, 1), (5.0, 1), (6.0, 2)]
    assert rows(world) == [(1, 2, (0, 0, 0), 0, 5.0, 25.0), (2, 2, (0, 0, 0), 0, 25.0, 30.0)]
