"""What must stay as it is whatever is rebuilt: results bit by bit, and the keys of ``--json``."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from experiments.cli.app import main
from experiments.run.running import run
from grid.errors import GridError

from ..experiments.matrix import sample, scenario_of

LOG = "".join(f"{j} {7 * j} 0 {5 + j} 2 -1 -1 2 60 {'-1 ' * 9}\n" for j in range(1, 30))
JOBS = "job,arrival,size,runtime,deadline\n1,0,1,2,6\n2,4,1,3,7\n3,2,1,5,13\n"
INSTANCE = {
    "jobs": [
        {"tasks": tasks, "base_time": 10 * tasks, "bandwidth": 5, "sigma": 0.7} for tasks in (2, 3)
    ],
    "clusters": [{"nodes": 4, "effective_power": 1, "link_mbps": 100}] * 2,
}

PAPERS: dict[str, Sequence[str]] = {
    "muscle": ("--scale", "0.002", "--replications", "1"),
    "beosim": ("--scale", "0.0002", "--replications", "1"),
    "queues": ("--scale", "0.0005", "--replications", "1"),
    "maxutil": ("--scale", "0.0003", "--replications", "1"),
}
"""How little of each paper's experiments is run."""


def digest(text: bytes) -> str:
    """Return what tells texts apart, in few characters."""
    return hashlib.sha256(text).hexdigest()[:16]


def rounded(text: str) -> bytes:
    """Return a text with fractions of nine digits: further ones are the BLAS's."""
    return re.sub(r"\d+\.\d+(e[+-]?\d+)?", lambda found: f"{float(found[0]):.9g}", text).encode()


def policies(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield each pair of global and local scheduler, and the digest of its ``jobs.csv``.

    How far a solver gets in its time is the machine's: its scheduler is left out.
    """
    for each in sample():
        if each.global_ == "oas":
            continue
        try:
            scenario = scenario_of(each)
            scenario.model(each.seed)
        except GridError:
            yield str(each), "refused"
            continue
        run(scenario, each.seed, out=folder)
        yield str(each), digest((folder / "jobs.csv").read_bytes())


def papers(folder: Path, names: Iterable[str] = PAPERS) -> Iterator[tuple[str, str]]:
    """Yield the tables of figures and claims of papers, and their digests."""
    for paper in names:
        out = folder / paper
        found = _told("reproduce", paper, *PAPERS[paper], "--workers", "1", "--out", str(out))
        yield f"{paper}: claims", digest(rounded(json.dumps(found["claims"], sort_keys=True)))
        for table in sorted(out.glob("*.csv")):
            yield f"{paper}: {table.name}", digest(rounded(table.read_text(encoding="utf-8")))


def keys(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield each command that prints JSON, and the paths of all keys that it printed."""
    (folder / "log.swf").write_text(LOG)
    (folder / "jobs.csv").write_text(JOBS)
    (folder / "instance.json").write_text(json.dumps(INSTANCE))
    log, jobs, instance, result, batch = (
        str(folder / name) for name in ("log.swf", "jobs.csv", "instance.json", "result", "batch")
    )
    few = ("--set", "jobs=60")
    for words in (
        ("run", "quickstart", *few, "--out", result, "--events", f"{result}/events.jsonl"),
        ("run", "muscle", "--set", "jobs=60", "--set", "queue=20", "--out", batch),
        ("run", "quickstart", *few, "--replications", "2"),
        ("run", "quickstart", "--workload", log),
        ("verify", result),
        ("explain", result, "1"),
        ("gap", batch, "--time-limit", "1"),
        ("check", "ect"),
        ("policies",),
        ("scenarios",),
        ("validate", "quickstart"),
        ("inspect", log),
        ("pareto", jobs, "--processors", "2", "--pick", "1"),
        ("oas", instance),
        ("saturation", "site", "--set", "jobs=1000", "--replications", "2", "--width", "0.2"),
    ):
        shown = [word.removeprefix(f"{folder}/") for word in words]
        yield " ".join(shown), sorted({*_paths(_told(*words), "")})


def _told(*words: str) -> Any:
    got = CliRunner().invoke(main, [*words, "--json"])
    assert got.stdout, (words, got.output)
    return json.loads(got.stdout)


def _paths(value: Any, path: str) -> Iterator[str]:
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _paths(each, f"{path}.{key}" if path else key)
    elif isinstance(value, list) and value:
        for each in value:
            yield from _paths(each, f"{path}[]")
    else:
        yield path


KINDS: dict[str, Callable[[Path], Iterator[tuple[str, Any]]]] = {
    "policies": policies,
    "papers": papers,
    "keys": keys,
}
"""What is recorded in a file of each name."""
