"""How components get their processors (`maxutil`, section 2.4; `queues`, section 2.4)."""

from __future__ import annotations

from typing import Any

from grid.jobs import ANYWHERE, MAX_COMPONENTS, ORDERED, TOTAL
from grid.kernel.compile import inlined
from grid.kernel.state import NONE, REJECT, WAIT
from grid.kernel.statistics import is_whole


@inlined
def component(job: Any, index: int) -> int:
    """Return the processors of a component; 0 behind the last, and on clusters left out.

    A total request is one component, and so is a job that names none.
    """
    if job.request == TOTAL or (job.request != ORDERED and job.components[0] == 0):
        return int(job.size) if index == 0 else 0
    return int(job.components[index])


@inlined
def _largest_left(job: Any, done: int) -> int:
    """Return the largest component whose bit is not set, of equals the first; NONE if all are."""
    best, largest = NONE, 0
    for index in range(MAX_COMPONENTS):
        size = component(job, index)
        if size == 0 and job.request != ORDERED:  # which may leave clusters out
            break
        left = size * (1 - ((done >> index) & 1))
        best = index if left > largest else best
        largest = max(largest, left)
    return best


@inlined
def _most_free(known: Any, size: int) -> int:
    """Return the cluster of most free processors that the job has none of yet, if they suffice."""
    best = NONE
    for cluster in range(known.clusters):
        free = known.free[cluster]
        if known.take[cluster] == 0 and (best == NONE or free > known.free[best]):
            best = cluster
    return best if best != NONE and known.free[best] >= size else NONE


@inlined
def _first_free(known: Any, size: int) -> int:
    """Return the first cluster that has enough free and the job has none of yet."""
    for cluster in range(known.clusters):
        if known.take[cluster] == 0 and known.free[cluster] >= size:
            return cluster
    return NONE


@inlined
def _take_back(known: Any) -> bool:
    """Take nothing after all; return that the job does not fit."""
    for cluster in range(known.clusters):
        known.take[cluster] = 0
    return False


@inlined
def worst_fit(known: Any, job: Any) -> bool:
    """Put components, the largest first, on distinct clusters, each where most is free (WF).

    Of clusters with equally many free processors it is the first. If that fails, no other way of
    placing them succeeds (`maxutil`, section 2.4).
    """
    done, following = 0, _largest_left(job, 0)
    while following != NONE:
        cluster = _most_free(known, component(job, following))
        if cluster == NONE:
            return _take_back(known)
        known.take[cluster] = component(job, following)
        done |= 1 << following
        following = _largest_left(job, done)
    return True


@inlined
def first_fit(known: Any, job: Any) -> bool:
    """Put components, the largest first, each on the first other cluster on which it fits (FF)."""
    done, following = 0, _largest_left(job, 0)
    while following != NONE:
        cluster = _first_free(known, component(job, following))
        if cluster == NONE:
            return _take_back(known)
        known.take[cluster] = component(job, following)
        done |= 1 << following
        following = _largest_left(job, done)
    return True


@inlined
def in_order(known: Any, job: Any) -> bool:
    """Put the first component on the first cluster, the second on the second, and so on.

    One of size 0 needs nothing of its cluster.
    """
    for index in range(MAX_COMPONENTS):
        size = component(job, index)
        if size == 0:
            continue
        if index >= known.clusters or size > known.free[index]:
            return _take_back(known)
        known.take[index] = size
    return True


@inlined
def at_home(known: Any, job: Any) -> bool:
    """Put a job on the cluster that it was submitted through, if it fits."""
    if job.size > known.free[job.origin]:
        return False
    known.take[job.origin] = job.size
    return True


@inlined
def _fits_anywhere(known: Any, job: Any) -> bool:
    """Tell whether any component fits on any cluster, and there are as many clusters."""
    least = known.size[0]
    for cluster in range(1, known.clusters):
        least = min(least, known.size[cluster])
    for index in range(MAX_COMPONENTS):
        size = component(job, index)
        if size > least or (size > 0 and index >= known.clusters):
            return False
    return True


@inlined
def refusal(known: Any, job: Any) -> int:
    """Return what to answer about components that do not fit now.

    ``REJECT`` if they never will: the largest component is larger than the largest cluster, the
    next one than the next ..., or there are more components than clusters.
    """
    if _fits_anywhere(known, job):
        return WAIT
    done, following, above = 0, _largest_left(job, 0), NONE
    while following != NONE:
        best = NONE
        for cluster in range(known.clusters):
            later = (
                above == NONE
                or known.size[cluster] < known.size[above]
                or (known.size[cluster] == known.size[above] and cluster > above)
            )
            if later and (best == NONE or known.size[cluster] > known.size[best]):
                best = cluster
        if best == NONE or component(job, following) > known.size[best]:
            return REJECT
        above = best
        done |= 1 << following
        following = _largest_left(job, done)
    return WAIT


@inlined
def is_local(job: Any) -> bool:
    """Tell whether a job has one component, and a cluster that it was submitted through."""
    return is_whole(job) and job.origin != ANYWHERE
