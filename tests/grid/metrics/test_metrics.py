import math
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grid.errors import GridError
from grid.kernel.dtypes import FINISHED
from grid.kernel.state import NONE
from grid.metrics.job_totals import Tally
from grid.metrics.of_rounds import Rounds, round_performance, run_performance
from grid.metrics.of_run import cluster_metrics, job_metrics
from grid.metrics.performance import (
    Weights,
    comprehensive_performance,
    mean_comprehensive_performance,
    performance_balance,
)
from grid.platform.multicluster import Platform
from grid.world.finished import Records, last
from grid.world.records import bounded_slowdown, jobs_table

PLATFORM = Platform.star([4, 2, 3], [1.0, 2.0, 1.0])
PROCESSORS = 9
WEIGHTS = [Weights(4, 3, 1), Weights(1, 1, 1), Weights(0, 1, 0)]


def record(number, arrival, start, finish, take, deadline=math.inf, origin=-1, restarts=0):
    """Return a job on `take` processors of each cluster, as records; a rejected one takes none."""
    row = np.zeros(1, FINISHED)
    used = [index for index, count in enumerate(take) if count]
    row["number"], row["arrival"], row["start"], row["finish"] = number, arrival, start, finish
    row["size"] = sum(take) or 99
    row["execution_time"] = finish - start
    row["predicted_time"] = (finish - start) * (2.0 if number == 1 else 0.5)
    row["deadline"], row["origin"], row["restarts"] = deadline, origin, restarts
    row["cluster"] = used[0] if len(used) == 1 else -1
    row["split"] = 0 if len(used) > 1 else NONE
    # What stands there must not count unless the job is co-allocated.
    return Records(row, np.array([take if len(used) > 1 else (7, 7, 7)], np.int32))


def together(*records):
    return last(records, len(records))


def tally(records):
    return Tally.of(records, PLATFORM)


def rejected(number, arrival):
    return record(number, arrival, math.nan, math.nan, (0, 0, 0))


def run():
    """Two jobs on C1, one on C2, one across C1 and C3, one rejected; in order of leaving."""
    return together(
        rejected(3, 1.0),
        record(1, 0.0, 0.0, 4.0, (3, 0, 0), deadline=5.0, origin=1),
        record(2, 0.0, 1.0, 21.0, (0, 2, 0), deadline=16.0, restarts=1),
        record(5, 2.0, 4.0, 24.0, (1, 0, 0)),
        record(4, 2.0, 10.0, 30.0, (2, 0, 3), deadline=20.0),
    )


def test_table_has_a_row_a_job_in_order_of_arrival_and_number():
    table = jobs_table(run(), PLATFORM)
    assert table["job"].tolist() == [1, 2, 3, 4, 5]
    assert table["placement"].tolist() == ["C1:3", "C2:2", "", "C1:2+C3:3", "C1:1"]
    assert table["cluster"].tolist() == ["C1", "C2", "", "", "C1"]
    assert table["origin"].tolist() == ["C2", "", "", "", ""]
    assert table["restarts"].tolist() == [0, 1, 0, 0, 0]
    left = table[table["job"] != 3]
    assert left["wait"].tolist() == [0.0, 1.0, 8.0, 2.0]
    assert left["turnaround"].tolist() == [4.0, 21.0, 28.0, 22.0]
    assert left["bounded_slowdown"].tolist() == [1.0, 21 / 20, 28 / 20, 22 / 20]
    assert left["over_deadline"].iloc[:3].tolist() == [0.0, 5.0, 10.0]
    assert math.isnan(left["over_deadline"].iloc[3])  # without a deadline nothing is late, or not
    gone = table[table["job"] == 3].iloc[0]
    times = ("execution_time", "predicted_time", "wait", "turnaround", "over_deadline")
    for column in ("start", "finish", *times):
        assert math.isnan(gone[column])


def test_numbers_of_a_run_by_hand():
    metrics = job_metrics(tally(run()))
    work = 3 * 4 + 2 * 20 + 20 + 5 * 20
    assert metrics == pytest.approx(
        {
            "mean_wait": 11 / 4,
            "p95_wait": 2 + 0.85 * 6,
            "max_wait": 8.0,
            "mean_turnaround": 75 / 4,
            "mean_bounded_slowdown": (1 + 1.05 + 1.4 + 1.1) / 4,
            "p95_bounded_slowdown": 1.1 + 0.85 * 0.3,
            "over_deadline": 15.0,
            "deadlines_met": 1 / 3,
            "coallocated": 1 / 4,
            "mean_penalty": 1.0,
            "migrated": 1.0,
            "mean_staging": 0.0,
            "mean_prediction_error": (1 + 3 * 0.5) / 4,
            "prediction_accuracy": 0.5,
            "makespan": 30.0,
            "work": work,
            "idle_time_total": PROCESSORS * 30 - work,
            "idle_time_mean": 30 - work / PROCESSORS,
            "utilization": work / (PROCESSORS * 30),
            "throughput": 4 / 30,
            "gini_wait": 0.0,
            "gini_slowdown": 0.0,
        }
    )


