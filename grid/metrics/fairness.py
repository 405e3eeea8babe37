"""How evenly users of a grid are served: what each has got, and how unequal that is."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from grid.jobs import UNKNOWN

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

USER_SUMS = np.dtype(
    [
        ("user", np.int64),
        ("jobs", np.int64),
        ("wait", np.float64),  # s
        ("bounded_slowdown", np.float64),
        ("work", np.float64),  # processor-seconds
    ],
    align=True,
)
"""Sums over the completed jobs of a user."""


class Users:
    """Sums over the completed jobs of each user, added as jobs leave.

    Memory grows with users, not with jobs. Jobs that name no user count nowhere.

    Examples
    --------
    >>> users = Users()
    >>> users.add(np.array([7, -1, 7]), np.array([0.0, 5.0, 30.0]), np.ones(3), np.full(3, 60.0))
    >>> users.table()
    [{'user': 7, 'jobs': 2, 'mean_wait': 15.0, 'mean_bounded_slowdown': 1.0, 'work': 120.0}]
    """

    def __init__(self) -> None:
        self._row: dict[int, int] = {}
        self._sums = np.zeros(0, USER_SUMS)

    def add(
        self,
        users: npt.NDArray[np.int64],
        waits: npt.NDArray[np.float64],
        slowdowns: npt.NDArray[np.float64],
        work: npt.NDArray[np.float64],
    ) -> None:
        """Add completed jobs, after all that were added before.

        Parameters
        ----------
        users : array of int, shape (jobs,)
            Numbers, or `UNKNOWN`.
        waits, slowdowns, work : array, shape (jobs,)
            s, bounded slowdown, processor-seconds.
        """
        known = users != UNKNOWN
        if not known.any():
            return
        found, index = np.unique(users[known], return_inverse=True)
        for user in found.tolist():
            self._row.setdefault(user, len(self._row))
        if len(self._row) > len(self._sums):
            more = np.zeros(2 * len(self._row) - len(self._sums), USER_SUMS)
            self._sums = np.concatenate([self._sums, more])
        rows = np.array([self._row[user] for user in found.tolist()])
        self._sums["user"][rows] = found
        # One by one in the order given, so that sums are the same bits in any portions.
        at = rows[index]
        np.add.at(self._sums["jobs"], at, 1)
        for name, values in (("wait", waits), ("bounded_slowdown", slowdowns), ("work", work)):
            np.add.at(self._sums[name], at, values[known])

    def __len__(self) -> int:
        return len(self._row)

    def table(self) -> list[dict[str, Any]]:
        """Return a row for each user, those who used most first.

        Returns
        -------
        list of dict
            user (number), jobs, mean_wait (s), mean_bounded_slowdown, work (processor-seconds).
        """
        sums = self._sums[: len(self)]
        sums = sums[np.lexsort((sums["user"], -sums["work"]))]
        return [
            {
                "user": each["user"].item(),
                "jobs": each["jobs"].item(),
                "mean_wait": (each["wait"] / each["jobs"]).item(),
                "mean_bounded_slowdown": (each["bounded_slowdown"] / each["jobs"]).item(),
                "work": each["work"].item(),
            }
            for each in sums
        ]

    def gini(self, name: str) -> float | None:
        """Return the Gini coefficient of users' means of a sum, ``"wait"`` say (`gini`)."""
        sums = np.sort(self._sums[: len(self)], order="user")
        return gini(sums[name] / sums["jobs"])


