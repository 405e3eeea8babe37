"""What the grid around a job is like, as far as the events of a run that were heard say."""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import takewhile

from agents.messages import name_jobs
from experiments.events import job_events, words
from experiments.events.happenings import processors
from experiments.events.identity import Identity, identities, identity
from experiments.events.log import PLANNED
from experiments.events.message_events import LOST, Event, kind_of
from experiments.show.labels import away_words
from experiments.show.numbers import duration, instant
from grid.kernel.state import ADVERTISED, MESSAGE_KINDS

_REPORTS = 10_000
"""Reports of local schedulers that are remembered: many may come in the time of one latency."""


@dataclass
class _Room:
    """What has made room on a cluster at one instant.

    Attributes
    ----------
    time : float
        The instant, s.
    ended, thrown_back, preempted, left : list of Identity
        Jobs that have ended there, that a failure or another job has thrown back, and that have
        left its queue for good.
    back : int
        Processors that have come up.
    """

    time: float
    ended: list[Identity] = field(default_factory=list)
    thrown_back: list[Identity] = field(default_factory=list)
    preempted: list[Identity] = field(default_factory=list)
    left: list[Identity] = field(default_factory=list)
    back: int = 0


class Surroundings:
    """The clusters, and what the global scheduler has heard of them.

    Parameters
    ----------
    sizes : mapping of str to int
        Processors of each cluster.
    at_once, in_no_time : container of str
        Clusters of which the global scheduler knows the present state; and others whose
        advertisements take no time, so that the log does not say if a decision of the same instant
        came before.
    batch : bool
        Mode `batch`: jobs of a round are submitted at one instant, when all before have left.
    goes_by : str
        See the attribute.
    whole, in_turn : bool
        Each job runs on one cluster; a job may have to wait for those that came before it.

    Attributes
    ----------
    goes_by : str
        What the global scheduler decides by beside what it knows of clusters, in words.
    free, away : dict of str to int
        Processors of each cluster that are free, and that are away: drained, failed or not yet
        there.
    waiting : dict of str to dict of Identity to float
        Jobs that wait at each cluster, and since when, s.
    coming : dict of str to dict of Identity to float
        Jobs of seed schedules that are not yet at their cluster, and when their schedule is, s.
    asking : dict of Identity to int
        Processors of each job that the global scheduler knows and has not sent, in order.
    """

    def __init__(
        self,
        sizes: Mapping[str, int],
        at_once: Container[str] = (),
        in_no_time: Container[str] = (),
        batch: bool = False,
        goes_by: str = "",
        whole: bool = False,
        in_turn: bool = True,
    ) -> None:
        self.goes_by = goes_by
        self._whole, self._in_turn = whole, in_turn
        self.free = dict(sizes)
        self.away = dict.fromkeys(sizes, 0)
        self.waiting: dict[str, dict[Identity, float]] = {name: {} for name in sizes}
        self.coming: dict[str, dict[Identity, float]] = {name: {} for name in sizes}
        self.asking: dict[Identity, int] = {}
        self._needs: dict[Identity, int] = {}  # processors of each job that has not left
        self._batch, self._round, self._ran = batch, 1, False  # if a job of the round finished
        self._submitted = 0.0  # when a job last was, s
        self._made: dict[str, _Room] = {}
        self._touched: dict[str, float] = {}  # when jobs or processors last came or went, s
        self._sizes = sizes
        self._only_on: dict[Identity, list[str]] = {}  # of jobs that cannot run everywhere
        self._at_once, self._in_no_time = at_once, in_no_time
        self._lost: dict[str, float] = {}  # state, as of when (s), that nobody has told of since
        self._placed = False  # whether the global scheduler itself started the last job
        self._reports = deque[tuple[float, float, str]](maxlen=_REPORTS)
        self._running: dict[Identity, dict[str, int]] = {}
        self._reported: dict[str, deque[Event]] = {name: deque() for name in sizes}
        self._advertised: dict[str, Event] = {}

    def hear(self, event: Event) -> None:
        """Take the next event."""
        kind = kind_of(event)
        self._ask(kind, event)
        if kind == job_events.SUBMITTED:
            if event["time"] > self._submitted and self._ran:  # one that no job ran in is none
                self._round, self._ran = self._round + 1, False
            self._submitted = event["time"]
        elif kind == job_events.LANDED:
            self.waiting[event["receiver"]][identity(event)] = event["time"]
            self._touched[event["receiver"]] = event["time"]
            self.coming[event["receiver"]].pop(identity(event), None)
        elif kind == "SeedSchedule" and event["receiver"] in self.coming:
            due: float = event["due"]
            self.coming[event["receiver"]] |= dict.fromkeys(identities(event), due)
        elif kind == job_events.STARTED:
            self._running[identity(event)] = event["placement"]
            landed = (identity(event) in self.waiting[name] for name in event["placement"])
            self._placed = not any(landed)
            for name, held in event["placement"].items():
                self.waiting[name].pop(identity(event), None)
                self.free[name] -= held
        elif kind in (job_events.RETURNED, job_events.REJECTED):
            for jobs in self.coming.values():
                jobs.pop(identity(event), None)
            for name, jobs in self.waiting.items():
                if jobs.pop(identity(event), None) is not None and kind == job_events.REJECTED:
                    self._touched[name] = event["time"]
                    self._room(name, event["time"]).left.append(identity(event))
        elif kind in (job_events.FINISHED, job_events.RESTARTED, job_events.PREEMPTED):
            self._ran |= kind == job_events.FINISHED
            for name, held in self._running.pop(identity(event), {}).items():
                self.free[name] += held
                self._touched[name] = event["time"]
                made = self._room(name, event["time"])
                gone = {job_events.FINISHED: made.ended, job_events.PREEMPTED: made.preempted}
                gone.get(kind, made.thrown_back).append(identity(event))
        elif kind == job_events.RESOURCES:
            name = event["cluster"]
            self._touched[name] = event["time"]
            more = self.away[name] - (self._sizes[name] - event["up"])
            self.away[name] -= more
            self.free[name] += more
            self._room(name, event["time"]).back += max(more, 0)
        elif kind == job_events.ADVERTISED:
            self._advertised[event["sender"]] = event
            if event["sent"] >= self._lost.get(event["sender"], 0.0):
                self._lost.pop(event["sender"], None)
        elif kind == LOST and event["kind"] == MESSAGE_KINDS[ADVERTISED]:
            self._lost[event["cluster"]] = event["at"]
        elif kind == "ScheduleReport":
            left = f"makespan left {duration(event['makespan'])}"
            self._reports.append(
                (event["due"], event["makespan"], f"{event['sender']} tells {left}")
            )
            if event["sender"] in self._reported:  # else it is of a domain
                self._reported[event["sender"]].append(event)

    def _ask(self, kind: str, event: Event) -> None:
        """Take note of who waits for the global scheduler."""
        if kind == job_events.KNOWN:
            self.asking[identity(event)] = self._needs[identity(event)]
        elif kind == job_events.SUBMITTED:
            self._needs[identity(event)] = event["size"]
            if "clusters" in event:
                self._only_on[identity(event)] = event["clusters"]
        elif kind in (job_events.SENT, job_events.STARTED):
            self.asking.pop(identity(event), None)
        elif kind in (job_events.FINISHED, job_events.REJECTED):
            self.asking.pop(identity(event), None)
            self._needs.pop(identity(event), None)
            self._only_on.pop(identity(event), None)
        elif kind == "SeedSchedule":
            for job, resources in zip(identities(event), event["resources"], strict=True):
                self.asking.pop(job, None)
                self._needs[job] = len(resources)
        elif kind == PLANNED and "sizes" in event:
            self._needs |= zip(identities(event), event["sizes"], strict=True)

    def act(self, number: int) -> str:
        """Return what the present allocation is called, given its number."""
        return words.act(number, self._batch, self._round)

    def made_room(
        self, clusters: Iterable[str], time: float, lacking: bool = True
    ) -> Iterator[str]:
        """Tell what has made room on clusters at a time (s), the present one.

        Perhaps only what has happened there, for nothing was `lacking` for whom it is told of.
        """
        rooms = [self._room(cluster, time) for cluster in clusters]
        for what, jobs in (
            ("ended", {job for room in rooms for job in room.ended}),
            ("lost processors that failed", {job for room in rooms for job in room.thrown_back}),
            ("been preempted", {job for room in rooms for job in room.preempted}),
            ("left the queue", {job for room in rooms for job in room.left}),
        ):
            if jobs:
                have, make = ("has", "makes") if len(jobs) == 1 else ("have", "make")
                so = f" and {make} room" if lacking else ""
                yield f"{name_jobs(tuple(sorted(jobs)))} {have} just {what}{so}"
        if back := sum(room.back for room in rooms):
            were, make = ("was", "makes") if back == 1 else ("were", "make")
            so = f"{make} room" if lacking else f"{'is' if back == 1 else 'are'} there"
            yield f"{processors(back)} that {were} away until then {so}"

    def _room(self, cluster: str, time: float) -> _Room:
        room = self._made.get(cluster)
        if room is None or room.time != time:
            room = self._made[cluster] = _Room(time)
        return room

    def touched(self, cluster: str, time: float) -> bool:
        """Tell whether jobs or processors came to a cluster, or left it, at a time, s."""
        return self._touched.get(cluster) == time

    def holders(self, cluster: str) -> list[Identity]:
        """Return the jobs that run on a cluster."""
        return [job for job, held in self._running.items() if cluster in held]

    def has_parts(self, cluster: str) -> bool:
        """Tell whether jobs that are split run on a cluster."""
        return any(len(self._running[job]) > 1 for job in self.holders(cluster))

    def room(self, cluster: str) -> str:
        """Return how many of a cluster's processors are free, and how many away, in words."""
        free = f"{self.free[cluster]:,} of its {processors(self._sizes[cluster])} free"
        return f"{free}, {self.away[cluster]:,} away" if self.away[cluster] else free

    def reported(self, time: float) -> str:
        """Return which local scheduler's report just came (s), that of the least left, in words."""
        least = min((told[1:] for told in self._reports if told[0] == time), default=(0.0, ""))
        return least[1]

    def report(self, cluster: str, time: float) -> tuple[float, str] | None:
        """Return the last report of a cluster that has come, and when, s."""
        reports = self._reported[cluster]
        while len(reports) > 1 and reports[1]["due"] <= time:
            reports.popleft()
        if reports and reports[0]["due"] <= time:
            report = reports[0]
            told = (
                f"makespan left {duration(report['makespan'])}, {report['unfinished']} unfinished"
            )
            return report["due"], _as_of("report", cluster, report, told)
        return None

    def view(self, cluster: str, time: float) -> tuple[float, str] | None:
        """Return what the global scheduler knows of a cluster at a time (s), and since when.

        It is asked at a decision: starts and advertisements of that instant come later in the log.
        """
        heard = self._advertised.get(cluster)
        if cluster in self._at_once:
            waiting = 0 if heard is None else heard["waiting"]
            told = f"{processors(self.free[cluster])} free, {waiting} waiting"
            return time, f"sees {cluster} as it is then: {told}"
        if heard is None:
            return None
        told = f"{processors(heard['free'])} free, {heard['waiting']} waiting"
        return heard["time"], _as_of("advertisement", cluster, heard, told)

    def is_seen(self, cluster: str) -> bool:
        """Tell whether the global scheduler knows the present state of a cluster."""
        return cluster in self._at_once

    def with_room(self, job: Identity, size: float) -> list[str]:
        """Return the clusters on which a job can run that have as many processors free."""
        only = self._only_on.get(job, self.free)
        return [name for name, free in self.free.items() if free >= size and name in only]

    def now_away(self) -> Iterator[str]:
        """Tell how many processors are away now."""
        if away := away_words(self.away):
            yield away

    def not_held(self, job: Identity) -> Iterator[str]:
        """Tell what is free for a job that waits, and who is too large for all that is up.

        Which of those that have waited for longer hold it back, the log does not say.
        """
        if job not in self.asking:
            return
        if enough := self.with_room(job, self.asking[job]):
            yield f"{enough[0]} has {processors(self.free[enough[0]])} free"
        elif self._too_large(job):
            yield "it is too large for what is up"
        longer = takewhile(lambda each: each != job, self.asking if self._in_turn else ())
        if large := [each for each in longer if self._too_large(each)]:
            have, are = ("has", "is") if len(large) == 1 else ("have", "are")
            yield f"{name_jobs(tuple(large))} {have} waited there for longer"
            yield f"and {are} too large for what is up"

    def _too_large(self, job: Identity) -> bool:
        """Tell whether a job is too large for what is up of the clusters on which it can run."""
        up = (self._sizes[name] - self.away[name] for name in self._only_on.get(job, self._sizes))
        return self.asking[job] > (max(up) if self._whole else sum(up))

    def never_told(self) -> Iterator[str]:
        """Tell of how many clusters the global scheduler does not know the last change."""
        if self._lost:
            of = next(iter(self._lost)) if len(self._lost) == 1 else f"{len(self._lost):,} clusters"
            yield f"the last advertisement of {of} was lost"

    def may_precede(self, event: Event, cluster: str) -> bool:
        """Tell whether the scheduler may have known of an event when it chose a cluster just then.

        It may of a start of its own, and of an advertisement that takes no time. The event is the
        last that was heard, and comes after the decision in the log.
        """
        if event["event"] == job_events.STARTED:
            return self._placed and cluster in self._at_once and cluster in event["placement"]
        heard = event["event"] == job_events.ADVERTISED and event["sender"] == cluster
        return heard and cluster in self._in_no_time


def _as_of(kind: str, cluster: str, event: Event, told: str) -> str:
    return f"has the last {kind} of {cluster}, as it was at {instant(event['sent'])}: {told}"
