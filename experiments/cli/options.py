"""Options of the command line, refused in the words of all other bad input."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from grid.durations import time_of
from grid.errors import GridError
from grid.foreign import plain

if TYPE_CHECKING:
    from experiments.scenario.scenario import Scenario


class Number(click.ParamType):  # type: ignore[type-arg]  # plain before click 8.5
    """A number that an option or argument takes.

    Parameters
    ----------
    least : float
        The lowest one accepted; infinity below zero: any.
    whole : bool
        Only integers are accepted.
    above : bool
        `least` itself is not accepted.
    endless : bool
        Infinity is accepted: no limit.
    """

    def __init__(
        self,
        least: float = -math.inf,
        *,
        whole: bool = True,
        above: bool = False,
        endless: bool = False,
    ) -> None:
        self.name = "integer" if whole else "float"
        self.least, self.above, self.endless = least, above, endless
        self._read = int if whole else float
        bound = "" if least == -math.inf else f"{' above' if above else ' from'} {least:g}"
        self.accepted = f"a {'whole ' if whole else ''}number{bound}"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the number.

        Raises
        ------
        GridError
            If there is none, or it is outside the range.
        """
        try:
            number = self._read(str(value))
        except ValueError:
            number = math.nan
        enough = number > self.least if self.above else number >= self.least
        if enough and (self.endless or number < math.inf):
            return number
        name = "number" if param is None else _name(param)
        raise GridError(f"{name}: found {str(value)!r}; accepted: {self.accepted}")


class Numbers(click.ParamType):  # type: ignore[type-arg]  # plain before click 8.5
    """Whole numbers with commas between them, each from the least that is accepted."""

    name = "integers"

    def __init__(self, least: int) -> None:
        self._each = Number(least)

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[float, ...]:
        """Return the numbers.

        Raises
        ------
        GridError
            If one of them is none, or too low.
        """
        return tuple(self._each.convert(part, param, ctx) for part in str(value).split(","))


class Place(click.ParamType):  # type: ignore[type-arg]  # plain before click 8.5
    """The path of a file or a folder: not the empty text that an unset shell variable leaves."""

    name = "path"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> object:
        """Return the path.

        Raises
        ------
        GridError
            If there is none.
        """
        if value == "" and param is not None:
            what = "folder" if param.metavar in ("DIR", "RESULT", "RESULT...") else "file"
            raise GridError(f"{_name(param)}: found ''; accepted: a {what}")
        return value


PLACE = Place()


def _name(param: click.Parameter) -> str:
    """Return what messages call an option or argument."""
    if isinstance(param, click.Option):
        return max(param.opts, key=len)
    return param.human_readable_name.rstrip(".")


