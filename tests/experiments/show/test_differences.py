"""What runs are compared with: whether they had the same jobs, and the same parameters."""

from __future__ import annotations

import copy
import dataclasses
import json

import numpy as np
import pytest

from experiments.run.result_files import platform_of
from experiments.run.running import run
from experiments.scenario.scenario import Scenario
from experiments.show.comparing import compared
from experiments.show.differences import Difference, differences, told_apart
from experiments.show.numbers import NONE
from experiments.show.page import page_of
from experiments.show.run_data import Ran
from grid.platform import Platform
from grid.platform.multicluster import Cluster
from grid.world.records import Parts
from tests.experiments.log_files import record

SAME, DIFFERENT = "All runs had the same jobs.", "The runs had different jobs"


def ran(*settings, name="a", seed=1, scenario="quickstart", **fields):
    changed = Scenario.load(scenario).changed([*settings], **fields)
    return dataclasses.replace(Ran.of(run(changed, seed=seed)), name=name)


@pytest.fixture(scope="module")
def one():
    """A run of 40 jobs that arrive, each on one cluster."""
    return ran("jobs=40", "mode=open", global_scheduler="dll", local_scheduler="easy")


def again(one, name="b", **parameters):
    """Return the run as if it had had other parameters."""
    summary = copy.deepcopy(one.summary)
    summary["parameters"] |= parameters
    return dataclasses.replace(one, name=name, summary=summary)


def words(*runs):
    return " ".join(each.text for each in compared([*runs]))


def test_what_only_leaves_jobs_out_is_not_to_blame_where_jobs_are_the_same(one):
    other = again(one, only_recorded=True)
    assert SAME in words(one, other)
    assert "only_recorded" not in words(one, other)
    assert "other parameters" not in words(one, other)
    assert [each.name for each in differences([one, other])] == ["only_recorded"]


def test_jobs_that_are_left_are_jobs_too(one):
    """As many jobs as with all of them: where only those with waits are taken, none is missing."""
    short = again(one, only_recorded=True)
    short.summary["unfinished"] = 3
    parts = [each[one.parts.job < len(one.jobs) - 3] for each in one.parts]
    short = dataclasses.replace(short, jobs=one.jobs[:-3], parts=Parts(*parts))
    assert "had the same jobs, as far as they were finished" in words(one, short)
    short.summary["unfinished"] = 2
    assert DIFFERENT in words(one, short)


def test_jobs_of_other_run_times_are_others():
    rounds = [ran("jobs=40", f"max_runtime={most}", name=f"{most}") for most in (100, 50)]
    assert [*rounds[0].jobs["size"]] == [*rounds[1].jobs["size"]]
    assert DIFFERENT in words(*rounds)


def test_jobs_that_are_killed_at_their_request_are_others(tmp_path):
    log = tmp_path / "log.swf"
    log.write_text("\n".join(record(n, n, 100, 2, 2, 40 if n == 1 else 100) for n in range(1, 5)))
    runs = [
        ran(f"kill_at_request={kills}", "window_end=500", scenario="site", workload=str(log))
        for kills in ("false", "true")
    ]
    assert runs[1].jobs["finish"].iloc[0] == 40
    assert DIFFERENT in words(*runs)
    assert SAME in words(runs[0], again(runs[0], window_end=600.0))  # of which all is seen


def test_jobs_with_execution_times_of_their_own_are_the_same_wherever_they_ran(tmp_path):
    table = tmp_path / "jobs.csv"
    names = [f"C{n}" for n in range(1, 5)]
    rows = [f"{n},{5 * n},2,{10 + n},{200 - n},{30 + n},{400 - n}" for n in range(1, 30)]
    columns = ",".join(f"runtime@{name}" for name in names)
    table.write_text("\n".join([f"job,arrival,size,{columns}", *rows]))
    runs = [
        ran("assign_deadlines=false", global_scheduler=policy, workload=str(table), name=policy)
        for policy in ("dll", "wrand")
    ]
    assert (runs[0].parts.cluster != runs[1].parts.cluster).any()
    assert SAME in words(*runs)


