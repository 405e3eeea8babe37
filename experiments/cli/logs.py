"""The commands `metasched inspect` and `metasched convert`."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from experiments.cli.options import PLACE, Number, json_option

if TYPE_CHECKING:
    from experiments.logs.character import Character
    from grid.logs.log import Log

FILES = ("log.json", "log.svg", "log.png")
"""What `metasched inspect --out` writes."""

_SPEED = click.option(
    "--speed",
    type=Number(0, whole=False, above=True),
    metavar="FLOPS",
    help="Of a processor, for Batsim profiles that compute (default: 1e9).",
)


@click.command()
@click.argument("log", type=PLACE)
@click.option("--format", "format_", metavar="NAME", help="swf, gwf, sacct, batsim, csv, parquet.")
@_SPEED
@click.option(
    "--partition-field",
    type=Number(1),
    metavar="N",
    help="Field of SWF and GWF that names partitions (default: 16).",
)
@click.option(
    "--simulate",
    metavar="NAMES",
    help="Local schedulers, such as easy,conservative: how their waits compare with recorded ones.",
)
@click.option(
    "--processors",
    type=Number(1),
    metavar="N",
    help="Of the machine that is simulated (default: as LOG says, or its largest job).",
)
@click.option(
    "--out", type=PLACE, metavar="DIR", help="Write log.json and a figure, log.svg and .png, there."
)
@json_option
def inspect(
    log: str,
    format_: str | None,
    speed: float | None,
    partition_field: int | None,
    simulate: str | None,
    processors: int | None,
    out: str | None,
    as_json: bool,
) -> None:
    """Tell what LOG is like, and what cleaning it needs; or what a platform file says.

    Coefficients of variation (cv) are of the sample.
    """
    from experiments.run.files import check_file
    from grid.errors import GridError, blaming
    from grid.platform.reading import SUFFIXES

    if format_ is None and Path(log).suffix.lower() in SUFFIXES:
        for option, value in (
            ("--out", out),
            ("--partition-field", partition_field),
            ("--simulate", simulate),
            ("--speed", speed),
            ("--processors", processors),
        ):
            if value is not None:
                raise GridError(f"{option}: found with {log}, a platform; accepted: with a log")
        _inspect_platform(log, as_json)
        return
    from rich.console import Console

    from experiments.sweeps.progress import telling

    with telling("loading"):
        from experiments.logs.character import Character
        from experiments.logs.listing import print_character, print_waits
        from experiments.logs.waits import Waits

    if processors is not None and simulate is None:
        raise GridError("--processors: found alone; accepted: with --simulate")
    for name in FILES if out is not None else ():
        check_file(Path(str(out)) / name, "results")
    with telling(f"reading {log}") as watch:
        character = Character.of(_read(log, format_, speed, partition_field))
        waits = None
        if simulate is not None:
            names = [name.strip() for name in simulate.split(",")]
            with blaming("--simulate"):
                waits = Waits.simulated(character.log, names, watch, processors)
        told = character.to_dict() | ({"simulated": waits.to_dict()} if waits else {})
        if out is not None:
            _write(character, told, Path(out))
    if as_json:
        click.echo(json.dumps(told, allow_nan=False))
        return
    print_character(character, Console())
    if waits is not None:
        print_waits(waits, Console())


def _read(path: str, format_: str | None, speed: float | None, field: int | None = None) -> Log:
    from grid.errors import GridError
    from grid.logs.fields import PARTITION
    from grid.logs.formats import read

    log = read(Path(path), format_, speed=speed, partition_field=field or PARTITION)
    if speed is not None and log.format != "batsim":
        raise GridError(
            f"--speed: found with {path}, of format {log.format}; accepted: with batsim"
        )
    return log


def _write(character: Character, told: dict[str, Any], folder: Path) -> None:
    from experiments.logs.pictures import draw_character
    from experiments.run.files import made
    from experiments.studies.outputs import new_files

    with made(folder), new_files(folder) as new:
        draw_character(character, new / Path(FILES[1]).stem)
        text = json.dumps(told, indent=2, allow_nan=False)
        (new / FILES[0]).write_text(text + "\n", encoding="utf-8")


def _inspect_platform(path: str, as_json: bool) -> None:
    from rich.console import Console

    from experiments.logs.listing import print_platform
    from grid.errors import PlatformError
    from grid.platform.reading import read_platform

    try:
        platform = read_platform(path)
    except PlatformError:
        _refuse_scenario(path)
        raise
    if not as_json:
        print_platform(path, platform, Console())
        return
    tables: dict[str, Any] = platform.to_dict()
    for link in tables["links"]:
        link["capacity"] = None if link["capacity"] == math.inf else link["capacity"]
    told = {"file": path, "max_processors": int(platform.sizes.sum()), **tables}
    click.echo(json.dumps({**told, "notes": list(platform.notes)}, allow_nan=False))


def _refuse_scenario(path: str) -> None:
    """Raise `PlatformError` if a file that is no platform has what only scenarios have."""
    from experiments.scenario.toml import KEYS
    from grid.errors import PlatformError
    from grid.strict import text_of, toml_of

    if Path(path).suffix.lower() != ".toml":
        return
    text = text_of(path, "a TOML file", PlatformError)
    if set(KEYS) & set(toml_of(text, path, PlatformError)):
        raise PlatformError(
            f"{path}: found a scenario; accepted: a log or a platform; `metasched validate {path}` "
            "shows a scenario"
        ) from None


@click.command()
@click.argument("given", type=PLACE, metavar="IN")
@click.argument("out", type=PLACE, metavar="OUT")
@click.option("--from", "from_", metavar="NAME", help="Format of IN (default: as it looks).")
@click.option("--to", metavar="NAME", help="Format of OUT (default: by the end of its name).")
@click.option(
    "--anonymise", is_flag=True, help="Leave out names of users and applications, and the date."
)
@_SPEED
def convert(
    given: str, out: str, from_: str | None, to: str | None, anonymise: bool, speed: float | None
) -> None:
    """Write the usable jobs of IN to OUT in another format.

    Formats are swf, batsim, csv and parquet, and of IN also gwf and sacct. The names of packed
    files end in .gz, .bz2 or .xz. A file that is there is replaced, unless it is IN.
    """
    from dataclasses import replace

    from rich.console import Console

    from experiments.logs.anonymous import TOLD, anonymous
    from experiments.logs.converting import format_to_write, lost, said, table_for, write
    from experiments.logs.listing import print_cleaning
    from experiments.show.numbers import counted
    from experiments.sweeps.progress import telling
    from grid.foreign import plain
    from grid.logs.formats import FORMATS

    format_ = format_to_write(Path(out), to, Path(given))
    with telling(f"converting {given}"):
        log = _read(given, from_, speed)
        table = table_for(log, format_)
        if anonymise:
            log, table = replace(log, numbered=()), anonymous(table)
        write(Path(out), format_, table)
    console = Console()
    title = FORMATS[format_].title
    told = f"{plain(out, 200)}: {counted(table.count, 'job')}, {title}"
    console.print(told, markup=False, highlight=False, soft_wrap=True)
    print_cleaning(table.cleaning, console)
    done = []
    if anonymise:
        known = TOLD.keys() & {"job", "arrival", *said(table.jobs)}
        done = [TOLD[name] for name in FORMATS[format_].holds if name in known]
    for words in (*done, *lost(log, table, format_)):
        click.echo(f"metasched: {words}", err=True)
