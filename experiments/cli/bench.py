"""The command `metasched bench`."""

from __future__ import annotations

import json
import time
from itertools import count
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Callable

    from experiments.bench.measurement import Measurement
    from experiments.sweeps.progress import SweepProgress


@click.command()
@click.argument("what", type=click.Choice(["kernel", "queues", "titan", "study", "report"]))
@click.option(
    "--native",
    is_flag=True,
    help="Of the kernel: beside C++ that does the same, compiled now from the source repository.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, alone on stdout.")
def bench(what: str, native: bool, as_json: bool) -> None:
    """Measure the kernel, long queues, TITAN, a study of many runs, or `metasched report`."""
    if native and what != "kernel":
        raise click.BadParameter(f"found with {what}; accepted: with kernel", param_hint="--native")
    from experiments.bench.measurement import as_json as rows
    from experiments.bench.measurement import print_measurements
    from experiments.bench.page import bench_page
    from experiments.bench.study import bench_study
    from experiments.bench.titan import bench_titan
    from experiments.sweeps.progress import telling

    benches: dict[str, Callable[[], list[Measurement]]] = {
        "titan": bench_titan,
        "study": bench_study,
        "report": bench_page,
    }
    with telling(f"measuring: {what}") as watch:
        counted = what in ("kernel", "queues")
        found = _of_runs(watch, what, native) if counted else benches[what]()
    if as_json:
        click.echo(json.dumps(rows(found)))
    else:
        print_measurements(found)


def _of_runs(watch: SweepProgress, what: str, beside_native: bool) -> list[Measurement]:
    """Measure the kernel or long queues; have people told how many of the runs are done."""
    from experiments.bench import coallocation, kernel, long_queues, native, queues, site
    from experiments.sweeps.forecast import Forecast

    benches: tuple[tuple[Callable[..., list[Measurement]], int], ...] = (
        (coallocation.bench_coallocation, coallocation.RUNS),
        (queues.bench_queues, queues.RUNS),
        (site.bench_site, site.RUNS),
        (kernel.bench_kernel, kernel.RUNS),  # keeps records: last
    )
    if beside_native:
        benches = ((native.bench_native, native.RUNS),)
    elif what == "queues":
        benches = ((long_queues.bench_long_queues, long_queues.RUNS),)
    pieces = [[(bench.__name__, 1.0)] for bench, runs in benches for _ in range(runs)]
    watch.begin(0, Forecast(pieces, known=False))
    piece, began = count(), time.monotonic()

    def ended() -> None:
        nonlocal began
        now = time.monotonic()
        watch.advance(next(piece), [now - began])
        began = now

    return [each for bench, _ in benches for each in bench(ended=ended)]
