"""What is told of a scenario though it is no error."""

from __future__ import annotations

import tomllib

import pytest
from click.testing import CliRunner

from agents.disciplines import FairShareScheduler
from agents.queueing.fitting import WorstFitScheduler
from agents.schedulers import GlobalScheduler, LocalScheduler
from experiments.cli.app import main
from experiments.scenario.notes import NO_ROUNDS, WITHOUT_EFFECT, notes
from experiments.scenario.scenario import Scenario
from grid.platform.multicluster import Platform

ALL = type(Scenario.load("quickstart").parameters).model_fields
PLATFORM = Platform.star([20, 4])


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


def test_changes_after_the_last_job_never_took_effect(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    jobs = "arrival,size,runtime\n0,1,5\n8000,1,5\n"
    (tmp_path / "jobs.csv").write_text(jobs)
    (tmp_path / "changing.toml").write_text(CHANGING)
    words = ["run", "quickstart", "--platform", "changing.toml", "--workload", "jobs.csv"]
    got = CliRunner().invoke(main, [*words, "--set", "window_start=7000", "--out", "r", "--json"])
    never = "1 of 2 changes of the platform never took effect: planned after the last job ended"
    assert f"metasched: {never}, at 1,00" in got.stderr
    often = [*words, "--set", "window_start=7000", "--replications", "2"]
    assert CliRunner().invoke(main, often).stderr.count(f"{never}, at 1,00") == 1
    assert CliRunner().invoke(main, ["report", "r", "-o", "page.html"]).exit_code == 0
    page = (tmp_path / "page.html").read_text()
    assert never in page
    assert "Changes of the platform: at and until count from the start of the window" in page
    (tmp_path / "jobs.csv").write_text(jobs.replace("8000", "9800"))
    assert "never took effect" not in CliRunner().invoke(main, words).stderr


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


@pytest.mark.parametrize(
    ("parameters", "schedulers", "reasons"),
    [
        ({"half_life": 9.0, "shares": {3: 2.0}}, ("dll", "fair-share"), ""),
        (
            {"half_life": 9.0, "shares": {3: 2.0}, "patience": 9},
            ("dll", "easy"),
            "patience (the local scheduler is not titan); "
            "half_life, shares (the local scheduler is not fair-share)",
        ),
        ({"half_life": 9.0}, ("dll", FairShareScheduler), ""),
        ({"chunk": 50}, ("b3", "fcfs"), ""),
        ({"chunk": 50}, ("b1", "fcfs"), "chunk (the global scheduler is not b3)"),
        ({"aging": 9.0}, ("gp", "fcfs"), ""),
        (
            {"aging": 9.0},
            ("gs", "fcfs"),
            "aging (all jobs wait in one queue, whose head goes first anyway)",
        ),
        (
            {"bsbw": 9.0, "computation_fraction": 0.5, "message_rate": 1.0},
            ("gs", "fcfs"),
            "computation_fraction, bsbw, message_rate "
            "(the global scheduler takes no account of links)",
        ),
        ({"bsbw": 9.0}, ("b3", "fcfs"), ""),
        (
            {"message_rate": 0.5, "computation_fraction": 1.0},
            ("b3", "fcfs"),
            "message_rate (computation_fraction is 1: no job communicates)",
        ),
        ({"message_rate": 0.5, "computation_fraction": 0.9}, ("b3", "fcfs"), ""),
        ({"aging": 9.0}, ("dll", "fcfs"), "aging (neither scheduler reads it)"),
        (
            {"bsbw": 9.0, "link_mbps": 77.0},
            ("dll", "fcfs"),
            "bsbw (the global scheduler splits no job); link_mbps (the global scheduler splits no "
            "job, and jobs wait for no data)",
        ),
        (
            {"link_mbps": 77.0},
            ("gs", "fcfs"),
            "link_mbps (the global scheduler takes no account of links, and jobs wait for no data)",
        ),
        ({"link_mbps": 77.0, "staging_data": 5.0, "local_share": 0.5}, ("dll", "fcfs"), ""),
        ({"link_mbps": 77.0}, ("b3", "fcfs"), ""),
        (
            {"mean_down_time": 9.0, "period": 9.0},
            ("dll", "fcfs"),
            "mean_down_time (mean_up_time is 0); period (advertise is change)",
        ),
        (
            {"round_threshold": 9.0, "weights": (1.0, 1.0, 1.0), "idle": "total", "mode": "open"},
            ("dll", "fcfs"),
            f"round_threshold (the global scheduler is not muscle); weights, idle ({NO_ROUNDS})",
        ),
        ({"weights": (1.0, 1.0, 1.0), "idle": "total", "mode": "batch"}, ("dll", "fcfs"), ""),
        ({"weights": (1.0, 1.0, 1.0), "idle": "total", "mode": "open"}, ("dll", "titan"), ""),
        (
            {"weights": (1.0, 1.0, 1.0), "idle": "total", "mode": "open"},
            ("dll", f"{__name__}:OwnFitness"),
            "",
        ),
        (
            {"round_threshold": 9.0, "weights": (1.0, 1.0, 1.0), "idle": "total", "mode": "open"},
            ("muscle", "fcfs"),
            "",
        ),
        ({"mean_up_time": 9.0, "mean_down_time": 9.0}, ("dll", "fcfs"), ""),
        ({"advertise": "both", "period": 9.0}, ("dll", "fcfs"), ""),
    ],
)
def test_parameters_that_no_scheduler_reads_are_named(parameters, schedulers, reasons):
    global_, local = schedulers
    expected = [f"parameters without effect: {reasons}"] if reasons else []
    assert told(parameters, global_scheduler=global_, local_scheduler=local) == expected


def test_split_jobs_of_a_log_are_told_to_communicate_for_nothing():
    line = "workload: what split jobs communicate slows none of them: "
    lines = told({}, "a.swf", global_scheduler="gs", local_scheduler="fcfs")
    assert any(each.startswith(line) for each in lines)
    lines = told({}, "a.swf", global_scheduler="b3", local_scheduler="fcfs")
    assert not any(each.startswith(line) for each in lines)


ASKED = {"mode": "open", "composition": (50, 50)}
SIZE_ALONE = "the global scheduler reads the size of a job, not its components"
NO_ORDER = "the global scheduler takes components in any order"


@pytest.mark.parametrize(
    ("policy", "request_", "why"),
    [
        ("ordered", "ordered", ""),
        ("gs", "ordered", NO_ORDER),
        ("wf", "ordered", NO_ORDER),
        ("wf", "total", ""),
        ("gs", "unordered", ""),
        ("dll", "unordered", SIZE_ALONE),
        ("first-fit", "ordered", SIZE_ALONE),
        ("muscle", "total", SIZE_ALONE),
    ],
)
def test_a_request_that_a_policy_does_not_obey_is_named(policy, request_, why):
    lines = told(ASKED | {"request": request_}, global_scheduler=policy, local_scheduler="fcfs")
    assert lines == ([f"parameters without effect: request ({why})"] if why else [])


@pytest.mark.parametrize(
    ("policy", "line"),
    [
        ("dll", f"3 jobs name components, 1 of them in order, without effect: {SIZE_ALONE}"),
        ("wf", f"1 job orders components by cluster without effect: {NO_ORDER}"),
        ("ordered", ""),
    ],
)
def test_components_of_a_table_that_a_policy_does_not_read_are_counted(
    policy, line, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "jobs.csv").write_text(
        "arrival,runtime,size,components,request\n"
        "0,1,2,,\n0,1,2,0+2,ordered\n0,1,3,2+1,\n0,1,3,3,unordered\n0,1,3,2+1,total\n"
    )
    arguments = [*("quickstart", "--workload", "jobs.csv"), "--global", policy, "--local", "fcfs"]
    for command, *how in (("run",), ("run", "--replications", "2"), ("validate",)):
        found = CliRunner().invoke(main, [command, *arguments, *how])
        assert found.exit_code == 0, found.output
        lines = [each for each in found.stderr.splitlines() if "without effect" in each]
        assert [each.partition("workload: ")[2] for each in lines] == ([line] if line else [])


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


class OwnFitness(LocalScheduler):
    def priority(self, job):
        return self.model.weights[0] if self.model.idle == "mean" else 0.0


class Whole(GlobalScheduler):
    splits = False


class Chooser(GlobalScheduler):
    only_chooses = True


@pytest.mark.parametrize(
    ("policy", "told_so"), [(GlobalScheduler, False), (Whole, True), (Chooser, True)]
)
def test_a_policy_of_ones_own_says_that_it_splits_no_job(policy, told_so):
    lines = told({"bsbw": 9.0}, global_scheduler=policy, local_scheduler="fcfs")
    named = ["parameters without effect: bsbw (the global scheduler splits no job)"]
    assert lines == (named if told_so else [])


class Components(GlobalScheduler):
    place = WorstFitScheduler.__dict__["place"]  # compiled: it may read all


class SizeAlone(Components):
    reads_components = False


class AnyOrder(Components):
    orders_components = False


class Plain(GlobalScheduler):
    def place(self, job):
        return None


class PlainOfQueues(Plain):
    queues = "by-components"


@pytest.mark.parametrize(
    ("policy", "why"),
    [
        (Components, ""),
        (SizeAlone, SIZE_ALONE),
        (AnyOrder, NO_ORDER),
        (Plain, SIZE_ALONE),
        (PlainOfQueues, NO_ORDER),
    ],
)
def test_a_policy_of_ones_own_says_what_it_reads_of_components(policy, why):
    given = ASKED | {"request": "ordered"}
    lines = told(given, global_scheduler=policy, local_scheduler="fcfs")
    assert lines == ([f"parameters without effect: request ({why})"] if why else [])


class OwnJumps(GlobalScheduler):
    max_jumps = 3


class OwnSelection(GlobalScheduler):
    selection = "fpfs"


class OwnReservations(GlobalScheduler):
    selection = "easy"


OWN_JUMPS = "max_jumps: 3, as the class of the global scheduler says; not any"
ITSELF = "(the global scheduler selects jobs itself)"
AT_ONCE = "(the global scheduler sends each job on at once)"


@pytest.mark.parametrize(
    ("policy", "chosen", "why"),
    [
        ("ect", {"selection": "easy"}, ""),
        ("ect", {"selection": "fcfs"}, f"selection {AT_ONCE}"),
        ("ect", {"selection": "easy", "max_jumps": 3}, f"max_jumps {AT_ONCE}"),
        ("b1", {"selection": "fcfs"}, ""),
        ("b1", {"max_jumps": 3}, ""),
        ("b1", {"selection": "easy", "max_jumps": 3}, "max_jumps (selection is easy)"),
        ("eq-rd", {"selection": "easy"}, "selection (the global scheduler visits queues)"),
        ("oas", {"selection": "easy"}, f"selection {ITSELF}"),
        ("oas", {"max_jumps": 3}, f"max_jumps {ITSELF}"),
        ("a4", {"selection": "fcfs"}, f"selection {ITSELF}"),
        (OwnJumps, {"selection": "fcfs", "max_jumps": 2}, f"selection, max_jumps {ITSELF}"),
        (OwnSelection, {"selection": "fcfs"}, f"selection {ITSELF}"),
        (OwnReservations, {"selection": "fpfs"}, f"selection {ITSELF}"),
        (OwnSelection, {"selection": "easy", "max_jumps": 2}, f"selection {ITSELF}"),
    ],
)
def test_an_order_of_jobs_that_a_policy_does_not_use_is_named(policy, chosen, why):
    told_of = told(chosen, global_scheduler=policy)
    assert told_of == ([f"parameters without effect: {why}"] if why else [])


@pytest.mark.parametrize(
    ("policy", "chosen", "line"),
    [
        (
            OwnReservations,
            {},
            "selection: easy, as the class of the global scheduler says; not fpfs",
        ),
        (OwnJumps, {}, OWN_JUMPS),
        (OwnJumps, {"selection": "easy"}, OWN_JUMPS),
        (OwnSelection, {}, ""),  # it says what the parameter does
        ("oas", {}, ""),
        ("a4", {}, ""),
    ],
)
def test_what_a_class_selects_by_is_told_where_nobody_set_it(policy, chosen, line):
    assert told(chosen, global_scheduler=policy) == ([line] if line else [])
