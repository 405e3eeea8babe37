"""What became of the jobs of a service, from its audit log and its file of jobs."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path

from experiments.events import words
from experiments.events.explain import Hearing, heading
from experiments.events.happenings import in_time
from experiments.events.job_events import STARTED, SUBMITTED
from experiments.events.log import (
    BEGAN,
    BEGUN,
    CANCELLED,
    DRAINED,
    ENDED,
    EXITED,
    FAILED,
    HELD,
    OF_REAL_JOBS,
    RELEASED,
    RESTORED,
    SAID,
)
from experiments.events.message_events import Event
from experiments.events.reading import events_of_file
from experiments.events.words import Line, Story
from experiments.run.result_files import parameters_of, platform_of
from experiments.service.at_sites.site import ANSWERS, SILENT
from experiments.service.history import audit
from experiments.service.store import LiveJob, Store
from experiments.show.numbers import duration, listed
from grid.errors import GridError
from grid.logs.calendar import read, shown
from grid.world.validation import WITHDRAWN

SOON, NAMED = 5.0, 5
"""Time in which sites begin jobs, as a rule, s; those that a line names of others."""
FOR_JOBS = re.compile(r"(?P<up>\d+) of (?P<size>\d+) processors for our jobs$")
"""What a site tells of its processors."""
TICK = 0.1
"""Difference of clocks that tell of the start and the end of a job, s."""
AWAY = re.compile(
    r"(?:up to )?(\d[\d,]* (?:processors? )?(?:of \S+)(?:(?:,| and) \d[\d,]* of \S+)*|"
    r"\d[\d,]* processors?) (was|were|is|are) away"
)
"""What agents had as away, who take those that jobs are believed to hold to be there."""


def explain(folder: Path, job: int) -> list[Story]:
    """Return the story of a job, one for each service that had it.

    Parameters
    ----------
    folder : Path
        Of the services.
    job : int

    Raises
    ------
    GridError
        If there is no such job, or the audit log is not as it was written.
    """
    with closing(Store(folder)) as store:
        found = store.job(job)
    path = folder / audit.FILE
    had: list[_Had] = []
    for event in events_of_file(path):
        if event["event"] == BEGUN:
            had = [each for each in had if each.lines]
            had.append(_Had(found, path, event, not had))
        if not had:
            raise GridError(f"{path}:1: no service; accepted: {audit.WRITTEN}")
        had[-1].hear(event)
    had = [each for each in had if each.lines]
    if not had:
        raise GridError(f"job {job}: not in {path}; accepted: one that a service has taken in")
    return [each.story(had, event) for each in had]


class _Had:
    """A job as one service had it.

    Parameters
    ----------
    job : LiveJob
    path : Path
        The audit log.
    begun : Event
        Line with which the service began.
    first : bool
        None had it before.
    """

    def __init__(self, job: LiveJob, path: Path, begun: Event, first: bool) -> None:
        self._job, self._last, self._first = job, begun, first
        where = f"{path}:{begun['serial']}"
        try:
            platform = platform_of(begun["platform"], where)
            parameters = parameters_of(begun, where)
            self._hearing = Hearing(job.job, path, begun, platform, parameters)
            self._start = read(begun["start"])
        except (KeyError, TypeError, ValueError):
            raise GridError(f"{where}: no service; accepted: {audit.WRITTEN}") from None
        self._began = shown(self._start, begun["time"])
        self._told: list[Line] = []
        self._before: list[Line] = []  # of attempts before the last
        self._again: float | None = None  # when it was submitted anew, s
        self._taken_up = self._began_there = self._over = self._held_first = False
        deadline = math.inf if job.deadline is None else job.deadline
        self._deadline = deadline - self._start.timestamp()
        self._drains: dict[str, list[tuple[float, bool]]] = {}  # when sites were, and were no more
        self._given: dict[int, float] = {}  # when sites were given jobs that they have not begun
        self._names = platform.names
        self._lack: dict[str, str] = {}  # what is wrong with sites, as they have told

    @property
    def lines(self) -> bool:
        """Whether the service had it at all."""
        return bool(self._hearing.tellers or self._told or self._before)

    def hear(self, event: Event) -> None:
        """Take the next event of the service."""
        self._last = event
        own, kind = event.get("job") == self._job.job, event["event"]
        self._began_there |= own and kind == BEGAN
        if kind in (DRAINED, RESTORED):
            self._drains.setdefault(event["site"], []).append((event["time"], kind == DRAINED))
        if own and kind in (HELD, FAILED) and self._first and not self.lines:
            self._held_first = kind == HELD
            submitted = self._job.submitted - self._start.timestamp()
            self._told.append(Line(submitted, ["submitted"]))
        if own and kind == SUBMITTED and self._held_first and not self._hearing.tellers:
            self._again = event["time"]
        if own and kind == SUBMITTED and self._hearing.tellers:  # it was killed, or held
            self._before += self._so_far()
            self._hearing.tellers.clear()
            self._again, self._taken_up = event["time"], False
        if kind == SAID and "job" not in event:
            self._hear_of_site(event["words"])
        if kind == STARTED:
            self._given[event["job"]] = event["time"]
        elif kind in (BEGAN, EXITED):
            self._given.pop(event["job"], None)
        if own and kind == SUBMITTED:
            late = [job for job, at in self._given.items() if at < event["time"] - SOON]
            if late:
                named = [
                    *map(str, late[:NAMED]),
                    *([f"{len(late) - NAMED} more"] * (len(late) > NAMED)),
                ]
                which = f"{'job' if len(late) == 1 else 'jobs'} {listed(named)}"
                told = f"given to sites, and not begun there by then: {which}"
                self._told.append(Line(event["time"], [told]))
            for site in filter(partial(self._is_drained, at=event["time"]), self._drains):
                self._told.append(Line(event["time"], [f"{site} has been drained by then"]))
            for site, lack in self._lack.items():
                self._told.append(Line(event["time"], [f"{site} {lack} by then"]))
        if kind not in (ENDED, *OF_REAL_JOBS):
            self._hearing.hear(event)
        elif own and kind == BEGAN and event["words"].startswith(audit.TAKEN_UP):
            self._taken_up = True  # what agents are told then is how they know it
            ran = max(0.0, event["time"] - event["at"])
            self._told.append(Line(event["time"], [event["words"], f"runs for {duration(ran)}"]))
        elif own and kind == SAID and event["words"].startswith(audit.MAY_BEGIN):
            self._taken_up = True
            self._told.append(Line(event["time"], [event["words"]]))
        elif own:
            before = max((line.time or 0.0 for line in self._told), default=0.0)
            known = None if event.get("lost") else event.get("at")  # who is lost may have run on
            at = event["time"] if known is None else known
            at = before if at < before < at + TICK else at
            at = math.nextafter(at, -1.0) if kind == RELEASED else at  # before what follows from it
            self._told.append(Line(at, [*self._words(event)]))
            self._over |= kind == FAILED or event["words"] == CANCELLED  # and it has not run
        elif self._hearing.tellers and not (self._began_there or self._over) and _is_of_site(event):
            at = event["time"] if kind == SAID else math.nextafter(event["time"], -1.0)
            self._told.append(Line(at, [event["words"]]))  # before what follows from it

    def _hear_of_site(self, said: str) -> None:
        """Take note of a site that does not answer or has not all of its processors."""
        for site in self._names:
            if said.startswith(f"{site}: ") and said.endswith(SILENT):
                self._lack[site] = "does not answer"
            elif said.startswith(f"{site}: ") and (found := FOR_JOBS.search(said)):
                self._lack.pop(site, None)
                if found["up"] != found["size"]:
                    self._lack[site] = f"has {found[0]}"

    def _is_drained(self, site: str, at: float) -> bool:
        """Tell whether a site starts no job at a time, s; a service may find it so."""
        told = self._drains[site]
        before = [drained for time, drained in told if time <= at]
        return before[-1] if before else not told[0][1]

    def _words(self, event: Event) -> Iterator[str]:
        """Yield what sites and people said of the job, how long it ran, and whether in time."""
        yield event["words"]
        if event["event"] == EXITED and None not in (event.get("ran"), event.get("at")):
            lost = event.get("lost", False)
            unseen = event.get("exit_status") is None  # it may have ended before that was found out
            bound = "at least " if lost else "at most " if unseen else ""
            yield f"after {bound}{duration(event['ran'])}"
            if self._deadline < math.inf and not lost:
                times = {"deadline": self._deadline, "finish": event["at"]}
                yield in_time(times).removeprefix(", ")

    def _so_far(self) -> list[Line]:
        """Return what agents did; when it ended, as they heard, its site has told better."""
        lines = [line for each in self._hearing.tellers.values() for line in each.lines]
        for line in lines:
            line.parts[0] = line.parts[0].replace("starts on ", "is to start on ", 1)
            for site in filter(partial(self._is_drained, at=line.time or 0.0), self._drains):
                drained = f"goes back, for {site} starts no job any more"
                line.parts[0] = line.parts[0].replace(words.too_small(site), drained)
            line.parts[0] = line.parts[0].replace(words.TOO_SMALL, "has too few processors now")
            parts = [AWAY.sub(r"\1 or more \2 away", part) for part in line.parts]
            about = " running there or about to"  # agents have those run that were given to it
            line.parts[:] = [re.sub(" running there$", about, part) for part in parts]
        if self._taken_up:
            return []
        if lines and (self._again is not None or not self._first):  # it has been taken in before
            first, *others = lines[0].parts
            others = [part for part in others if not part.startswith(words.TAKEN_IN)]
            lines[0] = lines[0]._replace(parts=[first, *others])
        if lines and self._again is not None:
            first, *others = lines[0].parts
            lines[0] = Line(self._again, [first.replace("submitted to ", "goes to ", 1), *others])
        told_better = "finishes", words.rejection(None, WITHDRAWN).parts
        return [
            line
            for line in lines
            if not line.parts[0].startswith(told_better[0]) and line.parts != told_better[1]
        ]

    def story(self, had: Sequence[_Had], last_of_all: Event) -> Story:
        """Return its story up to the end of the service, or so far; of those that had the job.

        Parameters
        ----------
        had : sequence of _Had
            What each service had of it.
        last_of_all : Event
            The last that happened, to this service or another.
        """
        goes_on = self is had[-1] and last_of_all is self._last
        how = "so far" if goes_on else "the last that is known of the service: it was killed"
        how = "the service ends" if self._last["event"] == ENDED else how
        self._hearing.hear({**self._last, "event": ENDED, "interrupted": False, "words": how})
        head = f"Job {self._job.job}: {words.needs(self._job.size, self._deadline, None)}"
        for teller in self._hearing.tellers.values():
            head = heading(teller, "given")
        lines = [*self._before, *self._so_far()]
        last = next((at for at, each in enumerate(lines) if each.parts[0].startswith(how)), None)
        ends = [] if last is None else lines[last:]
        lines = _merged(lines[:last], sorted(self._told, key=lambda line: line.time or 0.0))
        if self._taken_up and self._job.ended is None:
            lines.append(Line(self._last["time"], [how, "and the job has not finished"]))
        elif self is not had[-1] or self._job.ended is None:  # else agents may not have been told
            lines += ends
            if not ends and self is had[-1]:  # no agent has it
                waits = "is held" if self._job.held else "waits"
                lines.append(Line(last_of_all["time"], ["so far", f"and the job {waits}"]))
        since = f", as the service had it that began at {self._began}" if len(had) > 1 else ""
        return Story(f"{head}{since}", lines, self._start)


def _is_of_site(event: Event) -> bool:
    """Tell whether a site was drained or silent, or no longer is."""
    said = event["event"] == SAID and "job" not in event
    silent = said and (SILENT in event["words"] or f": {ANSWERS}" in event["words"])
    return silent or event["event"] in (DRAINED, RESTORED)


def _merged(lines: Sequence[Line], told: Sequence[Line]) -> list[Line]:
    """Return lines of a story with others among them, in order of time."""
    found: list[Line] = []
    left = [*told]
    for line in lines:
        while left and line.time is not None and (left[0].time or 0.0) < line.time:
            found.append(left.pop(0))
        found.append(line)
    return [*found, *left]
