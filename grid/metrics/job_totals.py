"""What a run comes to, summed up job by job as jobs leave: they need not be kept.

Jobs are added one after the other, in the order in which they left, so that sums are the same bits
however many are added at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from grid.jobs import ANYWHERE, UNKNOWN
from grid.kernel.compile import compiled, inlined
from grid.kernel.state import NONE
from grid.kernel.statistics import JOB_SUMS, add_job, late_by, slowdown
from grid.metrics.fairness import Users
from grid.metrics.percentiles import Percentiles
from grid.platform.multicluster import Platform
from grid.world.finished import Records

SUMS = np.dtype(
    [
        *JOB_SUMS,
        ("of_clusters", np.int64),  # jobs submitted through a cluster
        ("migrated", np.int64),  # of those, jobs that ran elsewhere, wholly or in part
        ("staging", np.float64),  # s, of those
        ("max_wait", np.float64),  # s
        ("over_deadline", np.float64),  # s
        ("due", np.int64),  # jobs with a deadline
        ("met", np.int64),  # of those, finished by it
        ("rejected", np.int64),  # jobs; they are of no cluster
        ("due_rejected", np.int64),  # of those, jobs with a deadline
        ("timed", np.int64),  # jobs that take time
        ("prediction_error", np.float64),  # of those, |predicted - actual| / actual
        ("prediction_accuracy", np.float64),  # of those, the smaller over the larger of the two
        ("work", np.float64),  # processor-seconds, from (last) start to finish
        ("first_arrival", np.float64),  # s; infinity without jobs
        ("first_start", np.float64),  # s; infinity without jobs
        ("last_finish", np.float64),  # s; minus infinity without jobs
        # of all completed jobs, since the first arrival after the warm-up
        ("held", np.float64),  # processor-seconds of `work`
        ("ended", np.float64),  # s, last finish
    ],
    align=True,
)
"""Sums over the jobs that count and completed, of the grid, of one cluster, or of those submitted
through one, and what of those rejected counts."""


ROUNDING = 1e-12
"""Share of a time by which the predicted one may differ that is no error: it is rounding."""


class Tally:
    """Sums over completed jobs: of the grid, and of each cluster with its parts of split jobs.

    Parameters
    ----------
    platform : Platform
        Where they ran.
    groups : int
        Groups of jobs that are summed up by themselves.

    Attributes
    ----------
    grid : structured array, shape (groups,)
        Of dtype `SUMS`.
    clusters : structured array, shape (groups, clusters)
        The same of each cluster.
    origins : structured array, shape (clusters + 1,)
        The same of all groups by where jobs were submitted; the last of those of the grid.
    counted_from : float
        Jobs that arrived before count nowhere, s; minus infinity if all of them count.
    left_out : int
        Jobs, completed or rejected, that arrived before.
    completed : int
        Jobs, whether or not they count.
    rejected : list of tuple
        Arrival (s) and number of each rejected job.
    wait, bounded_slowdown : Percentiles
    users : Users
        Of the jobs that count.
    """

    def __init__(self, platform: Platform, groups: int = 1) -> None:
        self.platform = platform
        self.grid = _sums((groups,))
        self.clusters = _sums((groups, len(platform.clusters)))
        self.origins = _sums((len(platform.clusters) + 1,))
        self.counted_from = -np.inf
        self.left_out = self.completed = 0
        self.rejected: list[tuple[float, int]] = []
        self.wait, self.bounded_slowdown = Percentiles(), Percentiles()
        self.users = Users()

    @classmethod
    def of(cls, records: Records, platform: Platform) -> Tally:
        """Return the sums over the jobs that left during a run, in the order in which they did."""
        tally = cls(platform)
        tally.add(records)
        return tally

    def add(
        self,
        records: Records,
        counted_from: float = -np.inf,
        group: npt.NDArray[np.int64] | None = None,
    ) -> None:
        """Add jobs that left after all that were added before.

        Parameters
        ----------
        records : Records
            In order of leaving.
        counted_from : float
            As known by now; infinity as long as none has arrived that counts. Processors of those
            that count nowhere are `held` all the same.
        group : array of int, optional
            Of each of them; 0 for all by default.
        """
        if group is None:
            group = np.zeros(len(records), np.int64)
        self.counted_from = counted_from
        waits, slowdowns = np.empty((2, len(records)))
        rows, takes = np.ascontiguousarray(records.rows), np.ascontiguousarray(records.takes)
        sums = self.grid, self.clusters, self.origins
        counted = _add_all(sums, rows, takes, group, counted_from, waits, slowdowns)
        self.wait.add(waits[:counted].copy())
        self.bounded_slowdown.add(slowdowns[:counted].copy())
        gone = np.isnan(rows["start"])
        if (rows["user"] != UNKNOWN).any():
            of_users = rows[~gone & (rows["arrival"] >= counted_from)]
            work = (of_users["finish"] - of_users["start"]) * of_users["size"]
            self.users.add(of_users["user"], waits[:counted], slowdowns[:counted], work)
        self.left_out += int((rows["arrival"] < counted_from).sum())
        self.completed += len(rows) - int(gone.sum())
        if gone.any():
            of_gone = rows[gone]
            self.rejected += zip(
                of_gone["arrival"].tolist(), of_gone["number"].tolist(), strict=True
            )


def _sums(shape: tuple[int, ...]) -> npt.NDArray[np.void]:
    sums = np.zeros(shape, SUMS)
    sums["first_arrival"] = sums["first_start"] = np.inf
    sums["last_finish"] = sums["ended"] = -np.inf
    return sums


@inlined
def _add(sums: Any, row: Any, processors: int, counted_from: float) -> None:
    """Add a completed job that holds so many processors of the grid, or of a cluster."""
    if row.finish >= counted_from:
        sums.held += (row.finish - max(row.start, counted_from)) * processors
        sums.ended = max(sums.ended, row.finish)
    if row.arrival < counted_from:
        return
    add_job(sums, row, row.start, row.finish, row.split != NONE)
    if row.origin != ANYWHERE:
        sums.of_clusters += 1
        if row.cluster != row.origin:
            sums.migrated += 1
            sums.staging += row.staging
    sums.max_wait = max(sums.max_wait, row.start - row.arrival)
    late = late_by(row.finish, row.deadline)
    sums.over_deadline += late
    if row.deadline < np.inf:
        sums.due += 1
        sums.met += late == 0.0
    if row.execution_time > 0.0:
        lesser = min(row.predicted_time, row.execution_time)
        greater = max(row.predicted_time, row.execution_time)
        if greater - lesser <= ROUNDING * greater:
            lesser = greater
        sums.timed += 1
        sums.prediction_error += (greater - lesser) / row.execution_time
        sums.prediction_accuracy += lesser / greater
    sums.work += (row.finish - row.start) * processors
    sums.first_arrival = min(sums.first_arrival, row.arrival)
    sums.first_start = min(sums.first_start, row.start)
    sums.last_finish = max(sums.last_finish, row.finish)


@inlined
def _reject(sums: Any, row: Any) -> None:
    """Add a job that can never start."""
    sums.rejected += 1
    sums.due_rejected += row.deadline < np.inf


@compiled()
def _add_all(
    sums: Any,
    rows: Any,
    takes: npt.NDArray[np.int32],
    group: npt.NDArray[np.int64],
    counted_from: float,
    waits: npt.NDArray[np.float64],
    slowdowns: npt.NDArray[np.float64],
) -> int:
    """Add jobs to their groups; return how many count, whose waits and slowdowns are written."""
    grid, clusters, origins = sums
    counted = 0
    for index in range(len(rows)):
        row = rows[index]
        origin = len(origins) - 1 if row.origin == ANYWHERE else row.origin
        if np.isnan(row.start):
            if row.arrival >= counted_from:
                _reject(grid[group[index]], row)
                _reject(origins[origin], row)
            continue
        _add(origins[origin], row, row.size, counted_from)
        _add(grid[group[index]], row, row.size, counted_from)
        if row.split == NONE:
            _add(clusters[group[index], row.cluster], row, row.size, counted_from)
        else:
            for cluster in range(takes.shape[1]):
                if takes[row.split, cluster] > 0:
                    held = takes[row.split, cluster]
                    _add(clusters[group[index], cluster], row, held, counted_from)
        if row.arrival >= counted_from:
            waits[counted] = row.start - row.arrival
            slowdowns[counted] = slowdown(row, row.finish)
            counted += 1
    return counted
