"""What is told of parameters and workloads that the policies of a scenario do not read."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from agents.disciplines import FairShareScheduler
from agents.queueing.fitting import WorstFitScheduler
from agents.schedulers import GlobalScheduler, LocalScheduler
from experiments.cli.app import main
from experiments.scenario.notes import notes
from experiments.scenario.scenario import Scenario
from experiments.scenario.unread import NO_ROUNDS
from grid.platform.multicluster import Platform
from tests.agents.test_disciplines import FitsInPython, OvertakenTwice
from tests.experiments.scenario.test_notes import told


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
        ({"local_max_jumps": 3}, ("dll", FitsInPython), ""),
        (
            {"local_max_jumps": 3},
            ("dll", OvertakenTwice),
            "local_max_jumps (the local scheduler sets max_jumps)",
        ),
        (
            {"local_max_jumps": 3},
            ("dll", "easy"),
            "local_max_jumps (the local scheduler is not fpfs)",
        ),
        ({"chunk": 50}, ("b3", "fcfs"), ""),
        ({"chunk": 50}, ("b1", "fcfs"), "chunk (the global scheduler is not b3)"),
        ({"aging": 9.0, "local_share": 0.5}, ("gp", "fcfs"), ""),
        (
            {"aging": 9.0},
            ("ls-or", "fcfs"),
            "aging (all jobs wait in one queue, whose head goes first anyway)",
        ),
        (
            {"lslt": 50.0, "computation_fraction": 0.5, "link_mbps": 77.0, "solution": "first"},
            ("a1", "fcfs"),
            "lslt, link_mbps, computation_fraction (bsbw is 0: no job needs links)",
        ),
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
        ({"link_mbps": 77.0, "bsbw": 9.0}, ("b3", "fcfs"), ""),
        (
            {"staging_data": 5.0, "local_share": 1.0},
            ("home", "fcfs"),
            "staging_data (the global scheduler moves no job)",
        ),
        (
            {"staging_time": 5.0, "local_share": 1.0},
            ("no-share", "fcfs"),
            "staging_time (the global scheduler moves no job)",
        ),
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
        (
            {"knowledge": "truth", "advertise": "both", "period": 9.0},
            ("dll", "fcfs"),
            "advertise, period (knowledge is truth: nothing is advertised)",
        ),
        (
            {"knowledge": "truth", "advertise": "both", "capability_tables": "push"},
            ("a4", "fcfs"),
            "",
        ),
        (
            {"selection": "easy", "max_jumps": 3},
            ("ect", "fcfs"),
            "selection, max_jumps (the global scheduler sends each job on at once)",
        ),
        (
            {"lslt": 50.0, "bsbw": 300.0, "computation_fraction": 0.5},
            ("muscle", "fcfs"),
            "lslt, computation_fraction, bsbw (coallocate is false: no job is split)",
        ),
        (
            {"lslt": 50.0, "bsbw": 300.0, "computation_fraction": 0.5, "coallocate": True},
            ("muscle", "fcfs"),
            "coallocate, lslt, computation_fraction, bsbw (no job is larger than the largest "
            "cluster)",
        ),
        ({"max_size": 24, "bsbw": 300.0, "coallocate": True}, ("muscle", "fcfs"), ""),
        (
            {"start": "random"},
            ("muscle", "titan"),
            "start (TITAN starts from the seed schedules of each round)",
        ),
        ({"start": "random", "mean_up_time": 900.0}, ("muscle", "titan"), ""),
        ({"start": "random", "loss": 0.1}, ("muscle", "titan"), ""),
        ({"start": "random"}, ("ect", "titan"), ""),
        ({"nodes": "log"}, ("ect", "fcfs"), "nodes (there is no log)"),
    ],
)
def test_parameters_that_no_scheduler_reads_are_named(parameters, schedulers, reasons):
    global_, local = schedulers
    expected = [f"parameters without effect: {reasons}"] if reasons else []
    found = told(parameters, global_scheduler=global_, local_scheduler=local)
    others = "names a user", "aging: while the head"
    assert [line for line in found if not any(each in line for each in others)] == expected


def test_messages_of_split_jobs_on_links_without_latency_cost_nothing():
    given = {"mode": "open", "message_rate": 1.0, "computation_fraction": 0.5, "bsbw": 9.0}
    schedulers = {"global_scheduler": "b3", "local_scheduler": "fcfs"}
    at_once = Scenario("mine", Platform.star([20, 4]), given, **schedulers)
    assert notes(at_once) == ["parameters without effect: message_rate (no link has a latency)"]
    assert told(given, **schedulers) == []


def test_on_one_cluster_no_job_is_staged():
    given = {"mode": "open", "staging_time": 5.0, "local_share": 1.0, "aging": 9.0}
    here = Scenario("mine", Platform.star([20]), given, "gp", "fcfs")
    assert notes(here)[0] == (
        "parameters without effect: staging_time (there is one cluster: no job moves); "
        "aging (all jobs wait in one queue, whose head goes first anyway)"
    )


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


@pytest.mark.sampled(1)
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


class SendsOn(GlobalScheduler):
    selection, max_jumps, only_chooses = "fcfs", 3, True


OWN_JUMPS = "max_jumps: 3, as the class of the global scheduler says; not any"
ITSELF = "(the global scheduler selects jobs itself)"
AT_ONCE = "(the global scheduler sends each job on at once)"


@pytest.mark.parametrize(
    ("policy", "chosen", "why"),
    [
        ("ect", {"selection": "easy"}, f"selection {AT_ONCE}"),
        ("a4", {"selection": "easy"}, f"selection {ITSELF}"),
        ("ect", {"selection": "fcfs"}, f"selection {AT_ONCE}"),
        ("ect", {"selection": "easy", "max_jumps": 3}, f"selection, max_jumps {AT_ONCE}"),
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
    told_of = told(chosen, global_scheduler=policy, local_scheduler="fcfs")
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
        (SendsOn, {}, OWN_JUMPS),  # and selects nothing
        ("oas", {}, ""),
        ("a4", {}, ""),
    ],
)
def test_what_a_class_selects_by_is_told_where_nobody_set_it(policy, chosen, line):
    told_of = told(chosen, global_scheduler=policy, local_scheduler="fcfs")
    assert told_of == ([line] if line else [])
