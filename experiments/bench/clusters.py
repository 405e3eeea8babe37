"""The same jobs on real clusters under several policies, in turn, and in simulation.

Jobs sleep. Each replication has jobs of its own, which all policies get alike, so that differences
are of pairs.
"""

from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from agents.model import GridModel
from experiments.bench.federation import Federated, check_federation
from experiments.bench.served import served
from experiments.run.replacing import scratch
from experiments.service.at_sites.batch_system import (
    BatchSystem,
    LaterError,
    RefusedError,
    SilentError,
)
from experiments.service.at_sites.site import OUTPUT, RUN_ONCE, began_at, end_of
from experiments.service.grid_file import LiveGrid, load_grid
from experiments.service.store import DONE, LiveJob, Store
from grid.distributions import BoundedPareto, LogUniformSizes
from grid.errors import GridError
from grid.jobs import JobArray
from grid.kernel.statistics import SLOWDOWN_BOUND
from grid.strict import json_of, text_of
from grid.workloads.deadlines import ServiceClass
from grid.workloads.synthetic import SyntheticWorkload, arrival_rate
from grid.workloads.table import Table

Floats = npt.NDArray[np.float64]

LARGEST = 16
"""Most processors of a job, if all sites have them."""
SHORTEST, LONGEST = 5.0, 30.0
"""Run times, s."""
LEAST_SLACK, MOST_SLACK = 0.0, 5.0
"""Deadlines: so many run times later than at once (`muscle`, eq. 5)."""
LOOK = 1.0
"""Time between two looks at clusters that nobody schedules for, s."""


class Way(NamedTuple):
    """Who schedules: agents by their names, or nobody but the clusters, which some are `like`."""

    key: str
    name: str
    policies: tuple[str, str] | None
    like: tuple[str, str] | None
    """The policies of a simulation of it; None: there is none."""


_MUSCLE, _DLL, _IN_TURN = ("muscle", "titan"), ("dll", "easy"), ("round-robin", "easy")
WAYS = (
    Way("muscle-titan", "MUSCLE over TITAN", _MUSCLE, _MUSCLE),
    Way("dll-easy", "DLL over EASY", _DLL, _DLL),
    Way("in-turn", "given in turn", None, _IN_TURN),
)
FEDERATION = Way("federation", "Slurm's federation", None, None)
MINUTE = 60.0
"""Batch systems know limits in whole minutes, s."""
NOWHERE = -1
"""Index of a site that nobody has asked for."""


class Schedule(NamedTuple):
    """When jobs began and ended, s since the first of them was to come, and the index of the site.

    That is `NOWHERE` for all jobs of a federation. In the order of their arrival.
    """

    start: Floats
    finish: Floats
    site: npt.NDArray[np.int64]

    def turnaround(self, jobs: JobArray) -> float:
        """Return the mean time from arrival to end, s."""
        return float((self.finish - jobs["arrival"]).mean())

    def slowdown(self, jobs: JobArray) -> float:
        """Return the mean bounded slowdown."""
        turnaround = self.finish - jobs["arrival"]
        return float(np.maximum(turnaround / np.maximum(jobs["runtime"], SLOWDOWN_BOUND), 1).mean())


