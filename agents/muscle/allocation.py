"""One round of MUSCLE: which cluster gets which jobs, and when (`muscle`, Algorithm 4, eq. 3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from agents.muscle.composition import Ints, build_table
from agents.muscle.packing import Floats, earliest_space, new_packing, pack
from grid.errors import PlacementError
from grid.kernel.compile import compiled, part
from grid.streams import Stream, below


class Allocation(NamedTuple):
    """What one round of MUSCLE decides.

    Attributes
    ----------
    cluster, first : int64 arrays of shape (jobs,)
        The cluster of each job, and the first of its adjacent processors there.
    start : float64 array of shape (jobs,)
        Starting times, seconds after dispatch.
    order : int64 array of shape (jobs,)
        The jobs in the order in which they were allocated.
    space, processors : int64 arrays of shape (jobs,)
        Which space each job went into, counted from 0, and how many processors that had.
    level : float64 array of shape (jobs,)
        The workload level e of the job's cluster when the space was chosen.
    tied, drawn : int64 arrays of shape (jobs,)
        How many clusters had that level then, and how many of them, as large, chance chose from.
    """

    cluster: Ints
    first: Ints
    start: Floats
    order: Ints
    space: Ints
    processors: Ints
    level: Floats
    tied: Ints
    drawn: Ints


@compiled()
def workload_level(attributes: Floats, resources: int) -> float:
    """Return e, the level of a cluster's workload; the cluster with the least is served first.

    The formula of `muscle`, eq. 3; the prose above it, which is inverted, is not followed. Where
    the paper is silent: e is 0 for a cluster without jobs, and infinite when slacks do not sum
    to a positive number.

    Parameters
    ----------
    attributes : float64 array of shape (4,)
        Of the jobs allocated to the cluster: their number p, the sums of their execution times
        (etSum, s), sizes (sizeSum) and slacks (slkSum, s).
    resources : int
        Processors of the cluster.

    Examples
    --------
    >>> import numpy as np
    >>> workload_level(np.array([2.0, 10.0, 4.0, 20.0]), 4)
    1.0
    """
    numerator = attributes[0] * attributes[1] * attributes[2]
    if numerator == 0.0:
        return 0.0
    if attributes[3] <= 0.0:
        return np.inf
    return float(numerator / (attributes[3] * resources))


@part
def _next_cluster(
    attributes: Floats, cluster_sizes: Ints, smallest: int, tied: Ints, random: Stream
) -> tuple[int, int, int]:
    """Return the cluster with the least e of those that could hold the smallest job.

    Ties go to the larger cluster, then to chance; `tied` is scratch, one element a cluster. Also
    return how many clusters have that e, and from how many of these chance chose.
    """
    n, least, size, equal = 0, np.inf, 0, 0
    for c in range(len(cluster_sizes)):
        if cluster_sizes[c] < smallest:
            continue
        e = workload_level(attributes[c], cluster_sizes[c])
        equal = 1 if n == 0 or e < least else equal + int(e == least)
        if n == 0 or e < least or (e == least and cluster_sizes[c] > size):
            n, least, size = 0, e, cluster_sizes[c]
        if e == least and cluster_sizes[c] == size:
            tied[n] = c
            n += 1
    return int(tied[below(random, n)] if n > 1 else tied[0]), equal, n


@compiled(allocates=True)
def _allocate(
    sizes: Ints,
    execution_times: Floats,
    deadlines: Floats,
    cluster_sizes: Ints,
    release: Floats,
    attributes: Floats,
    random: Stream,
) -> Allocation:
    """Run one round; `release`, cluster after cluster, and `attributes` are brought up to date."""
    jobs, clusters = len(sizes), len(cluster_sizes)
    largest = total = 0
    offsets = np.zeros(clusters + 1, np.int64)
    for c in range(clusters):
        offsets[c + 1] = offsets[c] + cluster_sizes[c]
        largest = max(largest, cluster_sizes[c])
    for size in sizes:
        total += size
    # All jobs together fill no longer row, so this keeps a round of one job short.
    largest = min(largest, total)
    table = build_table(sizes, largest)
    packing = new_packing(jobs, largest)
    unallocated = np.zeros(largest + 1, np.int64)  # jobs of each size
    for size in sizes:
        unallocated[size] += 1
    tied = np.empty(clusters, np.int64)
    cluster, first = np.empty(jobs, np.int64), np.empty(jobs, np.int64)
    start, order = np.empty(jobs, np.float64), np.empty(jobs, np.int64)
    space_of, processors_of = np.empty(jobs, np.int64), np.empty(jobs, np.int64)
    level = np.empty(jobs, np.float64)
    tied_with, drawn_from = np.empty(jobs, np.int64), np.empty(jobs, np.int64)
    done, smallest, spaces = 0, 1, 0
    while done < jobs:
        while unallocated[smallest] == 0:
            smallest += 1
        c, equal, drawn = _next_cluster(attributes, cluster_sizes, smallest, tied, random)
        e = workload_level(attributes[c], cluster_sizes[c])
        processors = release[offsets[c] : offsets[c + 1]]
        time, resource, space = earliest_space(processors, smallest)
        for job in packing.queue[: pack(space, sizes, table, packing)]:
            size, execution = sizes[job], execution_times[job, c]
            cluster[job], first[job], start[job], order[done] = c, resource, time, job
            space_of[job], processors_of[job], level[job] = spaces, space, e
            tied_with[job], drawn_from[job] = equal, drawn
            processors[resource : resource + size] = time + execution
            resource += size
            attributes[c, 0] += 1
            attributes[c, 1] += execution
            attributes[c, 2] += size
            attributes[c, 3] += deadlines[job] - execution
            unallocated[size] -= 1
            done += 1
        spaces += 1
    return Allocation(
        cluster, first, start, order, space_of, processors_of, level, tied_with, drawn_from
    )


def allocate(
    sizes: npt.ArrayLike,
    execution_times: npt.ArrayLike,
    deadlines: npt.ArrayLike,
    cluster_sizes: npt.ArrayLike,
    release: Sequence[npt.ArrayLike],
    backlog: npt.ArrayLike,
    stream: Stream,
) -> Allocation:
    """Allocate the jobs of one round to the clusters (`muscle`, Algorithm 4, steps 3 to 10).

    Where the paper is departed from: see `workload_level`, `earliest_space`, `pack` and
    `build_table`. A cluster smaller than every remaining job is passed over, and e counts the
    cluster's unfinished earlier jobs too. Nothing given is changed but the state of `stream`.

    Parameters
    ----------
    sizes : array of shape (jobs,)
        Processors each job needs, at least 1.
    execution_times : array of shape (jobs, clusters)
        Seconds each job runs on each cluster; infinity where it cannot. Jobs that can run on the
        same clusters are allocated together, those with the fewest clusters first.
    deadlines : array of shape (jobs,)
        Seconds after arrival; a job's slack is its deadline less its execution time.
    cluster_sizes : array of shape (clusters,)
        Processors of each cluster.
    release : one array of shape (processors,) for each cluster
        When each processor becomes free, seconds after dispatch, 0 for now.
    backlog : array of shape (clusters, 4)
        p, etSum, sizeSum and slkSum of eq. 3 for the cluster's unfinished earlier jobs.
    stream : Stream
        Chooses between clusters of equal e and equal size.

    Raises
    ------
    PlacementError
        If no cluster can hold a job.
    """
    sizes = np.ascontiguousarray(sizes, np.int64)
    times = np.ascontiguousarray(execution_times, np.float64)
    deadlines = np.ascontiguousarray(deadlines, np.float64)
    cluster_sizes = np.ascontiguousarray(cluster_sizes, np.int64)
    able = np.isfinite(times)
    largest = np.where(able, cluster_sizes, 0).max(axis=1, initial=0)
    if (sizes > largest).any():
        job = int(np.argmax(sizes > largest))
        raise PlacementError(
            f"job {job}: found size {sizes[job]}, accepted is at most {largest[job]}, "
            "the size of the largest cluster"
        )
    free, attributes = np.concatenate(release, dtype=np.float64), np.array(backlog, np.float64)
    if able.all():
        of_all: Allocation = _allocate(
            sizes, times, deadlines, cluster_sizes, free, attributes, stream
        )
        return of_all
    parts = []
    for jobs, clusters in _by_clusters(able):
        there = np.repeat(np.isin(np.arange(len(cluster_sizes)), clusters), cluster_sizes)
        part_free, part_attributes = free[there], attributes[clusters]
        found = _allocate(
            sizes[jobs],
            times[np.ix_(jobs, clusters)],
            deadlines[jobs],
            cluster_sizes[clusters],
            part_free,
            part_attributes,
            stream,
        )
        free[there], attributes[clusters] = part_free, part_attributes
        parts.append((jobs, clusters, found))
    return _together(len(sizes), parts)


def _by_clusters(able: npt.NDArray[np.bool_]) -> list[tuple[Ints, Ints]]:
    """Return jobs that can run on the same clusters, and these, the fewest first.

    Of as few, those of the first job.

    Examples
    --------
    >>> able = np.array([[True, True], [False, True], [True, True]])
    >>> [(jobs.tolist(), clusters.tolist()) for jobs, clusters in _by_clusters(able)]
    [([1], [1]), ([0, 2], [0, 1])]
    """
    groups: dict[bytes, list[int]] = {}
    for job, row in enumerate(able):
        groups.setdefault(row.tobytes(), []).append(job)
    found = [(np.array(jobs), np.flatnonzero(able[jobs[0]])) for jobs in groups.values()]
    return sorted(found, key=lambda group: len(group[1]))


def _together(jobs: int, parts: Sequence[tuple[Ints, Ints, Allocation]]) -> Allocation:
    """Return the allocations of some of the jobs, to some of the clusters, as one of all."""
    columns = {
        name: np.empty(jobs, getattr(parts[0][2], name).dtype) for name in Allocation._fields
    }
    order, spaces = [], 0
    for own, clusters, found in parts:
        for name in columns:
            columns[name][own] = getattr(found, name)
        columns["cluster"][own] = clusters[found.cluster]
        columns["space"][own] += spaces
        spaces += int(found.space.max()) + 1
        order.append(own[found.order])
    return Allocation(**{**columns, "order": np.concatenate(order)})
