"""Jobs of a service, and the grid that it serves, as tables."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import closing, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console, JustifyMethod

from experiments.service.at_sites.site import may_run
from experiments.service.presence import is_service, locked
from experiments.service.store import LiveJob, Store
from experiments.show.numbers import counted, duration, number
from experiments.show.tables import print_rows
from grid.foreign import plain

if TYPE_CHECKING:
    from experiments.service.grid_file import LiveGrid  # with the simulator, which takes a second


def print_jobs(jobs: Sequence[LiveJob], hidden: int, console: Console) -> None:
    """Print jobs, one a row; of none, how many have ended that are not to be shown."""
    if not jobs:
        kept = f"; {counted(hidden, 'job has', 'jobs have')} ended (--all)" if hidden else ""
        console.print(f"no job waits or runs{kept}")
        return
    columns: dict[str, JustifyMethod] = {"job": "right", "name": "left", "state": "left"}
    columns |= {"site": "left", "size": "right", "waited": "right", "ran": "right"}
    columns["exit status"] = "right"
    rows, now = [], time.time()
    for job in jobs:
        begun = job.started or job.ended or now
        ran = "" if job.started is None else duration((job.ended or now) - job.started)
        why = "" if job.exit_status == 0 else plain(job.why, 100)
        exited = "" if job.exit_status is None else str(job.exit_status)
        status = ": ".join(filter(None, (exited, why)) if job.ended else ())
        waited = duration(max(0.0, begun - job.submitted))
        also = "cancelled" if job.cancelled else "held" if job.held else why
        state = f"{job.state}, {also}" if also and job.ended is None else job.state
        where = job.site or job.queued_at or ""
        cells = (str(job.job), plain(job.name, 40), state, where, str(job.size))
        rows.append((*cells, waited, ran, status))
    print_rows(columns, rows, console)


def print_sites(store: Store, console: Console) -> None:
    """Print which sites have not all of their processors for jobs, or are drained, if some are."""
    lacking, served = store.lacking(), store.note("sites") or {}
    drained = [name for name in store.note("drained") or () if name in served]
    for name in dict.fromkeys((*lacking, *drained)):
        told = [lacking[name]] if name in lacking else []
        told += ["drained"] if name in drained else []
        console.print(f"{plain(name)}: {', '.join(told)}", markup=False, highlight=False)


def print_grid(grid: LiveGrid, folder: Path, console: Console) -> None:
    """Print what a service would serve, asking its sites no more than how large they are."""
    if is_service(folder):
        locked(folder).close()  # which says so if a service is there
    else:
        Store.check_new(folder)
    with closing(Store(folder)) if is_service(folder) else nullcontext() as store:
        left = 0 if store is None else store.left()
        own = 0 if store is not None and store.note("submitted") else len(grid.jobs)
        if store is not None:
            there = store.jobs("site IS NOT NULL AND ended IS NULL")
            grid.check_room([job for job in there if may_run(job.job, store.folder_of(job))])
    rows = []
    for cluster, driver in zip(grid.scenario.platform.clusters, grid.drivers, strict=True):
        silent = "" if driver.answered else "does not answer; as large as it was"
        size, rate = f"{cluster.size:,}", number(cluster.rate)
        rows.append((plain(cluster.name), driver.name, size, rate, silent))
    console.print(plain(grid.title, 200), markup=False, highlight=False)
    numbers: dict[str, JustifyMethod] = {"processors": "right", "rate": "right"}
    print_rows({"site": "left", "driver": "left", **numbers, "": "left"}, rows, console)
    jobs = f"{counted(left, 'job')} of before, {counted(own, 'job')} of the grid's own"
    console.print(f"{plain(str(folder), 200)}: {jobs}; nothing has begun", markup=False)
