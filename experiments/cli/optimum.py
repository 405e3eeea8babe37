"""`metasched oas`, `metasched gap` and `metasched pareto`."""

from __future__ import annotations

import json
import sys
from functools import partial

import click

from experiments.cli.options import (
    PLACE,
    Number,
    chosen_workload,
    given_beside,
    json_option,
    workload_now_option,
)
from experiments.cli.process import FAILED
from grid.errors import GridError


@click.command()
@click.argument("instance", type=PLACE, metavar="INSTANCE.json")
@click.option(
    "--slot",
    type=Number(0, whole=False, above=True),
    metavar="S",
    help="Seconds: jobs start and end with slots (default: continuous time).",
)
@click.option(
    "--solver",
    metavar="NAME",
    help="cpsat (default); or, with --slot, milp: the paper's model, or aggregated: one of the "
    "same optimum that counts nodes.",
)
@click.option(
    "--time-limit",
    type=Number(0, whole=False, above=True, endless=True),
    default=60,
    show_default=True,
    metavar="S",
    help="Seconds for the solver.",
)
@click.option(
    "--heuristic",
    metavar="NAME",
    help="fcfs, sjf, bjf, fpfs, spt, lpt or insertion, in place of a solver.",
)
@click.option(
    "--replay",
    is_flag=True,
    help="Have the grid run the schedule, and one that ignores links, on links that jobs share.",
)
@json_option
def oas(
    instance: str,
    slot: float | None,
    solver: str | None,
    time_limit: float,
    heuristic: str | None,
    replay: bool,
    as_json: bool,
) -> None:
    """Order and allocate the jobs of INSTANCE.json so that the last of them ends earliest.

    Where no optimum is proven in time, the gap told is the share of the makespan by which it could
    at most be shorter: 1 - bound / makespan. No link is saturated. Exit status 1 if some job
    saturates a link however it is split.
    """
    for name in given_beside(()):
        if heuristic is not None and name in ("--solver", "--time-limit"):
            raise GridError(f"--heuristic: found with {name}; accepted: one of the two")
    from experiments.sweeps.progress import telling

    if solver in ("milp", "aggregated") and slot is None:
        raise GridError(f"--solver: found {solver!r} without --slot; accepted: with it, or 'cpsat'")
    with telling("loading"):
        from experiments.oas.answering import answer_to, print_answer, read_instance
        from experiments.oas.replaying import compare, print_comparison

    given = read_instance(instance)
    method = partial(
        answer_to, slot=slot, solver=solver, time_limit=time_limit, heuristic=heuristic
    )
    with telling(f"scheduling the jobs of {instance}"):
        answer = method(given)
        found = compare(given, answer, method) if replay and not answer.why else None
    if as_json:
        told = answer.to_dict() | ({"replay": found.to_dict()} if found else {})
        click.echo(json.dumps(told, allow_nan=False))
    else:
        from rich.console import Console

        print_answer(answer, given, Console())
        if found:
            print_comparison(found, Console())
    for line in answer.why:
        click.echo(f"metasched: {instance}: {line}", err=True)
    if answer.why:
        sys.exit(FAILED)


@click.command()
@click.argument("result", type=PLACE, metavar="RESULT")
@click.option("--first", type=Number(1), metavar="N", help="The first N rounds (default: all).")
@click.option(
    "--events",
    type=PLACE,
    metavar="FILE",
    help="Mode open: its event log (default: RESULT/events.jsonl).",
)
@workload_now_option
@click.option(
    "--time-limit",
    type=Number(0, whole=False, above=True, endless=True),
    default=10,
    show_default=True,
    metavar="S",
    help="Seconds for each round.",
)
@json_option
def gap(
    result: str,
    first: int | None,
    events: str | None,
    workload: tuple[str, ...],
    time_limit: float,
    as_json: bool,
) -> None:
    """Tell how far each round of RESULT was from its optimum.

    RESULT is a folder that `metasched run --out DIR` wrote, of a run in mode batch, or of MUSCLE in
    mode open with --events. The optimum is the least makespan of the same jobs on the same
    clusters, beside what was dispatched before and no faster than messages. The gap is the share of
    its makespan by which a round could at most have been shorter: 1 - bound / makespan. The bound
    is the optimum where that is proven in time; elsewhere the true gap is at most as large.
    """
    from rich.console import Console

    from experiments.sweeps.progress import telling

    with telling("loading"):
        from experiments.oas.gap import gaps, print_gaps, summary
        from experiments.oas.rounds import rounds_of
    with telling(f"reading {result}") as watch:
        told, rest = rounds_of(result, events, chosen_workload(workload), first)
        found = gaps(told, time_limit, watch)
    if as_json:
        click.echo(json.dumps(summary(found, rest), allow_nan=False))
    else:
        print_gaps(found, rest, Console())


@click.command()
@click.argument("jobs", type=PLACE)
@click.option("--processors", type=Number(1), required=True, help="Of the cluster.")
@click.option("--pick", type=Number(1), metavar="K", help="Show schedule K in full.")
@click.option("--plot", type=PLACE, metavar="FILE", help="Draw the front there (.png, .pdf, .svg).")
@click.option("--seed", type=Number(0), default=0, show_default=True)
@json_option
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
