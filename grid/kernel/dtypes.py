"""What a row of each table of the kernel holds, one comment and unit a field.

The record of `grid.kernel.state` holds what there is once, or once for each cluster and link.
"""

from __future__ import annotations

import functools

import numpy as np

from grid.jobs import JOB, MAX_COMPONENTS

SLOT = np.dtype(
    [
        *((name, *JOB.fields[name][:1]) for name in JOB.names or ()),  # type: ignore[index]
        ("submission", np.int64),  # its place among all jobs that were submitted, from 1
        ("status", np.int64),  # where the job is
        ("cluster", np.int64),  # index it is sent to or runs on, NONE before
        ("predicted_runtime", np.float64),  # s, run time on a cluster of rate 1 as predicted
        ("execution_time", np.float64),  # s on that cluster
        ("predicted_time", np.float64),  # s on that cluster, as predicted
        ("staging", np.float64),  # s of its execution time, until its data are there
        ("start", np.float64),  # s
        ("end", np.float64),  # s, as of now
        ("reserved", np.float64),  # s, when it shall start by its reservation; infinity without one
        ("restarts", np.int64),  # times a failure or another job threw it back
        ("preempted_by", np.int64),  # slot of the job that did so last, NONE: a failure, or nobody
        ("placed", np.int64),  # 1: the global scheduler itself started it
        ("news_at", np.float64),  # s, as of when it was sent to its cluster, or given back by it
        ("given_back_by", np.int64),  # index of a cluster, NONE once the global broker knows
        ("landed", np.int64),  # 1: it was in the queue of its cluster before
        ("end_event", np.int64),  # turn of its end event; another turn is stale
        ("sliding", np.int64),  # its row among the jobs with sliding ends, or NONE
        ("queue", np.int64),  # of those that are visited
        ("jumps", np.int64),  # times that it was overtaken, and the job behind it was not
        # the clusters it runs on, its largest part first, then NONE, if queues are visited
        ("placed_on", np.int16, (MAX_COMPONENTS,)),
        # its place in a queue: a search tree ordered by (key, serial), balanced by rank
        ("key", np.float64),
        ("serial", np.int64),
        ("rank", np.uint64),
        ("left", np.int64),
        ("right", np.int64),
        # its place in a list: vacant slots, global queue, landing jobs, running jobs of a cluster
        ("next", np.int64),
        ("previous", np.int64),
        # identities of processors, where they are kept
        ("first_processor", np.int64),  # head of the list of processors it holds
        ("first_turn", np.int64),  # head of the list of its turns in a plan, or NONE
        ("turns_due", np.int64),  # of those, turns that have not come
        ("plan_rank", np.float64),  # its place in the plan
    ],
    align=True,
)

BY_SIZE = np.dtype(
    [
        # its place in a search tree of the jobs of its size, ordered as the queue is
        ("left", np.int64),
        ("right", np.int64),
        ("size", np.int64),  # processors
        ("time", np.float64),  # s, its predicted time
        ("shortest", np.float64),  # s, the shortest one from it down
        ("larger", np.int64),  # of a root: the root of the next larger size, or NONE
    ],
    align=True,
)
"""A waiting job among those of its size (`grid.kernel.queueing.by_size`). A row for each slot."""

BLOCK = 32
"""Rows that a block of a profile has room for."""

PROFILE = np.dtype(
    [
        ("time", np.float64),  # s
        # processors, from then until the time of the next row, but for what its block adds
        ("free", np.int64),
    ],
    align=True,
)
"""How many processors of a cluster are expected to be free: scratch of conservative backfilling."""

PROFILE_BLOCK = np.dtype(
    [
        ("first", np.int64),  # of its rows
        ("length", np.int64),  # rows in use
        ("begin", np.float64),  # s, time of its first row
        ("more", np.int64),  # processors that are free besides, in each row
        ("most", np.int64),  # processors free in a row
        ("least", np.int64),
    ],
    align=True,
)
"""Some rows of a profile in order. Those in use come first, in order, then the vacant ones."""

EVENT = np.dtype(
    [
        ("time", np.float64),  # s
        ("turn", np.int64),  # among those of one instant: its kind, then the order of scheduling
        ("subject", np.int64),  # slot, processor, or row of the table of beliefs
        ("news", np.int64),  # row of the table of news, of an advertisement
    ],
    align=True,
)

