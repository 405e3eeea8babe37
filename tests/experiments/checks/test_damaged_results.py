"""Damaged results: every command that reads one says what is wrong in a line."""

from __future__ import annotations

import json
import shutil

import pytest

from experiments.run.result_files import ResultFiles
from tests.experiments.commands import call

DIGITS = 4301 * "9"


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    out = tmp_path_factory.mktemp("results") / "out"
    words = "quickstart", "--set", "jobs=30", "--set", "mode=open"
    assert call("run", *words, "--out", out, "--events", out / "events.jsonl").exit_code == 0
    return out


def commands(copy):
    return {
        "verify": ["verify", copy],
        "report": ["report", copy, "-o", copy / "page.html"],
        "plot": ["plot", copy, "-o", copy / "picture.svg"],
        "explain": ["explain", copy, 7],
        "gap": ["gap", copy],
    }


def told(got):
    """Return the line of a refusal."""
    assert got.exit_code == 2, got.output
    assert isinstance(got.exception, SystemExit)
    assert got.stdout == ""
    (line,) = got.stderr.splitlines()
    assert len(line) <= 300
    assert line.isprintable()
    return line


def put(*path, value):
    def damage(summary):
        where = summary
        for key in path[:-1]:
            where = where[key]
        where[path[-1]] = value

    return damage


SUMMARIES = {
    "a cluster that is no table": (put("clusters", 1, value=5), "clusters.1"),
    "a rate that is no number": (put("clusters", 2, "rate", value=""), "clusters.2.rate"),
    "links that are no list": (put("platform", "links", value=5), "links"),
    "restarts that are no number": (put("metrics", "restarts", value="x"), "metrics.restarts"),
    "restarts that are nothing": (put("clusters", 1, "restarts", value=None), "1.restarts"),
    "half a job": (put("jobs", "completed", value=2.5), "jobs.completed"),
    "yes for a number": (put("jobs", "completed", value=True), "jobs.completed"),
    "no global scheduler": (lambda summary: summary.pop("global"), "global: missing"),
    "a number beyond range": (put("wall_s", value=10**400), "401 digits"),
    "half a character": (put("\ud800", value=1), "half a character"),
    "no seed": (put("seed", value=-1), "seed"),
    "a key that no run writes": (put("sneaky", value=1), "sneaky: unknown key"),
    "a key of a cluster": (put("clusters", 0, "sneaky", value=1), "clusters.0.sneaky: unknown"),
    "a metric that is no number": (put("metrics", "own", value="x"), "metrics.own: found 'x'"),
    "a user who is a table": (
        put("users", value={"count": 1, "largest": [{"user": {}}]}), "users.largest.0.user: found"
    ),
    "null": (put("wall_s", value=None), "wall_s: found null"),
    "logs that are numbers": (put("workload", value=[1]), "workload"),
    "a time that never comes": (
        put("platform", "changes", value=[
            {"cluster": "C1", "what": "fail", "at": 1, "until": 72009223372036854775807}
        ]),
        "until",
    ),
    "no weights": (put("parameters", "weights", value=[]), "parameters: weights: found ()"),
    "weights of another number of clusters": (
        put("parameters", "weights", value=[[4, 3, 1]]), "weights: found 1 triple;"
    ),
    "a parameter of 300 digits": (put("parameters", "jobs", value=10**299), "jobs"),
    "links that hang on lists": (
        put("platform", "links", 0, "between", value=[[1], [2]]), "link"
    ),
}  # fmt: skip


def test_what_is_no_result_at_all_is_told(tmp_path):
    (tmp_path / "means").mkdir()
    (tmp_path / "means" / "replications.json").write_text("{}")
    for words in commands(tmp_path / "means").values():
        assert "found replications, whose numbers are in replications.csv" in told(call(*words))
    for words in commands(tmp_path / "missing.db").values():
        assert "missing.db: no such f" in told(call(*words))
    assert told(call("report", tmp_path / "missing.db")).endswith(", or the file of a study")
    (tmp_path / "jobs.csv").write_text("job\n")
    assert told(call("report", tmp_path / "jobs.csv")).endswith(", or the file of a study")
    unlike = told(call("report", tmp_path, "-o", "page"))
    assert unlike == "metasched: -o: found 'page'; accepted: a file that ends in .html"


