"""Slurm's commands, as a batch system: jobs are known by name, for numbers are given out again."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from pathlib import Path
from typing import ClassVar, NamedTuple

from experiments.service.at_sites.batch_system import (
    LaterError,
    Listed,
    Look,
    RefusedError,
    SilentError,
    minutes,
)
from experiments.service.store import LiveJob
from grid.errors import GridError
from grid.foreign import plain, quoted

ANSWER = 20.0
"""Longest time that an answer may take, s; a command gives up by itself after half of that."""
ENDED = {"BOOT_FAIL", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED"}
ENDED |= {"REVOKED", "TIMEOUT", "CANCELLED"}
"""States of jobs that have ended; others may run yet, or hold processors."""
SILENT = {"contact", "timed out", "connect", "communicat", "standby"}
SILENT |= {"socket", "message", "zero bytes"}
"""What is in errors of a controller that does not answer, or dies as it does."""
LATER = {"temporar", "try again", "submit limit", "required partition not", "required node not"}
"""What is in errors that pass."""
PASSING = {"None", "Resources", "Priority", "BeginTime", "Cleaning", "Prolog"}
"""Why jobs wait that will start when processors are free."""
HELD = "JobHeldUser"
"""Why a job waits that was submitted to be held."""
_KEPT = "PATH", "HOME", "LANG", "LC_ALL", "SLURM_CONF", "TZ"


class Processors(NamedTuple):
    """What Slurm says of the processors of a partition."""

    partition: str
    allocated: int
    idle: int
    other: int
    """Down or drained, or idle in a partition that starts no job."""
    size: int
    leaving: int = 0
    """Of those that are allocated, how many are not to be again: they or the partition drain."""


NO_PROCESSORS = Processors("", 0, 0, 0, 0)


class Federation(NamedTuple):
    """The federation that a cluster is in."""

    name: str
    cluster: str
    """The cluster that was asked."""
    clusters: frozenset[str]
    """All of it."""


class Partition:
    """A partition of a Slurm cluster that is only asked, and never told anything.

    Parameters
    ----------
    conf : str, optional
        Its slurm.conf; the one that commands take by themselves, if not given.
    partition : str, optional
        Not given: the cluster's default.

    Raises
    ------
    GridError
        If Slurm's commands are not installed.
    """

    commands: ClassVar[tuple[str, ...]] = ("squeue", "sinfo")

    def __init__(self, conf: str | None = None, partition: str | None = None) -> None:
        self._partition = partition
        self._environment = {key: os.environ[key] for key in _KEPT if key in os.environ}
        if conf is not None:
            self._environment["SLURM_CONF"] = conf
        for command in self.commands:
            if shutil.which(command) is None:
                raise GridError(f"slurm: no {command} here; accepted: Slurm's commands in PATH")

    def size(self) -> int:
        """Return how many processors it has; a `GridError` if there is no such partition."""
        return self.processors().size

    def processors(self) -> Processors:
        """Return what its processors do; a `GridError` if there is no such partition."""
        found = self._partitions()
        if self._partition not in found:
            asked, names = quoted(self._partition or "a default"), sorted(filter(None, found))
            raise GridError(f"partition: found {asked}; accepted: {', '.join(names)}")
        return found[self._partition]

    def jobs(self, partition: str, widths: Mapping[str, int]) -> list[dict[str, str]]:
        """Return of each job in a partition, whoever's, some fields of squeue by their widths.

        Times are Unix times, s.
        """
        which = "--local", "--all", "--states=all", "--array", f"--partition={partition}"
        fields = ",".join(f"{name}:{width}" for name, width in widths.items())
        how = "--noheader", "--noconvert", f"--Format={fields}"
        told = self._asked("squeue", *which, *how, SLURM_TIME_FORMAT="%s")
        ends = [*pairwise(accumulate(widths.values(), initial=0))]
        return [
            {name: line[start:end].strip() for name, (start, end) in zip(widths, ends, strict=True)}
            for line in told.splitlines()
            if line.strip()
        ]

    def _partitions(self) -> dict[str | None, Processors]:
        """Return what the processors of each do. None is the default one."""
        found: dict[str | None, Processors] = {}
        for line in self._asked("sinfo", "--local", "-h", "-a", "-o", "%P|%a|%T|%C").splitlines():
            partition, state, of_nodes, counts = line.rsplit("|", 3)
            allocated, idle, other, size = map(int, counts.split("/"))
            leaving = 0
            if state != "up" or of_nodes.startswith("drain"):
                idle, other, leaving = 0, idle + other, allocated
            name = partition.rstrip("*")
            before = found.get(name, NO_PROCESSORS)[1:]
            more = allocated, idle, other, size, leaving
            found[name] = Processors(name, *map(sum, zip(before, more, strict=True)))
            if partition.endswith("*"):
                found[None] = found[name]
        return found

    def _asked(self, *words: str, **variables: str) -> str:
        done = self._run(*words, **variables)
        if done.returncode:
            raise SilentError(_line(done.stderr) or f"{words[0]}: exit status {done.returncode}")
        return done.stdout

    def _run(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        try:
            return subprocess.run(
                words,
                env=self._environment | variables,
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


class Slurm(Partition):
    """A partition of a Slurm cluster that jobs are submitted to.

    Parameters
    ----------
    prefix : str
        How names of our jobs begin.
    conf, partition : str, optional
        As of `Partition`.
    siblings : bool
        If the cluster is in a federation, jobs may run on all clusters of that.

    Raises
    ------
    GridError
        If Slurm's commands are not installed.
    """

    commands: ClassVar[tuple[str, ...]] = ("sbatch", "squeue", "scancel", "scontrol", "sinfo")

    def __init__(
        self,
        prefix: str,
        conf: str | None = None,
        partition: str | None = None,
        siblings: bool = False,
    ) -> None:
        self._prefix, self._siblings = prefix, siblings
        super().__init__(conf, partition)

    @cached_property
    def federation(self) -> Federation | None:
        """The federation that the cluster is in."""
        told: dict[str, list[str]] = {"Federation": [], "Self": [], "Sibling": []}
        for line in self._asked("scontrol", "show", "federation").splitlines():
            kind, _, of = line.partition(":")
            if kind in told:
                told[kind].append(of.partition(":")[0].strip())
        if not told["Self"]:
            self._partitions()  # scontrol says nothing of a controller that does not answer either
            return None
        (name,), (own,), others = told.values()
        return Federation(name, own, frozenset([own, *others]))

    def take_up(self, token: str, folder: Path) -> None:
        """Do nothing: names tell."""

    def look(self) -> Look:
        """Return its jobs of ours, and the processors that neither others have nor are gone."""
        ours = "--local", "-a", "-t", "all", "-u", str(os.getuid())
        asked = "squeue", "-h", *ours, "-o", "%j|%T|%C|%r"
        jobs: dict[str, Listed] = {}
        held = 0
        for line in self._asked(*asked).splitlines():
            token, state, processors, reason = line.rsplit("|", 3)
            if not token.startswith(self._prefix):
                continue
            waits = state == "PENDING"
            told = f"{state} ({plain(reason, 60)})" if waits else state
            blocked = waits and reason not in PASSING
            listed = Listed(state in ENDED, told, waits, waits and reason == HELD, blocked)
            if token not in jobs or jobs[token].ended:  # one that lives counts
                jobs[token] = listed
            if not (listed.ended or listed.waits):
                held += int(processors)
        of_all = self._partitions().get(self._partition, NO_PROCESSORS)
        there = of_all.size - of_all.other
        starts_none = there == of_all.leaving
        return Look(jobs, 0 if starts_none else there - max(0, of_all.allocated - held))

    def submit(self, token: str, job: LiveJob, script: Sequence[str], output: Path) -> None:
        """Submit a script, which Slurm copies, with the words after it."""
        self._submit(token, job, script, output)

    def hold(self, token: str, job: LiveJob, script: Sequence[str], output: Path) -> None:
        """Submit a script that waits until it is released."""
        self._submit(token, job, script, output, "--hold")

    def release(self, token: str) -> None:
        """Let what has a name start; what is not there is not missed."""
        done = self._run("scontrol", "release", f"jobname={token}")
        why = _line(done.stderr)
        if done.returncode and any(word in why.lower() for word in SILENT):
            raise SilentError(why)

    def _submit(
        self, token: str, job: LiveJob, script: Sequence[str], output: Path, *words: str
    ) -> None:
        options = {"job-name": token, "ntasks": job.size, "chdir": "/", "export": "ALL"}
        if {*"%\\"} & {*str(output)}:  # which have a meaning there
            output = Path(os.devnull)
        options |= {"output": output, "open-mode": "append", "comment": plain(job.name, 60)}
        if self._partition is not None:
            options["partition"] = self._partition
        if not self._siblings and self.federation is not None:
            options["clusters"] = self.federation.cluster
        if job.limit is not None:
            options["time"] = minutes(job.limit)
        given = [f"--{name}={value}" for name, value in options.items()]
        done = self._run("sbatch", "--parsable", "--no-requeue", *words, *given, *script)
        if done.returncode:
            why = _line(done.stderr)
            for kind, known in ((SilentError, SILENT), (LaterError, LATER)):
                if any(word in why.lower() for word in known):
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


def _line(text: str) -> str:
    """Return the last line of what a command says."""
    lines = [line for line in text.splitlines() if line.strip()]
    return plain(lines[-1], 200) if lines else ""