@dataclass(frozen=True)
class Clusters:
    """The clusters of a grid, and jobs for them.

    Parameters
    ----------
    path : str
        Of the grid's file; its own policies and jobs are left.
    out : Path
        Where results are kept, a file for each replication and policy.
    jobs : int
        Of a replication.
    load : float
        That they offer the clusters.
    federation : bool
        The clusters are a federation, which can schedule, too.

    Raises
    ------
    GridError
        If sleeping jobs cannot be what the grid's jobs are, or the clusters are no federation.
    """

    path: str
    out: Path
    jobs: int
    load: float
    federation: bool = False

    def __post_init__(self) -> None:
        grid = self.grid(WAYS[0])
        rates = grid.scenario.platform.rates
        if (rates != 1.0).any():
            found = float(rates[rates != 1.0][0])
            raise GridError(f"{self.path}: rate: found {found:g}; accepted: 1, for jobs sleep")
        if self.federation:
            check_federation(self.path, grid.drivers)

    def grid(self, way: Way) -> LiveGrid:
        """Return the grid under some policies, without jobs of its own."""
        return replace(load_grid(self.path, *(way.like or _IN_TURN)), jobs=())

    @property
    def ways(self) -> tuple[Way, ...]:
        """Who can schedule: clusters by themselves if all of them have a queue."""
        local = any(driver.name == "local" for driver in self.grid(WAYS[0]).drivers)
        ways = tuple(way for way in WAYS if way.policies or not local)
        return (*ways, FEDERATION) if self.federation else ways

    def drawn(self, seed: int) -> JobArray:
        """Return the jobs of a replication, each with its arrival, s from the first one's on."""
        platform = self.grid(WAYS[0]).scenario.platform
        sizes = LogUniformSizes(1, min(LARGEST, int(platform.sizes.min())))
        runtimes = BoundedPareto(SHORTEST, LONGEST)
        of = platform.sizes.tolist(), platform.rates.tolist()
        workload = SyntheticWorkload(
            count=self.jobs,
            rate=arrival_rate(self.load, sizes, runtimes, *of),
            sizes=sizes,
            runtimes=runtimes,
            classes=[ServiceClass("all", 1.0, LEAST_SLACK, MOST_SLACK)],
            seed=seed,
        )
        jobs = np.concatenate([chunk.copy() for chunk in workload.chunks()])
        first = jobs["arrival"].min()
        jobs["arrival"] -= first
        jobs["deadline"] -= first
        jobs["requested_time"] = jobs["runtime"]
        return jobs

    def run(self, way: Way, seed: int) -> Schedule:
        """Have the jobs of a replication run for real, unless that has been done; keep the result.

        Raises
        ------
        GridError
            If a job does not succeed, or what is kept is of other jobs.
        """
        if (known := self._kept(way, seed)) is not None:
            return known
        jobs = self.drawn(seed)
        self.out.mkdir(parents=True, exist_ok=True)
        with scratch(self.out) as folder:
            others = _by_federation if way == FEDERATION else _in_turn
            run = _by_agents if way.policies else others
            found = run(self.grid(way), jobs, folder / "state")
            told = {"given": self._given(), **{k: v.tolist() for k, v in found._asdict().items()}}
            new = folder / "new"
            new.write_text(json.dumps(told), encoding="utf-8")
            os.replace(new, self._file(way, seed))
        return found

    def simulated(self, way: Way, seed: int) -> Schedule:
        """Return what a simulation of the same jobs makes of them, of a way that is like one.

        Clusters without agents are taken for EASY, which goes by limits as they have them.
        """
        jobs = self.drawn(seed)
        if way.policies is None:
            jobs["requested_time"] = np.ceil(jobs["requested_time"] / MINUTE) * MINUTE

        def made(platform: Any, _: object, *makers: Any, **options: Any) -> GridModel:
            return GridModel(platform, Table(jobs), *makers, **options)

        model = self.grid(way).scenario.model(made=made)
        model.run()
        rows = np.sort(model.world.log.records(), order="number")
        return Schedule(rows["start"], rows["finish"], rows["cluster"])

    def is_kept(self, way: Way, seed: int) -> bool:
        """Tell whether a result is there."""
        return self._file(way, seed).is_file()

    def _file(self, way: Way, seed: int) -> Path:
        return self.out / f"{way.key}-{seed}.json"

    def _given(self) -> dict[str, Any]:
        """Return what the jobs depend on beside the seed."""
        platform = self.grid(WAYS[0]).scenario.platform
        sites = dict(zip(platform.names, platform.sizes.tolist(), strict=True))
        laws = [LARGEST, SHORTEST, LONGEST, LEAST_SLACK, MOST_SLACK]
        return {"jobs": self.jobs, "load": self.load, "sites": sites, "laws": laws}

    def _kept(self, way: Way, seed: int) -> Schedule | None:
        file = self._file(way, seed)
        if not file.is_file():
            return None
        accepted = "results of this command"
        told = json_of(text_of(file, accepted), str(file), accepted)
        if not isinstance(told, dict) or told.get("given") != self._given():
            raise GridError(
                f"{file}: found results of other jobs or sites; accepted: another --out"
            )
        start, finish = (np.array(told[name], np.float64) for name in ("start", "finish"))
        return Schedule(start, finish, np.array(told["site"], np.int64))