@pytest.mark.parametrize(("damage", "named"), SUMMARIES.values(), ids=SUMMARIES)
def test_a_damaged_summary_is_told_by_its_key(damage, named, result, tmp_path):
    copy = shutil.copytree(result, tmp_path / "copy")
    summary = json.loads((copy / "summary.json").read_text())
    damage(summary)
    (copy / "summary.json").write_text(json.dumps(summary))
    for words in commands(copy).values():
        line = told(call(*words))
        assert "summary.json: " in line
        assert named in line


TEXTS = {
    "a number of 4,301 digits": ("summary.json", lambda text: text.replace(": 0,", f": {DIGITS},")),
    "no number": ("summary.json", lambda text: text.replace(": 0,", ": NaN,", 1)),
    "a key twice": ("summary.json", lambda text: '{"seed": 1,' + text.strip()[1:]),
    "too deep": ("summary.json", lambda text: 10_000 * "["),
    "a job beyond 64 bits": ("jobs.csv", lambda text: text.replace("\n1,", f"\n{2**64},")),
    "a job with a line through": ("jobs.csv", lambda text: text.replace("\n1,", "\n1_1,")),
    "a size of nothing": ("jobs.csv", lambda text: text.rpartition("C1:")[0] + "C1:0\n"),
    "a time beyond range": ("jobs.csv", lambda text: text.replace("\n2,", "\n2,1e300")),
    "a start without an end": (
        "jobs.csv", lambda text: text.replace(text.splitlines()[3].split(",")[4], "")
    ),
    "an open quote": ("jobs.csv", lambda text: text + '"'),
}  # fmt: skip


@pytest.mark.parametrize(("file", "change"), TEXTS.values(), ids=TEXTS)
def test_a_damaged_file_is_told(file, change, result, tmp_path):
    copy = shutil.copytree(result, tmp_path / "copy")
    text = (copy / file).read_text()
    assert change(text) != text
    (copy / file).write_text(change(text))
    for words in commands(copy).values():
        assert file in told(call(*words))


def test_a_damaged_timeline_is_told(result, tmp_path):
    copy = shutil.copytree(result, tmp_path / "copy")
    lines = (copy / "timeline.csv").read_text().splitlines()
    for cell in ("", "x", "nan", "inf", "1e999", "-1", DIGITS, "True", "1" + 99 * ",1"):
        cells = lines[4].split(",")
        cells[2] = cell
        damaged = [*lines[:4], ",".join(cells), *lines[5:]]
        (copy / "timeline.csv").write_text("\n".join(damaged) + "\n")
        for command in ("report", "plot"):
            assert "timeline.csv" in told(call(*commands(copy)[command]))


def test_files_that_are_none_are_told(result, tmp_path):
    for file, commands_of_it in {
        "summary.json": ("verify", "report", "explain", "gap"),
        "jobs.csv": ("verify", "report", "explain", "gap"),
        "timeline.csv": ("report", "plot"),
        "events.jsonl": ("explain", "gap"),
    }.items():
        for damage in ("gone", "folder", "binary", "empty"):
            copy = shutil.copytree(result, tmp_path / file / damage)
            (copy / file).unlink()
            if damage == "folder":
                (copy / file).mkdir()
            elif damage != "gone":
                (copy / file).write_bytes(b"\xff\0" if damage == "binary" else b"")
            for command in commands_of_it:
                assert file in told(call(*commands(copy)[command]))


def without(key):
    return lambda event: event.pop(key)


EVENTS = {
    "without event": (0, without("event"), "event: missing"),
    "no table": (5, None, "5"),
    "without job": (1, without("job"), "job: missing"),
    "a size that is none": (1, put("size", value="4"), "size"),
    "out of order": (9, put("time", value=0), "time"),
    "a line left out": (9, put("serial", value=11), "serial"),
    "half a character": (1, put("sender", value="\ud800"), "half a character"),
    "begun again": (9, put("event", value="begun"), "scenario: missing"),
}


