"""What is read out of the file of a study."""

from __future__ import annotations

import io
import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

from experiments.show.study_page import study_page
from experiments.studies.outcome import StudyOutcome
from experiments.studies.telling import print_outcome
from experiments.sweeps.statistics import mean_interval
from tests.experiments.made_up_studies import STUDY, made_up, ripple

NOISE = np.random.default_rng(3).normal(0, 10, 9)


def turnaround(policy, workload, setting, replication):
    """Bandwidth helps, ect is 20 s quicker, and the jobs of a replication are what they are."""
    own = 0.1 * ((replication * 7 + len(policy) * setting["link_mbps"]) % 5)
    slow = 20.0 if policy.startswith("dll") else 0.0
    value = 100.0 + NOISE[replication] + slow - setting["link_mbps"] / 100 + own
    return {"mean_turnaround": value + ripple(policy, setting, replication)}


def read(tmp_path, result=turnaround, **given):
    return StudyOutcome.read(made_up(tmp_path / "study.db", result, **given))


def test_points_ranks_and_effects(tmp_path):
    outcome = read(tmp_path)
    assert (outcome.title, outcome.metric, outcome.missing) == ("Made up", "mean_turnaround", 0)
    assert len(outcome.runs) == 20
    assert outcome.runs.columns[:5].tolist() == [
        "policy",
        "workload",
        "link_mbps",
        "replication",
        "seed",
    ]
    runs = outcome.runs.query("policy == 'ect over fcfs' and link_mbps == 100")["mean_turnaround"]
    point = outcome.points.iloc[0]
    assert (point["policy"], point["link_mbps"], point["n"]) == ("ect over fcfs", 100, 5)
    expected = mean_interval(runs)
    assert point["mean_turnaround"] == expected.mean
    assert point["mean_turnaround half_width"] == expected.half_width
    ranking = outcome.ranking
    assert ranking["rank"].tolist() == [1, 2, 1, 2]
    assert ranking["policy"].tolist() == ["ect over fcfs", "dll over fcfs"] * 2
    # The noise of the jobs is in the means, and not in the paired differences.
    worse = ranking[ranking["rank"] == 2]
    assert (worse["half_width"] > 5).all()
    assert worse["difference"].to_numpy() == pytest.approx([20, 20], abs=0.5)
    assert (worse["difference half_width"] < 1).all()
    assert len(outcome.effects) == 2
    assert outcome.effects["difference"].to_numpy() == pytest.approx([-9, -9], abs=0.5)
    assert (outcome.effects["half_width"] < 1).all()
    text = " ".join(outcome.sentences())
    assert "ect over fcfs is surely the best in both settings." in text
    assert worse[["better", "worse"]].to_numpy().tolist() == [[0, 5], [0, 5]]
    assert "From link_mbps 100 to 1000, mean turnaround of ect over fcfs changes by -" in text


def test_what_has_no_mean_is_told_and_has_no_rank(tmp_path):
    def result(policy, workload, setting, replication):
        found = turnaround(policy, workload, setting, replication)
        if policy.startswith("dll") and setting["link_mbps"] == 1000:
            return {**found, "unfinished": 2.0}
        return {**found, "rejected": 1.0}

    outcome = read(tmp_path, result)
    assert outcome.ranking["rank"].isna().tolist() == [False, False, False, True]
    assert outcome.points["unfinished"].tolist() == [0, 0, 0, 10]
    text = " ".join(outcome.sentences())
    assert "; without a rank: dll over fcfs." in text
    assert (
        "No mean is claimed of dll over fcfs (link_mbps 1000), that left 10 jobs unfinished. "
        in text
    )
    assert "rejected jobs" in text
    assert json.loads(json.dumps(outcome.summary(), allow_nan=False))["ranking"][3]["rank"] is None


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (lambda run: {}, "no scheduler started them; advertisements may have been lost, and adv"),
        (lambda run: {"thrown_back": 1.0}, "5 that no scheduler started, 5 thrown back by fail"),
        (lambda run: {"away/A": 3.0}, "no scheduler started them; 3 processors of A are away; ad"),
        (lambda run: {f"away/{'AB'[run % 2]}": 1.0}, "no scheduler started them; up to 1 proces"),
        (
            lambda run: {"away/A": 3.0, "too_large": 1.0},
            "no scheduler started them; 3 processors of A are away, and 5 of the jobs are",
        ),
    ],
)
def test_a_study_says_why_jobs_are_unfinished(given, why, tmp_path):
    """As a run does, and only runs that left some have such numbers."""

    def result(policy, workload, setting, replication):
        found = turnaround(policy, workload, setting, replication)
        if policy.startswith("dll") and setting["link_mbps"] == 1000:
            found |= {"unfinished": 2.0, "thrown_back": 0.0, "never_heard": 1.0}
            found |= {"too_large": 0.0}
            found |= given(replication)
        return found

    text = " ".join(read(tmp_path, result).sentences())
    assert f"that left 10 jobs unfinished: {why}" in text


