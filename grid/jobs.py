"""Jobs: the record every part of the product shares, and what may be said of one.

A rigid parallel job is the 4-tuple (arrival, size, execution time on each cluster, soft deadline)
of `muscle`, section 2, with the fields that co-allocation and queue policies need beside it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

MAX_COMPONENTS = 16
"""Most components a job request may name."""

TOTAL, UNORDERED, ORDERED = 0, 1, 2
REQUEST_KINDS = ("total", "unordered", "ordered")
"""How a request names its components (`maxutil`): only their sum, in any order, or by cluster."""

SHORTEST_RUN = 1e-6
"""Shortest run time of a job, s; below, ratios to run times could be beyond all numbers."""

LONGEST = 1e12
"""Longest time that is taken for one, s: some 30,000 years."""

WIDEST = 1e12
"""Most bandwidth that is taken for one, Mbit/s."""

ANYWHERE = -1
"""Origin of a job that its user submitted to the global scheduler."""

UNKNOWN = -1
"""User, application or wait of a job of which the input does not tell it."""

BY_RATES = -1
"""In place of a row: execution times of a job are its run time over the rates of the clusters."""

FILED = ("partition", "account", "qos")
"""What sites file jobs under: where they queue, who pays, and what service they get."""

JOB = np.dtype(
    [
        ("number", np.int64),  # as in the input
        ("arrival", np.float64),  # s
        ("size", np.int64),  # processors
        ("runtime", np.float64),  # s, on a cluster of rate 1
        ("deadline", np.float64),  # s, absolute; inf without one
        ("requested_time", np.float64),  # s, on a cluster of rate 1
        ("origin", np.int64),  # index of the cluster it was submitted through, or ANYWHERE
        ("request", np.int64),  # index into REQUEST_KINDS
        ("components", np.int64, (MAX_COMPONENTS,)),  # processors each, 0 after the last; if
        # ordered, of each cluster, 0 where the job has none
        ("computation_fraction", np.float64),  # share of the run time spent computing
        ("ppbw", np.float64),  # Mbit/s, bandwidth that each processor needs
        ("user", np.int64),  # number of who submitted it, or UNKNOWN
        ("application", np.int64),  # number of what it runs, or UNKNOWN
        ("problem_size", np.float64),  # n, how much that is given; 0 if unknown
        ("times_row", np.int64),  # its row in a table of execution times, or BY_RATES
        ("recorded_wait", np.float64),  # s, from arrival to start as the input says, or UNKNOWN
        # numbers of what the site filed it under, or UNKNOWN; names are the workload's
        ("partition", np.int64),
        ("account", np.int64),
        ("qos", np.int64),
    ],
    align=True,
)

JobArray = npt.NDArray[np.void]
"""A structured array of dtype `JOB`: one row a job, one named column a property."""


def job_table(count: int) -> JobArray:
    """Return `count` rows of jobs with every optional property at its neutral value.

    Examples
    --------
    >>> jobs = job_table(2)
    >>> jobs["number"].tolist(), jobs["deadline"].tolist(), jobs["origin"].tolist()
    ([1, 2], [inf, inf], [-1, -1])
    """
    jobs = np.zeros(count, JOB)
    jobs["number"] = np.arange(1, count + 1)
    jobs["deadline"] = np.inf
    jobs["requested_time"] = np.inf
    jobs["origin"] = ANYWHERE
    jobs["user"] = jobs["application"] = jobs["recorded_wait"] = UNKNOWN
    for name in FILED:
        jobs[name] = UNKNOWN
    jobs["times_row"] = BY_RATES
    jobs["computation_fraction"] = 1.0
    return jobs