@pytest.mark.parametrize(("at", "damage", "named"), EVENTS.values(), ids=EVENTS)
def test_a_damaged_event_is_told_by_its_line(at, damage, named, result, tmp_path):
    lines = (result / "events.jsonl").read_text().splitlines()
    event = json.loads(lines[at])
    if damage is None:
        event = 5
    else:
        damage(event)
    lines[at] = json.dumps(event)
    (tmp_path / "log").write_text("\n".join(lines) + "\n")
    for words in (["explain", result, 7], ["gap", result]):
        line = told(call(*words, "--events", tmp_path / "log"))
        assert f"log:{at + 1}: " in line
        assert named in line


@pytest.mark.thorough
def test_whole_numbers_may_be_written_as_others(result, tmp_path):
    copy = shutil.copytree(result, tmp_path / "copy")
    summary = json.loads((copy / "summary.json").read_text())
    summary["parameters"]["warmup"] = 0.0
    summary["parameters"]["jobs"] = 30.0
    (copy / "summary.json").write_text(json.dumps(summary))
    assert ResultFiles.read(copy).summary["parameters"]["jobs"] == 30
    for words in commands(copy).values():
        assert call(*words).exit_code in (0, 1)
    summary["parameters"]["warmup"] = 5.0
    (copy / "summary.json").write_text(json.dumps(summary))
    assert call("report", copy, "-o", copy / "page.html").exit_code == 0


def test_what_is_null_where_it_may_be_is_read(result, tmp_path):
    copy = shutil.copytree(result, tmp_path / "copy")
    summary = json.loads((copy / "summary.json").read_text())
    (copy / "summary.json").write_text(json.dumps(summary | {"cleaning": None}))
    assert call("report", copy, "-o", copy / "page.html").exit_code == 0


def test_jobs_that_were_split_may_have_no_penalty(result, tmp_path):
    copy = shutil.copytree(result, tmp_path / "copy")
    summary = json.loads((copy / "summary.json").read_text())
    summary["metrics"] |= {"coallocated": 0.5, "mean_penalty": None}
    (copy / "summary.json").write_text(json.dumps(summary))
    assert call("report", copy, "-o", copy / "page.html").exit_code == 0


def test_controls_of_a_terminal_are_shown_and_not_sent(result, tmp_path):
    copy = shutil.copytree(result, tmp_path / "copy")
    summary = json.loads((copy / "summary.json").read_text())
    summary["metrics"]["\x1b[2J"] = 1
    summary["clusters"][0]["name"] = "\x1b[31m"
    (copy / "summary.json").write_text(json.dumps(summary))
    log = (copy / "events.jsonl").read_text()
    (copy / "events.jsonl").write_text(log.replace('"MUSCLE"', '"\\u001b[31m"'))
    for words, status in ((["verify", copy], 1), (["explain", copy, 7], 0)):
        got = call(*words)
        assert got.exit_code == status
        assert "\x1b" not in got.stdout
        assert "\\x1b[" in got.stdout


@pytest.mark.parametrize("command", ["verify", "report", "explain", "gap", "plot"])
def test_names_of_any_length_are_told(command, tmp_path):
    for name in ("n" * 301, "a\0b", "none"):
        words = [name if word == tmp_path else word for word in commands(tmp_path)[command]]
        assert "; accepted: a folder that `metasched run --out` wrote" in told(call(*words))


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["quickstart", "--set", f"jobs={DIGITS}"], "jobs"),
        (["quickstart", "--set", f"jobs={2**70}"], "jobs"),
        (["quickstart", "--set", f"load=[{DIGITS}]"], "load"),
        (["quickstart", "--set", f"jobs={3000 * '['}"], "jobs"),
        (["s" * 5000], "unknown"),
        (["s" * 5000 + ".toml"], "no such file"),
        (["a\0b.toml"], "no such file"),
        (["/dev/null/x.toml"], "no such file"),
    ],
)
def test_scenarios_and_settings_of_any_length_are_told(words, named):
    assert named in told(call("validate", *words))


def test_a_time_of_more_than_64_bits_is_told(tmp_path):
    change = '[[changes]]\ncluster = "C1"\nwhat = "fail"\nat = 5\nuntil = '
    for until in ("72009223372036854775807", "7.2e22", DIGITS):
        path = tmp_path / "mine.toml"
        path.write_text(f'[[clusters]]\nname = "C1"\nsize = 4\n{change}{until}\n')
        for words in (["validate", path], ["validate", "quickstart", "--platform", path]):
            assert "accepted" in told(call(*words))
