"""`metasched scenarios`, `metasched policies` and `metasched validate`: what there is to run."""

from __future__ import annotations

import json
from typing import Any

import click

from experiments.cli.options import chosen_scenario, json_option, scenario_options
from experiments.cli.process import stdout_kept, users_code


@click.command()
@scenario_options()
@click.option("--all", "every", is_flag=True, help="List the platform and all parameters.")
@json_option
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

    with stdout_kept(as_json) as stdout:
        with users_code(), telling(f"reading {scenario}"):
            chosen = chosen_scenario(scenario, **options)
            model = chosen.model(seed)
        ran, stated = chosen.as_run(model), stated_by(model.workload)
        remarks = notes(chosen, stated=stated)
        found = described(chosen, scenario, remarks, ran)
        for note in remarks:
            click.echo(f"metasched: {note}", err=True)
        if as_json:
            click.echo(json.dumps(found, allow_nan=False), file=stdout)
        else:
            print_parameters(ran.platform, found, every)


_OF_PAPER = click.option("--paper", metavar="KEY", help="Those of a paper, such as muscle.")


@click.command()
@_OF_PAPER
@json_option
def scenarios(paper: str | None, as_json: bool) -> None:
    """List the scenarios that come with metasched."""
    from experiments.sweeps.progress import telling

    with telling("loading"):
        from experiments.cli.listing import list_scenarios, print_table
    print_table(list_scenarios(paper), as_json)


@click.command()
@click.option("--level", type=click.Choice(["global", "local"]), help="Those of one level.")
@_OF_PAPER
@json_option
def policies(level: str | None, paper: str | None, as_json: bool) -> None:
    """List the global and local schedulers that come with metasched."""
    from experiments.sweeps.progress import telling

    with telling("loading"):
        from experiments.cli.listing import list_policies, print_table

        found = list_policies(level, paper)
    print_table(found, as_json)