def test_the_penalty_is_a_mean_of_ratios_over_split_jobs():
    split = [record(number, 0.0, 0.0, 12.0, (2, 1, 0)) for number in (1, 2, 3)]
    records = together(*split, record(4, 0.0, 0.0, 9.0, (1, 0, 0)))
    records["execution_time"][:] = [10.0, 6.0, 0.0, 3.0]
    metrics = job_metrics(tally(records))
    assert metrics["mean_penalty"] == pytest.approx((1.2 + 2.0) / 2)  # no time, no ratio
    assert metrics["coallocated"] == 3 / 4


def test_no_rounding_makes_the_penalty_less_than_none():
    late = record(1, 0.0, 1e8, 1e8 + 0.1, (2, 1, 0))
    records = together(late)
    records["execution_time"][:] = 0.1
    assert late.rows["finish"][0] - late.rows["start"][0] < 0.1
    assert job_metrics(tally(records))["mean_penalty"] == 1.0


def test_no_rounding_makes_a_penalty():
    records = together(record(1, 0.0, 1e5, 1e5 + 0.6, (2, 1, 0)))
    records["execution_time"][:] = 0.6
    assert records["finish"][0] - records["start"][0] > 0.6
    assert job_metrics(tally(records))["mean_penalty"] == 1.0


def test_staging_is_apart_from_the_penalty():
    records = together(
        record(1, 0.0, 0.0, 12.0, (2, 1, 0), origin=0),
        record(2, 0.0, 0.0, 9.0, (1, 0, 0), origin=0),
        record(3, 0.0, 0.0, 9.0, (0, 1, 0), origin=0),
        record(4, 0.0, 0.0, 9.0, (0, 1, 0)),
    )
    records["execution_time"][0], records["staging"][:] = 9.0, [4.0, 0.0, 1.0, 0.0]
    metrics = job_metrics(tally(records))
    assert metrics["mean_penalty"] == pytest.approx((12 - 4) / (9 - 4))
    assert metrics["migrated"] == pytest.approx(2 / 3)
    assert metrics["mean_staging"] == pytest.approx(2.5)
    unmoved = job_metrics(tally(records[records["origin"] < 0]))
    assert (unmoved["migrated"], unmoved["mean_staging"]) == (None, None)


def test_staging_makes_a_slowdown_greater():
    """Were it a part of what turnaround is compared with, slow links would slow nothing down."""
    records = record(1, 0.0, 0.0, 100.0, (2, 0, 0))
    records["execution_time"][:], records["staging"][:] = 100.0, 80.0
    assert job_metrics(tally(records))["mean_bounded_slowdown"] == pytest.approx(100 / 20)
    assert bounded_slowdown(records).tolist() == pytest.approx([100 / 20])


def test_clusters_count_their_parts_of_co_allocated_jobs():
    c1, c2, c3 = cluster_metrics(tally(run()))
    assert c1 == pytest.approx(
        {
            "name": "C1",
            "size": 4,
            "rate": 1.0,
            "jobs": 3,
            "mean_prediction_error": 2 / 3,
            "prediction_accuracy": 0.5,
            "mean_wait": 10 / 3,
            "max_wait": 8.0,
            "mean_turnaround": (4 + 22 + 28) / 3,
            "mean_bounded_slowdown": (1 + 1.1 + 1.4) / 3,
            "over_deadline": 10.0,
            "deadlines_met": 1 / 2,
            "makespan": 30.0,
            "work": 12 + 20 + 40,
            "idle_time_total": 4 * 30 - 72,
            "idle_time_mean": 30 - 72 / 4,
            "utilization": 72 / (4 * 30),
        }
    )
    assert (c2["jobs"], c2["makespan"], c2["work"], c2["idle_time_total"]) == (1, 20.0, 40.0, 0.0)
    assert (c3["jobs"], c3["makespan"], c3["work"], c3["over_deadline"]) == (1, 20.0, 60.0, 10.0)
    assert c2["utilization"] == pytest.approx(20 / 30)
    assert (c2["mean_turnaround"], c2["max_wait"], c2["deadlines_met"]) == (21.0, 1.0, 0.0)
    assert (c3["mean_turnaround"], c3["max_wait"], c3["deadlines_met"]) == (28.0, 8.0, 0.0)


