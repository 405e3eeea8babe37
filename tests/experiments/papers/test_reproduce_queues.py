"""`metasched reproduce queues`: the whole path on a tiny scale, its points and judges."""

from __future__ import annotations

import json
import math
import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from experiments.cli.app import main
from experiments.papers.claims_report import judged
from experiments.papers.queues import CLAIMS, judges, search
from experiments.papers.queues.points import (
    CASES,
    EQ_GF,
    EQ_LF,
    EQ_RD,
    FIGURES,
    GP,
    GS,
    LP_GF,
    LP_LF,
    LQ,
    LS_DO,
    LS_OR,
    SINGLE,
    SIX,
    UNBALANCED,
    close_to_greatest,
    compared,
    panels,
    points,
    run,
)
from experiments.papers.queues.responses import Outcome
from experiments.papers.queues.saturation import POLICIES, SATURATION
from experiments.sweeps.bracket import Bracket
from experiments.sweeps.no_steady_state import is_far_lost, is_lost
from experiments.sweeps.saturation import Saturation
from experiments.sweeps.sweep import Unwatched

WORDS = ["--figure", "15,18", "--scale", "0.002", "--replications", "2"]


def call(*words):
    return CliRunner().invoke(main, ["reproduce", "queues", *(str(word) for word in words)])


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tiny")
    result = call(*WORDS, "--workers", 1, "--out", folder, "--json")
    assert result.exit_code == 0, result.output
    return folder, json.loads(result.stdout)


@pytest.mark.thorough
def test_whole_path(tiny):
    folder, told = tiny
    assert (told["paper"], told["figures"], told["replications"]) == ("queues", [15, 18], 2)
    assert len(told["points"]) == len(points(15)) + len(points(18))
    claims = [claim for claim in CLAIMS if set(claim.parts) <= {15, 18}]
    assert [each["claim"] for each in told["claims"]] == [claim.text for claim in claims]
    table = pd.read_csv(folder / "queues-figures.csv")
    gs = table[(table.figure == 15) & (table.policy == "gs")]
    assert (gs["total"] == gs["local"]).all()
    assert gs["global"].isna().all()
    page = (folder / "queues.md").read_text()
    assert "metasched reproduce queues --figure 15,18 --scale 0.002 --replications 2" in page
    assert f"at utilization {compared(18):g}" in page
    assert 'number of "A between B and C" is by how much farther A is from C' in page
    for name in ("figure15", "figure18"):
        assert (folder / f"queues-{name}.png").read_bytes().startswith(b"\x89PNG")
        assert f"](queues-{name}.svg)" in page


@pytest.mark.thorough
def test_runs_of_more_jobs_than_were_asked_for_are_told(tmp_path):
    words = "--figure", 3, "--replications", 1, "--workers", 1, "--out", tmp_path
    told = call(*words, "--scale", 0.0001)
    assert told.exit_code == 0, told.output
    few = "Too few jobs{}: {}--scale{} asks for 100 a run; each has at least 1,000."
    assert few.format("", "", "") in told.stdout
    assert few.format("**", "`", "`") in (tmp_path / "queues.md").read_text()


@pytest.mark.thorough
def test_policies_that_are_the_same_make_the_same_runs(tiny):
    _, told = tiny
    word = {each["claim"]: each["verdict"] for each in told["claims"]}
    assert word["With single-component jobs only GP, LP, EQ and LQ are LS"] == "holds"
    assert word["With single-component jobs only the four versions of LS are the same"] == "holds"


def test_a_second_call_has_nothing_to_do(tiny):
    folder, _ = tiny
    assert "0 runs to do" in call(*WORDS, "--out", folder).stderr
    assert call(*WORDS[:2], "--scale", "0.003", "--out", folder).exit_code == 2


def test_a_figure_that_is_not_there():
    result = call("--figure", "2,3")
    assert result.exit_code == 2
    assert "figure: found 2; accepted: 3-18" in result.stderr


