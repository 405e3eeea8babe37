"""What is told of a scenario though it is no error."""

from __future__ import annotations

import json
import tomllib

import numpy as np
import pytest
from click.testing import CliRunner

from experiments.cli.app import main
from experiments.scenario.jobs import TOLD
from experiments.scenario.notes import notes
from experiments.scenario.scenario import Scenario
from experiments.scenario.unread import WITHOUT_EFFECT
from grid.errors import GridError
from grid.platform.multicluster import Platform
from grid.workloads.table import stated_by

ALL = type(Scenario.load("quickstart").parameters).model_fields
PLATFORM = Platform.star([20, 4], latency=0.1)


def told(parameters, workload=None, **options):
    return notes(Scenario("mine", PLATFORM, parameters, workload=workload, **options))


CHANGING = """
clusters = [{name = "A", size = 24}, {name = "B", size = 8}]
[[changes]]
cluster = "A"
what = "fail"
at = 5
[[changes]]
cluster = "B"
what = "drain"
at = 9000
until = 9500
"""


@pytest.mark.parametrize(
    ("parameters", "clocks"),
    [
        ({}, []),
        ({"window_start": 500}, ["count from the start of the window, not of the log"]),
        ({"window_end": 500}, ["count from the start of the window, not of the log"]),
        ({"load_factor": 2}, ["are not scaled by load_factor"]),
    ],
)
def test_it_is_said_on_which_clock_changes_are(parameters, clocks):
    changing = Platform.from_dict(tomllib.loads(CHANGING))
    told = notes(Scenario("mine", changing, parameters, workload="my.swf"))
    assert told == [f"changes of the platform: at and until {clock}" for clock in clocks]
    assert notes(Scenario("mine", PLATFORM, parameters, workload="my.swf")) == []


@pytest.mark.parametrize(
    ("local", "user", "said"),
    [("fair-share", None, 1), ("fair-share", "", 1), ("fair-share", "5", 0), ("fcfs", "", 0)],
)
def test_it_is_said_that_nobody_has_a_share(tmp_path, local, user, said):
    jobs = None if user is None else str(tmp_path / "jobs.csv")
    (tmp_path / "jobs.csv").write_text(f"arrival,size,runtime,user\n0,1,10,{user or ''}\n")
    scenario = Scenario("mine", PLATFORM, {"assign_deadlines": False}, "dll", local, workload=jobs)
    found = notes(scenario, stated=stated_by(scenario.model().workload))
    line = "local scheduler fair-share: no job names a user; all are served in order of landing"
    assert [each for each in found if "names a user" in each] == [line] * said


def test_it_is_said_that_times_of_series_are_not_scaled():
    given = {"busy_watts": 100, "idle_watts": 0, "carbon": {"A": "a.csv"}, "price": "b.csv"}
    scaled = Scenario("mine", PLATFORM, given | {"load_factor": 2}, workload="my.swf")
    line = "price and carbon: the times of their series are not scaled by load_factor"
    assert notes(scaled) == [line]
    assert notes(Scenario("mine", PLATFORM, given, workload="my.swf")) == []


@pytest.mark.parametrize(
    ("origins", "shares", "told"),
    [(["", ""], 1, 2), (["C1", ""], 1, None), (["", ""], 0, None)],
)
def test_it_is_said_that_origins_are_drawn(tmp_path, origins, shares, told):
    rows = "".join(f"{at},1,5,{origin}\n" for at, origin in enumerate(origins))
    (tmp_path / "jobs.csv").write_text(f"arrival,size,runtime,origin\n{rows}")
    given = {"local_share": float(shares), "assign_deadlines": False}
    ran = Scenario("mine", PLATFORM, given, "dll", "fcfs", workload=str(tmp_path / "jobs.csv"))
    model = ran.model()
    found = [line for line in notes(ran, stated=stated_by(model.workload)) if "drawn" in line]
    line = f"workload: origins of {told} jobs drawn, as the jobs bring none (local_share, "
    assert found == ([f"{line}queue_shares)"] if told else [])


