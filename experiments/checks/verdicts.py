"""What checks found, for people and for programs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple, TextIO

import click
from rich import box
from rich.table import Table
from rich.text import Text

from experiments.checks.unchecked import grouped
from experiments.show.numbers import first_of
from experiments.show.tables import unfolded
from grid.foreign import plain

NAMED = 3
"""So many of each kind of what is not checked are named to people."""


class Verdict(NamedTuple):
    """One check: what it was about, whether it holds, and of what, or why not; what would help.

    Of one that could not be made, `holds` is None.

    Several things that are wrong have a line each. Also what it had to leave out, as paths in what
    was checked.
    """

    check: str
    holds: bool | None
    detail: str
    hint: str = ""
    unchecked: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, check: str, problems: Iterable[str], of_what: str, unchecked: tuple[str, ...] = ()
    ) -> Verdict:
        """Return the verdict by the problems that a check found: it holds if there are none."""
        found = [*problems]
        more = f" (and {len(found) - 1:,} more)" if len(found) > 1 else ""
        detail = found[0] + more if found else of_what
        return cls(check, not found, detail, unchecked=unchecked)


def print_verdicts(
    of: str, verdicts: Sequence[Verdict], as_json: bool, file: TextIO | None = None
) -> None:
    """Print verdicts as a table, or as one JSON object.

    Parameters
    ----------
    of : str
        What was checked.
    verdicts : sequence of Verdict
    as_json : bool
    file : text file, optional
        Where to; by default standard output.
    """
    failed = [verdict for verdict in verdicts if verdict.holds is False]
    if as_json:
        checks = [
            {name: value for name, value in verdict._asdict().items() if value not in ("", ())}
            for verdict in verdicts
        ]
        click.echo(json.dumps({"of": of, "holds": not failed, "checks": checks}), file=file)
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("check", "verdict", "of what, or why not"):
        table.add_column(heading, no_wrap=heading == "verdict", overflow="fold")
    unmade: dict[str, list[str]] = {}
    for check, holds, detail, hint, _ in verdicts:
        if holds is None:
            unmade.setdefault(detail, []).append(check)
            continue
        verdict = Text("holds" if holds else "FAILS", style="" if holds else "bold red")
        lines = detail.split("\n")
        if hint:
            lines.append(f"-> {hint}")
        text = "\n".join(plain(line, most=len(line)) for line in lines)
        table.add_row(check, verdict, Text(text))
    console = unfolded(file)
    console.print(table)
    total = f"{len(verdicts)} checks hold"
    if failed:
        total = f"{len(failed)} of {len(verdicts)} checks FAIL"
    lines = [f"{of}: {total}"]
    lines += [f"Not checked, as {why}: {'; '.join(checks)}" for why, checks in unmade.items()]
    left = grouped(path for verdict in verdicts for path in verdict.unchecked)
    if left:
        lines.append("Not checked, since the jobs do not show it (--json has all names):")
    for kind, names in left.items():
        lines.append(f"- {kind}: {first_of([*map(plain, names)], NAMED)}")
    for line in lines:
        console.print(line, highlight=False)