@pytest.mark.thorough
def test_the_search_for_the_maximal_utilizations(tmp_path, monkeypatch):
    monkeypatch.setattr(search, "SATURATION", {SINGLE: SATURATION[SINGLE]})
    words = ["--table", "saturation", "--scale", 0.02, "--workers", 1, "--out", tmp_path]
    told = json.loads(call(*words, "--json").stdout)
    assert [each["policy"] for each in told] == list(SATURATION[SINGLE])
    assert {(each["jobs"], each["replications"]) for each in told} == {(3000, 8)}
    for each in told:
        tried = {of["load"]: of["verdict"] for of in each["loads"]}
        assert tried.get(each["low"], "borne") == "borne"
        assert tried.get(each["high"], "not borne") == "not borne"
    of_ls = told[1]
    assert of_ls["low"] < 0.9286 < of_ls["high"]
    assert of_ls["formula"] == pytest.approx(0.9286, abs=5e-5)
    assert [of_ls["used_low"], of_ls["used_high"]] == [*SATURATION[SINGLE][LS_DO]]
    # Once more without a run.
    monkeypatch.setattr("experiments.sweeps.saturation._observe", None)
    again = call(*words)
    assert again.exit_code == 0
    told_of_ls = f"{of_ls['low']:.4f}-{of_ls['high']:.4f}*  0.9297-0.9375  0.9286"
    assert told_of_ls in again.stdout
    note = " ".join(again.stdout.split())
    assert "found: by 8 runs of 3,000 jobs at each load" in note
    assert "* of loads inside runs did not tell" in note
    assert "share the seeds, so that brackets err together" in note


def test_help_tells_how_much_the_search_runs(tmp_path, monkeypatch):
    said = " ".join(call("--help").stdout.split())
    assert "in units of 1,000,000 (150,000 with --table), at least 1,000." in said
    assert "(default: 10, with --table 8)" in said
    asked = {}

    def nothing(scenarios, seed, tell, replications, *rest, **others):
        asked.update(jobs=scenarios[0].parameters.jobs, replications=replications)
        return [Saturation(each, 0, replications, Bracket()) for each in scenarios]

    monkeypatch.setattr(search, "SATURATION", {SINGLE: SATURATION[SINGLE]})
    monkeypatch.setattr(search, "find_saturations", nothing)
    for scale, jobs in ((1, 150_000), (0.001, 1000)):
        found = search.search(tmp_path / str(scale), Unwatched(), scale)
        assert asked == {"jobs": jobs, "replications": search.REPLICATIONS}
        assert f"by 8 runs of {jobs:,} jobs at each load" in found.note


def test_what_the_search_cannot_do(tmp_path):
    for words, says in (
        (["--figure", "3"], "--figure: found with --table; accepted: one of them"),
        (["--replications", 1], "replications: found 1; accepted: a whole number from 2"),
    ):
        found = call("--table", "saturation", "--out", tmp_path, *words)
        assert (found.exit_code, found.stderr.strip()) == (2, f"metasched: {says}")


def test_every_figure_shows_what_the_paper_shows():
    assert {point.case for figure in FIGURES for point in points(figure)} == set(CASES)
    assert [len(panels(figure)) for figure in FIGURES] == [8, 1, 6, 1, 6, 1, *[2] * 6, *[1] * 4]
    for figure in range(9, 15):
        first, second = panels(figure)
        case = first[0].case
        assert all(point.load < SATURATION[case][point.policy][0] for point in first)
        greatest = max(SATURATION[case][policy][0] for policy in SIX)
        assert first[0].load < close_to_greatest(case) < greatest
        assert second[0].load == close_to_greatest(case)
    assert {point.case for point in points(4) + points(6) + points(18)} == {UNBALANCED}


