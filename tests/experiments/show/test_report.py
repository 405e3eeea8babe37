"""A result in words and columns, for people."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from experiments.run.running import run
from experiments.scenario.scenario import Scenario
from grid.metrics.job_totals import Tally
from grid.metrics.of_rounds import round_performance, run_performance
from grid.platform.multicluster import Platform
from grid.workloads.source import Cleaning
from grid.workloads.synthetic import SyntheticWorkload
from grid.world.statistics import Links
from tests.experiments.small_results import MIX, muscle, printed, result_of


def test_people_get_plain_columns_with_units(result):
    named = replace(
        result.scenario,
        name="a[b]c",
        global_scheduler="agents.balancers:HomeScheduler",
        local_scheduler="fcfs",
    )
    text = printed(replace(result, scenario=named, in_rounds=True))
    assert text.isascii()
    assert "\x1b" not in text
    lines = [re.sub("  +", ": ", line.rstrip()) for line in text.splitlines()]
    assert lines[0] == "a[b]c: agents.balancers:HomeScheduler over fcfs, seed 3"
    assert "jobs completed: 2 of 3 submitted" in lines
    assert "MCP: whole run: 1.53 s" in lines
    assert "own idle: in its own makespan; CP: whole run" in lines
    assert "makespan: 3.14 s" in lines
    assert "deadlines met" not in text
    assert "1 job rejected, larger than can ever run: job 8" in lines
    assert any(line.split() == ["C2", "16", "0", "0", "-", "-", "0"] for line in text.splitlines())


def test_restarts_are_told_where_there_are_some(result):
    assert "restarts" not in printed(result)
    losses = [{"restarts": 2, "lost_work": 0.25}] * 4
    text = printed(replace(result, in_rounds=True, restarts=2, cluster_losses=losses))
    assert re.search("^restarts +2, 1 processor-s lost", text, re.MULTILINE)
    assert "waits: up to the last start" not in printed(result)
    assert "waits: up to the last start of a job, what it ran in vain before included;" in text
    assert "makespan: from the first of the last starts\n" in text


def test_refused_starts_are_told_where_there_are_some(result):
    assert "starts refused" not in printed(result)
    text = printed(replace(result, refused_starts=1200))
    assert re.search(
        "^starts refused +1,200, for fewer processors were free than reckoned with", text, re.M
    )


def test_time_in_which_messages_alone_go_on_is_told(result):
    assert "the last job ended" not in printed(result)
    text = printed(replace(result, simulated_s=7200.0))
    assert "2 h (the last job" in text


def test_an_interruption_is_told_also_between_batches(result):
    assert "interrupted" not in printed(result)
    stopped = replace(result, interrupted=True)
    assert "the run was interrupted before the next jobs came" in printed(stopped)
    cut = replace(stopped, submitted=result.submitted + 2)
    told = printed(cut)
    assert "2 jobs not finished: the run was interrupted" in told
    held = "processors that those held count as idle in utilization and idle-times"
    assert held in told
    none = replace(cut, tally=Tally.of(result.records[:0], result.platform))
    assert held not in printed(none)


def test_rounds_that_are_under_way_are_told_apart(result):
    rounds, none = (
        round_performance(records, result.platform, [(4, 3, 1)] * 4, "mean")
        for records in (result.records, result.records[:0])
    )
    count = f"{len(rounds.dispatched):,}"
    spread = result.overall._replace(jobs=np.array([[1, 1, 0, 0]]))
    ended = printed(replace(result, in_rounds=True, rounds=rounds, planned=rounds, overall=spread))
    assert re.search(f"^rounds +{count} *$", ended, re.MULTILINE)
    assert re.findall("^(MCP.*?)  ", ended, re.MULTILINE) == [
        "MCP: mean of rounds of one job",
        "MCP, PB: whole run",
        "MCP: rounds of one job as planned",
    ]
    cut = printed(replace(result, in_rounds=True, rounds=none, planned=rounds))
    assert re.search(f"^rounds +0 finished, jobs allocated {count} times", cut, re.MULTILINE)


def test_drawn_deadlines_are_told_where_there_are_numbers_on_them(result):
    assert "deadlines:" not in printed(replace(result, drawn_deadlines=1.0))
    served = muscle(SyntheticWorkload(**MIX, count=3, rate=0.1))
    served.run()
    told = printed(result_of(served, "three jobs", 0.1))
    assert "deadlines: drawn, as the jobs bring none" in told
    assert "deadlines met" in told


def test_of_how_few_jobs_deadlines_are_is_told(tmp_path):
    path, few = tmp_path / "jobs.csv", "deadlines met: of 1 job with a deadline"
    for second, told_so in (("", True), ("99", False)):
        path.write_text(f"arrival,size,runtime,deadline\n0,1,2,6\n2,1,3,{second}\n")
        given = Scenario.load("quickstart").changed(["assign_deadlines=false"], workload=str(path))
        assert (few in printed(run(given))) is told_so


def test_slowdowns_are_told_to_leave_staging_out():
    told = "slowdown: turnaround over run time without the staging of data"
    far = ["mode=open", "jobs=40", "local_share=1", "staging_time=5"]
    for words, told_so in ((far, True), (far[:-1], False)):
        ect = Scenario.load("quickstart").changed(words, global_scheduler="ect")
        assert (told in printed(run(ect))) is told_so


def test_jobs_of_the_warmup_are_told_to_be_missing():
    ect = Scenario.load("quickstart").changed(jobs=40, warmup=7, global_scheduler="ect")
    warm = run(ect)
    told = printed(warm)
    assert "means and clusters: without 7 completed jobs of the warm-up" in told
    assert "warm-up" not in printed(replace(warm, tally=Tally.of(warm.records, warm.platform)))


def test_shares_of_users_without_a_job_are_told(result):
    def told(**shares):
        scenario = result.scenario.changed(local_scheduler="fair-share", **shares)
        return printed(replace(result, scenario=scenario))

    assert "shares:" not in told()
    some = told(shares={500: 2.0, 3: 1.5})
    assert "shares: 2 users without jobs that count: 500, 3" in some
    assert "shares: 1 user without jobs that count: 9" in told(shares={9: 5.0})


def test_cleaning_is_told_in_words(result):
    cleaning = Cleaning(9, {"no size: dropped": 6}, 6)
    text = printed(replace(result, cleaning=cleaning))
    assert "cleaning of 9 records:\n  6: no size: dropped\n" in text


def test_tables_fit_80_columns_whatever_the_numbers(result):
    platform = Platform.from_dict(
        {"clusters": [{"name": f"[cluster]{i:03}", "size": 9_999_999} for i in range(30)]}
    )
    records = result.records[np.repeat(np.arange(3), 30)]
    rows = records.rows
    rows["cluster"], rows["start"], rows["size"] = np.tile(np.arange(30), 3), 0.0, 4
    rows["finish"], rows["deadline"] = 99_999_999.0, -1e15
    off = {"jobs": 10**9, "mean_prediction_error": 9.9, "prediction_accuracy": 0.99}
    for basis, head in (
        (records, "cluster procs jobs used % makespan d own idle d late d CP d"),
        (records[:0], "cluster procs jobs"),
    ):
        rounds = round_performance(basis, platform, [(4, 3, 1)] * 30, "total")
        wide = replace(
            result,
            scenario=replace(result.scenario, platform=platform),
            tally=Tally.of(basis, platform),
            statistics=replace(result.statistics, links=Links(np.zeros(30), np.zeros(30))),
            wall_s=1e7,
            simulated_s=1e12,
            rounds=rounds,
            in_rounds=True,
            planned=rounds,
            overall=run_performance(Tally.of(basis, platform), [(4, 3, 1)] * 30, "total"),
            cluster_messages=[{"sent": 10**9, "received": 10**9}] * 30,
            restarts=10**9,
            cluster_losses=[{"restarts": 10**9, "lost_work": 1e15}] * 30,
            energy=[{"energy_kwh": 1e9, "cost": 1e9, "co2_kg": 1e9}] * 30,
            applications=[off | {"name": f"a{i:02}"} for i in range(21)],
        )
        lines = [line.rstrip() for line in printed(wide).splitlines()]
        assert max(map(len, lines)) <= 80
        assert head in [" ".join(line.split()) for line in lines]
        shown = [f"[cluster]{i:03} 9,999,999" for i in range(20)]
        assert [line[:22] for line in lines if line.startswith("[cluster]")] == shown
        assert not any("…" in line for line in lines)
        assert "and 10 more clusters" in lines
        assert "and 1 more application" in lines
        right = [each | {"mean_prediction_error": 0.0} for each in wide.applications]
        assert "application" not in printed(replace(wide, applications=right))  # without a table


def test_clusters_whose_long_names_begin_alike_are_told_apart():
    names = [f"cluster_of_the_cabinet_{number}" for number in range(1, 3)]
    tables = {"clusters": [{"name": name, "size": 8} for name in names]}
    platform = Platform.from_dict(tables)
    scenario = Scenario("long", platform, {"mode": "open", "jobs": 4}, "dll", "fcfs")
    lines = printed(run(scenario)).splitlines()
    assert [line.split()[0] for line in lines if line.startswith("cluster_")] == names


def test_moved_jobs_are_told_where_there_are_some():
    def text(scheduler):
        given = {"mode": "open", "jobs": 40, "local_share": 1.0, "min_size": 1, "max_size": 4}
        return printed(run(Scenario("s", Platform.star([8, 8]), given, scheduler, "fcfs")))

    assert re.search(r"^moved, of jobs with an origin +[1-9]", text("round-robin"), re.MULTILINE)
    assert "moved" not in text("home")


def test_it_is_told_that_clusters_count_split_jobs_more_than_once():
    def counts(scheduler):
        result = run(Scenario.load("queues").changed(["jobs=60"], global_scheduler=scheduler))
        of_clusters = sum(each["jobs"] for each in result.summary()["clusters"])
        more = "jobs: one that is split counts on each of its clusters" in printed(result)
        return of_clusters > result.tally.grid["jobs"][0], more

    assert counts("gs") == (True, True)
    assert counts("dll") == (False, False)
