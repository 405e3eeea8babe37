"""`metasched verify`: every tampering is found."""

from __future__ import annotations

import csv
import json
import shutil

import pytest

from tests.experiments.commands import call

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


@pytest.mark.parametrize(
    ("row", "column", "text", "told"),
    [
        (1, "jobs", "99", "user 2: jobs 99; jobs.csv makes it 2"),
        (1, "user", "77", "user 77: no completed job names it"),
        (2, "mean_wait", "4.5", "user 1: mean_wait 4.5; jobs.csv makes it "),
        (2, "mean_bounded_slowdown", "1.5", "user 1: mean_bounded_slowdown 1.5; jobs.csv makes it"),
        (2, "work", "1e9", "user 1: work 1000000000; jobs.csv makes it "),
        (2, None, "", "1 rows; jobs.csv and the workload make it 2 users"),
        (1, "work", "x", None),
        (0, "work", "worked", None),
    ],
)
def test_tampered_users_are_found(row, column, text, told, tmp_path):
    (tmp_path / "jobs.csv").write_text(
        "arrival,size,runtime,user\n0,4,10,2\n1,4,20,2\n2,4,8,1\n8,1,2,\n"
    )
    words = "site", "--workload", tmp_path / "jobs.csv", "--set", "nodes=8", "--local", "fcfs"
    assert call("run", *words, "--no-live", "--out", tmp_path / "out").exit_code == 0
    assert call("verify", tmp_path / "out").exit_code == 0
    path = tmp_path / "out" / "users.csv"
    rows = [line.split(",") for line in path.read_text().splitlines()]
    if column is None:
        del rows[row]
    else:
        rows[row][rows[0].index(column)] = text
    path.write_text("\n".join(",".join(each) for each in rows) + "\n")
    got = call("verify", tmp_path / "out", "--json")
    if told is None:
        assert (got.exit_code, got.stdout) == (2, "")
        assert f"users.csv:{row + 1}: " in got.stderr
        return
    assert got.exit_code == 1
    (failed,) = [each for each in json.loads(got.stdout)["checks"] if not each["holds"]]
    assert failed["check"] == "users are right"
    assert failed["detail"].startswith(told)


def test_users_of_a_summary_are_worked_out_again(tmp_path):
    (tmp_path / "jobs.csv").write_text("arrival,size,runtime,user\n0,8,10,2\n1,8,20,2\n2,8,8,1\n")
    words = "site", "--workload", tmp_path / "jobs.csv", "--set", "nodes=8", "--local", "fcfs"
    assert call("run", *words, "--no-live", "--out", tmp_path / "out").exit_code == 0
    path = tmp_path / "out" / "summary.json"
    text = path.read_text()
    summary = json.loads(text)
    # Waits 0 and 9, and 28: means 4.5 and 28.
    assert summary["metrics"]["gini_wait"] == pytest.approx(23.5 / (2 * 32.5))
    for change in (
        lambda found: found["metrics"].update(gini_wait=0.5),
        lambda found: found["users"].update(count=3),
        lambda found: found["users"]["largest"][1].update(mean_wait=3.0),
        lambda found: found["users"]["largest"].clear(),
        lambda found: found["users"]["largest"].pop(0),
        lambda found: found["users"]["largest"].reverse(),
        lambda found: found["users"]["largest"].append(found["users"]["largest"][0]),
    ):
        summary = json.loads(text)
        change(summary)
        path.write_text(json.dumps(summary))
        got = call("verify", tmp_path / "out", "--json")
        (failed,) = [each for each in json.loads(got.stdout)["checks"] if not each["holds"]]
        assert failed["check"] == "numbers of the summary are right"