def outcome_of(response, saturated=(), replications=4, settled=0):
    """Return what all points come to if a policy has the same response time everywhere.

    Of those that are saturated some runs, the first, may have settled.
    """
    noise = 1 + 1e-3 * np.random.default_rng(1).normal(size=replications)

    def carry_out(runs):
        found = {}
        for each in runs:
            policy = each.scenario.global_scheduler
            columns = ("total", "local", "global", *(f"queue {at}" for at in range(1, 5)))
            found[each.key] = {
                name: [response(policy, name) * float(noise[each.seed])] for name in columns
            } | {"stable": [float(policy not in saturated or each.seed < settled)]}
        return found

    outcome = Outcome(0.001, replications)
    outcome.run([point for figure in FIGURES for point in points(figure)], carry_out)
    return outcome


def test_every_claim_can_be_judged_by_the_points_of_its_figures():
    outcome = outcome_of(lambda policy, column: 2.0 if policy == LS_DO else 3.0)
    verdicts = {claim.text: verdict.word for claim, verdict in judged(CLAIMS, outcome, FIGURES)}
    assert len(verdicts) > 80
    assert verdicts["LS is best"] == "holds"
    assert verdicts["LS-DO is best of LS, queues balanced"] == "holds"
    assert verdicts["LP and EQ are best"] == "fails"
    assert verdicts["With single-component jobs only GP, LP, EQ and LQ are LS"] == "fails"


def test_claims_about_two_charts_are_judged_by_both():
    outcome, read = outcome_of(lambda policy, column: 2.0), set()
    values = outcome.values
    outcome.values = lambda point, *column: read.add(point.where) or values(point, *column)
    of_both = [each for each in CLAIMS if set(each.parts) <= {*range(9, 15)}]
    of_both = [each for each in of_both if not re.search("utilization|common load", each.text)]
    assert len(of_both) > 20
    for each in of_both:
        read.clear()
        each.judge(outcome)
        both = {panel[0].where for figure in each.parts for panel in panels(figure)}
        assert read == both, each.text


@pytest.mark.thorough
@pytest.mark.parametrize(("good", "bad"), [(GS, LQ), (LQ, GS)])
def test_gs_and_lq_are_judged_apart(good, bad):
    outcome = outcome_of(lambda policy, column: {good: 2.0, bad: 4.0}.get(policy, 3.1))
    words = {each.text: found.word for each, found in judged(CLAIMS, outcome, [13, 14])}
    nearer = "(nearer to the best policy than to the worst)"
    found = {GS: words[f"GS is good {nearer}"], LQ: words[f"LQ is rather good {nearer}"]}
    assert found == {good: "holds", bad: "fails"}


def test_only_policies_that_the_paper_names_have_to_be_saturated():
    for saturated, word in (((GS, LQ, LP_GF), "holds"), ((GS, LP_GF), "open")):
        outcome = outcome_of(lambda policy, column: 2.0, saturated)
        words = {each.text: found.word for each, found in judged(CLAIMS, outcome, [9])}
        assert words["At the second utilization GS and LQ are saturated"] == word


def test_saturated_policies_lose():
    outcome = outcome_of(lambda policy, column: 2.0, saturated=(GS, GP))
    at = {point.policy: point for point in panels(9)[0]}
    assert outcome.excess(at[GS], at[LS_DO]).mean == math.inf
    assert outcome.excess(at[EQ_GF], at[GS]).mean == -math.inf
    assert outcome.excess(at[GS], at[GP]) is None
    pairs = [(at[GP], at[LS_DO]), (at[GP], at[GS])]
    assert judges.is_above(outcome, pairs, "total").word == "holds"
    assert judges.is_above(outcome, [(at[LS_DO], at[GP])], "total").word == "fails"
    assert judges.is_above(outcome, [(at[GS], at[GP])], "total").word == "open"
    row = outcome.row(at[GS])
    assert (row["saturated"], row["total"], row["total_ci"]) == (4, None, None)


