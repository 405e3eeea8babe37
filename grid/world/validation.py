"""Checks of what is given to a world, and the errors that they raise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from grid.errors import PlacementError, PlatformError, WorkloadError
from grid.foreign import quoted
from grid.jobs import ANYWHERE, BY_RATES, JOB, LONGEST, SHORTEST_RUN, JobArray
from grid.kernel import state as k
from grid.kernel.compile import compiled
from grid.world.storage import Storage

Indices = npt.NDArray[np.int64]

TOO_LARGE, IMPOSSIBLE = "larger than can ever run", "refused by the global scheduler"
NOT_SPLIT = "larger than any cluster, and the global scheduler splits none"
NEVER_PLACED = "larger than the global scheduler ever places"
WITHDRAWN = "it was held or cancelled"
"""Why jobs leave that have not run."""


def why_rejected(storage: Storage, job: np.void) -> str:
    """Return why a job left that has not run, a row of those that left."""
    if not np.isnan(job["finish"]):
        return WITHDRAWN
    state, rooms = storage.state, storage.platform.sizes
    if job["times_row"] != BY_RATES:
        rooms = rooms[np.isfinite(storage.times[job["times_row"]])]
    if job["size"] > rooms.sum():
        return TOO_LARGE
    if job["size"] > rooms.max() and not state.spans:
        return NOT_SPLIT
    return NEVER_PLACED if job["size"] > state.largest else IMPOSSIBLE


def at_arrival(why: str) -> bool:
    """Tell whether a job that was rejected for this was so as it arrived, whatever was free."""
    return why in (TOO_LARGE, NOT_SPLIT, NEVER_PLACED)


def _named(storage: Storage, slot: int) -> str:
    return f"job {storage.columns['number'][slot]} (size {storage.columns['size'][slot]})"


def cannot_run(storage: Storage, slot: int, cluster: int) -> bool:
    """Tell whether a job has no execution time on a cluster, of a table with such times."""
    row = storage.columns["times_row"].item(slot)
    return row != BY_RATES and bool(np.isinf(storage.times[row, cluster]))


def _only_on(storage: Storage, slot: int) -> str:
    """Say on which clusters alone a job can run, if it cannot on some."""
    names = storage.platform.names
    able = [name for c, name in enumerate(names) if not cannot_run(storage, slot, c)]
    return "" if len(able) == len(names) else f"; it can run on {', '.join(able)} only"


def broken_answer(storage: Storage, slot: int, answer: float) -> str:
    """Say what is wrong with a decision about a job."""
    state, jobs = storage.state, storage.columns
    names = storage.platform.names
    if slot == k.NONE:
        counts = state.known["queued"].tolist()
        queued = dict(zip((*names, "the global one"), counts, strict=False))
        no_other = f"None ({k.NONE} if compiled)"
        return f"queue to visit: {answer:g}; accepted: one with jobs, of {queued}, or {no_other}"
    job = _named(storage, slot)
    if jobs["status"][slot] == k.LANDING:
        cluster = jobs["cluster"][slot]
        timed = state.service[cluster] == k.TIMED
        accepted = "a time (s), of service timed" if timed else "a number"
        return f"{names[cluster]}: priority of {job}: {answer}; accepted: {accepted}"
    if answer == k.START:
        taken = {
            names[c] if c < state.clusters else f"cluster {c}": int(count)
            for c, count in enumerate(state.known["take"])
            if count
        }
        free = dict(zip(names, state.known["free"].tolist(), strict=False))
        told = "free" if state.at_once.all() else "that brokers tell are free"
        size = jobs["size"][slot]
        return (
            f"placement of {job}: {taken or 'no processors'}; accepted: {size} processors in all, "
            f"of those {told}: {free}{_only_on(storage, slot)}"
        )
    found = f"cluster {answer:g}"
    if 0 <= answer < state.clusters and answer == int(answer):
        found = f"{names[int(answer)]}, which has {state.size[int(answer)]} processors"
    sizes = ", ".join(f"{c.name} ({c.size})" for c in storage.platform.clusters)
    only = _only_on(storage, slot)
    return f"placement of {job}: {found}; accepted: a cluster that can hold it, of {sizes}{only}"


@compiled()
def _are_accepted(jobs: JobArray, clusters: int, rows: int, longest: float) -> bool:
    """Tell whether `check_jobs` has nothing to say of these rows, at a glance."""
    before = -np.inf
    for row in range(len(jobs)):
        job = jobs[row]
        if not (
            job.size >= 1
            and before <= job.arrival
            and -np.inf < job.arrival < np.inf
            and 0 <= job.runtime <= longest
            and job.deadline > -np.inf
            and ANYWHERE <= job.origin < clusters
            and BY_RATES <= job.times_row < rows
            and (job.times_row == BY_RATES or 0 < job.runtime < np.inf)
        ):
            return False
        before = job.arrival
    return True


def check_times(times: npt.NDArray[np.float64], clusters: int) -> None:
    """Raise `WorkloadError` unless these are execution times on each of so many clusters."""
    if np.ndim(times) != 2 or np.shape(times)[1] != clusters:
        raise WorkloadError(
            f"execution times: found an array of shape {np.shape(times)}; accepted: one of shape "
            f"(rows, {clusters}), a column for each cluster"
        )
    bad = np.argwhere(~((times >= SHORTEST_RUN) & (times <= LONGEST) | np.isposinf(times)))
    if len(bad):
        row, cluster = bad[0].tolist()
        raise WorkloadError(
            f"execution times: row {row}, cluster {cluster}: found {times[row, cluster]}; "
            f"accepted: seconds from {SHORTEST_RUN:g} to {LONGEST:g}, or infinity"
        )
    nowhere = np.flatnonzero(np.isinf(times).all(axis=1))
    if len(nowhere):
        raise WorkloadError(
            f"execution times: row {nowhere[0]}: found none; accepted: one at least, for a cluster "
            "on which the job can run"
        )


def check_jobs(jobs: JobArray, clusters: int, rows: int, endless: bool = False) -> None:
    """Raise `WorkloadError` unless the kernel can take these jobs in.

    Parameters
    ----------
    jobs : JobArray
    clusters : int
    rows : int
        Of the table of execution times.
    endless : bool
        Run times may be infinite, of jobs of which somebody outside says when they end.
    """
    longest = np.inf if endless else np.finfo(np.float64).max
    if jobs.dtype != JOB:
        raise WorkloadError(f"workload: dtype {jobs.dtype}; accepted: grid.jobs.JOB")
    if _are_accepted(jobs, clusters, rows, longest):
        return
    for name, valid, accepted in (
        ("size", jobs["size"] >= 1, "1 or more"),
        ("arrival", np.isfinite(jobs["arrival"]), "a number of seconds"),
        ("runtime", (jobs["runtime"] >= 0) & (jobs["runtime"] <= longest), "seconds, 0 or more"),
        ("deadline", jobs["deadline"] > -np.inf, "a number of seconds, or inf"),
        (
            "origin",
            (jobs["origin"] >= ANYWHERE) & (jobs["origin"] < clusters),
            f"{ANYWHERE}, or a cluster below {clusters}",
        ),
        (
            "times_row",
            (jobs["times_row"] >= BY_RATES) & (jobs["times_row"] < rows),
            f"{BY_RATES}, or a row of execution times below {rows}",
        ),
        (
            "runtime",
            (jobs["times_row"] == BY_RATES) | (jobs["runtime"] > 0) & (jobs["runtime"] < np.inf),
            "seconds, above 0 with execution times on each cluster",
        ),
    ):
        if not valid.all():
            job = jobs[int(valid.argmin())]
            raise WorkloadError(
                f"workload: job {job['number']}: {name} {job[name]}; accepted: {accepted}"
            )
    if (np.diff(jobs["arrival"]) < 0).any():
        raise WorkloadError("workload: accepted: jobs in order of arrival")


def check_waits(storage: Storage, slot: int) -> None:
    """Raise `PlacementError` unless a slot holds a job that waits globally."""
    status = storage.columns["status"]
    if not (0 <= slot < len(status) and status[slot] == k.GLOBAL):
        raise PlacementError(f"slot {slot}: accepted: jobs of the global queue, each once")


def check_sending(storage: Storage, jobs: Indices, clusters: Indices) -> None:
    """Raise `PlacementError` unless each job waits globally and fits its cluster."""
    sizes = storage.columns["size"]
    for index, (job, cluster) in enumerate(zip(jobs.tolist(), clusters.tolist(), strict=True)):
        check_waits(storage, job)
        if job in jobs[:index]:
            raise PlacementError(f"slot {job}: accepted: jobs of the global queue, each once")
        there = 0 <= cluster < storage.state.clusters
        if (
            not there
            or sizes[job] > storage.state.size[cluster]
            or cannot_run(storage, job, cluster)
        ):
            raise PlacementError(broken_answer(storage, job, cluster))


def check_plan(
    storage: Storage,
    cluster: int,
    order: Sequence[int] | Indices,
    resources: Sequence[Sequence[int]] | None,
) -> tuple[Indices, Indices]:
    """Return a plan as arrays: slots, and the processors of one job after the other.

    Raises
    ------
    PlacementError
        If it names a job twice or one that does not wait there, or wrong processors.
    """
    place, jobs = f"plan of {storage.platform.names[cluster]}", np.asarray(order, np.int64)
    if not len(jobs):
        return jobs, jobs
    inside = bool(((jobs >= 0) & (jobs < len(storage.tables.slots))).all())
    waits = inside and bool(
        (
            (storage.columns["status"][jobs] == k.LOCAL)
            & (storage.columns["cluster"][jobs] == cluster)
        ).all()
    )
    if not waits or len(np.unique(jobs)) != len(jobs):
        raise PlacementError(f"{place}: accepted: jobs that wait there, each once")
    if resources is None or not len(jobs):
        return jobs, np.empty(0, np.int64)
    if not storage.tracked:
        raise PlacementError(f"{place}: processors of an untracked world; accepted: a tracked one")
    if len(resources) != len(jobs):
        raise PlacementError(f"{place}: {len(resources)} sets of processors for {len(jobs)} jobs")
    processors = int(storage.state.size[cluster])
    for job, chosen in zip(jobs.tolist(), resources, strict=True):
        size = int(storage.columns["size"][job])
        if (
            len(chosen) != size
            or len(set(chosen)) != size
            or not all(0 <= each < processors for each in chosen)
        ):
            raise PlacementError(
                f"{place}: {_named(storage, job)} on processors {list(chosen)}; accepted: {size} "
                f"different ones below {processors}"
            )
    return jobs, np.concatenate([np.asarray(each, np.int64) for each in resources])


def check_preemption(storage: Storage, slot: int, by: int) -> None:
    """Raise `PlacementError` unless a job runs by a cluster's plan, and another waits there."""
    jobs, slots = storage.columns, range(len(storage.tables.slots))
    if not storage.tracked:
        raise PlacementError("preemption: untracked world; accepted: a tracked one")
    if (
        slot not in slots
        or jobs["status"][slot] != k.RUNNING
        or jobs["placed"][slot]
        or not storage.state.planned[jobs["cluster"][slot]]
    ):
        raise PlacementError(f"preemption of slot {slot}: accepted: jobs that run by a plan")
    there = jobs["cluster"][slot]
    if by not in slots or jobs["status"][by] != k.LOCAL or jobs["cluster"][by] != there:
        raise PlacementError(
            f"preemption of {_named(storage, slot)} by slot {by}: accepted: jobs that wait at "
            f"{storage.platform.names[there]}"
        )


