"""What studies say of who is better, in words."""

from __future__ import annotations

import io
import math
import re
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from experiments.show.numbers import listed
from experiments.show.study_page import study_page
from experiments.studies.outcome import StudyOutcome
from experiments.studies.telling import print_outcome
from experiments.studies.verdicts import verdicts
from tests.experiments.made_up_studies import STUDY, made_up, outcome_of, ripple
from tests.experiments.studies.test_chance import NAMES, better
from tests.experiments.studies.test_study_outcome import NOISE, read, turnaround


def rows_of(outcome, names):
    """Return the ranking by policy, under other names."""
    rows = outcome.ranking.assign(policy=[names[each] for each in outcome.ranking["policy"]])
    return rows.set_index("policy").sort_index().drop(columns="workload")


windows_of_waits = st.integers(2, 4).flatmap(
    lambda policies: st.lists(
        st.lists(st.integers(0, 30), min_size=policies, max_size=policies), min_size=2, max_size=9
    )
)


@pytest.mark.thorough
@settings(max_examples=25)
@given(windows_of_waits, st.randoms(use_true_random=False))
def test_nothing_depends_on_the_order_or_the_names_of_policies(waits, random):
    table = np.array(waits).T
    names = list(NAMES[: len(table)])
    order = random.sample(range(len(table)), len(table))
    others = [f"other {name}" for name in random.sample(names, len(table))]
    one = outcome_of(dict(zip(names, table, strict=True)))
    other = outcome_of({others[index]: table[index] for index in order})
    back = dict(zip(others, names, strict=True))
    same = {name: name for name in names}
    pd.testing.assert_frame_equal(rows_of(one, same), rows_of(other, back))
    if len({*table.mean(axis=1)}) == len(table):  # what is the same is told in order
        told = "\n".join(verdicts(other))
        for name in others:
            told = told.replace(name, back[name])
        assert told == "\n".join(verdicts(one))


@pytest.mark.thorough
@settings(max_examples=25)
@given(windows_of_waits)
def test_who_is_called_best_loses_to_nobody(waits):
    table = np.array(waits, float)
    found = better(table)
    for winner, loser in found:
        mine, theirs = (table[:, NAMES.index(each)] for each in (winner, loser))
        assert mine.mean() < theirs.mean()
        assert (mine < theirs).sum() > (mine > theirs).sum()
    outcome = outcome_of(dict(zip(NAMES, table.T, strict=False)))
    for name in NAMES[: table.shape[1]]:
        surely = any(f"{name} has the lowest" in line and "surely the best" in line
                     and "not surely" not in line for line in outcome.sentences())  # fmt: skip
        beaten = {pair for pair in found if pair[0] == name}
        assert surely is (len(beaten) == table.shape[1] - 1)
    for one, other in combinations(NAMES[: table.shape[1]], 2):
        assert not {(one, other), (other, one)} <= found


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("vary", "who", "told"),
    [
        ("link_mbps = [100, 1000]", "policies and settings", "."),
        ("load = [0.5, 0.9]", "policies and settings", ", but for those between values of load."),
        (
            "link_mbps = [1, 2]\nmax_deadline_ratio = [2, 5]\nload = [0.5, 0.9]",
            "policies and settings",
            ", but for those between values of load; the deadlines are others between values of "
            "max_deadline_ratio.",
        ),
        ("load = [0.5]", "policies", "."),
    ],
)
def test_differences_are_said_to_be_of_the_same_jobs_where_they_are(vary, who, told, tmp_path):
    text = STUDY.replace("link_mbps = [100, 1000]", vary)
    path = made_up(tmp_path / "study.db", lambda *_: {"mean_turnaround": 1.0}, text)
    line = StudyOutcome.read(path).sentences()[1]
    of_seed = f"all {who} have the same seed, so that differences are of the same jobs{told}"
    assert line.endswith(of_seed)


def test_what_nobody_reads_changes_no_jobs(tmp_path):
    text = STUDY.replace("link_mbps = [100, 1000]", "load_factor = [0.5, 0.9]")
    path = made_up(tmp_path / "study.db", lambda *_: {"mean_turnaround": 1.0}, text)
    outcome = StudyOutcome.read(path)
    policies = [policy.label for policy in outcome.study.compared]
    scaled = "jobs; the jobs arrive at other times between values of load_factor."
    for read_by, told in (([], "jobs."), (policies[:1], scaled)):
        unread = {each: ["load_factor"] for each in policies if each not in read_by}
        outcome.provenance["unread"] = unread
        assert outcome.sentences()[1].endswith(told)


