"""What the kernel knows at an instant beside its tables, one comment and unit a field.

One record holds the scalars and, as contiguous columns, what is kept for each cluster, link and
queue. Columns have room for `capacity` clusters and links, so that one compiled kernel serves
every multicluster up to that capacity.
"""

from __future__ import annotations

import functools

import numpy as np

from grid.kernel.policies.policy_view import known_dtype
from grid.kernel.statistics import STATISTICS, link_sums

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
END, REPAIR, FAIL, RETIRE, ADVERTISEMENT, METADATA, TRANSFER, TICK, MEND, BREAK = range(10)
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
HEAD, FPFS, EASY, CONSERVATIVE = range(4)
SERVICES = {"head": HEAD, "fpfs": FPFS, "easy": EASY, "conservative": CONSERVATIVE}

# Where the run time to expect of a job that arrives comes from: itself; whoever is asked outside,
# for which the loop returns; or the time requested.
TRUTH, ASKED, REQUESTED = range(3)

# What holds a processor, beside a job's slot.
FREE, DOWN = -1, -2


@functools.cache
def state_dtype(capacity: int) -> np.dtype[np.void]:
    """Return the dtype of the state record with room for `capacity` clusters and links."""
    clusters, queues = (capacity,), (capacity + 1,)
    return np.dtype(
        [
            ("now", np.float64),  # s
            ("coming", np.float64),  # s, when more happens, as of the last TIME or OVER
            ("clusters", np.int64),
            ("links", np.int64),
            ("mid_instant", np.int64),  # 1: events of this instant are still to come
            # arrivals
            ("fed", np.int64),  # rows of the chunk already taken
            ("chunk_length", np.int64),
            ("exhausted", np.int64),  # 1: no chunk will follow
            # where the run time to expect of each arrival comes from: TRUTH, ASKED or REQUESTED
            ("predicting", np.int64),
            # tables
            ("vacant", np.int64),  # first vacant slot
            ("vacant_turn", np.int64),  # first vacant turn of plans
            ("turns", np.int64),  # turns in use
            ("live", np.int64),  # slots in use
            ("events", np.int64),  # length of the event heap
            ("background", np.int64),  # of those, events of the failure model, which never end
            ("broken", np.int64),  # processors that the failure model took, to be repaired
            ("in_vain", np.int64),  # its failures and repairs since a job arrived or ran
            ("steps", np.int64),  # of jobs so far, as of the last of these
            ("awaited", np.int64),  # 1: somebody outside acts later, whatever happens here
            ("between", np.int64),  # 1: over once all jobs have left, whatever else happens
            ("mean_up", np.float64),  # s, of its exponential times; 0: there is none
            ("mean_down", np.float64),  # s
            ("failure_stream", np.uint64, (4,)),
            ("serial", np.int64),
            ("landing_first", np.int64),  # jobs that reached a cluster and wait for a rank
            ("landing_last", np.int64),
            ("recording", np.int64),  # 1: jobs that leave are put into the table of finished jobs
            ("finished", np.int64),  # rows of it
            ("splits", np.int64),  # of those, co-allocated ones: rows of the table of splits
            # the global scheduler
            ("place_at", np.int64),  # address of its compiled decision, 0 for Python
            ("largest_at", np.int64),  # address of the bound on sizes that it could place, or 0
            ("visits", np.int64),  # 1: it visits queues, of which each has a line
            ("visit_at", np.int64),  # address of its compiled choice of a queue, 0 for Python
            ("queues", np.int64),  # which job waits in which: ONE_QUEUE to BY_COMPONENTS
            ("collect", np.int64),  # 1: jobs are collected for rounds, never offered one by one
            ("notify", np.int64),  # 1: return when jobs were collected
            ("collected", np.int64),  # jobs collected since the scheduler was told
            ("awaits_room", np.int64),  # 1: who collects is told of processors that are free, too
            # times that a job may be overtaken, and that the head of its queue has been (`maxutil`,
            # section 2.4): of each job, `jumps` says how often more than those behind it
            ("max_jumps", np.int64),
            ("jumps", np.int64),
            (
                "backlog",
                np.int64,
            ),  # jobs that always wait globally, whatever their arrivals; 0: none
            ("cursor", np.int64),  # next job of the global queue to be offered, or NONE
            ("reconsider", np.int64),  # 1: an arrival has all waiting jobs offered
            ("by_size", np.int64),  # 1: what is refused is so for all larger jobs too
            ("offering_all", np.int64),  # 1: not just the job at the cursor is to be offered
            ("refused_size", np.int64),  # from which on jobs wait until all are offered again
            # jobs go before others beside what those have reserved: see
            # `grid.kernel.queueing.global_backfilling`
            ("most_reservations", np.int64),
            ("reservations", np.int64),  # rows of the table in use
            ("foreseen", np.int64),  # 1: the profile is that of what runs and is reserved
            ("moments", np.int64),  # rows of it in use
            ("soonest", np.float64),  # s, when a job that runs is expected to end
            ("passing", np.int64),  # 1: a pass over the queue is under way
            ("before", np.int64),  # reservations of jobs before the one at the cursor
            ("moment", np.int64),  # row that it is asked about, or NONE: it has not been tried
            ("too_large", np.int64),  # from this size on jobs cannot start now
            ("larger_wait", np.int64),  # 1: what is refused is so for all larger jobs too
            ("answered", np.int64),  # 1: the answer of Python is there
            ("job", np.int64),  # slot that a decision is about
            ("answer", np.float64),
            ("largest", np.int64),  # processors of the largest job that can ever run
            # what splitting a job makes of its execution time; 0: the links that it shares decide
            ("penalty", np.float64),
            ("known", known_dtype(capacity)),  # what it decides by
            # counts
            ("submitted", np.int64),
            ("started", np.int64),
            ("completed", np.int64),
            ("rejected", np.int64),
            ("restarted", np.int64),
            ("refused", np.int64),  # starts asked for where news of free processors was old
            ("instants", np.int64),
            ("statistics", STATISTICS),
            # of queues that are visited: sums over jobs that count and completed
            ("responses", np.float64, (2,)),  # s, of jobs of one component, and of more
            ("responded", np.int64, (2,)),
            ("queue_responses", np.float64, queues),  # s
            ("queue_responded", np.int64, queues),
            ("in_flight", np.int64),  # messages on their way
            ("advertising", np.int64),  # of these, advertisements
            ("messages", np.int64, (len(MESSAGE_KINDS),)),
            ("lost", np.int64),  # messages
            ("listener_at", np.int64),  # address of who is told of each message, 0: nobody
            ("sent", np.int64, clusters),  # of these, by the broker of each cluster
            ("received", np.int64, clusters),  # addressed to the broker of each cluster
            # queues: one for each cluster, then (but for the root) the global one
            ("root", np.int64, clusters),
            ("head", np.int64, clusters),  # slot of the first job
            ("waiting", np.int64, queues),  # jobs
            # the global queue in lines: one for each size of job, or line 0 for all
            ("lines_begin", np.int64),  # all lines before are empty
            ("lines_end", np.int64),  # lines from here on were always empty
            ("line_first", np.int64, (LINES,)),  # slot
            ("line_last", np.int64, (LINES,)),
            ("line_turn", np.int64, (LINES,)),  # serial of the first * LINES + line, or NOBODY
            # clusters
            ("size", np.int64, clusters),  # processors
            ("rate", np.float64, clusters),  # speed relative to rate 1
            ("up", np.int64, clusters),  # processors not failed
            ("remaining", np.int64, clusters),  # of these, do not go when their jobs end
            ("free", np.int64, clusters),  # processors
            ("area", np.float64, clusters),  # processor-seconds held until `changed`
            ("changed", np.float64, clusters),  # s
            ("running", np.int64, clusters),  # first running job, a list
            ("running_count", np.int64, clusters),
            ("done", np.int64, clusters),  # jobs completed
            ("restarts", np.int64, clusters),  # times that a failure threw a job back
            ("lost_work", np.float64, clusters),  # processor-seconds that such jobs had been held
            ("shrunk_at", np.float64, clusters),  # s, when fewer processors remained last
            ("shrunk", np.int64, clusters),  # 1: fewer remain from this instant on
            ("shrunk_any", np.int64),  # 1: some went, some time
            ("touched", np.int64, clusters),  # 1: something changed at this instant
            ("touched_list", np.int64, clusters),
            ("touched_count", np.int64),
            ("priority_at", np.int64, clusters),  # address of the compiled rank, 0 for Python
            # s, in which what a user has used counts half, 0: nobody is ranked by that; see
            # `grid.kernel.queueing.fair_share`
            ("half_life", np.float64, clusters),
            ("usage_changed", np.int64, clusters),  # first row of those changed, or NONE
            ("usage_at", np.int64),  # address of the table
            ("usage_room", np.int64),  # its length, a power of two, 0 without one
            ("usages", np.int64),  # rows in use
            # how it serves its queue, HEAD to CONSERVATIVE; if not by the head alone: see
            # `grid.kernel.queueing.backfilling`
            ("service", np.int64, clusters),
            ("may_be_overtaken", np.int64, clusters),  # times, each job; NOBODY: ever so often
            ("disturbed", np.int64, clusters),  # 1: processors changed since it served its queue
            ("newcomers", np.int64, clusters),  # jobs that have joined the queue since
            ("newcomer", np.int64, clusters),  # slot of the last of them
            ("shadow", np.float64, clusters),  # s, when the head of the queue shall start
            ("extra", np.int64, clusters),  # processors that it then leaves to others
            ("profile_length", np.int64),  # rows of the profile in use
            ("path", np.int64, (PATH,)),  # in a walk of a queue: the job it is at, and those above
            ("path_length", np.int64),
            ("planned", np.int64, clusters),  # 1: jobs start only when a plan names them
            ("replan", np.int64, clusters),  # 1: jobs or processors changed under the plan
            ("replan_any", np.int64),
            ("mispredicted", np.int64, clusters),  # 1: a job ended off its predicted time
            ("mispredicted_any", np.int64),
            ("first_processor", np.int64, clusters),  # index of its first processor
            ("latency", np.float64, clusters),  # s, one message to or from the global broker
            # brokers
            ("hops", np.int64, clusters),  # messages on the way from it to the global broker
            ("hop_latency", np.float64),  # s
            ("at_once", np.int64, clusters),  # 1: the global broker knows all of it at once
            ("truth", np.int64),  # 1: of every cluster, and nothing is advertised
            ("on_change", np.int64),  # 1: advertise at each change
            ("period", np.float64),  # s between advertisements, 0 if not periodic
            ("ticking", np.int64),  # 1: the next periodic advertisement is among the events
            ("tick", np.int64),  # 1: it is due at this instant
            ("loss", np.float64),  # probability that a message is lost on a hop
            ("loss_stream", np.uint64, (4,)),
            ("first_belief", np.int64, clusters),  # row of the broker above its own
            ("vacant_news", np.int64),
            ("news", np.int64),  # rows in use
            ("touched_at", np.float64, clusters),  # s, last change
            ("left", np.float64, clusters),  # processor-seconds of all jobs that are there
            ("finished_work", np.float64, clusters),  # processor-seconds, ever
            ("finished_jobs", np.int64, clusters),
            ("told_work", np.float64, clusters),  # of these, the global broker knows
            ("told_jobs", np.int64, clusters),
            # links: link i joins node i (clusters first, then switches) to its parent node
            ("parent", np.int64, clusters),  # node, or NONE for the central switch
            ("deep_first", np.int64, clusters),  # links, those farthest from the centre first
            ("capacity", np.float64, clusters),  # Mbit/s
            ("link_latency", np.float64, clusters),  # s
            ("demand", np.float64, clusters),  # Mbit/s
            ("saturated_links", np.int64, clusters),  # scratch of the saturation algorithm
            ("available", np.float64, clusters),
            ("required", np.float64, clusters),
            ("node_count", np.int64, clusters),
            # what distance costs jobs (`grid.platform.distance`); nothing if 0
            ("message_rate", np.float64),  # 1/s
            ("stages", np.int64),  # 1: data are staged
            ("staging_time", np.float64),  # s
            ("staging_data", np.float64),  # Mbit
            *link_sums(capacity),
            ("overloaded", np.int64),  # 1: the demand on some link is above its capacity
            ("sliding", np.int64),  # co-allocated jobs running
            ("sliding_first", np.int64),  # row of the one that ends first
            ("sliding_end", np.float64),  # s, when; infinity without one
        ],
        align=True,
    )