def test_speeds_of_sites_make_no_other_jobs(tmp_path):
    logs = []
    for site, begin in (("C1", 0), ("C2", 3)):
        path = tmp_path / f"{site}.swf"
        path.write_text("\n".join(record(n, begin + 9 * n, 60, 2) for n in range(1, 20)))
        logs.append(f"{site}={path}")
    one, other, due = (
        ran(f"assign_deadlines={drawn}", f"speeds={speeds}", global_scheduler="dll", workload=logs)
        for drawn, speeds in (
            ("false", "{C1 = {C2 = 0.5}}"),
            ("false", "{C1 = {C2 = 0.9}}"),
            ("true", "{C1 = {C2 = 0.9}}"),
        )
    )
    assert SAME in words(one, dataclasses.replace(other, name="b"))
    slower = again(due, speeds={"C1": {"C2": 0.1}})
    assert "but not the same deadlines" in words(due, slower)  # drawn from longer times


def test_moulded_jobs_are_the_same_jobs(tmp_path):
    table = tmp_path / "jobs.csv"
    rows = [f"{n},{n},{(2, 4)[n % 2]},sweep,60,2|4|8" for n in range(1, 20)]
    table.write_text("\n".join(["job,arrival,size,application,problem_size,sizes", *rows]))
    platform = Platform(
        tuple(Cluster(f"C{n}", 16, hardware="workstations") for n in (1, 2)),
        Platform.star([16, 16]).graph,
    )
    given = {"platform": platform, "workload": str(table)}
    runs = [
        ran(f"mouldable={moulds}", name=moulds, scenario="two_sites", **given)
        for moulds in ("false", "true")
    ]
    assert (runs[0].jobs["size"] != runs[1].jobs["size"]).any()
    assert SAME in words(*runs)


def test_jobs_are_told_apart_by_how_long_they_ran(one):
    other = dataclasses.replace(again(one), jobs=one.jobs.copy())
    other.jobs.loc[3, "finish"] += 1.0
    assert DIFFERENT in words(one, other)
    moved = again(one, staging_time=1.0)  # then times tell no work
    assert SAME in words(moved, dataclasses.replace(moved, jobs=other.jobs))


def test_parameters_tell_what_files_of_jobs_do_not(one):
    assert SAME in words(one, again(one, max_runtime=101.0))  # of which all would be seen
    assert SAME in words(one, again(one, mean_runtime=17.0))  # which means nothing here
    assert SAME in words(one, again(one, bsbw=50.0))  # nor does this, where nobody splits a job
    assert DIFFERENT in words(one, again(one, local_share=0.5))
    parts = one.parts._replace(job=np.append(one.parts.job[1:], one.parts.job[1]))
    split = dataclasses.replace(one, parts=parts)  # a job on two clusters tells no run time
    assert SAME in words(split, again(split))
    assert DIFFERENT in words(split, again(split, max_runtime=101.0))


def test_jobs_may_have_deadlines_of_their_own(one):
    with_deadlines = [
        ran(*settings, name=name, local_scheduler="easy", global_scheduler="dll", seed=1)
        for name, settings in {
            "b": ("jobs=40", "mode=open", "assign_deadlines=true"),
            "c": ("jobs=40", "mode=open", "assign_deadlines=true", "service_classes=[]"),
        }.items()
    ]
    told = words(one, with_deadlines[0])
    assert "All runs had the same jobs, but those of a had no deadlines." in told
    assert "have other values" not in told
    told = words(*with_deadlines)
    assert "same jobs, but not the same deadlines: what differs may be due to that." in told


def test_parameters_that_differ_are_told(one):
    other = again(one, latency=2.0, population=7)  # of TITAN, which is in neither
    other.summary["local"] = "fcfs"
    assert differences([one, other]) == [
        Difference("latency", ["0.5", "2"], [True, True]),
        Difference("population", ["50", "7"], [False, False]),
    ]
    told = words(one, other)
    assert (
        "They have other values of latency (in a table below): what differs may be due to" in told
    )
    assert "rather than to the policies" in told
    assert "0.0 % longer, with other parameters too; 100.0 % waited as long" in told
    page = page_of([one, other])
    assert "<h2>Parameters that differ</h2>" in page
    assert '<td class="text">population</td><td class="text">(50)</td>' in page
    assert "Values in brackets mean nothing in that run." in page
    same = page_of([one, again(one, step=3.0)])  # which changes no result
    assert "other values" not in same
    assert "Parameters that differ" not in same
    alone = page_of([other])
    assert '<td class="text">latency</td><td class="text">2</td>' in alone
    assert '<td class="text">population</td>' not in alone  # which means nothing to it


