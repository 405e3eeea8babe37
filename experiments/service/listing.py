"""Jobs of a service as a table."""

from __future__ import annotations

import time
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from experiments.service.store import LiveJob
from experiments.show.numbers import counted, duration
from experiments.show.tables import print_whole
from grid.foreign import plain


def print_jobs(jobs: Sequence[LiveJob], every: bool, console: Console) -> None:
    """Print jobs, one a row: those that have not ended, or all."""
    shown = [job for job in jobs if every or job.ended is None]
    if not shown:
        kept = f"; {counted(len(jobs), 'job has', 'jobs have')} ended (--all)" if jobs else ""
        console.print(f"no job waits or runs{kept}")
        return
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for column, justify in (
        ("job", "right"),
        ("name", "left"),
        ("state", "left"),
        ("site", "left"),
    ):
        table.add_column(column, justify=justify)  # type: ignore[arg-type]
    for column in ("size", "waited", "ran", "exit status"):
        table.add_column(column, justify="right")
    now = time.time()
    for job in shown:
        begun = job.started or job.ended or now
        ran = "" if job.started is None else duration((job.ended or now) - job.started)
        status = plain(job.why, 60) if job.exit_status is None else str(job.exit_status)
        waited = duration(max(0.0, begun - job.submitted))
        cells = (str(job.job), plain(job.name, 40), job.state, job.site or "", str(job.size))
        table.add_row(*map(Text, (*cells, waited, ran, status)))
    print_whole(table, console)
