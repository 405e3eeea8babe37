"""Replay the same jobs in AccaSim and in metasched: compare every start, and the CPU time.

Run it as ``python docs/against_accasim.py LOG.swf.gz accasim/bin/python``, with the Python of an
environment in which AccaSim is installed (1.1.3 needs Python 3.8 or older).
"""

from __future__ import annotations

import csv
import datetime
import gzip
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ACCASIM = """
import json, sys
from accasim.base.allocator_class import FirstFit
from accasim.base.scheduler_class import FirstInFirstOut
from accasim.base.simulator_class import Simulator

one_processor = {"groups": {"node": {"core": 1}}, "resources": {"node": int(sys.argv[1])}}
system = {"start_time": 0, "equivalence": {"processor": {"core": 1}}, **one_processor}
with open("system.json", "w") as file:
    json.dump(system, file)
Simulator("jobs.swf", "system.json", FirstInFirstOut(FirstFit())).start_simulation()
"""
METASCHED = "from experiments.cli.app import main; main()"
EPOCH = datetime.datetime(1970, 1, 1)


def write_jobs(log: str, to: Path) -> int:
    """Write the jobs that both read alike, return the processors of the machine.

    AccaSim takes the size that was requested, metasched the one that was allocated: it is the
    allocated one here. Jobs without a size, or that ran for 0 s, are left out.
    """
    processors = 0
    reading = gzip.open if log.endswith(".gz") else open
    with reading(log, "rt") as lines, to.open("w") as jobs:
        for line in lines:
            if line.startswith(";"):
                key, _, value = line[1:].partition(":")
                if key.strip() == "MaxProcs":
                    processors = int(value)
                continue
            fields = line.split()
            if fields and int(fields[3]) > 0 and max(int(fields[4]), int(fields[7])) > 0:
                fields[4] = fields[7] = fields[4] if int(fields[4]) > 0 else fields[7]
                print(*fields, file=jobs)
    return processors


def cpu_seconds(command: list[str], folder: Path) -> float:
    """Run a command in a folder; return the CPU seconds that it took, children included."""
    before = os.times()
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    after = os.times()
    return sum(after[2:4]) - sum(before[2:4])


def accasims_starts(path: Path) -> dict[int, float]:
    """Return when each job started, s, of AccaSim's file of a schedule."""
    starts = {}
    for line in path.read_text().splitlines():
        job, _, times = line.split("__")
        started = datetime.datetime.strptime(times.split(";")[0], "%Y-%m-%d %H:%M:%S")
        starts[int(job.split(";")[0])] = (started - EPOCH).total_seconds()
    return starts


def main() -> None:
    """Compare them, and print what came of it."""
    log, python = sys.argv[1], str(Path(sys.argv[2]).absolute())
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        processors = write_jobs(log, folder / "jobs.swf")
        run = ["run", "site", "--workload", "jobs.swf", "--set", f"processors={processors}"]
        ours = [sys.executable, "-c", METASCHED, *run, "--local", "fcfs", "--out", "ours"]
        os.environ["PYTHONPATH"] = str(Path(__file__).parents[1])
        cpu_seconds(ours, folder)  # compiles the kernel, if it is not compiled yet
        times = [cpu_seconds([*ours[:-1], f"again{n}"], folder) for n in range(3)]
        del os.environ["PYTHONPATH"]
        peer = cpu_seconds([python, "-c", ACCASIM, str(processors)], folder)
        theirs = accasims_starts(folder / "results" / "sched-jobs.swf")
        with (folder / "jobs.swf").open() as jobs:
            first = min(float(line.split()[1]) for line in jobs)
        with (folder / "ours" / "jobs.csv").open() as table:
            starts = {int(row["job"]): first + float(row["start"]) for row in csv.DictReader(table)}
    assert starts.keys() == theirs.keys()
    differ = sum(starts[job] != theirs[job] for job in starts)
    print(f"{len(starts):,} jobs, FCFS: {differ:,} start at another time")
    print(f"CPU s: AccaSim {peer:.1f}, metasched {sorted(times)[1]:.1f} (median of 3)")


if __name__ == "__main__":
    main()
