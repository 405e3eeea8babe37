"""`metasched shadow`: real clusters are watched, and what policies would have done is told."""

from __future__ import annotations

import json
import signal
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from experiments.cli.options import PLACE, Duration, Number, traceback_option
from experiments.cli.process import users_code
from grid.errors import GridError

if TYPE_CHECKING:
    from experiments.service.shadow.comparing import Pair

_DAY = 86400.0
_LOOK, _SELDOM = 30.0, 240.0
"""Time between two looks, and the longest, s: Slurm forgets jobs 300 s after their ends."""


@click.command()
@click.argument("grid", metavar="[GRID]", required=False)
@click.option(
    "--state", type=PLACE, metavar="DIR", help="Keep what is seen there (default: NAME-shadow)."
)
@click.option(
    "--policies", metavar="PAIRS", help="GLOBAL/LOCAL,... (default: GRID's own, and home/easy)."
)
@click.option(
    "--every", type=Duration(), metavar="TIME", help="Tell of periods so long (default: 24h)."
)
@click.option("--look", type=Duration(), metavar="TIME", help="Between two looks (default: 30s).")
@click.option("--report", is_flag=True, help="Tell of the last period; ask no cluster anything.")
@click.option("--last", type=Duration(), metavar="TIME", help="With --report: so long (24h).")
@click.option("--json", "as_json", is_flag=True, help="With --report: JSON, alone on stdout.")
@click.option("--seed", type=Number(0), default=0, show_default=True)
@traceback_option
def shadow(
    grid: str | None,
    state: str | None,
    policies: str | None,
    every: float | None,
    look: float | None,
    report: bool,
    last: float | None,
    as_json: bool,
    seed: int,
) -> None:
    """Watch the Slurm clusters of GRID (.toml), and tell what policies would have done.

    They are asked for their jobs and processors (squeue, sinfo), and told nothing. Until Ctrl-C;
    each day, and then, the jobs that ended are simulated under each pair of policies. Modules that
    are named (module:Class) are imported: use only code that you trust.
    """
    for name, found, fits in (
        ("--every", every, not report),
        ("--look", look, not report),
        ("--last", last, report),
        ("--json", as_json or None, report),
        ("GRID", grid, not report),
    ):
        if found is not None and not fits:
            how = "with" if report else "without"
            raise GridError(f"{name}: found {how} --report; accepted: one {_OTHER[how]} it")
    if look is not None and not 1.0 <= look <= _SELDOM:
        raise GridError(f"--look: found {look:g} s; accepted: from 1 s to {_SELDOM:g} s")
    from experiments.service.shadow.comparing import pairs_of

    pairs = None if policies is None else pairs_of(policies)
    if report:
        if state is None:
            raise GridError("--state: missing; accepted: the folder of a shadow")
        _report(Path(state), pairs, last or _DAY, as_json, seed)
        return
    if grid is None:
        raise GridError("GRID: missing; accepted: the path of a file, or --report")
    every, look = every or _DAY, look or _LOOK
    if every < look:
        raise GridError(f"--every: found {every:g} s; accepted: from {look:g} s, that of --look")
    folder = Path(state or f"{Path(grid).stem}-shadow")
    _watch(grid, folder, pairs, every, look, seed)


_OTHER = {"with": "without", "without": "with"}


def _watch(
    grid: str, folder: Path, pairs: tuple[Pair, ...] | None, every: float, look: float, seed: int
) -> None:
    from experiments.sweeps.progress import telling

    with telling("loading"):
        from experiments.service.grid_file import load_grid
        from experiments.service.shadow.comparing import check, usual
        from experiments.service.shadow.look import Watched
        from experiments.service.shadow.report import print_report
        from experiments.service.shadow.sightings import Sightings
        from experiments.service.shadow.watching import Asked, shadowing
        from experiments.show.tables import unfolded

    def say(line: str) -> None:
        click.echo(f"{datetime.now():%H:%M:%S} {line}")

    with users_code():
        chosen = load_grid(grid, sizes=Sightings.sizes_before(folder), driver=Watched)
        asked = Asked(pairs or usual(chosen.scenario), every, look)
        with telling("compiling what is not compiled yet"):
            check(chosen.scenario, asked.pairs)
        with shadowing(chosen, folder, asked, say) as watching:
            where = f"{chosen.scenario.name}, seen in {folder}"
            click.echo(f"metasched: watching {where}; Ctrl-C ends it, with a report", err=True)
            signal.signal(signal.SIGTERM, signal.default_int_handler)
            watching.run(lambda told: print_report(told, unfolded()), seed)


def _report(
    folder: Path, pairs: tuple[Pair, ...] | None, last: float, as_json: bool, seed: int
) -> None:
    from experiments.sweeps.progress import telling

    with telling("loading"):
        from experiments.service.grid_file import load_grid
        from experiments.service.shadow.comparing import Pair, check
        from experiments.service.shadow.look import Remembered
        from experiments.service.shadow.report import print_report
        from experiments.service.shadow.sightings import Sightings
        from experiments.service.shadow.watching import report_of
        from experiments.show.tables import unfolded

    with users_code(), closing(Sightings(folder)) as sightings:
        name, *_ = sightings.note("grid")
        scenario = load_grid(name, sizes=sightings.note("sites"), driver=Remembered).scenario
        chosen = pairs or [Pair(*each) for each in sightings.note("pairs")]
        with telling("compiling what is not compiled yet, and simulating"):
            check(scenario, chosen)
            told = report_of(sightings, scenario, chosen, last=last, seed=seed)
    if as_json:
        click.echo(json.dumps(told))
    else:
        print_report(told, unfolded())
