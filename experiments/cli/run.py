"""The command `metasched run`."""

from __future__ import annotations

import json
import shlex
import sys
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import click

from experiments.cli.options import (
    PLACE,
    Duration,
    Number,
    check_alone,
    chosen_scenario,
    scenario_options,
)
from experiments.cli.process import (
    FAILED,
    INTERRUPTED,
    UNFINISHED,
    going_on,
    stdout_kept,
    users_code,
)
from grid.errors import GridError

if TYPE_CHECKING:
    from experiments.run.results import Result


@dataclass(frozen=True)
class _Asked:
    """Options of a single run, as the command line has them."""

    live: bool | None
    pace: float | None
    follow: int | None
    out: str | None
    rounds: str | None
    events: str | None
    checkpoint: str | None
    every: float | None
    resume: str | None


@click.command()
@scenario_options(required=False)
@click.option("--live/--no-live", default=None, help="Show the dashboard (default: in a terminal).")
@click.option(
    "--pace",
    type=Number(0, whole=False, above=True, endless=True),
    metavar="X",
    help="Live: X simulated seconds a second (default: in a terminal, a run of 30 s at least).",
)
@click.option("--follow", type=Number(), metavar="JOB", help="Live: follow the job of this number.")
@click.option(
    "--out",
    type=PLACE,
    metavar="DIR",
    help="Write summary.json, jobs.csv and timeline.csv there; users.csv if jobs name users, and "
    "electricity.csv if watts are given.",
)
@click.option(
    "--rounds", type=PLACE, metavar="FILE", help="Write each round's CP, MCP and PB there (.csv)."
)
@click.option(
    "--events",
    type=PLACE,
    metavar="FILE",
    help="Write every message and job event there (JSON lines).",
)
@click.option(
    "--checkpoint", type=PLACE, metavar="FILE", help="Write a checkpoint there now and then."
)
@click.option(
    "--every",
    type=Duration(),
    metavar="TIME",
    help="Wall time between checkpoints, such as 30s, 10m (default) or 2h.",
)
@click.option(
    "--resume",
    type=PLACE,
    metavar="FILE",
    help="Go on from a checkpoint, with no SCENARIO. It can run any code: resume only your own.",
)
@click.option(
    "--replications",
    type=Number(1),
    metavar="N",
    help="Run it N times, with seeds spawned from --seed: means and 95 % confidence intervals.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON, alone on stdout.")