@pytest.mark.thorough
def test_changes_after_the_last_job_never_took_effect(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    jobs = "arrival,size,runtime\n0,1,5\n8000,1,5\n"
    (tmp_path / "jobs.csv").write_text(jobs)
    (tmp_path / "changing.toml").write_text(CHANGING)
    words = ["run", "quickstart", "--platform", "changing.toml", "--workload", "jobs.csv"]
    got = CliRunner().invoke(main, [*words, "--set", "window_start=7000", "--out", "r", "--json"])
    never = "1 of 2 changes of the platform never came: planned after the last job ended"
    assert f"metasched: {never}, at 1,00" in got.stderr
    often = [*words, "--set", "window_start=7000", "--replications", "2"]
    (line,) = [x for x in CliRunner().invoke(main, often).stderr.splitlines() if never in x]
    assert line.startswith(f"metasched: {never}, at 1,00")
    assert line.endswith(" s at the latest")
    assert CliRunner().invoke(main, ["report", "r", "-o", "page.html"]).exit_code == 0
    page = (tmp_path / "page.html").read_text()
    assert never in page
    assert "Changes of the platform: at and until count from the start of the window" in page
    (tmp_path / "jobs.csv").write_text(jobs.replace("8000", "9800"))
    assert "never came" not in CliRunner().invoke(main, words).stderr


def test_processors_that_were_to_join_after_the_last_job_were_never_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "jobs.csv").write_text("arrival,size,runtime\n0,2,100\n0,2,100\n")
    clusters = '[[clusters]]\nname = "A"\nsize = 4\n[[changes]]\ncluster = "A"\n'
    never = "metasched: 1 of 1 change of the platform never came: planned after the last job ended"
    waits = {}
    for what, absent in (
        ("join", "; processors that were to join were never there"),
        ("drain", ""),
    ):
        (tmp_path / "p.toml").write_text(f'{clusters}what = "{what}"\nat = 1e3\nprocessors = 2\n')
        words = ["run", "site", "--platform", "p.toml", "--workload", "A=jobs.csv", "--json"]
        told = CliRunner().invoke(main, words)
        last = 200 if what == "join" else 100
        assert f"{never}, at {last} s{absent}\n" in told.stderr
        waits[what] = json.loads(told.stdout)["metrics"]["mean_wait"]
    assert waits == {"join": 50.0, "drain": 0.0}


def test_processors_that_are_to_join_count_as_idle_meanwhile(tmp_path):
    grid = tmp_path / "grid.toml"
    text = '[[clusters]]\nname = "A"\nsize = 8\n[parameters]\nmode = "open"\njobs = 20\n'
    grid.write_text(text + '[[changes]]\ncluster = "A"\nwhat = "join"\nat = 50\nprocessors = 4\n')
    words = ["run", str(grid), "--global"]
    told = "processors that are to join count as idle as long as they have not, "
    assert told in CliRunner().invoke(main, [*words, "dll", "--local", "fcfs"]).stderr
    grid.write_text(grid.read_text().replace('"join"', '"drain"'))
    assert told not in CliRunner().invoke(main, [*words, "dll", "--local", "fcfs"]).stderr


def test_what_parameters_replace_of_a_platform_is_told(tmp_path):
    changing = Platform.from_dict(tomllib.loads(CHANGING))
    lost = "platform: parameter clusters replaces those of the file, whose 2 changes of processors"
    mine = Scenario("mine", changing, {"clusters": 3})
    for scenario in (mine, mine.changed(["clusters=2", "nodes=10"])):
        assert notes(scenario) == [f"{lost} are left out"]
    links = "platform: parameter link_mbps replaces the capacities of its links, 200"
    for nodes, most, ends in (("auto", 1e3, "to 1,000 Mbit/s"), (4, np.inf, "Mbit/s to no limit")):
        unlike = Scenario("mine", Platform.star([8, 8], capacity=[200.0, most]), {"nodes": nodes})
        assert f"{links} {ends}" in notes(unlike.changed(link_mbps=77.0))
    assert not any("link_mbps" in each for each in notes(unlike))
    (tmp_path / "mine.csv").write_text("arrival,size,runtime\n0,1,5\n")
    replay = mine.changed(workload=[f"A={tmp_path}/mine.csv"])
    known = r"accepted: C1, C2, C3 \(clusters = 3 replaces those of the file\)"
    with pytest.raises(GridError, match=f"workload A=.*mine.csv: unknown cluster; {known}"):
        replay.model()


