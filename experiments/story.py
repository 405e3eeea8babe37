"""The story of one job in words: from its submission to its end, as far as it has come."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from agents.messages import JobTransfer, SeedSchedule
from agents.model import GridModel
from experiments.happenings import in_time, placement, processors
from grid.jobs import ANYWHERE
from grid.kernel.state import GLOBAL, LANDING, LOCAL, NONE, RUNNING, TRANSIT


class Line(NamedTuple):
    """A line of a story: when (s; None: not known), and its parts, the one that matters first."""

    time: float | None
    parts: list[str]


class Story(NamedTuple):
    """What became of a job so far, in order of time."""

    heading: str
    lines: list[Line]


class Place(NamedTuple):
    """When (s) a job had which place, from 1, among how many that waited."""

    time: float
    place: int
    waiting: int

    def __str__(self) -> str:
        return f"{ordinal(self.place)} of {self.waiting:,}"


@dataclass
class Known:
    """What is known of a job.

    Attributes
    ----------
    number : int
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
    transfer : JobTransfer or None
        By which it comes to its cluster.
    """

    number: int
    job: np.void | None = None
    slot: int = NONE
    parts: Mapping[int, int] = field(default_factory=dict)
    queued: Place | None = None
    planned: Place | None = None
    seed: SeedSchedule | None = None
    transfer: JobTransfer | None = None

    @property
    def over(self) -> bool:
        """Whether the job has left."""
        return self.job is not None and self.slot == NONE


def ordinal(number: int) -> str:
    """Return a number as a place in an order.

    Examples
    --------
    >>> [ordinal(number) for number in (1, 2, 3, 4, 11, 22, 113)]
    ['1st', '2nd', '3rd', '4th', '11th', '22nd', '113th']
    """
    last = 0 if number % 100 in (11, 12, 13) else number % 10
    return f"{number:,}{('th', 'st', 'nd', 'rd')[last] if last < 4 else 'th'}"


def tell(model: GridModel, names: Sequence[str], known: Known) -> Story:
    """Return the story of a job, given what clusters shall be called."""
    heading, job = f"Following job {known.number}", known.job
    if job is None:
        return Story(heading, [Line(None, ["not yet submitted"])])
    deadline = job["deadline"]
    by = "no deadline" if deadline == np.inf else f"deadline at {deadline:,.1f} s"
    return Story(
        f"{heading}: {processors(job['size'])}, {by}",
        [
            _submission(model, names, job),
            *_way_to_its_cluster(model, names, known, job),
            *(_end(names, known, job) if known.over else _present(model, names, known, job)),
        ],
    )


def _submission(model: GridModel, names: Sequence[str], job: np.void) -> Line:
    arrival, origin, world = float(job["arrival"]), int(job["origin"]), model.scheduler.name
    if origin == ANYWHERE:
        return Line(arrival, [f"submitted to {world}"])
    told = arrival + float(model.world.latency[origin])
    heard = f"whose broker tells {world} {_at(told, arrival)}"
    return Line(arrival, [f"submitted through {names[origin]}", heard])


def _way_to_its_cluster(
    model: GridModel, names: Sequence[str], known: Known, job: np.void
) -> Iterator[Line]:
    """Tell who sent the job where, and what was planned for it there."""
    world, cluster = model.scheduler.name, int(job["cluster"])
    if (seed := known.seed) is not None:
        words = f"round {seed.round:,}: {world} allocates it to {names[cluster]}"
        place = Place(seed.sent, seed.jobs.index(known.number) + 1, len(seed.jobs))
        among = "alone in a" if len(seed.jobs) == 1 else f"{place} in"
        yield Line(seed.sent, [words, f"{among} seed schedule"])
    if (transfer := known.transfer) is not None:
        sender = world if job["origin"] == ANYWHERE else names[job["origin"]]
        words = f"{sender}'s broker sends it to {names[cluster]}"
        arrives = f"where it arrives {_at(transfer.due, transfer.sent)}"
        yield Line(transfer.sent, [words, arrives])
    elif seed is not None:
        yield Line(seed.due, [f"stays at {names[cluster]}, through which it was submitted"])
    elif cluster != NONE:
        yield Line(None, [f"{world} sends it to {names[cluster]}"])
    if (plan := known.planned) is not None:
        scheduler = f"{model.clusters[cluster].scheduler.called()} {names[cluster]}"
        yield Line(plan.time, [f"{scheduler} plans it {plan} waiting"])


def _present(model: GridModel, names: Sequence[str], known: Known, job: np.void) -> Iterator[Line]:
    """Tell what the job waits for, or where it runs."""
    status, cluster = int(job["status"]), int(job["cluster"])
    if status >= RUNNING:
        yield _start(names, known, job)
        return
    if status in (TRANSIT, LANDING):
        words = ["is on its way"]
    elif status == GLOBAL and model.scheduler.collects:
        waiting = int(model.world.waiting[-1])
        words = [f"waits for {model.scheduler.name}'s next round", f"one of {waiting:,} jobs"]
    elif known.queued is not None:
        where = names[cluster] if status == LOCAL else model.scheduler.name
        words = [f"waits at {where}", f"{known.queued} in line"]
    else:
        return
    if (seed := known.seed) is not None:
        start = seed.sent + seed.schedule[seed.jobs.index(known.number)].start
        expects = "expects" if start >= model.now else "expected"
        words.append(f"{model.scheduler.name} {expects} it to start at {start:,.1f} s")
    yield Line(model.now, words)


def _start(names: Sequence[str], known: Known, job: np.void) -> Line:
    start = float(job["start"])
    verb = "starts again" if job["restarts"] else "starts"
    if len(known.parts) == 1:
        where = f"{processors(job['size'])} of {placement(known.parts, names)}"
    else:
        where = placement(known.parts, names)
    waited = start - job["arrival"]
    words = [f"{verb} on {where}"]
    words.append(f"{waited:,.1f} s after its submission" if waited else "at once")
    if not known.over:
        words.append(f"to end at {job['end']:,.1f} s")
    return Line(start, words)


def _end(names: Sequence[str], known: Known, job: np.void) -> Iterator[Line]:
    if np.isnan(job["start"]):
        yield Line(float(job["arrival"]), ["is rejected", "larger than what can ever run"])
        return
    yield _start(names, known, job)
    yield Line(float(job["finish"]), [f"finishes{in_time(job)}"])


def _at(time: float, since: float) -> str:
    return f"at {time:,.1f} s" if time > since else "at once"
