"""What is said of several runs beside each other."""

from __future__ import annotations

import math

import pytest

from experiments.run.running import run
from experiments.scenario.scenario import Scenario
from experiments.show.page import page_of
from experiments.show.run_data import Ran
from experiments.show.run_plots import draw
from experiments.show.tables import links_table
from grid.platform.multicluster import Platform
from tests.experiments.small_results import printed

from .told import changed, compared_words, words


def test_planned_changes_are_told_and_listed():
    cluster = {"name": "A", "size": 4}
    drain = {"cluster": "A", "what": "drain", "at": 5.0, "until": 9.0, "processors": 2}
    late = {"cluster": "A", "what": "fail", "at": 1e9}
    parameters = {"mode": "open", "jobs": 5, "max_size": 2}
    with_, without = (
        Ran.of(run(Scenario(name, Platform.from_dict(tables), parameters, "ect", "fcfs")))
        for name, tables in (
            ("with", {"clusters": [cluster], "changes": [drain, late]}),
            ("without", {"clusters": [cluster]}),
        )
    )
    told = "Planned changes of processors came: drain of 2 processors of A at 5 s until 9 s."
    assert told in words(with_)
    assert words(with_).count("1 of 2 changes of the platform never came") == 1
    assert "Planned changes" not in words(without)
    assert "different platforms: other planned changes." in compared_words(with_, without)
    for page in (page_of([with_]), page_of([with_, without])):
        assert "Planned changes</h" in page
        assert "1,000,000,000" in page
    assert "Planned changes" not in page_of([without])


def test_links_are_listed_where_they_matter_or_differ():
    clusters = [{"name": "A", "size": 4, "switch": "north"}, {"name": "B", "size": 8}]

    def ran(policy, max_size=4, capacity=math.inf, latency=0.0):
        switch = {"name": "north", "capacity": capacity, "latency": latency}
        platform = Platform.from_dict({"clusters": clusters, "switches": [switch]})
        parameters = {"mode": "open", "jobs": 9, "min_size": max_size, "max_size": max_size}
        return Ran.of(run(Scenario("of two", platform, parameters, policy, "fcfs")))

    whole, split = ran("dll"), ran("a1", max_size=9)
    assert "Network" not in page_of([whole, whole])
    for runs in ([split], [ran("dll", latency=0.25)], [whole, ran("dll", capacity=300)]):
        assert "Network</h" in page_of(runs)
    (network,) = links_table([("a", split.platform), ("b", split.platform)])
    assert [[cell.text for cell in row] for row in network.rows] == [
        ["A", "north", "1,000", "0"],
        ["B", "switch", "1,000", "0"],
        ["north", "switch", "no limit", "0"],
    ]
    assert [row[2].value for row in network.rows] == [1000, 1000, math.inf]
    assert 'data-value="Infinity">no limit<' in page_of([split])  # as scripts of pages read it
    (network,) = links_table([("a", split.platform), ("b", ran("dll", capacity=300).platform)])
    assert [cell.text for cell in network.rows[-1]] == ["b", "north", "switch", "300", "0"]


@pytest.mark.parametrize(("fraction", "slowed"), [(1, False), (0.7, True)])
def test_saturated_links_that_slow_nobody_are_told(fraction, slowed):
    given = ["jobs_per_cluster=100", "bsbw=2000", f"computation_fraction={fraction}"]
    result = run(Scenario.load("beosim").changed(given))
    ran = Ran.of(result)
    assert "more was asked of" in words(ran)
    why = "saturated links slowed no job; jobs that compute only (fraction 1) never are"
    assert (why[1:] not in words(ran)) == slowed
    assert (why not in " ".join(printed(result).split())) == slowed
    assert (why[1:] not in compared_words(ran, changed(ran, "b"))) == slowed
    titles = draw([ran], "links").axes[1].get_title(), draw([ran] * 2, "links").axes[1].get_title()
    assert all((why not in title) == slowed for title in titles)


def test_a_tie_is_told_as_one(whole):
    a, b, c = (
        changed(whole, name, utilization=share, mean_wait=20.0, mean_bounded_slowdown=slowdown)
        for name, share, slowdown in (
            ("a", 0.22801, 2.0002),
            ("b", 0.22803, 2.0001),
            ("c", 0.1, 2.0002),
        )
    )
    told = compared_words(a, b, c)
    assert (
        "The highest utilization is that of b and a, 22.8 %; c 10.0 % (-12.8 percentage points)."
        in told
    )
    assert "All have the same mean wait, 20 s." in told
    assert "All have about the same mean bounded slowdown, 2.00." in told
    d = changed(whole, "d", utilization=0.2, mean_wait=20.0, mean_bounded_slowdown=None)
    assert "All that have one have about the same mean bounded slowdown" in compared_words(a, b, d)