def check_adoption(storage: Storage, row: JobArray, cluster: int) -> None:
    """Raise unless one job can begin to run on a cluster, whoever started it there."""
    if not storage.tracked:
        raise PlacementError("job from outside: untracked world; accepted: a tracked one")
    check_jobs(row, storage.state.clusters, 0, endless=True)
    if len(row) != 1 or cluster not in range(storage.state.clusters):
        raise PlacementError("job from outside: accepted: one job, on a cluster of the platform")
    free = int(storage.state.free[cluster])
    if row["size"].item() > free:
        name = storage.platform.names[cluster]
        raise PlacementError(
            f"job from outside: found {row['size'].item()} processors; accepted: "
            f"at most {free}, those free on {name}"
        )


def check_end(storage: Storage, slot: int) -> None:
    """Raise `PlacementError` unless a job runs on one cluster, and can be told from others."""
    if not storage.tracked:
        raise PlacementError("end of a job: untracked world; accepted: a tracked one")
    running = slot in range(len(storage.tables.slots)) and storage.columns["status"][slot]
    if running != k.RUNNING:
        raise PlacementError(f"end of slot {slot}: accepted: jobs that run on one cluster")


def check_withdrawal(storage: Storage, slot: int) -> None:
    """Raise `PlacementError` unless a job waits, globally or at a cluster."""
    there = slot in range(len(storage.tables.slots))
    if not (there and storage.columns["status"][slot] in (k.GLOBAL, k.LOCAL)):
        raise PlacementError(f"withdrawal of slot {slot}: accepted: jobs that wait in a queue")


