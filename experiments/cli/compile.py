"""`metasched compile`: have first runs begin at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial

import click

from experiments.cli.options import traceback_option
from experiments.cli.process import users_code

JOBS = 200
"""Synthetic jobs, of which a run comes to all that it has to compile."""
FEW, OVERLOAD = 20, 2
"""Jobs, and the load that has some of them wait, that do for a policy alone."""


@click.command("compile")
@click.argument("scenarios", nargs=-1, metavar="[SCENARIO]...")
@traceback_option
def compile_(scenarios: tuple[str, ...]) -> None:
    """Compile what the first run of each SCENARIO would, and keep it for all runs of this user.

    For images and classes. By default that is the kernel in each of its kinds, for up to 16
    clusters, and what the packaged scenarios and all other policies need; what only some parameters
    need, such as preemption, is compiled when it is first used. Each SCENARIO is run, with 200 jobs
    if they are synthetic; a .py file is run as a script, and modules that it names (module:Class)
    are imported: use only files that you trust.
    """
    from experiments.sweeps.progress import telling

    began = time.monotonic()
    with users_code(), telling("loading") as watch:
        works = [*(_of_scenarios(scenarios) if scenarios else _all())]
        width = max(len(words) for words, _ in works)
        for index, (words, work) in enumerate(works):
            watch.prepare(f"{words}, {index + 1} of {len(works)}")
            before = time.monotonic()
            work()
            watch.end()
            click.echo(f"{words:{width}}  {time.monotonic() - before:5.1f} s")
    click.echo(f"{'all':{width}}  {time.monotonic() - began:5.1f} s")


def _all() -> Iterator[tuple[str, Callable[[], object]]]:
    from experiments.scenario.files import packaged_names
    from grid.kernel.loop import Kind, loop
    from grid.kernel.state import CAPACITIES

    for kind in Kind:
        yield f"the kernel, {kind.value}", partial(loop, CAPACITIES[0], kind)
    yield from _of_scenarios(packaged_names())
    yield "other policies", _run_other_policies


def _run_other_policies() -> None:
    """Run each policy that no packaged scenario names and that takes synthetic jobs."""
    from agents.registry import GLOBAL, LOCAL
    from experiments.run.running import run
    from experiments.scenario.files import packaged_names
    from experiments.scenario.scenario import Scenario

    packaged = [Scenario.load(name) for name in packaged_names()]
    few = Scenario.load("quickstart").changed(["mode=open", f"jobs={FEW}", f"load={OVERLOAD}"])
    for name in GLOBAL.keys() - {each.global_scheduler for each in packaged}:
        run(few.changed(global_scheduler=name, local_scheduler="fcfs"))
    for name in LOCAL.keys() - {each.local_scheduler for each in packaged}:
        if name != "recorded":  # which takes logs, and compiles nothing
            run(few.changed(local_scheduler=name))


def _of_scenarios(names: Iterable[str]) -> Iterator[tuple[str, Callable[[], object]]]:
    from experiments.run.running import run
    from experiments.scenario.scenario import Scenario

    for name in names:
        yield name, partial(run, Scenario.load(name).cut(JOBS))
