"""Slurm's commands, as a batch system: jobs are known by name, for numbers are given out again."""

from __future__ import annotations

import math
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from experiments.service.batch_system import LaterError, Listed, Look, RefusedError, SilentError
from experiments.service.store import LiveJob
from grid.errors import GridError
from grid.foreign import plain, quoted

ANSWER = 20.0
"""Longest time that an answer may take, s; a command gives up by itself after half of that."""
ENDED = {"BOOT_FAIL", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED"}
ENDED |= {"REVOKED", "TIMEOUT", "CANCELLED"}
"""States of jobs that have ended; others may run yet, or hold processors."""
SILENT = "contact", "timed out", "connect", "communicat"
"""What is in errors of a controller that does not answer."""
LATER = "temporar", "try again", "submit limit"
"""What is in errors that pass."""
_KEPT = "PATH", "HOME", "LANG", "LC_ALL", "SLURM_CONF", "TZ"


class Slurm:
    """A partition of a Slurm cluster.

    Parameters
    ----------
    prefix : str
        How names of our jobs begin.
    conf : str, optional
        Its slurm.conf; the one that commands take by themselves, if not given.
    partition : str, optional
        Not given: the cluster's default.

    Raises
    ------
    GridError
        If Slurm's commands are not installed.
    """

    def __init__(self, prefix: str, conf: str | None = None, partition: str | None = None) -> None:
        self._prefix, self._partition = prefix, partition
        self._environment = {key: os.environ[key] for key in _KEPT if key in os.environ}
        if conf is not None:
            self._environment["SLURM_CONF"] = conf
        for command in ("sbatch", "squeue", "scancel", "sinfo"):
            if shutil.which(command) is None:
                raise GridError(f"slurm: no {command} here; accepted: Slurm's commands in PATH")

    def size(self) -> int:
        """Return how many processors the partition has; a `GridError` if there is none."""
        found = self._partitions()
        if self._partition not in found:
            asked, names = quoted(self._partition or "a default"), sorted(filter(None, found))
            raise GridError(f"partition: found {asked}; accepted: {', '.join(names)}")
        return found[self._partition][-1]

    def take_up(self, token: str, folder: Path) -> None:
        """Do nothing: names tell."""

    def look(self) -> Look:
        """Return its jobs of ours, and the processors that neither others have nor are gone."""
        asked = "squeue", "-h", "-a", "-t", "all", "-u", str(os.getuid()), "-o", "%j|%T|%C|%r"
        jobs: dict[str, Listed] = {}
        held = 0
        for line in self._asked(*asked).splitlines():
            token, state, processors, reason = line.rsplit("|", 3)
            if not token.startswith(self._prefix):
                continue
            waits = state == "PENDING"
            told = f"{state} ({plain(reason, 60)})" if waits else state
            listed = Listed(state in ENDED, told, waits)
            if token not in jobs or jobs[token].ended:  # one that lives counts
                jobs[token] = listed
            if not (listed.ended or listed.waits):
                held += int(processors)
        allocated, _, other, size = self._partitions().get(self._partition, [0, 0, 0, 0])
        return Look(jobs, size - other - max(0, allocated - held))

    def submit(self, token: str, job: LiveJob, script: Sequence[str], output: Path) -> None:
        """Submit a script, which Slurm copies, with the words after it."""
        options = {"job-name": token, "ntasks": job.size, "chdir": "/", "export": "ALL"}
        if {*"%\\"} & {*str(output)}:  # which have a meaning there
            output = Path(os.devnull)
        options |= {"output": output, "open-mode": "append", "comment": plain(job.name, 60)}
        if self._partition is not None:
            options["partition"] = self._partition
        if job.time is not None:
            options["time"] = max(1, math.ceil(job.time / 60.0))  # minutes
        given = [f"--{name}={value}" for name, value in options.items()]
        done = self._run("sbatch", "--parsable", "--no-requeue", *given, *script)
        if done.returncode:
            why = _line(done.stderr)
            for kind, words in ((SilentError, SILENT), (LaterError, LATER)):
                if any(word in why.lower() for word in words):
                    raise kind(why)
            raise RefusedError(why)

    def cancel(self, token: str, at_once: bool) -> None:
        """Have what has a name end, or never begin."""
        name = f"--name={token}"
        if at_once:
            self._asked("scancel", name)
        else:
            self._asked("scancel", name, "--state=PENDING")
            self._asked("scancel", name, "--state=RUNNING", "--signal=TERM", "--full")

    def _partitions(self) -> dict[str | None, list[int]]:
        """Return of each how many processors are allocated, idle, other (down or drained), and all.

        None is the default one.
        """
        found: dict[str | None, list[int]] = {}
        for line in self._asked("sinfo", "-h", "-a", "-o", "%P|%C").splitlines():
            partition, _, counts = line.rpartition("|")
            found[partition.rstrip("*")] = [*map(int, counts.split("/"))]
            if partition.endswith("*"):
                found[None] = found[partition.rstrip("*")]
        return found

    def _asked(self, *words: str) -> str:
        done = self._run(*words)
        if done.returncode:
            raise SilentError(_line(done.stderr) or f"{words[0]}: exit status {done.returncode}")
        return done.stdout

    def _run(self, *words: str) -> subprocess.CompletedProcess[str]:
        try:
            return subprocess.run(
                words,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                encoding="utf-8",
                errors="surrogateescape",
                timeout=ANSWER,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise SilentError(f"{words[0]} has not answered for {ANSWER:g} s") from None
        except OSError as error:
            raise SilentError(f"{words[0]}: {error}") from None


def _line(text: str) -> str:
    """Return the last line of what a command says."""
    lines = [line for line in text.splitlines() if line.strip()]
    return plain(lines[-1], 200) if lines else ""
