"""`metasched reproduce`: a command for each paper."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any

import click

from experiments.cli.options import Figures, Number
from experiments.cli.process import Commands, stdout_kept


@click.group(cls=Commands)
def reproduce() -> None:
    """Run the experiments of a paper again, and judge what it claims."""


_JSON = click.option(
    "--json", "as_json", is_flag=True, help="Print the result as JSON, alone on stdout."
)


def _out(paper: str) -> Callable[..., Any]:
    return click.option(
        "--out",
        metavar="DIR",
        default=f"reproduce-{paper}",
        show_default=True,
        help="Results, and finished runs: the same command goes on where it stopped.",
    )


def study_options(paper: str, unit: str, replications: int) -> Callable[..., Any]:
    """Return what adds the options that all papers' experiments have."""
    options = (
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
        _out(paper),
        _JSON,
    )

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def _carry_out(
    reproduce_: Callable[..., Any],
    out: str,
    as_json: bool,
    show: Callable[[Any, Any], None],
) -> None:
    """Run a paper's experiments in a folder, and leave and tell what they came to."""
    from pathlib import Path

    from rich.console import Console

    from experiments.sweeps.progress import SweepProgress

    with stdout_kept() if as_json else nullcontext(sys.stdout) as stdout:
        with SweepProgress(Console(stderr=True)) as progress:
            report = reproduce_(Path(out), progress)
        report.write(Path(out))
        if as_json:
            click.echo(json.dumps(report.summary(), allow_nan=False), file=stdout)
        else:
            show(report, Console())


def _given(workers: int | None, **options: Any) -> dict[str, Any]:
    """Return the options that were given, under the names that `reproduce` functions have."""
    from experiments.sweeps.sweep import cores

    found = {name: value for name, value in options.items() if value is not None}
    return {**found, "workers": cores() if workers is None else workers}


def _parts(given: tuple[str, ...], all_of_them: Sequence[str]) -> tuple[str, ...]:
    """Return the parts that were asked for, in their order; all of them without any."""
    return tuple(part for part in all_of_them if not given or part in given)


@reproduce.command(
    "muscle", short_help="Run Figs. 4 to 7 of `muscle` again, with a verdict on each claim."
)
@click.option(
    "--figure",
    "figures",
    type=Figures(),
    metavar="N|N-M",
    help="Figures of 4-7, such as 4-6 or 4,7 (default: all).",
)
@study_options("muscle", "20,000", 1)
def reproduce_muscle(
    figures: tuple[int, ...] | None, out: str, as_json: bool, **amounts: Any
) -> None:
    """Run Figs. 4 to 7 of `muscle` again: tables, pictures and a verdict on each claim."""
    from experiments.sweeps.progress import telling

    with telling("loading"):
        from experiments.papers import muscle
        from experiments.papers.muscle.listing import print_claims

    _carry_out(
        partial(muscle.reproduce, **_given(figures=figures, **amounts)),
        out,
        as_json,
        lambda report, console: print_claims(report, out, console),
    )


@reproduce.command(
    "beosim", short_help="Run Figs. 9 to 27 of `beosim` again, with a verdict on each claim."
)
@click.option(
    "--figure",
    "figures",
    type=Figures(),
    metavar="N|N-M",
    help="Figures of 9-11, 13-27, such as 14-21 or 9,13 (default: all).",
)
@click.option(
    "--table",
    type=click.Choice(["anchors", "decisions", "adaptive"]),
    help="Instead: section 6's bounds, Table 1 on this machine, or our `adaptive` against B3.",
)
@study_options("beosim", "4,000,000 (Figs. 9-13) and 400,000 (the others) a cluster", 5)
def reproduce_beosim(
    figures: tuple[int, ...] | None, table: str | None, out: str, as_json: bool, **amounts: Any
) -> None:
    """Run Figs. 9 to 27 of `beosim` again: tables, pictures and a verdict on each claim."""
    from experiments.sweeps.progress import telling
    from grid.errors import GridError

    with telling("loading"):
        from experiments.papers import beosim
        from experiments.papers.claims_report import print_claims, told

    if table is not None and figures is not None:
        raise GridError("--figure: found with --table; accepted: one of them")
    if table is not None:
        _show_table(table, out, _given(**amounts), as_json)
        return
    _carry_out(
        partial(beosim.reproduce, **_given(figures=figures, **amounts)),
        out,
        as_json,
        lambda report, console: print_claims(report.claims, f"{out}/{report.file}", console, told),
    )


def _show_table(table: str, out: str, amounts: dict[str, Any], as_json: bool) -> None:
    """Tell one of the tables of `beosim` that stand by themselves."""
    from pathlib import Path

    from rich.console import Console

    from experiments.sweeps.progress import SweepProgress, telling

    with telling("loading"):
        from experiments.papers import beosim
        from experiments.papers.beosim import listing

    found: Any
    with stdout_kept() if as_json else nullcontext(sys.stdout) as stdout:
        if table == "decisions":
            with telling("measuring how long decisions take"):
                measured = beosim.decision_times()
            found = {
                each.module: {"us": each.microseconds, "paper": each.paper} for each in measured
            }
            if not as_json:
                listing.print_decisions(measured, Console())
        else:
            with SweepProgress(Console(stderr=True)) as progress:
                if table == "anchors":
                    found = beosim.reproduce_anchors(Path(out), progress, **amounts)
                else:
                    found = beosim.compare_adaptive(Path(out), progress, **amounts)
            if not as_json and table == "anchors":
                listing.print_anchors(found, Console())
            elif not as_json:
                listing.print_adaptive(found, Console())
        if as_json:
            click.echo(json.dumps(found, allow_nan=False), file=stdout)


