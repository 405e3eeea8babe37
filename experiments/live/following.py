"""Which job is followed, and what is seen and heard of it."""

from __future__ import annotations

from numbers import Integral

import numpy as np
import numpy.typing as npt

from agents.messages import (
    JobMetadata,
    JobSubmitted,
    JobTransfer,
    Message,
    ScheduleReport,
    SeedSchedule,
)
from agents.model import GridModel
from experiments.events.happenings import parts_of
from experiments.events.identity import Identities, Identity
from experiments.events.story import Known, tell
from experiments.events.words import Place, Story
from experiments.live.columns import shorten_apart
from grid.errors import GridError
from grid.foreign import quoted
from grid.jobs import ANYWHERE
from grid.kernel.state import GLOBAL, LOCAL, NONE, RUNNING, VACANT
from grid.workloads.table import Table
from grid.world.finished import Records

NAME = 12
"""Cells that the name of a cluster may take in a story."""

HOLD = 3.0
"""Wall time for which the story of a job that has left stays, s."""

PATIENCE = 1.0
"""Wall time after which another job will do than the one that was hoped for, s."""


def check_number(model: GridModel, number: int) -> None:
    """Raise `GridError` if a model's workload has no job of a number."""
    workload = model.workload
    if not isinstance(number, Integral):
        there, accepted = False, "the number of a job"
    elif isinstance(workload, Table):
        there = bool((workload.jobs["number"] == number).any())
        accepted = "the number of a job of the workload"
    else:
        there, accepted = (
            1 <= number <= workload.count,
            f"the number of a job, from 1 to {workload.count}",
        )
    if not there:
        raise GridError(f"follow: found {quoted(number)}; accepted: {accepted}")


