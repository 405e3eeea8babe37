"""Which nodes a job gets, and when."""

from __future__ import annotations

import numpy as np
import pytest

from agents.slurm.nodes import Occupied, chosen, processors_of

SAME = np.ones(6, int)


@pytest.mark.parametrize(
    ("free", "size", "expected"),
    [
        # one set suffices: the smallest; in it the node with the least free that suffices
        ([8, 3, 0, 4, 0, 0], 3, [0, 0, 0, 3, 0, 0]),
        ([8, 3, 4, 0, 0, 0], 3, [0, 3, 0, 0, 0, 0]),
        # no node suffices: those of the set in order
        ([8, 8, 0, 8, 8, 8], 12, [8, 4, 0, 0, 0, 0]),
        # no set suffices: the largest first, what is left of the smallest that then does
        ([2, 0, 8, 8, 0, 3], 18, [2, 0, 8, 8, 0, 0]),
        ([2, 0, 8, 8, 0, 3], 19, [0, 0, 8, 8, 0, 3]),
        ([2, 0, 8, 8, 0, 3], 22, None),
    ],
)
def test_best_fit(free, size, expected):
    found = chosen(np.array(free), SAME, size, 1)
    assert expected is None if found is None else found.tolist() == expected


def test_lighter_nodes_are_taken_first():
    weights = np.array([5, 1, 1])
    assert chosen(np.array([4, 4, 4]), weights, 2, 1).tolist() == [0, 2, 0]
    assert chosen(np.array([4, 4, 4]), weights, 9, 1).tolist() == [4, 4, 1]


def test_least_and_most_nodes():
    free = np.array([8, 8, 8])
    assert chosen(free, np.ones(3), 4, 3).tolist() == [2, 1, 1]
    assert chosen(free, np.ones(3), 9, 1, 1) is None
    assert chosen(free, np.ones(3), 2, 3) is None  # fewer processors than nodes
    apart = np.array([1, 0, 2, 0, 4])
    assert chosen(apart, np.ones(5), 4, 3).tolist() == [1, 0, 1, 0, 2]


def test_what_is_chosen_is_free_and_enough():
    random = np.random.default_rng(1)
    for _ in range(2000):
        free = random.integers(0, 5, random.integers(1, 9))
        size, least = int(random.integers(1, 20)), int(random.integers(1, 4))
        found = chosen(free, random.integers(1, 3, len(free)), size, least)
        if found is None:
            assert free.sum() < size or np.count_nonzero(free) < least or size < least
        else:
            assert found.sum() == size
            assert (found <= free).all()
            assert np.count_nonzero(found) >= least


def occupied(free, jobs, now=0.0, linear=0.0):
    ends = np.array([end for end, _ in jobs], float)
    held = np.array([counts for _, counts in jobs]).reshape(-1, len(free))
    return Occupied(now, np.array(free), np.ones(len(free), int), ends, held, linear)


ALL = np.ones(2, bool)


def test_a_job_starts_after_all_ends_of_a_step():
    there = occupied([0, 0], [(100, [1, 0]), (120, [1, 0]), (185, [0, 1]), (300, [2, 3])])
    # 100 and 120 are within 30 s; then 185 alone is within 60 s, and 300 within 120 s
    assert [there.earliest(ALL, size, 1, 9)[0] for size in (1, 2, 3, 4)] == [120, 120, 185, 300]
    assert there.earliest(ALL, 9, 1, 9) is None
    assert there.earliest(np.array([False, True]), 1, 1, 9)[0] == 185


def test_jobs_that_start_are_there():
    there = occupied([2, 2], [(100, [1, 1])])
    there.take(np.array([2, 0]), 50.0)
    assert there.fits(ALL, 3, 1, 9) is None
    start, alloc = there.earliest(ALL, 4, 1, 9)
    assert (start, alloc.tolist()) == (50, [2, 2])


def test_processors_are_the_first_idle_of_each_node():
    idle = np.array([False, True, True, True, False, True])
    found = processors_of(np.array([1, 2]), [0, 3, 6], idle)
    assert found == [1, 3, 5]
    assert idle.tolist() == [False, False, True, False, False, False]
