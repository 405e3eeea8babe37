"""The audit log: all that agents, sites and people did, appended by one service after the other."""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from experiments.events.job_events import FINISHED, REJECTED, STARTED, SUBMITTED
from experiments.events.log import CANCELLED, HELD, RELEASED, EventLog
from experiments.events.message_events import Event
from experiments.scenario.scenario import Scenario
from experiments.service.mirror import Mirror
from experiments.service.store import WAITING, LiveJob
from grid.kernel.state import VACANT
from grid.world.validation import WITHDRAWN

FILE = "events.jsonl"
"""Its name in the folder of a service, as in that of a run."""
WRITTEN = "the audit log of a service, as it was written"

TAKEN_UP, MAY_BEGIN = "taken up at", "may begin at"
"""How the words begin that tell of a job which a service found running, or not yet."""
LATE = 1.0
"""After so long, it is told that a job was submitted before a service took it in, s."""

_BLOCK = 1 << 16


class Appended:
    """A file that whole lines are only ever appended to; what does not fit yet is kept for later.

    Parameters
    ----------
    path : Path
        What a process that was killed has left of a line is cut off.

    Attributes
    ----------
    place : Path
    last : dict
        The last line that was there, empty if there was none.
    """

    def __init__(self, path: Path) -> None:
        self.place = path
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        self._left = b""
        self.last: Mapping[str, Any] = {}
        tail, at = b"", os.lseek(self._file, 0, os.SEEK_END)
        end = at
        while at and tail.count(b"\n") < 2:
            at = max(0, at - _BLOCK)
            tail = os.pread(self._file, end - at, at)
        whole = tail.rpartition(b"\n")[0]
        os.ftruncate(self._file, end - len(tail) + len(whole) + (b"\n" in tail))
        with suppress(ValueError):
            self.last = json.loads(whole.rpartition(b"\n")[2])

    def write(self, text: str) -> None:
        """Take lines that are to be written."""
        self._left += text.encode()

    def flush(self) -> None:
        """Write what can be written now, as on a disk that is full not all can."""
        with suppress(OSError):
            while self._left:
                self._left = self._left[os.write(self._file, self._left) :]

    def close(self) -> None:
        """Write no more."""
        os.close(self._file)


class Audit(EventLog):
    """Appends what happens in a mirror, and what sites and people do, to the log of its folder.

    Each service begins with a line of its grid; times are since the first one of the folder began.

    Parameters
    ----------
    model : Mirror
        New.
    folder : Path
        Of the service.
    scenario : Scenario
        What is served.
    began : float
        When the first service began, by the clock, s.
    """

    def __init__(self, model: Mirror, folder: Path, scenario: Scenario, began: float) -> None:
        self._appended = Appended(folder / FILE)
        last = self._appended.last
        since = max(float(last.get("time", 0.0)), time.time() - began)
        after = int(last.get("serial", 0)), since
        told = scenario.to_dict()
        facts = {key: told[key] for key in ("global", "local", "parameters", "platform")}
        facts |= {"scenario": scenario.name, "seed": model.seed}
        self._withdrawn: set[int] = set()  # jobs that will not run when their turn comes
        self._began = began
        self._arrivals: dict[int, float] = {}  # of jobs that the mirror has not been told of, s
        facts["start"] = datetime.fromtimestamp(began).astimezone().isoformat()
        super().__init__(model, self._appended, after, **facts)

    def told_of(self, kind: str, words: str, job: LiveJob | None = None, **facts: Any) -> None:
        """Note what is no matter of the mirror; of this it tells what was seen before.

        A job that is held or cancelled at the instant at which the mirror starts it is ended there
        at once: that is no matter of anybody else, but that it leaves its queue.
        """
        if job is not None and kind == RELEASED:
            self._withdrawn.discard(job.job)
        elif job is not None and job.state == WAITING and kind in (HELD, CANCELLED):
            self._withdrawn.add(job.job)
        of_job = {} if job is None else {"job": job.job}
        self._note({"event": kind, **of_job, "words": words, **facts})

    def arrived(self, job: LiveJob) -> None:
        """Take note when a job was submitted, whether it is to run for the first time or not."""
        self._arrivals[job.job] = job.submitted - self._began

    def _note(self, event: Event) -> None:
        if event["event"] == SUBMITTED:
            arrival = self._arrivals.pop(event["job"], math.inf)
            if arrival < self._model.now - LATE:
                event = {**event, "arrival": arrival}
        if event.get("job") in self._withdrawn:
            if event["event"] == STARTED:
                return
            if event["event"] == FINISHED:
                event = {"event": REJECTED, "job": event["job"], "reason": WITHDRAWN}
        super()._note(event)

    def write(self) -> None:
        """Have all that has happened so far be read by others."""
        self._see()
        self.flush()

    def close(self) -> None:
        """Note that the service ends, whatever its jobs do."""
        self._model.running = bool((self._model.world.jobs["status"] != VACANT).any())
        super().close()
        self._appended.close()
