"""`metasched scenarios`, `metasched policies` and `metasched validate`: what there is to run."""

from __future__ import annotations

import json
import math
import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import click

from experiments.cli.options import chosen_scenario, scenario_options
from experiments.cli.process import (
    stdout_kept,
    users_code,
)

if TYPE_CHECKING:
    from experiments.scenario.scenario import Scenario
    from grid.workloads.table import Stated


def tell_notes(
    scenario: Scenario,
    all_left_at: float = math.inf,
    due: bool = True,
    stated: Stated | None = None,
    several: bool = False,
) -> None:
    """Tell on stderr what is no error; once a run is done, so that an error stays one line."""
    from experiments.scenario.notes import notes
    from grid.workloads.table import NOTHING

    for note in notes(scenario, all_left_at, due, stated or NOTHING, several):
        click.echo(f"metasched: {note}", err=True)


@click.command()
@scenario_options()
@click.option("--all", "every", is_flag=True, help="List the platform and all parameters.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, alone on stdout.")
def validate(seed: int, every: bool, as_json: bool, scenario: str, **options: Any) -> None:
    """Check SCENARIO without simulating it, and list the parameters that it changes.

    Yet a .py file is run as a script, and modules that any scenario names (module:Class) are
    imported: use only files that you trust.
    """
    from experiments.sweeps.progress import telling
    from grid.workloads.table import stated_by

    with telling("loading"):
        from experiments.cli.listing import described, print_parameters
        from experiments.scenario.notes import notes

    with stdout_kept() if as_json else nullcontext(sys.stdout) as stdout:
        with users_code(), telling(f"reading {scenario}"):
            chosen = chosen_scenario(scenario, **options)
            model = chosen.model(seed)
        ran, stated = chosen.as_run(model), stated_by(model.workload)
        found = described(chosen, scenario, notes(chosen, stated=stated), ran)
        tell_notes(chosen, stated=stated)
        if as_json:
            click.echo(json.dumps(found, allow_nan=False), file=stdout)
        else:
            print_parameters(ran.platform, found, every)


_OF_PAPER = click.option("--paper", metavar="KEY", help="Those of a paper, such as muscle.")


@click.command()
@_OF_PAPER
@click.option("--json", "as_json", is_flag=True, help="Print JSON, alone on stdout.")
def scenarios(paper: str | None, as_json: bool) -> None:
    """List the scenarios that come with metasched."""
    from experiments.sweeps.progress import telling

    with telling("loading"):
        from experiments.cli.listing import list_scenarios, print_table
    print_table(list_scenarios(paper), as_json)


@click.command()
@click.option("--level", type=click.Choice(["global", "local"]), help="Those of one level.")
@_OF_PAPER
@click.option("--json", "as_json", is_flag=True, help="Print JSON, alone on stdout.")
def policies(level: str | None, paper: str | None, as_json: bool) -> None:
    """List the global and local schedulers that come with metasched."""
    from experiments.sweeps.progress import telling

    with telling("loading"):
        from experiments.cli.listing import list_policies, print_table

        found = list_policies(level, paper)
    print_table(found, as_json)
