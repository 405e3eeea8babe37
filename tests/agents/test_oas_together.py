"""The largest sets of jobs that can run together, against all sets."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from agents.oas import together
from agents.oas.together import largest_sets


def fits(chosen, tasks, room):
    return all(
        sum(tasks[job] for job, of in chosen.items() if of <= level) <= nodes
        for level, nodes in enumerate(room)
    )


def lies_in(chosen, other):
    return all(job in other and other[job] <= level for job, level in chosen.items())


@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=5),
    st.lists(st.integers(1, 6), min_size=1, max_size=3),
)
def test_what_can_run_together_lies_in_some_largest_set_and_no_more(tasks, nodes):
    room = list(itertools.accumulate(nodes))
    levels = [None, *range(len(room))]
    possible = [
        chosen
        for of in itertools.product(levels, repeat=len(tasks))
        if fits(
            chosen := {j: level for j, level in enumerate(of) if level is not None}, tasks, room
        )
    ]
    found = largest_sets(tasks, room)
    assert all(each in possible for each in found)
    assert all(any(lies_in(each, largest) for largest in found) for each in possible)
    assert all(one == two or not lies_in(one, two) for one in found for two in found)


def test_too_many_sets_are_none(monkeypatch):
    monkeypatch.setattr(together, "MOST_SETS", 2)
    assert len(largest_sets([1, 1], [1])) == 2
    assert largest_sets([1, 1, 1], [1]) == []
