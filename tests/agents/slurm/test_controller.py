"""Whole runs under Slurm: starts worked out by hand, and what holds of all."""

from __future__ import annotations

import dataclasses
import io
import pickle
from random import Random

import numpy as np
import pytest

from agents.slurm.controller import SlurmSettings
from agents.wiring import reconnect
from grid.errors import GridError
from grid.jobs import job_table
from grid.logs.calendar import read
from grid.platform.changes import Change
from grid.platform.multicluster import Platform
from grid.workloads.table import Table
from grid.world.pickling import Pickler
from tests.agents.small_grids import OUTCOME, done, model_of, ran, table


def jobs_of(*rows):
    """Return jobs of arrival, size, run time and limit, and perhaps partition, user and QOS."""
    jobs = job_table(len(rows))
    names = ("arrival", "size", "runtime", "requested_time", "partition", "user", "qos")
    for job, values in zip(jobs, rows, strict=True):
        for name, value in zip(names, values, strict=False):
            job[name] = value
    return jobs


def written(tmp_path, conf):
    path = tmp_path / "slurm.conf"
    path.write_text(conf)
    return str(path)


def given(
    jobs, conf="", platform=None, partitions=(), start=None, renamed=None, qos="", names=(), **more
):
    """Return what a model under Slurm is made of."""
    settings = SlurmSettings(slurm_conf=conf, slurm_partitions=renamed or {}, slurm_qos=qos)
    filed = {"partition": partitions, "qos": names}
    table = Table(jobs, filed=filed, start=None if start is None else read(start))
    return {
        "global_": "dll",
        "local": "slurm",
        "jobs": table,
        "platform": platform or Platform.star([4]),
        "settings": [settings],
        "prediction": "requested",
        **more,
    }


def starts(*arguments, **options):
    return done(ran(**given(*arguments, **options)))["start"].tolist()


def reasons(model):
    """Return why jobs that wait on the only cluster never start."""
    waiting = model.world.jobs.waiting(0).tolist()
    return [model.clusters[0].scheduler.hindrance(slot) for slot in waiting]


def test_backfilling_at_its_intervals():
    jobs = jobs_of(
        (0, 3, 600, 600),
        (10, 4, 100, 100),  # planned for 600
        (20, 1, 300, 300),  # before that; the main loop does not come to it, backfilling does
        (25, 1, 300, 600),  # would delay the second job: it was to end at 930
    )
    assert starts(jobs) == [0, 600, 30, 700]


def test_without_backfilling_the_first_holds_all_back(tmp_path):
    jobs = jobs_of((0, 3, 600, 600), (10, 4, 100, 100), (20, 1, 300, 300))
    conf = written(tmp_path, "SchedulerType=sched/builtin\n")
    assert starts(jobs, conf) == [0, 600, 700]


def test_main_loops_are_apart(tmp_path):
    jobs = jobs_of((0, 1, 60, 60), (1, 1, 60, 60), (2, 1, 60, 60), (7, 1, 60, 60))
    builtin = "SchedulerType=sched/builtin\n"
    assert starts(jobs, written(tmp_path, builtin)) == [0, 3, 3, 7]
    without = written(tmp_path, builtin + "SchedulerParameters=batch_sched_delay=0\n")
    assert starts(jobs, without) == [0, 1, 2, 7]


def test_limits_are_whole_minutes():
    # To run for 61 s is to run for two minutes: beyond 119 s, when the head of the queue starts.
    jobs = jobs_of((0, 3, 119, 119), (1, 4, 60, 60), (2, 1, 61, 61), (2, 1, 50, 60))
    assert starts(jobs) == [0, 119, 179, 30]


PRIORITIES = """
PriorityType=priority/multifactor
PriorityWeightPartition=1000
PriorityWeightJobSize=10
PartitionName=low Default=YES Nodes=ALL
PartitionName=high PriorityJobFactor=5
PartitionName=top PriorityTier=2
"""


def test_order_by_tier_then_priority_then_time(tmp_path):
    busy = (0, 4, 100, 100)
    waiting = [(10, 4, 60, 60, part) for part in (-1, 0, 1, 2, 1)]
    conf = written(tmp_path, PRIORITIES)
    found = starts(jobs_of(busy, *waiting), conf, partitions=("low", "high", "top"))
    # top, then the two of high, then those of low, which is the default
    assert found == [0, 280, 340, 160, 100, 220]