NEWS = np.dtype(
    [
        ("at", np.float64),  # s, when it was the truth
        ("free", np.int64),  # processors
        ("up", np.int64),  # processors that remain: not failed, nor going when their jobs end
        ("waiting", np.int64),  # jobs
        ("left", np.float64),  # processor-seconds of all jobs that are there
        ("finished_work", np.float64),  # processor-seconds, ever
        ("finished_jobs", np.int64),  # ever
        ("next", np.int64),  # next vacant row
    ],
    align=True,
)
"""What an advertisement tells of a cluster, while it is on its way."""

BELIEF = np.dtype(
    [
        ("cluster", np.int64),
        ("broker", np.int64),  # index among the brokers of the platform; NONE: the global one
        ("above", np.int64),  # row of what the broker above it believes, or NONE
        ("delay", np.float64),  # s, from the broker below it
        *((name, *NEWS.fields[name][:1]) for name in NEWS.names[:5]),  # type: ignore[index]
        ("heard", np.int64),  # how often there was news
        ("heard_at", np.float64),  # s, the last time
        ("age", np.float64),  # s², integral of the age of what is believed, until then
    ],
    align=True,
)
"""What a broker believes of a cluster below it."""

PROCESSOR = np.dtype(
    [
        ("holder", np.int64),  # slot of the job on it, FREE or DOWN
        ("next", np.int64),  # next processor that the same job holds
        ("cluster", np.int64),
        ("turn", np.int64),  # its first turn in the plan that has not been taken, or NONE
        ("causes", np.int64),  # for which it is down, or shall be when its job has ended
    ],
    align=True,
)

TURN = np.dtype(
    [
        ("job", np.int64),  # slot
        ("processor", np.int64),
        ("next", np.int64),  # the turn that follows on this processor, or the next vacant turn
        ("sibling", np.int64),  # the next turn of the same job
    ],
    align=True,
)
"""In a plan with processor sets: one job's turn on one processor."""

FINISHED = np.dtype(
    [
        ("number", np.int64),
        ("submission", np.int64),
        ("arrival", np.float64),
        ("size", np.int64),
        ("runtime", np.float64),
        ("deadline", np.float64),
        ("start", np.float64),
        ("finish", np.float64),
        ("execution_time", np.float64),
        ("predicted_time", np.float64),
        ("staging", np.float64),
        ("origin", np.int64),
        ("user", np.int64),
        ("application", np.int64),
        ("times_row", np.int64),
        ("restarts", np.int64),
        ("requested_time", np.float64),
        ("cluster", np.int64),  # NONE: co-allocated, or has not run
        ("split", np.int64),  # its row among the co-allocated jobs that left, or NONE
    ],
    align=True,
)
"""A job that left: completed, rejected (start and finish are NaN) or withdrawn (start is NaN)."""


RELEASE = np.dtype(
    [
        ("time", np.float64),  # s
        ("what", np.int64),  # slot of the job, or by how many processors more are free from then on
    ],
    align=True,
)
"""When something is expected to end or begin: scratch of those who make a profile."""


@functools.cache
def sliding_dtype(capacity: int) -> np.dtype[np.void]:
    """Return the dtype of a running co-allocated job, whose end slides."""
    return np.dtype(
        [
            ("job", np.int64),  # slot
            ("turn", np.int64),  # order of start, which settles which of equal ends comes first
            ("computation_left", np.float64),  # s
            ("communication_left", np.float64),  # s, stretched by the ratio (`beosim`, eq. 6)
            ("ratio", np.float64),  # allotted over required bandwidth (`beosim`, eq. 5)
            ("since", np.float64),  # s, when the residual times were true
            ("end", np.float64),  # s
            ("allotted", np.float64),  # the ratio that the saturation algorithm finds
            ("take", np.int64, (capacity,)),  # processors on each cluster
            ("demand", np.float64, (capacity,)),  # Mbit/s on each link
        ],
        align=True,
    )


@functools.cache
def moment_dtype(capacity: int) -> np.dtype[np.void]:
    """Return the dtype of a moment to come, as far as it can be foreseen."""
    clusters = (capacity,)
    return np.dtype(
        [
            ("time", np.float64),  # s
            ("free", np.int64, clusters),  # processors
            ("demand", np.float64, clusters),  # Mbit/s, on each link
        ],
        align=True,
    )


@functools.cache
def reservation_dtype(capacity: int) -> np.dtype[np.void]:
    """Return the dtype of what is reserved for a job that waits."""
    clusters = (capacity,)
    return np.dtype(
        [
            ("job", np.int64),  # slot
            ("begin", np.float64),  # s
            ("end", np.float64),  # s, if no link that it uses is saturated
            ("take", np.int64, clusters),  # processors
            ("demand", np.float64, clusters),  # Mbit/s, on each link
        ],
        align=True,
    )
