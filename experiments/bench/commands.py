"""The command `metasched bench`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from experiments.bench.measurement import Measurement


@click.command()
@click.argument("what", type=click.Choice(["kernel", "titan", "study", "report"]))
@click.option("--json", "as_json", is_flag=True, help="Print JSON, alone on stdout.")
def bench(what: str, as_json: bool) -> None:
    """Measure the kernel, TITAN, a study of many runs, or the page of `metasched report`."""
    from experiments.bench.coallocation import bench_coallocation
    from experiments.bench.kernel import bench_kernel
    from experiments.bench.measurement import as_json as rows
    from experiments.bench.measurement import print_measurements
    from experiments.bench.page import bench_page
    from experiments.bench.queues import bench_queues
    from experiments.bench.site import bench_site
    from experiments.bench.study import bench_study
    from experiments.bench.titan import bench_titan
    from experiments.studies.progress import telling

    of_kernel = bench_coallocation, bench_queues, bench_site, bench_kernel  # keeps records: last
    benches: dict[str, Sequence[Callable[[], list[Measurement]]]] = {
        "kernel": of_kernel,
        "titan": [bench_titan],
        "study": [bench_study],
        "report": [bench_page],
    }
    with telling(f"measuring: {what}"):
        found = [each for bench in benches[what] for each in bench()]
    if as_json:
        click.echo(json.dumps(rows(found)))
    else:
        print_measurements(found)
