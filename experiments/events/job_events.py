"""What happens to jobs, event by event, seen by looking at a world at each of its instants."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Mapping
from operator import itemgetter
from typing import Any

import numpy as np

from agents.model import GridModel
from experiments.events.happenings import parts_of
from experiments.events.identity import Identities, Identity
from experiments.events.message_events import LAST, CarriedMessages, Event, Return, Told
from grid.jobs import ANYWHERE
from grid.kernel.policies.change_detection import SEEN, moved
from grid.kernel.state import (
    ANNOUNCED,
    COALLOCATED,
    GLOBAL,
    LANDING,
    LOCAL,
    NONE,
    RUNNING,
    TRANSIT,
    VACANT,
)
from grid.world.validation import at_arrival, why_rejected

SUBMITTED, KNOWN, SENT, LANDED, STARTED = "submitted", "known", "sent", "landed", "started"
STEPS = (SUBMITTED, KNOWN, SENT, LANDED, STARTED)
"""A job's way. One that the global scheduler itself starts is neither sent nor lands."""

FINISHED, REJECTED, RESTARTED, ADVERTISED = "finished", "rejected", "restarted", "advertised"
RETURNED, RESOURCES, PREEMPTED = "returned", "resources", "preempted"

REACHED = {
    ANNOUNCED: 0,
    GLOBAL: 1,
    TRANSIT: 2,
    LANDING: 3,
    LOCAL: 3,
    RUNNING: 4,
    COALLOCATED: 4,
}
"""How far on its way a job of each status is."""

_NEWS, _ENDS, _RESTARTS, _WAY, _AFTER = 0, 1, 2, 3, 8
"""Order of the events of one turn: what arrives, ends, failures, then the jobs' ways."""


