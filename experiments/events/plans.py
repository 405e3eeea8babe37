"""The plans that a waiting job is in: the first and the last, and the others in one line."""

from __future__ import annotations

from experiments.events import words
from experiments.events.identity import Identity, identities
from experiments.events.message_events import Event
from experiments.events.words import Line, Place
from experiments.show.numbers import duration


class Plans:
    """Hears of the plans that one job is in while it waits, and what is told of the first."""

    def __init__(self) -> None:
        self._scheduler = ""
        self._places: list[Place] = []
        self._report: list[Line] = []

    def hear(self, event: Event, job: Identity) -> None:
        """Take a plan with the job in it."""
        self._scheduler = event["sender"]
        place = identities(event).index(job) + 1
        self._places.append(Place(event["time"], place, len(event["jobs"])))

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
        self._places, self._report = [], []
        return lines