@pytest.mark.parametrize(
    ("wait", "told"),
    [
        (12.5, "b 12.5 s (+25.0 %)."),
        (10.004, "b 10.0 s (+0.04 %)."),
        (43.0, "b 43 s (4.30 times as much)."),
        (9000.0, "b 2.50 h."),
    ],
)
def test_how_far_runs_are_apart_is_told_where_it_says_something(whole, wait, told):
    runs = changed(whole, "a", mean_wait=10.0), changed(whole, "b", mean_wait=wait)
    assert f"The lowest mean wait is that of a, 10 s; {told}" in compared_words(*runs)


def test_shares_are_apart_by_percentage_points(whole):
    runs = [changed(whole, name, utilization=value) for name, value in (("a", 0.673), ("b", 0.729))]
    told = "The highest utilization is that of b, 72.9 %; a 67.3 % (-5.6 percentage points)."
    assert told in compared_words(*runs)


def test_a_run_that_rejected_more_is_the_best_only_of_what_it_accepted(whole):
    def run(name, wait, rejected):
        ran = changed(whole, name, mean_wait=wait)
        counts = ran.summary["jobs"] | {"rejected": rejected}
        ran.summary["jobs"], ran.summary["rejections"] = counts, {"larger": rejected}
        return ran

    told = compared_words(run("a", 10.0, 2), run("b", 20.0, 0))
    hedge = ", but of the jobs that it accepted: it rejected more than b did"
    assert f"The lowest mean wait is that of a, 10 s{hedge}; b 20 s (+100.0 %)." in told
    told = compared_words(run("a", 20.0, 2), run("b", 10.0, 0), run("c", 10.0, 1))
    assert (
        "of b and c, 10 s, but of c of the jobs that it accepted: it rejected more than b did"
        in told
    )
    assert "but of" not in compared_words(run("a", 10.0, 1), run("b", 20.0, 1))


def test_runs_with_unfinished_jobs_had_the_same_but_are_not_ranked(whole):
    a, b = changed(whole, "a"), changed(whole, "b", rows=range(3, 60))
    assert "The runs had different jobs" in compared_words(a, b)
    b.summary["unfinished"] = 3
    told = compared_words(a, b)
    assert "All runs had the same jobs, as far as they were finished." in told
    assert "No run is called the best: b did not finish all jobs, and its means leave" in told
    assert "The lowest" not in told
    assert "Of the 57 jobs that both completed, 0.0 % waited less under a than under b" in told


def test_no_share_is_told_of_few_jobs_that_both_completed(whole):
    a, b = changed(whole, "a"), changed(whole, "b", rows=range(31, 60))
    b.summary["unfinished"] = 31
    told = compared_words(a, b)
    assert "b: 31 jobs never finished" in told
    assert told.endswith(
        "Only 29 of 60 jobs completed under both a and b: their waits under the two say little."
    )
    b = changed(whole, "b", rows=range(30, 60))
    b.summary["unfinished"] = 30
    told = compared_words(a, b)
    assert told.index("30 jobs never finished") < told.index("Of the 30 jobs that both completed")


def test_warm_ups_that_differ_are_told(whole):
    a, b = changed(whole, "a"), changed(whole, "b")
    a.summary["parameters"] = b.summary["parameters"] | {"warmup": 7}
    told = compared_words(a, b)
    assert "Of the 53 jobs that both completed, after the warm-up, 0.0 % waited less" in told
    assert "Means are not of the same jobs: warm-ups leave out 7 of a, 0 of b." in told


@pytest.mark.parametrize(
    ("mean", "later", "told"),
    [
        (500.0, 0.9, "0.0 % longer; 100.0 % waited as long under both, to within 1 s."),
        (500.0, 1.1, "50.0 % longer; 50.0 % waited as long under both, to within 1 s."),
        (0.5, 0.1, "50.0 % longer; 50.0 % waited as long under both, to within 0.00525 s."),
        (0.0, 0.0, "0.0 % longer; 100.0 % waited as long under both."),
    ],
)
def test_waits_that_differ_by_next_to_nothing_are_alike(whole, mean, later, told):
    one, other = changed(whole, "a"), changed(whole, "b")
    for ran in (one, other):
        by = mean - (ran.jobs["start"] - ran.jobs["arrival"])
        by[::2] += later if ran is one else 0.0
        for name in ("start", "finish"):
            ran.jobs[name] += by
    assert f"0.0 % waited less under a than under b, {told}" in compared_words(one, other)


def test_jobs_of_rounds_are_the_same_whenever_a_round_begins(whole):
    later = changed(whole, "b")
    later.jobs["arrival"] += 1.0
    assert "The runs had different jobs" in compared_words(whole, later)
    for ran in (rounds := [changed(whole, "a"), later]):
        ran.summary["parameters"]["mode"] = "batch"
    assert "All runs had the same jobs." in compared_words(*rounds)
