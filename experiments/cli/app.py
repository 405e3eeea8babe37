"""The command `metasched`."""

from __future__ import annotations

import json
import math
import shlex
import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import click

from experiments.cli.bench import bench
from experiments.cli.check import check, verify
from experiments.cli.logs import convert, inspect
from experiments.cli.maxutil import maxutil
from experiments.cli.optimum import gap, oas
from experiments.cli.options import Duration, Number, check_alone, chosen_scenario, scenario_options
from experiments.cli.pages import plot, report
from experiments.cli.process import FAILED, INTERRUPTED, Program, going_on, stdout_kept, users_code
from experiments.cli.reproduce import reproduce
from experiments.cli.study import study
from grid.errors import GridError

if TYPE_CHECKING:
    from experiments.scenario.scenario import Scenario

UNFINISHED = 1


@click.group(cls=Program, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="metasched")
def main() -> None:
    """Schedule parallel jobs in multiclusters on two levels, with agents."""


def _tell_notes(scenario: Scenario, all_left_at: float = math.inf) -> None:
    """Tell on stderr what is no error; once a run is done, so that an error stays one line."""
    from experiments.scenario.notes import notes

    for note in notes(scenario, all_left_at):
        click.echo(f"metasched: {note}", err=True)


@main.command()
@scenario_options(required=False)
@click.option("--live/--no-live", default=None, help="Show the dashboard (default: in a terminal).")
@click.option(
    "--pace",
    type=Number(0, whole=False, above=True),
    metavar="X",
    help="Live: X simulated seconds a second (default: in a terminal, a run of 30 s at least).",
)
@click.option("--follow", type=Number(), metavar="JOB", help="Live: follow the job of this number.")
@click.option(
    "--out",
    metavar="DIR",
    help="Write summary.json, jobs.csv, timeline.csv and, if jobs name users, users.csv there.",
)
@click.option("--rounds", metavar="FILE", help="Write each round's CP, MCP and PB there (.csv).")
@click.option(
    "--events", metavar="FILE", help="Write every message and job event there (JSON lines)."
)
@click.option("--checkpoint", metavar="FILE", help="Write a checkpoint there now and then.")
@click.option(
    "--every",
    type=Duration(),
    metavar="TIME",
    help="Wall time between checkpoints, such as 30s, 10m (default) or 2h.",
)
@click.option(
    "--resume",
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
    seed: int,
    live: bool | None,
    pace: float | None,
    follow: int | None,
    out: str | None,
    rounds: str | None,
    events: str | None,
    checkpoint: str | None,
    every: float | None,
    resume: str | None,
    replications: int | None,
    as_json: bool,
    scenario: str | None,
    **options: Any,
) -> None:
    """Run SCENARIO: one of `metasched scenarios`, or the path of a .toml or .py file.

    A .py file is run as a script, and modules that any scenario names (module:Class) are imported:
    use only files that you trust.
    """
    if resume is not None:
        check_alone()
    elif scenario is None:
        raise click.UsageError("Missing argument 'SCENARIO'.")
    if every is not None and checkpoint is None and resume is None:
        raise GridError("--every: found alone; accepted: with --checkpoint or --resume")
    if replications is not None:
        assert scenario is not None
        of_one = (
            ("--live", live),
            ("--pace", pace),
            ("--follow", follow),
            ("--checkpoint", checkpoint),
        )
        for name, value in (*of_one, ("--rounds", rounds), ("--events", events)):
            if value not in (None, False):
                raise GridError(f"--replications: found with {name}; accepted: one of them")
        _replicate(scenario, options, seed, replications, out, as_json)
        return
    from experiments.sweeps.progress import telling

    with telling("loading"):
        from experiments.cli.compiling import saying_when_compiling
        from experiments.run.checkpoints import Saving, read
        from experiments.run.files import check_files, check_folder
        from experiments.run.running import resume as resume_run
        from experiments.run.running import run as run_scenario
        from experiments.run.writing import write_rounds
        from experiments.show.numbers import counted

    with stdout_kept() if as_json else nullcontext(sys.stdout) as stdout:
        with (
            users_code(),
            saying_when_compiling(always=bool(live)),
            telling(
                f"preparing {scenario or resume}, and compiling what is not compiled yet"
            ) as watch,
        ):
            shown = bool(live) if as_json else live
            files = (rounds, "rounds"), (events, "events"), (checkpoint, "checkpoint")
            if resume is not None:
                under_way = read(resume)
                chosen, out = under_way.scenario, under_way.folder
                check_files(files, out)
                assert under_way.saving is not None
                every = every or under_way.saving.every
                under_way.saving = Saving(checkpoint or resume, every)
                result = resume_run(under_way, shown, pace, follow, watch)
            else:
                assert scenario is not None
                chosen = chosen_scenario(scenario, **options)
                if out is not None:
                    check_folder(out)
                check_files(files, out, chosen.logs)
                saving = None if checkpoint is None else Saving(checkpoint, every or Saving.every)
                result = run_scenario(
                    chosen, seed, shown, pace, follow, events, out, False, saving, watch
                )
        if rounds is not None:
            write_rounds(result, rounds)
            if not result.round_count:
                click.echo(f"metasched: no rounds; {rounds} has the header only", err=True)
        _tell_notes(chosen, result.all_left_at)
        if as_json:
            if result.stable is False:
                from experiments.show.run_tables import UNSTABLE

                click.echo(f"metasched: {UNSTABLE}", err=True)
            click.echo(json.dumps(result.summary(), allow_nan=False), file=stdout)
        else:
            from rich.console import Console

            from experiments.show.run_tables import print_result

            print_result(result, Console())
    if result.interrupted:
        if kept := checkpoint or resume:
            click.echo(f"metasched: to go on: metasched run --resume {shlex.quote(kept)}", err=True)
        sys.exit(INTERRUPTED)
    if result.tally.rejected and not result.tally.completed and not result.unfinished:
        of_all = f"{counted(result.submitted, 'job')} of {result.submitted:,}"
        click.echo(f"metasched: {of_all} rejected: {'; '.join(result.rejections)}", err=True)
        sys.exit(UNFINISHED)
    if result.unfinished:
        counts = f"{result.unfinished:,} of {counted(result.submitted, 'job')}"
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
        from experiments.show.numbers import counted
        from experiments.show.run_tables import print_replications
        from experiments.sweeps.replications import NOT_RANDOM, replicate, write
        from experiments.sweeps.run_store import RUNS
        from experiments.sweeps.sweep import cores

    with stdout_kept() if as_json else nullcontext(sys.stdout) as stdout:
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
        _tell_notes(chosen)
        if as_json:
            if not found.random:
                click.echo(f"metasched: {NOT_RANDOM}", err=True)
            click.echo(text, file=stdout)
        else:
            print_replications(found, Console())
    if found.all_rejected:
        click.echo("metasched: all jobs of all runs were rejected", err=True)
    if found.unfinished:
        click.echo(f"metasched: {counted(found.unfinished, 'job')} not finished", err=True)
    for line in found.failures:
        click.echo(f"metasched: {line}", err=True)
    if found.all_rejected or found.unfinished or found.failed_metrics:
        sys.exit(UNFINISHED)