def test_larger_jobs_first(tmp_path):
    conf = written(tmp_path, PRIORITIES)
    jobs = jobs_of((0, 4, 100, 100), (1, 2, 60, 60), (1, 3, 60, 60), (1, 4, 60, 60))
    assert starts(jobs, conf) == [0, 220, 160, 100]


def test_age_counts_more_with_time(tmp_path):
    conf = written(
        tmp_path,
        "PriorityType=priority/multifactor\nPriorityWeightAge=1000\nPriorityMaxAge=10\n"
        "PriorityWeightPartition=500\nPriorityCalcPeriod=1\n"
        "PartitionName=low Default=YES\nPartitionName=high PriorityJobFactor=2\n",
    )
    # What high has before low, 250, is what 150 s of age bring.
    late = jobs_of((0, 4, 600, 600), (1, 4, 60, 60, 0), (100, 4, 60, 60, 1))
    later = jobs_of((0, 4, 600, 600), (1, 4, 60, 60, 0), (200, 4, 60, 60, 1))
    assert starts(late, conf, partitions=("low", "high")) == [0, 660, 600]
    assert starts(later, conf, partitions=("low", "high")) == [0, 600, 660]


@pytest.mark.parametrize("flags", ["", "PriorityFlags=NO_FAIR_TREE\n"])
def test_users_who_have_used_less_go_first(tmp_path, flags):
    conf = written(
        tmp_path,
        "PriorityType=priority/multifactor\nPriorityWeightFairShare=1000\n"
        f"PriorityCalcPeriod=1\n{flags}",
    )
    rows = [(0, 4, 600, 600, -1, 1), (1, 4, 60, 60, -1, 1), (2, 4, 60, 60, -1, 2)]
    assert starts(jobs_of(*rows), conf) == [0, 660, 600]


NODES = """
NodeName=a CPUs=4
NodeName=b CPUs=4
PartitionName=both Default=YES Nodes=ALL
PartitionName=one Nodes=a MaxTime=10
"""


def test_partitions_have_nodes_of_their_own(tmp_path):
    conf, eight = written(tmp_path, NODES), Platform.star([8])
    jobs = jobs_of((0, 3, 300, 300, 1), (1, 2, 60, 60, 1), (2, 5, 60, 60, 0), (3, 2, 60, 60, 0))
    found = done(ran(**given(jobs, conf, eight, partitions=("both", "one"))))
    # Node a has one processor left: the second waits for it, and so, in the main loop, do all on
    # node a; the third gets it and node b in backfilling, for 60 s end before 300.
    assert found["start"].tolist() == [0, 300, 30, 90]


def test_reservations_are_of_whole_nodes(tmp_path):
    conf = written(tmp_path, NODES)
    jobs = jobs_of((0, 7, 600, 600), (1, 5, 60, 60), (2, 1, 600, 660))
    # The last would end beyond 600 s, on a processor that the second has no need of, of its node.
    assert starts(jobs, conf, Platform.star([8])) == [0, 600, 600]


def test_maintenance_keeps_nodes_free(tmp_path):
    conf = written(
        tmp_path,
        NODES + "ReservationName=r StartTime=2024-03-01T00:10:00 EndTime=2024-03-01T01:00:00\n"
        "   Nodes=a\n",
    )
    jobs = jobs_of((0, 4, 540, 540), (0, 4, 660, 660), (1, 8, 60, 60))
    model = ran(**given(jobs, conf, Platform.star([8]), start="2024-03-01T00:00:00"))
    # The second job gets node b, for it would last beyond 600 s; the third waits for the end.
    assert done(model)["start"].tolist() == [0, 0, 3600]


@pytest.mark.parametrize("plugin", ["backfill", "builtin"])
def test_the_end_of_a_reservation_is_looked_for(tmp_path, plugin):
    """Nothing else happens until then, and it is further than backfilling plans."""
    conf = written(
        tmp_path,
        f"SchedulerType=sched/{plugin}\n{NODES}"
        "ReservationName=r StartTime=2024-03-01T00:00:00 EndTime=2024-03-05T00:00:00 Nodes=a,b\n",
    )
    model = ran(
        **given(jobs_of((0, 2, 60, 60)), conf, Platform.star([8]), start="2024-03-01T00:00:00")
    )
    assert done(model)["start"].tolist() == [4 * 86400]


