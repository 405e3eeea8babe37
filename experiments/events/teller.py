"""One job's story, picked from all that happened in a run."""

from __future__ import annotations

import math
from collections.abc import Mapping

from agents.messages import name_jobs
from experiments.events import job_events, words
from experiments.events.happenings import in_time, processors
from experiments.events.job_events import Event
from experiments.events.log import ENDED, MESSAGE, PLANNED
from experiments.events.surroundings import Surroundings
from experiments.events.words import Line, Place


class Teller:
    """Hears all events of a run in order, and tells those that one job's story is made of.

    Parameters
    ----------
    job : int
        Its number.
    sizes : mapping of str to int
        Processors of each cluster.

    Attributes
    ----------
    lines : list of Line
        The story so far.
    size : int
        Processors that the job needs.
    deadline : float
        Its deadline, s; inf without one.
    """

    def __init__(self, job: int, sizes: Mapping[str, int]) -> None:
        self.lines: list[Line] = []
        self.size = 0
        self.deadline = math.inf
        self._job = job
        self._around = Surroundings(sizes)
        self._arrival = self._known = self._sent = self._start = 0.0
        self._through: str | None = None  # cluster that it was submitted through
        self._decision: list[str] = []  # what the global scheduler had heard when it decided
        self._on_its_way = False  # told so
        self._seeded = False
        self._over = False
        self._again = False  # a failure threw it back
        self._landed: float | None = None  # when, if it waits at a cluster
        self._where = ""  # which
        self._untold: str | None = None  # who sent it there, as long as that has not been told
        self._found: list[str] = []  # what it found there
        self._passed: list[int] = []  # jobs that started there meanwhile
        self._place: int | None = None  # in the last plan that was told
        self._planned: float | None = None  # when that was made

    def hear(self, event: Event) -> None:
        """Take the next event."""
        time, kind = event["time"], event["event"]
        if kind == MESSAGE:
            kind = event["kind"]
        self._around.hear(kind, event)
        if kind == ENDED and self.lines and not self._over:
            self._tell_way()
            how = "is interrupted" if event["interrupted"] else "ends"
            self._tell(time, f"the run {how}, and the job has not finished")
        elif event.get("job") == self._job:
            self._hear_own(kind, event, time)
        elif self._job in event.get("jobs", ()):
            self._hear_of_it(kind, event, time)
        elif self._landed is not None:
            if kind == job_events.STARTED and self._where in event["placement"]:
                self._passed.append(event["job"])
            elif kind == "ScheduleReport" and (event["sender"], time) == (
                self._where,
                self._planned,
            ):
                left = f"makespan left {event['makespan']:,.1f} s"
                cp = [] if event["cp"] is None else [f"CP {event['cp']:,.1f} s"]
                told = f"{self._where}'s broker tells {event['receiver']}"
                self._tell(time, told, left, *cp)

    def _tell(self, time: float | None, *parts: str) -> None:
        self.lines.append(Line(time, [*parts]))

    def _hear_own(self, kind: str, event: Event, time: float) -> None:
        """Tell an event of the job itself."""
        match kind:
            case job_events.SUBMITTED:
                self._submitted(event, time)
            case job_events.REJECTED:
                self.lines.append(words.rejection(time))
                self._over = True
            case job_events.KNOWN:
                self._heard_of(event, time)
            case job_events.SENT:
                self._sent, self._decision = time, self._around.news(event["receiver"], time)
                self._on_its_way = False
            case job_events.LANDED:
                self._arrived(event, time)
            case job_events.STARTED:
                self._started(event, time)
            case job_events.FINISHED:
                job = {"deadline": self.deadline, "start": self._start, "finish": time}
                self._tell(time, f"finishes{in_time(job)}")
                self._over = True
            case job_events.RESTARTED:
                self._tell(time, "a processor fails under it", "what it has done is lost")
                self._again, self._known = True, time
            case job_events.RETURNED:
                self._tell(time, "goes back, for its cluster has become too small for it")
                self._again = True

    def _hear_of_it(self, kind: str, event: Event, time: float) -> None:
        """Tell a message or a plan that names the job among others."""
        if kind == PLANNED:
            self._plan(event, time)
        elif kind == "SeedSchedule":
            self._seed(event, time)
        elif kind == "JobTransfer":
            self._on_its_way = True
            names = event["sender"], event["receiver"]
            self.lines.append(words.sending(*names, event["sent"], event["due"]))

    # Its way ------------------------------------------------------------------------------------

    def _submitted(self, event: Event, time: float) -> None:
        self.size, self._arrival = event["size"], time
        if event["deadline"] is not None:
            self.deadline = event["deadline"]
        to = event["receiver"]
        if to in self._around.free:
            self._through = to
            self._tell(time, f"submitted through {to}")
        else:
            self.lines.append(words.submission(to, None, time, time))

    def _heard_of(self, event: Event, time: float) -> None:
        self._known = time
        if self._again:
            self._tell(time, f"{event['receiver']} is told of it again")
        elif self._through is not None:
            at = self._arrival
            self.lines[-1] = words.submission(event["receiver"], self._through, at, time)

    def _arrived(self, event: Event, time: float) -> None:
        self._where = event["receiver"]
        if self._again:
            self._tell(time, f"waits at {self._where} again")
        else:
            self._untold = event["sender"]
        self._landed, self._passed = time, []
        before = len(self._around.waiting[self._where]) - 1
        fits = self._around.free[self._where] >= self.size
        room = self._around.room(self._where)
        self._found = [f"it needs {processors(self.size)} and found {room}"]
        if before or fits:
            self._found.append(f"{before} {'job' if before == 1 else 'jobs'} waiting before it")

    def _tell_way(self) -> None:
        """Tell how it came to its cluster, if no message has: those of an instant come late."""
        world, self._untold = self._untold, None
        if world is None or self._on_its_way or self._landed is None:
            return
        if self._seeded:
            self.lines.append(words.staying(self._where, self._landed))
            return
        self._tell(
            self._sent,
            f"{world} sends it to {self._where}",
            f"where it arrives {words.at(self._landed, self._sent)}",
            *_after(self._sent - self._known),
        )
        for told in self._decision:
            self._tell(None, f"{world} {told}")

    def _seed(self, event: Event, time: float) -> None:
        """Tell the round, the composition and what is expected of it."""
        self._seeded = True
        world, cluster, jobs = event["sender"], event["receiver"], event["jobs"]
        index = jobs.index(self._job)
        place = Place(time, index + 1, len(jobs))
        line = words.allocation(world, cluster, event["round"], place)
        line.parts.extend(_after(time - self._known))
        told = [line]
        held = {job: len(event["resources"][at]) for at, job in enumerate(jobs)}
        for space in event["spaces"]:
            if self._job in space["jobs"]:
                told += self._composition(cluster, space, held)
        begin, end = (time + event[when][index] for when in ("starts", "finishes"))
        told.append(Line(None, [f"{world} expects it to run from {begin:,.1f} s to {end:,.1f} s"]))
        told += [Line(None, [f"{world} {heard}"]) for heard in self._decision]
        moved = len(self.lines) - self._on_its_way  # the order to send it was heard of before
        self.lines[moved:moved] = told

    def _composition(self, cluster: str, space: Event, held: Mapping[int, int]) -> list[Line]:
        level = "infinite" if space["level"] is None else f"{space['level']:.3g}"
        when = "now" if not space["start"] else f"in {space['start']:,.1f} s"
        free = f"{processors(space['processors'])} side by side, free {when}"
        filled = sum(held[job] for job in space["jobs"])
        what = "it alone fills" if len(space["jobs"]) == 1 else "the composition of "
        if len(space["jobs"]) > 1:
            what += f"{name_jobs(tuple(space['jobs']))} fills"
        return [
            Line(
                None, [f"{cluster} has the least workload, e = {level}", f"and a space of {free}"]
            ),
            Line(None, [f"{what} {filled} of them"]),
        ]

    def _plan(self, event: Event, time: float) -> None:
        self._tell_way()
        place = event["jobs"].index(self._job) + 1
        if place != self._place:
            self._place, self._planned = place, time
            line = words.plan(event["sender"], Place(time, place, len(event["jobs"])))
            self.lines.append(line)

    def _started(self, event: Event, time: float) -> None:
        self._tell_way()
        self._start = time
        parts = [*event["placement"].items()]
        self.lines.append(words.start(self.size, parts, self._again, time, self._arrival))
        if self._landed is None:
            if time > self._known:
                waited = time - self._known
                self._tell(None, f"waited {waited:,.1f} s to be given processors")
        elif time > self._landed:
            self._tell(None, f"waited {time - self._landed:,.1f} s there", *self._found)
            why = []
            if self._passed:
                why.append(f"{name_jobs(tuple(self._passed))} started there before it")
            end, job = self._around.ended.get(self._where, (-1.0, 0))
            if end == time:
                why.append(f"job {job} has just ended and makes room")
            if why:
                self._tell(None, *why)
        self._landed, self._place = None, None


def _after(waited: float) -> list[str]:
    """Return how long the global scheduler let a job wait, s, if it did."""
    return [f"{waited:,.1f} s after it was told of it"] if waited > 0 else []
