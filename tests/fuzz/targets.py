"""What reads files of users or of our own, and what is done at once with what was read."""

from __future__ import annotations

import io
import json
import zlib
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import NamedTuple
from unittest.mock import patch

import numpy as np
from rich.console import Console

from agents.oas import approximate
from agents.slurm.conf_reader import read_conf
from agents.slurm.maintenance import closed
from agents.slurm.partitions import Filing, Machine
from agents.slurm.qos import InUse, Running, read_qos
from experiments.checks.verify import verify
from experiments.events.explain import explain
from experiments.logs.character import Character
from experiments.logs.listing import print_character
from experiments.oas.answering import read_instance
from experiments.oas.rounds import rounds_of
from experiments.run import checkpoints
from experiments.scenario.notes import notes
from experiments.scenario.scenario import Scenario
from experiments.service.grid_file import load_grid
from experiments.show.page import page_of
from experiments.show.run_data import Ran
from experiments.show.run_plots import draw
from experiments.show.study_page import study_page
from experiments.studies.outcome import StudyOutcome
from experiments.studies.study import Study
from experiments.studies.telling import print_outcome
from grid.jobs import JobArray, job_table
from grid.logs.formats import FORMATS, read
from grid.platform.energy import read_series
from grid.platform.reading import read_platform
from grid.workloads.table import Table
from tests.fuzz import seeds
from tests.fuzz.oracle import command
from tests.fuzz.seeds import Files


class Target(NamedTuple):
    """A reader, and what it reads.

    Its use reads the files in the current folder, and draws which use of several; its commands do
    so from the command line, where ``@FILE`` stands for what is in a file. Those of the files are
    spoilt that are named, or any of them.
    """

    seeds: Sequence[Files]
    use: Callable[[Random], object]
    commands: Sequence[str]
    spoilt: tuple[str, ...] = ()


def _json(found: object) -> None:
    json.dumps(found, allow_nan=False)


def _console() -> Console:
    return Console(file=io.StringIO(), width=80)


def _log(rng: Random) -> None:
    path = next(each for each in map(Path, sorted(Path().iterdir())) if each.stem == "log")
    log = read(path)
    roll = rng.random()
    if roll < 0.05:
        Scenario.load("site").changed(workload=str(path)).model(0)
    elif roll < 0.07:
        print_character(Character.of(log), _console())
    elif roll < 0.4:
        _json(Character.of(log).to_dict())
    else:
        _converted(log.cleaned(kills=True), rng.choice(("swf", "batsim", "csv", "parquet")))


def _converted(table: Table, kind: str) -> None:
    write, path = FORMATS[kind].write, Path("converted")
    assert write is not None
    with path.open("wb") as stream:
        write(stream, table)
    count = read(path, kind).cleaned().count
    assert count == table.count, f"{count} of {table.count} jobs as {kind}"


def _platform(rng: Random) -> None:
    platform = read_platform(next(str(each) for each in Path().glob("platform.*")))
    tables = platform.to_dict()
    if rng.random() < 0.5:
        assert type(platform).from_dict(tables).to_dict() == tables
    else:
        Scenario.load("quickstart").changed(["max_size=1"], platform=platform).model(0)


def _scenario(rng: Random) -> None:
    _checked(Scenario.load("mine.toml"))


def _settings(rng: Random) -> None:
    lines = Path("words.set").read_bytes().decode("utf-8", "surrogateescape").split("\n")
    _checked(Scenario.load(rng.choice(("quickstart", "site", "queues"))).changed(lines))


def _checked(scenario: Scenario) -> None:
    scenario.model(0)
    notes(scenario)
    _json(scenario.to_dict())


def _study(rng: Random) -> None:
    with patch.object(Study, "_try_out"):  # compiles, runs
        Study.load("study.toml")


def _study_file(rng: Random) -> None:
    outcome = StudyOutcome.read("study.db")
    match rng.randrange(12):
        case 0:
            study_page(outcome)
        case 1:
            print_outcome(outcome, _console())
        case _:
            _json(outcome.summary())


def _result(rng: Random) -> None:
    match rng.randrange(12):
        case 0:
            page_of([Ran.read(".")])
        case 1:
            draw([Ran.read(".")], rng.choice(("gantt", "utilization", "links", "waits")))
        case 2 | 3:
            rounds_of(".")
        case 4 | 5 | 6:
            Ran.read(".")
        case 7 | 8:
            explain(".", rng.choice((1, 2, 3)))
        case _:
            verify(".")


def _events(rng: Random) -> None:
    if rng.random() < 0.3:
        rounds_of(".")
    else:
        explain(".", rng.choice((1, 2, 3)))


