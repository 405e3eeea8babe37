"""What the grid around a job is like, as far as the events of a run that were heard say."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from experiments.events import job_events
from experiments.events.happenings import processors
from experiments.events.identity import Identity, identity
from experiments.events.message_events import Event, kind_of
from experiments.show.numbers import duration, instant

_REPORTS = 10_000
"""Reports of local schedulers that are remembered: many may come in the time of one latency."""


class Surroundings:
    """The clusters, and what the global scheduler has heard of them.

    Parameters
    ----------
    sizes : mapping of str to int
        Processors of each cluster.

    Attributes
    ----------
    free : dict of str to int
        Free processors of each cluster.
    waiting : dict of str to set of Identity
        Jobs that wait at each cluster.
    """

    def __init__(self, sizes: Mapping[str, int]) -> None:
        self.free = dict(sizes)
        self.waiting: dict[str, set[Identity]] = {name: set() for name in sizes}
        self._ended: dict[str, tuple[float, list[Identity]]] = {}
        self._sizes = sizes
        self._reports = deque[tuple[float, float, str]](maxlen=_REPORTS)
        self._running: dict[Identity, dict[str, int]] = {}
        self._reported: dict[str, deque[Event]] = {name: deque() for name in sizes}
        self._advertised: dict[str, Event] = {}

    def hear(self, event: Event) -> None:
        """Take the next event."""
        kind = kind_of(event)
        if kind == job_events.LANDED:
            self.waiting[event["receiver"]].add(identity(event))
        elif kind == job_events.STARTED:
            self._running[identity(event)] = event["placement"]
            for name, held in event["placement"].items():
                self.waiting[name].discard(identity(event))
                self.free[name] -= held
        elif kind == job_events.RETURNED:
            for jobs in self.waiting.values():
                jobs.discard(identity(event))
        elif kind in (job_events.FINISHED, job_events.RESTARTED):
            for name, held in self._running.pop(identity(event), {}).items():
                self.free[name] += held
                if self._ended.get(name, (-1.0,))[0] != event["time"]:
                    self._ended[name] = event["time"], []
                self._ended[name][1].append(identity(event))
        elif kind == job_events.ADVERTISED:
            self._advertised[event["sender"]] = event
        elif kind == "ScheduleReport":
            left = f"makespan left {duration(event['makespan'])}"
            self._reports.append(
                (event["due"], event["makespan"], f"{event['sender']} tells {left}")
            )
            self._reported[event["sender"]].append(event)

    def ended_at(self, cluster: str, time: float) -> list[Identity]:
        """Return the jobs that have ended on a cluster at a time (s), if it is the last one."""
        last, jobs = self._ended.get(cluster, (-1.0, []))
        return jobs if last == time else []

    def holders(self, cluster: str) -> list[Identity]:
        """Return the jobs that run on a cluster."""
        return [job for job, held in self._running.items() if cluster in held]

    def room(self, cluster: str) -> str:
        """Return how many of a cluster's processors are free, in words."""
        return f"{self.free[cluster]} of its {processors(self._sizes[cluster])} free"

    def reported(self, time: float) -> str:
        """Return which local scheduler's report just came (s), that of the least left, in words."""
        least = min((told[1:] for told in self._reports if told[0] == time), default=(0.0, ""))
        return least[1]

    def news(self, cluster: str, time: float) -> list[str]:
        """Return what the global scheduler has last been told of a cluster, in order of hearing."""
        news: list[tuple[float, str]] = []
        reports = self._reported[cluster]
        while len(reports) > 1 and reports[1]["due"] <= time:
            reports.popleft()
        if reports and reports[0]["due"] <= time:
            report = reports[0]
            told = (
                f"makespan left {duration(report['makespan'])}, {report['unfinished']} unfinished"
            )
            news.append((report["due"], _as_of("report", cluster, report, told)))
        if (heard := self._advertised.get(cluster)) is not None:
            told = f"{processors(heard['free'])} free, {heard['waiting']} waiting"
            news.append((heard["time"], _as_of("advertisement", cluster, heard, told)))
        return [words for _, words in sorted(news)]


def _as_of(kind: str, cluster: str, event: Event, told: str) -> str:
    return f"has the last {kind} of {cluster}, as it was at {instant(event['sent'])}: {told}"