def _coming(jobs: JobArray, began: float) -> Iterator[np.void]:
    """Yield each job when it is to come, if the first came at a time by the clock, s."""
    for job in jobs:
        time.sleep(max(0.0, began + job["arrival"].item() - time.time()))
        yield job


def _add(store: Store, job: np.void) -> int:
    """Take in a job that sleeps, and return its number."""
    runtime, due = job["runtime"].item(), (job["deadline"] - job["arrival"]).item()
    environment = {"PATH": os.environ["PATH"]}
    command, size = ["sleep", f"{runtime:.3f}"], job["size"].item()
    return store.add(command, size, runtime, due, folder="/", environment=environment)


def _by_agents(grid: LiveGrid, jobs: JobArray, state: Path) -> Schedule:
    """Have a service run jobs."""
    with served(grid, state) as service:
        began = time.time()
        for job in _coming(jobs, began):
            _add(service.store, job)
            service.store.ring()
        service.wait(service.all_ended)
        done = service.store.jobs()
    names = grid.scenario.platform.names
    for each in done:
        if each.state != DONE:
            why = each.why or f"exit status {each.exit_status}"
            raise GridError(f"{each} at {each.site}: {each.state}, {why}")
    times = ([getattr(each, what) for each in done] for what in ("started", "ended"))
    start, finish = (np.array(each, np.float64) - began for each in times)
    return Schedule(start, finish, np.array([names.index(str(each.site)) for each in done]))


def _in_turn(grid: LiveGrid, jobs: JobArray, state: Path) -> Schedule:
    """Give jobs to the clusters in turn, whose own schedulers run them."""
    prefix, psij = _prefix(), state.with_name("psij")
    systems = {
        name: driver.system(f"{prefix}{name}-", psij / name)
        for name, driver in zip(grid.scenario.platform.names, grid.drivers, strict=True)
    }
    start, finish = _by_systems(systems, prefix, jobs, state)
    return Schedule(start, finish, np.arange(len(jobs)) % len(systems))


def _by_federation(grid: LiveGrid, jobs: JobArray, state: Path) -> Schedule:
    """Give jobs to the federation of the clusters."""
    prefix = _prefix()
    systems = {"federation": Federated(prefix, grid.drivers)}
    start, finish = _by_systems(systems, prefix, jobs, state)
    return Schedule(start, finish, np.full(len(jobs), NOWHERE))


def _prefix() -> str:
    """Return how names of jobs begin that no other's have."""
    return f"metasched-{secrets.token_hex(4)}-"


def _by_systems(
    systems: Mapping[str, BatchSystem], prefix: str, jobs: JobArray, state: Path
) -> Floats:
    """Give jobs to batch systems in turn; return when they began, and when they ended."""
    names = [*systems]
    left: dict[int, LiveJob] = {}
    ends: dict[int, tuple[float, float]] = {}
    gone: set[int] = set()

    def of(job: int) -> tuple[str, str]:
        site = names[(job - 1) % len(names)]
        return site, f"{prefix}{site}-{job}"

    def note_ends() -> None:
        looks = {name: system.look().jobs for name, system in systems.items()}
        for number, job in [*left.items()]:
            folder, (site, token) = store.folder_of(job), of(number)
            end, began = end_of(number, folder), began_at(folder)
            if end is not None and end.exit_status == 0 and began is not None:
                ends[number] = began, end.time
                del left[number]
            elif end is not None or number in gone:
                raise GridError(f"{job} at {site}: has not run to its end")
            elif token not in looks[site] or looks[site][token].ended:
                gone.add(number)  # what it wrote is perhaps seen in the next round

    with closing(Store(state, make=True)) as store:
        try:
            began = time.time()
            for row in _coming(jobs, began):
                job = store.job(_add(store, row))
                left[job.job] = job
                folder = store.folder_of(job)
                folder.mkdir(parents=True)
                (site, token), script = of(job.job), [RUN_ONCE, str(folder), *job.command]
                systems[site].submit(token, job, script, folder / OUTPUT)
            while left:
                note_ends()
                time.sleep(LOOK)
        except (SilentError, RefusedError, LaterError) as error:
            raise GridError(f"{error}; accepted: clusters that take jobs in") from None
        finally:
            for number in left:
                site, token = of(number)
                with suppress(SilentError):
                    systems[site].cancel(token, at_once=True)
    return np.array([ends[number] for number in sorted(ends)], np.float64).T - began