def test_what_means_nothing_to_one_of_two_runs_is_no_reason(one, tmp_path):
    (tmp_path / "jobs.csv").write_text("arrival,size,runtime\n0,1,5\n")
    replay = ran(
        workload=str(tmp_path / "jobs.csv"), global_scheduler="dll", local_scheduler="easy"
    )
    found = {each.name: each for each in differences([one, replay])}
    assert found["jobs"].cells == ["40", "(400)"]
    assert not found["jobs"].matters
    assert "other values" not in words(one, replay)
    assert "other values of latency (in a" in words(one, again(replay, latency=2.0))


def test_runs_of_one_policy_have_their_parameters_beside_it(one):
    runs = told_apart([one, again(one, latency=2.0), again(one, latency=2.0, loss=0.5)])
    assert [each.policy for each in runs] == [
        "dll over easy, latency 0.5, loss 0",
        "dll over easy, latency 2, loss 0",
        "dll over easy, latency 2, loss 0.5",
    ]
    other = again(one, latency=2.0)
    other.summary["local"] = "fcfs"
    assert [each.policy for each in told_apart([one, other])] == ["dll over easy", "dll over fcfs"]


def test_what_means_nothing_to_one_run_makes_no_other_jobs_of_them(one):
    """Not even where it means something to the other, which splits jobs."""
    split = ["jobs=40", "mode=open", "bsbw=400", "computation_fraction=0.8"]
    options = {"global_scheduler": "a1", "local_scheduler": "fcfs"}
    other = ran(*split, name="b", **options)
    third = ran("jobs=40", "mode=open", name="c", **options)  # in which no job communicates
    assert SAME in words(one, other)
    assert SAME in words(one, third)
    assert DIFFERENT in words(other, third)
    assert DIFFERENT in words(one, other, third)


def test_what_files_do_not_tell_is_not_called_the_same(tmp_path):
    """Two tables of execution times on each cluster, and two of plain run times."""
    names = [f"runtime@C{n}" for n in range(1, 5)]
    runs = {}
    for name, head, row in (
        ("one", names, "100,100,100,100"),
        ("other", names, "9000,9000,9000,9000"),
        ("plain", ["runtime"], "100"),
        ("again", ["runtime"], "100"),
    ):
        path = tmp_path / f"{name}.csv"
        path.write_text("\n".join([f"job,arrival,size,{','.join(head)}", f"1,0,2,{row}"]))
        runs[name] = ran(global_scheduler="dll", workload=str(path), name=name)
    assert "how long they run on which cluster, the results do not tell" in words(
        runs["one"], runs["other"]
    )
    assert SAME not in words(runs["one"], runs["other"])
    alike = words(runs["plain"], runs["again"])
    assert "as far as their numbers, arrivals, sizes and run times tell." in alike
    assert SAME in words(runs["one"], again(runs["one"]))


def test_the_same_processors_given_in_two_ways_are_no_difference(one):
    other = again(one, nodes=max(one.platform.sizes.tolist()))
    assert "other values" not in words(one, other)
    (found,) = differences([one, other])
    assert (found.name, found.matters) == ("nodes", False)
    larger = Platform.star(one.platform.sizes + 1)
    assert "nodes" in words(one, dataclasses.replace(other, platform=larger))


def test_other_names_of_clusters_make_no_other_links(one):
    told = json.dumps(one.platform.to_dict()).replace('"C2"', '"Seth"')
    other = dataclasses.replace(again(one), platform=platform_of(json.loads(told), "told"))
    assert "They were on different platforms: other names of clusters." in words(one, other)
    larger = told.replace('"size": 20', '"size": 21')
    assert larger != told
    other = dataclasses.replace(again(one), platform=platform_of(json.loads(larger), "told"))
    assert "They were on different platforms: other clusters." in words(one, other)


def test_rates_that_no_policy_goes_by_are_not_to_blame_for_waits(one):
    other = again(one, busy_watts=100.0)
    (found,) = differences([one, other])
    assert found.values == [NONE, "100"]
    told = words(one, other)
    assert "values of busy_watts (in a table below), by which energy, cost and CO2 may" in told
    assert "may be due to" not in told
    assert "with other parameters too" not in told
    green = [
        dataclasses.replace(each, summary=each.summary | {"global": "greenest"})
        for each in (one, other)
    ]
    assert "other values of busy_watts (in a table below): what differs may be due" in words(*green)