def gini(values: npt.ArrayLike) -> float | None:
    """Return the Gini coefficient: 0 where all have the same, near 1 where one has all.

    It is half the mean absolute difference of two values, drawn independently, over their mean:
    sum_i sum_j |x_i - x_j| / (2 n^2 mean).

    Parameters
    ----------
    values : array_like
        From 0 up.

    Returns
    -------
    float or None
        None of no values.

    Notes
    -----
    C. Gini, Variabilita e mutabilita, 1912. No correction is made for small samples: one of n users
    who has all comes to 1 - 1/n, and a single user to 0. It is worked out from the sorted values as
    sum_i (2i - n - 1) x_(i) / (n sum_i x_i).

    Examples
    --------
    >>> gini([3.0, 3.0, 3.0]), gini([0.0, 0.0, 0.0, 8.0]), gini([1.0, 3.0])
    (0.0, 0.75, 0.25)
    >>> gini([]), gini([0.0, 0.0])
    (None, 0.0)
    """
    ordered = np.sort(np.asarray(values, np.float64))
    count, total = len(ordered), ordered.sum()
    if not total > 0:
        return 0.0 if count else None
    weights = 2 * np.arange(1, count + 1) - count - 1
    return float((weights * ordered).sum() / (count * total))


# Over time --------------------------------------------------------------------------------------


def wait_ginis(times: Floats, groups: Integers, starts: Floats, waits: Floats) -> Floats:
    """Return the Gini coefficient, at each time, of what groups of jobs have waited on average.

    Parameters
    ----------
    times : array, shape (times,)
        Increasing, s.
    groups : array of int, shape (jobs,)
        Whose each job is, from 0 up.
    starts, waits : array, shape (jobs,)
        s. A job counts from its start on.

    Returns
    -------
    array, shape (times,)
        Of the groups with a job that counts; NaN as long as there are none.

    Examples
    --------
    >>> starts = np.array([1.0, 3.0])
    >>> wait_ginis(np.arange(4.0), np.array([0, 1]), starts, waits=starts).tolist()
    [nan, 0.0, 0.0, 0.25]
    """
    jobs = _sums(times, groups, starts, np.ones(len(groups)))
    return _ginis(_sums(times, groups, starts, waits) / np.maximum(jobs, 1), jobs > 0)


def work_ginis(
    times: Floats,
    groups: Integers,
    arrivals: Floats,
    starts: Floats,
    finishes: Floats,
    sizes: Integers,
) -> Floats:
    """Return the Gini coefficient, at each time, of the processor-seconds that groups have got.

    Parameters
    ----------
    times : array, shape (times,)
        Increasing, s.
    groups : array of int, shape (jobs,)
        Whose each job is, from 0 up.
    arrivals, starts, finishes : array, shape (jobs,)
        s.
    sizes : array of int, shape (jobs,)
        Processors from start to finish.

    Returns
    -------
    array, shape (times,)
        Of the groups of which a job has arrived, also of those that have got nothing yet; NaN as
        long as there are none.

    Examples
    --------
    >>> arrivals, starts, finishes = np.array([[1.0, 1.0], [1.0, 2.0], [2.0, 3.5]])
    >>> jobs = np.array([0, 1]), arrivals, starts, finishes, np.array([1, 2])
    >>> work_ginis(np.arange(5.0), *jobs).tolist()
    [nan, 0.0, 0.5, 0.16666666666666666, 0.25]
    """

    def begun(since: Floats) -> Floats:
        """Return what groups would have got had their jobs gone on since then."""
        moments = _sums(times, groups, since, sizes * since)
        return times[:, np.newaxis] * _sums(times, groups, since, sizes) - moments

    got = np.maximum(begun(starts) - begun(finishes), 0.0)  # rounding makes it no less
    return _ginis(got, _sums(times, groups, arrivals, np.ones(len(groups))) > 0)


def _sums(times: Floats, groups: Integers, since: Floats, values: npt.ArrayLike) -> Floats:
    """Return the sums of values that there are since then, by time and group."""
    count = int(groups.max(initial=-1)) + 1
    at = np.searchsorted(times, since) * count + groups
    added = np.bincount(at, values, (len(times) + 1) * count).reshape(len(times) + 1, count)
    summed: Floats = added[:-1].cumsum(axis=0)
    return summed


def _ginis(values: Floats, there: npt.NDArray[np.bool_]) -> Floats:
    return np.array([gini(row[of]) for row, of in zip(values, there, strict=True)], np.float64)