@reproduce.command(
    "queues", short_help="Run Figs. 3 to 18 of `queues` again, with a verdict on each claim."
)
@click.option(
    "--figure",
    "figures",
    type=Figures(),
    metavar="N|N-M",
    help="Figures of 3-18, such as 9-14 or 3,4 (default: all).",
)
@click.option(
    "--table",
    type=click.Choice(["saturation"]),
    help="Instead: the search for the maximal utilizations that the loads follow from.",
)
@study_options("queues", "1,000,000", 10)
def reproduce_queues(
    figures: tuple[int, ...] | None, table: str | None, out: str, as_json: bool, **amounts: Any
) -> None:
    """Run Figs. 3 to 18 of `queues` again: tables, pictures and a verdict on each claim."""
    from experiments.sweeps.progress import telling
    from grid.errors import GridError

    with telling("loading"):
        from experiments.papers import queues
        from experiments.papers.claims_report import print_claims
        from experiments.papers.queues.report import TELL

    if table is not None and figures is not None:
        raise GridError("--figure: found with --table; accepted: one of them")
    if table is not None:
        _show_saturation(out, _given(**amounts), as_json)
        return
    _carry_out(
        partial(queues.reproduce, **_given(figures=figures, **amounts)),
        out,
        as_json,
        lambda report, console: print_claims(report.claims, f"{out}/{report.file}", console, TELL),
    )


def _show_saturation(out: str, amounts: dict[str, Any], as_json: bool) -> None:
    """Tell the maximal utilizations of `queues`."""
    from pathlib import Path

    from rich.console import Console

    from experiments.sweeps.progress import SweepProgress, telling

    with telling("loading"):
        from experiments.papers.queues import search

    with stdout_kept() if as_json else nullcontext(sys.stdout) as stdout:
        with SweepProgress(Console(stderr=True)) as progress:
            found = search.search(Path(out), progress, **amounts)
        if as_json:
            told = [each.to_dict() for each in found]
            click.echo(json.dumps(told, allow_nan=False), file=stdout)
        else:
            search.print_found(found, Console())


@reproduce.command(
    "maxutil", short_help="Run sections 3 to 7 of `maxutil` again, with a verdict on each claim."
)
@click.option(
    "--part",
    "parts",
    type=click.Choice(["tables", "figures", "chain", "logs"]),
    multiple=True,
    help="Tables 3 and 4; Figs. 3-6, 8 and section 7.1; tiny systems solved exactly; Tables 1, 2 "
    "and Figs. 1, 2, 7 (default: all).",
)
@click.option("--ctc", metavar="FILE", help="Log in SWF for the paper's of the CTC.")
@click.option("--das", metavar="FILE", help="Log in SWF for the paper's of the DAS.")
@study_options("maxutil", "4,000,000 (400,000 under FPFS)", 5)
def reproduce_maxutil(
    parts: tuple[str, ...],
    ctc: str | None,
    das: str | None,
    out: str,
    as_json: bool,
    **amounts: Any,
) -> None:
    """Run sections 3 to 7 of `maxutil` again: tables, pictures and a verdict on each claim."""
    from pathlib import Path

    from experiments.sweeps.progress import telling
    from grid.errors import GridError

    with telling("loading"):
        from experiments.papers import maxutil
        from experiments.papers.claims_report import print_claims
        from experiments.papers.maxutil.report import told

    logs: dict[str, Any] = {
        name: Path(path) for name, path in (("ctc", ctc), ("das", das)) if path is not None
    }
    for name in logs:
        if parts and "logs" not in parts:
            raise GridError(
                f"--{name}: found with --part {parts[0]}; accepted: with --part logs or all parts"
            )

    def show(report: maxutil.Report, console: Any) -> None:
        print_claims(report.claims, f"{out}/{report.file}", console, told, head="")
        if "logs" in report.parts and not report.logs:
            console.print("no logs given (--ctc, --das): Tables 1 and 2, Figs. 1, 2 and 7 left out")

    _carry_out(
        partial(maxutil.reproduce, **_given(parts=_parts(parts, maxutil.PARTS), **amounts), **logs),
        out,
        as_json,
        show,
    )


@reproduce.command(
    "oas", short_help="Run Figs. 3 and 4 of `oas` again, with a verdict on each claim."
)
@click.option(
    "--part",
    "parts",
    type=click.Choice(["slots", "workloads"]),
    multiple=True,
    help="Fig. 3: sizes of slots; Fig. 4: six workloads (default: both).",
)
@click.option(
    "--time-limit",
    type=Number(0, whole=False, above=True),
    default=60.0,
    show_default=True,
    metavar="S",
    help="Seconds for the solver, for each schedule.",
)
@_out("oas")
@_JSON
def reproduce_oas(parts: tuple[str, ...], time_limit: float, out: str, as_json: bool) -> None:
    """Run Figs. 3 and 4 of `oas` again: tables, pictures and a verdict on each claim."""
    from experiments.sweeps.progress import telling

    with telling("loading"):
        from experiments.papers import oas
        from experiments.papers.claims_report import print_claims
        from experiments.papers.oas.report import TELL

    _carry_out(
        partial(oas.reproduce, parts=_parts(parts, oas.PARTS), time_limit=time_limit),
        out,
        as_json,
        lambda report, console: print_claims(report.claims, f"{out}/{report.file}", console, TELL),
    )
