"""What there is to run: scenarios, policies and parameters, as tables or JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from agents import registry
from experiments.parameters import Parameters
from experiments.scenario import Scenario, packaged_names

if TYPE_CHECKING:
    from collections.abc import Sequence

Rows = list[dict[str, str]]


def list_scenarios() -> Rows:
    """Return name, title and paper of each packaged scenario."""
    loaded = [Scenario.load(name) for name in packaged_names()]
    return [{"name": s.name, "title": s.title, "paper": s.paper} for s in loaded]


def list_policies() -> Rows:
    """Return name, level, one line and paper of each built-in scheduler."""
    rows = []
    for level, names, find in (
        ("global", registry.GLOBAL, registry.global_scheduler),
        ("local", registry.LOCAL, registry.local_scheduler),
    ):
        for name in names:
            found = find(name)
            rows.append(
                {
                    "name": name,
                    "level": level,
                    "title": registry.summary(found),
                    "paper": found.paper,
                }
            )
    return rows


def print_table(rows: Rows, as_json: bool) -> None:
    """Print rows for people, or as JSON."""
    if as_json:
        click.echo(json.dumps(rows))
    else:
        _print(rows)


def print_parameters(scenario: Scenario) -> None:
    """Print what a scenario would be run with."""
    assert isinstance(scenario.parameters, Parameters)
    values = scenario.parameters.model_dump()
    click.echo(f"{scenario.name}: valid. Parameters, each changed by --set NAME=VALUE:")
    _print(
        [
            {"name": name, "value": shown(values[name]), "meaning": field.description or ""}
            for name, field in Parameters.model_fields.items()
        ]
    )


def shown(value: object) -> str:
    """Return the value of a parameter as ``--set`` takes it."""
    return json.dumps(value) if not isinstance(value, str) else value


def _print(rows: Sequence[dict[str, str]]) -> None:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for index, name in enumerate(rows[0]):
        table.add_column(name, no_wrap=index == 0, overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row.values()))
    Console().print(table)
