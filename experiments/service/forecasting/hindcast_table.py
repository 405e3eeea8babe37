"""How forecasts held, as a table."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from experiments.service.forecasting.hindcast import LEAST_WAIT, Hindcast
from experiments.show.numbers import counted, duration, percent
from experiments.show.tables import print_whole


def print_hindcast(found: Hindcast, futures: int, console: Console) -> None:
    """Print how forecasts of starts and ends held."""
    told = found.summary()
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column("")
    for column in ("in 50 % interval", "in 90 % interval", "earlier", "later", "median off by"):
        table.add_column(column, justify="right")
    for what in ("start", "end"):
        of = told[what]
        shares = (percent(of[name]) for name in ("within_50", "within_90", "before", "after"))
        table.add_row(what, *shares, duration(of["off_s"]))
    print_whole(table, console)
    of_all = f"the {counted(told['waited'], 'job')} that waited {LEAST_WAIT:.0f} s or longer"
    console.print(
        f"of {counted(told['jobs'], 'job')}, each forecast in {counted(futures, 'future')} as it "
        f"was submitted, drawn from {of_all}, but for the first quarter of all"
    )
