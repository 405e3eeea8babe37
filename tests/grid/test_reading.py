from __future__ import annotations

import ast
import gzip
import importlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import grid.reading
from grid.errors import WorkloadError
from grid.jobs import job_table
from grid.logs import batsim, parquet, pipes
from grid.logs.files import opened_lines
from grid.logs.formats import read
from grid.reading import read_text
from grid.workloads.table import Table

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("grid", "agents", "experiments", "metasched")
SACCT = "JobID|Submit|NCPUS|Elapsed\n"
HEADS = {
    "swf": "; MaxProcs: 8\n",
    "gwf": "# no job yet\n",
    "csv": "arrival,size,runtime\n",
    "sacct": SACCT,
}

MATCHED = """
import json, re, sys
for method, pattern, flags in json.load(sys.stdin):
    match = getattr(re.compile(pattern, flags), method)
    if method == "sub":
        match = lambda text, sub=match: sub("", text)
    for unit in {units!r}:
        for end in ("x", "! ", ""):
            match(unit * ({length} // len(unit)) + end)
            match("7" + unit * ({length} // len(unit)) + end)
"""
UNITS = ["9", ".9", "1:", "1-", "a", "a=a", "a=,", " ", "; ", "_1", "A", "+1", ",cpu=1", "{", ","]


def patterns() -> list[tuple[str, str, int]]:
    """Return every regular expression of the product, and how it is applied."""
    found = set()
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            if "import re\n" not in text:
                continue
            name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            for value in vars(importlib.import_module(name)).values():
                for each in value.values() if isinstance(value, dict) else [value]:
                    if isinstance(each, re.Pattern):
                        found.add(("fullmatch", each.pattern, each.flags))
                        found.add(("match", each.pattern, each.flags))
            for node in ast.walk(ast.parse(text)):
                if (
                    isinstance(node, ast.Call)
                    and isinstance(node.func, ast.Attribute)
                    and isinstance(node.func.value, ast.Name)
                    and node.func.value.id == "re"
                    and node.func.attr != "compile"
                ):
                    pattern = ast.literal_eval(node.args[0])  # a pattern that is made is compiled
                    found.add((node.func.attr, pattern, int(re.ASCII)))
    return sorted(found)


@pytest.mark.thorough
def test_no_regular_expression_takes_time_quadratic_in_its_text() -> None:
    found = patterns()
    assert len(found) > 20
    script = MATCHED.format(units=UNITS, length=100_000)
    # What is linear takes seconds in all, what is quadratic half a minute for each text.
    subprocess.run(
        [sys.executable, "-c", script], input=json.dumps(found), text=True, check=True, timeout=300
    )


@pytest.mark.parametrize("length", [30_000, 900_000])
def test_a_number_of_many_digits_and_a_letter(tmp_path: Path, length: int) -> None:
    path = tmp_path / "log.swf"
    path.write_text(f"1 {'9' * length}x" + " 1" * 16 + "\n")
    with pytest.raises(WorkloadError, match=r"log\.swf:1: field 2 is '999.*; accepted: a number"):
        read(path)


def lines_of(path: Path) -> list[str]:
    with opened_lines(path) as lines:
        return list(lines)


@pytest.mark.parametrize("separator", ["\n", "\r\n", "\r"])
def test_lines_are_those_of_the_text_wherever_it_is_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, separator: str
) -> None:
    path = tmp_path / "log"
    lines = ["", "one", "", "x" * 10, "\x0btwo\x85\u2028", "y" * 9, ""]
    path.write_bytes(separator.join(lines).encode())
    for longest in (10, 11, 12, 13, 100):
        monkeypatch.setattr(grid.reading, "LONGEST_LINE", longest)
        assert lines_of(path) == lines[:-1]
    monkeypatch.setattr(grid.reading, "LONGEST_LINE", 9)
    found = r"log:4: found a line of more than 9 characters; accepted: lines of at most as many"
    with pytest.raises(WorkloadError, match=found):
        lines_of(path)


@pytest.mark.parametrize("last", ["", "\n"])
@pytest.mark.parametrize("kind", HEADS)
def test_lines_too_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, last: str
) -> None:
    monkeypatch.setattr(grid.reading, "LONGEST_LINE", 50)
    path = tmp_path / "log"
    path.write_text(f"{HEADS[kind]}{'7' * 51}{last}")
    with pytest.raises(WorkloadError, match=r"log:2: found a line of more than 50 characters"):
        read(path, kind)


