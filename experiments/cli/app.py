"""The command `metasched`."""

from __future__ import annotations

import click

from experiments.cli.available import policies, scenarios, validate
from experiments.cli.bench import bench
from experiments.cli.check import check, verify
from experiments.cli.compile import compile_
from experiments.cli.live import (
    cancel,
    drain,
    forecast,
    hindcast,
    hold,
    log,
    queue,
    release,
    serve,
    submit,
    top,
    wait,
)
from experiments.cli.logs import convert, inspect
from experiments.cli.maxutil import maxutil
from experiments.cli.new import new
from experiments.cli.optimum import gap, oas, pareto
from experiments.cli.pages import explain, plot, report, view
from experiments.cli.process import Program
from experiments.cli.reproduce import reproduce
from experiments.cli.run import run
from experiments.cli.shadow import shadow
from experiments.cli.study import learn, saturation, study


@click.group(cls=Program, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="metasched")
def main() -> None:
    """Schedule parallel jobs in multiclusters on two levels, with agents."""


for each in (
    *(bench, check, compile_, convert, explain, gap, inspect, learn, maxutil, new, oas, pareto),
    *(plot, policies, report, reproduce, run, saturation, scenarios, study, validate, verify),
    *(cancel, drain, forecast, hindcast, hold, log, queue, release, serve, shadow, submit, top),
    *(view, wait),
):
    main.add_command(each)
