"""Files that are right, small and of every format that we read: what is spoilt begins as one."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Mapping
from pathlib import Path

from click.testing import CliRunner

from experiments.cli.app import main
from experiments.scenario.scenario import Scenario
from grid.logs.formats import FORMATS, read
from tests.experiments.made_up_studies import made_up

HERE = Path(__file__).parent

LOG = b"""\
; MaxProcs: 16
; UnixStartTime: 1000000000
; TimeZoneString: Europe/Amsterdam
1 0 5 60 4 -1 -1 4 120 -1 1 1 1 1 1 1 -1 -1
2 30 0 90.5 2 -1 -1 2 100 -1 1 2 1 2 1 2 -1 -1
3 70 -1 10 16 -1 -1 8 -1 -1 0 1 1 1 1 1 1 10
"""
"""Three made-up jobs, in SWF."""
WITH_LOG = ("option", "scenario-log", "study-logs")
"""Seeds that name the log."""

Files = Mapping[str, bytes]
"""What is in files, by their names."""


def files_of(folder: Path) -> dict[str, bytes]:
    """Return what is in the files of a folder."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def written(target: str) -> list[Files]:
    """Return the seeds of a target that are kept as files: those of formats that users write."""
    log = {"log.swf": LOG}
    if target == "swf":
        return [log]
    return [
        (log if folder.name in WITH_LOG else {}) | files_of(folder)
        for folder in sorted((HERE / "seeds").glob(f"{target}*"))
    ]


def parquet() -> list[Files]:
    """Return jobs in Parquet."""
    stream, write = io.BytesIO(), FORMATS["parquet"].write
    assert write is not None
    write(stream, read(HERE / "seeds" / "csv" / "log.csv").cleaned())
    return [{"log.parquet": stream.getvalue()}]


def results(folder: Path) -> list[Files]:
    """Return what runs write: one in rounds, one of a log on clusters that change."""
    log = written("scenario-log")[0]
    for name, content in log.items():
        (folder / name).write_bytes(content)
    found = []
    watts = ("--set", "busy_watts=100", "--set", "carbon=50")
    for words in (["quickstart", "--set", "jobs=5", *watts], ["mine.toml"]):
        out = folder / words[0].partition(".")[0]
        words = ["run", *words, "--no-live", "--out", str(out), "--events", f"{out}/events.jsonl"]
        ran = CliRunner().invoke(main, words)
        assert ran.exit_code == 0, ran.output
        found.append(files_of(out))
    return [found[0], {**found[1], "log.swf": log["log.swf"]}]


def studies(folder: Path) -> list[Files]:
    """Return a file as `metasched study` leaves it, and a larger one that is made up."""

    def result(policy: str, workload: str, setting: object, replication: int) -> dict[str, float]:
        return {"mean_turnaround": 100.0 + replication + len(policy), "makespan": math.nan}

    file = folder / "study.toml"
    file.write_text(
        'scenario = "quickstart"\nmetric = "mean_wait"\n[policies]\nglobal = ["dll", "ect"]\n'
        'local = "fcfs"\n[set]\njobs = 5\nmode = "open"\n[replications]\nleast = 2\n'
    )
    true = folder / "true.db"
    words = ["study", str(file), "--out", str(true), "--workers", "1"]
    ran = CliRunner().invoke(main, words)
    assert ran.exit_code == 0, ran.output
    made = made_up(folder / "study.db", result, replications=3)
    return [{"study.db": each.read_bytes()} for each in (true, made)]


def grids() -> list[Files]:
    """Return the grid of a service, with jobs of its own."""
    text = (
        'global = "dll"\nlocal = "easy"\n[parameters]\nprediction = "requested"\n[[sites]]\n'
        'name = "desk"\nslots = 4\n[[sites]]\nname = "rack"\ndriver = "local"\nslots = 16\n'
        'rate = 1.5\n[[jobs]]\ncommand = ["sleep", "1"]\nsize = 2\ntime = "10m"\nname = "a"\n'
        "count = 3\n"
    )
    return [{"grid.toml": text.encode()}]


def settings() -> list[Files]:
    """Return what ``--set`` takes: each parameter with its default value."""
    values = Scenario.load("quickstart").parameters.model_dump(mode="json")
    lines = [
        f"{name}={value if isinstance(value, str) else json.dumps(value)}"
        for name, value in values.items()
    ]
    return [{"words.set": "\n".join(lines).encode()}]