@pytest.mark.thorough
@pytest.mark.parametrize(("replications", "settled"), [(4, 1), (1, 0)])
def test_runs_that_are_not_at_one_about_saturation_decide_nothing(replications, settled):
    at = {point.policy: point for point in panels(9)[0]}
    second = {point.policy: point for point in panels(9)[1]}

    def words(settled, replications):
        outcome = outcome_of(lambda policy, column: 2.0, (GS, GP), replications, settled)
        assert outcome.excess(at[GP], at[LS_DO]).mean == math.inf
        return [
            judges.is_above(outcome, [(at[GP], at[LS_DO])], "total").word,
            judges.is_above(outcome, [(at[LS_DO], at[GP])], "total").word,
            judges.is_nearer(outcome, [(at[GP], [at[LS_DO]], [at[GS]])]).word,
            judges.is_nearer(outcome, [(at[EQ_GF], [at[LS_DO]], [at[GS]])]).word,
            judges.is_saturated(outcome, [second[GS]], [second[LS_DO]]).word,
        ]

    assert words(0, 4) == ["holds", "fails", "fails", "holds", "holds"]
    assert words(settled, replications) == ["open"] * 5


@pytest.mark.thorough
def test_saturated_policies_are_not_compared_with_one_another():
    at = {point.policy: point for point in panels(9)[0]}
    of = [(at[GS], [at[LS_DO]], [at[GP]])]
    for saturated, word in (
        ((GS, LS_DO, GP), "open"),
        ((GS, LS_DO), "open"),
        ((GS, GP), "fails"),
        ((LS_DO,), "holds"),
        ((GP,), "holds"),
    ):
        outcome = outcome_of(lambda policy, column: 2.0, saturated)
        assert judges.is_nearer(outcome, of).word == word, saturated
    everything = outcome_of(lambda policy, column: 2.0, saturated=POLICIES)
    words = {claim.text: verdict.word for claim, verdict in judged(CLAIMS, everything, FIGURES)}
    assert {text for text, word in words.items() if word != "open"} == {
        "With single-component jobs only the four versions of LS are the same",
        "With single-component jobs only GP, LP, EQ and LQ are LS",
        "With multi-component jobs only GP, LP, EQ and LQ are GS",
    }


@pytest.mark.parametrize(("waiting", "far"), [(2000, False), (20_000, True)])
def test_a_run_that_seems_lost_near_the_maximal_utilization_is_carried_on(waiting, far):
    world = SimpleNamespace(clusters=4, statistics=SimpleNamespace(stable=False))
    workload = SimpleNamespace(count=1_000_000)
    model = SimpleNamespace(queued=waiting, waiting=[0] * 4, world=world, workload=workload)
    assert is_lost(model)
    assert is_far_lost(model) is far


def test_a_little_and_much():
    outcome = outcome_of(lambda policy, column: {GP: 2.1, LS_DO: 3.0}.get(policy, 2.0))
    at = {point.policy: point for point in panels(9)[0]}
    assert outcome.excess(at[GP], at[GS]).mean == pytest.approx(5)
    assert judges.is_within(outcome, [(at[GP], at[GS])]).word == "holds"
    for at_most in (False, True):
        far = judges.is_within(outcome, [(at[LS_DO], at[GS])], at_most=at_most)
        assert far.word == "fails"
    assert judges.is_above(outcome, [(at[GP], at[GS])], "total", least=10.0).word == "fails"
    near = [(at[GP], [at[GS]], [at[LS_DO]]), (at[LS_DO], [at[GS]], [at[LS_DO]])]
    found = judges.is_nearer(outcome, near[:1])
    [[where, number]] = found.evidence
    assert (found.word, number.mean) == ("holds", pytest.approx(100 * (0.9 - 0.1) / 2))
    assert where.startswith("GP between GS and LS-DO")
    assert judges.is_nearer(outcome, near[1:]).word == "fails"