def _checkpoint(rng: Random) -> None:
    """Read a head; what is behind it is never spoilt, for it would run."""
    data = checkpoints.MAGIC + Path("head.json").read_bytes().replace(b"\n", b" ") + b"\n"
    Path("checkpoint").write_bytes(data + f"{zlib.crc32(data):08x}".encode())
    with patch.object(checkpoints.pickle, "loads", side_effect=ImportError("no pickle")):
        checkpoints.read("checkpoint")


def _grid(rng: Random) -> None:
    _json(load_grid("grid.toml").scenario.to_dict())


def _instance(rng: Random) -> None:
    instance = read_instance("instance.json")
    method = rng.choice(("fcfs", "sjf", "bjf", "fpfs", "spt", "lpt"))
    _json(approximate(method, instance, rng.choice((None, None, 10.0))).to_dict())


def _series(rng: Random) -> None:
    series = read_series("series.csv", "price", "2001-09-09T03:46:40+02:00")
    _json([series.at(rng.uniform(0, 1e6)), series.integral(np.array([0.0, 1e9])).tolist()])


def _slurm(rng: Random) -> None:
    conf = read_conf("slurm.conf")
    assert conf.note.isprintable()
    machine = Machine(conf, "C1", sum(node.cpus for node in conf.nodes) or 4)
    Filing(conf, None, {}, {})
    closed(conf, machine, Table(job_table_of_one(), start=datetime(2024, 3, 1, tzinfo=UTC)))


def _qos(rng: Random) -> None:
    for each in read_qos("qos").values():
        InUse([Running(each, 1, 2)]).allows(Running(each, 1, 1))


def job_table_of_one() -> JobArray:
    """Return a job to have a table of."""
    jobs = job_table(1)
    jobs["size"] = jobs["runtime"] = 1
    return jobs


OPTIONS = """
explain . @
gap . --first @
validate quickstart --seed @
validate quickstart --global @
validate quickstart --local @
validate quickstart --metric @
run quickstart --every @
inspect log.swf --format @
inspect log.swf --speed @
inspect log.swf --partition-field @
verify @
verify . --workload @
report @
saturation @
oas none.json --slot @
maxutil total --size 8 --clusters 2 --dist @
reproduce muscle --figure @ --out out x
"""
"""Commands that a word is given to, none of which takes long."""


def _option(rng: Random) -> str:
    word = Path("option.word").read_bytes().decode("utf-8", "surrogateescape").replace("\0", "")
    words = rng.choice(OPTIONS.strip().splitlines()).split()
    return command([word if each == "@" else each for each in words])


KEPT = "jobs", "timeline", "users", "electricity"
"""Tables of a result."""
WRITTEN: dict[str, tuple[Callable[[Random], object], str]] = {
    **dict.fromkeys(("swf", "gwf", "sacct", "csv", "batsim"), (_log, "inspect {0} --json")),
    "platform": (_platform, "inspect platform.toml"),
    "simgrid": (_platform, "inspect platform.xml --json"),
    "scenario": (_scenario, "validate mine.toml"),
    "study": (_study, "report study.toml"),
    "checkpoint": (_checkpoint, "run --resume head.json"),
    "oas": (_instance, "oas instance.json --heuristic sjf"),
    "series": (_series, ""),
    "qos": (_qos, ""),
    "slurm": (_slurm, "validate site --local slurm --set slurm_conf=slurm.conf"),
    "option": (_option, ""),
}
"""Targets whose seeds are kept as files: what is done with them, and a command."""


def targets(folder: Path) -> dict[str, Target]:
    """Return all targets by name; a folder is for files that make the first inputs."""
    found = {}
    for name, (use, words) in WRITTEN.items():
        given = seeds.written(name)
        spoilt = ("option.word",) if name == "option" else ()
        found[name] = Target(given, use, [words.format(*given[0])] if words else [], spoilt)
    ran, results = (
        seeds.results(folder),
        (*("summary.json", *(f"{name}.csv" for name in KEPT), "log.swf"),),
    )
    verify_and_report = ["verify .", "verify . --json", "report . -o page.html"]
    return found | {
        "parquet": Target(seeds.parquet(), _log, ["convert log.parquet log.csv"]),
        "grid": Target(seeds.grids(), _grid, ["serve grid.toml --dry-run"]),
        "set": Target(seeds.settings(), _settings, ["validate quickstart --set @words.set"]),
        "study-file": Target(seeds.studies(folder), _study_file, ["report study.db -o page.html"]),
        "result": Target(ran, _result, verify_and_report, results),
        "events": Target(ran, _events, ["explain . 1", "explain . 2 --json"], ("events.jsonl",)),
    }