class Duration(click.ParamType):  # type: ignore[type-arg]  # plain before click 8.5
    """A time above 0, such as ``90s``, ``10m``, ``2h`` or ``1d``; a number alone is seconds."""

    name = "time"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the time, s.

        Raises
        ------
        GridError
            If it is none.
        """
        return time_of(value, "time" if param is None else max(param.opts, key=len))


FIGURE = re.compile("[0-9]{1,18}")


class Figures(click.ParamType):  # type: ignore[type-arg]  # plain before click 8.5
    """Figures of a paper: numbers and ranges, such as ``14-21`` or ``9,13``."""

    name = "figures"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, ...]:
        """Return the figures in order.

        Raises
        ------
        GridError
            If they are something else.
        """
        found: set[int] = set()
        for part in str(value).split(","):
            ends = [end.strip() for end in part.split("-")]
            numbers = [int(end) for end in ends if FIGURE.fullmatch(end)]
            if len(numbers) < len(ends) or len(ends) > 2 or numbers[0] > numbers[-1]:
                raise GridError(
                    f"--figure: found {str(value)!r}; accepted: numbers and ranges, lowest first, "
                    "such as 14-21 or 9,13"
                )
            first, last = numbers[0], numbers[-1]
            found |= {first, last} | set(range(first, min(last, 100)))
        return tuple(sorted(found))


def chosen_workload(given: tuple[str, ...]) -> str | tuple[str, ...] | None:
    """Return one log, or one for each site as they were given, or None for none."""
    if not given:
        return None
    return given[0] if len(given) == 1 and not _is_site_log(given[0]) else given


def _is_site_log(entry: str) -> bool:
    return "=" in entry and not os.path.isfile(entry)


def _show_all_frames(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        from experiments.cli.users_errors import TRACEBACK

        before = os.environ.get(TRACEBACK, "")
        os.environ[TRACEBACK] = "1"  # for processes that are started, too
        context.call_on_close(lambda: os.environ.update({TRACEBACK: before}))


Option = Callable[[Callable[..., Any]], Callable[..., Any]]
"""What adds an option or argument, or several, to a command."""


def adding(*options: Option) -> Option:
    """Return what adds options and arguments to a command, of which the first is shown first."""

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return add


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, alone on stdout.")
workload_now_option = click.option(
    "--workload",
    multiple=True,
    type=PLACE,
    metavar="FILE",
    help="Where the workload is now, if not where the run found it; CLUSTER=FILE for each site.",
)
traceback_option = click.option(
    "--traceback",
    is_flag=True,
    expose_value=False,
    callback=_show_all_frames,
    help="Show an exception of your code with all frames, not your own alone.",
)


def scenario_options(required: bool = True, metrics: bool = True) -> Option:
    """Return what adds the options that say what a scenario is to be run with.

    Parameters
    ----------
    required : bool
        A scenario must be given.
    metrics : bool
        Metrics of one's own have a meaning to the command.
    """
    own_metrics = click.option(
        "--metric",
        "own_metrics",
        multiple=True,
        metavar="MODULE:FUNCTION",
        help="A metric of your own, which is imported and run (docs/own-metric.md).",
    )
    return adding(
        click.argument("scenario", required=required),
        click.option(
            "--workload",
            multiple=True,
            type=PLACE,
            metavar="FILE",
            help="A log or table of jobs (docs/logs.md); CLUSTER=FILE for each site.",
        ),
        click.option(
            "--platform",
            type=PLACE,
            metavar="FILE",
            help="Clusters and links (.toml, or SimGrid's .xml).",
        ),
        click.option(
            "--global",
            "global_",
            metavar="NAME",
            help="Global scheduler, or module:Class, which is imported and run.",
        ),
        click.option(
            "--local",
            metavar="NAME",
            help="Local scheduler, or module:Class, which is imported and run.",
        ),
        click.option(
            "--predictor",
            metavar="NAME",
            help="Predictor of run times, or module:Class, which is imported and run.",
        ),
        click.option(
            "--set", "settings", multiple=True, metavar="NAME=VALUE", help="Set a parameter."
        ),
        *([own_metrics] if metrics else []),
        click.option("--seed", type=Number(0), default=0, show_default=True),
        traceback_option,
    )


def chosen_scenario(
    scenario: str,
    workload: tuple[str, ...],
    platform: str | None,
    global_: str | None,
    local: str | None,
    predictor: str | None,
    settings: tuple[str, ...],
    own_metrics: tuple[str, ...] = (),
) -> Scenario:
    """Return the scenario that the options describe."""
    from experiments.scenario.scenario import Scenario
    from grid.platform.reading import read_platform

    changes: dict[str, Any] = {}
    where = "--set"
    _tell_repeated(settings)
    if predictor is not None:
        if any(each.partition("=")[0].strip() == "prediction" for each in settings):
            raise GridError("--predictor: found with --set prediction; accepted: one of the two")
        settings = (*settings, f"prediction={predictor}")
        where = "--predictor" if len(settings) == 1 else "--set, --predictor"
    if workload:
        changes["workload"] = chosen_workload(workload)
    if platform is not None:
        changes["platform"] = read_platform(platform)
    if global_ is not None:
        changes["global_scheduler"] = global_
    if local is not None:
        changes["local_scheduler"] = local
    loaded = Scenario.load(scenario, (global_, local), changes.get("platform"))
    if own_metrics:
        changes["own_metrics"] = tuple(dict.fromkeys((*loaded.own_metrics, *own_metrics)))
    return loaded.changed(settings, where, **changes)


def _tell_repeated(settings: Sequence[str]) -> None:
    """Say of which parameters several values are given: one in a long line is overlooked."""
    from experiments.cli.users_errors import warn

    names = [each.partition("=")[0].strip() for each in settings]
    for name in (name for name in dict.fromkeys(names) if names.count(name) > 1):
        last = settings[len(names) - 1 - names[::-1].index(name)].partition("=")[2].strip()
        often = names.count(name)
        warn(f"--set: {plain(name)}: given {often} times; the last one counts, {plain(last)}")


WITH_RESUME = (
    *("live", "pace", "follow", "rounds", "checkpoint", "every", "traceback", "resume", "as_json"),
)
"""What may be asked of a run that goes on: all else its checkpoint knows."""


def check_alone() -> None:
    """Raise `GridError` if the command that runs is given anything beside `WITH_RESUME`."""
    for name in given_beside(WITH_RESUME):
        names = {each.name: each for each in click.get_current_context().command.params}
        options = [_name(names[each]) for each in WITH_RESUME[:-2]]
        raise GridError(
            f"--resume: found with {name}; accepted: with {', '.join(options)} and "
            "--json, for all else is as in the checkpoint"
        )


def given_beside(known: Sequence[str]) -> Iterator[str]:
    """Yield what the command that runs was given on its line, beside some options and arguments."""
    context = click.get_current_context()
    for each in context.command.params:
        name = each.name or ""
        given = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if given and name not in known:
            yield _name(each)
