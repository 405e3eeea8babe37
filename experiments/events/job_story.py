"""One job's story, picked from all that happened in a run."""

from __future__ import annotations

import math
from collections.abc import Iterator

from agents.messages import name_jobs
from experiments.events import job_events, message_events, words
from experiments.events.backfilling import Backfilling
from experiments.events.discovery_trace import Asking
from experiments.events.grid_state import Surroundings
from experiments.events.happenings import in_time, processors
from experiments.events.identity import Identity, identities, identity, is_of, preemptor, setback
from experiments.events.log import ENDED, PLANNED
from experiments.events.message_events import Event
from experiments.events.plans import Gathering, Plans, composition
from experiments.events.words import Line, Place
from experiments.show.numbers import duration, instant

_SETBACKS = 2
"""Setbacks of a job that are told one by one."""


class Teller:
    """Hears all events of a run in order, and tells those that one job's story is made of.

    Parameters
    ----------
    job : Identity
    around : Surroundings
        Has to hear each event first.
    silent : bool
        Nothing is told of the global scheduler, which has but one cluster to send jobs to.
    *rules : str
        By which local schedulers and the global one start jobs (`Backfilling`).

    Attributes
    ----------
    size : int
        Processors that the job was submitted with.
    deadline : float
        Its deadline, s; inf without one.
    start, finish : float or None
        When it started (last) and finished, s.
    through : str or None
        Cluster that it was submitted through.
    arrival : float
        When it was submitted, s.
    over : bool
        Whether it has left.
    """

    def __init__(
        self, job: Identity, around: Surroundings, silent: bool = False, *rules: str
    ) -> None:
        self._lines: list[Line] = []
        self._setbacks: list[int] = []  # lines with which failures, preemptions or its return begin
        self.size = self._needs = 0  # that, and what a schedule says since
        self._mouldable = False
        self.deadline = math.inf
        self.job = job
        self.through: str | None = None
        self.arrival = 0.0
        self._only = next(iter(around.free)) if silent else None
        self._around = around
        self._asking = Asking(around.free)
        self._plans = Plans()
        self._backfilling = Backfilling(job, around, *rules)
        self.start: float | None = None
        self.finish: float | None = None
        self._known = 0.0
        self._ready = 0.0  # when it had started and its data were there
        self._world = ""  # the global scheduler
        self._lost = 0  # messages about it that were lost, and have not been told of
        self._failed = False  # a failure or another job threw it back
        self._made_room: list[str] = []  # for whom, if another job threw it back
        self._stopped: list[Identity] = []  # jobs that it preempts
        self._is_back = False  # and the global scheduler has to send it anew
        self._sent: Event | None = None  # the decision where it goes, as long as it is not told
        self._transfer: Event | None = None  # what follows from it
        self._seeded = False  # or was told of as an allocation
        self._schedule: Event | None = None  # its seed schedule, until it comes to its cluster
        self._gathering: Gathering | None = None  # of that schedule, there
        self._decision: list[Line] = []  # what the global scheduler knew when it decided
        self._view: Line | None = None  # that of them which tells of its cluster
        self._decided, self._chosen = 0.0, ""  # when, and for which cluster
        self._away: dict[str, int] = {}  # most processors away while the global scheduler has it
        self._where = ""  # its cluster
        self._landed: float | None = None  # when it came there, if it waits there
        self._found: list[str] = []  # what it found there
        self._found_away = self._most_away = 0  # processors there, when it came and since
        self._came: list[Identity] = []  # jobs that came there at that instant
        self._passed: list[tuple[float, Identity]] = []  # jobs that started there since, and when
        self._beside: tuple[Line, list[Identity]] | None = None  # what tells who started with it
        self._stands = "is not known to the global scheduler"  # how it stands
        self.over = False

    @property
    def lines(self) -> list[Line]:
        """The story so far: of many setbacks, the first and the last with what followed them."""
        return [line for line in self._folded() if line.parts]

    def _folded(self) -> list[Line]:
        if len(self._setbacks) <= _SETBACKS:
            return self._lines
        second, last = self._setbacks[1], self._setbacks[-1]
        folded = words.more_setbacks(self._lines[second].time, len(self._setbacks) - _SETBACKS)
        return [*self._lines[:second], folded, *self._lines[last:]]

    def settle(self) -> None:
        """Take note that an instant is over: it has to be heard before the next event is."""
        self._backfilling.settle(self._needs, self._where, self._landed)
        if self._beside is not None and self.start is not None:
            line, jobs = self._beside
            told = self._backfilling.unprompted(self._where, self.start, {*jobs, self.job})
            line.parts.extend(told)

    def hear(self, event: Event) -> None:
        """Take the next event."""
        time, kind = event["time"], message_events.kind_of(event)
        self._doubt(event, time)
        self._join(kind, event, time)
        if kind == job_events.RESOURCES and (name := event["cluster"]) in self._away:
            self._away[name] = max(self._away[name], self._around.away[name])
        if kind == ENDED and self._lines and not self.over:
            self._catch_up()
            how = "is interrupted" if event["interrupted"] else "ends"
            self._tell(time, f"{event.get('words', f'the run {how}')}, and the job {self._stands}")
            if self._away:
                self._tell(None, *self._around.now_away(), *self._around.never_told())
                self._tell(None, *self._around.not_held(self.job))
        elif kind == job_events.PREEMPTED and preemptor(event) == self.job:
            self._stopped.append(identity(event))
        elif is_of(event, self.job):
            self._hear_own(kind, event, time)
        elif kind == PLANNED and self.job in identities(event):
            self._plans.hear(event, self.job, len(self._around.waiting[self._where]))
            if "sizes" in event:
                self._needs = event["sizes"][identities(event).index(self.job)]
            if self._gathering is not None:
                self._gathering.plan(event)
        elif kind == "SeedSchedule" and self.job in identities(event):
            self._seed(event, time)
        elif self._landed is not None:
            if kind == job_events.STARTED and self._where in event["placement"]:
                self._passed.append((time, identity(event)))
            elif kind == job_events.LANDED and self._where == event["receiver"]:
                if time == self._landed:
                    self._came.append(identity(event))
                if self._gathering is not None:
                    self._gathering.land(identity(event), time, time > self._landed)
            elif kind == job_events.RESOURCES and event["cluster"] == self._where:
                self._most_away = max(self._most_away, self._around.away[self._where])
            elif kind == "ScheduleReport" and event["sender"] == self._where:
                self._plans.report(event)

    def _tell(self, time: float | None, *parts: str) -> None:
        self._lines.append(Line(time, [*parts]))

    def _hear_own(self, kind: str, event: Event, time: float) -> None:
        """Tell an event of the job itself."""
        match kind:
            case message_events.LOST:
                self._lost += 1
            case job_events.SUBMITTED:
                self._submitted(event, time)
            case job_events.REJECTED:
                self._catch_up()
                self._lines.append(words.rejection(time, event["reason"]))
                self.over = True
            case job_events.KNOWN:
                self._heard_of(event, time)
            case "ResourceQuestion" | "discovered":
                asking = self._asking.hear(event, self._world)
                if asking:
                    asking[-1].parts.extend(self._losses())
                self._lines += asking
            case job_events.SENT:
                self._sent, self._transfer = event, None
                self._decide(event["sender"], event["receiver"], time)
                self._stands = f"is on its way to {event['receiver']}"
            case message_events.TRANSFER:
                self._transfer = event
            case job_events.LANDED:
                self._arrived(event, time)
            case job_events.STARTED:
                self._started(event, time)
            case job_events.FINISHED:
                self._finished(event, time)
            case job_events.RESTARTED | job_events.PREEMPTED:
                self._setbacks.append(len(self._lines))
                self._tell(time, setback(event), "what it has done is lost")
                self._made_room = [f"made room for job {by}"] if (by := preemptor(event)) else []
                self._failed = self._is_back = True
                self._known, self._away = time, dict(self._around.away)
            case job_events.RETURNED:
                self._catch_up()
                where = self._where if self._landed is not None else "its cluster"
                if self._setbacks[-1:] != [len(self._lines) - 1]:  # else that failure's
                    self._setbacks.append(len(self._lines))
                self._tell(time, words.too_small(where))
                self._is_back, self._landed = True, None
                self._backfilling.take()  # that was there

    # Its way ------------------------------------------------------------------------------------

    def _submitted(self, event: Event, time: float) -> None:
        self.size = self._needs = event["size"]
        self.arrival, self._mouldable = event.get("arrival", time), "sizes" in event
        self.deadline = math.inf if event["deadline"] is None else event["deadline"]
        to = event["receiver"]
        if to in self._around.free:
            self.through = to
            self._tell(time, f"submitted through {to}")
        else:
            self._lines.append(words.submission(self._only or to, None, self.arrival, time))
        sizes = words.may_have(event.get("sizes", ()))
        self._lines[-1].parts.extend(words.can_run_on(event.get("clusters", ())) + sizes)

    def _heard_of(self, event: Event, time: float) -> None:
        self._known, self._away = time, dict(self._around.away)
        self._world = world = event["receiver"]
        self._stands = f"waits for {world} to say where it goes"
        if self._is_back:
            self._tell(time, f"{world} is told of it again", *self._losses())
        elif self.through is not None:
            line = words.submission(world, self.through, self.arrival, time)
            line.parts.extend([*self._losses(), *self._lines[-1].parts[1:]])
            self._lines[-1] = line

    def _losses(self) -> list[str]:
        """Return how many messages about it were lost before the one that is told of."""
        lost, self._lost = self._lost, 0
        if not lost:
            return []
        return [f"after {'a message was' if lost == 1 else f'{lost} messages were'} lost"]

    def _decide(self, world: str, cluster: str, time: float) -> None:
        """Note what the global scheduler knows of the cluster that it chooses, in order."""
        report, view = self._around.report(cluster, time), self._around.view(cluster, time)
        known = sorted(each for each in (report, view) if each is not None)
        self._decision = [Line(None, [f"{world} {words}"]) for _, words in known]
        self._view = None if view is None else self._decision[known.index(view)]
        if self._around.goes_by:
            self._decision.append(Line(None, [f"{world} goes by {self._around.goes_by}"]))
        self._decided, self._chosen = time, cluster
        if time > self._known:
            why = [*self._were_away([cluster])]
            if self._around.is_seen(cluster):
                why += self._around.made_room([cluster], time, False)  # perhaps it needed none
            self._decision[:0] = [Line(None, why)]
        self._away = {}

    def _were_away(self, clusters: list[str]) -> Iterator[str]:
        """Tell what was away of clusters while the job waited for the global scheduler."""
        for cluster in clusters:
            if most := self._away.get(cluster, 0):
                yield f"{words.were_away(most, f'of {cluster} ')} meanwhile"

    def _doubt(self, event: Event, time: float) -> None:
        """Drop what the global scheduler knew if it may have been something else."""
        if self._view is None:
            return
        if time > self._decided:
            self._view = None
        elif self._around.may_precede(event, self._chosen):
            self._view.parts.clear()

    def _arrived(self, event: Event, time: float) -> None:
        self._where = where = event["receiver"]
        if self._sent is None:
            self._tell(time, f"is back in the queue of {where}")
        self._landed, self._passed, self._stands = time, [], f"waits at {where}"
        seed, self._schedule = self._schedule, None
        self._gathering = None if seed is None else Gathering(seed, self._around.coming[where])
        others = {job: at for job, at in self._around.waiting[where].items() if job != self.job}
        before = sorted(job for job, at in others.items() if at < time)
        self._came = [job for job, at in others.items() if at == time]
        self._found_away = self._most_away = self._around.away[where]
        if self._made_room:  # what it found is taken at once
            self._found, self._made_room, self._came = self._made_room, [], []
            return
        self._found = [f"found {self._around.room(where)}"]
        if holders := self._around.holders(where):
            self._found.append(f"{name_jobs(tuple(holders))} running there")
        if before:
            self._found.append(f"{name_jobs(tuple(before))} waiting there already")
        elif self._around.free[where] >= self._needs:
            self._found.append("no job waiting there")

    def _catch_up(self) -> None:
        """Tell how it came to its cluster, and of the plans there: what explains it comes late."""
        sent, self._sent = self._sent, None
        if sent is not None:
            self._tell_way(sent)
        self._lines += self._plans.take()

    def _tell_way(self, sent: Event) -> None:
        world, where = sent["sender"], sent["receiver"]
        if not self._seeded and not self._only:
            late = words.later(sent["time"] - self._known)
            self._tell(sent["time"], f"{world} chooses {where} for it", *late)
            self._lines += self._decision
        self._seeded = False
        move = self._transfer
        if move is not None:
            if self._only and move["due"] == move["sent"] and not self._lost:
                return
            sender = None if self._only else move["sender"]
            line = words.sending(sender, where, move["sent"], move["due"])
        elif self._landed is not None:
            line = words.staying(where, self._landed)
        else:
            return
        line.parts.extend(self._losses())
        self._lines.append(line)

    def _seed(self, event: Event, time: float) -> None:
        """Tell the round, the composition and what is expected of it."""
        world, cluster, jobs = event["sender"], event["receiver"], identities(event)
        at_cluster = cluster in self._around.free  # else it is a domain's, which allocates it anew
        if at_cluster:
            self._seeded, self._schedule = True, event
        decides_itself = world == self._world
        if not decides_itself:
            self._decision = []  # what the global scheduler knew, which has not decided
        index = jobs.index(self.job)
        place = Place(time, index + 1, len(jobs))
        act = self._around.act(event["round"]) if at_cluster else ""
        line = words.allocation(world, cluster, act, place)
        if decides_itself:
            line.parts.extend(words.later(time - self._known))
        self._lines.append(line)
        if decides_itself and time > self._known and (trigger := self._around.reported(time)):
            self._tell(None, f"{world} allocates jobs then, for {trigger}")
        held = {job: len(event["resources"][at]) for at, job in enumerate(jobs)}
        self._needs = held[self.job]
        if self._mouldable:
            line.parts.append(f"on {processors(self._needs)}")
        for space in event["spaces"]:
            if self.job in identities(space):
                self._lines += composition(cluster, space, held)
        begin, end = (time + event[when][index] for when in ("starts", "finishes"))
        self._tell(None, f"{world} expects it to run from {instant(begin)} to {instant(end)}")
        self._lines += self._decision

    def _started(self, event: Event, time: float) -> None:
        self._catch_up()
        self.start, self._stands = time, "has not finished"
        parts = [*event["placement"].items()]
        self._ready = time + (staging := event.get("staging", 0.0))
        held = sum(event["placement"].values())
        self._lines.append(words.start(held, parts, self._failed, time, self.arrival, staging))
        if self._stopped:
            self._tell(None, f"preempts {name_jobs(tuple(sorted(self._stopped)))}")
            self._stopped = []
        since = self._known if self._landed is None else self._landed
        if time > since:
            waited = f"waited {duration(time - since)}"
            if self._landed is None:
                self._tell(None, f"{waited} to be given processors")
            else:
                found, *others = self._found
                told = [f"it needs {processors(held)} and {found}", *others]
                self._tell(None, f"{waited} there", *told, *words.together(self._came, "came"))
                if self._gathering is not None:
                    self._lines[-1].parts.extend(self._gathering.told)
            why = self._backfilling.take()
            clusters = [name for name, _ in parts]
            if self._landed is None:
                why += self._were_away(clusters)
            elif (most := self._most_away) > self._found_away:
                why.append(f"{words.were_away(most)} there meanwhile")
            why += self._backfilling.overtaken([each for each in self._passed if each[0] < time])
            why += self._around.made_room(clusters, time, not self._backfilling.had_room)
            beside = [job for at, job in self._passed if at == time]
            self._tell(None, *why, *words.together(beside, "started"))
            if self._landed is not None:
                self._beside = self._lines[-1], beside
        self._landed, self._passed = None, []

    def _join(self, kind: str, event: Event, time: float) -> None:
        """Tell who else starts there as this job does: who comes first in the log says nothing."""
        if self._beside is None:
            return
        if time != self.start:
            self._beside = None
        elif kind == job_events.STARTED and self._where in event["placement"]:
            line, jobs = self._beside
            if jobs:
                line.parts.pop()
            jobs.append(identity(event))
            line.parts.extend(words.together(jobs, "started"))

    def _finished(self, event: Event, time: float) -> None:
        self.over, self.finish = True, time
        job = {"deadline": self.deadline, "start": self.start or 0.0, "finish": time}
        self._tell(time, f"finishes{in_time(job)}", *words.slowed(event, time - self._ready))