@main.command()
@scenario_options()
@click.option("--replications", type=Number(2), default=8, help="Runs at each load (default: 8).")
@click.option(
    "--width", type=Number(0, whole=False, above=True), default=0.005, help="(default: 0.005)"
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, alone on stdout.")
def saturation(
    seed: int, replications: int, width: float, as_json: bool, scenario: str, **options: Any
) -> None:
    """Find the load above which queues of SCENARIO grow without end.

    It is in mode open. The more jobs a run has, the narrower the bracket can get. Code of SCENARIO
    is run: use only files that you trust.
    """
    from rich.console import Console

    from experiments.sweeps.progress import SweepProgress, telling

    with telling("loading"):
        from experiments.show.run_tables import print_saturation
        from experiments.sweeps.saturation import find_saturation
        from experiments.sweeps.sweep import cores

    with stdout_kept() if as_json else nullcontext(sys.stdout) as stdout:
        told = Console(stderr=True, markup=False, highlight=False)
        with users_code(), SweepProgress(told, quiet=True) as watch:
            chosen = chosen_scenario(scenario, **options)
            found = find_saturation(chosen, seed, told.print, replications, cores(), width, watch)
        if as_json:
            for line in () if found.all_rejected else found.remarks:
                click.echo(f"metasched: {line}", err=True)
            click.echo(json.dumps(found.summary(), allow_nan=False), file=stdout)
        elif not found.all_rejected:
            print_saturation(found, Console())
    if found.all_rejected:
        click.echo("metasched: all jobs of all runs were rejected", err=True)
        sys.exit(UNFINISHED)


@main.command()
@scenario_options()
@click.option("--all", "every", is_flag=True, help="List all parameters, with their meaning.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, alone on stdout.")
def validate(seed: int, every: bool, as_json: bool, scenario: str, **options: Any) -> None:
    """Check SCENARIO without simulating it, and list the parameters that it changes.

    Yet a .py file is run as a script, and modules that any scenario names (module:Class) are
    imported: use only files that you trust.
    """
    from experiments.sweeps.progress import telling

    with telling("loading"):
        from experiments.cli.listing import described, print_parameters
        from experiments.scenario.notes import notes

    with stdout_kept() if as_json else nullcontext(sys.stdout) as stdout:
        with users_code(), telling(f"reading {scenario}"):
            chosen = chosen_scenario(scenario, **options)
            chosen.model(seed)
        found = described(chosen, scenario, notes(chosen))
        _tell_notes(chosen)
        if as_json:
            click.echo(json.dumps(found, allow_nan=False), file=stdout)
        else:
            print_parameters(chosen, found, every)


@main.command()
@click.argument("result", metavar="RESULT")
@click.argument("job", type=Number())
@click.option(
    "--events", metavar="FILE", help="The run's event log (default: RESULT/events.jsonl)."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, alone on stdout.")
def explain(result: str, job: int, events: str | None, as_json: bool) -> None:
    """Tell the story of JOB (its number) in RESULT; of several of one number, that of each.

    RESULT is a folder that `metasched run --out DIR --events DIR/events.jsonl` wrote.
    """
    from experiments.sweeps.progress import telling

    with telling("loading"):
        from experiments.events.explain import explain as stories_of
        from experiments.events.explain import print_stories
    with telling(f"reading {result}"):
        stories = stories_of(result, job, events)
    print_stories(stories, as_json)


_OF_PAPER = click.option("--paper", metavar="KEY", help="Those of a paper, such as muscle.")


@main.command()
@_OF_PAPER
@click.option("--json", "as_json", is_flag=True, help="Print JSON, alone on stdout.")
def scenarios(paper: str | None, as_json: bool) -> None:
    """List the scenarios that come with metasched."""
    from experiments.cli.listing import list_scenarios, print_table

    print_table(list_scenarios(paper), as_json)


@main.command()
@click.option("--level", type=click.Choice(["global", "local"]), help="Those of one level.")
@_OF_PAPER
@click.option("--json", "as_json", is_flag=True, help="Print JSON, alone on stdout.")
def policies(level: str | None, paper: str | None, as_json: bool) -> None:
    """List the global and local schedulers that come with metasched."""
    from experiments.cli.listing import list_policies, print_table

    print_table(list_policies(level, paper), as_json)


COMMANDS = check, verify, reproduce, study, report, plot, maxutil, inspect, convert, oas, gap, bench
for each in COMMANDS:
    main.add_command(each)


@main.command()
@click.argument("jobs")
@click.option("--processors", type=Number(1), required=True, help="Of the cluster.")
@click.option("--pick", type=Number(1), metavar="K", help="Show schedule K in full.")
@click.option("--plot", metavar="FILE", help="Draw the front there (.png, .pdf, .svg).")
@click.option("--seed", type=Number(0), default=0, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, alone on stdout.")
def pareto(
    jobs: str, processors: int, pick: int | None, plot: str | None, seed: int, as_json: bool
) -> None:
    """Show the schedules of waiting JOBS (.csv, .swf) among which only preferences decide.

    None of them is better than another in over-deadline, makespan and idle-time alike. The jobs
    are dispatched on an idle cluster when the last of them has arrived.
    """
    from experiments.sweeps.progress import telling

    with telling("loading"):
        from experiments.pareto import Front
        from experiments.show.plots import check_picture

    if plot is not None:
        check_picture(plot)
    with telling(f"searching for schedules of {jobs}"):
        front = Front.of(jobs, processors, seed)
    click.echo("".join(f"metasched: {words}\n" for words in front.unused), nl=False, err=True)
    if pick is not None:
        front.check_pick(pick)
    if plot is not None:
        front.draw(plot, pick)
    if as_json:
        click.echo(json.dumps(front.to_dict(pick), allow_nan=False))
    else:
        from rich.console import Console

        front.print(Console(), pick)
