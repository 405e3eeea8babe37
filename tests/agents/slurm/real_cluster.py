"""A throw-away cluster of real Slurm on this machine, with a clock that runs many times as fast.

It needs the daemons and commands of Slurm (`slurmctld`, `slurmd`, `sbatch`) and `faketime`, and
neither munge nor systemd. All its files are in one folder. Only the daemons have the fast clock:
commands do not, nor do jobs, which would take over what a command shares with its clock, and that
is gone when the command ends. So jobs sleep by our clock.
"""

from __future__ import annotations

import getpass
import os
import re
import shutil
import signal
import socket
import subprocess
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

DAEMONS = ("slurmctld", "slurmd", "sbatch", "squeue", "scontrol")
NEEDED = (*DAEMONS, "faketime")

TRIES = 10
"""Times that a job is submitted until it is taken."""

SYSTEM = """\
ClusterName=replay
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/none
CredType=cred/none
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
SlurmdParameters=config_overrides
ReturnToService=2
SlurmctldTimeout=6000
SlurmdTimeout={patience}0
MessageTimeout={patience}
TCPTimeout={patience}
MinJobAge=36000
KillWait=30
JobCompType=jobcomp/filetxt
JobCompLoc={folder}/ended.txt
AccountingStorageType=accounting_storage/none
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
"""


@dataclass(frozen=True)
class Submission:
    """A job as it is handed to Slurm: when (s), on how many processors, how long, and its limit."""

    at: float
    size: int
    runtime: float
    minutes: int
    partition: str


@dataclass(frozen=True)
class Ended:
    """What Slurm tells of a job that ended, by its own clock, s: of its last run."""

    submit: float
    start: float
    end: float
    state: str
    preempted: int = 0  # times before


def lacking(needed: Sequence[str] = NEEDED) -> str:
    """Return what is not installed, in words; nothing if real Slurm can be started here."""
    path = os.environ["PATH"] + ":/usr/sbin:/sbin"
    return ", ".join(name for name in needed if shutil.which(name, path=path) is None)


