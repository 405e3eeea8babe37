"""Jobs that can never start are rejected, and the others go on."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from agents.disciplines import FcfsScheduler
from agents.model import GridModel
from agents.registry import global_scheduler
from agents.schedulers import REJECT, GlobalScheduler
from agents.selection import JobSelection
from grid.errors import PlacementError
from grid.jobs import job_table
from grid.kernel.state import REJECT as REJECT_COMPILED
from grid.platform.multicluster import Platform
from grid.workloads.table import Table
from tests.agents.small_grids import set_to


class Picky(GlobalScheduler):
    """Runs small jobs on the first cluster, and no other."""

    def place(self, job):
        return REJECT if job.size > 2 else self.clusters[0]


@numba.njit
def picky(known, job, memory):
    return REJECT_COMPILED if job.size > 2 else 0


class CompiledPicky(GlobalScheduler):
    """The same, compiled."""

    place = picky


def jobs_of(sizes, **columns):
    jobs = job_table(len(sizes))
    jobs["size"], jobs["runtime"], jobs["arrival"] = sizes, 10.0, np.arange(len(sizes))
    for name, values in columns.items():
        jobs[name] = values
    return jobs


def left(scheduler, platform, jobs, latency=0.0, **settings):
    """Run; return the numbers of the completed jobs, and of those rejected."""
    model = GridModel(
        platform,
        Table(jobs),
        scheduler,
        FcfsScheduler,
        latency=latency,
        settings=[
            JobSelection(settings.pop("selection", "fpfs")),
            *set_to(scheduler, **settings),
        ],
    )
    model.run()
    records = model.world.log.records()
    assert len(records) == len(jobs)
    assert model.world.state.live == 0
    done = ~np.isnan(records["start"])
    assert model.world.state.rejected == (~done).sum()
    return sorted(records["number"][done].tolist()), sorted(records["number"][~done].tolist())


@pytest.mark.parametrize("scheduler", [Picky, CompiledPicky])
@pytest.mark.parametrize("latency", [0.0, 0.5])
def test_a_policy_rejects(scheduler, latency):
    platform, jobs = Platform.star([4, 4]), jobs_of([1, 3, 2, 4, 2, 9], origin=[0, 1, 0, 1, -1, -1])
    assert left(scheduler, platform, jobs, latency) == ([1, 3, 5], [2, 4, 6])


@pytest.mark.parametrize("scheduler", [Picky, CompiledPicky])
def test_thousands_at_one_instant(scheduler):
    count = 10_000
    jobs = jobs_of([3] * count, arrival=0.0)
    assert left(scheduler, Platform.star([4]), jobs) == ([], list(range(1, count + 1)))


def test_another_number_is_no_rejection():
    class Odd(GlobalScheduler):
        def place(self, job):
            return -4

    with pytest.raises(PlacementError, match=r"-4; accepted: .*, None, or REJECT"):
        left(Odd, Platform.star([4]), jobs_of([1]))


@pytest.mark.parametrize("selection", ["fpfs", "fcfs"])
def test_no_share_rejects_what_its_home_cannot_hold(selection):
    jobs = jobs_of([6, 5, 8, 2, 6], origin=[1, 1, 0, 1, -1])
    found = left(global_scheduler("no-share"), Platform.star([8, 4]), jobs, selection=selection)
    assert found == ([3, 4, 5], [1, 2])


@pytest.mark.parametrize("selection", ["fpfs", "fcfs"])
def test_b3_rejects_what_has_no_chunk_on_any_cluster(selection):
    jobs = jobs_of([10, 9, 8, 10, 3, 13], origin=0)
    for chunk, largest in ((80, 10), (81, 9), (100, 8), (0, 12)):
        done, rejected = left(
            global_scheduler("b3"), Platform.star([8, 4]), jobs, selection=selection, chunk=chunk
        )
        assert rejected == [n + 1 for n, job in enumerate(jobs) if job["size"] > largest]
        assert len(done) == 6 - len(rejected)


@pytest.mark.parametrize("selection", ["fpfs", "fcfs"])
@pytest.mark.parametrize("solution", ["first", "least-demand"])
def test_a1_rejects_what_needs_too_much_of_every_link(selection, solution):
    """Twelve nodes on two clusters of eight: at least 8 x 4 / 11 x PPBW on both links."""
    ppbw = 11 * 100 / 32
    jobs = jobs_of([12, 12, 8, 12], origin=0, ppbw=[ppbw, 1.01 * ppbw, 1e6, 0.5 * ppbw])
    platform = Platform.star([8, 8], capacity=100.0)
    kind = global_scheduler("a1")
    settings = {"selection": selection, "solution": solution}
    assert left(kind, platform, jobs, **settings) == ([1, 3, 4], [2])
    assert left(kind, platform, jobs, lslt=102.0, **settings) == ([1, 2, 3, 4], [])
    # Another cluster takes as much: all four may be heavy sides, or one of them.
    wider = Platform.star([8, 8, 8], capacity=100.0)
    assert left(kind, wider, jobs, **settings) == ([1, 3, 4], [2])


def test_clusters_that_come_later_or_are_away_count():
    platform = Platform.from_dict(
        {
            "clusters": [{"name": "A", "size": 4}, {"name": "B", "size": 8}],
            "changes": [
                {"cluster": "B", "what": "join", "at": 50},
                {"cluster": "A", "what": "drain", "at": 0, "until": 80},
            ],
        }
    )
    jobs = jobs_of([6, 3, 5, 11], origin=[1, 0, 0, 1])
    found = left(global_scheduler("no-share"), platform, jobs)
    assert found == ([1, 2], [3, 4])
    found = left(global_scheduler("b3"), platform, jobs, chunk=70)
    assert found == ([1, 2, 3, 4], [])
