"""`metasched study`, `metasched saturation` and `metasched learn`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from experiments.cli.options import (
    PLACE,
    Duration,
    Number,
    chosen_scenario,
    given_beside,
    json_option,
    scenario_options,
    traceback_option,
)
from experiments.cli.process import UNFINISHED, going_on, stdout_kept, users_code
from grid.errors import GridError

if TYPE_CHECKING:
    from experiments.scenario.scenario import Scenario


@click.command()
@click.argument("study", type=PLACE, metavar="STUDY")
@click.option(
    "--out", type=PLACE, metavar="FILE", required=True, help="Keep tasks and results there (.db)."
)
@click.option("--workers", type=Number(1), metavar="N", help="Processes (default: all cores).")
@click.option("--dask", metavar="ADDRESS", help="Have workers of this Dask scheduler do the runs.")
@click.option("--resume", is_flag=True, help="Go on with the study in --out.")
@traceback_option
@json_option
def study(
    study: str, out: str, workers: int | None, dask: str | None, resume: bool, as_json: bool
) -> None:
    """Compare policies over settings, workloads and replications, as STUDY (.toml) says.

    Its scenario may be a script, and modules that it names (module:Class) are imported: use only
    files that you trust.
    """
    if workers is not None and dask is not None:
        raise GridError("--workers: found with --dask; accepted: one of them")
    from rich.console import Console

    from experiments.sweeps.progress import telling

    with telling("loading"):
        from experiments.show.numbers import counted
        from experiments.studies.database import check_out
        from experiments.studies.study import Study
        from experiments.studies.telling import print_outcome
        from experiments.studies.undefined import failures
        from experiments.sweeps.observations import why_left

    with stdout_kept(as_json) as stdout:
        with going_on("the same command with --resume", Path(out)), users_code():
            check_out(Path(out), resume)
            with telling(f"trying what {study} names, and compiling what is not compiled yet"):
                loaded = Study.load(study)
            outcome = loaded.run(out, workers, dask, resume)
        if as_json:
            click.echo(json.dumps(outcome.summary(), allow_nan=False), file=stdout)
        else:
            print_outcome(outcome, Console())
    for note in loaded.notes:
        if note not in outcome.provenance["changes"]:  # of which the sentences tell
            click.echo(f"metasched: {note}", err=True)
    if outcome.all_rejected:
        click.echo("metasched: all jobs of all runs were rejected", err=True)
    unfinished = int(outcome.runs["unfinished"].sum())
    if unfinished:
        why = why_left(outcome.runs)
        click.echo(f"metasched: {counted(unfinished, 'job')} not finished: {why}", err=True)
    failed = [*failures(outcome)]
    for line in failed:
        click.echo(f"metasched: {line}", err=True)
    if outcome.all_rejected or unfinished or failed:
        sys.exit(UNFINISHED)


@click.command()
@scenario_options(metrics=False)
@click.option("--replications", type=Number(2), default=8, help="Runs at each load (default: 8).")
@click.option(
    "--width", type=Number(0, whole=False, above=True), default=0.005, help="(default: 0.005)"
)
@json_option
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
        from experiments.scenario.notes import told as told_of
        from experiments.show.run_tables import print_saturation
        from experiments.sweeps.saturation import find_saturation
        from experiments.sweeps.starting import cores

    with stdout_kept(as_json) as stdout:
        told = Console(stderr=True, markup=False, highlight=False)
        with users_code(), SweepProgress(told, quiet=True) as watch:
            chosen = chosen_scenario(scenario, **options)
            found = find_saturation(chosen, seed, told.print, replications, cores(), width, watch)
        for line in told_of(found.without_effect):
            click.echo(f"metasched: {line}", err=True)
        if as_json:
            for line in () if found.all_rejected else found.remarks:
                click.echo(f"metasched: {line}", err=True)
            click.echo(json.dumps(found.summary(), allow_nan=False), file=stdout)
        elif not found.all_rejected:
            print_saturation(found, Console())
    if found.all_rejected:
        click.echo("metasched: all jobs of all runs were rejected", err=True)
        sys.exit(UNFINISHED)


def _cloned(chosen: Scenario, *how: Any) -> tuple[Any, Any]:
    """Return a policy that was cloned, and what shows it."""
    for name in given_beside(()):
        if name in ("--method", "--steps", "--workers"):
            raise GridError(f"{name}: found with --teacher; accepted: one of them")
    try:
        from experiments.learning.cloning import clone
    except ImportError as error:
        raise GridError(
            f"--teacher: {error.name} is not installed; accepted: pip install 'metasched[learn]'"
        ) from None
    from experiments.learning.learned_table import print_cloned

    return clone(chosen, *how), print_cloned


@click.command()
@scenario_options(metrics=False)
@click.option("--out", type=PLACE, metavar="FILE", required=True, help="Write the policy there.")
@click.option(
    "--agent",
    type=click.Choice(["global", "local"]),
    default="global",
    show_default=True,
    help="Who learns: the global scheduler, or all local ones alike.",
)
@click.option(
    "--objective",
    metavar="METRIC",
    default="mean_bounded_slowdown",
    show_default=True,
    help="What is to be best, on average over runs.",
)
@click.option(
    "--method",
    type=click.Choice(["evolution", "ppo"]),
    default="evolution",
    show_default=True,
    help="Find the weights of a formula, or train a network, too (extra ppo).",
)
@click.option(
    "--steps",
    type=Number(1),
    metavar="N",
    help="Jobs to schedule while learning, in all runs together: about so many, by whole "
    "generations, at least one (default: 5,000,000; by ppo 1,000,000 choices).",
)
@click.option(
    "--teacher",
    metavar="NAME",
    help="Decide as this scheduler does, instead (extra learn).",
)
@click.option(
    "--window", type=Duration(), default="1w", show_default=True, help="Of a log, that a run has."
)
@click.option("--workers", type=Number(1), metavar="N", help="Processes (default: all cores).")
@json_option
def learn(
    seed: int,
    out: str,
    agent: str,
    objective: str,
    method: str,
    steps: int | None,
    teacher: str | None,
    window: float,
    workers: int | None,
    as_json: bool,
    scenario: str,
    **options: Any,
) -> None:
    """Learn a policy by running SCENARIO, for --global or --local learned:FILE.

    Of a log, the first half of its windows is learned from, and the other half is held out: there
    the policy is compared with others. Of synthetic jobs, other runs are held out. Code of SCENARIO
    is run: use only files that you trust.
    """
    from rich.console import Console

    from experiments.sweeps.progress import SweepProgress, telling

    with telling("loading"):
        from experiments.learning.learned_table import print_learned
        from experiments.learning.learning import learn as learn_policy
        from experiments.run.files import check_files, new_file
        from experiments.scenario.notes import notes
        from experiments.sweeps.starting import cores

    with stdout_kept(as_json) as stdout:
        told = Console(stderr=True, markup=False, highlight=False)
        with users_code(), SweepProgress(told) as watch:
            chosen = chosen_scenario(scenario, **options)
            check_files([(out, "a policy")], None, chosen.logs)
            if chosen.workload is None and "--window" in given_beside(()):
                raise GridError("--window: found for synthetic jobs; accepted with --workload")
            watch.prepare("trying a first run, which compiles what is not compiled yet")
            if teacher is None:
                if method == "ppo" and workers is not None:
                    raise GridError("--workers: found with ppo, which has one process")
                how = agent, method, objective, steps, seed, window, workers or cores()
                found, show = learn_policy(chosen, *how, watch), print_learned
            else:
                found, show = _cloned(chosen, agent, teacher, objective, seed, window, watch)
            with new_file(out, "a policy") as file:
                found.policy.write(file)
            lessons = found.lessons
            remarks = [*lessons.left_out, *notes(lessons.held_out[0].of.scenario)]
        if as_json:
            click.echo(json.dumps({"policy": out, **found.summary()}, allow_nan=False), file=stdout)
        else:
            show(found, out, Console())
    for line in remarks:
        click.echo(f"metasched: {line}", err=True)