class JobEvents:
    """Tells what has happened to the jobs of a model since it was last asked, and was carried.

    Asked at each instant, it knows the time of every event. It remembers the live jobs only.

    Parameters
    ----------
    model : GridModel

    Attributes
    ----------
    identities : Identities
        Of the model's jobs.
    carried : CarriedMessages
        Has to hear what the kernel tells.
    """

    def __init__(self, model: GridModel) -> None:
        self._model = model
        self._names = [*model.world.platform.names, ""]
        self._seen = np.zeros(0, SEEN)
        self._moved = np.zeros(0, np.int64)
        self._left = 0
        self.identities = Identities(model.workload)
        self._way: dict[Identity, tuple[int, int]] = {}  # steps told, restarts told
        self._told = self._news()
        self._up = model.world.platform.sizes
        self._teller: dict[Identity, str] = {}  # of jobs that are not new to the scheduler
        self.carried = CarriedMessages(model, self.identities)

    def since(self) -> list[Event]:
        """Return the events since the last call, in the order in which they happened."""
        events = [*self.carried.take(), *self._advertised(), *self._resources()]
        events += [*self._departed(), *self._under_way()]
        self.carried.looked()
        events.sort(key=itemgetter(0, 1, 2))
        return [event for *_, event in events]

    def _departed(self) -> Iterator[Told]:
        world = self._model.world
        left = world.log.count
        if left == self._left:
            return
        records = world.log.latest(left - self._left)
        self._left = left
        for row in records:
            number = int(row["number"])
            job = self.identities.of(row)
            told = self._way.pop(job, (0, 0))
            steps = yield from self._setbacks(row, job, *told, NONE)
            if np.isnan(row["start"]):
                why = why_rejected(world.storage, row)
                known = STEPS.index(KNOWN)
                yield from self._steps(row, steps, known + (not at_arrival(why)), {}, True)
                rejected: Event = {"event": REJECTED, **job.facts(), "reason": why}
                yield self._known_in(job), _WAY + known + 1, number, rejected
                continue
            parts = parts_of(records, row)
            last = (0, _ENDS) if steps == len(STEPS) else (LAST, _AFTER)  # if it took no time
            yield from self._steps(row, steps, len(STEPS), parts, row["cluster"] == NONE)
            end: Event = {"event": FINISHED, **job.facts(), "placement": self._named(parts)}
            if len(parts) > 1:
                end["dedicated"] = float(row["execution_time"] - row["staging"])
            yield *last, number, end

    def _under_way(self) -> Iterator[Told]:
        world = self._model.world
        if len(self._seen) < len(world.jobs.slots):
            more = len(world.jobs.slots) - len(self._seen)
            self._seen = np.concatenate([self._seen, np.zeros(more, SEEN)])
            self._moved = np.empty(len(self._seen), np.int64)
        count = moved(world.jobs.slots, self._seen, self._moved)
        # Perhaps as far as before by now.
        back = (returns[-1].slot for returns in self.carried.returns.values())
        for slot in sorted({*self._moved[:count].tolist(), *back}):
            row = world.jobs.slots[slot]
            if row["status"] == VACANT:
                continue
            job = self.identities.of(row)
            told, by = self._way.get(job, (0, 0)), int(row["preempted_by"])
            steps = yield from self._setbacks(row, job, *told, by)
            reached, placed = REACHED[int(row["status"])] + 1, row["placed"] == 1
            yield from self._steps(row, steps, reached, world.jobs.parts(slot), placed)
            self._way[job] = reached, int(row["restarts"])

    def _setbacks(
        self, row: np.void, job: Identity, steps: int, told: int, by: int
    ) -> Generator[Told, None, int]:
        """Yield what threw a job back; return how many steps of its way are told since.

        That is a failure, or the job in slot `by`.
        """
        number, restarts = int(row["number"]), int(row["restarts"])
        if restarts > told:
            again: Event = {"event": RESTARTED, **job.facts(), "restarts": restarts}
            if by != NONE:
                other = self.identities.of(self._model.world.jobs.slots[by])
                again |= {"event": PREEMPTED, "by": other.number}
                again |= {"by_which": other.which} if other.which else {}
            yield 0, _RESTARTS, number, again
            steps = STEPS.index(LANDED)
        known_in = 0
        for back in self.carried.returns.get(job, ()):
            yield from self._sent_in_vain(row, job, steps, known_in, back)
            if back.given_back:
                yield back.turn, _RESTARTS, number, {"event": RETURNED, **job.facts()}
            self._teller[job] = back.by
            steps, known_in = STEPS.index(KNOWN), back.turn
        return steps

    def _sent_in_vain(
        self, row: np.void, job: Identity, steps: int, known_in: int, back: Return
    ) -> Iterator[Told]:
        """Yield how a job got to where it came back from, if that was at this instant."""
        if back.sent is None:
            return
        for step in range(steps, STEPS.index(LANDED)):
            turn = back.sent.turn if STEPS[step] == SENT else known_in
            event = self._step(step, row, {}, back.sent.cluster)
            yield turn, _WAY + step, job.number, event

    def _known_in(self, job: Identity) -> int:
        """Return the turn in which the global scheduler was last told of a job."""
        returns = self.carried.returns.get(job)
        return returns[-1].turn if returns else 0

    def _resources(self) -> Iterator[Told]:
        """Yield the clusters of which processors have come up or gone away."""
        before, self._up = self._up, self._model.world.state.up.copy()
        for cluster in np.flatnonzero(self._up != before).tolist():
            up = int(self._up[cluster])
            changed: Event = {"event": RESOURCES, "cluster": self._names[cluster], "up": up}
            yield 0, _RESTARTS, cluster, changed

    def _advertised(self) -> Iterator[Told]:
        """Yield what the global scheduler's broker has heard of clusters."""
        news, told = self._news(), self._told
        self._told = news
        state = self._model.world.state
        # What is known to be free may also be less since a job came back.
        differs = (news[1:] != told[1:]).any(axis=0) & (state.returned_at < news[0])
        heard = (news[0] != told[0]) | differs
        later = (state.latency > 0) & (state.at_once == 0)
        for cluster in np.flatnonzero(heard).tolist():
            at, free, waiting = news[:, cluster].tolist()
            yield (
                *((0, _NEWS) if later[cluster] else (LAST, _AFTER)),
                cluster,
                {
                    "event": ADVERTISED,
                    "sender": self._names[cluster],
                    "receiver": self._model.scheduler.name,
                    "sent": at,
                    "free": int(free),
                    "waiting": int(waiting),
                },
            )

    def _news(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        known = self._model.world.known
        return np.array([known["at"], known["free"], known["waiting"]], np.float64)

    # Events -------------------------------------------------------------------------------------

    def _steps(
        self, row: np.void, first: int, end: int, parts: Mapping[int, int], placed: bool
    ) -> Iterator[Told]:
        """Yield a job's steps from `first` to before `end`."""
        job = self.identities.of(row)
        sent = self.carried.sent.get(job)
        turns = {KNOWN: self._known_in(job), STARTED: LAST}
        if sent is not None:
            turns |= {SENT: sent.turn, LANDED: sent.turn}
        cluster = self._names[int(row["cluster"])]
        for step in range(first, end):
            if not (placed and STEPS[step] in (SENT, LANDED)):
                event = self._step(step, row, parts, cluster)
                yield turns.get(STEPS[step], 0), _WAY + step, job.number, event

    def _step(self, step: int, row: np.void, parts: Mapping[int, int], cluster: str) -> Event:
        world, origin = self._model.scheduler.name, int(row["origin"])
        job = self.identities.of(row)
        event: Event = {"event": STEPS[step], **job.facts()}
        if step == 0:
            deadline = float(row["deadline"])
            event |= {
                "sender": "users",
                "receiver": world if origin == ANYWHERE else self._names[origin],
                "size": int(row["size"]),
                "deadline": deadline if deadline < math.inf else None,
            }
            if only := self._model.world.jobs.only_on(row):
                event["clusters"] = only
            if sizes := self._model.world.jobs.sizes_of(row):
                event["sizes"] = sizes
        elif STEPS[step] == KNOWN:
            first = "users" if origin == ANYWHERE else self._names[origin]
            sender = self._teller.pop(job, first)
            event |= {"sender": sender, "receiver": world}
        elif STEPS[step] == STARTED:
            event["placement"] = self._named(parts)
            if row["staging"] > 0:
                event["staging"] = float(row["staging"])
        else:
            event |= {"sender": world, "receiver": cluster}
        return event

    def _named(self, parts: Mapping[int, int]) -> dict[str, int]:
        return {self._names[cluster]: count for cluster, count in parts.items()}