def run(
    scenario: str | None,
    seed: int,
    replications: int | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Run SCENARIO: one of `metasched scenarios`, or the path of a .toml or .py file.

    A .py file is run as a script, and modules that any scenario names (module:Class) are imported:
    use only files that you trust.
    """
    asked = _Asked(**{each.name: options.pop(each.name) for each in fields(_Asked)})
    if asked.resume is not None:
        check_alone()
    elif scenario is None:
        raise click.UsageError("Missing argument 'SCENARIO'.")
    if asked.every is not None and asked.checkpoint is None and asked.resume is None:
        raise GridError("--every: found alone; accepted: with --checkpoint or --resume")
    if replications is not None:
        assert scenario is not None
        for name in ("live", "pace", "follow", "checkpoint", "rounds", "events"):
            if getattr(asked, name) not in (None, False):
                raise GridError(f"--replications: found with --{name}; accepted: one of them")
        _replicate(scenario, options, seed, replications, asked.out, as_json)
        return
    _check_seen(asked, as_json)
    with stdout_kept(as_json) as stdout:
        result = _run_once(scenario, options, seed, asked, as_json)
        if asked.rounds is not None:
            _write_rounds(result, asked.rounds)
        for note in result.notes:
            click.echo(f"metasched: {note}", err=True)
        if as_json:
            if result.stable is False:
                from experiments.show.run_tables import UNSTABLE

                click.echo(f"metasched: {UNSTABLE}", err=True)
            if result.short_warm_up:
                click.echo(f"metasched: {result.short_warm_up}", err=True)
            click.echo(json.dumps(result.summary(), allow_nan=False), file=stdout)
        else:
            from rich.console import Console

            from experiments.show.run_tables import print_result

            print_result(result, Console())
    _exit_as(result, asked.checkpoint or asked.resume)


def _check_seen(asked: _Asked, as_json: bool) -> None:
    """Raise `GridError` if something is asked of a dashboard that is not shown."""
    if asked.live or (asked.live is None and not as_json):
        return
    for name in ("pace", "follow"):
        if getattr(asked, name) is not None:
            beside = "--json" if asked.live is None else "--no-live"
            raise GridError(f"--{name}: found with {beside}; accepted: with --live")


def _run_once(
    scenario: str | None, options: dict[str, Any], seed: int, asked: _Asked, as_json: bool
) -> Result:
    """Run a scenario, or go on from a checkpoint."""
    from experiments.sweeps.progress import telling

    with telling("loading"):
        from experiments.run.checkpoints import Saving, read
        from experiments.run.files import check_files, check_folder
        from experiments.run.running import Display
        from experiments.run.running import resume as resume_run
        from experiments.run.running import run as run_scenario
        from experiments.sweeps.compiling import saying_when_compiling

    live, pace, follow = asked.live, asked.pace, asked.follow
    shown = bool(live) if as_json else live
    preparing = f"preparing {scenario or asked.resume}, and compiling what is not compiled yet"
    with (
        users_code(),
        saying_when_compiling(always=bool(live)),
        telling(preparing) as watch,
    ):
        files = (
            (asked.rounds, "rounds"),
            (asked.events, "events"),
            (asked.checkpoint, "checkpoint"),
        )
        if asked.resume is not None:
            under_way = read(asked.resume)
            check_files(files, under_way.folder)
            assert under_way.saving is not None
            every = asked.every or under_way.saving.every
            under_way.saving = Saving(asked.checkpoint or asked.resume, every)
            display = Display(shown, pace, follow, watch)
            return resume_run(under_way, display)
        assert scenario is not None
        chosen = chosen_scenario(scenario, **options)
        if asked.out is not None:
            check_folder(asked.out)
        check_files(files, asked.out, chosen.logs)
        saving = None
        if asked.checkpoint is not None:
            saving = Saving(asked.checkpoint, asked.every or Saving.every)
        return run_scenario(
            chosen,
            seed,
            shown,
            pace,
            follow,
            events=asked.events,
            out=asked.out,
            keep_jobs=False,
            saving=saving,
            watch=watch,
        )


def _write_rounds(result: Result, path: str) -> None:
    from experiments.run.writing import write_rounds

    write_rounds(result, path)
    if not result.round_count:
        click.echo(f"metasched: no rounds; {path} has the header only", err=True)


def _exit_as(result: Result, kept: str | None) -> None:
    """Exit with the status of a result that is not whole, and say why; return for one that is."""
    from experiments.show.numbers import counted

    of_all = counted(result.submitted, "job")
    if result.interrupted:
        if kept:
            click.echo(f"metasched: to go on: metasched run --resume {shlex.quote(kept)}", err=True)
        sys.exit(INTERRUPTED)
    if result.tally.rejected and not result.tally.completed and not result.unfinished:
        rejections = "; ".join(result.rejections)
        click.echo(f"metasched: {of_all} of {result.submitted:,} rejected: {rejections}", err=True)
        sys.exit(UNFINISHED)
    if result.unfinished:
        counts = f"{result.unfinished:,} of {of_all}"
        click.echo(f"metasched: {counts} not finished: {result.why_unfinished}", err=True)
        sys.exit(UNFINISHED)
    if result.failed_metrics:
        sys.exit(FAILED)


def _replicate(
    scenario: str,
    options: dict[str, Any],
    seed: int,
    replications: int,
    out: str | None,
    as_json: bool,
) -> None:
    """Run a scenario several times, and print what the runs come to."""
    from pathlib import Path

    from rich.console import Console

    from experiments.sweeps.progress import SweepProgress, telling

    with telling("loading"):
        from experiments.run.files import check_folder
        from experiments.scenario.notes import notes
        from experiments.show.numbers import counted
        from experiments.show.run_tables import print_replications
        from experiments.sweeps.observations import NOT_RANDOM
        from experiments.sweeps.replications import replicate, write
        from experiments.sweeps.run_store import RUNS
        from experiments.sweeps.starting import cores

    with stdout_kept(as_json) as stdout:
        kept = None if out is None else Path(out) / RUNS
        again = going_on("the same command", kept)
        with again, users_code(), SweepProgress(Console(stderr=True)) as progress:
            chosen = chosen_scenario(scenario, **options)
            if out is not None:
                check_folder(out)
            found = replicate(chosen, seed, replications, cores(), progress, out)
        text = json.dumps(found.summary(), allow_nan=False)
        if out is not None:
            write(found, text, Path(out))
        due = found.deadlines is not None or found.all_rejected
        for note in notes(chosen, found.all_left_at, due, found.stated, several=True):
            click.echo(f"metasched: {note}", err=True)
        if as_json:
            if not found.random:
                click.echo(f"metasched: {NOT_RANDOM}", err=True)
            click.echo(text, file=stdout)
        else:
            print_replications(found, Console())
    if found.all_rejected:
        click.echo("metasched: all jobs of all runs were rejected", err=True)
    if found.unfinished:
        counts = counted(found.unfinished, "job")
        click.echo(f"metasched: {counts} not finished: {found.why_unfinished}", err=True)
    for line in found.failures:
        click.echo(f"metasched: {line}", err=True)
    if found.all_rejected or found.unfinished or found.failed_metrics:
        sys.exit(UNFINISHED)
