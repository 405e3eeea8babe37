"""`metasched reproduce oas`: the whole path with little time, its workloads and its charts."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pandas as pd
import pytest
from click.testing import CliRunner

from agents.oas import Instance, Run, verify
from experiments.cli.app import main
from experiments.papers.oas.claims import CLAIMS
from experiments.papers.oas.gantt import rows
from experiments.papers.oas.schedules import (
    AGGREGATED,
    FIGURE,
    METHODS,
    OAS,
    OF_FIGURE_4,
    OF_SLOTS,
    QUEUES,
    WORKLOADS,
    Point,
    instance,
    mean_base_time,
    points,
)
from experiments.papers.oas.solved import Outcome
from experiments.sweeps.sweep import Unwatched

# What SWIG makes has no module on Python 3.12 and later.
pytestmark = pytest.mark.filterwarnings(
    "ignore:builtin type .* has no __module__:DeprecationWarning"
)


def call(*words):
    return CliRunner().invoke(main, ["reproduce", "oas", *(str(word) for word in words)])


def whole_path(folder, part):
    claims = [claim for claim in CLAIMS if claim.parts == (FIGURE[part],)]
    words = ["--part", part, "--time-limit", 1, "--out", folder, "--json"]
    result = call(*words)
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert (told["paper"], told["parts"], told["time_limit"]) == ("oas", [part], 1)
    assert [each["claim"] for each in told["claims"]] == [claim.text for claim in claims]
    table = pd.read_csv(folder / "oas-points.csv")
    assert len(table) == len(told["points"]) == len(points(part))
    for schedule in json.loads((folder / "oas-schedules.json").read_text()):
        verify(instance(schedule["workload"]), schedule)
    page = (folder / "oas.md").read_text()
    assert f"metasched reproduce oas --part {part} --time-limit 1" in page
    for claim in claims:
        assert claim.text in page
    pictures = {path.name for path in folder.glob("*.svg")}
    assert pictures == {word.split("(")[-1] for word in page.split(")") if word.endswith(".svg")}
    again = call(*words)
    assert json.loads(again.stdout) == told
    assert "0 runs to do" in again.stderr
    return told, table


@pytest.mark.thorough
def test_slots(tmp_path):
    told, table = whole_path(tmp_path, "slots")
    of_oas = table[table.method == "cpsat"].sort_values("slot")
    assert of_oas[of_oas.slot.isna()].makespan.item() < of_oas[of_oas.slot.notna()].makespan.min()
    verdicts = {each["claim"]: each["verdict"] for each in told["claims"]}
    assert verdicts["the shortest slots give the best makespan"] == "holds"


@pytest.mark.slow
def test_workloads(tmp_path):
    told, table = whole_path(tmp_path, "workloads")
    best = table.groupby(["workload", table.slot.isna()]).makespan.min()
    of_oas = table[table.method == "cpsat"].set_index(["workload", "slot"]).makespan
    assert len(best) == len(of_oas) == 2 * len(WORKLOADS)
    assert sorted(best) == pytest.approx(sorted(of_oas))
    verdicts = {each["claim"]: each["verdict"] for each in told["claims"]}
    in_slots = "OAS in slots is good in all cases: no queue without slots is better"
    assert verdicts[in_slots] == "fails"
    assert verdicts["WL-1 suits queues that match free nodes: FPFS"] == "holds"


@pytest.mark.parametrize("workload", [OF_SLOTS, *WORKLOADS])
def test_workloads_are_in_the_spirit_of_the_paper(workload):
    given = instance(workload)
    assert [float(each.effective_power) for each in given.clusters] == [1, 0.75, 0.5]
    assert all((each.nodes, each.link_mbps) == (4, 1000) for each in given.clusters)
    assert len(given.jobs) == 8
    assert mean_base_time(workload) == 670_000
    assert all(1 <= job.tasks <= 12 and float(job.sigma) == 0.7 for job in given.jobs)


def test_points_differ_in_their_keys():
    every = [*points("slots"), *points("workloads")]
    assert len({point.key(60) for point in every}) == len(every)
    assert {point.method for point in points("workloads")} == set(METHODS)
    assert Point(OF_SLOTS, "cpsat", 50).slot == 335_000


def test_a_chart_has_a_block_for_each_node_that_a_job_holds():
    given = Instance.from_dict(
        {
            "clusters": [{"nodes": 3, "effective_power": 1, "link_mbps": 1000}] * 2,
            "jobs": [{"tasks": 2, "base_time": 10, "bandwidth": 0, "sigma": 1}] * 4,
        }
    )
    runs = [
        Run(0, 0, 10, (1, 1)),
        Run(1, 0, 10, (1, 1)),
        Run(2, 0, 10, (1, 1)),
        Run(3, 10, 20, (2, 0)),
    ]
    held = {}
    for run, first, count in rows(given, runs):
        for node in range(first, first + count):
            held.setdefault(node, []).append(run)
    assert {run.job for run in held[0]} == {0, 3}
    assert sum(len(each) for each in held.values()) == 8
    for each in held.values():
        assert len({run.start for run in each}) == len(each)


def replayed(went, ignored, status="optimal", bound=None):
    """Return how a schedule went that avoids saturation, and one that ignores links."""
    bound = ignored if bound is None else bound
    other = {"status": status, "planned": ignored, "makespan": ignored, "bound": bound}
    return {"makespan": went, "saving": 1 - went / ignored, "links_ignored": other}


def judged(text, given):
    """Return the verdict on a claim where answers are alike but for what is given of points."""
    alike = {
        "makespan": 100.0,
        "status": "optimal",
        "wall_s": 1.0,
        "compaction": 0.5,
        "replay": replayed(100.0, 100.0),
    }
    every = [*points("slots"), *points("workloads")]
    found = {point.key(60): alike | given.get(point, {}) for point in every}
    outcome = Outcome(60)
    outcome.run(every, SimpleNamespace(all=lambda: found), Unwatched())
    [verdict] = [claim.judge(outcome) for claim in CLAIMS if claim.text.startswith(text)]
    return verdict.word, [(each.where, each.value.mean) for each in verdict.evidence]


def makespans(given):
    return {point: {"makespan": makespan} for point, makespan in given.items()}


@pytest.mark.parametrize(("sjf", "word"), [(104, "holds"), (112, "fails")])
def test_the_queue_that_a_workload_shall_suit_does_well(sjf, word):
    given = makespans({Point("wl-2", "sjf"): sjf})
    claim = "our WL-2 suits a queue that prefers small jobs, as the paper's was designed to: SJF"
    found, evidence = judged(claim, given)
    assert found == word
    assert evidence == [("SJF above OAS, WL-2, without slots", pytest.approx(sjf - 100))]


@pytest.mark.parametrize(("most", "word"), [(0.83, "holds"), (0.85, "fails")])
def test_compaction_is_that_of_the_most_compact_queue(most, word):
    given = {
        Point(workload, method, 50): {"compaction": 0.8}
        for workload in WORKLOADS
        for method in (OAS, *QUEUES)
    }
    given[Point("wl-3", "sjf", 50)] = {"compaction": most}
    claim = "compaction of OAS in slots is good in all cases: no queue in slots is more than 5 % "
    found, evidence = judged(claim + "more compact", given)
    assert found == word
    assert evidence[-1] == (
        "compaction of SJF above that of OAS, WL-3, slots of 50 %",
        pytest.approx(100 * (most / 0.8 - 1)),
    )


@pytest.mark.parametrize(
    ("small", "large", "word", "said"),
    [
        (("optimal", 90), ("optimal", 2), "holds", [""]),
        (("optimal", 9), ("optimal", 2), "fails", [""]),
        (("feasible", 60), ("optimal", 2), "holds", [", at least"]),
        (("feasible", 60), ("optimal", 30), "open", [", at least"]),
        (("feasible", 60), ("feasible", 60), "open", ["", ", at least (no optimum proved)"]),
        (("optimal", 60), ("feasible", 60), "open", ["", ", at least (no optimum proved)"]),
    ],
)
def test_solve_times_are_compared_with_those_that_are_known(small, large, word, said):
    given = {
        Point(OF_SLOTS, AGGREGATED, share): {"status": status, "wall_s": wall_s}
        for share, (status, wall_s) in ((15, small), (250, large))
    }
    found, evidence = judged("solving takes far longer as slots get small: nodes counted", given)
    assert all("OAS with nodes counted" in where for where, _ in evidence)
    assert (found, [where.partition("250 %")[2] for where, _ in evidence]) == (word, said)
    if len(evidence) > 1:  # of times alone, one by one
        assert [seconds for _, seconds in evidence] == [small[1], large[1]]
        assert ("at 15 %, at least" in evidence[0][0]) == (small[0] == "feasible")


def test_the_numbers_of_small_slots_are_those_that_decide():
    given = makespans({Point(OF_SLOTS, OAS, 35): 104, Point(OF_SLOTS, OAS): 50})
    word, evidence = judged("below 50 % makespans are similar to the minimum", given)
    assert (word, [where for where, _ in evidence]) == (
        "holds",
        ["OAS above OAS, slots of 35 %; slots of 15 %"],
    )


@pytest.mark.parametrize(("last", "word"), [(130, "holds"), (110, "fails")])
def test_the_makespan_increases_by_steps(last, word):
    slots = {Point(OF_SLOTS, OAS, share): 120 for share in (150, 200)}
    given = makespans(slots | {Point(OF_SLOTS, OAS, 250): last})
    found, evidence = judged("the makespan increases with the slot size", given)
    assert (found, evidence[-1][1]) == (word, pytest.approx(20))
    assert evidence[0][1] == pytest.approx(0 if last == 130 else 100 * (110 / 120 - 1))


@pytest.mark.parametrize(
    ("worst", "word", "said"), [(130, "holds", [0, 30]), (104, "fails", [0, 4]), (0, "open", [])]
)
def test_only_queues_that_do_well_somewhere_are_judged(worst, word, said):
    given = {
        Point(workload, method, OF_FIGURE_4): 120
        for workload in WORKLOADS
        for method in METHODS
        if method not in ("insertion", OAS)
    }
    if worst:
        given |= {Point(each, "sjf", OF_FIGURE_4): 100 for each in WORKLOADS}
        given[Point("wl-3", "sjf", OF_FIGURE_4)] = worst
    text = "each queue that does well in one workload does badly in another"
    found, evidence = judged(text, makespans(given))
    assert (found, [number for _, number in evidence]) == (word, pytest.approx(said))
    assert all(where.startswith("SJF above OAS") for where, _ in evidence)


def unproved(given):
    """Return answers whose optimum lies between a bound and the makespan."""
    return {
        point: {"makespan": makespan, "bound": bound, "status": "feasible"}
        for point, (bound, makespan) in given.items()
    }


@pytest.mark.parametrize(
    ("text", "given", "word"),
    [
        (
            "the makespan increases with the slot size",
            {Point(OF_SLOTS, OAS, 250): (99, 101)},
            "open",
        ),
        (
            "the makespan increases with the slot size",
            {Point(OF_SLOTS, OAS, 250): (100, 120)},
            "holds",
        ),
        (
            "the makespan increases with the slot size",
            {Point(OF_SLOTS, OAS, 15): (120, 130), Point(OF_SLOTS, OAS, 25): (50, 130)},
            "fails",
        ),
        (
            "the shortest slots give the best makespan",
            {Point(OF_SLOTS, OAS, 15): (90, 100)},
            "holds",
        ),
        (
            "the shortest slots give the best makespan",
            {Point(OF_SLOTS, OAS, 25): (90, 100)},
            "open",
        ),
        (
            "below 50 % makespans are similar to the minimum",
            {Point(OF_SLOTS, OAS, 250): (90, 100)},
            "open",
        ),
        (
            "below 50 % makespans are similar to the minimum",
            {Point(OF_SLOTS, OAS, 35): (106, 110)},
            "fails",
        ),
        (
            "small slots are more compact than large ones",
            {Point(OF_SLOTS, OAS, 15): (99, 100)},
            "open",
        ),
        (
            "OAS in slots is good in all cases: no queue without slots is better",
            {Point("wl-1", OAS, OF_FIGURE_4): (90, 110)},
            "open",
        ),
        (
            "OAS in slots is good in all cases: no queue without slots is better",
            {Point("wl-1", OAS, OF_FIGURE_4): (101, 110)},
            "fails",
        ),
        (
            "OAS in slots is good in all cases: no queue without slots is better",
            {Point("wl-1", OAS, OF_FIGURE_4): (10, 100)},
            "holds",
        ),
        ("the insertion is close to the optimum", {Point("wl-1", OAS): (90, 100)}, "open"),
        ("the insertion is close to the optimum", {Point("wl-1", OAS): (96, 100)}, "holds"),
        ("the insertion is close to the optimum", {Point("wl-1", OAS): (80, 90)}, "fails"),
        (
            "each queue that does well in one workload does badly in another",
            {Point("wl-1", OAS, OF_FIGURE_4): (90, 100)},
            "open",
        ),
        (
            "each queue that does well in one workload does badly in another",
            {Point("wl-1", OAS, OF_FIGURE_4): (90, 94)},
            "holds",
        ),
    ],
)
def test_claims_hold_or_fail_for_every_optimum_that_bounds_allow(text, given, word):
    found, evidence = judged(text, unproved(given))
    assert found == word
    assert any("no optimum proved" in where or "compaction" in where for where, _ in evidence)


@pytest.mark.parametrize(
    ("bound", "ignored", "word"),
    [
        (100, replayed(100, 90), "fails"),
        (100, replayed(100, 110, "feasible", 100), "holds"),
        (100, replayed(100, 110, "feasible", 80), "open"),
        (100, replayed(100, 90, "feasible", 80), "open"),
        (80, replayed(100, 90), "open"),
        (95, replayed(100, 90), "fails"),
    ],
)
def test_what_avoiding_saturation_saves_is_known_of_optima_alone(bound, ignored, word):
    given = unproved({Point("wl-4", OAS): (bound, 100)})
    given[Point("wl-4", OAS)]["replay"] = ignored
    assert judged("avoiding saturation never costs makespan", given)[0] == word


def test_how_many_optima_were_not_proved_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr("experiments.papers.oas.draw_pictures", lambda *given: None)
    every = points("workloads")
    replay = replayed(100.0, 100.0, "feasible", 80.0)
    answer = {"makespan": 100.0, "compaction": 0.5, "wall_s": 1.0, "schedule": [], "bound": 90.0}
    status = dict.fromkeys(every, "optimal") | {Point("wl-1", OAS): "feasible"}
    found = {
        point.key(60.0): answer | {"status": status[point], "replay": replay} for point in every
    }
    monkeypatch.setattr(
        "experiments.papers.oas.kept_of_paper", lambda *given: SimpleNamespace(all=lambda: found)
    )
    result = call("--part", "workloads", "--out", tmp_path)
    assert "for 13 of 24 schedules of OAS no optimum was proved" in " ".join(result.stdout.split())
    assert "proved optimal for 11 of 24" in (tmp_path / "oas.md").read_text()
    told = json.loads(call("--part", "workloads", "--out", tmp_path, "--json").stdout)
    assert told["optima"] == {"searched": 24, "proved": 11}


def test_a_part_that_does_not_exist_is_refused():
    assert call("--part", "gantt").exit_code == 2
    assert "time-limit: found '0'" in call("--time-limit", 0).output