@pytest.mark.parametrize(
    ("parameters", "workload", "reasons"),
    [
        ({"mode": "open", "load": 0.5, "max_runtime": 50}, None, ""),
        ({"mode": "batch", "queue": 5, "local_share": 0.5}, None, ""),
        ({"mode": "open", "load_factor": 2, "window_end": 50}, "my.swf", ""),
        ({"mode": "open", "queue": 5}, None, "queue (mode is open)"),
        ({"load": 0.5}, None, "load (mode is batch)"),
        (
            {"window_end": 5, "load_factor": 1},
            None,
            "load_factor, window_end (there is no log)",
        ),
        (
            {"runtimes": "exponential", "max_runtime": 50, "mean_runtime": 3},
            None,
            "max_runtime (runtimes is not bounded-pareto)",
        ),
        (
            {"selection": "easy"},
            None,
            "selection (the global scheduler works in rounds)",
        ),
        ({"max_jumps": 3}, None, "max_jumps (the global scheduler works in rounds)"),
        (
            {"max_jumps": 3, "selection": "fcfs"},
            None,
            "selection, max_jumps (the global scheduler works in rounds)",
        ),
        ({"mean_runtime": 3}, None, "mean_runtime (runtimes is bounded-pareto)"),
        (
            {"assign_deadlines": False, "max_deadline_ratio": 3},
            "my.swf",
            "max_deadline_ratio (assign_deadlines is false)",
        ),
        (
            {
                "min_deadline_ratio": 3,
                "service_classes": [{"name": "a", "share": 1, "min_ratio": 0, "max_ratio": 1}],
            },
            None,
            "min_deadline_ratio (there are service_classes)",
        ),
        (
            {"jobs": 5, "load": 0.5, "max_size": 99, "mode": "batch"},
            "my.swf",
            "jobs, load, max_size (a log gives the jobs); mode (a log runs in mode open)",
        ),
        (
            {"local_share": 0.5},
            ["C1=a.swf", "C2=b.swf"],
            "local_share (each log is that of a site)",
        ),
        (
            {"queue_shares": [100, 0]},
            ["C1=a.swf", "C2=b.swf"],
            "queue_shares (each log is that of a site)",
        ),
    ],
)
def test_parameters_that_mean_nothing_are_named_with_the_reason(parameters, workload, reasons):
    expected = [f"parameters without effect: {reasons}"] if reasons else []
    assert told(parameters, workload) == expected


def test_only_what_a_person_set_is_named():
    assert notes(Scenario.load("muscle").changed(workload="my.swf")) == []
    scenario = Scenario.load("muscle").changed(["jobs=5"], workload="my.swf")
    assert notes(scenario) == ["parameters without effect: jobs (a log gives the jobs)"]
    assert notes(scenario.changed(["latency=1"])) == notes(scenario)


def test_jobs_that_no_cluster_can_hold_are_foretold():
    note = "max_size: 21 processors; jobs larger than 20 are rejected, for no cluster can hold them"
    assert told({"max_size": 21}) == [note]
    assert told({"max_size": 20}) == []


def test_jobs_larger_than_all_clusters_together_are_foretold_where_jobs_are_split():
    note = "max_size: 41 processors; jobs larger than 24 are rejected, for all clusters together"
    (found,) = told({"mode": "open", "max_size": 41}, global_scheduler="b1", local_scheduler="fcfs")
    assert found == f"{note} have no more"


def test_the_table_names_parameters():
    named = {name for names, _, _ in WITHOUT_EFFECT for name in names}
    assert named <= {*ALL}


def test_parameters_have_the_name_by_which_they_were_given():
    given = Scenario.load("queues").changed(["utilization=1.2"])
    for scenario in (given, given.changed(["jobs=5"])):
        assert [note.partition(":")[0] for note in notes(scenario)] == ["utilization"]
    assert notes(given.changed(["load=1.2"]))[0].startswith("load: 1.2;")


def test_shares_of_queues_are_origins_too():
    staged = Scenario.load("queues").changed(["local_share=0", "staging_time=1"])
    assert "staging_time (local_share is 0: no job has an origin)" in notes(staged)[0]
    assert "staging_time" not in notes(staged.changed(["queue_shares=25,25,25,25"]))[0]


@pytest.mark.parametrize(
    ("local", "parameters", "why"),
    [
        ("sjf", {"mode": "open"}, "no scheduler reads deadlines"),
        ("sjf", {"mode": "open", "assign_deadlines": False}, "no scheduler reads deadlines"),
        ("sjf", {"mode": "batch", "assign_deadlines": False}, "assign_deadlines is false"),
        ("sjf", {"mode": "open", "assign_deadlines": True}, ""),
        ("sjf", {"mode": "batch"}, ""),
        ("titan", {"mode": "open"}, ""),
        ("titan", {"mode": "open", "assign_deadlines": False}, "assign_deadlines is false"),
    ],
)
def test_it_is_said_why_no_deadline_is_drawn(local, parameters, why):
    given = {**parameters, "max_deadline_ratio": 3}
    lines = [f"parameters without effect: max_deadline_ratio ({why})"] if why else []
    assert told(given, global_scheduler="ect", local_scheduler=local) == lines


