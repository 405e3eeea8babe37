"""`metasched serve`, and what users say to a service: submit, queue, cancel, hold and others."""

from __future__ import annotations

import json
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from experiments.cli.options import (
    PLACE,
    Duration,
    Number,
    chosen_scenario,
    scenario_options,
    traceback_option,
)
from experiments.cli.process import FAILED, users_code
from grid.errors import GridError
from grid.foreign import quoted
from grid.names import meant

if TYPE_CHECKING:
    from experiments.service.store import Store

_STATE = click.option(
    "--state", type=PLACE, metavar="DIR", required=True, help="Folder of the service."
)
_FUTURES = 100
"""That a forecast draws."""
_LOOK = 0.1
"""Time between two looks at jobs that are waited for, s."""


def _store(state: str) -> Store:
    from experiments.service.store import Store

    return Store(Path(state))


def _wake(store: Store) -> None:
    """Wake the service; say so if none is there."""
    if not store.ring():
        click.echo(f"metasched: {store.folder}: no service is there now: jobs wait", err=True)


@click.command()
@click.argument("grid", metavar="GRID")
@click.option(
    "--state", type=PLACE, metavar="DIR", help="Keep its jobs there (default: NAME-state)."
)
@click.option("--global", "global_", metavar="NAME", help="Global scheduler, or module:Class.")
@click.option("--local", metavar="NAME", help="Local scheduler, or module:Class.")
@click.option("--once", is_flag=True, help="End when all jobs have ended.")
@click.option("--seed", type=Number(0), default=0, show_default=True)
@traceback_option
def serve(
    grid: str, state: str | None, global_: str | None, local: str | None, once: bool, seed: int
) -> None:
    """Have the agents schedule real jobs on the sites of GRID (.toml), until Ctrl-C.

    Jobs are those that `metasched submit` takes in; they run as you, and run on if the service
    ends: another one on the same folder takes them up. GRID is a file, or live-quickstart.
    """
    from experiments.sweeps.progress import telling

    with telling("loading"):
        from experiments.service.grid_file import load_grid
        from experiments.service.service import serving
        from experiments.service.store import sizes_before
        from experiments.show.numbers import counted

    with users_code():
        folder = Path(state or f"{Path(grid).stem}-state")
        chosen = load_grid(grid, global_, local, sizes_before(folder))

        def say(line: str) -> None:
            click.echo(f"{datetime.now():%H:%M:%S} {line}")

        with ExitStack() as open_:
            with telling("compiling what is not compiled yet, and taking up jobs"):
                service = open_.enter_context(serving(chosen, folder, seed, say))
            click.echo(f"metasched: serving {chosen.scenario.name}, jobs in {folder}", err=True)
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, service.stop)
            service.run(once)
            left = service.store.left()
            bad = service.store.jobs("state = 'failed'") if once else []
    if left:
        click.echo(
            f"metasched: {counted(left, 'job has', 'jobs have')} not ended; those that run go on",
            err=True,
        )
    if bad:
        sys.exit(FAILED)


