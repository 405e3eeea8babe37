"""Disciplines that let jobs go before others, start by start against a plain simulator."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grid.jobs import job_table
from grid.kernel import state as k
from grid.kernel.compile import compiled
from grid.kernel.decisions import place_address, priority_address
from grid.platform import Platform
from grid.world import World

from .plain_site import Job, PlainSite


@compiled()
def to_the_first(known, job, memory):
    return 0


@compiled()
def as_they_land(job, now):
    return 0.0


@compiled()
def shortest(job, now):
    return job.execution_time


@compiled()
def longest(job, now):
    return -job.execution_time


ORDERS = {
    "fcfs": (as_they_land, lambda job: 0.0),
    "sjf": (shortest, lambda job: job.expected),
    "ljf": (longest, lambda job: -job.expected),
}
SERVICES = ["head", "fpfs", "easy", "conservative"]


def site(jobs, processors, service, order="fcfs", max_jumps=math.inf, tracked=False):
    """Return a world of one cluster, told to expect what was requested."""
    world = World(Platform.star([processors]), tracked=tracked)
    world.set_global(place_address(to_the_first, world.capacity))
    address = priority_address(ORDERS[order][0])
    world.set_local(0, address, service=service, max_jumps=max_jumps)
    world.set_prediction(np.ones(1), requested=True)
    world.submit(jobs)
    return world


def starts(world):
    records = world.records()
    assert not np.isnan(records["start"]).any()
    order = np.argsort(records["number"], kind="stable")
    return records["start"][order].tolist()


def plain_jobs(table):
    names = "number", "arrival", "size", "runtime", "requested_time"
    return [Job(*row) for row in zip(*(table[name].tolist() for name in names), strict=True)]


def table_of(rows):
    """Return a table of (gap, size, run time, requested time) rows."""
    jobs = job_table(len(rows))
    gaps, jobs["size"], jobs["runtime"], jobs["requested_time"] = np.array(rows, float).T
    jobs["arrival"] = np.cumsum(gaps)
    return jobs


def times(most):
    return st.sampled_from([0.0, 0.1, 1 / 3, *range(1, most)])


@st.composite
def workloads(draw, processors, exact=False):
    """Draw jobs with ties in time, equal ends, overruns, and times of 0."""
    rows = draw(
        st.lists(
            st.tuples(
                st.sampled_from([0, 0, 0, 1, 1, 2, 0.5, 7]),
                st.integers(1, processors),
                times(9),
                times(12),
            ),
            min_size=1,
            max_size=40,
        )
    )
    return table_of([(gap, s, time, time if exact else asked) for gap, s, time, asked in rows])


PROCESSORS = st.integers(1, 12)


@settings(max_examples=300, deadline=None)
@given(
    st.data(),
    PROCESSORS,
    st.sampled_from(SERVICES),
    st.sampled_from(list(ORDERS)),
    st.sampled_from([math.inf, 0, 1, 2, 3]),
    st.booleans(),
    st.booleans(),
)
def test_every_start(data, processors, service, order, max_jumps, exact, tracked):
    table = data.draw(workloads(processors, exact))
    world = site(table, processors, service, order, max_jumps, tracked)
    assert world.advance(np.inf) == k.OVER
    plain = PlainSite(processors, service, ORDERS[order][1], max_jumps)
    assert starts(world) == [job.start for job in plain.run(plain_jobs(table))]
