"""The WF-convolution against its definition, and against what it must reduce to."""

from __future__ import annotations

import itertools
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grid.capacity.density import sum_of
from grid.capacity.ordered import joint_capacity, ordered_capacity
from grid.capacity.requests import Requests
from grid.capacity.total import total_capacity
from grid.capacity.unordered import unordered_capacity
from grid.errors import GridError
from grid.workloads.component_sizes import parse_sizes


def plain(jobs, size, slotted=False):
    """Return M by eq. 5 (or eq. 4), with the WF-convolution spelled out over dictionaries."""
    held = {tuple([0] * len(next(iter(jobs)))): 1.0}
    fits = []
    while held:
        after = defaultdict(float)
        for state, mass in held.items():
            for job, probability in jobs.items():
                new = tuple(sorted((t + u for t, u in zip(state, job[::-1], strict=True)))[::-1])
                if new[0] <= size:
                    after[new] += mass * probability
        held = after
        fits.append(sum(held.values()))
    if slotted:
        return sum(fits)
    return 1 / (1 - sum(fit / (i * (i + 1)) for i, fit in enumerate(fits[1:], 1)))


def drawn(law, clusters):
    """Return {components: probability} of independent components, from all draws."""
    jobs = defaultdict(float)
    for job in itertools.product(range(len(law)), repeat=clusters):
        jobs[tuple(sorted(job)[::-1])] += float(np.prod([law[n] for n in job]))
    blank = jobs.pop((0,) * clusters, 0.0)
    return {job: p / (1 - blank) for job, p in jobs.items() if p}


def kinds_of(requests):
    return dict(zip(map(tuple, requests.components.tolist()), requests.probabilities, strict=True))


LAWS = st.lists(st.integers(0, 3), min_size=5, max_size=5).filter(lambda law: any(law[1:]))


@settings(max_examples=25)
@given(LAWS, st.integers(1, 3), st.integers(4, 6), st.booleans())
def test_independent_components_by_the_definition(law, clusters, size, slotted):
    law = np.array(law) / sum(law)
    requests = Requests.independent(law, clusters, size)
    jobs = drawn(law, clusters)
    found = kinds_of(requests)
    assert found == pytest.approx(jobs)
    assert unordered_capacity(requests, slotted).mpl == pytest.approx(plain(jobs, size, slotted))


@pytest.mark.parametrize("clusters", [1, 2, 4])
def test_split_jobs_by_the_definition(clusters):
    total = parse_sizes("D(0.9)[1,20]", 20).density()[: 5 * clusters + 1]
    total /= total.sum()
    requests = Requests.split(total, clusters, 5)
    jobs = kinds_of(requests)
    for kind, p in jobs.items():
        parts = [n for n in kind if n]
        assert len(parts) == -(-sum(kind) // 5)
        assert max(parts) - min(parts) <= 1
        assert p == pytest.approx(total[sum(kind)])
    assert unordered_capacity(requests).mpl == pytest.approx(plain(jobs, 5))


def test_on_one_cluster_it_is_exact():
    law = parse_sizes("D(0.9)[1,8]", 32).density()
    found = unordered_capacity(Requests.independent(law, 1, 32))
    assert found.mpl == pytest.approx(ordered_capacity([law], [32]).mpl)


def test_choosing_clusters_helps_and_one_cluster_helps_more():
    law = parse_sizes("U[1,8]", 16).density()
    requests = Requests.independent(law, 3, 16)
    ordered = ordered_capacity([law] * 3, [16] * 3).capacity_loss
    unordered = unordered_capacity(requests).capacity_loss
    assert total_capacity([law] * 3, 48).capacity_loss < unordered < ordered
    assert joint_capacity(requests.in_any_order()).capacity_loss == pytest.approx(ordered)


def test_split_jobs_need_clusters_that_are_free():
    total = sum_of([parse_sizes("U[1,7]", 32).density()] * 4)
    found = unordered_capacity(Requests.split(total, 4, 32))
    assert found.capacity_loss > 0.3  # against 0.094 with a component in each cluster


@pytest.mark.parametrize(
    ("clusters", "size", "found"),
    [
        (5, 32, "unordered requests: estimated at 10 min"),
        (4, 64, "unordered requests: estimated at"),
        (12, 32, "kinds of unordered requests: estimated at"),
        (0, 32, "clusters: found 0"),
        (2.5, 32, "clusters: found 2.5"),
    ],
)
def test_too_much_is_refused(clusters, size, found):
    law = parse_sizes(f"D(0.894)[1,{size}]", size).density()
    with pytest.raises(GridError, match=found):
        unordered_capacity(Requests.independent(law, clusters, size))


def test_many_clusters_are_refused_or_quick():
    with pytest.raises(GridError, match="estimated at"):
        unordered_capacity(Requests.independent([0.9, 0.1], 1000, 1))
    assert unordered_capacity(Requests.independent([0, 1], 2500, 1)).capacity_loss == 0.0


@pytest.mark.parametrize(
    ("components", "probabilities", "found"),
    [
        ([[1, 2]], [1.0], "from the largest"),
        ([[5, 0]], [1.0], "at most 4"),
        ([[1, -1]], [1.0], "at least 0"),
        ([[0, 0]], [1.0], "without components"),
        ([[1, 0]], [0.5], "sum to 0.5"),
        ([[1, 0]], [0.5, 0.5], "a row of components"),
    ],
)
def test_requests_that_are_none_are_refused(components, probabilities, found):
    with pytest.raises(GridError, match=found):
        Requests(np.array(components), np.array(probabilities), 4)


def test_total_sizes_of_zero_only_are_refused():
    with pytest.raises(GridError, match="found 0 only"):
        Requests.split([1.0], 2, 4)


def test_too_large_a_table_of_orders_is_refused_before_it_is_made():
    jobs = Requests.split(parse_sizes("U[1,9]", 9).density(), 6, 32)
    with pytest.raises(GridError, match=r"ordered requests: estimated at .* and .* GB"):
        jobs.in_any_order()