@click.command(context_settings={"ignore_unknown_options": True})
@_STATE
@click.option("--size", "-n", type=Number(1), help="Processors (default: 1).")
@click.option(
    "--time", "time_", type=Duration(), metavar="TIME", help="It will take so long, as 10m."
)
@click.option(
    "--deadline", type=Duration(), metavar="TIME", help="It shall have ended by then, from now."
)
@click.option("--name", metavar="NAME", help="Of the job (default: the program's).")
@click.option("--site", metavar="SITE", help="Have it run there, and nowhere else.")
@click.option("--hold", "held", is_flag=True, help="It does not start until it is released.")
@click.option("--requeue", is_flag=True, help="It may run again if it is killed with its node.")
@click.option("--dry-run", is_flag=True, help="Tell when and where it would run; take nothing in.")
@click.option("--json", "as_json", is_flag=True, help="Print its number alone on stdout.")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def submit(
    state: str,
    size: int | None,
    time_: float | None,
    deadline: float | None,
    name: str | None,
    site: str | None,
    held: bool,
    requeue: bool,
    dry_run: bool,
    as_json: bool,
    command: tuple[str, ...],
) -> None:
    """Submit a job: -- COMMAND and its arguments, run once, in this folder and environment.

    COMMAND may be a script with lines of #SBATCH; options go before them.
    """
    import shutil

    from experiments.service.script import read_script

    script, folder = read_script(command), None
    if script is not None:
        command, size, time_ = script.command, size or script.size, time_ or script.time
        name, folder = name or script.name, script.folder
        held, requeue = held or script.hold, requeue or script.requeue
        if script.unread:
            said = quoted(" ".join(script.unread))
            click.echo(f"metasched: {said} of #SBATCH lines is without meaning here", err=True)
    size = size or 1
    if time_ is not None:
        from grid.jobs import LONGEST

        if time_ > LONGEST:
            raise GridError(f"--time: found {time_:g} s; accepted: at most {LONGEST:g}")
    with ExitStack() as kept:
        store = kept.enter_context(closing(_store(state)))
        sizes = store.note("sites") or {}
        if site is not None and sizes and site not in sizes:
            raise GridError(f"site {quoted(site)}: unknown; {meant(site, sizes)}")
        most = sizes.get(site, max(sizes.values(), default=size))
        if size > most:
            which = "the largest site" if site is None else f"those of {site}"
            raise GridError(f"--size: found {size}; accepted: at most {most}, {which}")
        if shutil.which(command[0]) is None:
            raise GridError(f"command: found {command[0]!r}; accepted: a program that is there")
        if dry_run:
            store = kept.enter_context(closing(store.copy()))
        number = store.add(
            command,
            size,
            time_,
            deadline,
            name or "",
            folder,
            only=site,
            held=held,
            requeue=requeue,
        )
        if dry_run:
            _foretell(store, [number], _FUTURES, 0, as_json)
            return
        _wake(store)
    click.echo(number if as_json else f"job {number}")


@click.command()
@_STATE
@click.option("--all", "every", is_flag=True, help="Also those that have ended.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, alone on stdout: all jobs.")
def queue(state: str, every: bool, as_json: bool) -> None:
    """List the jobs of a service that have not ended."""
    from rich.console import Console

    from experiments.service.listing import print_jobs

    with closing(_store(state)) as store:
        jobs = store.jobs()
    if as_json:
        click.echo(json.dumps([job.told() for job in jobs]))
    else:
        print_jobs(jobs, every, Console())


@click.command()
@_STATE
@click.argument("job", type=Number(1))
def cancel(state: str, job: int) -> None:
    """Have JOB end, or not begin; a second time, kill what has not ended."""
    with closing(_store(state)) as store:
        found = store.job(job)
        if found.ended is not None:
            raise GridError(f"job {job}: {found.state}; accepted: a job that has not ended")
        with store.at_once():
            store.update(job, cancelled=found.cancelled + 1)
        store.ring()


def _set_held(state: str, job: int, held: bool) -> None:
    with closing(_store(state)) as store:
        found = store.job(job)
        if found.state != "waiting" or found.cancelled or bool(found.held) == held:
            what = "held already" if held and found.held else found.state
            what = "cancelled" if found.cancelled else what
            accepted = "a job that waits" if held else "a job that is held"
            raise GridError(f"job {job}: {what}; accepted: {accepted}")
        with store.at_once():
            store.update(job, held=held)
        store.ring()


@click.command()
@_STATE
@click.argument("job", type=Number(1))
def hold(state: str, job: int) -> None:
    """Have JOB, which waits, not start until it is released."""
    _set_held(state, job, True)


@click.command()
@_STATE
@click.argument("job", type=Number(1))
def release(state: str, job: int) -> None:
    """Have JOB, which is held, start when its turn comes."""
    _set_held(state, job, False)


@click.command()
@_STATE
@click.argument("site", metavar="SITE")
@click.option("--undo", is_flag=True, help="Have it take part again.")
def drain(state: str, site: str, undo: bool) -> None:
    """Have SITE start no job any more: those there run on, those that wait go elsewhere."""
    with closing(_store(state)) as store:
        sites, drained = store.note("sites") or {}, {*(store.note("drained") or ())}
        if site not in sites:
            raise GridError(f"site {quoted(site)}: unknown; {meant(site, sites)}")
        if (site in drained) != undo:
            how = "not drained" if undo else "drained already"
            raise GridError(f"site {site}: {how}; accepted: {'one that is' if undo else 'another'}")
        with store.at_once():
            store.note("drained", sorted(drained - {site} if undo else drained | {site}))
        store.ring()


