"""What policies read: one table for both tiers, the page that prints it, and policies by it."""

from __future__ import annotations

import re
import runpy
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numba
import numpy as np
import pytest

from agents.schedulers import GlobalScheduler, LocalScheduler
from agents.view import Job, KnownCluster, KnownLink, KnownQueues
from experiments.scenario.scenario import Scenario
from grid.errors import GridError, PlacementError
from grid.jobs import MAX_COMPONENTS
from grid.kernel.dtypes import SLOT
from grid.kernel.policies import fields
from grid.kernel.policies.decisions import JOB_FIELDS, ReadOnlyRecord
from grid.kernel.policies.fields import (
    BOTH,
    CLUSTERS,
    COMPILED,
    JOBS,
    LINKS,
    PYTHON,
    QUEUES,
    of_tier,
)
from grid.kernel.policies.policy_view import known_dtype
from grid.kernel.state import ARRIVED
from grid.platform.changes import Change, Failures
from grid.platform.multicluster import Platform

from .small_grids import FAR, PLATFORM, model_of, ran, table, workload

DOCS = Path(__file__).resolve().parents[2] / "docs"
UNEQUAL = Platform.star((200, 16, 1), (0.2, 1.0, 7.5))
FAILING = {"failures": Failures(mean_up_time=300.0, mean_down_time=40.0), "tracked": True}
WRONG = {"latency": 0.7, "prediction_error": 0.8}
GRIDS = {
    "even": (Platform.star((8, 8, 8)), {"rate": 0.6}, {}),
    "unequal": (UNEQUAL, {"rate": 1.0, "largest": 12}, {}),
    "unequal and late": (UNEQUAL, {"rate": 1.0, "largest": 12, "share": 0.5}, WRONG),
    "failing": (PLATFORM, {"rate": 0.5, "largest": 8}, FAILING),
    "failing, late and wrong": (FAR, {"rate": 0.5, "share": 0.5}, FAILING | WRONG),
}


def outcome(policy, grid, local="fcfs", **more):
    """Return all that became of 150 jobs under a policy in one of the grids."""
    platform, mix, options = GRIDS[grid]
    model = ran(policy, local, workload(count=150, **mix), platform, **options, **more)
    records = model.world.log.records()
    assert len(records) == 150
    return records.rows.tobytes(), records.takes.tobytes(), model.messages


def class_of(page, name):
    """Return a class as a page of the documentation has it."""
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)
    (block,) = (each for each in blocks if each.startswith(f"# {name}.py\n"))
    names = {"__name__": name}
    exec(compile(block, f"{name}.py", "exec"), names)
    return names["".join(map(str.title, name.removesuffix("_compiled").split("_")))]


@numba.njit
def least_loaded(known, job, memory):
    best = -1
    for c in range(known.clusters):
        if job.size <= known.up[c] and (best < 0 or known.load[c] < known.load[best]):
            best = c
    return best


class CompiledLeastLoaded(GlobalScheduler):
    place = least_loaded


class DividingTwice(GlobalScheduler):
    """What takes load for work: no least load at all where clusters are unequal."""

    def place(self, job):
        fitting = [cluster for cluster in self.clusters if cluster.up >= job.size]
        return min(fitting, key=lambda cluster: cluster.load / cluster.size, default=None)


@pytest.mark.parametrize("grid", GRIDS)
def test_the_class_of_the_tutorial_is_dll_job_by_job(grid):
    expected = outcome("dll", grid)
    assert outcome(class_of(DOCS / "tutorial.md", "least_loaded"), grid) == expected
    assert outcome(CompiledLeastLoaded, grid) == expected
    assert (outcome(DividingTwice, grid) == expected) == (grid == "even")


@pytest.mark.parametrize("grid", ["even", "unequal", "unequal and late"])
def test_the_twins_of_the_page_on_schedulers_are_the_same_job_by_job(grid):
    page = DOCS / "own-global-scheduler.md"
    plain, twin = (class_of(page, f"least_waiting{tier}") for tier in ("", "_compiled"))
    assert outcome(plain, grid) == outcome(twin, grid)
    assert outcome(plain, grid) != outcome("dll", grid)