def test_of_what_rejected_all_jobs_no_mean_is_told(tmp_path):
    def result(policy, workload, setting, replication):
        found = turnaround(policy, workload, setting, replication) | {"rejected": 1.0}
        if policy.startswith("dll") and setting["link_mbps"] == 1000:
            return {**found, "mean_turnaround": math.nan, "mean_wait": math.nan}
        return {**found, "mean_wait": 1.0}

    outcome = read(tmp_path, result)
    text = " ".join(outcome.sentences())
    none = "dll over fcfs (link_mbps 1000)"
    assert f"{none} rejected all jobs of all runs: there is no mean of them." in text
    assert text.count(none) == 1
    assert "rejected jobs (15 in all runs together): their means are" in text
    assert not outcome.all_rejected


def test_a_run_whose_queue_grew_strikes_nothing_out_and_is_marked(tmp_path):
    def result(policy, workload, setting, replication):
        found = turnaround(policy, workload, setting, replication)
        grew = policy.startswith("ect") and setting["link_mbps"] == 100 and replication == 3
        return {**found, "stable": 0.0} if grew else found

    outcome = read(tmp_path, result)
    assert outcome.ranking["rank"].tolist() == [1, 2, 1, 2]
    assert outcome.ranking["policy"].tolist() == ["ect over fcfs", "dll over fcfs"] * 2
    assert outcome.points["unstable"].tolist() == [1, 0, 0, 0]
    assert outcome.points["mean_turnaround"].notna().all()
    text = " ".join(outcome.sentences())
    assert "ect over fcfs is surely the best in both settings." in text
    assert "to the next in 1 of 5 runs of ect over fcfs (link_mbps 100). Means with a *" in text
    assert "From link_mbps 100 to 1000, mean turnaround of dll over fcfs changes by -" in text
    console = Console(width=80, file=io.StringIO())
    print_outcome(outcome, console)
    assert [line.count("*") for line in console.file.getvalue().splitlines()[:6]].count(2) == 1
    page = study_page(outcome)
    assert page.count('class="hollow"') == 1
    assert "(queue grew)</title>" in page


def test_one_that_beats_all_with_fewer_jobs_is_told_of(tmp_path):
    def result(policy, workload, setting, replication):
        slower = 0.0 if policy.startswith("ect") else 50.0
        rejected = {"rejected": 3.0} if policy.startswith("ect") else {}
        value = 100.0 + slower + NOISE[replication] + setting["link_mbps"] / 1e4
        return {"mean_turnaround": value, **rejected}

    told = read(tmp_path, result, replications=8).sentences()
    none = "In none of the 2 settings is a policy surely better than all others"
    assert f"{none}, but in 2 for one that rejected more jobs." in told
    assert any("of the same jobs, less those that policies rejected." in line for line in told)