@click.command()
@_STATE
@click.argument("jobs", nargs=-1, type=Number(1), metavar="[JOB]...")
@click.option("--futures", type=Number(2), default=_FUTURES, show_default=True, help="To draw.")
@click.option("--seed", type=Number(0), default=0, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, alone on stdout.")
@traceback_option
def forecast(state: str, jobs: tuple[int, ...], futures: int, seed: int, as_json: bool) -> None:
    """Tell when each JOB, or all that wait or run, will start and end, and where.

    The present is run to its end many times, with run times that are drawn from those of jobs that
    have ended. Code that the service's grid names is run.
    """
    with closing(_store(state)) as store:
        for number in jobs:
            if (found := store.job(number)).ended is not None:
                raise GridError(f"job {number}: {found.state}; accepted: a job that has not ended")
        _foretell(store, jobs, futures, seed, as_json)


def _foretell(store: Store, jobs: Sequence[int], futures: int, seed: int, as_json: bool) -> None:
    """Print a forecast of some jobs, or of all."""
    from rich.console import Console

    from experiments.sweeps.progress import telling

    with telling("loading"):
        from experiments.service.forecast import forecast as forecast_of
        from experiments.service.grid_file import load_grid
        from experiments.service.listing import print_forecast

    if (asked := store.note("grid")) is None:
        raise GridError(f"{store.folder}: no service has been there; accepted: --state of one")
    with users_code():
        name, global_, local = asked
        chosen = load_grid(name, global_, local, store.note("sites"))
        if [*store.note("sites")] != [*chosen.scenario.platform.names]:
            raise GridError(f"{name}: found other sites than those served; accepted: the same")
        began, now, limits = store.note("began"), time.time(), store.note("limits") or {}
        with telling("compiling what is not compiled yet, and drawing futures") as progress:
            told = forecast_of(chosen, store.jobs(), limits, began, now, futures, seed, progress)
    rows = [row for row in told.rows() if not jobs or row["job"] in jobs]
    if as_json:
        given = {"now": now, "futures": futures, "known": told.known}
        click.echo(json.dumps({**given, "jobs": rows, "sites": told.of_sites()}))
    else:
        print_forecast(told, rows, Console())


@click.command()
@scenario_options(metrics=False)
@click.option("--jobs", type=Number(1), default=100, show_default=True, help="To forecast.")
@click.option("--futures", type=Number(2), default=_FUTURES, show_default=True, help="Of each.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, alone on stdout.")
def hindcast(
    seed: int, jobs: int, futures: int, as_json: bool, scenario: str, **options: Any
) -> None:
    """Tell how well forecasts would have held for jobs of a log that wait in a run of SCENARIO.

    Each is forecast as it is submitted, by what ran, waited and had ended then, and compared with
    what came of it. Code of SCENARIO is run: use only files that you trust.
    """
    from rich.console import Console

    from experiments.sweeps.progress import telling

    with telling("loading"):
        from experiments.service.hindcast import hindcast as hindcast_of
        from experiments.service.listing import print_hindcast

    with users_code(), telling("running what is to be forecast") as progress:
        chosen = chosen_scenario(scenario, **options)
        found = hindcast_of(chosen, seed, jobs, futures, progress)
    if as_json:
        click.echo(json.dumps(found.summary()))
    else:
        print_hindcast(found, futures, Console())


@click.command()
@_STATE
@click.argument("jobs", nargs=-1, type=Number(1), metavar="[JOB]...")
def wait(state: str, jobs: tuple[int, ...]) -> None:
    """Wait until each JOB has ended, or all that have not; exit status 1 if one fails."""
    with closing(_store(state)) as store:
        numbers = jobs or tuple(job.job for job in store.jobs("ended IS NULL"))
        if any(store.job(number).ended is None for number in numbers):
            _wake(store)
        while left := [number for number in numbers if store.job(number).ended is None]:
            time.sleep(_LOOK if len(left) < 100 else 10 * _LOOK)
        bad = [job for number in numbers if (job := store.job(number)).state != "done"]
    for job in bad:
        click.echo(f"metasched: {job}: {job.state}", err=True)
    if bad:
        sys.exit(FAILED)


@click.command()
@_STATE
@click.argument("job", type=Number(1))
def log(state: str, job: int) -> None:
    """Print what JOB has written so far."""
    with closing(_store(state)) as store:
        found = store.job(job)
        attempts = [replace(found, attempt=at) for at in range(found.attempt, 0, -1)]
        files = [store.folder_of(each) / "output" for each in attempts]
    file = next((each for each in files if each.is_file()), None)
    if file is None:
        raise GridError(f"job {job}: {found.state}, no output; accepted: a job that has begun")
    with file.open("rb") as output:
        while block := output.read(1 << 16):
            click.echo(block, nl=False)
