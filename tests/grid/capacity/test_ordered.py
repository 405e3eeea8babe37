"""Ordered and total requests against brute force, limits that are known, and each other."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grid.capacity.density import sum_of, with_zero
from grid.capacity.ordered import joint_capacity, ordered_capacity
from grid.capacity.total import total_capacity
from grid.errors import GridError
from grid.workloads.component_sizes import parse_sizes


def tried(jobs, sizes):
    """Return F^(1)(N), F^(2)(N), ... of jobs {components: probability}, by trying all sequences."""
    fits = [0.0] * sum(sizes)

    def begun(idle, count, chance):
        for job, probability in jobs.items():
            left = [n - c for n, c in zip(idle, job, strict=True)]
            if min(left) >= 0:
                fits[count] += chance * probability
                begun(left, count + 1, chance * probability)

    begun(sizes, 0, 1.0)
    return fits


def expected(jobs, sizes, slotted=False):
    """Return M and the utilization of jobs, by the definitions before eqs. 2 and 4."""
    fits = [*tried(jobs, sizes), 0.0]
    exactly = [here - after for here, after in itertools.pairwise(fits)]
    if slotted:
        mpl = sum(i * p for i, p in enumerate(exactly, 1))
    else:
        weights = [p / i for i, p in enumerate(exactly, 1)]
        mpl = sum(i * w for i, w in enumerate(weights, 1)) / sum(weights)
    mean = sum(p * sum(job) for job, p in jobs.items())
    return mpl, mpl * mean / sum(sizes)


def joint(jobs, sizes):
    table = np.zeros([n + 1 for n in sizes])
    for job, probability in jobs.items():
        table[job] = probability
    return table


LAWS = st.lists(st.integers(0, 3), min_size=3, max_size=3).filter(any)


@settings(max_examples=40)
@given(LAWS, LAWS, st.booleans())
def test_independent_components_by_trying_all_sequences(first, second, slotted):
    laws = [np.array(law) / sum(law) for law in (first, second)]
    sizes = (2, 4)
    drawn = {(a, b): laws[0][a] * laws[1][b] for a in range(3) for b in range(3)}
    blank = drawn.pop((0, 0))
    if blank == 1:
        with pytest.raises(GridError, match="found 0 only"):
            ordered_capacity(laws, sizes)
        return
    jobs = {job: p / (1 - blank) for job, p in drawn.items() if p}
    found = ordered_capacity(laws, sizes, slotted)
    assert (found.mpl, found.utilization) == pytest.approx(expected(jobs, sizes, slotted))
    together = joint_capacity(joint(jobs, sizes), slotted)
    assert (found.mpl, found.utilization) == pytest.approx((together.mpl, together.utilization))


@pytest.mark.parametrize("slotted", [False, True])
def test_dependent_components_by_trying_all_sequences(slotted):
    jobs = {(1, 0): 0.3, (0, 2): 0.2, (2, 1): 0.5}
    sizes = (4, 3)
    found = joint_capacity(joint(jobs, sizes), slotted)
    assert (found.mpl, found.utilization) == pytest.approx(expected(jobs, sizes, slotted))


def test_a_draw_that_is_no_job_changes_nothing_in_a_table_of_jobs():
    jobs = {(1, 0): 0.3, (0, 2): 0.2, (2, 1): 0.5}
    blank = joint({job: 0.6 * p for job, p in jobs.items()} | {(0, 0): 0.4}, (4, 3))
    plain = joint_capacity(joint(jobs, (4, 3)))
    found = joint_capacity(blank)
    assert (found.mpl, found.job_size, found.utilization) == pytest.approx(
        (plain.mpl, plain.job_size, plain.utilization)
    )


def test_draws_that_are_hardly_ever_jobs_take_no_longer():
    law = parse_sizes("U[1,4]", 32).density()
    plain = total_capacity([law], 32)
    rare = ordered_capacity([with_zero(law, 1 - 1e-12)], [32])
    assert (rare.mpl, rare.job_size) == pytest.approx((plain.mpl, plain.job_size))
    with pytest.raises(GridError, match="estimated at"):
        ordered_capacity([with_zero(law, 1 - 1e-6)] * 2, [32] * 2)


def test_jobs_that_are_all_alike():
    found = ordered_capacity([[0, 0, 0, 1]], [11])
    assert (found.mpl, found.utilization) == pytest.approx((3, 9 / 11))
    assert ordered_capacity([[0, 0, 0, 1]], [11], slotted=True).mpl == pytest.approx(3)


def test_the_loss_comes_near_c_minus_1_over_c():
    """Section 3: half of cluster 1 and one processor in each of the others."""
    size, clusters = 1000, 4
    half, one = np.zeros(size // 2 + 1), [0, 1]
    half[-1] = 1
    found = ordered_capacity([half, *[one] * (clusters - 1)], [size] * clusters)
    assert found.capacity_loss == pytest.approx((clusters - 1) / clusters, abs=0.01)


def test_single_component_jobs_saturate_local_queues_at_what_queues_says():
    law = parse_sizes("D(0.9)[1,8]", 32).density()
    assert total_capacity([law], 32).utilization == pytest.approx(0.9286, abs=5e-5)


def test_total_is_ordered_on_one_cluster():
    law = parse_sizes("U[1,5]", 8).density()
    assert total_capacity([law] * 3, 24) == ordered_capacity([sum_of([law] * 3)], [24])


def test_unequal_clusters_are_bounded_by_the_scarcer_one():
    law = parse_sizes("U[1,5]", 8).density()
    scarce, ample = ordered_capacity([law, law], [8, 800]), ordered_capacity([law], [8])
    assert scarce.mpl == pytest.approx(ample.mpl)


@pytest.mark.thorough
def test_zero_size_components_leave_room():
    law = parse_sizes("U[1,16]", 32).density()
    losses = [
        ordered_capacity([with_zero(law, zero)] * 4, [32] * 4).capacity_loss
        for zero in (0, 0.5, 0.9, 0.999)
    ]
    assert losses[0] == pytest.approx(0.380, abs=5e-4)  # Table 3
    # Jobs of a single component block each other even so: the queue is one.
    assert losses == sorted(losses)


def test_four_clusters_of_128_are_quick_and_the_slotted_case_is_near():
    law = parse_sizes("D(0.95)[1,128]", 128).density()
    exponential = ordered_capacity([law] * 4, [128] * 4)
    slotted = ordered_capacity([law] * 4, [128] * 4, slotted=True)
    assert 0 < exponential.capacity_loss < 1
    assert 0 < slotted.capacity_loss < 1
    assert total_capacity([law] * 4, 512).capacity_loss < exponential.capacity_loss


@pytest.mark.parametrize(
    ("laws", "sizes", "found"),
    [
        ([[0, 0.5]], [4], "a sum of 0.5"),
        ([[0, 1.5, -0.5]], [4], "-0.5 at least"),
        ([[0, 0, 1]], [1], "size of a component: found 2; accepted: to 1"),
        ([[0, 1]], [0], "processors of a cluster: found 0"),
        ([[0, 1]], [1.5], "processors of a cluster: found 1.5"),
        ([[[0, 1]]], [4], "1 dimensions"),
        ([[1], [1]], [4, 4], "found 0 only"),
        ([[1.0000000000000002], [1.0]], [4, 4], "found 0 only"),
        ([[0, 1]], [10**9], "ordered requests: estimated at .* and 64 GB"),
    ],
)
def test_what_cannot_be_computed_is_refused(laws, sizes, found):
    with pytest.raises(GridError, match=found):
        ordered_capacity(laws, sizes)
