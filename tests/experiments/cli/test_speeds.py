"""Rates of clusters that depend on where jobs are submitted, from the command line."""

from __future__ import annotations

import pytest

from tests.experiments.commands import call

PLATFORM = """
[[clusters]]
name = "C1"
size = 16
rate = 2
[[clusters]]
name = "C2"
size = 16
[[clusters]]
name = "C3"
size = 16
"""
SPEEDS = "speeds={C1 = {C2 = 0.5, C3 = 0}, C2 = {C1 = 4}}"
ORIGINS = ("C1", "C2", "C3", "")
FACTORS = {  # execution times over run times, as SPEEDS and PLATFORM say; None: cannot run
    "C1": (0.5, 2.0, None),
    "C2": (0.25, 1.0, 1.0),
    "C3": (0.5, 1.0, 1.0),
    "": (0.5, 1.0, 1.0),
}


@pytest.fixture
def grid(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "platform.toml").write_text(PLATFORM)
    by_speeds, by_times = ["job,arrival,size,origin,runtime"], []
    by_times.append("job,arrival,size,origin,runtime,runtime@C1,runtime@C2,runtime@C3")
    for job in range(1, 41):
        origin, runtime = ORIGINS[job % 4], 8.0 * (1 + job % 7)
        begin = f"{job},{2 * job},{1 + job % 16},{origin},{runtime}"
        by_speeds.append(begin)
        times = ["" if factor is None else str(factor * runtime) for factor in FACTORS[origin]]
        by_times.append(",".join([begin, *times]))
    (tmp_path / "speeds.csv").write_text("\n".join(by_speeds) + "\n")
    (tmp_path / "times.csv").write_text("\n".join(by_times) + "\n")
    return tmp_path


def run(workload, *words):
    given = ("--platform", "platform.toml", "--workload", workload, "--no-live")
    return call("run", "muscle", *given, *words)


@pytest.mark.parametrize("policies", [("muscle", "titan"), ("ect", "easy"), ("dll", "fcfs")])
def test_they_are_execution_times_on_each_cluster(grid, policies):
    words = ("--global", policies[0], "--local", policies[1], "--out")
    assert run("speeds.csv", *words, "one", "--set", SPEEDS).exit_code == 0
    assert run("times.csv", *words, "two").exit_code == 0
    assert run("speeds.csv", *words, "none").exit_code == 0
    one, two, none = ((grid / of / "jobs.csv").read_bytes() for of in ("one", "two", "none"))
    assert one == two != none
    assert call("verify", "one").exit_code == 0


def test_the_window_and_the_sites_of_logs_keep_their_own(grid):
    lines = (grid / "speeds.csv").read_text().splitlines()
    (grid / "site.csv").write_text("\n".join([lines[0], *lines[1:11]]) + "\n")
    words = ("--workload", "C2=site.csv", "--local", "fcfs", "--set", "window_end=15")
    speeds = ("--set", "speeds={C1 = {C2 = 9}, C2 = {C1 = 0, C3 = 0, C2 = 0.5}}")
    found = run("C1=site.csv", *words, "--global", "ect", *speeds, "--out", "sites")
    assert found.exit_code == 0, found.output
    rows = [line.split(",") for line in (grid / "sites/jobs.csv").read_text().splitlines()[1:]]
    assert len(rows) == 16  # eight of each
    runtimes = {line.split(",")[0]: float(line.split(",")[4]) for line in lines[1:]}
    took = [(float(row[4]) - float(row[3])) / runtimes[row[0]] for row in rows]
    factors = sorted(round(factor, 9) for factor in took)
    assert set(factors) <= {0.5, round(1 / 9, 9), 1.0, 2.0}
    assert factors[-8:] == [2.0] * 8  # jobs of C2 run there alone, at half speed


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("{C1 = {C2 = -1}}", "--set: speeds.C1.C2: found -1; accepted: from 0"),
        ("{C9 = {C2 = 1}}", "speeds: cluster 'C9': "),
        ("{C1 = {C9 = 1}}", "speeds: cluster 'C9': "),
        ("{C1 = {C1 = 0, C2 = 0, C3 = 0}}", "speeds: C1: 0 everywhere; accepted: above 0 some"),
        ("3", "--set: speeds: found 3; accepted: a table"),
    ],
)
def test_what_they_cannot_be_is_said_in_a_line(grid, value, says):
    found = run("speeds.csv", "--set", f"speeds={value}")
    assert found.exit_code == 2
    assert says in found.stderr
    assert found.stderr.count("\n") == 1


def test_they_are_refused_beside_execution_times(grid):
    found = run("times.csv", "--set", SPEEDS)
    assert found.exit_code == 2
    assert "speeds: found jobs with an execution time on each cluster" in found.stderr


def test_without_a_log_they_have_no_effect(grid):
    found = call("validate", "quickstart", "--set", "speeds={C1 = {C2 = 1}}")
    assert "parameters without effect: speeds (there is no log)" in found.stderr