def test_the_twins_with_a_setting_are_the_same_job_by_job(monkeypatch):
    page = DOCS / "own-global-scheduler.md"
    module = SimpleNamespace()
    monkeypatch.setitem(sys.modules, "nearest_first", module)
    module.NearestFirst = plain = class_of(page, "nearest_first")
    twin = class_of(page, "nearest_first_compiled")
    kind, found = plain.settings_type, []
    for longest in (5.0, 50.0):
        settings = [kind(longest=longest)]
        found.append(outcome(plain, "unequal", settings=settings))
        assert outcome(twin, "unequal", settings=settings) == found[-1]
    assert found[0] != found[1]


def of_both(rows, *but):
    """Return the names of the fields of both tiers, other than some."""
    return [field.name for field in rows if field.tier == BOTH and field.name not in but]


IN_BOTH = {"job": of_both(JOBS), "cluster": of_both(CLUSTERS), "link": of_both(LINKS, "parent")}


def compiled_reader():
    """Return a compiled DLL that first writes all that both tiers read into its memory."""
    lines = ["def place(known, job, memory):", " at = int(memory[0])"]
    lines += [f" memory[at + {i}] = job.{name}" for i, name in enumerate(IN_BOTH["job"])]
    lines += [f" at += {len(IN_BOTH['job'])}"]
    for each in ("cluster", "link"):
        lines += [f" for c in range(known.{each}s):"]
        lines += [f"  memory[at + {i}] = known.{name}[c]" for i, name in enumerate(IN_BOTH[each])]
        lines += [f"  at += {len(IN_BOTH[each])}"]
    lines += [" memory[0] = at", " return least_loaded(known, job, memory)"]
    names = {"least_loaded": least_loaded}
    exec("\n".join(lines), names)
    return numba.njit(names["place"])


class CompiledReader(GlobalScheduler):
    place = compiled_reader()

    def memory(self):
        memory = np.zeros(100_000)
        memory[0] = 1.0
        return memory


class PlainReader(GlobalScheduler):
    """DLL that first notes all that both tiers read."""

    def __init__(self, model):
        super().__init__(model)
        self.read = []

    def place(self, job):
        links = [cluster.links[0] for cluster in self.clusters]  # of a star there are no others
        for each, things in (("job", [job]), ("cluster", self.clusters), ("link", links)):
            self.read += [getattr(thing, name) for thing in things for name in IN_BOTH[each]]
        fitting = [cluster for cluster in self.clusters if cluster.up >= job.size]
        return min(fitting, key=lambda cluster: cluster.load, default=None)


@pytest.mark.parametrize("grid", GRIDS)
def test_a_field_of_both_tiers_has_the_same_value_in_both(grid):
    platform, mix, options = GRIDS[grid]

    def read_by(policy):
        return ran(policy, "fcfs", workload(count=60, **mix), platform, **options)

    memory = read_by(CompiledReader).world.tables.memory
    read = read_by(PlainReader).scheduler.read
    assert len(read) == int(memory[0]) - 1 > 60 * sum(map(len, IN_BOTH.values()))
    np.testing.assert_array_equal(memory[1 : len(read) + 1], read)


@pytest.mark.parametrize(
    ("view", "rows"),
    [(Job, JOBS), (KnownCluster, CLUSTERS), (KnownLink, LINKS), (KnownQueues, QUEUES)],
)
def test_views_have_the_fields_of_the_table_and_no_others(view, rows):
    model = model_of("lq", "fcfs", workload(count=3, share=1.0))
    model.world.state.known["event"] = ARRIVED
    arguments = () if view is KnownQueues else (0,)
    seen = {name for name in dir(view(model.world, *arguments)) if not name.startswith("_")}
    assert seen - {"is_of"} == {field.name for field in of_tier(rows, PYTHON)}


@pytest.mark.parametrize("capacity", [MAX_COMPONENTS, 128])
def test_records_have_the_fields_of_the_table_and_no_others(capacity):
    tables = (fields.SCALARS, CLUSTERS, LINKS, QUEUES, fields.WRITTEN)
    named = [field for table in tables for field in of_tier(table, COMPILED)]
    known = ReadOnlyRecord(known_dtype(capacity))
    assert sorted(known.fields) == sorted(field.name for field in named)
    job = ReadOnlyRecord(SLOT, JOB_FIELDS)
    assert sorted(job.fields) == sorted(field.name for field in of_tier(JOBS, COMPILED))
    for field in of_tier(JOBS, COMPILED):
        name, *expected = field.column(capacity)
        assert SLOT[name] == np.dtype(tuple(expected) if len(expected) > 1 else expected[0])


