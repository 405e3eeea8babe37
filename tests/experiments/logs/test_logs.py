"""The commands `inspect` and `convert`, and every file of the folder of real logs."""

from __future__ import annotations

import gzip
import json
import math
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from experiments.logs.character import Character, Distribution
from experiments.logs.pictures import draw_character
from grid.logs.formats import read
from tests.experiments.commands import call
from tests.experiments.log_files import record, refusal, told

DAY = 86_400
HEAD = "; MaxProcs: 10\n; UnixStartTime: 843480031\n; TimeZoneString: Europe/Stockholm\n"


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "[red]my[b] log.swf"
    path.write_text(
        HEAD
        + "\n".join(
            (
                record(1, 0, 100, 4, time=200, user=7),
                record(2, 3600, 0, -1, 2, user=8),
                record(3, 3700, -1, -1, 6),
                record(4, 8 * DAY, 300, 10, time=60, user=7),
                record(5, 10 * DAY, 50, -1),
            )
        )
    )
    return path


def test_the_contract(log):
    found = told("inspect", log)
    assert found["jobs"] == 5
    assert found["usable"] == 3
    assert found["dropped"] == {"no size": 1, "no known run time": 1}
    assert found["max_processors"] == 10
    sizes, runtimes = np.array([4, 2, 6, 10]), np.array([100, 0, 300, 50])
    assert found["mean_size"] == sizes.mean()
    assert found["cv_size"] == pytest.approx(sizes.std(ddof=1) / sizes.mean())
    assert found["mean_runtime"] == runtimes.mean()
    assert found["cv_runtime"] == pytest.approx(runtimes.std(ddof=1) / runtimes.mean())


@pytest.mark.parametrize("size", [10, 11])
def test_jobs_that_the_machine_cannot_hold_are_told(size, tmp_path):
    log = tmp_path / "log.swf"
    log.write_text(HEAD + record(1, 0, 100, 4) + "\n" + record(2, 5, 100, size) + "\n")
    assert ("1 job that the machine cannot hold" in call("inspect", log).stdout) == (size > 10)


@pytest.mark.parametrize("option", ["--speed", "--processors", "--partition-field"])
def test_what_is_asked_of_logs_means_nothing_to_a_platform(option, tmp_path):
    path = tmp_path / "site.toml"
    path.write_text('[[clusters]]\nname = "A"\nsize = 8\n')
    words = f"{option}: found with {path}, a platform; accepted: with a log"
    assert words in refusal("inspect", path, option, "5")


