"""The command `metasched oas`: an answer as JSON, as a chart, and what it refuses."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from agents.oas import verify
from experiments.cli.app import main
from tests.agents.small_oas import possible

# What SWIG makes has no module on Python 3.12 and later.
pytestmark = pytest.mark.filterwarnings(
    "ignore:builtin type .* has no __module__:DeprecationWarning"
)

INSTANCE = {
    "clusters": [
        {"nodes": 4, "effective_power": power, "link_mbps": 1000} for power in (1, 0.75, 0.5)
    ],
    "jobs": [
        {"tasks": tasks, "base_time": base, "bandwidth": 40, "sigma": 0.7}
        for tasks, base in ((8, 670000), (5, 500000), (3, 700000), (12, 300000))
    ],
}


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "instance.json"
    path.write_text(json.dumps(INSTANCE))
    return path


def run(*arguments):
    return CliRunner().invoke(main, ["oas", *map(str, arguments)])


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("options", "status"),
    [
        ([], "optimal"),
        (["--slot", 335000], "optimal"),
        (["--slot", 1000000, "--solver", "milp"], "optimal"),
        (["--heuristic", "insertion"], "feasible"),
        (["--heuristic", "fcfs", "--slot", "300000.5"], "feasible"),
    ],
)
def test_an_answer_as_json_is_verified_as_it_is_printed(path, options, status):
    done = run(path, "--json", *options)
    assert done.exit_code == 0, done.output
    answer = json.loads(done.stdout)
    assert answer["status"] == status
    assert {"makespan", "bound", "compaction", "wall_s", "schedule"} <= set(answer)
    assert [row["job"] for row in answer["schedule"]] == [0, 1, 2, 3]
    assert all(set(row) == {"job", "start", "finish", "nodes"} for row in answer["schedule"])
    verify(json.loads(path.read_text()), answer)
    if status == "optimal":
        assert answer["bound"] == answer["makespan"]


def test_a_chart_for_people(path):
    told = run(path, "--heuristic", "fcfs").stdout
    assert "feasible (fcfs" in told
    assert "makespan" in told
    heads = next(line for line in told.splitlines() if line.startswith("job"))
    assert heads.split()[:8] == ["job", "start,", "d", "finish,", "d", "C1", "C2", "C3"]
    (row,) = [line for line in told.splitlines() if line.split()[:2] == ["1", "0"]]
    assert row.split()[2:6] == ["9.56", "4", "4", "█" * row.count("█")]
    assert max(map(len, told.splitlines())) <= 80


def test_a_job_that_can_run_nowhere_is_named_with_its_links(path):
    instance = json.loads(path.read_text())
    instance["jobs"][3]["bandwidth"] = 900
    path.write_text(json.dumps(instance))
    done = run(path, "--json")
    assert done.exit_code == 1
    answer = json.loads(done.stdout)
    assert (answer["status"], answer["makespan"], answer["schedule"]) == ("infeasible", None, [])
    (line,) = answer["why"]
    assert line.startswith("jobs[3]: 12 tasks of 900 Mbit/s saturate a link")
    assert f"metasched: {path}: {line}" in done.stderr
    assert "infeasible" in run(path).stdout


def test_a_replay_tells_where_nothing_is_saturated(path):
    shown = run(path, "--heuristic", "insertion", "--replay").stdout
    assert "no link is saturated either way: there is nothing to avoid" in shown
    assert "than planned" not in shown
    path.write_text(json.dumps(possible(1, 8, clusters=(4, 4, 4), link=60)))
    shown = run(path, "--heuristic", "insertion", "--replay").stdout
    assert "longer than planned" in shown


def test_a_replay_tells_saturation_from_other_reasons_to_differ(path):
    instance = {
        "clusters": [
            {"nodes": nodes, "effective_power": power, "link_mbps": link}
            for nodes, power, link in ((100, 0.9, 1000), (128, 0.8, 1000), (64, 1.0, 100))
        ],
        "jobs": [
            {"tasks": tasks, "base_time": base, "bandwidth": bandwidth, "sigma": sigma}
            for tasks, base, bandwidth, sigma in (
                (150, 7200, 10, 0.8),
                (100, 3600, 5, 0.9),
                (64, 9000, 2, 0.7),
                (20, 20000, 1, 1.0),
                (200, 1000, 1, 0.5),
            )
        ],
    }
    path.write_text(json.dumps(instance))
    for heuristic, beside in (("fcfs", "11.0 % shorter"), ("spt", "8.9 % longer")):
        shown = run(path, "--heuristic", heuristic, "--replay").stdout
        assert f"no link saturated: makespan {beside} than with links ignored" in shown
        assert "links ignored: saturation made the makespan no longer than planned" in shown


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "accepted: a JSON file"),
        ('{"jobs": [], "jobs": []}', "key 'jobs' found twice in one object; accepted: a JSON file"),
        ('{"jobs": []}', "clusters: not found; accepted: all of clusters, jobs"),
        (json.dumps(INSTANCE).replace("0.75", "7.5"), "clusters[1].effective_power: found 7.5"),
        (json.dumps(INSTANCE).replace("12", "13"), "jobs[3].tasks: found 13; accepted: at most 12"),
        (json.dumps(INSTANCE).replace("300000", "NaN"), "found NaN; accepted: a JSON file"),
        ("[" * 100_000, "accepted: a JSON file"),
    ],
)
def test_a_file_that_is_no_instance_gives_one_line(path, text, message):
    path.write_text(text)
    done = run(path)
    assert done.exit_code == 2
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"metasched: {path}: ")
    assert message in line


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--slot", 0], "--slot: found '0'; accepted: a number above 0"),
        (["--slot", "inf"], "--slot: found 'inf'; accepted: a number above 0"),
        (["--solver", "cplex"], "solver: found 'cplex'; accepted: cpsat, milp, aggregated"),
        (["--solver", "milp"], "--solver: found 'milp' without --slot; accepted: with it, or"),
        (["--heuristic", "best"], "heuristic: found 'best'; accepted: fcfs, sjf"),
        (["--heuristic", "fcfs", "--solver", "milp"], "--heuristic: found with --solver"),
        (["--heuristic", "fcfs", "--time-limit", 5], "--heuristic: found with --time-limit"),
        (["--time-limit", 0], "--time-limit: found '0'; accepted: a number above 0"),
    ],
)
def test_options_that_cannot_be_used_give_one_line(path, options, message):
    done = run(path, *options)
    assert done.exit_code == 2
    (line,) = done.stderr.splitlines()
    assert message in line


def test_a_file_that_is_not_there(tmp_path):
    done = run(tmp_path / "none.json")
    assert done.exit_code == 2
    assert "No such file" in done.stderr
