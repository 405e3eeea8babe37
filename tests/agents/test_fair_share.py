"""Fair share with every way of service, against a plain simulator that knows nothing of levels."""

from __future__ import annotations

import io
import math
import pickle
from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pytest

from agents.disciplines import FairShareScheduler, FairShareSettings
from agents.model import GridModel
from agents.pace.predictor import Prediction
from agents.registry import global_scheduler
from agents.schedulers import LocalScheduler, PlanningScheduler
from agents.wiring import reconnect
from experiments.scenario.scenario import Scenario
from grid.errors import GridError
from grid.jobs import UNKNOWN, job_table
from grid.logs.workload import read_log
from grid.platform.changes import Change, Failures
from grid.platform.multicluster import Platform
from grid.workloads.table import Table
from grid.world.pickling import Pickler
from tests.grid.plain_site import Job, PlainSite


class Fpfs(FairShareScheduler):
    service = "fpfs"


class Easy(FairShareScheduler):
    service = "easy"


class Conservative(FairShareScheduler):
    service = "conservative"


SERVICES = {
    "head": FairShareScheduler,
    "fpfs": Fpfs,
    "easy": Easy,
    "conservative": Conservative,
}


def jobs_of(seed, count=120, users=5):
    rng = np.random.default_rng(seed)
    jobs = job_table(count)
    jobs["arrival"] = np.sort(rng.integers(0, 6 * count, count))
    jobs["size"] = rng.integers(1, 9, count)
    jobs["runtime"] = rng.exponential(12, count) + 0.1
    jobs["user"] = rng.integers(UNKNOWN, users, count) ** 3
    return jobs


def model_of(jobs, local, sizes=(8,), settings=None, **more):
    settings = settings or FairShareSettings(half_life=200.0)
    return GridModel(
        sizes if isinstance(sizes, Platform) else Platform.star([*sizes]),
        Table(jobs),
        global_scheduler(more.pop("global_", "dll")),
        local,
        interval=1e6,
        settings=[settings, *more.pop("kinds", ())],
        **more,
    )


def plain_starts(rows, processors, service, settings):
    """Return starts when usage is summed up anew, over all jobs, whenever the queue is served."""
    columns = ("number", "arrival", "size", "execution_time", "predicted_time")
    jobs = [Job(*each) for each in zip(*(rows[name].tolist() for name in columns), strict=True)]
    of = dict(zip(map(id, jobs), rows["user"].tolist(), strict=True))

    def usage(job):
        used = []
        for each in jobs:
            if of[id(each)] == of[id(job)] and each.start <= site.now:
                ended = each.start + each.time <= site.now
                time = each.time if ended else each.expected
                used.append(each.size * time * 2 ** ((each.start - site.now) / settings.half_life))
        return math.fsum(used) / settings.shares.get(of[id(job)], 1.0)

    site = PlainSite(processors, service, usage)
    site.run(jobs)
    return [job.start for job in jobs]


@pytest.mark.sampled(11)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("half_life", [30.0, 1e5])
@pytest.mark.parametrize("service", SERVICES)
def test_one_cluster_as_the_plain_simulator(service, half_life, seed):
    settings = FairShareSettings(half_life=half_life, shares={1: 3.0, UNKNOWN: 0.5})
    model = model_of(
        jobs_of(seed), SERVICES[service], settings=settings, kinds=[Prediction(error=0.6)]
    )
    model.run()
    rows = np.sort(model.world.log.records().rows, order="number")
    assert rows["start"].tolist() == plain_starts(rows, 8, service, settings)
    others = model_of(jobs_of(seed), SERVICES[service], kinds=[Prediction(error=0.6)])
    others.run()
    assert (
        rows["start"].tolist()
        != np.sort(others.world.log.records().rows, order="number")["start"].tolist()
    )


@pytest.mark.parametrize("service", SERVICES)
def test_each_cluster_knows_what_was_used_of_it_alone(service):
    settings = FairShareSettings(half_life=100.0)
    jobs = jobs_of(9, 200)
    jobs["arrival"] /= 2
    model = model_of(jobs, SERVICES[service], (8, 9), settings)
    model.run()
    rows = np.sort(model.world.log.records().rows, order=["arrival", "number"])
    for cluster, size in enumerate((8, 9)):
        here = rows[rows["cluster"] == cluster]
        assert here["start"].tolist() == plain_starts(here, size, service, settings)
        assert len(here) > 50


def test_the_user_who_has_used_least_goes_first():
    """After two jobs of user 1, user 2's are served before the rest of user 1's."""
    jobs = job_table(5)
    jobs["size"], jobs["runtime"] = 4, 10.0
    jobs["user"] = [1, 1, 1, 2, 2]
    jobs["arrival"] = [0, 1, 2, 3, 4]
    model = model_of(jobs, FairShareScheduler, (4,))
    model.run()
    starts = np.sort(model.world.log.records().rows, order="number")["start"].tolist()
    # User 1 has used 40 by 10; at 20 user 2 has, and that has decayed less than user 1's.
    assert starts == [0.0, 20.0, 40.0, 10.0, 30.0]