def test_performance_of_the_run_as_one_round():
    rounds = run_performance(tally(run()), WEIGHTS, "total")
    cps = [
        comprehensive_performance(10.0, 30.0, 48.0, WEIGHTS[0]),
        comprehensive_performance(5.0, 20.0, 0.0, WEIGHTS[1]),
        20.0,
    ]
    assert rounds.dispatched.tolist() == [0.0]
    assert rounds.jobs.tolist() == [[3, 1, 1]]
    assert rounds.cps[0] == pytest.approx(cps)
    mean = run_performance(tally(run()), WEIGHTS, "mean").cps[0, 0]
    assert mean == pytest.approx(comprehensive_performance(10.0, 30.0, 12.0, WEIGHTS[0]))


def test_rounds_by_hand():
    records = together(
        record(1, 0.0, 0.0, 4.0, (4, 0, 0), deadline=3.0),
        rejected(2, 4.0),  # a round of its own would take no time
        record(3, 4.0, 5.0, 9.0, (0, 1, 0)),
        record(4, 4.0, 4.0, 10.0, (0, 0, 3), deadline=9.0),
        record(5, 4.0, 9.0, 11.0, (0, 2, 0), deadline=10.0),
    )
    rounds = round_performance(records, PLATFORM, [Weights(4, 3, 1)] * 3, "total")
    assert rounds.dispatched.tolist() == [0.0, 4.0]
    assert rounds.jobs.tolist() == [[1, 0, 0], [0, 2, 1]]
    # C2 makes 7 s from the dispatch to its last finish, 14 processor-seconds of which 8 work.
    assert rounds.cps.tolist() == [
        [(4 * 1 + 3 * 4) / 8, 0.0, 0.0],
        [0.0, (4 * 1 + 3 * 7 + 1 * 6) / 8, (4 * 1 + 3 * 6) / 8],
    ]
    mean = round_performance(records, PLATFORM, [Weights(4, 3, 1)] * 3, "mean")
    assert mean.cps[1, 1] == (4 * 1 + 3 * 7 + 1 * 3) / 8


times = st.floats(0, 1e6)


@st.composite
def runs(draw):
    rows = []
    for number in range(draw(st.integers(1, 8))):
        arrival = draw(st.sampled_from([0.0, 1e6, 2e6]))
        if draw(st.booleans()) and number:
            rows.append(rejected(number, arrival))
            continue
        take = draw(st.tuples(st.integers(0, 4), st.integers(0, 2), st.integers(0, 3)).filter(any))
        start = arrival + draw(times)
        finish = start + draw(st.floats(0.1, 1e5))
        rows.append(record(number, arrival, start, finish, take, arrival + draw(times)))
    return together(*rows)


@given(runs())
def test_clusters_add_up_to_the_grid(records):
    metrics, clusters = job_metrics(tally(records)), cluster_metrics(tally(records))
    assert sum(row["work"] for row in clusters) == pytest.approx(metrics["work"])
    used = statistics.fmean([row["utilization"] for row in clusters], PLATFORM.sizes.tolist())
    assert used == pytest.approx(metrics["utilization"])
    for row in clusters:
        if row["jobs"]:
            idle = row["size"] * row["makespan"] - row["work"]
            assert row["idle_time_total"] == pytest.approx(max(0.0, idle), abs=1e-3)
            assert row["idle_time_mean"] * row["size"] == pytest.approx(row["idle_time_total"])


SERVICE = (
    "mean_wait",
    "max_wait",
    "mean_turnaround",
    "mean_bounded_slowdown",
    "over_deadline",
    "deadlines_met",
)


@given(runs())
def test_a_cluster_is_judged_as_a_grid_of_its_jobs_alone(records):
    for index, row in enumerate(cluster_metrics(tally(records))):
        uses = np.array(
            [
                job["cluster"] == index
                or (job["split"] != NONE and records.takes[job["split"], index] > 0)
                for job in records
            ]
        )
        alone = job_metrics(tally(records[uses]))
        assert {key: row[key] for key in SERVICE} == pytest.approx(
            {key: alone[key] for key in SERVICE}
        )
        assert row["jobs"] == uses.sum()


