"""What the kernel knows at an instant beside its tables, one comment and unit a field.

One record holds the scalars and, as contiguous columns, what is kept for each cluster, link and
queue. Columns have room for `capacity` clusters and links, so that one compiled kernel serves
every multicluster up to that capacity.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from grid.kernel.policies.policy_view import known_dtype
from grid.kernel.record import CLUSTER, LINK, QUEUE, Column, Field, Lengths, Nested, Number, Record
from grid.kernel.statistics import SNAPSHOTS, Sums

NONE = -1
LINES = 4096
"""Sizes of jobs that may have a line of their own in the global queue, from 0."""

PATH = 512
"""Most jobs above another in the tree of a queue: a few dozen are above it in the longest one."""

NOBODY = np.iinfo(np.int64).max
"""Whose turn it is in an empty line."""

CAPACITIES = (16, 128, 1024, 8192)
"""Room for clusters (and links) that kernels are compiled for."""

# Why the loop returned.
TIME, OVER, FEED, FULL, DRAIN, PLACE, RANK, COLLECTED, LANDED, BROKEN, PREDICT, MISPREDICTED = (
    range(12)
)
VISIT = 12

GO_ON = -1
"""It need not return."""

# Where a job is.
VACANT, ANNOUNCED, GLOBAL, TRANSIT, LANDING, LOCAL, RUNNING, COALLOCATED = range(8)

# What a decision about a job may answer, beside the index of the cluster to send it to.
WAIT, START, REJECT = -1, -2, -3

# Kinds of event, in the order in which they happen at one instant.
END, REPAIR, FAIL, RETIRE, ADVERTISEMENT, METADATA, TRANSFER, TICK, MEND, BREAK, OVERDUE = range(11)
DUE = 11
KIND_BITS = 56
"""From this bit on, the turn of an event is its kind; below it, its serial."""

MESSAGE_KINDS = ("submission", "metadata", "order", "transfer", "advertisement")
SUBMISSION, METADATA_SENT, ORDER, TRANSFER_SENT, ADVERTISED = range(5)

# Where jobs wait for a global scheduler that visits queues.
ONE_QUEUE, OWN_QUEUES, BY_COMPONENTS = range(3)
QUEUES = {"": ONE_QUEUE, "global": ONE_QUEUE, "local": OWN_QUEUES, "by-components": BY_COMPONENTS}

# What has happened since it last visited one.
NOTHING, ARRIVED, DEPARTED, STARTED, REFUSED = range(5)

# How a cluster serves its queue.
HEAD, FPFS, TIMED, EASY, CONSERVATIVE = range(5)
SERVICES = {
    "head": HEAD,
    "fpfs": FPFS,
    "easy": EASY,
    "conservative": CONSERVATIVE,
    "timed": TIMED,
}

# When a cluster asks for another plan: when jobs land or processors change; when jobs end, too.
NEVER, AT_LANDINGS, AT_ENDS = range(3)

# Where the run time to expect of a job that arrives comes from: itself; whoever is asked outside,
# for which the loop returns; or the time requested.
TRUTH, ASKED, REQUESTED = range(3)

# What holds a processor, beside a job's slot.
FREE, DOWN = -1, -2

# What there is to do about a cluster at an instant: at most serve its queue; or something changed.
UNTOUCHED, TO_SERVE, CHANGED = range(3)


def _known(lengths: Lengths) -> np.dtype[np.void]:
    return known_dtype(lengths[CLUSTER])


class State(Record):
    """What the kernel knows at an instant beside its tables."""

    now = Number(float)  # s
    coming = Number(float)  # s, when more happens, as of the last TIME or OVER
    clusters = Number(int)
    links = Number(int)
    mid_instant = Number(int)  # 1: events of this instant are still to come
    # arrivals
    fed = Number(int)  # rows of the chunk already taken
    chunk_length = Number(int)
    exhausted = Number(int)  # 1: no chunk will follow
    # where the run time to expect of each arrival comes from: TRUTH, ASKED or REQUESTED
    predicting = Number(int)
    times_at = Number(int)  # address of the table of execution times, 0: no job has a row there
    predicted_at = Number(int)  # that of expected ones, a row for each slot; 0: there is none
    partial = Number(int)  # 1: some of these jobs cannot run on every cluster
    limited = Number(int)  # 1: that table holds how long jobs may run, not how long they do
    # tables
    vacant = Number(int)  # first vacant slot
    vacant_turn = Number(int)  # first vacant turn of plans
    turns = Number(int)  # turns in use
    live = Number(int)  # slots in use
    events = Number(int)  # length of the event heap
    background = Number(int)  # of those, events of the failure model, which never end
    changes = Number(int)  # and planned changes of processors, which only jobs wait for
    broken = Number(int)  # processors that the failure model took, to be repaired
    in_vain = Number(int)  # its failures and repairs since a job arrived or ran
    steps = Number(int)  # of jobs so far, as of the last of these
    awaited = Number(int)  # 1: somebody outside acts later, whatever happens here
    between = Number(int)  # 1: over once all jobs have left, whatever else happens
    mean_up = Number(float)  # s, of its exponential times; 0: there is none
    mean_down = Number(float)  # s
    failure_stream = Column(np.uint64, 4)
    serial = Number(int)
    landing_first = Number(int)  # jobs that reached a cluster and wait for a rank
    landing_last = Number(int)
    recording = Number(int)  # 1: jobs that leave are put into the table of finished jobs
    finished = Number(int)  # rows of it
    splits = Number(int)  # of those, co-allocated ones: rows of the table of splits
    # the global scheduler
    place_at = Number(int)  # address of its compiled decision, 0 for Python
    largest_at = Number(int)  # address of the bound on sizes that it could place, or 0
    visits = Number(int)  # 1: it visits queues, of which each has a line
    visit_at = Number(int)  # address of its compiled choice of a queue, 0 for Python
    queues = Number(int)  # which job waits in which: ONE_QUEUE to BY_COMPONENTS
    collect = Number(int)  # 1: jobs are collected for rounds, never offered one by one
    notify = Number(int)  # 1: return when jobs were collected
    collected = Number(int)  # jobs collected since the scheduler was told
    awaits_room = Number(int)  # 1: who collects is told of processors that are free, too
    # times that a job may be overtaken, and that the head of its queue has been (`maxutil`,
    # section 2.4): of each job, `jumps` says how often more than those behind it
    max_jumps = Number(int)
    jumps = Number(int)
    backlog = Number(int)  # jobs that always wait globally, whatever their arrivals; 0: none
    cursor = Number(int)  # next job of the global queue to be offered, or NONE
    reconsider = Number(int)  # 1: an arrival has all waiting jobs offered
    by_size = Number(int)  # 1: what is refused is so for all larger jobs too
    offering_all = Number(int)  # 1: not just the job at the cursor is to be offered
    refused_size = Number(int)  # from which on jobs wait until all are offered again
    # jobs go before others beside what those have reserved: see
    # `grid.kernel.queueing.global_backfilling`
    most_reservations = Number(int)
    reservations = Number(int)  # rows of the table in use
    foreseen = Number(int)  # 1: the profile is that of what runs and is reserved
    moments = Number(int)  # rows of it in use
    soonest = Number(float)  # s, when a job that runs is expected to end
    passing = Number(int)  # 1: a pass over the queue is under way
    before = Number(int)  # reservations of jobs before the one at the cursor
    moment = Number(int)  # row that it is asked about, or NONE: it has not been tried
    too_large = Number(int)  # from this size on jobs cannot start now
    larger_wait = Number(int)  # 1: what is refused is so for all larger jobs too
    answered = Number(int)  # 1: the answer of Python is there
    job = Number(int)  # slot that a decision is about
    answer = Number(float)
    largest = Number(int)  # processors of the largest job that can ever run
    spans = Number(int)  # 1: a job may run on several clusters
    # what splitting a job makes of its execution time; 0: the links that it shares decide
    penalty = Number(float)
    known: Field[Any] = Field(_known)  # what it decides by
    # counts
    submitted = Number(int)
    started = Number(int)
    completed = Number(int)
    rejected = Number(int)
    withdrawn = Number(int)
    restarted = Number(int)
    refused = Number(int)  # starts asked for where fewer processors were free than that
    instants = Number(int)
    statistics = Nested(Sums)
    # of queues that are visited: sums over jobs that count and completed
    responses = Column(np.float64, 2)  # s, of jobs of one component, and of more
    responded = Column(np.int64, 2)
    queue_responses = Column(np.float64, QUEUE)  # s
    queue_responded = Column(np.int64, QUEUE)
    in_flight = Number(int)  # messages on their way
    advertising = Number(int)  # of these, advertisements
    messages = Column(np.int64, len(MESSAGE_KINDS))
    lost = Number(int)  # messages
    listener_at = Number(int)  # address of who is told of each message, 0: nobody
    sent = Column(np.int64, CLUSTER)  # of these, by the broker of each cluster
    received = Column(np.int64, CLUSTER)  # addressed to the broker of each cluster
    # queues: one for each cluster, then (but for the root) the global one
    root = Column(np.int64, CLUSTER)
    head = Column(np.int64, CLUSTER)  # slot of the first job
    waiting = Column(np.int64, QUEUE)  # jobs
    # the global queue in lines: one for each size of job, or line 0 for all
    lines_begin = Number(int)  # all lines before are empty
    lines_end = Number(int)  # lines from here on were always empty
    line_first = Column(np.int64, LINES)  # slot
    line_last = Column(np.int64, LINES)
    line_turn = Column(np.int64, LINES)  # serial of the first * LINES + line, or NOBODY
    # clusters
    size = Column(np.int64, CLUSTER)  # processors
    rate = Column(np.float64, CLUSTER)  # speed relative to rate 1
    # as predicted; `known.rate` is that for the job which a decision is about
    predicted_rate = Column(np.float64, CLUSTER)
    # while whoever decides about a job that cannot run there does not see it: what was known of it
    hiding = Number(int)  # 1: some are not seen
    hidden_free = Column(np.int64, CLUSTER)  # processors
    hidden_up = Column(np.int64, CLUSTER)  # processors
    up = Column(np.int64, CLUSTER)  # processors not failed
    remaining = Column(np.int64, CLUSTER)  # of these, do not go when their jobs end
    free = Column(np.int64, CLUSTER)  # processors
    area = Column(np.float64, CLUSTER)  # processor-seconds held until `changed`
    changed = Column(np.float64, CLUSTER)  # s
    running = Column(np.int64, CLUSTER)  # first running job, a list
    running_count = Column(np.int64, CLUSTER)
    done = Column(np.int64, CLUSTER)  # jobs completed
    restarts = Column(np.int64, CLUSTER)  # times that a failure or another job threw a job back
    preemptions = Column(np.int64, CLUSTER)  # of these, times that another job did
    lost_work = Column(np.float64, CLUSTER)  # processor-seconds that such jobs had been held
    shrunk_at = Column(np.float64, CLUSTER)  # s, when fewer processors remained last
    shrunk = Column(np.int64, CLUSTER)  # 1: fewer remain from this instant on
    shrunk_any = Number(int)  # 1: some went, some time
    # the latest that is known from jobs that it gave back: when fewer processors remained than the
    # smallest that it gave back then
    returned_at = Column(np.float64, CLUSTER)  # s
    returned_size = Column(np.int64, CLUSTER)  # processors
    touched = Column(np.int64, CLUSTER)  # at this instant, UNTOUCHED to CHANGED
    touched_list = Column(np.int64, CLUSTER)
    touched_count = Number(int)
    priority_at = Column(np.int64, CLUSTER)  # address of the compiled rank, 0 for Python
    # s, in which what a user has used counts half, 0: nobody is ranked by that; see
    # `grid.kernel.queueing.fair_share`
    half_life = Column(np.float64, CLUSTER)
    usage_changed = Column(np.int64, CLUSTER)  # first row of those changed, or NONE
    usage_at = Number(int)  # address of the table
    usage_room = Number(int)  # its length, a power of two, 0 without one
    usages = Number(int)  # rows in use
    relied_on = Number(int)  # 1: some queue is served by when jobs are expected to end
    # how it serves its queue, HEAD to CONSERVATIVE; if not by the head alone: see
    # `grid.kernel.queueing.backfilling`
    service = Column(np.int64, CLUSTER)
    may_be_overtaken = Column(np.int64, CLUSTER)  # times, each job; NOBODY: ever so often
    disturbed = Column(np.int64, CLUSTER)  # 1: processors changed since it served its queue
    newcomers = Column(np.int64, CLUSTER)  # jobs that have joined the queue since
    newcomer = Column(np.int64, CLUSTER)  # slot of the last of them
    shadow = Column(np.float64, CLUSTER)  # s, when the head of the queue shall start
    smallest = Column(np.int64, CLUSTER)  # root of the tree of the smallest jobs that wait, or NONE
    extra = Column(np.int64, CLUSTER)  # processors that it then leaves to others
    freed_until = Column(
        np.float64, CLUSTER
    )  # s, before which more is free than when jobs reserved
    profile_length = Number(int)  # rows of the profile in use
    profile_of = Number(int)  # cluster of which it is still true, or NONE
    next_due = Number(float)  # when the next reservation there begins, s
    profile_blocks = Number(int)  # blocks of them
    profile_changes = Number(int)  # rows of what it is made from
    path = Column(np.int64, PATH)  # in a walk of a queue: the job it is at, and those above
    path_length = Number(int)
    # jobs start only when a plan names them, if another one is asked for: NEVER to AT_ENDS
    planned = Column(np.int64, CLUSTER)
    replan = Column(np.int64, CLUSTER)  # 1: jobs or processors changed under the plan
    replan_any = Number(int)
    mispredicted = Column(np.int64, CLUSTER)  # 1: a job ended off its predicted time
    mispredicted_any = Number(int)
    first_processor = Column(np.int64, CLUSTER)  # index of its first processor
    latency = Column(np.float64, CLUSTER)  # s, one message to or from the global broker
    # brokers
    hops = Column(np.int64, CLUSTER)  # messages on the way from it to the global broker
    hop_latency = Number(float)  # s
    first_hop = Column(np.float64, CLUSTER)  # s, from its broker to the one above: links, too
    at_once = Column(np.int64, CLUSTER)  # 1: the global broker knows all of it at once
    truth = Number(int)  # 1: of every cluster, and nothing is advertised
    on_change = Number(int)  # 1: advertise at each change
    period = Number(float)  # s between advertisements, 0 if not periodic
    ticking = Number(int)  # 1: the next periodic advertisement is among the events
    tick = Number(int)  # 1: it is due at this instant
    loss = Number(float)  # probability that a message is lost on a hop
    loss_stream = Column(np.uint64, 4)
    first_belief = Column(np.int64, CLUSTER)  # row of the broker above its own
    vacant_news = Number(int)
    news = Number(int)  # rows in use
    touched_at = Column(np.float64, CLUSTER)  # s, last change
    left = Column(np.float64, CLUSTER)  # processor-seconds of all jobs that are there
    finished_work = Column(np.float64, CLUSTER)  # processor-seconds, ever
    finished_jobs = Column(np.int64, CLUSTER)
    told_work = Column(np.float64, CLUSTER)  # of these, the global broker knows
    told_jobs = Column(np.int64, CLUSTER)
    # links: link i joins node i (clusters first, then switches) to its parent node
    parent = Column(np.int64, LINK)  # node, or NONE for the central switch
    deep_first = Column(np.int64, LINK)  # links, those farthest from the centre first
    capacity = Column(np.float64, LINK)  # Mbit/s
    link_latency = Column(np.float64, LINK)  # s
    demand = Column(np.float64, LINK)  # Mbit/s
    saturated_links = Column(np.int64, LINK)  # scratch of the saturation algorithm
    available = Column(np.float64, LINK)
    required = Column(np.float64, LINK)
    node_count = Column(np.int64, LINK)
    # what distance costs jobs (`grid.platform.distance`); nothing if 0
    message_rate = Number(float)  # 1/s
    stages = Number(int)  # 1: data are staged
    staging_time = Number(float)  # s
    staging_data = Number(float)  # Mbit
    carried = Column(np.float64, LINK)  # Mbit demanded until `links_since`
    saturated = Column(np.float64, LINK)  # s with demand above capacity until then
    carried_before = Column(np.float64, LINK)  # of these, before any job counts
    saturated_before = Column(np.float64, LINK)
    snapshot_carried = Column(np.float64, SNAPSHOTS, LINK)
    snapshot_saturated = Column(np.float64, SNAPSHOTS, LINK)
    overloaded = Number(int)  # 1: the demand on some link is above its capacity
    sliding = Number(int)  # co-allocated jobs running
    sliding_first = Number(int)  # row of the one that ends first
    sliding_end = Number(float)  # s, when; infinity without one
    sliding_overdue = Number(float)  # s, when the next of them runs for longer than expected


@functools.cache
def state_dtype(capacity: int) -> np.dtype[np.void]:
    """Return the dtype of the state record with room for `capacity` clusters and links."""
    return State.dtype_of({CLUSTER: capacity, LINK: capacity, QUEUE: capacity + 1})
