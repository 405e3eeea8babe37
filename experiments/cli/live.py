"""`metasched serve`, and what users say to a service: submit, queue, cancel, hold and others."""

from __future__ import annotations

import gc
import json
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from experiments.cli.options import (
    PLACE,
    Duration,
    Number,
    chosen_scenario,
    json_option,
    scenario_options,
    traceback_option,
)
from experiments.cli.process import FAILED, users_code
from grid.errors import GridError

if TYPE_CHECKING:
    from experiments.service.connection import Connection

_ALONE = "metasched: {}: no service is there now: this is as it was left"
_STATE = click.option(
    "--state", type=PLACE, metavar="DIR", required=True, help="Folder of the service."
)
_DRY_RUN = click.option("--dry-run", is_flag=True, help="Tell if it cannot be done; do nothing.")


def _connected(state: str) -> Connection:
    from experiments.service.connection import Connection

    return Connection(state, lambda line: click.echo(f"metasched: {line}", err=True))


@contextmanager
def _asked(state: str, dry_run: bool) -> Iterator[Connection]:
    """Give what asks a service, or in a dry run a copy of its jobs."""
    with ExitStack() as opened:
        connection = opened.enter_context(_connected(state))
        yield opened.enter_context(connection.trial()) if dry_run else connection
    if dry_run:
        click.echo("metasched: nothing has been done", err=True)


@click.command()
@click.argument("grid", metavar="GRID")
@click.option(
    "--state", type=PLACE, metavar="DIR", help="Keep its jobs there (default: NAME-state)."
)
@click.option("--global", "global_", metavar="NAME", help="Global scheduler, or module:Class.")
@click.option("--local", metavar="NAME", help="Local scheduler, or module:Class.")
@click.option("--once", is_flag=True, help="End when all jobs have ended.")
@click.option("--seed", type=Number(0), default=0, show_default=True)
@click.option("--dry-run", is_flag=True, help="Tell what would be served; begin nothing.")
@traceback_option
def serve(
    grid: str,
    state: str | None,
    global_: str | None,
    local: str | None,
    once: bool,
    seed: int,
    dry_run: bool,
) -> None:
    """Have the agents schedule real jobs on the sites of GRID (.toml), until Ctrl-C.

    Jobs are those that `metasched submit` takes in; they run as you, and run on if the service
    ends: another one on the same folder takes them up. GRID is a file, or live-quickstart. Its own
    commands are run, and modules that it names (module:Class) imported, these also with --dry-run:
    use only files that you trust.
    """
    from experiments.sweeps.progress import telling

    with telling("loading"):
        from experiments.service.grid_file import load_grid
        from experiments.service.serving import serving
        from experiments.service.store import Store
        from experiments.show.numbers import counted

    with users_code():
        folder = Path(state or f"{Path(grid).stem}-state")
        chosen = load_grid(grid, global_, local, Store.sizes_before(folder))
        if dry_run:
            from rich.console import Console

            from experiments.service.listing import print_grid
            from experiments.service.mirror import Mirror

            chosen.scenario.model(seed, made=Mirror)  # which refuses what cannot be served
            print_grid(chosen, folder, Console())
            return

        def say(line: str) -> None:
            click.echo(f"{datetime.now():%H:%M:%S} {line}")

        with ExitStack() as open_:
            with telling("compiling what is not compiled yet, and taking up jobs"):
                service = open_.enter_context(serving(chosen, folder, seed, say))
            click.echo(f"metasched: serving {chosen.scenario.name}, jobs in {folder}", err=True)
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, service.stop)
            gc.freeze()  # what was loaded: looking through it takes longer than a round
            service.run(once)
            left = service.store.left()
            bad = service.store.jobs("state IN ('failed', 'lost')") if once else []
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
    "--time",
    "time_",
    type=Duration(),
    metavar="TIME",
    help="It will take so long: seconds, or as 10m.",
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
    from experiments.service.given import OptionError

    with _asked(state, dry_run) as connection:
        try:
            job = connection.submit(
                command,
                size=size,
                time=time_,
                deadline=deadline,
                name=name,
                site=site,
                hold=held,
                requeue=requeue,
            )
        except OptionError as error:
            raise GridError(f"--{error}") from None
        if dry_run:
            if connection.store.job(job.number).held:
                raise GridError("--dry-run: found a job that is held; accepted: one that may start")
            _foretell(connection, [job.number], as_json)
            return
    click.echo(job.number if as_json else f"job {job.number}")


@click.command()
@_STATE
@click.option("--all", "every", is_flag=True, help="Also those that have ended.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, alone on stdout: all jobs.")
def queue(state: str, every: bool, as_json: bool) -> None:
    """List the jobs of a service that have not ended."""
    from experiments.service.listing import print_jobs, print_sites
    from experiments.show.tables import unfolded

    with _connected(state) as connection:
        jobs = connection.queue(every=every or as_json)
        hidden = 0 if jobs else connection.store.ended()
        alone = any(job.ended is None for job in jobs) and not connection.store.ring()
        if as_json:
            click.echo(json.dumps([job.told() for job in jobs]))
        else:
            print_jobs(jobs, hidden, unfolded())
            print_sites(connection.store, unfolded())
    if alone:
        click.echo(_ALONE.format(state), err=True)


@click.command()
@_STATE
def top(state: str) -> None:
    """Show the dashboard of a service, until it ends, or q or Ctrl-C is pressed."""
    from experiments.service.watching import watch

    def show(what: bytes) -> None:
        sys.stdout.buffer.write(what)
        sys.stdout.buffer.flush()

    with _connected(state):
        watch(Path(state), show)