def test_whole_values_are_told_as_such(tmp_path):
    text = STUDY.replace("link_mbps = [100, 1000]", "link_mbps = [1.5, 30_000_000.0]")
    path = made_up(tmp_path / "study.db", lambda *of: {"mean_turnaround": of[2]["link_mbps"]}, text)
    told = "\n".join(StudyOutcome.read(path).sentences())
    assert "link_mbps 30000000:" in told
    assert "30000000.0" not in told


def test_values_of_parameters_are_told_whole_in_the_page_too(tmp_path):
    text = STUDY.replace("link_mbps = [100, 1000]", "load = [1.001, 1.002]")
    page = study_page(read(tmp_path, lambda *of: {"mean_turnaround": of[2]["load"]}, text=text))
    for heading in ("Ranking", "Effects of parameters", "All means"):
        table = page[page.index(f">{heading}<") :].partition("</table>")[0]
        assert table.count(">1.001</td>") == table.count(">1.002</td>") == 2, heading


def test_tied_leaders_are_told_in_the_plural():
    (line,) = verdicts(outcome_of({"a": [1, 2, 3], "b": [1, 2, 3], "c": [2, 2, 3]}))
    assert line.startswith("a and b have the lowest mean wait")
    assert "but are not surely the best" in line


@pytest.mark.parametrize(
    ("vary", "logs", "at", "total"),
    [
        (None, ["kth", "both"], "2 settings (workload kth and both)", "both"),
        (
            "link_mbps = [100, 1000]",
            ["kth", "both"],
            "4 settings (link_mbps 100 and 1000 x workload kth and both)",
            "all 4",
        ),
        (
            "link_mbps = [100, 1000]",
            ["kth"],
            "2 settings (link_mbps 100 and 1000) with workload kth",
            "both",
        ),
    ],
)
def test_settings_are_counted_in_one_way(vary, logs, at, total, tmp_path):
    text = STUDY.replace("[vary]\nlink_mbps = [100, 1000]", f"[vary]\n{vary}" if vary else "")
    text += "\n[workloads]\n" + "".join(f'{name} = "{name}.swf"\n' for name in logs)

    def result(policy, workload, setting, replication):
        faster = setting.get("link_mbps", 0) / 1e4
        return {"mean_turnaround": 1.0 + policy.startswith("dll") - faster}

    told = StudyOutcome.read(made_up(tmp_path / "study.db", result, text)).sentences()
    assert told[0].startswith(f"2 policies compared at {at}, by")
    assert f"ect over fcfs is surely the best in {total} settings." in told
    if len(logs) > 1:
        assert told[1].endswith(
            "all policies and settings have the same seed, so that differences are of the same "
            "jobs, but for those between workloads."
        )


def test_settings_of_the_same_numbers_count_once(tmp_path):
    """No policy reads the population, and at one bandwidth they all come to the same."""
    varied = "link_mbps = [100, 1000, 2000]\npopulation = [10, 20]"
    text = STUDY.replace("link_mbps = [100, 1000]", varied)

    def result(policy, workload, setting, replication):
        faster = min(setting["link_mbps"], 1000) / 1e4
        return {"mean_turnaround": 1.0 + policy.startswith("dll") - faster}

    told = StudyOutcome.read(made_up(tmp_path / "study.db", result, text)).sentences()
    assert any(
        "have the same mean turnaround in each run as another: the 2 that" in line for line in told
    )
    assert "ect over fcfs is surely the best in both settings." in told
    assert any(
        line.startswith("link_mbps 100, population 10 (1 other setting alike): ") for line in told
    )
    assert any(
        line.startswith("link_mbps 1000, population 10 (3 other settings alike)") for line in told
    )
    text = STUDY.replace("link_mbps = [100, 1000]", "population = [10, 20]")
    result = lambda policy, *_: {"mean_turnaround": 1.0 + policy.startswith("dll")}  # noqa: E731
    told = StudyOutcome.read(made_up(tmp_path / "one.db", result, text)).sentences()
    assert "Both settings have the same mean turnaround in each run: they count as one." in told
    assert not any("in both settings" in line for line in told)


