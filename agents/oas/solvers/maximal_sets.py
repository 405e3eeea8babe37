"""The largest sets of jobs that can run at one moment, as far as nodes decide."""

from __future__ import annotations

from collections.abc import Sequence

MOST_STEPS = 100_000
"""Of the search for sets; for more jobs than that it would not be worth its time."""

MOST_SETS = 2000


def largest_sets(tasks: Sequence[int], room: Sequence[int]) -> list[dict[int, int]]:
    """Return the sets of jobs that can run together such that none can be added or be faster.

    Each set says at which level each of its jobs is: the slowness of the slowest of its nodes.
    There is none at all if there would be too many.

    Parameters
    ----------
    tasks : sequence of int
        Of each job.
    room : sequence of int
        Nodes of each level and all faster ones.

    Examples
    --------
    >>> largest_sets([2, 1, 3], [2, 4])
    [{0: 0, 1: 1}, {0: 1, 1: 0}, {1: 0, 2: 1}]
    """
    levels = range(len(room))
    found: list[dict[int, int]] = []
    steps = 0

    def can_grow(left: Sequence[int], chosen: dict[int, int]) -> bool:
        for job, count in enumerate(tasks):
            level = chosen.get(job)
            if level is None:
                if count <= left[-1]:
                    return True
            elif level > 0 and count <= left[level - 1]:
                return True
        return False

    def go_on(job: int, left: list[int], chosen: dict[int, int]) -> None:
        nonlocal steps
        steps += 1
        if steps > MOST_STEPS or len(found) > MOST_SETS:
            return
        if job == len(tasks):
            if not can_grow(left, chosen):
                found.append(chosen)
            return
        for level in levels:
            if tasks[job] <= min(left[level:]):
                rest = left[:level] + [count - tasks[job] for count in left[level:]]
                go_on(job + 1, rest, chosen | {job: level})
        go_on(job + 1, left, chosen)

    go_on(0, [*room], {})
    return [] if steps > MOST_STEPS or len(found) > MOST_SETS else found