class RealCluster:
    """Slurm, started; to be used in a ``with`` statement.

    Parameters
    ----------
    folder : Path
        Where its files are put.
    conf : str
        What its `slurm.conf` says of scheduling, nodes and partitions.
    nodes : sequence of str
        Names of the nodes.
    port : int
        Of slurmctld; those of the nodes follow.
    factor : int
        How many times as fast as ours its clock runs; 1: it is ours, and `NEEDED` no more than
        `DAEMONS`.
    """

    def __init__(
        self, folder: Path, conf: str, nodes: Sequence[str], port: int, factor: int
    ) -> None:
        self.folder, self.factor, self.nodes = folder.absolute(), factor, nodes
        host, user = socket.gethostname().split(".")[0], getpass.getuser()
        given = {"host": host, "port": port, "user": user, "folder": self.folder}
        system = SYSTEM.format(**given, patience=5 if factor == 1 else 2000)
        for number, node in enumerate(nodes, 1):
            where = f"NodeName={node} NodeHostname={node} NodeAddr=127.0.0.1 Port={port + number}"
            conf = re.sub(rf"^NodeName={node}\b", where, conf, flags=re.MULTILINE)
            (self.folder / "spool" / node).mkdir(parents=True)
        (self.folder / "state").mkdir()
        self.conf = self.folder / "slurm.conf"
        self.conf.write_text(system + conf)
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("SLURM_", "SBATCH_"))}
        path = clean["PATH"] + ":/usr/sbin:/sbin"
        self.environment = clean | {"SLURM_CONF": str(self.conf), "PATH": path}

    def _command(self, *words: str) -> str:
        """Return what a command prints; of one that fails what it complains of is kept."""
        done = subprocess.run(
            words, env=self.environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            with (self.folder / "complaints").open("a") as file:
                file.write(f"{' '.join(words)}: {done.stderr}\n")
        return done.stdout

    def __enter__(self) -> RealCluster:
        daemons = [f"slurmctld -D -f {self.conf}"]
        daemons += [f"slurmd -D -N {node} -f {self.conf}" for node in self.nodes]
        self._sessions = [self._session(" & ".join([*daemons, "wait"]))]
        for _ in range(120):
            states = set(self._command("sinfo", "-h", "-N", "-o", "%N %T").splitlines())
            if states == {f"{node} idle" for node in self.nodes}:
                return self
            time.sleep(0.5)
        self.__exit__()
        raise RuntimeError(f"Slurm did not start; see {self.folder}/slurmctld.log")

    def _session(self, script: str) -> subprocess.Popen[bytes]:
        """Start daemons."""
        clock = [] if self.factor == 1 else ["faketime", "-f", f"+0 x{self.factor}"]
        with (self.folder / "daemons.out").open("a") as out:
            return subprocess.Popen(
                [*clock, "sh", "-c", script],
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def kill(self, daemon: str = "slurmctld") -> None:
        """Kill the controller, or the daemon of a node by its name; jobs run on."""
        file = self.folder / f"{daemon}.pid"
        os.kill(int(file.read_text()), signal.SIGKILL)
        file.unlink()

    def start(self, daemon: str = "slurmctld") -> None:
        """Start a daemon that was killed."""
        node = "" if daemon == "slurmctld" else f"-N {daemon} "
        program = daemon if not node else "slurmd"
        self._sessions.append(self._session(f"exec {program} -D {node}-f {self.conf}"))

    def resume(self) -> None:
        """Have nodes take part again that Slurm has drained, as administrators do."""
        for node in self.nodes:
            self._command("scontrol", "update", f"nodename={node}", "state=resume")

    def __exit__(self, *_: object) -> None:
        self._command("scancel", "--state=PENDING", "--me")
        self._command("scancel", "--me")
        for session in self._sessions:
            with suppress(ProcessLookupError):
                os.killpg(session.pid, signal.SIGTERM)
            try:
                session.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(session.pid, signal.SIGKILL)

    def replay(self, jobs: Sequence[Submission]) -> list[Ended]:
        """Submit jobs when they are due and wait until all have ended; return them in order."""
        begin = time.monotonic()
        for number, job in enumerate(jobs):
            time.sleep(max(0.0, begin + job.at / self.factor - time.monotonic()))
            self._submit(f"job{number}", job)
        ended = self.folder / "ended.txt"
        while sum("=PREEMPTED" not in line for line in ended.read_text().splitlines()) < len(jobs):
            time.sleep(2.0)
        return self._ended(len(jobs))

    def _submit(self, name: str, job: Submission) -> None:
        """Submit a job, again if Slurm did not take it."""
        for _ in range(TRIES):
            said = self._command(
                "sbatch", "-n", str(job.size), "-t", str(job.minutes), "-p", job.partition,
                "-J", name, "-D", str(self.folder), "-o", "/dev/null",
                "--wrap", f"exec sleep {job.runtime / self.factor}",
            )  # fmt: skip
            if "Submitted" in said or self._command("squeue", "-h", "-n", name).strip():
                return
        raise RuntimeError(f"{name} was not taken: {(self.folder / 'complaints').read_text()}")

    def _ended(self, count: int) -> list[Ended]:
        said: dict[int, dict[str, str]] = {}
        preempted = Counter[int]()
        for line in (self.folder / "ended.txt").read_text().splitlines():
            fields = dict(word.split("=", 1) for word in line.split() if "=" in word)
            said[number := int(fields["Name"].removeprefix("job"))] = fields
            preempted[number] += fields["JobState"] == "PREEMPTED"

        def at(fields: dict[str, str], name: str) -> float:
            return datetime.fromisoformat(fields[name]).timestamp()

        return [
            Ended(
                at(said[number], "SubmitTime"),
                at(said[number], "StartTime"),
                at(said[number], "EndTime"),
                said[number]["JobState"],
                preempted[number],
            )
            for number in range(count)
        ]