class Follower:
    """Follows one job of a model after the other, or a single one.

    It hears what is said of the job as it is said; what the world knows of it, it looks up now and
    then. Jobs submitted through a cluster take turns with those submitted to the global scheduler,
    as far as there are both.

    Parameters
    ----------
    model : GridModel
    number : int, optional
        Follow the job of this number alone, the first if there are several.

    Attributes
    ----------
    story : Story
        As of the last look.
    """

    def __init__(self, model: GridModel, number: int | None = None) -> None:
        self.story = Story("Following: no job yet", [])
        self._model = model
        self._names = shorten_apart(model.world.platform.names, NAME)
        self._alone = number is not None
        self._identities = Identities(model.workload)
        self._known: Known | None = None
        self._through = True  # the next one shall be submitted through a cluster
        self._any = False  # or not
        self._wanted = not self._alone
        self._wanted_since: float | None = None
        if number is not None:
            self._follow(self._identities.first(number))
        self.listen()

    def listen(self) -> None:
        """Hear what is said in the model, from now on."""
        self._model.listeners.append(self._hear)
        self._model.world.log.consumers.append(self._see_gone)

    def close(self) -> None:
        """Hear nothing any more."""
        self._model.listeners.remove(self._hear)
        self._model.world.log.consumers.remove(self._see_gone)

    def look(self, wall: float) -> None:
        """See how the job fares, and turn to another when its story has stayed for long enough.

        Parameters
        ----------
        wall : float
            Wall time, s.
        """
        self._see()
        if not self._alone:
            self._turn(wall)
        if self._known is None:
            self._look_back()
        if self._known is not None:
            self.story = tell(self._model, self._names, self._known)

    # Which job ----------------------------------------------------------------------------------

    def _turn(self, wall: float) -> None:
        """Want another job if this one has left, and choose one if none is submitted."""
        known = self._known
        if known is not None and not known.over:
            self._wanted, self._wanted_since = False, None
            return
        if self._wanted_since is None:
            self._wanted_since = wall + (0.0 if known is None else HOLD)
        wanted_for = wall - self._wanted_since
        self._wanted, self._any = wanted_for >= 0, wanted_for >= PATIENCE
        # Only a scheduler that works in rounds is told of submissions by messages. The first job
        # is not waited for: there is no other story to tell.
        hopes = known is not None and self._model.scheduler.collects
        patience = 2 * PATIENCE if hopes else 0.0
        if wanted_for >= patience:
            self._choose()

    def _choose(self) -> None:
        """Follow a live job, best one that has not started, of the kind wanted, the newest."""
        jobs = self._model.world.jobs
        live = np.flatnonzero(jobs["status"] != VACANT)
        if len(live):
            early = jobs["status"][live] < RUNNING
            kind = (jobs["origin"][live] != ANYWHERE) == self._through
            best = live[np.lexsort((jobs["arrival"][live], kind, early))[-1]]
            self._through = jobs["origin"][best] == ANYWHERE
            self._follow(self._identities.of(self._model.world.jobs.slots[best]))

    def _look_back(self) -> None:
        """Follow the job that left last, now that no other is there."""
        last = self._model.world.log.latest(1)
        if len(last):
            self._follow(self._identities.of(last.rows[0]))
            self._see_gone(last)

    def _follow(self, job: Identity) -> None:
        self._known = Known(job, self._identities.named(job))
        self._wanted, self._wanted_since = False, None
        self._see()
        for message in self._model.said:
            self._note(self._known, message)

    # What is known of it ------------------------------------------------------------------------

    def _hear(self, message: Message) -> None:
        if isinstance(message, (JobSubmitted, JobMetadata)):
            through = isinstance(message, JobMetadata)
            if self._wanted and (self._any or through == self._through):
                self._through = not through
                self._follow(self._submitted(message.jobs[0]))
        elif self._known is not None:
            self._note(self._known, message)
            if isinstance(message, ScheduleReport):
                self._see_plan(self._known, message)

    def _submitted(self, number: int) -> Identity:
        """Return the job of a number that was submitted last."""
        slots = self._live(number)
        if not len(slots):
            return self._identities.first(number)
        world = self._model.world
        return self._identities.of(world.jobs.slots[slots[world.jobs["arrival"][slots].argmax()]])

    def _live(self, number: int) -> npt.NDArray[np.int64]:
        """Return where the world keeps the jobs of a number."""
        jobs = self._model.world.jobs
        return np.flatnonzero((jobs["number"] == number) & (jobs["status"] != VACANT))

    def _note(self, known: Known, message: Message) -> None:
        number, shared = known.identity.number, known.identity.which > 0
        if not isinstance(message, SeedSchedule | JobTransfer) or number not in message.jobs:
            return
        if shared and known.job is None:
            self._see()
        if isinstance(message, SeedSchedule):
            for place, (job, slot) in enumerate(zip(message.jobs, message.slots, strict=True)):
                if job == number and (not shared or slot == known.slot):
                    known.seed, known.in_seed = message, place
                    known.slot = NONE if known.over else slot
        elif not shared or self._is_moved(known, message):
            known.transfer = message

    def _is_moved(self, known: Known, transfer: JobTransfer) -> bool:
        """Return whether a transfer is of the job, and not of another one of its number."""
        job = known.job
        if job is None or known.over or job["status"] >= RUNNING:
            return False
        model, origin = self._model, job["origin"]
        sender = model.broker if origin == ANYWHERE else model.clusters[origin].broker
        way = sender.name, model.clusters[job["cluster"]].name
        return (transfer.sender, transfer.receiver) == way

    def _see_plan(self, known: Known, report: ScheduleReport) -> None:
        """See the job's place in the first plan with it, of which a scheduler reports just now."""
        world, slot = self._model.world, known.slot
        if known.planned is None and slot != NONE and world.state.planned[report.cluster]:
            job = world.jobs.slots[slot]
            there = known.identity.number, LOCAL, report.cluster
            if (job["number"], job["status"], job["cluster"]) == there and job["key"] < np.inf:
                known.planned = self._place(slot)

    def _place(self, slot: int) -> Place | None:
        """Return a waiting job's place in its queue."""
        world = self._model.world
        status = world.jobs["status"][slot]
        if status not in (GLOBAL, LOCAL):
            return None
        queue = world.jobs.waiting(world.jobs["cluster"].item(slot) if status == LOCAL else None)
        return Place(world.now, int(np.flatnonzero(queue == slot)[0]) + 1, len(queue))

    def _see(self) -> None:
        """Look the job up where the world keeps it, or among those that left of late."""
        world, known = self._model.world, self._known
        if known is None or known.over:
            return
        for slot in self._live(known.identity.number).tolist():
            if self._identities.of(world.jobs.slots[slot]) != known.identity:
                continue
            known.slot = slot
            known.job = world.jobs.slots[known.slot]
            known.parts = world.jobs.parts(known.slot)
            known.queued = self._place(known.slot)
            return
        self._see_gone(world.log.latest(world.state.finished))

    def _see_gone(self, records: Records) -> None:
        """See whether the job is among some that left."""
        known = self._known
        if known is None or known.over:
            return
        for row in records.rows[records["number"] == known.identity.number]:
            if self._identities.of(row) == known.identity:
                known.job, known.slot = row, NONE
                known.parts = parts_of(records, row)
