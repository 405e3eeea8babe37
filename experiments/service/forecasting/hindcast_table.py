"""How forecasts held, as a table."""

from __future__ import annotations

from rich.console import Console, JustifyMethod

from experiments.service.forecasting.hindcast import LEAST_WAIT, Hindcast
from experiments.show.labels import drawn_words
from experiments.show.numbers import counted, duration, percent
from experiments.show.run_tables import cleaned
from experiments.show.tables import print_rows

COLUMNS: dict[str, JustifyMethod] = {
    "": "left",
    "in 50 % interval": "right",
    "in 90 % interval": "right",
    "earlier": "right",
    "later": "right",
    "median off by": "right",
}


def print_hindcast(found: Hindcast, futures: int, console: Console) -> None:
    """Print how forecasts of starts and ends held."""
    told = found.summary()
    rows = []
    for what in ("start", "end"):
        of = told[what]
        shares = (percent(of[name]) for name in ("within_50", "within_90", "before", "after"))
        rows.append((what, *shares, duration(of["off_s"])))
    print_rows(COLUMNS, rows, console)
    of_all = f"the {counted(told['waited'], 'job')} that waited {LEAST_WAIT:.0f} s or longer"
    lines = [
        f"of {counted(told['jobs'], 'job')}, each forecast in {counted(futures, 'future')} as it "
        f"was submitted, drawn from {of_all}; the first quarter of all jobs only taught run times",
        "earlier, later: than the 90 % interval; median off by: median of how far medians were off",
    ]
    if drawn := drawn_words(told["deadlines"]):
        lines.append(drawn)
    for line in (*lines, *cleaned(found.run)):
        console.print(line, markup=False, highlight=False)