def test_settings_count_once_by_the_runs_that_both_have(tmp_path):
    """Whatever their numbers of replications; means that agree by chance are not enough."""
    text = STUDY.replace("link_mbps = [100, 1000]", "load = [0.5, 1.0]")

    def more(policy, workload, setting, replication):
        missing = setting["load"] == 1.0 and replication > 2
        return None if missing else turnaround(policy, workload, {"link_mbps": 1}, replication)

    told = read(tmp_path, more, text=text).sentences()
    assert "Both settings have the same mean turnaround in each run: they count as one." in told
    assert any(line.startswith("load 0.5 (1 other setting alike): ") for line in told)

    def turned(policy, workload, setting, replication):
        place = replication if setting["load"] == 0.5 else 2 - replication
        faster = setting["link_mbps"] / 1000
        return {"mean_turnaround": 3.0 + place + policy.startswith("dll") - faster}

    (tmp_path / "turned").mkdir()
    text = f"{text}link_mbps = [1, 2]\n"
    told = " ".join(read(tmp_path / "turned", turned, text=text, replications=3).sentences())
    assert "in each run as another" not in told
    assert "From link_mbps 1 to 2" in told
    assert "in any of 2 cases each." in told


def test_policies_without_a_common_replication_are_not_ranked(tmp_path):
    text = STUDY.replace("link_mbps = [100, 1000]", "load = [0.5]")

    def result(policy, workload, setting, replication):
        there = policy.startswith("dll") == (replication < 2)
        return {"mean_turnaround": 9.0 if there else math.nan}

    told = read(tmp_path, result, text=text, replications=4).sentences()
    none = "No policy is ranked: there is no replication in which all have a value."
    assert none in told
    assert not any("ranks are of the others" in line for line in told)


def test_differences_that_are_none_on_average_are_neither_above_nor_below():
    (line,) = verdicts(outcome_of({"a": [60, 60, 60, 60], "b": [70, 50, 70, 50]}))
    assert re.search(r"b \(0\S* ± 18 s or 0.0 % from it, worse in 2 of 4 windows\)", line)


def test_next_to_no_difference_is_told_without_an_exponent():
    (line,) = verdicts(outcome_of({"a": [1e6] * 4, "b": [1e6 + 1, 1e6, 1e6 + 2, 1e6]}))
    assert " or less than 0.001 % above it, worse in 2 of 4 windows)" in line


def test_the_only_policy_with_a_rank_is_not_told_to_be_the_lowest(tmp_path):
    found = outcome_of({"a": [60, 70], "b": [math.nan, math.nan]})
    (line,) = verdicts(found)
    assert line == "a alone has a rank, with a mean wait of 65 ± 64 s; without a rank: b."
    none = {"mean_turnaround": math.nan}
    two = read(tmp_path, lambda *of: turnaround(*of) if of[0].startswith("ect") else none)
    assert not any("lowest" in each for each in verdicts(two))


def test_other_policies_that_are_surely_better_are_counted():
    rng = np.random.default_rng(4)
    steady = 1000 + 100 * rng.normal(size=16)
    noise = rng.normal(size=16)
    erratic = steady - 20 + 400 * (noise - noise.mean())
    almost = {name: steady + 0.1 * rng.normal(size=16) for name in ("one", "two")}
    behind = steady + 20 + rng.normal(size=16)
    (line,) = verdicts(outcome_of({"erratic": erratic, **almost, "behind": behind}))
    assert line.endswith("; 2 others surely better).")


def test_a_policy_near_the_best_but_surely_worse_than_another_is_told_so():
    rng = np.random.default_rng(4)
    steady = 1000 + 100 * rng.normal(size=16)
    behind = steady + 20 + rng.normal(size=16)
    noise = rng.normal(size=16)
    erratic = steady - 20 + 400 * (noise - noise.mean())
    found = outcome_of({"erratic": erratic, "steady": steady, "behind": behind})
    assert [*found.ranking["rank"]] == [1, 1, 2]
    (line,) = verdicts(found)
    near = line.split("cannot be told from it: ")[1].split("), ")
    assert near[0].startswith("steady (")
    assert "; " not in near[0]
    assert near[1].startswith("behind (")
    assert near[1].endswith("; 1 other surely better).")


def test_a_policy_that_rejects_more_is_not_called_best(tmp_path):
    def result(policy, workload, setting, replication):
        found = turnaround(policy, workload, setting, replication)
        return {**found, "rejected": 2.0} if policy.startswith("ect") else found

    outcome = read(tmp_path, result)
    told = " ".join(outcome.sentences())
    assert "is surely the best" not in told
    fewer = list(outcome.ranking.query("rejected == 0")["policy"].unique())
    assert f"of the jobs that it accepted: it rejected more than {listed(fewer)} did" in told


