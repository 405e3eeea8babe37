"""`metasched reproduce`: a command for each paper."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import click

from experiments.cli.options import PLACE, Figures, Number, Option, adding, given_beside
from experiments.cli.process import Commands, stdout_kept


@click.group(cls=Commands)
def reproduce() -> None:
    """Run the experiments of a paper again, and judge what it claims."""


def _add(paper: str, what: str, *options: Option) -> None:
    """Add the command of a paper, which runs what it says, with options of its own."""
    said = f"Run {what} of `{paper}` again"
    output = (
        click.option(
            "--out",
            type=PLACE,
            metavar="DIR",
            default=f"reproduce-{paper}",
            show_default=True,
            help="Results, and finished runs: the same command goes on where it stopped.",
        ),
        click.option(
            "--json", "as_json", is_flag=True, help="Print the result as JSON, alone on stdout."
        ),
    )
    command = adding(*options, *output)(partial(_carry_out, paper))
    help_ = f"{said}: tables, pictures and a verdict on each claim."
    short = f"{said}, with a verdict on each claim."
    reproduce.command(paper, help=help_, short_help=short)(command)


def _carry_out(paper: str, out: str, as_json: bool, table: str | None = None, **given: Any) -> None:
    """Run a paper's experiments in a folder, and leave and tell what they came to."""
    from importlib import import_module
    from inspect import signature
    from pathlib import Path

    from rich.console import Console

    from experiments.sweeps.progress import SweepProgress, telling
    from experiments.sweeps.starting import cores
    from grid.errors import GridError

    with telling("loading"):
        module = import_module(f"experiments.papers.{paper}")
    if "workers" in given:
        given["workers"] = given["workers"] or cores()
    given = {name: value for name, value in given.items() if value is not None}
    if table is None:
        run = module.Paper(**given).reproduce
    elif "parts" in given:
        raise GridError("--figure: found with --table; accepted: one of them")
    elif {*signature(module.TABLES[table]).parameters} > {"folder", "watch"}:
        run = partial(module.TABLES[table], **given)
    else:
        run = module.TABLES[table]
        if unread := [*given_beside(("table", "out", "as_json"))]:
            why = f"--table {table} reads none of them"
            click.echo(f"metasched: options without effect: {', '.join(unread)} ({why})", err=True)
    with stdout_kept(as_json) as stdout:
        with SweepProgress(Console(stderr=True)) as progress:
            report = run(Path(out), progress)
        report.write(Path(out))
        if as_json:
            click.echo(json.dumps(report.summary(), allow_nan=False), file=stdout)
        else:
            report.show(out, Console())


def _figures(which: str) -> Option:
    return click.option(
        "--figure",
        "parts",
        type=Figures(),
        metavar="N|N-M",
        help=f"Figures of {which} (default: all).",
    )


def _table(*names: str, what: str) -> Option:
    return click.option("--table", type=click.Choice(names), help=f"Instead: {what}.")


def _parts(*names: str, what: str) -> Option:
    return click.option("--part", "parts", type=click.Choice(names), multiple=True, help=what)


def _amounts(unit: str, replications: str) -> tuple[Option, ...]:
    """Return the options that say how much is run."""
    return (
        click.option(
            "--scale",
            type=Number(0, whole=False, above=True),
            default=1.0,
            show_default=True,
            help=f"Jobs a run, in units of {unit}.",
        ),
        click.option(
            "--replications",
            type=Number(1),
            help=f"Runs of each point, of different seeds (default: {replications}).",
        ),
        click.option("--workers", type=Number(1), help="Processes (default: one for each core)."),
    )


_add(
    "muscle",
    "Figs. 4 to 7",
    _figures("4-7, such as 4-6 or 4,7"),
    _table(
        "2",
        what="section 4's composition table, and the packing of its jobs (Fig. 3), whatever "
        "--scale and --replications",
    ),
    *_amounts("20,000", "1"),
    click.option(
        "--cpu-hours",
        type=Number(0, whole=False, above=True),
        metavar="H",
        help="Add replications where a verdict is open, until none is or so many CPU hours are "
        "spent on runs.",
    ),
)
_add(
    "beosim",
    "Figs. 9 to 27",
    _figures("9-11, 13-27, such as 14-21 or 9,13"),
    _table(
        *("anchors", "decisions", "adaptive"),
        what="section 6's bounds, Table 1 as timed on this machine (whatever --scale and "
        "--replications), or our `adaptive` against B3",
    ),
    *_amounts(
        "4,000,000 (Figs. 9-13) and 400,000 (the others) a cluster; claims on fewer than 1,000 "
        "stay open",
        "5",
    ),
)
_add(
    "queues",
    "Figs. 3 to 18",
    _figures("3-18, such as 9-14 or 3,4"),
    _table("saturation", what="the search for the maximal utilizations that the loads follow from"),
    *_amounts("1,000,000 (150,000 with --table), at least 1,000", "10, with --table 8"),
)
_add(
    "maxutil",
    "sections 3 to 7",
    _parts(
        *("tables", "poisson", "figures", "chain", "logs"),
        what="Tables 3 and 4; Poisson arrivals (section 5); Figs. 3-6, 8 and section 7.1; tiny "
        "systems solved exactly; Tables 1, 2 and Figs. 1, 2, 7 (default: all).",
    ),
    click.option(
        "--ctc", type=PLACE, metavar="FILE", help="Log in SWF for the paper's of the CTC."
    ),
    click.option(
        "--das", type=PLACE, metavar="FILE", help="Log in SWF for the paper's of the DAS."
    ),
    *_amounts("4,000,000 (400,000 under FPFS), at least 1,000", "5"),
)
_add(
    "oas",
    "Figs. 3 and 4",
    _parts(
        *("slots", "workloads"),
        what="Fig. 3: sizes of slots; Fig. 4: six workloads (default: both).",
    ),
    click.option(
        "--time-limit",
        type=Number(0, whole=False, above=True),
        default=60.0,
        show_default=True,
        metavar="S",
        help="Seconds for the solver, for each schedule.",
    ),
)