@pytest.mark.thorough
def test_qualifiers_of_the_paper_decide():
    few = {EQ_GF: 2.1, LP_GF: 2.2, GS: 3.0, LS_DO: 3.0, GP: 3.0, LQ: 3.0}
    outcome = outcome_of(lambda policy, column: few.get(policy, 2.0))
    words = {each.text: found.word for each, found in judged(CLAIMS, outcome, FIGURES)}
    for text, word in {
        "LP-GF is worst in total, queues unbalanced": "holds",
        "EQ-GF is much worse in total, queues unbalanced": "fails",
        "LP delays the global jobs much (against EQ)": "fails",
        "LP and EQ differ by little": "holds",
        "In most cases with balanced queues EQ-GF is better than LP-GF": "holds",
        "In most cases with balanced queues EQ-GF and LP-GF differ by little": "holds",
    }.items():
        assert words[text] == word, text
    assert {(9,), (18,)} == {each.parts for each in CLAIMS if "LP and EQ differ" in each.text}


def test_lp_and_eq_are_judged_by_each_kind_of_jobs():
    slow = {GP: {"local": 5.0}, LQ: {"local": 5.0, "global": 3.0}}
    fast = {GP: 1.0, LP_GF: 2.9, EQ_GF: 2.9}
    outcome = outcome_of(lambda policy, kind: slow.get(policy, {}).get(kind, fast.get(policy, 2.0)))
    words = {each.text: found.word for each, found in judged(CLAIMS, outcome, FIGURES)}
    found = [word for text, word in words.items() if "a low response time" in text]
    assert found == ["holds", "fails"]


def test_what_is_far_better_is_not_a_little_worse():
    outcome = outcome_of(lambda policy, column: {EQ_RD: 1.7, LP_GF: 1.7}.get(policy, 2.0))
    verdicts = {claim.text: verdict.word for claim, verdict in judged(CLAIMS, outcome, FIGURES)}
    for text in (
        "With (50,50,0,0) EQ-RD is little worse in total than EQ-GF",
        "With at most 50 % local jobs delaying the global ones costs LP little (against EQ)",
    ):
        assert verdicts[text] == "fails"
    for text in (
        "mostly LP-GF is at most a little worse than LP-LF for the local queues",
        "Under LP and EQ many global jobs do not harm local ones: (25,25,25,25) against "
        "(90,0,0,10), at a common load",
    ):
        assert verdicts[text] == "holds"


def test_what_is_judged_by_most_cases_says_so():
    plain = [each for each in CLAIMS if getattr(each.judge, "func", None) is judges.is_mostly]
    assert len(plain) == 5
    assert all(re.search("mostly|most cases|often", each.text) for each in plain)


@pytest.mark.thorough
def test_most_cases_of_each_policy_decide_on_the_order_of_queues():
    slow = {LS_OR: 3.0, LP_LF: 3.0, EQ_LF: 3.0}
    for odd, word in ((None, "holds"), (LS_OR, "fails"), (LP_LF, "fails"), (EQ_LF, "fails")):
        given = slow | {odd: 1.5}
        outcome = outcome_of(lambda policy, column, given=given: given.get(policy, 2.0))
        found = judged(CLAIMS, outcome, FIGURES)
        [verdict] = [verdict for each, verdict in found if "order of the queues" in each.text]
        assert (verdict.word, len(verdict.evidence)) == (word, 20)


@pytest.mark.thorough
def test_a_small_difference_is_claimed_by_itself_whichever_is_better():
    for ours in (2.1, 1.9):
        outcome = outcome_of(lambda policy, column, ours=ours: ours if policy == EQ_GF else 2.0)
        words = {each.text: found.word for each, found in judged(CLAIMS, outcome, FIGURES)}
        assert words["EQ is better than LP"] == ("fails" if ours > 2 else "holds")
        assert words["EQ and LP differ by little"] == "holds"
    assert not [each.text for each in CLAIMS if each.text.startswith("but ")]


def test_runs_of_a_point():
    point = panels(18)[0][0]
    of = run(point, 0.01, 3)
    parameters = of.scenario.parameters
    assert (parameters.jobs, parameters.warmup, parameters.load) == (10_000, 1000, point.load)
    assert parameters.queue_shares == (40.0, 20.0, 20.0, 20.0)
    assert (of.scenario.global_scheduler, of.seed) == (point.policy, 3)
