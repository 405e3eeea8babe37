"""What users of a run got, worked out a second time, as its definitions say."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from experiments.checks.input_jobs import RELATIVE
from experiments.checks.recomputed import Done, Numbers
from experiments.run.summary import LARGEST as MOST

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
    """Return the numbers of users in a summary; of those who used as much any may come first."""
    numbers: Numbers = {
        f"metrics/{gini}": (_unequal([each[name][0] for each in users.values()]), 1.0)
        for gini, name in (("gini_wait", "mean_wait"), ("gini_slowdown", "mean_bounded_slowdown"))
    }
    if not (told := summary.get("users")) and not users:
        return numbers
    numbers["users/count"] = len(users), 0.0
    largest: Sequence[Any] = (told or {}).get("largest", ())
    left: dict[Any, Numbers] = dict(users)
    for index in range(min(MOST, len(users))):
        first = max(left, key=lambda user: left[user]["work"][0])
        said = largest[index].get("user") if index < len(largest) else None
        of_said = left.get(said, {"work": (-math.inf, 0.0)})["work"][0]
        work, scale = left[first]["work"]
        if math.isclose(work, of_said, rel_tol=RELATIVE, abs_tol=RELATIVE * scale):
            first = said
        for name, value in left.pop(first).items():
            numbers[f"users/largest/{index}/{name}"] = value
    return numbers


def wrong_count(users: OfUsers, summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield that a summary has more or fewer ``largest`` users than it should."""
    found = len((summary.get("users") or {}).get("largest", ()))
    if found != (right := min(MOST, len(users))):
        yield f"users/largest: the summary has {found}, jobs.csv makes it {right}"


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
