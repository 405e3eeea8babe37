"""Small instances of the ordering and allocation problem, for the tests of `agents.oas`."""

from __future__ import annotations

import itertools
import json
import random

import pytest
from hypothesis import strategies as st

from . import plain_oas

# What SWIG makes has no module on Python 3.12 and later.
SWIG = pytest.mark.filterwarnings("ignore:builtin type .* has no __module__:DeprecationWarning")

POWERS = (1, 0.75, 0.5)


def some(seed, jobs, clusters=(2, 2, 1), link=100, plain=True):
    """An instance of a few jobs, in round numbers or in those that a generator draws."""
    draw = random.Random(f"{seed} {jobs}")
    number = draw.randint if plain else draw.uniform
    return {
        "clusters": [
            {"nodes": nodes, "effective_power": power, "link_mbps": link}
            for nodes, power in zip(clusters, itertools.cycle(POWERS))
        ],
        "jobs": [
            {
                "tasks": draw.randint(1, max(1, sum(clusters) - 1)),
                "base_time": number(20, 200),
                "bandwidth": number(5, 60),
                "sigma": 0.7 if plain else draw.random(),
            }
            for _ in range(jobs)
        ],
    }


def possible(seed, jobs, **options):
    """The first such instance from a seed on in which each job can run."""
    for attempt in itertools.count(seed * 1000):
        found = some(attempt, jobs, **options)
        if all(plain_oas.distributions(found["clusters"], job) for job in found["jobs"]):
            return found


def as_printed(answer):
    return json.loads(json.dumps(answer.to_dict(), allow_nan=False))


QUEUES = {
    "clusters": [{"nodes": 2, "effective_power": 1, "link_mbps": 100}],
    "jobs": [
        {"tasks": tasks, "base_time": base, "bandwidth": 1, "sigma": 0.5}
        for tasks, base in ((1, 30), (2, 20), (1, 10))
    ],
}


instances = st.builds(
    some,
    st.integers(0, 10**6),
    st.integers(1, 6),
    clusters=st.lists(st.integers(1, 5), min_size=1, max_size=4),
    link=st.sampled_from([20, 60, 0.3, 99.99999999999999]),
    plain=st.booleans(),
)
