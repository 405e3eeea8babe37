"""The story of one job in words: from its submission to its end, as far as it has come."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from agents.messages import JobTransfer, SeedSchedule
from agents.model import GridModel
from experiments.events import words
from experiments.events.happenings import in_time
from experiments.events.identity import Identity
from experiments.events.words import Line, Place, Story
from experiments.run.totals import deadlines_from
from experiments.show.numbers import instant
from grid.jobs import ANYWHERE
from grid.kernel.state import GLOBAL, LANDING, LOCAL, NONE, RUNNING, TRANSIT
from grid.workloads.synthetic import BatchWorkload
from grid.world.validation import at_arrival, why_rejected


@dataclass
class Known:
    """What is known of a job.

    Attributes
    ----------
    identity : Identity
    name : str
        In words.
    job : record or None
        Its row among the world's slots, or among the jobs that left; None before its arrival.
    slot : int
        Where the world keeps it; `NONE` before and after that.
    parts : mapping of int to int
        Processors that it holds, or held, on each cluster.
    queued : Place or None
        In the queue where it waits.
    planned : Place or None
        In the first plan with it that its cluster's scheduler made.
    seed : SeedSchedule or None
        The one that it is in.
    in_seed : int
        Its place there, from 0.
    transfer : JobTransfer or None
        By which it comes to its cluster.
    """

    identity: Identity
    name: str
    job: np.void | None = None
    slot: int = NONE
    parts: Mapping[int, int] = field(default_factory=dict)
    queued: Place | None = None
    planned: Place | None = None
    seed: SeedSchedule | None = None
    in_seed: int = 0
    transfer: JobTransfer | None = None

    @property
    def over(self) -> bool:
        """Whether the job has left."""
        return self.job is not None and self.slot == NONE


def tell(model: GridModel, names: Sequence[str], known: Known) -> Story:
    """Return the story of a job, given what clusters shall be called."""
    heading, job = f"Following {known.name}", known.job
    if job is None:
        return Story(heading, [Line(None, ["not yet submitted"])])
    deadlines = deadlines_from(model.workload.drawn_deadlines)
    return Story(
        f"{heading}: {words.needs(int(job['size']), float(job['deadline']), deadlines)}",
        [
            _submission(model, names, job),
            *_way_to_its_cluster(model, names, known, job),
            *(_end if known.over else _present)(model, names, known, job),
        ],
    )


def _silent(model: GridModel) -> bool:
    """Return whether the global scheduler has but one cluster to send jobs to."""
    return len(model.clusters) == 1 and model.scheduler.only_chooses


def _submission(model: GridModel, names: Sequence[str], job: np.void) -> Line:
    arrival, origin, world = float(job["arrival"]), int(job["origin"]), model.scheduler.name
    if origin == ANYWHERE:
        world = names[0] if _silent(model) else world
        line = words.submission(world, None, arrival, arrival)
    else:
        told = arrival + float(model.world.state.latency[origin])
        line = words.submission(world, names[origin], arrival, told)
    line.parts.extend(words.can_run_on(model.world.jobs.only_on(job)))
    line.parts.extend(words.may_have(model.world.jobs.sizes_of(job)))
    return line


def _way_to_its_cluster(
    model: GridModel, names: Sequence[str], known: Known, job: np.void
) -> Iterator[Line]:
    """Tell who sent the job where, and what was planned for it there."""
    world, cluster = model.scheduler.name, int(job["cluster"])
    if (seed := known.seed) is not None:
        place = Place(seed.sent, known.in_seed + 1, len(seed.jobs))
        act = words.act(seed.round, isinstance(model.workload, BatchWorkload))
        yield words.allocation(seed.sender, names[cluster], act, place)
    if (transfer := known.transfer) is not None:
        sender = world if job["origin"] == ANYWHERE else names[job["origin"]]
        yield words.sending(sender, names[cluster], transfer.sent, transfer.due)
    elif seed is not None:
        yield words.staying(names[cluster], seed.due)
    elif cluster != NONE and not _silent(model):
        yield Line(None, [f"{world} sends it to {names[cluster]}"])
    if (plan := known.planned) is not None:
        scheduler = f"{model.clusters[cluster].scheduler.called()} {names[cluster]}"
        yield words.plan(scheduler, plan)


def _present(model: GridModel, names: Sequence[str], known: Known, job: np.void) -> Iterator[Line]:
    """Tell what the job waits for, or where it runs."""
    status, cluster = int(job["status"]), int(job["cluster"])
    if status >= RUNNING:
        yield _start(names, known, job)
        return
    if status in (TRANSIT, LANDING):
        parts = ["is on its way"]
    elif status == GLOBAL and model.scheduler.collects:
        waiting = int(model.world.state.waiting[-1])
        parts = [
            f"waits for {model.scheduler.name} to say where it goes",
            f"one of {waiting:,} jobs" if waiting > 1 else "alone",
        ]
    elif known.queued is not None:
        where = names[cluster] if status == LOCAL else model.scheduler.name
        parts = [f"waits at {where}", f"{known.queued} in line"]
        if status == LOCAL and (why := model.clusters[cluster].scheduler.hindrance(known.slot)):
            parts.append(f"never starts there: {why}")
    else:
        return
    if (seed := known.seed) is not None:
        start = seed.sent + seed.schedule[known.in_seed].start
        expects = "expects" if start >= model.now else "expected"
        parts.append(f"{model.scheduler.name} {expects} it to start at {instant(start)}")
    yield Line(model.now, parts)


def _start(names: Sequence[str], known: Known, job: np.void) -> Line:
    line = words.start(
        int(job["size"]),
        [(names[cluster], held) for cluster, held in known.parts.items()],
        bool(job["restarts"]),
        float(job["start"]),
        float(job["arrival"]),
        float(job["staging"]),
    )
    if not known.over and job["end"] < words.NOBODY_KNOWS:
        line.parts.append(f"to end at {instant(float(job['end']))}")
    return line


def _end(model: GridModel, names: Sequence[str], known: Known, job: np.void) -> Iterator[Line]:
    if np.isnan(job["start"]):
        why = why_rejected(model.world.storage, job)
        yield words.rejection(float(job["arrival"]) if at_arrival(why) else None, why)
        return
    yield _start(names, known, job)
    yield Line(float(job["finish"]), [f"finishes{in_time(job)}"])