@click.command()
@_STATE
@click.argument("job", type=Number(1))
@_DRY_RUN
def cancel(state: str, job: int, dry_run: bool) -> None:
    """Have JOB end, or not begin; a second time, kill what has not ended."""
    with _asked(state, dry_run) as connection:
        connection.cancel(job)


@click.command()
@_STATE
@click.argument("job", type=Number(1))
@_DRY_RUN
def hold(state: str, job: int, dry_run: bool) -> None:
    """Have JOB, which waits, not start until it is released."""
    with _asked(state, dry_run) as connection:
        connection.hold(job)


@click.command()
@_STATE
@click.argument("job", type=Number(1))
@_DRY_RUN
def release(state: str, job: int, dry_run: bool) -> None:
    """Have JOB, which is held, start when its turn comes."""
    with _asked(state, dry_run) as connection:
        connection.release(job)


@click.command()
@_STATE
@click.argument("site", metavar="SITE")
@click.option("--undo", is_flag=True, help="Have it take part again.")
@_DRY_RUN
def drain(state: str, site: str, undo: bool, dry_run: bool) -> None:
    """Have SITE start no job any more: those there run on, those that wait go elsewhere.

    That is, if the global scheduler goes by the processors that are up, as the built-in ones do.
    """
    with _asked(state, dry_run) as connection:
        connection.drain(site, undo)


@click.command()
@_STATE
@click.argument("jobs", nargs=-1, type=Number(1), metavar="[JOB]...")
@click.option("--futures", type=Number(2), default=100, show_default=True, help="To draw.")
@click.option("--seed", type=Number(0), default=0, show_default=True)
@json_option
@traceback_option
def forecast(state: str, jobs: tuple[int, ...], futures: int, seed: int, as_json: bool) -> None:
    """Tell when each JOB, or all that wait or run, will start and end, and where.

    The present is run to its end many times, with run times that are drawn from those of jobs that
    have ended, by the service, if one is there; else here, with code that its grid names.
    """
    with _connected(state) as connection:
        _foretell(connection, jobs, as_json, futures=futures, seed=seed)


def _foretell(connection: Connection, jobs: Sequence[int], as_json: bool, **options: int) -> None:
    """Print a forecast of some jobs, or of all."""
    from experiments.sweeps.progress import telling

    with telling("loading"):
        from experiments.service.forecasting.forecast_table import print_forecast
        from experiments.show.tables import unfolded

    with (
        users_code(),
        telling("compiling what is not compiled yet, and drawing futures") as progress,
    ):
        told = connection.forecast(*jobs, progress=progress, workers=None, **options)
        alone = told.jobs and not connection.store.ring()
        drained = connection.store.note("drained") or []
        lacking = connection.store.lacking()
    away = [f"{name} ({told})" for name, told in lacking.items()]
    rows = told.rows(jobs)
    if as_json:
        given = {"now": told.now, "futures": told.starts.shape[1], "known": told.known}
        click.echo(json.dumps({**given, "jobs": rows, "sites": told.of_sites()}))
    else:
        print_forecast(told, rows, drained, away, unfolded())
    if alone:
        click.echo(_ALONE.format(connection.store.folder), err=True)


@click.command()
@scenario_options(metrics=False)
@click.option("--jobs", type=Number(1), metavar="N", help="To forecast (default: 100).")
@click.option("--futures", type=Number(2), default=100, show_default=True, help="Of each.")
@json_option
def hindcast(
    seed: int, jobs: int | None, futures: int, as_json: bool, scenario: str, **options: Any
) -> None:
    """Tell how well forecasts would have held for jobs of a log that wait in a run of SCENARIO.

    Each is forecast as it is submitted, by what ran, waited and had ended then, and compared with
    what came of it. Code of SCENARIO is run: use only files that you trust.
    """
    from rich.console import Console

    from experiments.sweeps.progress import telling

    with telling("loading"):
        from experiments.service.forecasting.hindcast import hindcast as hindcast_of
        from experiments.service.forecasting.hindcast_table import print_hindcast

    with users_code(), telling("running what is to be forecast") as progress:
        chosen = chosen_scenario(scenario, **options)
        found = hindcast_of(chosen, seed, jobs, futures, progress)
    for note in found.notes:
        click.echo(f"metasched: {note}", err=True)
    if as_json:
        click.echo(json.dumps(found.summary()))
    else:
        print_hindcast(found, futures, Console())


@click.command()
@_STATE
@click.argument("jobs", nargs=-1, type=Number(1), metavar="[JOB]...")
def wait(state: str, jobs: tuple[int, ...]) -> None:
    """Wait until each JOB has ended, or all that have not; exit status 1 if one fails."""
    with _connected(state) as connection:
        for job in connection.queue():
            if job.held and (not jobs or job.job in jobs):
                click.echo(f"metasched: {job}: held; it is waited for, too", err=True)
        bad = connection.wait(*jobs)
    for job in bad:
        click.echo(f"metasched: {job}: {job.state}", err=True)
    if bad:
        sys.exit(FAILED)


@click.command()
@_STATE
@click.argument("job", type=Number(1))
def log(state: str, job: int) -> None:
    """Print what JOB has written so far."""
    with _connected(state) as connection:
        file = connection.job(job).output_file()
    if file is None:
        return
    with file.open("rb") as output:
        while block := output.read(1 << 16):
            click.echo(block, nl=False)
