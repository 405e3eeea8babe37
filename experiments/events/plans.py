"""What a seed schedule has for a job, what its plans are like, and for which jobs they wait."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from agents.messages import name_jobs
from experiments.events import words
from experiments.events.happenings import processors
from experiments.events.identity import Identity, identities
from experiments.events.message_events import Event
from experiments.events.words import Line, Place
from experiments.show.numbers import duration


def composition(where: str, space: Event, held: Mapping[Identity, int]) -> Iterator[Line]:
    """Tell why a cluster, or domain, gets jobs, into which space, and how they fill it.

    Parameters
    ----------
    where : str
    space : dict
        As a seed schedule has it (`agents.messages.Space`).
    held : mapping of Identity to int
        Processors of each job.
    """
    jobs = identities(space)
    level = "infinite" if space["level"] is None else f"{space['level']:.3g}"
    when = "now" if not space["start"] else f"in {duration(space['start'])}"
    free = f"{processors(space['processors'])} side by side, free {when}"
    what = "it alone" if len(jobs) == 1 else f"the composition of {name_jobs(tuple(jobs))}"
    least = f"{where} has the least workload level, {level} ({words.LEVEL})"
    yield Line(None, [least, f"and a space of {free}"])
    yield from words.tie(space.get("tied", 1), space.get("drawn", 1))
    yield Line(None, [f"{what} fills {sum(held[job] for job in jobs)} of them"])


class Plans:
    """Hears of the plans that one job is in while it waits, and what is told of the first."""

    def __init__(self) -> None:
        self._scheduler = ""
        self._places: list[Place] = []
        self._sizes: list[int] = []  # processors that it shall have by each, if that is told
        self._report: list[Line] = []

    def hear(self, event: Event, job: Identity, waiting: int) -> None:
        """Take a plan with the job in it, which may leave out some of those that wait there."""
        self._scheduler = event["sender"]
        at = identities(event).index(job)
        self._places.append(Place(event["time"], at + 1, max(waiting, len(event["jobs"]))))
        if "sizes" in event:
            self._sizes.append(event["sizes"][at])

    def report(self, event: Event) -> None:
        """Take a report of the cluster's scheduler, which follows a plan."""
        if len(self._places) == 1 and not self._report and event["time"] == self._places[0].time:
            told = f"{event['sender']}'s broker tells {event['receiver']}"
            cp = [] if event["cp"] is None else [f"CP {duration(event['cp'])}"]
            left = f"makespan left {duration(event['makespan'])}"
            self._report = [Line(event["time"], [told, left, *cp])]

    def take(self) -> list[Line]:
        """Return what is to be told of the plans so far, and forget them."""
        if not self._places:
            return []
        first, *between = self._places
        lines = [words.plan(self._scheduler, first), *self._report]
        if between:
            *between, last = between
            if between:
                lines.append(words.plans(self._scheduler, between))
            lines.append(words.plan(self._scheduler, last))
        if self._sizes:
            of_plans = [self._sizes[:1], *([self._sizes[1:-1]] if self._sizes[2:] else [])]
            of_plans += [self._sizes[-1:]] if self._sizes[1:] else []
            plans = [line for line in lines if line not in self._report]
            for line, sizes in zip(plans, of_plans, strict=True):
                least, most = min(sizes), max(sizes)
                line.parts.append(
                    f"on {processors(most) if least == most else f'{least} to {processors(most)}'}"
                )
        self._places, self._sizes, self._report = [], [], []
        return lines


class Gathering:
    """Hears which jobs a local scheduler waits for before it plans one job of a seed schedule.

    It plans those of a seed schedule together, and those of earlier ones before them
    (`agents.schedulers.PlanningScheduler`).

    Parameters
    ----------
    seed : event
        The job's own seed schedule.
    coming : mapping of Identity to float
        Jobs of seed schedules that are not yet there when the job comes, and when these are, s.

    Attributes
    ----------
    told : list of str
        What is to be told, as soon as the job is planned.

    Examples
    --------
    >>> seed, plan = {"jobs": [1, 2], "due": 5.0}, {"sender": "TITAN C1", "time": 9.0}
    >>> second, third = Identity(2), Identity(3)
    >>> gathering = Gathering(seed, {second: 5.0, third: 4.0, Identity(4): 6.0})
    >>> for job in (second, third):
    ...     gathering.land(job, 9.0, late=True)
    >>> gathering.plan(plan)
    >>> gathering.told
    ['TITAN C1 waits until all jobs of its seed schedule and of those before have come: jobs 2, 3']
    """

    def __init__(self, seed: Event, coming: Mapping[Identity, float]) -> None:
        self.told: list[str] = []
        self._own = {*identities(seed)}
        self._awaited = {job for job, due in coming.items() if due <= seed["due"]}
        self._late: list[Identity] = []
        self._last = 0.0  # when the last of them came

    def land(self, job: Identity, time: float, late: bool) -> None:
        """Take that another job came there, perhaps later than the one that this is about."""
        if job in self._awaited:
            self._awaited.remove(job)
            if late:
                self._late.append(job)
                self._last = time

    def plan(self, event: Event) -> None:
        """Take a plan with the job in it: the first ends the wait."""
        if self._late and event["time"] == self._last:
            before = "" if self._own.issuperset(self._late) else " and of those before"
            self.told = [
                f"{event['sender']} waits until all jobs of its seed schedule{before} have come: "
                f"{name_jobs(tuple(sorted(self._late)))}"
            ]
        self._awaited, self._late = set(), []