def test_hundreds_of_users_and_any_step():
    jobs = jobs_of(3, 1500, users=700)
    outcomes = []
    for interval in (13.0, 1e6):
        model = model_of(jobs, Easy, (8, 8, 8), failures=Failures(4000.0, 30.0))
        model.interval = interval
        model.run()
        assert model.world.state.completed == 1500
        assert model.world.state.usages > 3 * 500
        outcomes.append(model.world.log.records().rows.tobytes())
    assert outcomes[0] == outcomes[1]


class HeadWithoutLines(Fpfs):
    """Nobody may be overtaken, so that it is the head that starts, as without lines of users."""

    max_jumps = 0.0


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("latency", [0.0, 0.8])
def test_jobs_that_come_back_find_their_places_in_the_lines_of_users(seed, latency):
    rng = np.random.default_rng(seed)
    changes = tuple(
        Change(f"C{c}", what, at, at + down, count)
        for c, what, at, down, count in zip(
            rng.integers(1, 3, 12).tolist(), ["fail", "drain"] * 6,
            rng.integers(20, 700, 12).tolist(), rng.integers(1, 90, 12).tolist(),
            rng.integers(1, 7, 12).tolist(), strict=True,
        )
    )  # fmt: skip
    jobs = jobs_of(seed, 150, users=4)
    jobs["arrival"] /= 3
    outcomes, queues = [], []
    for local in (FairShareScheduler, HeadWithoutLines):
        platform = replace(Platform.star([8, 9]), changes=changes)
        model = model_of(jobs.copy(), local, platform, latency=latency)
        model.interval, seen = 9.0, []
        while model.running:
            model.step()
            seen.append([model.world.jobs.waiting(cluster).tolist() for cluster in range(2)])
        outcomes.append(model.world.log.records().rows.tobytes())
        queues.append(seen)
        assert model.world.state.restarted > 0
        assert model.world.state.completed == 150
    assert outcomes[0] == outcomes[1]
    assert queues[0] == queues[1]
    assert max(len(queue) for both in queues[0] for queue in both) > 20


@pytest.mark.parametrize("global_", ["b3", "muscle", "first-fit"])
def test_split_jobs_are_charged_where_they_run(global_):
    jobs = jobs_of(5)
    jobs["size"][::7] = 12
    jobs["computation_fraction"], jobs["ppbw"] = 0.7, 10.0
    model = model_of(jobs, Easy, (8, 8), global_=global_)
    model.run()
    world = model.world
    assert world.state.completed + world.state.rejected == len(jobs)
    usage = world.storage.usage[world.storage.usage["there"] == 1]
    charged = set(usage["user"][np.isfinite(usage["level"])].tolist())
    assert charged == set(jobs["user"].tolist())


def test_a_pickled_run_goes_on_the_same():
    jobs = jobs_of(6, 400, users=100)
    whole = model_of(jobs, Easy)
    whole.run()
    model = model_of(jobs, Easy)
    model.interval = 500.0
    model.step()
    file = io.BytesIO()
    Pickler(file).dump(model)
    del model
    model = pickle.loads(file.getvalue())
    reconnect(model, model.scheduler, model.clusters)
    model.run()
    assert model.world.log.records().rows.tobytes() == whole.world.log.records().rows.tobytes()


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"half_life": 0.0}, r"^half_life: found 0.0; accepted: above 0"),
        ({"half_life": math.inf}, r"^half_life: found inf; accepted"),
        ({"shares": {3: -1.0}}, r"^shares.3: found -1.0; accepted: from 1e-06"),
    ],
)
def test_settings_that_cannot_be_used(settings, says):
    with pytest.raises(GridError, match=says):
        FairShareSettings(**settings)


class Planner(PlanningScheduler):
    half_life = 100.0

    def plan(self, jobs, release):
        return [*jobs]


class Timed(LocalScheduler):
    service, half_life = "timed", 100.0

    def priority(self, job):
        return job.arrival


@pytest.mark.parametrize("kind", [Planner, Timed])
def test_what_ranks_nobody_shares_nothing(kind):
    with pytest.raises(GridError, match=f"^{kind.__name__}: half_life: found 100.0; accepted: 0, "):
        Scenario.load("quickstart").changed(local_scheduler=kind).model(0)


@pytest.mark.thorough
@pytest.mark.parametrize("service", SERVICES)
def test_the_beginning_of_a_real_log(traces, service):
    table = read_log(traces / "swf" / "KTH-SP2-1996-2.1-cln.swf.gz", ())
    jobs = table.jobs[:300].copy()
    jobs["arrival"] = np.floor(jobs["arrival"] / 2)
    settings = FairShareSettings(half_life=86_400.0)
    model = model_of(jobs, SERVICES[service], (100,), settings, kinds=[Prediction("requested")])
    model.run()
    rows = np.sort(model.world.log.records().rows, order=["arrival", "number"])
    assert rows["start"].tolist() == plain_starts(rows, 100, service, settings)


def test_a_subclass_may_have_a_half_life_and_shares_of_its_own():
    class Impatient(FairShareScheduler):
        half_life = 60.0
        shares = MappingProxyType({3: 2.0})

    model = model_of(jobs_of(1), Impatient, settings=FairShareSettings(half_life=5.0))
    own = model.clusters[0].scheduler
    assert (own.half_life, own.shares) == (60.0, {3: 2.0})