def test_who_is_worse_in_all_settings_is_named_though_nobody_is_best(tmp_path):
    def result(policy, workload, setting, replication):
        slower = 50.0 if policy.startswith("home") else 0.0
        sign = 1.0 if policy.startswith("ect") else -1.0
        value = 100.0 + slower + sign * NOISE[replication] + setting["link_mbps"] / 1e4
        return {"mean_turnaround": value}

    text = STUDY.replace('["ect", "dll"]', '["ect", "dll", "home"]')
    told = read(tmp_path, result, replications=8, text=text).sentences()
    worse = "In both settings, home over fcfs is surely worse than the policy of the best mean."
    assert worse in told


def test_who_loses_most_windows_is_not_called_best(tmp_path):
    """One policy has the better mean by one window of six, the other one in five of them."""

    def result(policy, workload, setting, replication):
        jobs = 100.0 + NOISE[replication] + setting["link_mbps"] / 1e4
        if policy.startswith("ect"):
            return {"mean_turnaround": jobs}
        return {"mean_turnaround": jobs + 5 if replication < 5 else jobs - 90}

    outcome = read(tmp_path, result, replications=6)
    assert outcome.ranking["policy"].tolist() == ["dll over fcfs", "ect over fcfs"] * 2
    assert outcome.ranking["rank"].tolist() == [1, 1, 1, 1]
    told = outcome.sentences()
    assert "In none of the 2 settings is a policy surely better than all others." in told
    assert not any("is surely the best" in line or "has the best" in line for line in told)
    first = next(line for line in told if line.startswith("link_mbps 100: "))
    assert "dll over fcfs has the lowest mean turnaround" in first
    assert "but is not surely the best; cannot be told from it: ect over fcfs (" in first
    assert "better in 5 of 6 replications)" in first


def test_rejecting_wins_no_deadlines(tmp_path):
    """Rejected jobs are part of the share, so a policy that rejects more may be the best of it."""

    def result(policy, workload, setting, replication):
        if policy.startswith("ect"):
            return {"deadlines_met": 0.8 + 0.001 * replication, "rejected": 2.0, "mean_wait": 1.0}
        if setting["link_mbps"] == 1000:
            return {"deadlines_met": 0.0, "rejected": 9.0, "mean_wait": math.nan}
        return {"deadlines_met": 0.6, "mean_wait": 1.0}

    text = STUDY.replace("mean_turnaround", "deadlines_met")
    outcome = read(tmp_path, result, text=text)
    told = " ".join(outcome.sentences())
    assert "ect over fcfs is surely the best in both settings." in told
    assert "accepted, but for deadlines met: they missed those of the others." in told
    (tmp_path / "none").mkdir()
    none = {"deadlines_met": math.nan, "mean_wait": 1.0, "rejected": 2.0}
    text = STUDY.replace("mean_turnaround", "mean_wait").replace(
        "report = [", 'report = ["deadlines_met", '
    )
    without = read(tmp_path / "none", lambda *point: none, text=text)
    assert "of the jobs that they accepted." in " ".join(without.sentences())
    assert "dll over fcfs (link_mbps 1000) rejected all jobs of all runs. " in told


def test_no_share_of_a_mean_of_0_is_told(tmp_path):
    text = f"{STUDY}[replications]\nprecision = 0.05\n"
    told = read(tmp_path, lambda *at: {"mean_turnaround": at[-1] - 2.0}, text=text).sentences()
    assert any("of 0.05: of a mean of 0 there is no share." in line for line in told)


def test_equal_policies_are_named_together(tmp_path):
    told = read(tmp_path, lambda *at: {"mean_turnaround": 100.0 + at[-1]}).sentences()
    assert any("ect over fcfs and dll over fcfs have the lowest" in line for line in told)
    assert not any("surely the best" in line for line in told)


