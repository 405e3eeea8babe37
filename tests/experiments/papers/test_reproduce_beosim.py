"""`metasched reproduce beosim`: the whole path on a tiny scale, its points, claims and tables."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from rich.console import Console

from experiments.cli.app import main
from experiments.papers.beosim import Paper
from experiments.papers.beosim.claims import CLAIMS
from experiments.papers.beosim.pictures import pictures
from experiments.papers.beosim.points import (
    FIGURES,
    FIRST_FIT,
    FIXED,
    JOBS,
    MIGRATION_6,
    NO_SHARE,
    SURFACES,
    Point,
    grid,
    lines,
    observe,
    over_chunks,
    points_of,
    run,
    scenario,
)
from experiments.papers.beosim.turnarounds import Outcome
from experiments.papers.claims_report import (
    NO_CLAIM,
    Claim,
    claims_page,
    judged,
    print_claims,
    spans,
    told,
)
from experiments.papers.judging import Measured, Verdict
from experiments.run.running import run as run_scenario
from experiments.sweeps.run_store import RUNS
from experiments.sweeps.statistics import Interval

FIRST = ["--figure", "9", "--scale", "0.0002", "--replications", "2"]
"""800 jobs a cluster."""


def call(*words):
    return CliRunner().invoke(main, ["reproduce", "beosim", *(str(word) for word in words)])


def carried_out(runs):
    """Do runs here, one after the other."""
    found = {}
    for each in runs:
        model = each.scenario.model(each.seed)
        found[each.key] = observe(model, steps(model))
    return found


class Settled(Outcome):
    """No link is ever saturated, and all is well."""

    def values(self, point, column="turnaround"):
        return np.full(self.replications, 0.0 if column == "saturation" else 1.0)

    def stable(self, point):
        return True


def steps(model):
    while model.running:
        model.step()
        yield


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tiny")
    result = call(*FIRST, "--workers", 1, "--out", folder, "--json")
    assert result.exit_code == 0, result.output
    return folder, result


@pytest.mark.thorough
def test_whole_path(tiny):
    folder, result = tiny
    told = json.loads(result.stdout)
    points = set(points_of(9))
    assert (told["paper"], told["figures"], told["replications"]) == ("beosim", [9], 2)
    assert len(told["points"]) == len(points)
    assert {each["verdict"] for each in told["claims"]} <= {"holds", "fails", "open"}
    assert [each["claim"] for each in told["claims"]] == [
        claim.text for claim in CLAIMS if claim.parts == (9,)
    ]
    table = pd.read_csv(folder / "beosim-figures.csv")
    assert len(table) == len(points)
    fixed = table[table.policy == FIXED].set_index("bsbw")
    dynamic = table[table.policy == FIRST_FIT].set_index("bsbw")
    settled = fixed.penalty.notna() & dynamic.penalty.notna()
    assert settled.any()
    assert fixed.penalty[settled].tolist() == pytest.approx(dynamic.penalty[settled].tolist())
    page = (folder / "beosim.md").read_text()
    assert "metasched reproduce beosim --figure 9 --scale 0.0002 --replications 2" in page
    assert "](beosim-figures9-11.svg)" in page
    assert (folder / "beosim-figures9-11.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.thorough
def test_workers_and_a_second_call_change_nothing(tiny, tmp_path):
    folder, result = tiny
    assert call(*FIRST, "--workers", 2, "--out", tmp_path, "--json").stdout == result.stdout
    again = call(*FIRST, "--out", folder)
    assert "0 runs to do" in again.stderr
    for path in folder.iterdir():
        if path.name != RUNS:
            assert path.read_bytes() == (tmp_path / path.name).read_bytes(), path.name


@pytest.mark.thorough
def test_more_replications_and_figures_go_on_in_the_same_folder(tmp_path):
    words = ["--table", "anchors", "--scale", "0.002", "--workers", 1, "--out", tmp_path, "--json"]
    two = call(*words, "--replications", 2)
    three = call(*words, "--replications", 3)
    assert "4 runs to do" in two.stderr
    assert "2 runs to do (4 done already)" in three.stderr
    told = json.loads(three.stdout)
    assert {name: each["paper"] for name, each in told.items()} == {
        "migration_only": 1087.0,
        "ideal": 735.0,
    }
    assert 0 < told["ideal"]["mean"] < told["migration_only"]["mean"]
    assert told["ideal"]["ci95"] > 0
    assert told["ideal"]["run95"] == pytest.approx(2 * told["ideal"]["ci95"])  # of three runs
    assert call(*words, "--scale", "0.003").exit_code == 2


@pytest.mark.parametrize(("jobs", "words"), [(999, {"open"}), (1000, {"holds", "open"})])
def test_claims_on_few_jobs_of_each_cluster_stay_open(jobs, words):
    stated = [each for each in CLAIMS if each.parts == (14,)]
    few = Paper((9, 14), jobs / JOBS[6])
    few.outcome = Settled(few.scale, 2)
    few.claims = judged(stated, few.outcome, few.parts, few.short())
    assert {verdict.word for _, verdict in few.claims} == words
    console = Console(width=200, record=True)
    few.show("out", console)
    told = "Too few jobs: runs of Fig. 14 have fewer than 1,000 of each cluster. All claims on"
    assert (told in console.export_text()) == (words == {"open"})
    assert ("**Too few jobs**: runs of Fig. 14 have" in few.page()) == (words == {"open"})


def test_help_tells_from_how_many_jobs_on_claims_are_judged():
    assert "fewer than 1,000 stay open" in " ".join(call("--help").stdout.split())


@pytest.mark.thorough
def test_adaptive_beside_b3(tmp_path):
    words = ["--table", "adaptive", "--scale", "0.0005", "--workers", 1, "--out", tmp_path]
    told = json.loads(call(*words, "--replications", 2, "--json").stdout)
    assert [(row["section"], row["clusters"]) for row in told[::8]] == [
        *((6, 2), (6, 4), (6, 8)),
        *((4, 2), (4, 4), (4, 8)),
    ]
    for row in told:
        if row["saved"] is None:
            assert row["b3"] is None or row["adaptive"] is None
        else:
            assert row["saved"] == pytest.approx(row["b3"] - row["adaptive"])
            low, high = row["saved"] - row["ci95"], row["saved"] + row["ci95"]
            word = "better" if low > 0 else "worse" if high < 0 else "open"
            assert row["verdict"] == (word if row["section"] == 4 else "open")  # on 200 jobs
    shown = call(*words, "--replications", 2).stdout
    assert " ".join(shown.split()).count("too few jobs: runs of section 6 have") == 1


@pytest.mark.thorough
def test_all_pictures_of_section_6(tmp_path):
    words = ["--figure", "14-27", "--scale", "0.001", "--replications", 1, "--out", tmp_path]
    result = call(*words, "--json")
    assert result.exit_code == 0, result.output
    pictures = {path.stem for path in tmp_path.glob("*.png")}
    assert {path.stem for path in tmp_path.glob("*.svg")} == pictures
    assert pictures == {
        f"beosim-{name}"
        for name in ("figures14-21", "figures22-23", "figures24-25", "figures26-27", "chunks")
    }
    told = json.loads(result.stdout)
    word = {each["claim"]: each["verdict"] for each in told["claims"]}
    assert set(word.values()) == {"open"}  # on 400 jobs of each cluster


@pytest.mark.thorough
def test_decisions():
    result = call("--table", "decisions", "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert {name: each["paper"] for name, each in told.items()} == {
        "a1": 69.6, "b1": 0.98, "b2": 0.89, "b3": 1.28, "b4": 1.10, "adaptive": None,
    }  # fmt: skip
    assert all(0 < each["us"] < 100 for each in told.values())


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--figure", "12"], "figure: found 12; accepted: 9-11, 13-27"),
        (["--figure", "9-27"], "figure: found 12; accepted: 9-11, 13-27"),
        (["--figure", "9-1000000000000"], "figure: found 12; accepted: 9-11, 13-27"),
        (["--figure", "9,x"], "--figure: found '9,x'; accepted: numbers and ranges"),
        (["--figure", "10\x1e-11" + 4301 * "9"], "--figure: found '10\\x1e-11999"),
        (["--figure", "1-2-3"], "--figure: found '1-2-3'; accepted: numbers and ranges"),
        (["--figure", "9", "--table", "anchors"], "--figure: found with --table"),
        (["--scale", "0"], "scale: found '0'; accepted: a number above 0"),
        (["--replications", "0"], "replications: found '0'; accepted: a whole number from 1"),
    ],
)
def test_bad_input(words, says, tmp_path):
    result = call(*words, "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert says in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert not (tmp_path / "out").exists()


# Points -----------------------------------------------------------------------------------------


def test_workloads_are_those_of_the_paper():
    assert JOBS == {4: 4_000_000, 6: 400_000}
    assert list(FIGURES) == [9, 10, 11, *range(13, 28)]
    of_4, of_6 = (scenario(Point(section, 8, "b3"), 100).parameters for section in (4, 6))
    assert (of_4.min_size, of_4.max_size, of_4.mean_runtime) == (10, 90, 225.0)
    assert (of_6.min_size, of_6.max_size, of_6.mean_runtime) == (10, 50, 450.0)
    assert of_4.interarrival == of_6.interarrival == 150.0
    assert [SURFACES[figure].chunk for figure in (18, 19, 20, 21)] == [70, 80, 85, 90]
    for surface in SURFACES.values():
        points = grid(surface)
        assert {point.bsbw for point in points} == set(range(200, 901, 100))
        assert {point.lslt for point in points} == {40, 60, 80, 100, 120}


def test_baselines_of_figures_are_run_once():
    assert run(Point(4, 4, "ideal"), 0.001, 0).key == run(lines(13)[1].points[0], 0.001, 0).key
    assert set(lines(10)[3].points) >= set(lines(13)[2].points)


def test_what_is_kept_is_what_the_result_says():
    point = Point(6, 4, "first-fit", bsbw=300.0)
    ran = scenario(point, 600)
    model = ran.model(3)
    found = observe(model, steps(model))
    jobs = run_scenario(ran, 3).jobs
    counted = jobs[jobs.arrival >= jobs.arrival.sort_values().iloc[120]]
    assert found["turnaround"][0] == pytest.approx((counted.finish - counted.arrival).mean())
    assert found["penalty"][0] > 1
    assert found["stable"] == [1.0]
    assert found["saturation"][0] > 1


def test_a_lost_run_ends_early_and_has_no_mean():
    lost = Point(6, 4, "first-fit", bsbw=900.0)
    model = scenario(lost, 20_000).model(0)
    assert observe(model, steps(model))["stable"] == [0.0]
    assert model.running
    outcome = Outcome(0.05, 2)
    outcome.run([lost, MIGRATION_6], carried_out)
    assert outcome.mean(lost).mean == math.inf
    assert outcome.more(lost, MIGRATION_6).low == math.inf
    assert outcome.more(MIGRATION_6, lost).high == -math.inf
    assert outcome.more(lost, lost) is None
    assert outcome.row(lost)["turnaround"] is None
    assert outcome.row(lost)["without_steady_state"] == 2


@pytest.mark.parametrize(
    ("settled", "half", "word"),
    [([0, 0], 0.0, "holds"), ([0, 1], None, "open"), ([0], None, "open"), ([1, 1], 0.0, "open")],
)
def test_a_steady_state_that_runs_do_not_agree_on_decides_nothing(settled, half, word):
    class Given(Outcome):
        def values(self, point, column="turnaround"):
            if column == "stable":
                return np.array(settled if point.policy == "a1" else [1] * len(settled), float)
            return np.full(len(settled), 100.0)

        def stable(self, point):
            return bool(self.values(point, "stable").all())

    given = Given(1.0, len(settled))
    more = given.more(Point(6, 4, "a1"), MIGRATION_6)
    assert more[:2] == ((0.0 if all(settled) else math.inf), half)
    (claim,) = (each for each in CLAIMS if each.text.startswith("Even at LSLT 100"))
    assert claim.judge(given).word == word


# Claims -----------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_b3_is_b1_without_a_chunk_and_migration_with_a_whole_one():
    outcome = Outcome(0.002, 2)
    points = [point for figure in (26, 27) for point in points_of(figure)]
    outcome.run(points, carried_out)
    ((_, verdict),) = judged(CLAIMS, outcome, (26, 27))
    assert [each.value.mean for each in verdict.evidence if "apart" in each.where] == [0.0] * 4
    first, *_, last = over_chunks(300)
    assert (outcome.values(first) != outcome.values(last)).all()


def test_crossings_are_interpolated():
    class Given(Outcome):
        def values(self, point, column="turnaround"):
            high = {"ideal": 100.0}.get(point.policy, math.exp(point.bsbw))
            return np.array([high, high])

        def stable(self, point):
            return point.bsbw != 6.0

    given = Given(1.0, 2)
    curve = [Point(6, 4, "b1", bsbw=float(x)) for x in (3, 4, 5, 6)]
    level = Point(6, 4, "ideal")

    def at(points):
        return np.array(given.crossing(points, level, lambda point: np.full(2, point.bsbw)))

    assert at(curve) == pytest.approx(np.full((2, 2), math.log(100)))
    assert np.isnan(at(curve[:2])).all()
    # Without a steady state at the first point above it, all that is known is between which two.
    assert at([*curve[:2], curve[-1]]).tolist() == [[4.0, 4.0], [6.0, 6.0]]


@pytest.mark.parametrize(
    ("seeds", "says"),
    [
        ((1.0, 1.0), "1.393 (dynamic, 2 clusters)"),
        ((1.0, 0.1), "1.393 (dynamic, 2 clusters, in 1 of 2 seeds)"),
        ((0.1, 0.1), "nowhere (dynamic, 2 clusters, in 0 of 2 seeds)"),
    ],
)
def test_a_level_that_some_seeds_do_not_reach_decides_nothing(seeds, says):
    class Given(Outcome):
        def values(self, point, column="turnaround"):
            if column == "penalty":
                return np.full(2, point.bsbw / 1500)
            return np.full(2, 2090.0) if point.policy == NO_SHARE else point.bsbw * np.array(seeds)

        def stable(self, point):
            return True

    (claim,) = (each for each in CLAIMS if each.text.endswith("against No Share, 2 clusters"))
    verdict = claim.judge(Given(1.0, 2))
    assert told(verdict.evidence[0]) == says
    assert (verdict.word == "open") == (seeds != (1.0, 1.0))


@pytest.mark.thorough
def test_captions_tell_what_was_run(tiny):
    folder, _ = tiny
    page = (folder / "beosim.md").read_text()
    assert "for section 4's workload" in page
    assert "section 6's workload" not in page
    captions = [caption for _, _, caption in pictures((9, 11, 14, 24, 25))]
    assert [caption.partition(":")[0] for caption in captions] == [
        "Figs. 9 and 11",
        "Fig. 14",
        "Figs. 24 and 25",
    ]
    assert "clusters (rows)" not in captions[0]
    assert captions[2].endswith("at low and high BSBW")


def test_spans():
    assert spans([9, 10, 11, 13]) == "9-11, 13"
    assert spans([26, 27]) == "26, 27"


def test_figures_that_bear_no_claim_say_so(capsys):
    assert [*claims_page([], str)] == [NO_CLAIM, ""]
    print_claims([], "beosim.md", Console(), str)
    assert capsys.readouterr().out.splitlines()[0] == NO_CLAIM


@pytest.mark.parametrize(("mean", "lines"), [(math.inf, 1), (1.5, 0)])
def test_numbers_without_end_are_explained_where_there_are_some(capsys, mean, lines):
    verdict = Verdict("holds", (Measured("B3", Interval(mean, None)),))
    print_claims([(Claim((9,), "it waits", len), verdict)], "beosim.md", Console(), told)
    assert capsys.readouterr().out.count("mean queues grew by more than a quarter") == lines