def test_texts_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grid.reading, "LARGEST_TEXT", 20)
    path = tmp_path / "site.toml"
    path.write_text("a" * 20)
    assert read_text(path) == "a" * 20
    path.write_text("a" * 21)
    with pytest.raises(ValueError, match="more than 20 characters, the most that are read"):
        read_text(path)
    monkeypatch.setattr(batsim, "LARGEST", 20)
    with pytest.raises(WorkloadError, match=r"site\.toml: found more than 20 characters"):
        read(path, "batsim")
    monkeypatch.setattr(parquet, "LARGEST", 20)
    path.write_bytes(b"PAR1" + bytes(21))
    with pytest.raises(WorkloadError, match=r"site\.toml: found more than 20 bytes"):
        read(path, "parquet")
    monkeypatch.undo()
    monkeypatch.setattr(parquet, "MOST_ROWS", 2)
    for rows, path in ((2, tmp_path / "two.parquet"), (3, tmp_path / "three.parquet")):
        jobs = job_table(rows)
        jobs["size"] = jobs["runtime"] = 1
        with path.open("wb") as stream:
            parquet.write_parquet(stream, Table(jobs))
    assert len(read(tmp_path / "two.parquet").records) == 2
    with pytest.raises(WorkloadError, match=r"three\.parquet: found more than 2 rows"):
        read(tmp_path / "three.parquet")


def test_records_of_many_lines_or_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipes, "LONGEST", 20)
    assert [parts for _, parts in pipes.records(["1|" + "x" * 18, "y|z"], 3)] == [
        ["1", "x" * 18],
        ["y", "z"],
    ]
    path = tmp_path / "log"
    path.write_text(SACCT.replace("NCPUS", "|".join(f"c{n}" for n in range(1001))))
    with pytest.raises(WorkloadError, match=r"log:1: found 1,004 columns; accepted: at most 1,000"):
        read(path, "sacct")
    path.write_text("arrival,size,runtime\n" + '"\n",' * 2000)
    with pytest.raises(WorkloadError, match=r"log:1001: found a row of more than 1000 lines"):
        read(path, "csv")


LIMITED = """
import resource, sys
from pathlib import Path
from grid.errors import GridError
from grid.platform.reading import read_platform
from grid.logs.formats import read
from grid.workloads.table import Table
from experiments.scenario.scenario import Scenario
import pyarrow.parquet
size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (size + {room}, -1))
for path in map(Path, sys.argv[1:]):
    kind = path.name.split(".")[1]
    try:
        if kind in ("xml", "toml"):
            read_platform(path)
        elif kind == "scenario":
            Scenario.load(str(path))
        else:
            read(path, kind)
    except GridError as error:
        print(error)
"""


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc and a limit of memory that holds")
def test_gigabytes_are_refused_in_little_memory(tmp_path: Path) -> None:
    gigabyte = gzip.compress(b"0" * 10_000_000) * 100
    paths = []
    for kind, head in {**HEADS, "batsim": "", "parquet": "PAR1"}.items():
        path = tmp_path / f"line.{kind}.gz"
        path.write_bytes(gzip.compress(head.encode()) + gigabyte)
        paths.append(path)
    paths.append(tmp_path / "comment.swf.gz")
    paths[-1].write_bytes(gzip.compress(b"; Note: ") + gigabyte + gigabyte)
    for kind in ("swf", "gwf", "sacct", "csv", "batsim", "parquet", "toml", "xml"):
        (tmp_path / f"zero.{kind}").symlink_to("/dev/zero")
        paths.append(tmp_path / f"zero.{kind}")
    for name in ("big.scenario.toml", "big.toml", "big.xml"):
        paths.append(tmp_path / name)
        paths[-1].touch()
        os.truncate(paths[-1], 2**30)
    done = subprocess.run(
        [sys.executable, "-c", LIMITED.format(room=2**30), *map(str, paths)],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
        cwd=ROOT,
    )
    told = done.stdout.splitlines()
    assert len(told) == len(paths)
    for path, line in zip(paths, told, strict=True):
        assert line.startswith(str(path))
        if path.name != "zero.parquet":  # which does not begin as such files do
            assert re.search(r": found (a line of )?more than [\d,]+ (characters|bytes)", line)
        assert "accepted" in line
        assert "memory" not in line


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("a.csv", "éjob,arrival,size,runtime\n1,0,1,9\n", 1),
        ("a.csv", "job,arrival,size,runtime\n1,0,1é,9\n", 2),
        ("a.swf", "; café\n1 0 0 9 1é\n", 2),
        ("sacct.txt", SACCT + "1|2024-01-01T00:00:00|1é|00:00:09\n", 2),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_a_text_is_refused_for_a_byte_that_is_not_utf_8(tmp_path, name, text, line, packed):
    path = tmp_path / (name + ".gz" * packed)
    written = text.encode("latin-1")
    path.write_bytes(gzip.compress(written) if packed else written)
    with pytest.raises(WorkloadError) as refused:
        read(path)
    said = "found byte 0xe9, which is not UTF-8; accepted: text in UTF-8"
    assert str(refused.value) == f"{path}:{line}: {said}"
