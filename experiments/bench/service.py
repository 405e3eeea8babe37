"""How quick a service of real jobs is here, idle and with many jobs that run and wait."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

from experiments.bench.measurement import Measurement
from experiments.bench.served import Served, served
from experiments.service.at_sites.site import OUTPUT
from experiments.service.grid_file import LiveGrid, load_grid
from experiments.service.service import Service
from experiments.service.store import LiveJob, Store

SITES = 10
PER_SECOND = 50
PAUSE = 0.1
"""Time between two submissions to an idle service, and between changes of a busy one, s."""
CLOCK = "date", "+%s.%N"
"""A job that says when it runs: times of files would be too coarse."""
SLEEP = "600"
"""How long jobs sleep that nobody ends, s."""


class _Timed(Service):
    """A service that notes how long its rounds take, by the clock and of a core, ms."""

    def __init__(self, *given: Any) -> None:
        self.rounds: list[tuple[float, float]] = []
        super().__init__(*given)

    def step(self) -> None:
        began, cpu = time.perf_counter(), time.thread_time()
        super().step()
        self.rounds.append((1e3 * (time.perf_counter() - began), 1e3 * (time.thread_time() - cpu)))


def bench_service(
    slots: int = 100, waiting: int = 10_000, changes: int = 20, seconds: float = 10.0
) -> list[Measurement]:
    """Measure a service in a folder of its own, on ten sites of this machine, `dll` over `fcfs`.

    Parameters
    ----------
    slots : int
        Of a site.
    waiting : int
        Jobs that wait while all slots are taken.
    changes : int
        Submissions to the idle service, and submissions and ends at the busy one.
    seconds : float
        For which jobs come, and for which the busy service is left alone.

    Returns
    -------
    list of Measurement
        From submission to start at idle sites, one by one and at 50 jobs a second; then the share
        of a core that a busy service takes, its rounds, and how long submissions take.
    """
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        sites = "".join(f'[[sites]]\nname = "S{at}"\nslots = {slots}\n' for at in range(SITES))
        (folder / "grid.toml").write_text(f'global = "dll"\nlocal = "fcfs"\n{sites}')
        grid = load_grid(str(folder / "grid.toml"))
        with served(grid, folder / "idle") as idle:
            found = [*_one_by_one(idle, changes), *_in_a_row(idle, round(PER_SECOND * seconds))]
        return found + _busy(grid, folder / "busy", SITES * slots, waiting, changes, seconds)


def _add(store: Store, *command: str) -> int:
    """Submit a job; return its number."""
    number = store.add(command, 1, folder="/", environment={"PATH": os.environ["PATH"]})
    store.ring()
    return number


def _lags(store: Store, numbers: Sequence[int]) -> list[float]:
    """Return how long after their submission jobs of `CLOCK` have started, ms."""
    jobs = map(store.job, numbers)
    return [1e3 * (_started(store, job) - job.submitted) for job in jobs]


def _started(store: Store, job: LiveJob) -> float:
    return float((store.folder_of(job) / OUTPUT).read_text())


def _has_ended(store: Store, number: int) -> bool:
    return store.job(number).ended is not None


def _one_by_one(of: Served, count: int) -> Iterator[Measurement]:
    """Measure when jobs start that come to idle sites."""
    numbers = []
    for _ in range(count):
        time.sleep(PAUSE)
        numbers.append(_add(of.store, *CLOCK))
        of.wait(of.all_ended)
    lags = _lags(of.store, numbers)
    note = f"of {count} jobs, one by one at idle local sites"
    yield Measurement("submission to start, median", statistics.median(lags), "ms", note)
    yield Measurement(
        "submission to start, longest", max(lags), "ms", f"{note}; expected: under 200"
    )


def _in_a_row(of: Served, count: int) -> Iterator[Measurement]:
    """Measure when jobs start of which many come in a second."""
    began, numbers = time.monotonic(), []
    for at in range(count):
        time.sleep(max(0.0, began + at / PER_SECOND - time.monotonic()))
        numbers.append(_add(of.store, *CLOCK))
    of.wait(of.all_ended)
    lags, jobs = _lags(of.store, numbers), [of.store.job(number) for number in numbers]
    last = max(_started(of.store, job) for job in jobs)
    rate = count / (last - jobs[0].submitted + 1 / PER_SECOND)
    note = f"{count} jobs, {PER_SECOND} a second"
    yield Measurement("in a row, started", rate, "jobs/s", f"{note}; expected: {PER_SECOND}")
    yield Measurement("in a row, median to start", statistics.median(lags), "ms", note)
    yield Measurement("in a row, longest to start", max(lags), "ms", note)


def _busy(
    grid: LiveGrid, folder: Path, running: int, waiting: int, changes: int, seconds: float
) -> list[Measurement]:
    """Measure a service of many jobs that run and wait: left alone, then as jobs come and end."""
    with closing(Store(folder, make=True)) as store:
        for _ in range(running + waiting):
            _add(store, "sleep", SLEEP)
    with served(grid, folder, _Timed) as of:
        service, store = of.service, of.store
        assert isinstance(service, _Timed)
        of.wait(lambda: len(store.jobs("state = 'running'")) == running)
        time.sleep(1.0)
        wall, cpu = time.monotonic(), time.process_time()
        time.sleep(seconds)
        share = (time.process_time() - cpu) / (time.monotonic() - wall)
        service.rounds.clear()
        taken = []
        for job in store.jobs("state = 'running'")[:changes]:
            began = time.perf_counter()
            _add(store, "sleep", SLEEP)
            taken.append(1e3 * (time.perf_counter() - began))
            time.sleep(PAUSE)
            with store.at_once():
                store.update(job.job, cancelled=1)
            store.ring()
            of.wait(partial(_has_ended, store, job.job))
        rounds, cpu_rounds = zip(*service.rounds, strict=True)
    note = f"{running:,} jobs running, {waiting:,} waiting"
    of_rounds = f"of {len(rounds)}, with {changes} submissions and ends; {note}"
    return [
        Measurement(
            "service between events",
            share,
            "of a core",
            f"for {seconds:g} s, {note}; expected: under 0.1",
        ),
        Measurement(
            "submission, median", statistics.median(taken), "ms", f"as submitters see it, {note}"
        ),
        Measurement(
            "submission, longest",
            max(taken),
            "ms",
            f"as submitters see it, {note}; expected: under 50",
        ),
        Measurement("round, median", statistics.median(rounds), "ms", of_rounds),
        Measurement("round, median of CPU", statistics.median(cpu_rounds), "CPU ms", of_rounds),
        Measurement("round, longest", max(rounds), "ms", f"{of_rounds}; expected: under 10"),
    ]
