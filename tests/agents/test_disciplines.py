"""Local schedulers of sites, under global ones and on real logs, against plain simulators."""

from __future__ import annotations

import math

import numpy as np
import pytest

from agents.disciplines import EasyScheduler, FcfsScheduler, FpfsSettings, SjfScheduler
from agents.model import GridModel
from agents.pace.predictor import Prediction
from agents.registry import global_scheduler, local_scheduler
from agents.schedulers import LocalScheduler
from agents.titan import TitanScheduler
from grid.errors import GridError
from grid.logs.workload import read_log
from grid.platform.changes import Failures
from grid.platform.multicluster import Platform
from grid.workloads.table import Table
from tests.grid.plain_site import Job, PlainSite

from .small_grids import model_of, workload

DISCIPLINES = {
    "fcfs": ("head", lambda job: 0.0),
    "fpfs": ("fpfs", lambda job: 0.0),
    "sjf": ("head", lambda job: job.expected),
    "ljf": ("head", lambda job: -job.expected),
    "easy": ("easy", lambda job: 0.0),
    "conservative": ("conservative", lambda job: 0.0),
}
FIELDS = "number", "arrival", "size", "execution_time", "predicted_time"


def assert_as_plain(records, cluster, processors, local, max_jumps=math.inf):
    """Compare the starts on a cluster to the second: here, to the bit."""
    rows = np.sort(records.rows[records["cluster"] == cluster], order=["arrival", "number"])
    service, rank = DISCIPLINES[local]
    columns = (rows[name].tolist() for name in FIELDS)
    jobs = [Job(*each) for each in zip(*columns, strict=True)]
    plain = PlainSite(processors, service, rank, max_jumps).run(jobs)
    assert [job.start for job in plain] == rows["start"].tolist()
    assert len(jobs) > 20


@pytest.mark.sampled(6)
@pytest.mark.parametrize("global_", ["dll", "round-robin", "muscle"])
@pytest.mark.parametrize("local", DISCIPLINES)
def test_two_clusters_under_a_global_scheduler(global_, local):
    platform = Platform.star([8, 6], [1.0, 1.3])
    jobs = workload(rate=0.25, count=150)
    model = model_of(global_, local, jobs, platform, prediction_error=0.6)
    model.run()
    records = model.world.log.records()
    assert model.world.state.completed == 150
    for index, cluster in enumerate(platform.clusters):
        assert_as_plain(records, index, cluster.size, local)


def test_local_max_jumps():
    outcomes = []
    for jumps in (0, 2, math.inf):
        settings = [FpfsSettings("any" if jumps == math.inf else jumps)]
        platform = Platform.star([8])
        model = model_of("dll", "fpfs", workload(rate=0.12), platform, settings=settings)
        model.run()
        assert_as_plain(model.world.log.records(), 0, 8, "fpfs", jumps)
        outcomes.append(model.world.log.records()["start"].tolist())
    assert outcomes[0] != outcomes[1] != outcomes[2]
    with pytest.raises(GridError, match=r"^local_max_jumps: found 1.5; accepted: a whole number"):
        FpfsSettings(1.5)


class FitsInPython(LocalScheduler):
    """`fpfs` as a user writes it."""

    service = "fpfs"

    def priority(self, job):
        return 0.0


class OvertakenTwice(FitsInPython):
    """With a limit of its own."""

    max_jumps = 2


@pytest.mark.parametrize(("local", "jumps"), [(FitsInPython, 1), (OvertakenTwice, 2)])
def test_local_max_jumps_is_of_all_schedulers_with_its_rule(local, jumps):
    platform = Platform.star([8])
    options = {"settings": [FpfsSettings(1)]}
    model = model_of("dll", local, workload(rate=0.12), platform, **options)
    model.run()
    assert_as_plain(model.world.log.records(), 0, 8, "fpfs", jumps)


class EasyShortestFirst(SjfScheduler):
    """EASY over another order of the queue, as a user writes it."""

    service = "easy"


class EasyInPython(EasyScheduler):
    """EASY whose order is decided in Python."""

    def priority(self, job):
        return -job.size


def test_easy_over_any_order():
    ranks = {EasyShortestFirst: lambda job: job.expected, EasyInPython: lambda job: -job.size}
    for local, rank in ranks.items():
        model = model_of("dll", local, workload(rate=0.12), Platform.star([8]))
        model.run()
        rows = np.sort(model.world.log.records().rows, order="number")
        jobs = [Job(*row[list(FIELDS)].tolist()) for row in rows]
        plain = PlainSite(8, "easy", rank).run(jobs)
        assert [job.start for job in plain] == rows["start"].tolist()


class Strange(FcfsScheduler):
    service = "best"


class PlanningEasily(TitanScheduler):
    service = "easy"


def test_a_service_that_there_is_not():
    with pytest.raises(GridError, match=r"^Strange: service: found 'best'; accepted: head, fpfs"):
        model_of("dll", Strange)
    with pytest.raises(GridError, match=r"^PlanningEasily: service: found 'easy'; accepted: head,"):
        model_of("dll", PlanningEasily)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("global_", ["dll", "muscle", "b3"])
@pytest.mark.parametrize("local", ["fpfs", "easy", "conservative"])
def test_failures_latency_and_splits(global_, local):
    outcomes = []
    for interval in (7.0, 1000.0):
        model = model_of(
            global_,
            local,
            workload(share=0.5, count=80),
            Platform.star([8, 6, 4], [1.0, 1.3, 0.7], latency=[0.1, 0.2, 0.4]),
            failures=Failures(400.0, 50.0),
            prediction_error=0.5,
            interval=interval,
            latency=0.5,
        )
        model.run()
        world = model.world
        assert world.state.completed + world.state.rejected == 80
        assert world.state.restarted > 0
        assert (world.state.free == world.state.up).all()
        outcomes.append(world.log.records().rows.tobytes())
    assert outcomes[0] == outcomes[1]


LOGS = {
    "KTH-SP2-1996-2.1-cln": 100,
    "NASA-iPSC-1993-3.1-cln": 128,
    "LANL-CM5-1994-4.1-cln": 1024,
}


def replayed(traces, name, local, count):
    """Replay the first jobs of a log, arriving closer together so that they queue."""
    table = read_log(traces / "swf" / f"{name}.swf.gz", ())
    jobs = table.jobs[:count].copy()
    jobs["arrival"] = np.floor(jobs["arrival"] / 2)
    requested = np.isfinite(jobs["requested_time"]).all()
    model = GridModel(
        Platform.star([LOGS[name]]),
        Table(jobs),
        global_scheduler("dll"),
        local_scheduler(local),
        interval=1e6,
        settings=[Prediction("requested" if requested else "exact")],
    )
    model.run()
    assert model.world.state.completed == count
    assert_as_plain(model.world.log.records(), 0, LOGS[name], local)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", LOGS)
@pytest.mark.parametrize("local", DISCIPLINES)
def test_the_beginning_of_a_real_log(traces, name, local):
    replayed(traces, name, local, 250)


@pytest.mark.slow
@pytest.mark.parametrize("name", LOGS)
@pytest.mark.parametrize("local", [each for each in DISCIPLINES if each != "conservative"])
def test_a_real_log(traces, name, local):
    replayed(traces, name, local, 10_000)
