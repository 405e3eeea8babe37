"""Rows of Gantt charts: no two jobs in one at once, and the lowest that are free."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.show.gantt_layout import lay
from grid.errors import GridError


@st.composite
def parts(draw):
    """Parts of jobs that fit on a cluster: each starts when enough has ended, some in no time."""
    size = draw(st.integers(1, 12))
    held, now, found = [], 0, []
    for _ in range(draw(st.integers(1, 40))):
        now += draw(st.integers(0, 2))
        processors = draw(st.integers(1, size))
        while sum(count for end, count in held if end > now) + processors > size:
            now = min(end for end, _ in held if end > now)
        length = draw(st.integers(0, 5))
        found.append((now, now + length, processors))
        held.append((now + length, processors))
    order = draw(st.permutations(range(len(found))))
    return size, [found[each] for each in order]


@given(parts())
def test_no_row_shows_two_jobs_at_once(given):
    size, jobs = given
    start, finish = (np.array([job[k] for job in jobs], np.float64) for k in (0, 1))
    processors = np.array([job[2] for job in jobs], np.int64)
    blocks = lay(start, finish, processors, size)
    assert np.array_equal(np.bincount(blocks.part, blocks.rows, len(jobs)), processors)
    assert (blocks.rows > 0).all()
    busy = {}
    for part, first, rows in zip(*blocks, strict=True):
        assert first >= 0
        assert first + rows <= size
        for row in range(first, first + rows):
            for begin, end in busy.setdefault(row, []):
                assert not (begin < finish[part] and start[part] < end)
            busy[row].append((start[part], finish[part]))


def test_the_lowest_free_rows_are_taken():
    start, finish = np.array([0.0, 0.0, 5.0]), np.array([5.0, 9.0, 8.0])
    blocks = lay(start, finish, np.array([2, 1, 3]), 4)
    assert [tuple(map(int, block)) for block in zip(*blocks, strict=True)] == [
        (0, 0, 2), (1, 2, 1), (2, 0, 2), (2, 3, 1),
    ]  # fmt: skip


def test_more_than_there_is_cannot_be_laid():
    with pytest.raises(GridError, match="more than its 3 processors"):
        lay(np.zeros(2), np.ones(2), np.array([2, 2]), 3)


def test_many_small_pieces_have_room():
    rng = np.random.default_rng(0)
    start, size = np.sort(rng.uniform(0, 100, 500)), 500
    wide = np.array([200.0, 200.0]), np.array([250.0, 250.0])
    blocks = lay(
        np.append(start, wide[0]),
        np.append(start + rng.uniform(0, 150, 500), wide[1]),
        np.append(np.ones(500, np.int64), [100, 100]),
        size,
    )
    assert blocks.rows.sum() == 700
