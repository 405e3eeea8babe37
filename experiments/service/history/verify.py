"""Checks of the history of a service against what its jobs have left, written to be read."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from experiments.checks.verdicts import Verdict
from experiments.events.job_events import STARTED
from experiments.events.log import BEGAN, BEGUN, EXITED
from experiments.events.log import FAILED as NEVER_RAN
from experiments.events.reading import events_of_file
from experiments.service.at_sites.batch import SIGNALLED
from experiments.service.at_sites.site import began_at, claimant, end_of, is_back
from experiments.service.history import audit
from experiments.service.store import DONE, ENDED, FAILED, LOST, RUNNING, LiveJob, Store
from experiments.show.numbers import counted, first_of

Problems = Iterator[str]

ALIKE = 1.0
"""Difference of times that clocks of file systems make, s."""


def verify(folder: Path) -> list[Verdict]:
    """Check the history of a service: its jobs, what they left in their folders, its audit log.

    Parameters
    ----------
    folder : Path
        Of the service, which may be there.

    Raises
    ------
    GridError
        If it is none, or its audit log is not as it was written.
    """
    with closing(Store(folder)) as store:
        jobs, ever = store.jobs(), store.note("ever") or {}
    ran = [job for job in jobs if job.started is not None]
    kept = [job for job in ran if claimant(_place(folder, job))]
    heard = _heard(folder / audit.FILE, {job.job: job for job in jobs})
    return [
        Verdict.of("states are consistent", _states(jobs), counted(len(jobs), "job")),
        Verdict.of(
            "jobs left what is known of them",
            _left(folder, kept),
            f"{counted(len(kept), 'folder')} of {counted(len(ran), 'job')} that began",
        ),
        Verdict.of("no job ran twice", _twice(folder, kept), counted(len(kept), "job")),
        Verdict.of("no job began before its time", _begun(ran), counted(len(ran), "start")),
        Verdict.of("jobs ran where they may", _where(ran, ever), counted(len(ever), "site")),
        Verdict.of(
            "no processor was held twice", _held(ran, ever), f"{_named(ever)}, by last attempts"
        ),
        Verdict.of("the audit log agrees", heard, str(folder / audit.FILE)),
    ]


def _place(folder: Path, job: LiveJob, attempt: int | None = None) -> Path:
    number = attempt or job.attempt
    return folder / "jobs" / (f"{job.job}" if number == 1 else f"{job.job}.{number}")


def _states(jobs: Sequence[LiveJob]) -> Problems:
    for job in jobs:
        if (job.state in ENDED) != (job.ended is not None):
            yield f"{job}: {job.state}, ended at {job.ended}"
        elif job.state == DONE and (job.exit_status != 0 or job.started is None):
            yield f"{job}: {DONE}, exit status {job.exit_status}, started at {job.started}"
        elif job.state in (FAILED, LOST) and job.exit_status == 0:
            yield f"{job}: {job.state}, exit status 0"


def _left(folder: Path, kept: Sequence[LiveJob]) -> Problems:
    """Find jobs whose folders tell otherwise than is known: of their starts and exit statuses."""
    for job in kept:
        place = _place(folder, job)
        began, end = began_at(place), end_of(job.job, place)
        if began is not None and abs(began - (job.started or 0.0)) > ALIKE:
            yield f"{job}: started at {job.started}; its folder says {began}"
        killed = job.exit_status is None and end is not None and end.exit_status in SIGNALLED
        alike = killed or (end is not None and job.exit_status == end.exit_status)
        if end is not None and job.ended is not None and not alike:
            yield f"{job}: exit status {job.exit_status}; its folder says {end.exit_status}"
        if end is None and job.exit_status is not None:
            yield f"{job}: exit status {job.exit_status}; its folder has none"


def _twice(folder: Path, kept: Sequence[LiveJob]) -> Problems:
    """Find jobs that ran again after they had come to an end by themselves, or before they had."""
    for job in kept:
        for attempt in range(1, job.attempt):
            place = _place(folder, job, attempt)
            if (end := end_of(job.job, place)) is not None and end.exit_status == 0:
                yield f"{job}: attempt {attempt} had succeeded, and it ran again"
            if not (job.requeue or is_back(place)):
                yield f"{job}: attempt {attempt} began, and it may not run again"


def _begun(ran: Sequence[LiveJob]) -> Problems:
    for job in ran:
        assert job.started is not None
        if job.started < job.submitted - ALIKE:
            yield f"{job}: submitted at {job.submitted}, started at {job.started}"
        if job.ended is not None and job.ended < job.started:
            yield f"{job}: started at {job.started}, ended at {job.ended}"


def _where(ran: Sequence[LiveJob], ever: Mapping[str, Any]) -> Problems:
    for job in ran:
        if job.site is None or job.site not in ever:
            yield f"{job}: at {job.site}, which no service had"
        elif job.only not in (None, job.site):
            yield f"{job}: at {job.site}; it may run at {job.only} alone"
        elif job.size > ever[job.site]["size"]:
            yield f"{job}: {job.size} processors of {job.site}, which has {ever[job.site]['size']}"


def _held(ran: Sequence[LiveJob], ever: Mapping[str, Any]) -> Problems:
    """Find instants at which jobs hold more processors of a site than it ever had."""
    changes: dict[str, list[tuple[float, int, int]]] = defaultdict(list)
    for job in ran:
        end = job.ended if job.state != RUNNING else time.time()
        if job.started is None or end is None or job.site not in ever:
            continue
        changes[str(job.site)] += [(job.started, job.size, job.job), (end, -job.size, job.job)]
    for site, of_site in changes.items():
        held = 0
        for when, change, number in sorted(of_site):
            held += change
            if held > ever[site]["size"]:
                yield f"{site} at {when}: job {number} makes it {held} of {ever[site]['size']}"
                break


def _named(ever: Mapping[str, Any]) -> str:
    return first_of([f"{name} ({facts['size']})" for name, facts in ever.items()], 8)


def _heard(path: Path, jobs: Mapping[int, LiveJob]) -> Problems:
    """Find what the audit log tells otherwise: ends, and starts that no agent has decided."""
    ended: dict[int, str] = {}
    decided: dict[int, set[str]] = defaultdict(set)
    for event in events_of_file(path):
        number, kind = event.get("job", 0), event["event"]
        if kind == STARTED:
            decided[number] = {*event["placement"]}
        elif kind == BEGAN and (site := event.get("site")) not in decided[number]:
            yield f"job {number}: began at {site} at {event['time']} s, which no agent had decided"
        elif kind == EXITED and event.get("state") not in ENDED:
            decided.pop(number, None)
        elif kind in (EXITED, NEVER_RAN):
            ended[number] = str(event.get("state", kind))
        elif kind == BEGUN:
            decided.clear()
    for number, state in ended.items():
        if number not in jobs:
            yield f"job {number}: {state} in {path}, unknown"
        elif jobs[number].ended is not None and jobs[number].state != state:
            yield f"{jobs[number]}: {jobs[number].state}; {state} in {path}"