def test_equal_numbers_of_one_metric_are_no_sign_that_nothing_is_random(tmp_path):
    def calm(policy, workload, setting, replication):
        return {"mean_turnaround": 0.0, "utilization": 0.5 + 0.01 * replication}

    outcome = read(tmp_path, calm)
    assert not any("nothing is random" in line for line in outcome.sentences())
    of_log = replace(outcome, provenance={"inputs": {"mine.swf": "0"}})
    assert not any("nothing is random" in line for line in of_log.sentences())
    told = "mean turnaround came to the same to the last bit in all replications of the point"
    assert any(told in line for line in of_log.sentences())
    assert not any(told in line for line in outcome.sentences())
    same = replace(of_log, runs=of_log.runs.assign(utilization=0.5))
    assert any("nothing is random there" in line for line in same.sentences())
    drawn = replace(same, runs=same.runs.assign(drew=1.0))  # and came to the same by chance
    assert not any("nothing is random" in line for line in drawn.sentences())


def test_a_number_of_fewer_runs_says_so(tmp_path):
    """Two of five runs of a policy have no mean turnaround, and another two no utilization."""

    def result(policy, workload, setting, replication):
        found = turnaround(policy, workload, setting, replication)
        if policy.startswith("dll"):
            return found
        name = {0: "mean_turnaround", 1: "mean_turnaround", 2: "utilization"}.get(replication)
        failed = {name: math.nan, f"failed/mine:{name}": 1.0} if name else {}
        return {**found, **failed}

    outcome = read(tmp_path, result)
    first = outcome.points.iloc[0]
    assert first[["n", "mean_turnaround n", "utilization n"]].tolist() == [5, 3, 4]
    assert outcome.ranking["n"].tolist() == [3, 3, 3, 3]
    told = outcome.sentences()
    (of_metric,) = (line for line in told if line.startswith("Metric mine:mean_turnaround failed"))
    assert of_metric.endswith(": its means and all ranks are of the others.")
    (of_other,) = (line for line in told if line.startswith("Metric mine:utilization failed"))
    assert of_other.endswith(": its means are of the others.")
    console = Console(width=120, file=io.StringIO())
    print_outcome(outcome, console)
    assert "50 (n=4)" in console.file.getvalue()
    assert "50 (n=5)" in console.file.getvalue()
    assert "50 (n=4)" in study_page(outcome)


def test_one_policy_and_one_replication_are_told_as_such(tmp_path):
    text = STUDY.replace('"ect", "dll"', '"ect"').replace("[100, 1000]", "[100]")
    told = StudyOutcome.read(made_up(tmp_path / "one.db", turnaround, text, 1)).sentences()
    assert told[1:3] == [
        "1 run, 1 replication of each point.",
        f"ect over fcfs has a mean turnaround of {100 - 1 + NOISE[0]:.0f} s.",
    ]


def test_an_interrupted_study_is_told(tmp_path):
    def result(policy, workload, setting, replication):
        return None if replication == 4 else turnaround(policy, workload, setting, replication)

    outcome = read(tmp_path, result, ended=None)
    assert (outcome.missing, outcome.planned, outcome.ended) == (4, 20, None)
    assert outcome.sentences()[-2:] == [
        "4 runs of 20 planned so far are missing.",
        "The study was not carried to its end: --resume goes on.",
    ]
    but_one = replace(outcome, planned=17).sentences()
    assert "1 run of 17 planned so far is missing." in but_one


def test_no_run_is_finished(tmp_path):
    outcome = read(tmp_path, lambda *_: None, ended=None)
    assert outcome.ranking.empty
    assert outcome.points.empty
    assert outcome.effects.empty
    assert "No run is finished yet." in outcome.sentences()
    json.dumps(outcome.summary(), allow_nan=False)


def test_more_may_be_better(tmp_path):
    text = STUDY.replace('metric = "mean_turnaround"', 'metric = "mean_turnaround"\nbetter="more"')
    ranking = read(tmp_path, text=text).ranking
    assert ranking["policy"].tolist() == ["dll over fcfs", "ect over fcfs"] * 2
    of_use = STUDY.replace('metric = "mean_turnaround"', 'metric = "utilization"')
    of_use = of_use.replace('"utilization"]', '"mean_turnaround"]')
    outcome = StudyOutcome.read(made_up(tmp_path / "use.db", turnaround, of_use))
    assert outcome.study.more_is_better
    assert outcome.ranking["rank"].tolist() == [1, 1, 1, 1]