def check_failure(
    storage: Storage, what: str, cluster: int, processor: int, times: tuple[float, float]
) -> None:
    """Raise `PlatformError` unless a processor can go, and be back, at these times."""
    (time, back), now = times, storage.state.now
    place = f"{what} of processor {processor} of cluster {cluster}"
    if not storage.tracked:
        raise PlatformError(f"{place}: untracked world; accepted: a tracked one")
    if (
        not 0 <= cluster < storage.state.clusters
        or not 0 <= processor < storage.state.size[cluster]
    ):
        raise PlatformError(f"{place}: accepted: a processor of the platform")
    if not (now <= time < np.inf and back > time):
        raise PlatformError(
            f"{place}: from {time} s to {back} s; accepted: from {now} s on, and back later"
        )


def check_memory(memory: Any) -> None:
    """Raise `PlacementError` unless compiled code can have this as the memory of a policy."""
    if not isinstance(memory, np.ndarray):
        found = quoted(memory)
    elif memory.dtype == np.float64 and memory.ndim == 1 and memory.flags.c_contiguous:
        return
    else:
        gaps = "" if memory.flags.c_contiguous else ", not contiguous"
        found = f"an array of {memory.dtype}, of shape {memory.shape}{gaps}"
    raise PlacementError(
        f"memory: found {found}; accepted: a contiguous array of float64, of one dimension"
    )