def test_the_page_is_made_from_the_table():
    script = runpy.run_path(str(DOCS / "policy_fields.py"))
    page = (DOCS / "policy-fields.md").read_text(encoding="utf-8")
    assert script["filled"](page) == page
    every = {field.name for rows in script["TABLES"].values() for field in rows}
    assert every >= {*known_dtype(16).names, *JOB_FIELDS}


def test_load_is_work_over_the_processors_that_are_up():
    """Two of four processors fail, then all; a cluster that nobody has joined has none up."""
    seen = []

    class Watching(GlobalScheduler):
        def place(self, job):
            seen.append([(each.up, each.work, each.load) for each in self.clusters])
            return self.clusters[0]

    jobs = table((0, 2, 100.0), (1, 2, 30.0), (11, 1, 1.0), (21, 1, 1.0), (500, 1, 1.0))
    changes = (
        Change("C1", "fail", 10.0, 400.0, processors=2),
        Change("C2", "fail", 20.0, 400.0),
        Change("C3", "join", 300.0),
    )
    platform = Platform.star((4, 3, 2), rates=(0.5, 1.0, 1.0))
    model = ran(Watching, "fcfs", jobs, replace(platform, changes=changes))
    assert seen == [
        [(4, 0.0, 0.0), (3, 0.0, 0.0), (0, 0.0, np.inf)],
        [(4, 400.0, 100.0), (3, 0.0, 0.0), (0, 0.0, np.inf)],
        [(2, 520.0, 260.0), (3, 0.0, 0.0), (0, 0.0, np.inf)],
        [(2, 522.0, 261.0), (0, 0.0, np.inf), (0, 0.0, np.inf)],
        [(4, 0.0, 0.0), (3, 0.0, 0.0), (2, 0.0, 0.0)],
    ]
    assert model.world.known["load"].tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("name", "instead"),
    [("runtime", "predicted_runtime"), ("execution_time", "predicted_time")],
)
def test_a_job_says_what_it_has_in_place_of_the_truth(name, instead):
    def read(job, now):
        return getattr(job, name)

    class Compiled(LocalScheduler):
        priority = numba.njit(read)

    class Plain(LocalScheduler):
        def priority(self, job):
            return read(job, 0.0)

    with pytest.raises(PlacementError, match=f"{name!r} of a record; accepted: {instead}$"):
        model_of("dll", Compiled)
    with pytest.raises(AttributeError, match=f"^job.{name}: .*; accepted: {instead}\n"):
        ran("dll", Plain)


@pytest.mark.parametrize(("latency", "free"), [(0.0, 7), (0.5, 8)])
def test_what_changes_while_the_jobs_of_one_instant_are_placed(latency, free):
    seen = []

    class Watching(GlobalScheduler):
        def place(self, job):
            first = self.clusters[0]
            seen.append((first.free, first.waiting, first.unfinished, first.work))
            return {"C1": 1} if job.number == 3 else first

    jobs = table((0, 5, 10.0), (0, 5, 10.0), (0, 1, 10.0), (0, 5, 3.0), (1, 5, 1.0))
    ran(Watching, "fcfs", jobs, latency=latency)
    assert seen == [
        (8, 0, 0, 0.0),
        (8, 0, 1, 50.0),
        (8, 0, 2, 100.0),
        (free, 0, 3, 110.0),
        (2, 2, 4, 125.0),
    ]


def test_a_job_that_has_left_is_not_the_one_that_took_its_slot():
    class Keeps(GlobalScheduler):
        """Keep all jobs, with their numbers."""

        def __init__(self, model):
            super().__init__(model)
            self.kept = []

        def place(self, job):
            self.kept.append((job, job.number, job.slot))
            return max(self.clusters, key=lambda each: (each.up >= job.size, each.free))

    model = Scenario.load("quickstart").changed(global_scheduler=Keeps, local_scheduler="fcfs")
    model = model.model(1)
    model.run()
    kept = model.scheduler.kept
    last = {slot: number for _, number, slot in kept}
    assert len(last) < len(kept)
    for job, number, slot in kept:
        if last[slot] == number:
            assert job.number == number
        else:
            with pytest.raises(GridError, match=f"job.arrival: job {number} has left, and another"):
                _ = job.arrival
            assert repr(job) == f"Job({number}, size={job.size}, left)"