def test_for_people_it_fits_80_columns(tmp_path):
    console = Console(width=80, file=io.StringIO())
    print_outcome(read(tmp_path), console)
    lines = console.file.getvalue().splitlines()
    assert lines[:2] == ["Made up", "link_mbps 100"]
    assert any(line.split()[:4] == ["2", "dll", "over", "fcfs"] for line in lines)
    assert "…" not in "".join(lines)


def test_headings_and_intervals_are_whole_in_80_columns(tmp_path):
    text = STUDY.replace("mean_turnaround", "mean_bounded_slowdown")
    text = text.replace('"utilization"', '"mean_wait", "utilization"')

    def result(policy, workload, setting, replication):
        wide = {"mean_bounded_slowdown": 9.6 + NOISE[replication], "mean_wait": 1028.0}
        return wide if policy.startswith("ect") else {**wide, "mean_bounded_slowdown": 12.5}

    console = Console(width=80, file=io.StringIO())
    print_outcome(read(tmp_path, result, text=text), console)
    found = console.file.getvalue()
    words = found.split()
    assert {"bounded", "slowdown", "wait,", "min", "utilization,", "%"} <= set(words)
    row = next(line for line in found.splitlines() if "ect over fcfs" in line)
    assert row.count("±") == 1
    assert row.split()[-5:] == ["0", "of", "5", "17.1", "50"]


def test_who_is_surely_beaten_is_told_and_no_one_is_called_last(tmp_path):
    """A tied policy may have a worse mean than one that is surely beaten."""

    def result(policy, workload, setting, replication):
        worse = {
            "ect over fcfs": 0.0,
            "ect over easy": 20.0,
            "dll over fcfs": 9 * NOISE[replication] + 90,
        }
        more = 0.1 * (replication % 3) + setting["link_mbps"] / 1e4 + ripple(policy, replication)
        return {"mean_turnaround": 100.0 + worse.get(policy, 25.0) + more}

    text = STUDY.replace('local = "fcfs"', 'local = ["fcfs", "easy"]')
    outcome = read(tmp_path, result, text=text)
    first = outcome.ranking[outcome.ranking["link_mbps"] == 100]
    means = dict(zip(first["policy"], first["mean"], strict=True))
    ranks = dict(zip(first["policy"], first["rank"], strict=True))
    assert ranks["dll over fcfs"] == 1
    assert means["dll over fcfs"] > means["dll over easy"]
    told = next(line for line in outcome.sentences() if line.startswith("link_mbps 100: "))
    assert "cannot be told from it: dll over fcfs (" in told
    assert re.search(r"surely worse: ect over easy \(0\.333", told)  # min
    assert re.search(r"dll over easy \((0\.4166|0\.4167)", told)
    assert "last" not in told


def test_a_study_that_was_cut_ranks_by_what_policies_have_in_common(tmp_path):
    """The jobs of the first two replications are quick; the slower policy has no others."""

    def result(policy, workload, setting, replication):
        slow = policy.startswith("dll")
        if (slow and replication > 1) or (setting["link_mbps"] == 1000 and slow):
            return None
        value = 100.0 + 900 * (replication > 1) + 5 * slow
        return {"mean_turnaround": value + ripple(policy, replication)}

    outcome = read(tmp_path, result, ended="The study ended by its time of 1 s")
    fast, slow = outcome.ranking.to_dict("records")[:2]
    assert (fast["policy"], fast["rank"], slow["rank"]) == ("ect over fcfs", 1, 2)
    assert (fast["n"], fast["difference"]) == (2, 0.0)
    found = fast["mean"], slow["mean"], slow["difference"]
    assert found == pytest.approx((100.0, 105.0, 5.0), abs=0.01)
    assert outcome.points["mean_turnaround"].iloc[0] > 105
    told = outcome.sentences()
    assert any("its ranking is of the replications that all of them have" in x for x in told)
    assert "1 of 4 points has no finished run yet." in told
