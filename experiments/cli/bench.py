"""The commands `metasched bench`."""

from __future__ import annotations

import json
import time
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import click

from experiments.cli.options import PLACE, Number, json_option
from experiments.cli.process import Commands, going_on, stdout_kept, users_code

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from experiments.bench.measurement import Measurement
    from experiments.sweeps.progress import SweepProgress


@click.group(cls=Commands)
def bench() -> None:
    """Measure how fast the product is here, or policies on real clusters."""


@bench.command()
@click.option(
    "--native",
    is_flag=True,
    help="Instead: beside C++ that does the same, compiled now from the source repository.",
)
@json_option
def kernel(native: bool, as_json: bool) -> None:
    """Measure how many jobs the kernel simulates in a CPU second."""
    from experiments.sweeps.progress import telling

    with telling("measuring: kernel") as watch:
        found = _of_runs(watch, "kernel", native)
    _print(found, as_json)


@bench.command()
@json_option
def queues(as_json: bool) -> None:
    """Measure what twice as many jobs cost where ever more wait."""
    from experiments.sweeps.progress import telling

    with telling("measuring: queues") as watch:
        found = _of_runs(watch, "queues", False)
    _print(found, as_json)


def _add(name: str, module: str, function: str, what: str) -> None:
    """Add a command that measures by a function of a module."""

    def measure(as_json: bool) -> None:
        from importlib import import_module

        from experiments.sweeps.progress import telling

        with telling(f"measuring: {name}"):
            found = getattr(import_module(f"experiments.{module}"), function)()
        _print(found, as_json)

    bench.command(name, help=f"Measure {what}.")(json_option(measure))


MEASURES = {
    "titan": ("bench.titan", "bench_titan", "TITAN's search"),
    "study": ("bench.study", "bench_study", "what a study of many runs loses to coordination"),
    "report": ("bench.page", "bench_page", "the page of `metasched report` in a browser"),
    "service": ("bench.service", "bench_service", "a service of real jobs: 1,000 sleep here"),
    "envs": (
        "environments.speed",
        "bench_envs",
        "decisions a second in environments to learn in",
    ),
}
"""By the name of a command: the module of `experiments` and its function, and what it measures."""
for _name, (_module, _function, _what) in MEASURES.items():
    _add(_name, _module, _function, _what)


@bench.command()
@click.argument("grid", type=PLACE, metavar="GRID")
@click.option("--jobs", type=Number(1), default=300, show_default=True, help="Of a replication.")
@click.option("--replications", type=Number(1), default=5, show_default=True)
@click.option(
    "--load",
    type=Number(0, whole=False, above=True),
    default=0.8,
    show_default=True,
    help="That the jobs offer the sites.",
)
@click.option("--seed", type=Number(0), default=0, show_default=True, help="Of the first one.")
@click.option(
    "--federation", is_flag=True, help="Also give the jobs to the federation that the sites are."
)
@click.option(
    "--out", type=PLACE, metavar="DIR", help="Keep finished runs there (default: NAME-clusters)."
)
@json_option
def clusters(
    grid: str,
    jobs: int,
    replications: int,
    load: float,
    seed: int,
    federation: bool,
    out: str | None,
    as_json: bool,
) -> None:
    """Compare policies on the real sites of GRID (.toml), and with simulation.

    The same jobs, which sleep for 5 to 30 s, run under MUSCLE over TITAN, DLL over EASY, and, if
    all sites are batch systems, given to them in turn without agents. With --federation, each is
    also given to the federation of Slurm whose clusters are the sites. This takes as long as it
    takes: at a load of 0.8 some six minutes for 300 jobs on 64 processors, for each policy and
    replication. The same command goes on where it stopped. Jobs that GRID names are left.
    """
    from rich.console import Console

    from experiments.sweeps.progress import SweepProgress, telling

    with telling("loading"):
        from experiments.bench.clusters import Clusters
        from experiments.bench.comparison import compare, print_comparison
        from experiments.sweeps.forecast import Forecast

    seeds, piece = range(seed, seed + replications), count()
    with stdout_kept(as_json) as stdout:
        folder = Path(out or f"{Path(grid).stem}-clusters")
        with going_on("the same command", folder), users_code():
            chosen = Clusters(grid, folder, jobs, load, federation)
            todo = [(way, each) for each in seeds for way in chosen.ways]
            pieces = [[(way.key, 1.0)] for way, each in todo if not chosen.is_kept(way, each)]
            with SweepProgress(Console(stderr=True)) as watch:
                watch.begin(len(todo) - len(pieces), Forecast(pieces, known=False))
                found = compare(chosen, seeds, lambda took: watch.advance(next(piece), [took]))
        if as_json:
            click.echo(json.dumps(found.summary(), allow_nan=False), file=stdout)
        else:
            print_comparison(found, Console())


def _print(found: Sequence[Measurement], as_json: bool) -> None:
    from experiments.bench.measurement import as_json as rows
    from experiments.bench.measurement import print_measurements

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
