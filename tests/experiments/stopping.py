"""A scheduler in plain Python by which runs are stopped where a test wants it."""

from __future__ import annotations

import os
import random
import signal
from typing import Any

from agents.model import GridModel
from agents.schedulers import Answer, GlobalScheduler
from agents.view import Job


class Stopping(GlobalScheduler):
    """Decides at random; ``STOP_BY`` says what happens when it is asked about job ``STOP_AT``."""

    def __init__(self, model: GridModel) -> None:
        super().__init__(model)
        self._random = random.Random(model.seed)

    def place(self, job: Job) -> Answer:
        """Choose any cluster that is large enough."""
        if job.number == int(os.environ.get("STOP_AT", "-1")):
            self._stop(os.environ["STOP_BY"])
        return self._random.choice([each for each in self.clusters if each.size >= job.size])

    def _stop(self, by: str) -> None:
        if by == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        elif by == "interrupt":
            signal.raise_signal(signal.SIGINT)
        elif by == "kill in checkpoint":
            self._killing = True
        elif by == "attribute":
            self._jobs = (job for job in ())
        else:
            raise RuntimeError(by)

    def __getstate__(self) -> dict[str, Any]:
        if "_killing" in self.__dict__:
            os.kill(os.getpid(), signal.SIGKILL)
        return self.__dict__


class Unpicklable(Stopping):
    """Has an attribute that no checkpoint can hold."""

    def __init__(self, model: GridModel) -> None:
        super().__init__(model)
        self.key = lambda cluster: cluster.load
