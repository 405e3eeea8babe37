"""`metasched verify`: true results pass, and every tampering is found."""

from __future__ import annotations

import csv
import json
import shutil

import pytest
from click.testing import CliRunner

from experiments.checks.verify import verify
from experiments.cli.app import main
from grid.errors import GridError
from tests.experiments.checks.changing_grid import CHANGES, JOBS, PLATFORM, SPREAD

LOSSY = """
global = "muscle"
local = "titan"
clusters = [{name = "A", size = 24}, {name = "B", size = 12, rate = 1.3}]
parameters = {mode = "open", jobs = 200, load = 0.8, local_share = 0.5, latency = 2, loss = 0.3}
"""


def call(*words):
    return CliRunner().invoke(main, [str(word) for word in words])


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Return a folder with results of several kinds, and the files that they come of."""
    folder = tmp_path_factory.mktemp("results")
    (folder / "jobs.csv").write_text("\n".join(JOBS) + "\n")
    (folder / "site.toml").write_text(PLATFORM)
    sizes = "".join(f'[[clusters]]\nname = "C{i}"\nsize = 8\n' for i in (1, 2, 3))
    (folder / "changes.toml").write_text(sizes + CHANGES)
    (folder / "my_spread.py").write_text(SPREAD)
    (folder / "lossy.toml").write_text(LOSSY)
    log = [f"{j} {7 * j} 0 {5 + j} 2 -1 -1 2 60 " + "-1 " * 9 for j in range(1, 30)]
    (folder / "log.swf").write_text("\n".join(log))
    log = folder / "log.swf"
    own = ["quickstart", "--platform", folder / "site.toml", "--workload", folder / "jobs.csv"]
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        for name, words in {
            "split": [*own, "--global", "my_spread:Spread", "--local", "fcfs"],
            "table": [*own, "--global", "ect", "--local", "fcfs", "--set", "idle=total"],
            "open": ["quickstart", "--set", "jobs=60"],
            "changed": [
                *("quickstart", "--platform", folder / "changes.toml", "--local", "fcfs"),
                *(f"--set={each}" for each in ("jobs=60", "max_size=8", "load=0.9")),
            ],
            "failing": [
                *("quickstart", "--platform", folder / "changes.toml", "--set=jobs=60"),
                *("--set=max_size=8", "--set=mean_up_time=400", "--set=mean_down_time=20"),
            ],
            "batch": ["muscle", "--set", "jobs=90", "--set", "queue=20"],
            # A seed schedule that is sent again has a planner start jobs when nothing else happens.
            "lossy": [folder / "lossy.toml", "--set", "prediction_error=0.4"],
            "log": ["muscle", "--workload", log, "--set", "load_factor=2"],
            "sites": ["quickstart", *(f"--workload=C{i}={log}" for i in (1, 2, 3, 4))],
        }.items():
            got = call("run", *words, "--out", folder / name, "--json")
            assert got.exit_code == 0, got.output
    return folder


@pytest.mark.parametrize(
    "name", ["split", "table", "open", "batch", "lossy", "log", "sites", "changed", "failing"]
)
def test_true_results_hold(name, results):
    got = call("verify", results / name, "--json")
    assert got.exit_code == 0, got.output
    checks = json.loads(got.stdout)
    assert checks["holds"]
    assert len(checks["checks"]) == (11 if name in ("batch", "changed", "failing") else 10)
    unchecked = checks["checks"][-1]["unchecked"]
    assert {"global", "metrics/mcp_planned", "metrics/messages/scheduling"} <= {*unchecked}
    assert ("metrics/rounds" in unchecked) == (name != "batch")
    assert not {"metrics/mcp", "metrics/mean_wait", "seed", "clusters/*/cp"} & {*unchecked}


def test_the_logs_that_were_read_are_named(results):
    told = call("verify", results / "sites", "--json").stdout
    assert f"read again: C1={results / 'log.swf'}, C2=" in told


def test_jobs_of_two_sites_may_be_alike_in_all_but_run_time(tmp_path):
    (tmp_path / "platform.toml").write_text(PLATFORM)
    words = ["--platform", tmp_path / "platform.toml", "--set", "mode=open", "--out", tmp_path]
    for name, time in (("C1", 30), ("C2", 15)):  # the second one ends first
        (tmp_path / f"{name}.csv").write_text(f"job,arrival,size,runtime\n1,0,2,{time}\n")
        words += ["--workload", f"{name}={tmp_path / name}.csv"]
    for schedulers in (["--global", "home", "--local", "fcfs"], ["--global", "muscle"]):
        assert call("run", "muscle", *words, *schedulers).exit_code == 0
        assert call("verify", tmp_path).exit_code == 0


@pytest.mark.parametrize("staging", [0, 12])
def test_jobs_may_be_alike_in_all_that_jobs_csv_has(tmp_path, staging):
    """The first in the workload ends last, and the third runs as long as the fourth needs."""
    rows = ["1,0,10,50,C1", "1,0,10,50,C2", "2,100,1,30,C3", "2,100,1,42,C4"]
    (tmp_path / "jobs.csv").write_text("\n".join(["job,arrival,size,runtime,origin", *rows]) + "\n")
    out = tmp_path / "out"
    words = ["--workload", tmp_path / "jobs.csv", "--out", out, "--local", "fcfs"]
    words += ["--set", f"staging_time={staging}"]
    for policy in ("dll", "home", "ect"):
        assert call("run", "muscle", *words, "--global", policy).exit_code == 0
        got = call("verify", out)
        assert got.exit_code == 0, got.output


def test_what_needs_to_know_which_of_several_jobs_left_is_not_checked(tmp_path):
    (tmp_path / "jobs.csv").write_text(
        "job,arrival,size,runtime,origin\n1,0,10,50,C1\n1,0,10,50,C2\n"
    )
    out = tmp_path / "out"
    words = "--workload", tmp_path / "jobs.csv", "--out", out, "--local", "fcfs"
    assert call("run", "muscle", *words, "--global", "home").exit_code == 0
    header, *rows = (out / "jobs.csv").read_text().splitlines()
    (out / "jobs.csv").write_text(f"{header}\n{rows[1]}\n")  # as if the first had not ended
    *_, numbers = verify(out)
    assert {"metrics/migrated", "metrics/mean_bounded_slowdown"} <= {*numbers.unchecked}


def test_what_failures_cost_is_told(results):
    summary = json.loads((results / "failing" / "summary.json").read_text())
    assert summary["metrics"]["restarts"] > 3
    for row in (summary["metrics"], *summary["clusters"]):
        assert (row["lost_work"] > 0) == (row["restarts"] > 0)
    summary = json.loads((results / "open" / "summary.json").read_text())
    assert (summary["metrics"]["restarts"], summary["metrics"]["lost_work"]) == (0, 0.0)


def test_a_result_without_jobs_holds(tmp_path, results):
    (tmp_path / "jobs.csv").write_text("arrival,size,runtime\n0,99,5\n")
    words = "quickstart", "--workload", tmp_path / "jobs.csv", "--out", tmp_path / "r"
    got = call("run", *words)
    assert got.exit_code == 1
    assert "metasched: 1 job of 1 rejected: larger than can ever run" in got.stderr
    assert call("verify", tmp_path / "r").exit_code == 0


@pytest.mark.parametrize(("warmup", "met"), [(0, 1 / 3), (1, 1 / 2)])
def test_a_rejected_job_misses_its_deadline(tmp_path, warmup, met):
    jobs = "arrival,size,runtime,deadline\n0,99,5,50\n1,99,5,50\n2,99,5,\n3,2,5,90\n"
    (tmp_path / "jobs.csv").write_text(jobs)
    words = ["quickstart", "--workload", tmp_path / "jobs.csv", "--out", tmp_path / "r"]
    words += ["--set", "assign_deadlines=false", "--set", f"warmup={warmup}"]
    assert call("run", *words).exit_code == 0
    summary = json.loads((tmp_path / "r" / "summary.json").read_text())
    assert summary["metrics"]["deadlines_met"] == met
    assert {row["deadlines_met"] for row in summary["clusters"]} <= {1.0, None}
    assert call("verify", tmp_path / "r").exit_code == 0


# Tampering: which result, what is done to its rows (by job) or its summary, the check that tells.


def moved(**changes):
    def tamper(rows, summary, job):
        for row in rows:
            if row["job"] == str(job):
                for name, change in changes.items():
                    row[name] = change(row[name])
                return

    return tamper


def later(seconds):
    return lambda text: repr(float(text) + seconds)


def drop(rows, summary, job):
    rows[:] = [row for row in rows if row["job"] != str(job)]


def twice(rows, summary, job):
    rows += [row for row in rows if row["job"] == str(job)]


def before_its_neighbour(rows, summary, job):
    """Exchange a job with the one above it, which arrives at the same instant."""
    at = next(index for index, row in enumerate(rows) if row["job"] == str(job))
    assert rows[at]["arrival"] == rows[at - 1]["arrival"]
    rows[at - 1 : at + 1] = rows[at], rows[at - 1]


def said(*path, change=lambda value: value + 1):
    def tamper(rows, summary, job):
        where = summary
        for key in path[:-1]:
            where = where[key]
        where[path[-1]] = change(where[path[-1]])

    return tamper


def taken_to(cluster, since, until, more_than):
    """Have a job that starts in a time and has more processors run on another cluster."""

    def tamper(rows, summary, job):
        row = next(
            row
            for row in rows
            if row["start"]
            and since <= float(row["start"]) < until
            and int(row["size"]) > more_than
        )
        row["placement"] = f"{cluster}:{row['size']}"

    return tamper


AWAY, NUMBERS = "no processor is used while it is away", "numbers of the summary are right"
TAMPERINGS = {
    "on what drains": ("changed", taken_to("C1", 20, 300, 3), 0, AWAY),
    "on what failed": ("changed", taken_to("C2", 60, 200, 2), 0, AWAY),
    "on what has not joined": ("changed", taken_to("C3", 0, 40, 0), 0, AWAY),
    "restarts without failures": ("open", said("metrics", "restarts"), 0, NUMBERS),
    "restarts of no cluster": (
        "failing",
        said("metrics", "restarts", change=lambda value: 100 * value),
        0,
        NUMBERS,
    ),
    "lost work": ("failing", said("clusters", 0, "lost_work"), 0, NUMBERS),
    "lost work without restarts": ("open", said("metrics", "lost_work"), 0, NUMBERS),
    "a job lost": ("table", drop, 2, "all jobs are accounted for"),
    "a job invented": ("table", twice, 2, "jobs are those of the workload"),
    "another number": ("open", moved(job=lambda _: "999"), 7, "jobs are those of the workload"),
    "another size": ("table", moved(size=lambda _: "3"), 1, "jobs are those of the workload"),
    "another arrival": ("log", moved(arrival=later(-0.5)), 9, "jobs are those of the workload"),
    "not with its round": ("batch", moved(arrival=later(-0.5)), 50, "rounds follow each other"),
    "out of order": ("open", moved(arrival=later(-1e3)), 40, "jobs are in order of arrival"),
    "out of order at an instant": (
        "batch",
        before_its_neighbour,
        2,
        "jobs are in order of arrival",
    ),
    "before its arrival": (
        "table",
        moved(start=later(-20), finish=later(-20)),
        2,
        "no job starts before its arrival",
    ),
    "too short": ("open", moved(finish=later(-0.1)), 11, "durations are right"),
    "too long": ("batch", moved(finish=later(0.1)), 11, "durations are right"),
    "too short, split": ("split", moved(finish=later(-4)), 3, "durations are right"),
    "on another cluster": ("table", moved(placement=lambda _: "C1:4"), 1, "durations are right"),
    "on no cluster": ("table", moved(placement=lambda _: "C9:4"), 1, "placements fit"),
    "on too few": ("table", moved(placement=lambda _: "C1:3"), 1, "placements fit"),
    "on too many": ("split", moved(placement=lambda _: "C1:8"), 3, "placements fit"),
    "held twice": (
        "split",
        moved(start=later(-4), finish=later(-4)),
        3,
        "no processor is held twice",
    ),
    "rejected for nothing": (
        "table",
        moved(start=lambda _: "", finish=lambda _: "", placement=lambda _: ""),
        1,
        "rejected jobs did not run",
    ),
    "a CP without rounds": (
        "split",
        said("metrics", "mcp", change=lambda _: 1.0),
        0,
        "numbers of the summary are right",
    ),
    "counts": ("open", said("jobs", "completed"), 0, "all jobs are accounted for"),
    "list of the rejected": (
        "table",
        said("rejected_jobs", change=lambda _: [3]),
        0,
        "all jobs are accounted for",
    ),
    **{
        f"{name} of {key}": (
            result,
            said(
                *place,
                key,
                change=lambda value: value + 1 if isinstance(value, int) else value * 1.001 + 1e-3,
            ),
            0,
            "numbers of the summary are right",
        )
        for result, place, name, keys in (
            ("open", ("metrics",), "metrics", ("mean_wait", "makespan", "work", "p95_wait", "mcp")),
            (
                "batch",
                ("metrics",),
                "metrics",
                ("rounds", "mcp", "pb", "mcp_overall", "over_deadline"),
            ),
            ("batch", ("clusters", 0), "cluster", ("cp",)),
            ("split", ("clusters", 0), "cluster", ("work", "utilization", "max_wait")),
            ("table", ("clusters", 1), "cluster", ("idle_time_total", "deadlines_met", "rate")),
        )
        for key in keys
    },
}


@pytest.mark.parametrize(("name", "tamper", "job", "check"), TAMPERINGS.values(), ids=TAMPERINGS)
def test_tampering_is_found(name, tamper, job, check, results, tmp_path):
    shutil.copytree(results / name, tmp_path / "copy")
    path = tmp_path / "copy" / "jobs.csv"
    with path.open(newline="") as file:
        rows = [*csv.DictReader(file)]
    summary = json.loads((tmp_path / "copy" / "summary.json").read_text())
    header = [*rows[0]]
    tamper(rows, summary, job)
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, header, lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
    (tmp_path / "copy" / "summary.json").write_text(json.dumps(summary))
    got = call("verify", tmp_path / "copy", "--json")
    assert got.exit_code == 1, got.output
    failed = [each["check"] for each in json.loads(got.stdout)["checks"] if not each["holds"]]
    assert check in failed


def test_people_get_a_table(results):
    got = call("verify", results / "table")
    assert "no processor is held twice" in got.stdout
    _, verdict, left = got.stdout.partition(f"{results / 'table'}: 10 checks hold\n")
    assert verdict
    lines = left.splitlines()
    assert lines[0].startswith("Not checked, ")
    assert "- plans and predictions: mcp_planned, pb_planned, cp_basis and 4 more" in lines
    assert lines[-1].startswith("- run: scenario, dropped, deadlines and ")
    assert len(got.stdout.splitlines()) <= 24  # a screen


def test_a_log_may_be_elsewhere(results, tmp_path):
    shutil.copytree(results / "log", tmp_path / "copy")
    summary = json.loads((tmp_path / "copy" / "summary.json").read_text())
    summary["workload"] = "gone.swf"
    (tmp_path / "copy" / "summary.json").write_text(json.dumps(summary))
    got = call("verify", tmp_path / "copy")
    assert got.exit_code == 2
    assert "gone.swf" in got.stderr
    assert "--workload" in got.stderr
    assert call("verify", tmp_path / "copy", "--workload", results / "log.swf").exit_code == 0


BAD = {
    "no folder": (None, None, "copy: no such folder"),
    "no summary": ("summary.json", None, "summary.json"),
    "no jobs": ("jobs.csv", None, "jobs.csv"),
    "no JSON": ("summary.json", "{", "summary.json"),
    "another JSON": ("summary.json", "[1]", "summary.json"),
    "another table": ("jobs.csv", "a,b\n1,2\n", "jobs.csv:1"),
    "a short row": ("jobs.csv", "job,arrival,size,start,finish,placement\n1,2\n", "jobs.csv:2"),
    "no number": ("jobs.csv", "job,arrival,size,start,finish,placement\n1,x,1,,,\n", "arrival"),
    "no time": ("jobs.csv", "job,arrival,size,start,finish,placement\n1,0,1,nan,,\n", "start"),
    "no place": ("jobs.csv", "job,arrival,size,start,finish,placement\n1,0,1,0,1,C\n", "placement"),
}


@pytest.mark.parametrize(("file", "text", "named"), BAD.values(), ids=BAD)
def test_what_cannot_be_read_is_told_in_a_line(file, text, named, results, tmp_path):
    if file is not None:
        shutil.copytree(results / "open", tmp_path / "copy")
        (tmp_path / "copy" / file).unlink()
        if text is not None:
            (tmp_path / "copy" / file).write_text(text)
    got = call("verify", tmp_path / "copy")
    assert got.exit_code == 2, got.output
    assert got.stdout == ""
    assert got.stderr.count("\n") == 1
    assert named in got.stderr


def test_synthetic_jobs_have_no_log(results):
    with pytest.raises(GridError, match="synthetic"):
        verify(results / "open", "some.swf")


@pytest.mark.parametrize(
    ("line", "column", "text", "status"),
    [
        (3, None, "", 2),  # no such interval
        (4, 1, "5.0", 2),
        (-1, -1, "-1", 2),
        (5, 2, "7.25", 1),
    ],
)
def test_tampered_intervals_are_found(line, column, text, status, results, tmp_path):
    shutil.copytree(results / "open", tmp_path / "copy")
    path = tmp_path / "copy" / "timeline.csv"
    lines = path.read_text().splitlines()
    if column is None:
        del lines[line]
    else:
        cells = lines[line].split(",")
        cells[column] = text
        lines[line] = ",".join(cells)
    path.write_text("\n".join(lines) + "\n")
    got = call("verify", tmp_path / "copy", "--json")
    assert got.exit_code == status, got.output
    if status == 2:
        assert "timeline.csv:" in got.stderr
        assert len(got.stderr.splitlines()) == 1
    else:
        failed = [each["check"] for each in json.loads(got.stdout)["checks"] if not each["holds"]]
        assert failed == ["intervals are right"]
