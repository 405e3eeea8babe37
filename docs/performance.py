"""Measure what docs/performance.md tells, write it there, and draw docs/performance.svg.

Run it from the source repository, with a C++ compiler, on a machine that does nothing else.
"""

from __future__ import annotations

import re
from pathlib import Path

from matplotlib.figure import Figure

from experiments.bench.long_queues import CASES, LOAD, bench_long_queues, seconds
from experiments.bench.measurement import Measurement
from experiments.bench.native import bench_native
from experiments.bench.site import jobs_of_users

DOCS = Path(__file__).parent
ENOUGH = 4.0
"""CPU seconds of a run after which no longer one is drawn."""


def main() -> None:
    """Measure, write the table and draw the curves."""
    rows = ["| measured | ratio | how |", "|---|--:|---|"]
    rows += [_row(each) for each in [*bench_native(), *bench_long_queues()]]
    page = DOCS / "performance.md"
    table = re.compile(r"\| measured \|.*?\n\n", re.DOTALL)
    text = page.read_text(encoding="utf-8")
    page.write_text(
        table.sub("\n".join(rows).replace("\\", r"\\") + "\n\n", text, count=1), "utf-8"
    )
    _draw()


def _row(measured: Measurement) -> str:
    return f"| {measured.name} | {measured.value:.2f} | {measured.note} |"


def _draw() -> None:
    """Draw how the time of a run grows with its jobs, for each way to serve a queue."""
    figure = Figure(figsize=(8.5, 4.5), layout="constrained")
    axes = figure.subplots()
    for case, marker in zip(CASES, "os^vD<>Px", strict=True):
        seconds(case, jobs_of_users(10))  # compiles, or loads what is compiled
        counts, taken = [case.jobs // 8], [seconds(case, jobs_of_users(case.jobs // 8, LOAD))]
        while taken[-1] < ENOUGH:
            counts.append(2 * counts[-1])
            taken.append(seconds(case, jobs_of_users(counts[-1], LOAD)))
            print(f"{case.name}: {counts[-1]:,} jobs in {taken[-1]:.2f} CPU s", flush=True)
        axes.loglog(counts, taken, marker=marker, label=case.name)
    axes.set_xlabel(f"jobs, at load {LOAD:g}")
    axes.set_ylabel("CPU seconds")
    figure.legend(loc="outside right center", frameon=False, fontsize="small")
    figure.savefig(DOCS / "performance.svg")


if __name__ == "__main__":
    main()