def test_reservations_need_dates(tmp_path):
    conf = written(
        tmp_path, NODES + "ReservationName=r StartTime=2024-03-01T00:10:00 EndTime=someday\n"
    )
    with pytest.raises(GridError, match="no date at which the workload begins"):
        model_of(**given(jobs_of((0, 1, 1, 1)), conf, Platform.star([8])))
    with pytest.raises(GridError, match="conf:6: EndTime: found 'someday'; accepted: a date"):
        model_of(
            **given(jobs_of((0, 1, 1, 1)), conf, Platform.star([8]), start="2024-03-01T00:00:00")
        )


QUALITIES = """\
Name|Priority|GrpTRES|GrpJobs|MaxTRES|MaxWall|MaxTRESPU|MaxJobsPU|Flags
normal|0|||cpu=3|||2|
urgent|10|cpu=2,node=1|||00:10:00|||DenyOnLimit
"""


def test_limits_of_qualities_of_service(tmp_path):
    path = tmp_path / "qos"
    path.write_text(QUALITIES)
    rows = [(0, 1, 60, 60, -1, user, 0) for user in (1, 1, 1, 2)]
    rows += [(0, 1, 300, 300, -1, 1, 1), (0, 2, 60, 60, -1, 2, 1), (0, 1, 60, 900, -1, 3, 1)]
    setup = {"qos": str(path), "names": ("normal", "urgent"), "platform": Platform.star([9])}
    # Two jobs of user 1 at once; two processors of urgent ones; the last asks for too long.
    found = done(ran(**given(jobs_of(*rows), **setup)))
    assert found["number"].tolist() == [1, 2, 3, 4, 5, 6]
    assert found["start"].tolist() == [0, 0, 60, 0, 0, 300]
    # One of 4 processors is too large for normal, and never starts.
    large = ran(**given(jobs_of((0, 4, 60, 60, -1, 1, 0)), **setup))
    assert len(done(large)) == 0
    assert reasons(large) == ["the size is above that of QOS normal"]


def test_urgent_jobs_go_first(tmp_path):
    path = tmp_path / "qos"
    path.write_text(QUALITIES)
    conf = written(tmp_path, "PriorityType=priority/multifactor\nPriorityWeightQOS=100\n")
    jobs = jobs_of((0, 2, 90, 90), (1, 2, 60, 60, -1, 1, 0), (2, 2, 60, 60, -1, 1, 1))
    setup = {"qos": str(path), "names": ("normal", "urgent"), "platform": Platform.star([2])}
    assert starts(jobs, conf, **setup) == [0, 150, 90]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "qos:1: found ''; accepted: what sacctmgr -P show qos prints, with its names"),
        ("Name|Priority\nnormal", "qos:2: found 1 cells; accepted: 2, as names"),
        ("Name|Priority\nnormal|x", "qos:2: Priority: found 'x'"),
        ("Name|MaxWall\nnormal|x", "qos:2: MaxWall: found 'x'"),
        ("Name\nother\n", "QOS 'normal' of the workload is none of its own"),
    ],
)
def test_qualities_that_are_refused(tmp_path, text, message):
    path = tmp_path / "qos"
    path.write_text(text)
    with pytest.raises(GridError) as refused:
        model_of(**given(jobs_of((0, 1, 1, 1, -1, 1, 0)), qos=str(path), names=("normal",)))
    assert message in str(refused.value)
    assert str(refused.value).startswith("slurm_qos: ")


def test_a_job_whose_limit_ends_as_a_reservation_begins_starts(tmp_path):
    closed = (
        "ReservationName=m StartTime=2024-03-01T01:00:00 EndTime=2024-03-01T02:00:00 Nodes=ALL\n"
    )
    rows = [(0, 4, 1800, 3540), (0, 4, 1800, 3600), (10, 8, 1800, 3600)]
    setup = given(
        jobs_of(*rows), written(tmp_path, NODES + closed), Platform.star([8]),
        start="2024-03-01T00:00:00",
    )  # fmt: skip
    assert done(ran(**setup))["start"].tolist() == [0, 0, 7200]


def test_refusals_of_partitions_and_nodes(tmp_path):
    conf, eight = written(tmp_path, NODES), Platform.star([8])
    jobs = jobs_of((0, 1, 60, 60, 0))
    with pytest.raises(GridError, match="partition 'gpu' of the workload is none of its own"):
        model_of(**given(jobs, conf, eight, partitions=("gpu",)))
    model_of(**given(jobs, conf, eight, partitions=("gpu",), renamed={"gpu": "one"}))
    model_of(**given(jobs, conf, eight, partitions=("gpu,one",)))
    with pytest.raises(GridError, match="slurm_partitions: gpu: found 'two'"):
        model_of(**given(jobs, conf, eight, partitions=("gpu",), renamed={"gpu": "two"}))
    with pytest.raises(GridError, match="found nodes of 8 CPUs for cluster C1 of 4 processors"):
        model_of(**given(jobs, conf))
    none = written(tmp_path, "PartitionName=a\n")
    with pytest.raises(GridError, match="no partition with Default=YES"):
        model_of(**given(jobs_of((0, 1, 60, 60)), none))
    with pytest.raises(GridError, match=r"slurm_conf: nowhere: No such file"):
        model_of(**given(jobs, "nowhere"))