def test_who_of_several_best_rejected_more_is_named(tmp_path):
    def result(policy, workload, setting, replication):
        return {"mean_turnaround": 9.0, "rejected": 2.0 * policy.startswith("ect")}

    told = " ".join(read(tmp_path, result).sentences())
    words = "of ect over fcfs of the jobs that it accepted: it rejected more than dll over fcfs did"
    assert words in told


def test_who_rejected_none_is_surely_the_best_beside_a_tied_one_that_did(tmp_path):
    def result(policy, workload, setting, replication):
        wait = 9.0 if policy.split()[0] in ("ect", "dll") else 20.0 + 0.01 * NOISE[replication]
        wait += setting["link_mbps"] / 1e4
        return {"mean_turnaround": wait, "rejected": 2.0 * policy.startswith("ect")}

    text = STUDY.replace('"dll"]', '"dll", "wrand"]')
    told = read(tmp_path, result, text=text).sentences()
    assert "dll over fcfs is surely the best in both settings." in told
    (line,) = [line for line in told if line.startswith("link_mbps 100: ")]
    assert "it rejected more than dll over fcfs and wrand over fcfs did" in line
    assert ", and dll over fcfs is surely the best; surely worse: wrand over fcfs" in line


@pytest.mark.parametrize(("metric", "done"), [("mean_penalty", "split"), ("mean_staging", "moved")])
def test_jobs_that_policies_choose_need_not_be_the_same(metric, done, tmp_path):
    text = STUDY.replace("mean_turnaround", metric)
    line = read(tmp_path, lambda *_: {metric: 1.0}, text=text).sentences()[1]
    assert f" is of those alone that were {done}, which need not be the same ones: what" in line


def test_one_policy_has_no_rank(tmp_path):
    text = STUDY.replace('["ect", "dll"]', '"ect"')
    outcome = read(tmp_path, lambda *_: {"mean_turnaround": 1.0}, text=text)
    assert "Ranking" not in study_page(outcome)
    assert "difference to the best" not in study_page(outcome)
    console = Console(width=200, file=io.StringIO())
    print_outcome(outcome, console)
    told = console.file.getvalue()
    assert not {"rank", "worse"} & {*told.split()}


def test_differences_of_shares_are_percentage_points(tmp_path):
    def result(policy, workload, setting, replication):
        share = 0.5 + 0.001 * NOISE[replication] + setting["link_mbps"] / 10_000
        share += ripple(policy, setting, replication) / 100
        return {"utilization": share - (0.1 if policy.startswith("dll") else 0.0)}

    text = STUDY.replace("mean_turnaround", "utilization").replace('["utilization"]', "[]")
    outcome = read(tmp_path, result, text=text)
    told = outcome.sentences()
    first = next(line for line in told if line.startswith("link_mbps 100: "))
    worse = (
        r"surely worse: dll over fcfs \(10\.00\d* ± \S+ percentage points below it, worse in 5 of 5"
    )
    assert re.search(worse, first)
    changes = r"From link_mbps 100 to 1000, utilization of \w+ over fcfs changes by \+(9|8\.99)"
    line = next(line for line in told if re.match(changes, line))
    assert "percentage points" in line
    console = Console(width=100, file=io.StringIO())
    print_outcome(outcome, console)
    heads = console.file.getvalue().split("dll over fcfs")[0].split()
    assert {"percentage", "points"} <= {*heads}
    page = study_page(outcome)
    assert "difference to the best mean, percentage points" in page
    assert "change, percentage points" in page


def test_settings_in_which_no_run_has_a_number_do_not_count(tmp_path):
    """As where the workloads of some have no job of an origin."""
    text = STUDY.replace("link_mbps = [100, 1000]", "kill_at_request = [false, true]")
    text += '[workloads]\nall = "a.csv"\ntwo = "b.csv"\n'

    def result(policy, workload, setting, replication):
        better = policy.startswith("ect")
        wait = 5.0 + 3 * (not better) + ripple(policy, setting, replication)
        return {"mean_turnaround": wait if workload == "all" else float("nan")}

    outcome = StudyOutcome.read(made_up(tmp_path / "r", result, text, replications=8))
    told = [*outcome.sentences()]
    assert "In 2 of the 4 settings no policy has a rank: the others count." in told
    assert "ect over fcfs is surely the best in both settings." in told
    assert not any("settings has the same" in line for line in told)
    page = study_page(outcome)
    for heading, rows in (("Ranking", 4), ("Effects of parameters", 1), ("All means", 4)):
        table = page[page.index(f">{heading}<") :].partition("</table>")[0]
        assert table.count('<td class="text">false</td>') >= rows
        assert table.count('<td class="text">true</td>') >= rows
