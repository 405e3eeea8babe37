"""What the kernel carries between brokers, as messages: jobs, and what is told of them.

The messages that schedulers write themselves travel in `agents.mail`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from agents.messages import JobMetadata, JobSubmitted, JobTransfer
from agents.protocols import Grid
from grid.jobs import ANYWHERE

Slots = npt.NDArray[np.int64]


def announcements(model: Grid, slots: Slots) -> Iterator[JobSubmitted | JobMetadata]:
    """Yield by what messages the global scheduler has just been told of jobs: one an origin."""
    jobs = model.world.jobs
    origins = jobs["origin"][slots]
    for origin in np.unique(origins).tolist():
        if origin == ANYWHERE:
            kind: type[JobSubmitted] | type[JobMetadata] = JobSubmitted
            sender, delay = "users", 0.0
        else:
            kind = JobMetadata
            sender, delay = model.clusters[origin].name, model.clusters[origin].broker.latency
        yield kind(
            sender=sender,
            receiver=model.scheduler.name,
            sent=model.now - delay,
            due=model.now,
            jobs=tuple(jobs["number"][slots[origins == origin]].tolist()),
        )


def transfers(
    model: Grid, slots: Slots, clusters: Slots, after: float = 0.0
) -> Iterator[JobTransfer]:
    """Yield by what messages jobs go to clusters when the global broker has them go there.

    It does so `after` s from now. A job goes from the cluster that it was submitted through, and
    not at all if it stays there.
    """
    jobs = model.world.jobs
    origins = jobs["origin"][slots]
    for origin, cluster in sorted(set(zip(origins.tolist(), clusters.tolist(), strict=True))):
        if origin == cluster:
            continue
        sender = model.broker if origin == ANYWHERE else model.clusters[origin].broker
        to = model.clusters[cluster].broker
        sent = model.now + after + sender.latency  # the order has to come there first
        moved = slots[(origins == origin) & (clusters == cluster)]
        yield JobTransfer(
            sender=sender.name,
            receiver=to.name,
            sent=sent,
            due=sent + sender.latency + to.latency,
            jobs=tuple(jobs["number"][moved].tolist()),
        )
