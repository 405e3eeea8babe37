"""What a site is to a service, and what a job leaves in its folder, wherever it runs."""

from __future__ import annotations

import math
import os
import re
import shlex
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib import resources
from pathlib import Path
from typing import NamedTuple, Protocol

from experiments.service.store import CANCELLED, DONE, FAILED, LOST, LiveJob

RUN_ONCE = str(resources.files("experiments") / "service" / "run_once.sh")
HELD, ASKED = "held", "asked"
"""What a job's folder has if it is not to run yet, or is to end."""
CLAIM, STARTED, EXIT_STATUS = "claim", "started", "ended"
"""What `RUN_ONCE` has written there."""
PLACE, SIGNAL, ALIVE = "place", "signal", "alive"
"""What else it reads, and writes, of a job of a batch system."""
OUTPUT = "output"
"""What else: all that its command has written."""
SILENT, ANSWERS = "it gets no job until it answers again", "answers again"
"""How it is told that a site does not answer, and that it does."""
OF_JOB = "METASCHED_"
"""How the names of variables begin that a job finds in its environment."""

_BACK = "back"
"""Who claims a job so that nobody runs it."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OF_SHELL = {"UID", "EUID", "PPID", "SHELLOPTS", "BASHOPTS", "PWD", "OLDPWD", "SHLVL", "_"}
"""Variables that are the shell's own."""
_OF_SITE = "SLURM_", "SBATCH_", "PBS_", "LSB_", "FLUX_"
"""How names of variables begin that tell a job of its allocation, not of where it was submitted."""


class Began(NamedTuple):
    """The command of a job runs, since a time by the clock, s."""

    job: int
    time: float


class End(NamedTuple):
    """How a job ended."""

    job: int
    exit_status: int | None
    """None: its processes are gone, and nobody has said how they ended."""
    time: float
    """When, by the clock, s."""
    begun: bool = True
    """False: its command has not been run, as where there was no room for its claim."""
    why: str = ""
    """What the site says of that, if its command does not."""
    again: bool = True
    """It may run again if its user allows: it went over no limit, and nobody has cancelled it."""
    lost: bool = False
    """It has begun, gives no sign of life, and its site does not know it."""
    back: bool = False
    """It has not begun, never will there, and may go elsewhere."""


class Told(NamedTuple):
    """What an administrator should know of a site, or of a job there, in words."""

    line: str
    job: int | None = None
    why: str = ""
    """Why the job does not begin as things are, in the site's word."""


class Site(Protocol):
    """A site: so many processors, on which jobs run that it is told to start."""

    name: str

    @property
    def capacity(self) -> int:
        """Processors that our jobs may hold together, at present."""

    @property
    def silent(self) -> bool:
        """Whether it does not answer."""

    def start(self, job: LiveJob, folder: Path) -> None:
        """Start a job that has not run, or that it is not known of; its claim has it run once.

        Raises
        ------
        OSError
            If that cannot be done.
        """

    def find(self, job: LiveJob, folder: Path) -> bool:
        """Look for a job of before this process began; tell whether it runs, or will."""

    def stop(self, job: int, at_once: bool = False) -> None:
        """Ask a job that was to start to end, or have it end at once."""

    def news(self) -> Iterator[Began | End | Told]:
        """Yield what has happened since this was asked last."""

    def close(self) -> None:
        """Be told of nothing any longer; jobs run on."""


def ending(job: LiveJob, end: End, folder: Path) -> tuple[str, str]:
    """Return how a job ends, and why, where its command does not say.

    One that was asked to end before it did has been cancelled, whatever it made of that.
    """
    if job.cancelled and (end.exit_status != 0 or (folder / ASKED).exists()):
        return CANCELLED, ""
    if end.exit_status is None:
        return LOST if end.lost else FAILED, end.why or "its processes were killed"
    state = DONE if end.exit_status == 0 else FAILED
    return state, "before a service asked it to end" if job.cancelled else end.why


def end_of(job: int, folder: Path) -> End | None:
    """Return how a job ended, if its folder tells; an `OSError` if that cannot be read."""
    file = folder / EXIT_STATUS
    with suppress(FileNotFoundError, ValueError):
        return End(job, int(file.read_text()), file.stat().st_mtime)
    return None


def began_at(folder: Path) -> float | None:
    """Return when the command of a job began, by the clock that tells of its end, if it did."""
    with suppress(OSError):
        return (folder / STARTED).stat().st_mtime
    return None


def claimant(folder: Path) -> int | None:
    """Return the number of the process that has claimed a job; None: none has."""
    with suppress(OSError, ValueError):
        return int(os.readlink(folder / CLAIM))
    return None


def take_back(folder: Path) -> None:
    """Have an attempt of a job never run, wherever it is started, unless it has begun."""
    with suppress(OSError):  # it has a claim, or the disk is full
        (folder / CLAIM).symlink_to(_BACK)


def is_back(folder: Path) -> bool:
    """Tell whether an attempt of a job was taken back."""
    with suppress(OSError):
        return os.readlink(folder / CLAIM) == _BACK
    return False


def have_end(folder: Path) -> None:
    """Have the command of a job not begin any more; one that has is to be sent a signal after."""
    with suppress(OSError):  # the disk is full
        (folder / ASKED).touch()


def send(folder: Path, signal: str) -> None:
    """Have the script of a job of a batch system send a signal to its processes, in ten seconds."""
    new = (folder / SIGNAL).with_suffix(".new")
    with suppress(OSError):
        new.write_text(signal)
        os.replace(new, folder / SIGNAL)


def may_run(job: int, folder: Path) -> bool:
    """Tell whether a job has begun, as its folder says, and not ended."""
    return claimant(folder) is not None and end_of(job, folder) is None


def environment(job: LiveJob, site: str, folder: Path) -> Mapping[str, str]:
    """Return the environment of a job: its user's, and what tells it who it is."""
    told = {"JOB": job.job, "NAME": job.name, "SIZE": job.size, "SITE": site, "FOLDER": folder}
    own = {name: value for name, value in job.environment.items() if name and "=" not in name}
    return {**own, **{f"{OF_JOB}{key}": str(value) for key, value in told.items()}}


def placed(job: LiveJob, site: str, folder: Path) -> bytes:
    """Return the lines by which a shell gets the environment of a job, and goes where it runs."""
    lines = []
    for name, value in environment(job, site, folder).items():
        if _NAME.fullmatch(name) and name not in _OF_SHELL and not name.startswith(_OF_SITE):
            lines.append(f"export {name}={shlex.quote(value)}\n")
    where = shlex.quote(job.folder)
    lines.append(f"exec >> {shlex.quote(str(folder / OUTPUT))} 2>&1\n")
    lines.append(f"cd -- {where} || set -- sh -c 'exit 126'\n")
    return os.fsencode("".join(lines))


def last_sign(folder: Path) -> float:
    """Return when a job of a batch system gave its last sign of life, by the clock of its files."""
    last = -math.inf
    for each in (CLAIM, STARTED, ALIVE):
        with suppress(OSError):
            last = max(last, (folder / each).lstat().st_mtime)
    return last


def lives(folder: Path, lately: float) -> bool:
    """Tell whether a job of a batch system has given a sign of life lately (s)."""
    with suppress(OSError):  # the disk is full
        probe = folder / "probe"
        probe.touch()
        now = probe.stat().st_mtime
        probe.unlink()
        return now - last_sign(folder) < lately
    return True
