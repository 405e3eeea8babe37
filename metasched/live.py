"""A service of real jobs, from Python: what `metasched submit` and its like say to it.

Nothing of the simulator is loaded, unless a forecast is asked for.
"""

from __future__ import annotations

import os

from experiments.service.calls.executor import Executor, TaskFuture
from experiments.service.calls.task_files import JobError
from experiments.service.connection import Connection, Job
from experiments.service.store import LiveJob

__all__ = ["Connection", "Executor", "Job", "JobError", "LiveJob", "TaskFuture", "connect"]


def connect(state: str | os.PathLike[str]) -> Connection:
    """Return a connection to the service of a folder, to be closed, as by ``with``.

    Raises
    ------
    GridError
        If no service has ever been there.
    """
    return Connection(state)
