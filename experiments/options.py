"""Numbers on the command line, refused in the words of all other bad input."""

from __future__ import annotations

import math

import click

from grid.errors import GridError


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
    """

    def __init__(
        self, least: float = -math.inf, *, whole: bool = True, above: bool = False
    ) -> None:
        self.name = "integer" if whole else "float"
        self.least, self.above = least, above
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
        if number > self.least if self.above else number >= self.least:
            return number
        name = "number" if param is None else param.human_readable_name
        if isinstance(param, click.Option):
            name = max(param.opts, key=len)
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
            ends = part.split("-")
            if len(ends) > 2 or not all(end.strip().isdecimal() for end in ends):
                raise GridError(
                    f"--figure: found {str(value)!r}; accepted: numbers and ranges, such as 14-21 "
                    "or 9,13"
                )
            first, last = int(ends[0]), int(ends[-1])
            found |= {first, last} | set(range(first, min(last, 100)))
        return tuple(sorted(found))


def chosen_workload(given: tuple[str, ...]) -> str | tuple[str, ...] | None:
    """Return one log, or one for each site as they were given, or None for none."""
    if not given:
        return None
    return given[0] if len(given) == 1 and not _is_site_log(given[0]) else given


def _is_site_log(entry: str) -> bool:
    from pathlib import Path

    return "=" in entry and not Path(entry).is_file()
