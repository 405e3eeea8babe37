"""What a parallel application does, as PACE models it: subtasks, each with a parallel template."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agents.pace.formula import Formula
from agents.pace.packaged import checked_keys, named
from agents.pace.templates import TEMPLATES
from grid.errors import GridError
from grid.foreign import plain, quoted
from grid.names import meant

NOTHING, ONCE = Formula("0"), Formula("1")


@dataclass(frozen=True)
class Subtask:
    """Operations that each processor carries out, and messages by which they work together.

    Attributes
    ----------
    name : str
    template : str
        One of `agents.pace.templates.TEMPLATES`.
    operations : tuple of (str, Formula)
        How many of each kind one processor carries out.
    message : Formula
        Bytes of one message.
    stages : Formula
        Parts in which a pipeline works.
    """

    name: str
    template: str
    operations: tuple[tuple[str, Formula], ...]
    message: Formula = NOTHING
    stages: Formula = ONCE


@dataclass(frozen=True)
class Application:
    """An application: the flow of its subtasks, one after the other, again and again.

    Attributes
    ----------
    name : str
    problem_size : str
        What n is, in words.
    subtasks : tuple of Subtask
    iterations : Formula
        How often all of them are carried out.
    """

    name: str
    problem_size: str
    subtasks: tuple[Subtask, ...]
    iterations: Formula = ONCE

    @classmethod
    def from_dict(cls, name: str, mapping: Mapping[str, Any]) -> Application:
        """Return the application that the tables of a TOML file describe.

        Raises
        ------
        GridError
            If it has no subtask, or one that cannot be used.
        """
        where = f"application {quoted(name)}"
        checked_keys(where, mapping, {"subtasks"}, {"problem_size", "iterations"})
        tables, again = mapping["subtasks"], mapping.get("iterations", 1)
        if isinstance(again, int | float) and not again > 0:
            raise GridError(
                f"{where}: iterations: found {quoted(again)}; accepted: above 0, or a formula"
            )
        if not (isinstance(tables, list) and tables and all(isinstance(t, dict) for t in tables)):
            raise GridError(f"{where}: subtasks: found {quoted(tables)}; accepted: [[subtasks]]")
        return cls(
            name,
            str(mapping.get("problem_size", "")),
            tuple(_subtask(where, number, table) for number, table in enumerate(tables, 1)),
            Formula(again, f"{where}: iterations"),
        )


def application_of(model: str | Application) -> Application:
    """Return an application by the name of a packaged one, or from a TOML file."""
    if isinstance(model, Application):
        return model
    return Application.from_dict(model, named("applications", model))


def _subtask(where: str, number: int, table: Mapping[str, Any]) -> Subtask:
    where = f"{where}: subtask {quoted(table.get('name', number))}"
    checked_keys(where, table, {"template", "operations"}, {"name", "message", "stages"})
    template, operations = table["template"], table["operations"]
    if not isinstance(template, str) or template not in TEMPLATES:
        raise GridError(
            f"{where}: template: found {quoted(template)}; {meant(str(template), TEMPLATES)}"
        )
    if not (isinstance(operations, dict) and operations):
        raise GridError(
            f"{where}: operations: found {quoted(operations)}; accepted: a table of how many of "
            "each kind"
        )
    if "stages" in table and template != "pipeline":
        raise GridError(f"{where}: stages: found with {template}; accepted: with pipeline")
    return Subtask(
        str(table.get("name", number)),
        template,
        tuple(
            (kind, Formula(count, f"{where}: operations: {plain(kind)}"))
            for kind, count in sorted(operations.items())
        ),
        Formula(table.get("message", 0), f"{where}: message"),
        Formula(table.get("stages", 1), f"{where}: stages"),
    )
