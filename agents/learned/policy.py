"""Files of policies that were learned, which hold numbers and words, and no code."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from agents.importing import beside_scenarios
from agents.learned import LEARNED, choices, ranks
from agents.learned.formula import Floats, Weight, formula_of
from agents.learned.units import Unit, units_of
from agents.schedulers import GlobalScheduler, LocalScheduler
from grid.accepted import accepted, place_of
from grid.errors import GridError
from grid.foreign import quoted
from grid.logs.calendar import read as read_date
from grid.names import meant
from grid.strict import json_of, text_of

WHAT = "a policy that `metasched learn` wrote"

MOST_UNITS = 256
"""Of a network, at most."""

Time = Annotated[float, Field(strict=True, allow_inf_nan=False)]


def _date(text: str) -> str:
    """Return a date that can be read."""
    try:
        read_date(text)
    except ValueError:
        raise ValueError("accepted: a date and time, such as 2003-02-03T08:00:00") from None
    return text


class Lessons(BaseModel):
    """What a policy was learned from.

    Attributes
    ----------
    scenario : str
    metric : str
    seed : int
    logs : dict of str to tuple of (float, float)
        Of each log, by the SHA-256 of its file, the windows that were learned from, s after its
        first job.
    starts : dict of str to str
        What the clock of each log showed then, if it tells.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    scenario: str = ""
    metric: str = ""
    seed: int = 0
    logs: dict[str, tuple[tuple[Time, Time], ...]] = {}
    starts: dict[str, Annotated[str, AfterValidator(_date)]] = {}


class LearnedPolicy(BaseModel):
    """A policy that was learned.

    Attributes
    ----------
    version : int
        Of the form of the file.
    agent : str
        "global" or "local".
    service : str
        Of a local one, which jobs of its queue start, a key of `ranks.SERVICES`.
    weights : dict of str to float
        Of the terms of its formula, by name.
    units : tuple of Unit
        Of a network, whose output is added to that.
    lessons : Lessons
        What it was learned from.

    Examples
    --------
    >>> LearnedPolicy(agent="local", weights={"time": 1.0, "arrival": 0.25}).formula
    'log t + 0.25 h'
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Literal[1] = 1
    agent: Literal["global", "local"]
    service: Literal["head", "fpfs", "easy", "conservative"] = "head"
    weights: dict[str, Weight]
    units: Annotated[tuple[Unit, ...], Field(max_length=MOST_UNITS)] = ()
    lessons: Lessons = Lessons()

    @property
    def terms(self) -> dict[str, str]:
        """The terms that there are, by name."""
        return ranks.TERMS if self.agent == "local" else choices.OF_CLONES

    @property
    def searched(self) -> dict[str, str]:
        """Those whose weights are learned by trying them."""
        return ranks.TERMS if self.agent == "local" else choices.TERMS

    @property
    def of_units(self) -> dict[str, str]:
        """Those that units may read."""
        return ranks.OF_UNITS if self.agent == "local" else choices.TERMS

    @property
    def symbols(self) -> str:
        """What the letters in them mean."""
        return ranks.SYMBOLS if self.agent == "local" else choices.SYMBOLS

    @property
    def formula(self) -> str:
        """The formula, whose lowest value goes first."""
        told, units = formula_of(self.weights, self.terms), len(self.units)
        if not units:
            return told
        return f"{told} + what a network of {units} unit{'s' * (units > 1)} adds"

    def with_numbers(self, numbers: Floats) -> LearnedPolicy:
        """Return it with other weights of what is searched and units, from an array of these."""
        weights, units = units_of(numbers, self.searched)
        read = [{name: unit.weights[name] for name in self.of_units} for unit in units]
        found = tuple(replace(unit, weights=of) for unit, of in zip(units, read, strict=True))
        return self.model_copy(update={"weights": weights, "units": found})

    def scheduler(self) -> type[GlobalScheduler | LocalScheduler]:
        """Return a scheduler that decides so."""
        if self.agent == "local":
            return ranks.ranking(self.weights, self.service, self.units)
        return choices.choosing(self.weights, self.units)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write it to a file; an `OSError` if it cannot be."""
        without = {"service"} if self.agent == "global" else set()
        without |= set() if self.units else {"units"}
        text = json.dumps(self.model_dump(mode="json", exclude=without), indent=1)
        Path(path).write_text(f"{text}\n", encoding="utf-8")

    @classmethod
    def of_text(cls, text: str, where: str) -> LearnedPolicy:
        """Return what the text of a file says.

        Raises
        ------
        GridError
            Naming the first key that is unknown, missing or has a value that is not accepted.
        """
        given = json_of(text, where, WHAT)
        if not isinstance(given, dict):
            raise GridError(f"{where}: found {quoted(given)}; accepted: {WHAT}")
        try:
            found = cls.model_validate(given)
        except ValidationError as failure:
            error = failure.errors()[0]
            key = place_of(error["loc"]) or str(error["loc"][0])
            if error["type"] == "missing":
                raise GridError(f"{where}: {key}: missing; accepted: {WHAT}") from None
            if error["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
                raise GridError(f"{where}: {key}: unknown key; accepted: {WHAT}") from None
            wrong = quoted(error["input"])
            raise GridError(f"{where}: {key}: found {wrong}; {accepted([error])}") from None
        if found.agent == "global" and "service" in given:
            raise GridError(f"{where}: service: found with a global policy; accepted: without")
        named = [("weights", found.weights, found.terms)]
        for at, unit in enumerate(found.units):
            named.append((f"units.{at}.weights", unit.weights, found.of_units))
        for key, weights, terms in named:
            if unknown := [name for name in weights if name not in terms]:
                wrong = f"found {quoted(unknown[0])}; {meant(unknown[0], terms)}"
                raise GridError(f"{where}: {key}: {wrong}")
        return found


def file_of(name: str) -> Path | None:
    """Return the file of a scheduler by its name; None if it is of no learned one."""
    prefix, _, path = name.partition(":")
    return beside_scenarios(path) if prefix == LEARNED else None


def read(path: str | os.PathLike[str]) -> LearnedPolicy:
    """Return the policy in a file.

    Raises
    ------
    GridError
        If there is none.
    """
    return LearnedPolicy.of_text(text_of(path, WHAT), str(path))


@cache
def _scheduler_of(text: str, where: str) -> type[GlobalScheduler | LocalScheduler]:
    policy = LearnedPolicy.of_text(text, where)
    found: Any = policy.scheduler()
    found.lessons = policy.lessons
    return found


def learned_scheduler(path: str) -> type[GlobalScheduler | LocalScheduler]:
    """Return the scheduler of a file, always the same as long as that is.

    The file is looked for beside the user's scenario, then in the current folder.

    Raises
    ------
    GridError
        If there is no policy in it.
    """
    if not path:
        raise GridError(f"{LEARNED}: found no file; accepted: {LEARNED}:FILE, {WHAT}")
    file = beside_scenarios(path)
    return _scheduler_of(text_of(file, WHAT), str(file))
