"""What a study says of the effects of its parameters."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import pandas as pd
import pytest

from experiments.show.study_page import study_page
from experiments.studies.notes import noted
from experiments.studies.outcome import StudyOutcome
from experiments.studies.study import Study
from tests.experiments.made_up_studies import STUDY, made_up, ripple
from tests.experiments.small_studies import Silent, printed
from tests.experiments.studies.test_study_outcome import NOISE, read, turnaround

TWO = "[100, 1000]\nlatency = [0, 5]"


def test_an_effect_of_fewer_replications_says_so(tmp_path):
    def result(policy, workload, setting, replication):
        if setting["link_mbps"] == 1000 and replication > 2:
            return None
        quick = 60.0 if setting["link_mbps"] == 1000 else 0.0
        value = 100.0 - quick + 100 * (replication > 2)
        return {"mean_turnaround": value + ripple(policy, setting, replication)}

    outcome = read(tmp_path, result)
    means = outcome.effects["mean"].tolist()
    assert means == pytest.approx([100.0, 100.0], abs=0.01)  # not 140, the mean of all five
    assert re.fullmatch(
        r"From link_mbps 100 to 1000, mean turnaround of \w+ over fcfs changes by -\S+ ± \S+ min "
        r"or -60\.0 % \(lower in 3 of 3 replications\), of the 3 replications that both have\.",
        outcome.sentences()[-2],
    )


def test_a_sure_change_is_never_told_as_none(tmp_path):
    def result(policy, workload, setting, replication):
        less = 0.08 if setting["link_mbps"] == 1000 else 0.0
        less *= 2 if policy.startswith("dll") else 1
        return {"mean_turnaround": 1000.0 - less + 1e-6 * setting["latency"]}

    text = STUDY.replace("[100, 1000]", TWO)
    told = " ".join(read(tmp_path, result, text=text).sentences())
    assert "ect over fcfs changes by -0.008 % in 2 of 2 cases." in told
    assert "dll over fcfs changes by -0.016 % in 2 of 2 cases." in told


@pytest.mark.parametrize(
    ("latencies", "says"),
    [
        ("", "dll over fcfs changes by +2.50 min (higher in 5 of 5 replications)."),
        (
            "\nlatency = [0, 5]",
            "dll over fcfs changes by +2.50 min to +3 min in 2 of 2 cases each.",
        ),
    ],
)
def test_a_change_from_nothing_is_told_in_the_metrics_own_unit(tmp_path, latencies, says):
    def result(policy, workload, setting, replication):
        slow = 150.0 + 6 * setting.get("latency", 0)
        return {"mean_turnaround": slow if setting["link_mbps"] == 1000 else 0.0}

    text = STUDY.replace("[100, 1000]", f"[100, 1000]{latencies}")
    told = " ".join(read(tmp_path, result, text=text).sentences())
    assert says in told
    assert "∞" not in told


def test_of_a_mean_below_zero_no_share_is_told(tmp_path):
    def result(policy, workload, setting, replication):
        return {"mean_turnaround": -150.0 if setting["link_mbps"] == 1000 else -30.0}

    told = " ".join(read(tmp_path, result).sentences())
    assert "dll over fcfs changes by -2 min (lower in 5 of 5 replications)." in told


def test_what_a_parameter_does_alike_is_told_once(tmp_path):
    def same(policy, workload, setting, replication):
        return {"mean_turnaround": 100.0 + replication}

    assert [line for line in read(tmp_path, same).sentences() if line.startswith("From")] == [
        "From link_mbps 100 to 1000, mean turnaround of ect over fcfs and dll over fcfs stays the "
        "same."
    ]


def test_cases_of_several_policies_are_counted_each(tmp_path):
    def by_chance(policy, workload, setting, replication):
        either = (setting["link_mbps"] == 100) * (-1) ** replication
        return {"mean_turnaround": 100.0 + setting["latency"] + either}

    text = STUDY.replace("[100, 1000]", TWO)
    told = " ".join(read(tmp_path, by_chance, text=text).sentences())
    assert (
        "dll over fcfs does not change as far as 5 replications can tell in any of 2 cases each."
        in told
    )


def test_effects_are_judged_by_all_pairs_as_ranks_are(tmp_path):
    """One extreme replication widens the interval over 0; the other 19 of 20 tell."""

    def result(policy, workload, setting, replication):
        slow = 0.0 if setting["link_mbps"] == 1000 else 10.0 + replication
        if policy.startswith("dll"):  # a change of one replication is none
            slow = 500.0 if setting["link_mbps"] == 100 and replication == 3 else 0.0
        elif replication == 7 and slow:
            slow = -200.0
        return {"mean_turnaround": 300.0 + slow}

    outcome = read(tmp_path, result, replications=20)
    columns = ["lower", "higher", "surely_changes"]
    assert outcome.effects[columns].to_numpy().tolist() == [[19, 1, True], [1, 0, False]]
    assert (outcome.effects["half_width"] > outcome.effects["difference"].abs()).all()
    assert "(lower in 19 of 20 replications)." in " ".join(outcome.sentences())


def test_an_effect_is_told_also_where_queues_grew(tmp_path):
    def result(policy, workload, setting, replication):
        slow = 50.0 if setting["link_mbps"] == 100 else 0.0
        grew = policy.startswith("ect") and slow and replication in (1, 3)
        value = 50.0 + slow + ripple(policy, slow, replication)
        return {"mean_turnaround": value} | ({"stable": 0.0} if grew else {})

    told = [line for line in read(tmp_path, result).sentences() if line.startswith("From")]
    both = lambda *at: {**result("ect", *at[1:]), "mean_turnaround": 50.0}  # noqa: E731
    (tmp_path / "both").mkdir()
    of_both = [x for x in read(tmp_path / "both", both).sentences() if x.startswith("From")]
    assert len(of_both) == 1
    assert of_both[0].endswith("in runs of this length (the queue grew in 2 of them each).")
    told = [re.sub(r"-\S+ ± \S+ s", "-50 s", line) for line in told]
    changes = "changes by -50 s or -50.0 % (lower in 5 of 5 replications)"
    assert told == [
        f"From link_mbps 100 to 1000, mean turnaround of ect over fcfs {changes}, in runs of this "
        "length (the queue grew in 2 of them).",
        f"From link_mbps 100 to 1000, mean turnaround of dll over fcfs {changes}.",
    ]


def test_settings_that_differ_in_what_a_policy_does_not_read_are_one_case(tmp_path):
    def result(policy, workload, setting, replication):
        slow = 50.0 if setting["link_mbps"] == 100 else 0.0
        return {"mean_turnaround": 50.0 + slow + setting["latency"] * policy.startswith("dll")}

    outcome = read(tmp_path, result, text=STUDY.replace("[100, 1000]", TWO))
    outcome.provenance["unread"] = {"ect over fcfs": ["latency"]}
    of_links = outcome.effects[outcome.effects["parameter"] == "link_mbps"]
    assert of_links["policy"].tolist() == ["ect over fcfs", "dll over fcfs", "dll over fcfs"]
    assert of_links["latency"].isna().tolist() == [True, False, False]
    told = " ".join(outcome.sentences())
    assert "40 runs (of which 30 differ: not all policies read all that is varied), 5 " in told
    assert "of ect over fcfs changes by -50 s or -50.0 % (lower in 5 of 5 replications)." in told
    assert "in 2 of 2 cases" in told
    assert "From latency 0 to 5, mean turnaround of ect over fcfs stays the same." in told


def test_cases_of_the_same_numbers_are_counted_once(tmp_path):
    """A parameter that a policy reads, but that changes nothing, makes no case more of it."""

    def result(policy, workload, setting, replication):
        slow = 50.0 if setting["link_mbps"] == 100 else 0.0
        far = setting["latency"] if policy.startswith("dll") else setting["latency"] == 9
        return {"mean_turnaround": 50.0 + slow + far}

    outcome = read(tmp_path, result, text=STUDY.replace("[100, 1000]", TWO.replace("5]", "5, 9]")))
    assert (outcome.effects["parameter"] == "link_mbps").sum() == 6
    told = " ".join(outcome.sentences())
    assert "ect over fcfs changes by -50.0 to -49.5 % in 2 of 2 cases." in told
    assert "dll over fcfs changes by -50.0 to -45.9 % in 3 of 3 cases." in told
    (tmp_path / "one").mkdir()
    outcome = read(tmp_path / "one", result, text=STUDY.replace("[100, 1000]", TWO))
    told = " ".join(outcome.sentences())
    assert "ect over fcfs changes by -50 s or -50.0 % (lower in 5 of 5 replications)." in told
    assert "dll over fcfs changes by -50.0 to -47.6 % in 2 of 2 cases." in told


def test_of_settings_without_a_pair_of_runs_no_effect_is_told(tmp_path):
    def result(policy, workload, setting, replication):
        there = (setting["link_mbps"] == 100) == (replication < 2)
        return {"mean_turnaround": 9.0 if there else math.nan}

    told = " ".join(read(tmp_path, result, replications=4).sentences())
    assert "From link_mbps" not in told


def test_policies_that_do_not_read_a_parameter_are_not_judged_with_others(tmp_path):
    """Of one pair p is 3 %, which is sure; of two together, it would not be."""
    more = [0.1, 0.6, 1.0, 1.4, 1.9]

    def result(policy, workload, setting, replication):
        reads = policy.startswith("dll") and setting["latency"]
        return {"mean_turnaround": 50.0 + (more[replication] if reads else 0.0)}

    text = STUDY.replace("[100, 1000]", TWO.replace("100, 1000", "100"))
    for unread, sure in (({}, False), ({"ect over fcfs": ["latency"]}, True)):
        (tmp_path / str(sure)).mkdir()
        outcome = read(tmp_path / str(sure), result, text=text)
        outcome.provenance["unread"] = unread
        assert outcome.effects["surely_changes"].tolist() == [False, sure]


@pytest.mark.thorough
def test_the_file_of_a_study_has_what_policies_do_not_read(tmp_path):
    (tmp_path / "study.toml").write_text(
        'scenario = "quickstart"\nset = {mode = "open", jobs = 9}\nreplications = {least = 2}\n'
        'policies = {global = "dll", local = ["easy", "fair-share"]}\n'
        "vary = {half_life = [60, 86400], warmup = [0, 3]}\n"
    )
    outcome = Study.load(tmp_path / "study.toml").run(tmp_path / "out.db", 1, watch=Silent())
    assert outcome.provenance["unread"] == {"dll over easy": ["half_life"]}
    assert (outcome.effects["policy"] == "dll over easy").sum() == 3


@pytest.mark.parametrize("metric", ["mean_wait", "idle_time_mean"])
def test_warm_ups_of_a_study_are_told(tmp_path, metric):
    study = tmp_path / "study.toml"
    text = (
        f'scenario = "quickstart"\nmetric = "{metric}"\nset = {{mode = "open", jobs = 9}}\n'
        'replications = {least = 2}\npolicies = {global = "dll", local = "easy"}\n'
    )
    study.write_text(f"{text}vary = {{warmup = [0, 3, 5]}}\n")
    (told,) = [line for line in Study.load(study).notes if line.startswith("warmup: ")]
    assert told.startswith("warmup: means leave out the first 0, 3 or 5 of the jobs of each run")
    assert ("idle-time, and CP of the whole run if it has one, count" in told) == (
        metric != "mean_wait"
    )
    study.write_text(text)
    assert not any("warmup" in line for line in Study.load(study).notes)


@pytest.mark.thorough
def test_parameters_of_the_scenario_that_mean_nothing_are_not_listed(tmp_path):
    (tmp_path / "jobs.csv").write_text("arrival,size,runtime\n" + "9,1,60\n" * 9)
    (tmp_path / "study.toml").write_text(
        'scenario = "site"\nreplications = {least = 2}\nworkloads = {mine = "jobs.csv"}\n'
        'policies = {global = "home", local = ["fcfs", "easy"]}\nset = {processors = 4}\n'
    )
    outcome = Study.load(tmp_path / "study.toml").run(tmp_path / "out.db", 1, watch=Silent())
    assert {*outcome.provenance["parameters"]} & {"jobs", "load", "max_size"} == set()
    assert outcome.provenance["parameters"]["mode"] == "open"


def test_a_change_that_is_clear_alone_is_not_called_none(tmp_path):
    """Judged beside many other comparisons it is not sure, and no absence of change either."""

    def result(policy, workload, setting, replication):
        wait = 0.7 + 0.03 * replication
        if policy.startswith("ect") and setting["load"] == 0.9:
            wait += 12 + 14 * NOISE[replication] / max(abs(NOISE))
        return {"mean_turnaround": wait}

    text = STUDY.replace("link_mbps = [100, 1000]", "load = [0.5, 0.6, 0.7, 0.8, 0.9]")
    outcome = read(tmp_path, result, text=text, replications=8)
    rows = outcome.effects.query("policy == 'ect over fcfs' and `from` == 0.5 and to == 0.9")
    assert (rows["difference"].abs() > rows["half_width"]).all()
    assert not rows["surely_changes"].any()
    (line,) = (each for each in outcome.sentences() if "of ect over fcfs" in each)
    assert "may change by +" in line
    assert "which is not sure beside the other comparisons of this parameter" in line


@pytest.mark.thorough
def test_what_may_change_is_told_beside_what_surely_does(tmp_path):
    """Else a setting that is not sure would be read as one in which nothing changes."""

    def result(policy, workload, setting, replication):
        wait = 50.0 + 0.1 * replication + ripple(policy, setting, replication)
        if policy.startswith("ect") and setting["latency"] == 5:
            wait += 20.0 if setting["load"] == 0.5 else 12 + 13 * NOISE[replication] / NOISE.max()
        return {"mean_turnaround": wait}

    text = STUDY.replace("link_mbps = [100, 1000]", "load = [0.5, 0.8]\nlatency = [0, 2, 3, 4, 5]")
    outcome = read(tmp_path, result, text=text, replications=8)
    rows = outcome.effects.query("policy == 'ect over fcfs' and `from` == 0 and to == 5")
    assert rows["surely_changes"].tolist() == [True, False]
    assert (rows["difference"].abs() > rows["half_width"]).all()
    line = next(each for each in outcome.sentences() if each.startswith("From latency 0 to 5,"))
    assert "of ect over fcfs changes by +" in line or "ect over fcfs" in line
    assert " in 1 of 2 cases (load 0.5), and may change in the other, by +" in line


def test_only_queues_of_the_pairs_count_as_grown(tmp_path):
    def result(policy, workload, setting, replication):
        grown = setting["link_mbps"] == 1000 and replication == 1
        found = turnaround(policy, workload, setting, replication)
        found["mean_turnaround"] = math.nan if grown else found["mean_turnaround"]
        return {**found, "stable": 0.0 if grown else 1.0}

    outcome = read(tmp_path, result)
    effects = outcome.effects.query("parameter == 'link_mbps'")
    assert (effects["unstable"] == 0).all()
    assert (effects["n"] == outcome.points["n"].max() - 1).all()
    assert outcome.points["unstable"].max() == 1


@pytest.mark.parametrize(("stable", "told"), [(1.0, False), (math.nan, True)])
def test_where_growing_queues_were_not_judged_that_is_told(tmp_path, stable, told):
    outcome = read(tmp_path, lambda *of: {**turnaround(*of), "stable": stable})
    (count,) = {*outcome.points["unstable"].astype(object)}
    assert count is pd.NA if told else count == 0
    lines = [line for line in outcome.sentences() if "was not judged in 20 of 20 runs" in line]
    assert len(lines) == told
    assert study_page(outcome)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("scenario", "mode", "others"),
    [
        ("quickstart", "batch", ""),
        ("quickstart", "open", ", but for those between values of nodes and clusters"),
        ("beosim", "per-cluster", ", but for those between values of clusters"),
    ],
)
def test_arrivals_follow_the_platform_in_some_modes_alone(scenario, mode, others, tmp_path):
    (tmp_path / "study.toml").write_text(
        f'title = "x"\nscenario = "{scenario}"\nmetric = "mean_wait"\n'
        'policies = {global = ["dll", "ect"], local = ["fcfs"]}\n'
        f'[set]\nmode = "{mode}"\n[vary]\nnodes = [100, 101]\nclusters = [2, 3]\n'
    )
    study = Study.load(tmp_path / "study.toml")
    told = noted(study.definition, study.bases, study._scenarios, study.workloads)
    text = STUDY.replace("link_mbps = [100, 1000]", "nodes = [8, 9]\nclusters = [2, 3]")
    path = made_up(tmp_path / "study.db", lambda *_: {"mean_turnaround": 1.0}, text)
    outcome = StudyOutcome.read(path)
    outcome.provenance["of_arrivals"] = told["of_arrivals"]
    assert outcome.sentences()[1].endswith(f"differences are of the same jobs{others}.")


def test_a_point_at_which_nothing_is_random_is_compared_with_all_replications(tmp_path):
    """It has two, after which the study has no more of them; with windows, each is another."""

    def result(policy, workload, setting, replication):
        if setting["link_mbps"] == 100:
            return {"mean_turnaround": 5.0} if replication < 2 else None
        return {"mean_turnaround": 7.0 + 0.1 * replication}

    outcome = read(tmp_path, result)
    of_log = replace(outcome, provenance={"inputs": {"mine.swf": "0"}})
    assert outcome.effects["n"].tolist() == [2, 2]
    assert of_log.effects["n"].tolist() == [5, 5]
    assert of_log.effects["difference"].to_numpy() == pytest.approx(2.2)
    assert of_log.effects["higher"].tolist() == [5, 5]
    assert of_log.effects["surely_changes"].all()
    assert any("higher in 5 of 5 replications" in line for line in of_log.sentences())


@pytest.mark.parametrize(("least", "unit"), [(2000.0, "h"), (450.0, "min"), (20.0, "s")])
def test_a_study_tells_its_metric_in_one_unit(tmp_path, least, unit):
    """That of the largest mean, here 2.5 h, unless the smallest is far below 1 h."""

    def result(policy, workload, setting, replication):
        value = 9000.0 if setting["link_mbps"] == 1000 else least
        return {"mean_turnaround": value + 2 * policy.startswith("dll") + ripple(policy)}

    told = printed(read(tmp_path, result))
    assert {*re.findall(r"[\d∞] (s|min|h|d)\b", told)} == {unit}
    headings = [line.split() for line in told.splitlines() if line.startswith("rank")]
    assert [each[-3:] for each in headings] == [[unit, "in", "%"]] * 2