def at_random(seed, count=80):
    random = np.random.default_rng(seed)
    arrivals = np.sort(random.integers(0, 40 * count, count))
    runtimes = random.exponential(300, count).round() + 1
    rows = zip(
        arrivals, random.integers(1, 9, count), runtimes, runtimes * random.integers(1, 4, count),
        random.integers(-1, 1, count), random.integers(0, 4, count), strict=True,
    )  # fmt: skip
    return jobs_of(*rows)


EVERYTHING = (
    PRIORITIES.replace("PartitionName=low Default=YES", "PartitionName=low Default=YES MaxNodes=2")
    + "PriorityWeightAge=100\nPriorityWeightFairShare=100\nPriorityCalcPeriod=1\n"
    "NodeName=n[1-2] CPUs=3\nNodeName=m CPUs=2 Weight=2\n"
)


@pytest.mark.thorough
def test_all_jobs_run_and_no_processor_runs_two(tmp_path):
    conf = written(tmp_path, EVERYTHING)
    for seed in range(4):
        jobs = at_random(seed, 30)
        jobs["size"] = np.minimum(jobs["size"], 5)  # of two nodes
        model = ran(**given(jobs, conf, Platform.star([8]), partitions=("low",)))
        records = done(model)
        assert len(records) == len(jobs)
        at = np.concatenate([records["start"], records["finish"]])
        change = np.concatenate([records["size"], -records["size"]])
        assert np.cumsum(change[np.lexsort((change, at))]).max() <= 8
        assert (records["start"] >= records["arrival"]).all()


def test_of_equal_priority_and_equal_jobs_the_earlier_starts_first():
    jobs = at_random(5)
    jobs["size"], jobs["requested_time"] = 3, 6000.0
    found = starts(jobs)
    assert found == sorted(found)


@pytest.mark.thorough
def test_processors_that_fail_and_come_back(tmp_path):
    conf = written(tmp_path, EVERYTHING)
    changes = (Change("C1", "fail", 500.0, 900.0, 3), Change("C1", "drain", 2000.0, 2500.0, 2))
    platform = dataclasses.replace(Platform.star([8]), changes=changes)
    jobs = at_random(7)
    jobs["size"] = np.minimum(jobs["size"], 5)
    records = done(ran(**given(jobs, conf, platform, partitions=("low",))))
    assert len(records) == len(jobs)


@pytest.mark.thorough
def test_below_several_clusters_and_muscle():
    jobs = at_random(3)
    two = Platform.star([8, 8])
    for name in ("dll", "muscle"):
        records = done(ran(**given(jobs, platform=two) | {"global_": name}))
        assert len(records) == len(jobs)
        assert set(records["cluster"].tolist()) == {0, 1}


def test_ends_that_come_early_or_late_stop_no_loop_below_muscle():
    draw = Random(0)
    rows = [(float(k), 1 + draw.randrange(4), 5.0 + draw.randrange(7)) for k in range(8)]
    model = ran("muscle", "slurm", table(*rows), Platform.star([4, 4]), prediction_error=0.5)
    assert len(done(model)) == len(rows)


@pytest.mark.thorough
def test_goes_on_from_a_pickle(tmp_path):
    conf = written(tmp_path, EVERYTHING)
    jobs = at_random(9)
    jobs["size"] = np.minimum(jobs["size"], 5)
    setup = given(jobs, conf, Platform.star([8]), partitions=("low",))
    whole = done(ran(**setup))[list(OUTCOME)]
    model = model_of(**setup)
    for _ in range(20):
        model.step()
    buffer = io.BytesIO()
    Pickler(buffer).dump(model)
    written(tmp_path, "")  # it goes on under what it has read
    again = pickle.loads(buffer.getvalue())
    reconnect(again, again.scheduler, again.clusters)
    again.run()
    assert (done(again)[list(OUTCOME)] == whole).all()
