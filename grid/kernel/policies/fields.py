"""What a policy may read, and what it may write: the one table of all such fields.

The records that compiled policies get are made from it (`grid.kernel.policies.policy_view`,
`grid.kernel.policies.decisions`), the views that Python gets are checked against it
(`agents.view`), and the page ``docs/policy-fields.md`` prints it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from grid.jobs import MAX_COMPONENTS

PYTHON, COMPILED, BOTH = "Python", "compiled", "both"
"""Tiers: where a field can be read."""

TRUE, KNOWN, PREDICTED = "true", "known", "predicted"
"""How far a field can be relied on: always; as of what brokers have told; not at all."""

ONCE, CLUSTER, LINK, QUEUE = "", "cluster", "link", "queue"
"""What a column of a record has an element for, beside a fixed length."""


class Field(NamedTuple):
    """A field that policies read, or write.

    Attributes
    ----------
    name : str
    type : type
        Of a number in compiled records; in Python, that which holds it.
    unit : str
        Empty for indices, codes and texts.
    tier : str
        PYTHON, COMPILED or BOTH.
    truth : str
        TRUE, KNOWN (the past, if news takes time) or PREDICTED.
    meaning : str
        In the page and in docstrings.
    each : str or int
        For compiled records: what a column has an element for, or its length.
    """

    name: str
    type: Any
    unit: str
    tier: str
    truth: str
    meaning: str
    each: str | int = ONCE

    def column(self, capacity: int) -> tuple[Any, ...]:
        """Return the field of a dtype with room for so many clusters and links."""
        lengths = {CLUSTER: capacity, LINK: capacity, QUEUE: capacity + 1}
        length = lengths.get(self.each, self.each) if isinstance(self.each, str) else self.each
        return (self.name, self.type, (length,)) if length else (self.name, self.type)


_INT, _REAL = np.int64, np.float64

JOBS = (
    Field("slot", _INT, "", PYTHON, TRUE, "index in the world's table: its identity in messages"),
    Field("number", _INT, "", BOTH, TRUE, "number, as in the workload"),
    Field("arrival", _REAL, "s", BOTH, TRUE, "when it was submitted"),
    Field("size", _INT, "processors", BOTH, TRUE, "number that it needs, all at once"),
    Field("predicted_runtime", _REAL, "s", BOTH, PREDICTED, "run time on a cluster of rate 1"),
    Field(
        "predicted_time", _REAL, "s", BOTH, PREDICTED,
        "execution time on the cluster that it was last sent to; NaN before",
    ),
    Field("deadline", _REAL, "s", BOTH, TRUE, "soft deadline, absolute; infinite without one"),
    Field(
        "requested_time", _REAL, "s", BOTH, TRUE,
        "time that its user requested, on a cluster of rate 1; infinite without one",
    ),
    Field(
        "origin", _INT, "", BOTH, TRUE,
        "index of the cluster that it was submitted through; -1: the global scheduler",
    ),
    Field("cluster", _INT, "", BOTH, TRUE, "index of the cluster that it was sent to; -1 before"),
    Field(
        "restarts", _INT, "times", BOTH, TRUE,
        "how often it started again, after a failure or a preemption",
    ),
    Field(
        "computation_fraction", _REAL, "1", BOTH, TRUE,
        "share of its run time that is spent computing; the rest communicates",
    ),
    Field("ppbw", _REAL, "Mbit/s", BOTH, TRUE, "bandwidth that each of its processors needs"),
    Field("user", _INT, "", BOTH, TRUE, "number of its user; -1: unknown"),
    Field("application", _INT, "", BOTH, TRUE, "number of its application; -1: unknown"),
    Field(
        "recorded_wait", _REAL, "s", BOTH, TRUE,
        "how long it waited when it was recorded, by its log; -1: unknown",
    ),
    Field(
        "request", _INT, "", COMPILED, TRUE,
        "how it describes its components: 0 only their sum, 1 in any order, 2 by cluster",
    ),
    Field(
        "components", _INT, "processors", COMPILED, TRUE,
        "size of each component, 0 after the last; by cluster if `request` is 2", MAX_COMPONENTS,
    ),
)  # fmt: skip
"""Of `Job`, and of the record `job`."""

CLUSTERS = (
    Field("index", _INT, "", PYTHON, TRUE, "index in all lists of clusters"),
    Field("name", str, "", PYTHON, TRUE, "name, as in the platform"),
    Field("size", _INT, "processors", BOTH, TRUE, "all of its processors, up or not", CLUSTER),
    Field(
        "rate", _REAL, "1", BOTH, PREDICTED,
        "speed relative to rate 1, for the job that is decided about: its "
        "`predicted_runtime / rate` is the execution time there", CLUSTER,
    ),
    Field("free", _INT, "processors", BOTH, KNOWN, "free processors", CLUSTER),
    Field(
        "up", _INT, "processors", BOTH, KNOWN,
        "processors that have not failed or left, and will not leave when their jobs end", CLUSTER,
    ),
    Field("waiting", _INT, "jobs", BOTH, KNOWN, "jobs that wait there", CLUSTER),
    Field(
        "unfinished", _INT, "jobs", BOTH, KNOWN,
        "jobs sent there and not known to have ended, including those just sent", CLUSTER,
    ),
    Field(
        "work", _REAL, "processor-seconds", BOTH, PREDICTED,
        "sum of `predicted_time * size` of the unfinished jobs, counted in full until they end",
        CLUSTER,
    ),
    Field(
        "load", _REAL, "s", BOTH, PREDICTED,
        "work per processor, `work / up`; infinite if no processor is up", CLUSTER,
    ),
    Field(
        "age", _REAL, "s", PYTHON, TRUE,
        "age of the latest information on it; 0 if information is immediate",
    ),
    Field(
        "at", _REAL, "s", COMPILED, TRUE,
        "time of the latest information on it, which is still true if information is immediate",
        CLUSTER,
    ),
    Field(
        "links", tuple, "", PYTHON, TRUE, "links on its way to the central switch, its own first"
    ),
)  # fmt: skip
"""Of `KnownCluster`, and of the record `known`: an element for each cluster."""

LINKS = (
    Field("index", _INT, "", PYTHON, TRUE, "index in all lists of links"),
    Field("capacity", _REAL, "Mbit/s", BOTH, TRUE, "bandwidth; infinite without a limit", LINK),
    Field(
        "demand", _REAL, "Mbit/s", BOTH, TRUE,
        "bandwidth that running co-allocated jobs need on it", LINK,
    ),
    Field(
        "parent", _INT, "", BOTH, TRUE,
        "next link on the way to the central switch: in Python the link or None, compiled its "
        "index or -1", LINK,
    ),
    Field(
        "deep_first", _INT, "", COMPILED, TRUE,
        "indices of the links, farthest from the central switch first", LINK,
    ),
)  # fmt: skip
"""Of `KnownLink`, and of the record `known`: an element for each link. Link i < `clusters` is that
of cluster i; the others are those of switches."""

QUEUES = (
    Field(
        "event", _INT, "", BOTH, TRUE,
        "the last event: in Python a job has 'arrived' or 'departed', or the tried head of a "
        "queue has 'started' or was 'refused'; compiled 1 to 4 in this order, 0 for nothing",
    ),
    Field(
        "queue", _INT, "", BOTH, TRUE,
        "queue that the job arrived in, or whose head was tried; the global one comes after "
        "those of the clusters",
    ),
    Field(
        "released", _INT, "", BOTH, TRUE,
        "clusters that the departed job held, its largest component first; compiled, -1 follows",
        MAX_COMPONENTS,
    ),
    Field("jobs", list, "jobs", PYTHON, TRUE, "jobs in each queue"),
    Field("queued", _INT, "jobs", COMPILED, TRUE, "jobs in each queue", QUEUE),
    Field(
        "head_arrival", _REAL, "s", BOTH, TRUE,
        "arrival of the first job of each queue; infinite without one", QUEUE,
    ),
)  # fmt: skip
"""Of `KnownQueues`, and of the record `known`, for policies that visit queues."""

SCALARS = (
    Field("now", _REAL, "s", COMPILED, TRUE, "simulated time; in Python `self.model.now`"),
    Field(
        "clusters", _INT, "", COMPILED, TRUE, "number of clusters; in Python `len(self.clusters)`"
    ),
    Field("links", _INT, "", COMPILED, TRUE, "number of links"),
)
"""Of the record `known`, once."""

WRITTEN = (
    Field(
        "take", _INT, "processors", COMPILED, TRUE,
        "processors of each cluster that the job gets from now on, if `place` returns START",
        CLUSTER,
    ),
    Field(
        "stream", np.uint64, "", COMPILED, TRUE, "random numbers, for `grid.streams.uniform`", 4
    ),
)  # fmt: skip
"""Of the record `known`: what a compiled policy writes."""


INSTEAD = {"runtime": "predicted_runtime", "execution_time": "predicted_time"}
"""What policies read of a job in place of the truth."""


def of_tier(fields: tuple[Field, ...], tier: str) -> list[Field]:
    """Return the fields that a tier has."""
    return [field for field in fields if field.tier in (tier, BOTH)]


def meaning(fields: tuple[Field, ...], name: str) -> str:
    """Return what a field means, as a docstring: a sentence with its unit."""
    (field,) = (each for each in fields if each.name == name)
    unit = f" ({field.unit})" if len(field.unit) > 1 else ""
    predicted = ", as predicted" if field.truth == PREDICTED else ""
    return f"{field.meaning[0].upper()}{field.meaning[1:]}{predicted}{unit}."