@pytest.mark.parametrize(
    ("parameters", "share"),
    [({}, "100.0 %"), ({"local_share": 0.75}, "25.0 %")],
)
def test_jobs_that_have_no_home_are_told(parameters, share, tmp_path):
    line = "workload: {} submitted through no cluster: under {} they {}"
    for policy, other in (("home", "dll"), ("no-share", "migration-only")):
        found = told({"mode": "open", **parameters}, global_scheduler=policy)
        then = f"go where {other} would send them"
        assert line.format(f"{share} of the jobs", policy, then) in found
    found = told({"mode": "open", **parameters}, global_scheduler="dll")
    assert not any("no cluster" in each for each in found)
    for shared in ({"local_share": 1.0}, {"queue_shares": [30, 70]}, {"mode": "per-cluster"}):
        of_all = told({"mode": "open", **shared}, global_scheduler="home")
        assert not any("no cluster" in each for each in of_all)
    (tmp_path / "jobs.csv").write_text("arrival,size,runtime,origin\n0,1,5,C1\n1,1,5,\n2,1,5,\n")
    done = CliRunner().invoke(
        main, ["run", "quickstart", "--workload", str(tmp_path / "jobs.csv"), "--global", "home",
               "--local", "fcfs", "--set", "local_share=0"],
    )  # fmt: skip
    assert line.format("2 jobs", "home", "go where dll would send them") in done.stderr


@pytest.mark.parametrize(
    ("global_", "local", "told"),
    [
        ("b3", "easy", True),
        ("gp", "titan", True),
        ("oas", "sjf", True),
        ("wf", "fpfs", True),
        ("b3", "fcfs", False),
        ("dll", "easy", False),
        ("muscle", "sjf", False),
        ("a4", "easy", False),
    ],
)
def test_a_local_scheduler_that_decides_nothing_is_told(global_, local, told):
    scenario = Scenario.load("quickstart").changed(
        ["mode=open", "jobs=40"], global_scheduler=global_, local_scheduler=local
    )
    line = f"local scheduler {local}: without effect, for {global_} starts each job itself"
    assert (line in notes(scenario)) == told
    starts = []
    for policy in (local, "fcfs"):
        model = scenario.changed(["assign_deadlines=true"], local_scheduler=policy).model(1)
        model.run()
        starts.append(np.sort(model.world.log.records()["start"]).tolist())
    if told:
        assert starts[0] == starts[1]


SPEEDS = "speeds={C1={C2=0.5}}", "local_share=0"


@pytest.mark.parametrize(
    ("rows", "settings", "names"),
    [
        ("1,1,9,,", [*SPEEDS, "kill_at_request=true"], "speeds kill_at_request"),
        ("1,1,9,5,", [*SPEEDS, "kill_at_request=true"], "speeds"),
        ("1,1,9,5,C1", ["speeds={C1={C2=0.5}}", "kill_at_request=true"], ""),
        ("1,1,9,5,C2", ["speeds={C1={C2=0.5}}"], "speeds"),
        ("1,1,9,5,", ["speeds={C1={C2=0.5}}", "local_share=1"], ""),
        ("1,1,9,5,C2", ["local_share=1"], "local_share"),
        ("1,1,9,5,C2", ["queue_shares=20,30,50"], "queue_shares"),
        ("1,1,9,5,", ["computation_fraction=0.5", "bsbw=10"], "bsbw"),
    ],
)
def test_what_jobs_give_no_occasion_for_is_told(rows, settings, names, tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_text(f"arrival,size,runtime,requested_time,origin,ppbw\n{rows},0\n")
    scenario = Scenario.load("quickstart").changed(
        settings, workload=str(path), global_scheduler="b1", local_scheduler="fcfs"
    )
    lines = notes(scenario, stated=scenario.model(0).workload.stated)
    found = " ".join(line for line in lines if "without effect" in line)
    for name in ("speeds", "kill_at_request", "local_share", "queue_shares", *TOLD):
        assert (name in found) == (name in names.split())


def test_failures_are_said_to_be_drawn_where_jobs_are_recorded():
    given = {"mean_up_time": 7200.0, "mean_down_time": 90}
    told = (
        "failures with mean_up_time 7200: drawn; on average, a processor is up for 2 h, and then "
        "away for 90 s"
    )
    assert notes(Scenario("mine", Platform.star([16]), given)) == []
    assert told in notes(Scenario("mine", Platform.star([16]), given, workload="mine.swf"))