@given(runs(), st.sampled_from(["total", "mean"]))
def test_rounds_against_one_at_a_time(records, idle):
    rounds = round_performance(records, PLATFORM, WEIGHTS, idle)
    done = records[~np.isnan(records["start"])]
    assert rounds.dispatched.tolist() == sorted(set(done["arrival"].tolist()))
    for index, dispatched in enumerate(rounds.dispatched):
        jobs = done[done["arrival"] == dispatched]
        for cluster, size in enumerate(PLATFORM.sizes):
            work = late = makespan = count = 0
            for job in jobs:
                alone = job["size"] if job["cluster"] == cluster else 0
                split = job["split"] != NONE
                part = records.takes[job["split"], cluster] if split else alone
                if part:
                    count += 1
                    work += part * (job["finish"] - job["start"])
                    late += max(0.0, job["finish"] - job["deadline"])
                    makespan = max(makespan, job["finish"] - dispatched)
            idle_time = max(0.0, size * makespan - work) / (size if idle == "mean" else 1)
            expected = comprehensive_performance(late, makespan, idle_time, WEIGHTS[cluster])
            assert rounds.jobs[index, cluster] == count
            assert rounds.cps[index, cluster] == pytest.approx(expected, abs=1e-6)


@given(
    st.lists(
        st.lists(st.tuples(st.floats(0, 1e6), st.integers(0, 9)), min_size=3, max_size=3),
        min_size=1,
        max_size=4,
    )
)
def test_mcp_and_pb_of_rounds_are_those_of_each_round(table):
    cps = np.array([[cp for cp, _ in row] for row in table])
    jobs = np.array([[count for _, count in row] for row in table])
    rounds = Rounds(np.arange(len(table), dtype=float), jobs, cps)
    assert rounds.mcp() == pytest.approx(
        [mean_comprehensive_performance(*row) for row in zip(cps, jobs, strict=True)]
    )
    assert rounds.pb() == pytest.approx(
        [performance_balance(*row) for row in zip(cps, jobs, strict=True)], abs=1e-6
    )


def test_one_cluster_is_balanced_and_an_unknown_cp_is_told():
    assert Rounds(np.zeros(1), np.ones((1, 1), int), np.full((1, 1), 5.0)).pb().tolist() == [0.0]
    unknown = Rounds(np.zeros(2), np.ones((2, 2), int), np.array([[1.0, math.nan], [1.0, 3.0]]))
    assert np.isnan(unknown.mcp()).tolist() == np.isnan(unknown.pb()).tolist() == [True, False]
    assert unknown.means() == (2.0, math.sqrt(2.0), [1.0, 3.0])
    assert unknown._replace(cps=np.full((2, 2), math.nan)).means() == (None, None, [None, None])


@pytest.mark.parametrize("count", [0, 2])
def test_without_a_completed_job_numbers_are_none(count):
    records = together(run()[:0], *[rejected(number, 3.0) for number in range(count)])
    assert len(jobs_table(records, PLATFORM)) == count
    metrics = job_metrics(tally(records))
    assert list(metrics) == list(job_metrics(tally(run())))
    assert {name: value for name, value in metrics.items() if value is not None} == {"work": 0.0}
    for row in cluster_metrics(tally(records)):
        assert (row["jobs"], row["work"], row["makespan"], row["utilization"]) == (0, 0, None, None)
    for rounds in (
        round_performance(records, PLATFORM, WEIGHTS, "mean"),
        run_performance(tally(records), WEIGHTS, "mean"),
    ):
        assert rounds.cps.shape == rounds.jobs.shape == (0, 3)
        assert len(rounds.mcp()) == len(rounds.pb()) == 0
        assert rounds.means() == (None, None, [None] * 3)


def test_one_job_without_a_deadline():
    records = record(1, 5.0, 5.0, 8.0, (4, 0, 0))
    metrics = job_metrics(tally(records))
    assert metrics["deadlines_met"] is metrics["over_deadline"] is None
    assert metrics["coallocated"] == 0.0
    assert metrics["mean_penalty"] is None
    assert metrics["p95_wait"] == metrics["max_wait"] == 0.0
    assert metrics["utilization"] == pytest.approx(4 / 9)
    second = cluster_metrics(tally(records))[1]
    assert [second[key] for key in SERVICE] == [None] * 6


def test_unknown_idle_time_is_refused():
    with pytest.raises(GridError, match="idle: found 'median'; accepted are total, mean"):
        round_performance(run(), PLATFORM, WEIGHTS, "median")