def test_run_times_that_no_clock_tells(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("arrival,size,runtime,requested_time\n0,1,5e-324,9\n0,1,3,9\n")
    assert told("inspect", path)["overestimate"]["known"] == 1


def test_a_requested_time_of_0_is_told_as_none(tmp_path):
    log, other = tmp_path / "log.swf", tmp_path / "other.swf"
    log.write_text(record(1, 0, 100, 4, time=0) + "\n" + record(2, 0, 100, 4, time=200))
    found = told("inspect", log)
    assert (found["missing"]["estimate"], found["estimate"]["known"]) == (1, 1)
    assert found["rules"] == {}
    assert call("convert", log, other).exit_code == 0
    fields = [line.split() for line in other.read_text().splitlines() if line[0] != ";"]
    assert [row[8] for row in fields] == ["-1", "200"]


def test_the_rest_of_the_character(log):
    found = told("inspect", log)
    assert found["format"] == "swf"
    assert found["users"] == 2
    missing = {"size": 1, "run time": 1, "estimate": 3, "wait": 5, "user": 2, "application": 5}
    assert found["missing"] == missing
    assert found["start"] == "1996-09-23T14:00:31+02:00"
    assert found["duration"] == 8 * DAY
    assert {hour: n for hour, n in enumerate(found["hours"]) if n} == {14: 2, 15: 1}
    assert found["estimate"]["known"] == 2
    assert found["overestimate"]["most"] == 2.0
    assert found["overestimate"]["least"] == 0.2
    first, second = found["weeks"]
    work = 4 * 100 + 2 * 1
    assert first == {
        "week": 1,
        "begin": "1996-09-23",
        "jobs": 2,
        "load": pytest.approx(work / (10 * 7 * DAY)),
    }
    # the log ends a day into its second week
    assert second["load"] == pytest.approx(3000 / (10 * DAY))


def test_hours_follow_summer_time(tmp_path):
    path = tmp_path / "log.swf"
    path.write_text(HEAD + record(1, 0, 1, 1) + "\n" + record(2, 60 * DAY, 1, 1))
    assert {h: n for h, n in enumerate(told("inspect", path)["hours"]) if n} == {13: 1, 14: 1}


@pytest.mark.thorough
def test_tables_for_people(log, tmp_path):
    result = call("inspect", log, "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert "[red]my[b] log.swf: Standard Workload Format" in result.stdout.replace("\n", "")
    for words in (
        "Cleaning of 5 records",
        "no size: dropped",
        "unknown: size by 1, run time by 1, estimate by 3, wait by 5, user by 2, application by 5",
        "run time 0: counted as 1 s",
        "estimate / run",
        "1996-09-30",
        "10 processors, those of the machine",
    ):
        assert words in result.stdout, words
    written = {path.name for path in (tmp_path / "out").iterdir()}
    assert written == {"log.json", "log.svg", "log.png"}
    assert json.loads((tmp_path / "out" / "log.json").read_text()) == told("inspect", log)
    picture = (tmp_path / "out" / "log.svg").read_text()
    for title in ("sizes", "run times", "estimates", "arrivals by hour", "offered load by week"):
        assert f">{title}<" in picture, title


@pytest.mark.thorough
def test_a_figure_of_a_log_that_says_little(tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_text("arrival,size,runtime\n5,1,7\n")
    character = Character.of(read(path))
    assert character.table.machine == 1
    assert character.hours[0] == 1
    draw_character(character, tmp_path / "log")
    assert "none known" in (tmp_path / "log.svg").read_text()


def test_distributions():
    assert Distribution.of(np.zeros(0)) == Distribution(0)
    assert Distribution.of(np.array([5])) == Distribution(1, 5.0, None, 5.0, 5.0, 5.0, 5.0)
    assert Distribution.of(np.zeros(3)).cv is None


def test_platforms(tmp_path):
    path = tmp_path / "site.toml"
    path.write_text('[[clusters]]\nname = "[b]A"\nsize = 4\ncapacity = inf\n')
    found = told("inspect", path)
    assert found["max_processors"] == 4
    assert found["clusters"] == [{"name": "[b]A", "size": 4, "rate": 1.0}]
    assert found["links"][0]["capacity"] is None
    assert "[b]A" in call("inspect", path).stdout
    assert "--out: found with" in refusal("inspect", path, "--out", tmp_path / "out")
    assert "Changes" not in call("inspect", path).stdout
    text = path.read_text().replace("[b]", "")
    for times in ("at = 90.5\nuntil = 7200\nprocessors = 2", "at = 9000"):
        text += f'[[changes]]\ncluster = "A"\nwhat = "fail"\n{times}\n'
    path.write_text(text)
    shown = call("inspect", path).stdout
    assert "A        fail      2     90.5    7,200\n" in shown
    assert "A        fail    all  9,000.0        -\n" in shown
    site = tmp_path / "site.xml"
    site.write_text('<platform><host id="h" speed="1Gf"/><disk/></platform>')
    assert told("inspect", site)["notes"] == ["elements of no meaning here: 1 (disk) left out"]
    jobs = tmp_path / "jobs.csv"
    jobs.write_text("arrival,size,runtime\n0,1,5\n")
    words = "run", "quickstart", "--workload", jobs, "--platform", site, "--local", "fcfs"
    result = call(*words, "--global", "ect")
    assert result.exit_code == 0, result.output
    assert "platform: elements of no meaning here: 1 (disk) left out" in result.stderr


def test_a_scenario_is_no_platform(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('title = "mine"\n[[clusters]]\nname = "A"\nsize = 4\n')
    words = f"{path}: found a scenario; accepted: a log or a platform; `metasched validate {path}`"
    assert words in refusal("inspect", path)
    path.write_text('size = 1\n[[clusters]]\nname = "A"\nsize = 4\n')
    assert "platform: unknown key 'size'" in refusal("inspect", path)
    assert "No such file" in refusal("inspect", tmp_path / "none.toml")


def test_speed_of_processors(tmp_path):
    work = {
        "jobs": [{"id": 1, "subtime": 0, "res": 1, "profile": "p"}],
        "profiles": {"p": {"type": "parallel_homogeneous", "cpu": 6e9, "com": 0}},
    }
    path = tmp_path / "work.json"
    path.write_text(json.dumps(work))
    assert told("inspect", path)["mean_runtime"] == 6
    assert told("inspect", path, "--speed", "2e9")["mean_runtime"] == 3
    site = tmp_path / "site.xml"
    site.write_text('<platform><host id="h" speed="3Gf"/></platform>')
    words = ("run", "quickstart", "--workload", path, "--platform", site, "--local", "fcfs")
    assert told(*words, "--global", "ect")["metrics"]["makespan"] == 2


@pytest.mark.parametrize(
    "name", ["a.swf", "a.json", "a.csv.gz", "a.parquet", "a.swf.xz", "b.csv.bz2"]
)
def test_convert(log, tmp_path, name):
    result = call("convert", log, tmp_path / "new" / name)
    assert result.exit_code == 0, result.output
    assert "3 jobs" in result.stdout
    assert "no size: dropped" in result.stdout
    named = [] if "swf" in name else ["date of the first job, 1996-09-23 14:00:31 CEST, left out: "]
    if "json" in name:
        named = ["user of 3 jobs left out: ", *named]
    elif "swf" not in name:
        named = ["processors of the machine, 10, left out: ", *named]
    named.append("status left out: ")
    for line, words in zip(result.stderr.splitlines(), named, strict=True):
        assert line.startswith(f"metasched: {words}no ")
    assert [path.name for path in (tmp_path / "new").iterdir()] == [name]
    here, there = (read(path).cleaned().jobs for path in (log, tmp_path / "new" / name))
    for column in ("number", "arrival", "size", "runtime", "requested_time"):
        assert np.array_equal(here[column], there[column]), column


def test_controls_of_a_terminal_in_a_log_are_shown_as_escapes(tmp_path):
    path = tmp_path / "log.gwf"
    row = record(1, 0, 60, 4).split()
    names = "\x1b[2Jred", "\u202egnp"
    path.write_text(
        "".join(" ".join([*row[:15], name, *row[16:]]) + "\n" for name in names), encoding="utf-8"
    )
    shown = call("inspect", path).stdout
    assert "\\x1b[2Jred" in shown
    assert "\\u202egnp" in shown
    assert all(line.isprintable() for line in shown.splitlines())
    settings = "--set", "mode=open", "--set", "partitions={x = 'C1'}"
    assert "\\x1b[2Jred" in refusal("run", "quickstart", "--workload", path, *settings)
    site = tmp_path / "\x1b[31m.xml"
    site.write_text('<platform><host id="h" speed="\u202e1Gf"/></platform>', encoding="utf-8")
    assert refusal("inspect", site).isprintable()


def test_the_same_jobs_are_the_same_bytes(log, tmp_path):
    for name in ("a.swf.gz", "b.swf.gz"):
        assert call("convert", log, tmp_path / name).exit_code == 0
    assert (tmp_path / "a.swf.gz").read_bytes() == (tmp_path / "b.swf.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.swf.gz").read_bytes()).startswith(b"; Version: 2.2\n")


def test_formats_by_option(log, tmp_path):
    plain = tmp_path / "jobs"
    assert call("convert", log, plain, "--to", "csv").exit_code == 0
    strange = log.with_name("log.json")
    log.rename(strange)
    assert told("inspect", strange, "--format", "swf")["usable"] == 3
    assert call("convert", strange, tmp_path / "x.csv", "--from", "swf").exit_code == 0
    assert (tmp_path / "x.csv").read_bytes() == plain.read_bytes()


@pytest.mark.parametrize("link", [None, "symlink_to", "hardlink_to"])
def test_a_log_is_not_converted_onto_itself(link, log, tmp_path):
    before, other = log.read_bytes(), log
    if link:
        other = tmp_path / "other.swf"
        getattr(other, link)(log)
    for words in ((log, other), (other, log)):
        assert "found a file that is read; accepted: another" in refusal("convert", *words)
    assert log.read_bytes() == before


def test_bad_conversions_write_nothing(log, tmp_path):
    before = sorted(tmp_path.iterdir())
    out = tmp_path / "out.csv"
    assert "no format has such names" in refusal("convert", log, tmp_path / "out.xls")
    assert "format gwf: cannot be written" in refusal("convert", log, out, "--to", "gwf")
    assert "cannot be read" in refusal("convert", tmp_path / "none.swf", out)
    assert "cannot write workload" in refusal("convert", log, tmp_path, "--to", "csv")
    assert "--speed: found 'x'" in refusal("convert", log, out, "--speed", "x")
    of_batsim = f"--speed: found with {log}, of format swf; accepted: with batsim"
    assert of_batsim in refusal("convert", log, out, "--speed", "5")
    assert "format 'pdf': unknown" in refusal("inspect", log, "--format", "pdf")
    assert sorted(tmp_path.iterdir()) == before
    unusable = tmp_path / "none.swf"
    unusable.write_text(record(1, 0, -1, -1))
    assert "none usable" in refusal("convert", unusable, out)
    assert "none usable" in refusal("inspect", unusable, "--out", tmp_path / "o")
    assert not out.exists()
    assert not (tmp_path / "o").exists()


def test_a_file_is_replaced_whole(log, tmp_path, monkeypatch):
    out = tmp_path / "out.csv"
    out.write_text("arrival,size,runtime\n0,1,5\n")
    before = out.read_text()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    assert "No space left on device" in refusal("convert", log, out)
    assert out.read_text() == before
    monkeypatch.undo()
    assert call("convert", log, out).exit_code == 0
    assert out.read_text() != before
    assert {path.name for path in tmp_path.iterdir()} == {log.name, out.name}


# The published mean and coefficient of variation of sizes and run times, with their precision.
PUBLISHED = {
    "swf/DAS2-fs1-2003-1.swf.gz": (64, "8.379", "1.181", "1055.7", "11.21"),
    "swf/KTH-SP2-1996-2.1-cln.swf.gz": (100, "7.658", "1.668", "8872", "2.343"),
    "swf/LANL-CM5-1994-4.1-cln.swf.gz": (1024, "101.3", "1.253", "2582", "2.171"),
    "swf/LLNL-Atlas-2006-2.1-cln.swf.gz": (9216, "423.2", "2.946", "5025", "2.949"),
    "swf/CERIT-SC-wagap-2013.swf.gz": (256, "8.346", "1.702", "50130", "2.864"),
    "excerpts/SDSC-SP2-1998-first5000.swf.gz": (128, "13.57", "1.379", "8313", "2.077"),
    "excerpts/HPC2N-2002-first3171.swf.gz": (240, "20.18", "0.880", "10130", "2.516"),
    "derived/ALCF-mira.swf.gz": (49152, "1757", "2.156", "8069", "1.442"),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", PUBLISHED)
def test_published_statistics(traces, name):
    processors, *published = PUBLISHED[name]
    found = told("inspect", traces / name)
    assert found["max_processors"] == processors
    for key, text in zip(
        ("mean_size", "cv_size", "mean_runtime", "cv_runtime"), published, strict=True
    ):
        digits = len(text.replace(".", ""))
        assert float(f"{found[key]:.{digits}g}") == pytest.approx(float(text), rel=6e-4), key


READ = {".gz", ".swf", ".json", ".xml", ".log", ".out"}


@pytest.mark.thorough
def test_every_real_file_is_read_or_refused_in_a_line(traces):
    count = 0
    for path in sorted(each for each in traces.rglob("*") if each.is_file()):
        if path.suffix in READ:
            found = told("inspect", path)
            assert found["max_processors"] > 0, path
            assert math.isfinite(found.get("mean_runtime", 0)), path
            count += 1
        else:
            assert "unknown kind of workload" in refusal("inspect", path)
    assert count >= 48


def test_the_page_shows_what_is_printed(tmp_path, monkeypatch):
    page = (Path(__file__).resolve().parents[3] / "docs" / "logs.md").read_text(encoding="utf-8")
    make, (shown, *_) = (
        re.findall(f"```{kind}\n(.*?)```", page, re.S) for kind in ("python", "console")
    )
    monkeypatch.chdir(tmp_path)
    exec(compile(make[0], "block.py", "exec"), {})
    printed = {line.rstrip() for line in call("inspect", "my_log.swf").stdout.splitlines()}
    lines = shown.split("\n\n", 1)[1].splitlines()
    assert len(lines) > 20
    assert set(lines) - printed == {"..."}


def test_an_anonymous_log_has_the_same_jobs_and_no_names(tmp_path):
    log, out = tmp_path / "log.csv", tmp_path / "out.csv"
    rows = [
        f"{10 + 5 * j},{1 + j % 3},{60 + j},{700 + j % 4},{40 + j % 5},{90 + 5 * j}"
        for j in range(40)
    ]
    rows[0] = rows[0].replace(",90", ",5")  # over before the first arrival
    log.write_text("\n".join(["arrival,size,runtime,user,application,deadline", *rows]) + "\n")
    got = call("convert", log, out, "--anonymise")
    assert got.exit_code == 0, got.output
    for names in ("users", "applications"):
        assert f"metasched: {names}: numbered at random, differently each time\n" in got.stderr
    assert "as they first come" not in got.stderr
    before, after = (pd.read_csv(path) for path in (log, out))
    assert after["job"].tolist() == list(range(1, 41))
    for name in ("arrival", "deadline"):
        assert (after[name] == before[name] - 10).all()
    assert (read(out).cleaned().jobs["deadline"] == after["deadline"]).all()
    for name, count in (("user", 4), ("application", 5)):
        pairs = set(zip(before[name], after[name], strict=True))
        assert len(pairs) == count
        assert {number for _, number in pairs} == set(range(count))
    sizes = tmp_path / "sizes.csv"
    sizes.write_text("arrival,size,runtime,application,problem_size\n0,1,60,jacobi,100\n")
    got = call("convert", sizes, out, "--anonymise")
    assert (got.exit_code, "--anonymise: found jobs with problem sizes" in got.stderr) == (2, True)
