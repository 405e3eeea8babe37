"""Whatever batch system PSI/J knows: PBS, LSF, Flux and others."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

from experiments.service.at_sites.batch_system import (
    LaterError,
    Listed,
    Look,
    RefusedError,
    minutes,
)
from experiments.service.store import LiveJob
from grid.errors import GridError
from grid.foreign import plain, quoted
from grid.names import meant

NATIVE = "native"
"""What a job's folder has, too: the name by which its batch system has it."""
POLL = 2
"""Time between two looks of PSI/J at a batch system, s."""
NOWHERE = Path(os.devnull)
EVER = 10**9
"""How often it may fail in succession: PSI/J would call all jobs failed after a few."""


class PsiJ:
    """A batch system by PSI/J.

    It is one system a process, whose jobs are known by the numbers that it gives out. PSI/J calls
    a job that it does not find completed, so that its folder alone tells what has become of it.

    Parameters
    ----------
    executor : str
        Its name in PSI/J.
    slots : int
        Processors that jobs of ours may hold.
    folder : Path
        Where PSI/J keeps what it has to.

    Raises
    ------
    GridError
        If PSI/J is not installed, or has no such executor.
    """

    def __init__(self, executor: str, slots: int, folder: Path) -> None:
        psij = known_executor(executor)
        from psij.executors.batch.batch_scheduler_executor import BatchSchedulerExecutorConfig

        self._psij, self._slots = psij, slots
        self._executor = psij.JobExecutor.get_instance(
            executor,
            config=BatchSchedulerExecutorConfig(
                work_directory=folder,
                initial_queue_polling_delay=POLL,
                queue_polling_interval=POLL,
                queue_polling_error_threshold=EVER,
            ),
        )
        self._jobs: dict[str, Any] = {}

    def take_up(self, token: str, folder: Path) -> None:
        """Watch a job of an earlier process, if its number is known."""
        with suppress(Exception):  # of the many kinds that executors have for what is gone
            native = (folder / NATIVE).read_text()
            job = self._psij.Job(self._psij.JobSpec(executable="/bin/sh"))
            self._executor.attach(job, native)
            self._jobs[token] = job

    def look(self) -> Look:
        """Return its jobs as PSI/J has them."""
        jobs = {}
        for token, job in self._jobs.items():
            status = job.status
            why = f" ({plain(status.message, 120)})" if status.message else ""
            active = status.state is self._psij.JobState.ACTIVE
            jobs[token] = Listed(status.final, f"{status.state.name}{why}", not active)
        return Look(jobs, self._slots)

    def submit(self, token: str, job: LiveJob, script: Sequence[str], output: Path) -> None:
        """Submit a script, which writes its output itself."""
        psij = self._psij
        asked = {}
        if job.limit is not None:
            asked["duration"] = timedelta(minutes=minutes(job.limit))
        spec = psij.JobSpec(
            executable="/bin/sh",
            arguments=[*script],
            directory=Path("/"),
            inherit_environment=False,
            environment={"PATH": os.environ.get("PATH", os.defpath)},
            stdout_path=NOWHERE,
            stderr_path=NOWHERE,  # PSI/J cannot do without
            resources=psij.ResourceSpecV1(process_count=job.size),
            attributes=psij.JobAttributes(**asked),
            launcher="single",
        )
        submitted = psij.Job(spec)
        try:
            self._executor.submit(submitted)
        except psij.InvalidJobException as error:
            raise RefusedError(plain(str(error), 200)) from None
        except psij.SubmitException as error:
            raise LaterError(plain(str(error), 200)) from None
        self._jobs[token] = submitted
        with suppress(OSError):  # the disk is full: it is not found again after a restart
            (output.parent / NATIVE).write_text(str(submitted.native_id))

    def cancel(self, token: str, at_once: bool) -> None:
        """Have a job end; PSI/J knows one way only."""
        with suppress(self._psij.SubmitException):
            if token in self._jobs:
                self._jobs[token].cancel()


def known_executor(name: str) -> Any:
    """Return the library, which has an executor of a name; a `GridError` if it has not."""
    try:
        import psij
    except ImportError:
        raise GridError(
            "psij: not installed; accepted: pip install 'metasched[psij]', or another driver"
        ) from None
    known = sorted(psij.JobExecutor.get_executor_names())
    if name not in known:
        raise GridError(f"executor: found {quoted(name)}; {meant(name, known)}")
    return psij
