"""What users of a run got, worked out a second time, as its definitions say."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from experiments.checks.input_jobs import RELATIVE
from experiments.checks.recomputed import Done, Numbers

OfUsers = Mapping[int, Numbers]
"""By the number of a user, each column of ``users.csv``."""


def users_of(ran: Sequence[Done], counted_from: float) -> OfUsers:
    """Return of each user that jobs name what a run says of it.

    Parameters
    ----------
    ran : sequence of Done
        All that were completed.
    counted_from : float
        Jobs that arrived before belong to the warm-up, s.
    """
    of: dict[int, list[Done]] = {}
    for job in ran:
        if job.user is not None and job.arrival >= counted_from:
            of.setdefault(job.user, []).append(job)
    finish = max((job.finish for job in ran), default=0.0)
    return {
        user: {
            "user": (user, 0.0),
            "jobs": (len(jobs), 0.0),
            "mean_wait": (_mean([job.start - job.arrival for job in jobs]), finish),
            "mean_bounded_slowdown": (_mean([job.slowdown for job in jobs]), 0.0),
            "work": (math.fsum((job.finish - job.start) * job.size for job in jobs), finish),
        }
        for user, jobs in of.items()
    }


def numbers_of_users(users: OfUsers, summary: Mapping[str, Any]) -> Numbers:
    """Return the numbers of users in a summary, whose ``largest`` are taken in its own order."""
    numbers: Numbers = {
        f"metrics/{gini}": (_unequal([each[name][0] for each in users.values()]), 1.0)
        for gini, name in (("gini_wait", "mean_wait"), ("gini_slowdown", "mean_bounded_slowdown"))
    }
    if not (told := summary.get("users")) and not users:
        return numbers
    numbers["users/count"] = len(users), 0.0
    for index, row in enumerate((told or {}).get("largest", ())):
        for name, value in users.get(row.get("user"), {}).items():
            numbers[f"users/largest/{index}/{name}"] = value
    return numbers


def wrong_users(written: Sequence[Mapping[str, float]], users: OfUsers) -> Iterator[str]:
    """Yield what is wrong in the rows of ``users.csv``."""
    before = math.inf
    for row in written:
        right = users.get(int(row["user"]))
        if right is None:
            yield f"user {row['user']:g}: no completed job names it"
            continue
        for name, (value, scale) in right.items():
            if not abs(row[name] - value) <= RELATIVE * max(abs(value), scale):
                told = f"{name} {row[name]:.15g}; jobs.csv makes it {value:.15g}"
                yield f"user {row['user']:g}: {told}"
        if row["work"] > before:
            yield f"user {row['user']:g}: belongs above the row before, who used less"
        before = row["work"]
    if len({row["user"] for row in written}) != len(users):
        yield f"{len(written):,} rows; jobs.csv and the workload make it {len(users):,} users"


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _unequal(values: Sequence[float]) -> float | None:
    """Return the Gini coefficient, by each value's place among all; None of none."""
    ordered, total = sorted(values), math.fsum(values)
    if not ordered or total == 0:
        return 0.0 if ordered else None
    between = math.fsum((2 * i + 1 - len(ordered)) * each for i, each in enumerate(ordered))
    return between / (len(ordered) * total)
