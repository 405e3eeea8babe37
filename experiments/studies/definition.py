"""What a study file says: which policies are compared, where, on which jobs, and how surely."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from datetime import date
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal

import pydantic
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from agents.muscle.scheduler import MuscleScheduler
from agents.registry import global_scheduler, kinds_of, local_scheduler
from experiments.scenario.assignments import shown
from experiments.scenario.checked import kinds_for
from experiments.scenario.parameters import ALIASES, Several, Whole, names_of_one
from experiments.scenario.recorded import chosen
from grid.accepted import accepted
from grid.durations import seconds
from grid.errors import GridError
from grid.foreign import quoted
from grid.named_files import located
from grid.names import meant
from grid.strict import toml_of

OF_ALL_JOBS = ("deadlines_met",)
"""Metrics that rejected jobs are part of: who rejects more gains nothing by it."""
MORE_IS_BETTER = ("utilization", "throughput", "deadlines_met", "prediction_accuracy")
"""Metrics of which high numbers are good ones."""
_REQUIRED = {
    "scenario": "the name of a scenario or its file, such as 'quickstart'",
    "policies": "a table [policies] or several [[policies]], of `global` and `local`",
    "global": "the name of a global scheduler, such as 'home'",
    "local": "the name of a local scheduler, such as 'easy'",
}
"""Keys that a study has to have, and what to write there."""
PLATFORM = "platform"
"""What varies of a study beside parameters: platforms, by their files."""
SYNTHETIC = "synthetic"
"""What the workload of a study without logs is called."""


def _time(value: Any) -> Any:
    """Return a time as a study file has it, such as ``"30m"``, in seconds."""
    found = seconds(str(value)) if isinstance(value, str | int | float) else None
    if found is None:
        raise PydanticCustomError("time", "accepted: a time above 0, such as '30m', '2h' or '4w'")
    return found


def _different(values: Sequence[Any]) -> Sequence[Any]:
    """Refuse a value that is there twice."""
    for index, value in enumerate(values):
        if value in values[:index]:
            raise PydanticCustomError("twice", "accepted: each value once")
    return values


def _in_a_line(text: str) -> str:
    """Refuse a text that would break a table, or drive a terminal."""
    if not text.isprintable():
        raise PydanticCustomError("line", "accepted: a printable text in one line")
    return text


def _not_blank(text: str) -> str:
    if not text.strip():
        raise PydanticCustomError("blank", "accepted: a name")
    return text


def _of_json(value: Any) -> Any:
    """Return a value as JSON holds it; refuse others: TOML has times, and numbers that are none."""
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return [_of_json(each) for each in value]
    if isinstance(value, dict):
        return {name: _of_json(each) for name, each in value.items()}
    known = isinstance(value, str | int | float)
    if not known or (isinstance(value, float) and not math.isfinite(value)):
        raise PydanticCustomError(
            "value", "accepted: a finite number, a text, true, false, a list or a table"
        )
    return value


def _one_or_more(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _by_own_names(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values with parameters by their own names, not by further ones."""
    if both := names_of_one(values):
        raise PydanticCustomError("names", "{both}", {"both": both})
    return {ALIASES.get(name, name): value for name, value in values.items()}


Value = Annotated[Any, AfterValidator(_of_json)]
Parameters = Annotated[dict[str, Value], AfterValidator(_by_own_names)]
Time = Annotated[float, BeforeValidator(_time)]
Values = Annotated[tuple[Value, ...], Field(min_length=1), AfterValidator(_different)]
Line = Annotated[str, AfterValidator(_in_a_line)]
Name = Annotated[Line, AfterValidator(_not_blank)]
Names = Annotated[
    tuple[Name, ...], BeforeValidator(_one_or_more), Field(min_length=1), AfterValidator(_different)
]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Policy(_Part):
    """A global scheduler over a local one, with parameters of their own."""

    global_: Name = Field(alias="global")
    local: Name
    set: Parameters = {}
    name: Name | None = None

    @property
    def label(self) -> str:
        """Its name, or what it is made of."""
        own = ", ".join(f"{name}={shown(value)}" for name, value in self.set.items())
        made_of = f"{self.global_} over {self.local}"
        return self.name or (f"{made_of}, {own}" if own else made_of)


class Grid(_Part):
    """Every global scheduler over every local one."""

    global_: Names = Field(alias="global")
    local: Names


class Replications(_Part):
    """How often a point is run, and when that is enough."""

    least: Several = 5
    """Replications of every point: two at least, for one tells nothing of the others."""
    most: Several | None = None
    """Replications that no point goes beyond; without it, 30 or, if that is more, `least`."""
    precision: Annotated[float, Field(gt=0, lt=1, strict=True)] | None = None
    """Replications go on until the half-width of the metric's 95 % confidence interval is at most
    this share of its mean, of every policy of a setting; none: `least` are enough."""
    runs: Whole | None = None
    """The study ends when the next round of replications would take it beyond so many runs."""
    time: Time | None = None
    """The study ends after so much wall time, s; what is done by then depends on the machine."""
    window: Time | None = None
    """Logs: replication k replays the k-th stretch of this length, s, in which jobs arrive."""

    @property
    def limit(self) -> int:
        """Replications that no point goes beyond."""
        if self.precision is None:
            return self.least
        return max(self.least, 30) if self.most is None else self.most


class Definition(_Part):
    """A study, as its file says.

    Attributes
    ----------
    policies : Grid or tuple of Policy
    own_metrics : tuple of str
        Metrics of the user's own, ``module:function``, beside those of the scenario.
    set : mapping
        Parameters that all runs share.
    vary : mapping
        Of each parameter its values, and of `PLATFORM` files; every combination is a setting.
    workloads : mapping
        Named logs; none: synthetic jobs, or the log of the scenario.
    """

    title: Line = ""
    scenario: Name
    platform: str | None = None
    seed: Annotated[int, Field(ge=0, strict=True)] = 0
    metric: Name = "mean_turnaround"
    better: Literal["less", "more"] | None = None
    report: Annotated[tuple[str, ...], AfterValidator(_different)] = ()
    own_metrics: Annotated[tuple[Name, ...], AfterValidator(_different)] = ()
    policies: Grid | Annotated[tuple[Policy, ...], Field(min_length=1)]
    set: Parameters = {}
    vary: Annotated[dict[str, Values], AfterValidator(_by_own_names)] = {}
    workloads: dict[Name, Names] = {}
    replications: Replications = Replications()

    @classmethod
    def of_text(cls, text: str, where: str) -> Definition:
        """Return what the text of a study file says.

        Parameters
        ----------
        text : str
            TOML.
        where : str
            The file, for messages.

        Raises
        ------
        GridError
            Naming the first key that is unknown, missing or has a value that is not accepted.
        """
        table = toml_of(text, where)
        try:
            found = cls.model_validate(table)
        except pydantic.ValidationError as failure:
            raise GridError(f"{where}: {_told(failure)}") from None
        found._check(where)
        return found

    def located(self, path: str | os.PathLike[str]) -> Definition:
        """Return it with files that parameters name as found from the folder of `path`, its own."""
        policies = self.policies

        def found(values: Mapping[str, Any]) -> dict[str, Any]:
            return located(values, kinds_for(()), Path(path).parent)

        if not isinstance(policies, Grid):
            policies = tuple(p.model_copy(update={"set": found(p.set)}) for p in policies)
        varied = {
            name: tuple(found({name: each})[name] for each in values)
            for name, values in self.vary.items()
        }
        own = {"set": found(self.set), "vary": varied, "policies": policies}
        return self.model_copy(update=own)

    def _check(self, where: str) -> None:
        """Raise `GridError` for what is refused of several keys together."""
        names = [policy.label for policy in self.compared]
        for name in names:
            if names.count(name) > 1:
                raise GridError(
                    f"{where}: policies: found {name!r} twice; accepted: a name of its own for each"
                )
        own = {name for policy in self.compared for name in policy.set}
        for name in self.vary:
            if name in self.set or name in own:
                raise GridError(f"{where}: vary: {name}: found in set too; accepted: one of them")
        for found in self.vary.get(PLATFORM, ()):
            if not (isinstance(found, str) and found.strip()):
                what = f"found {quoted(found)}; accepted: files of platforms"
                raise GridError(f"{where}: vary: {PLATFORM}: {what}")
        if self.platform is not None and PLATFORM in self.vary:
            raise GridError(f"{where}: {PLATFORM}: found in vary too; accepted: one of them")
        for name in own & self.set.keys():
            raise GridError(f"{where}: set: {name}: found in policies too; accepted: one of them")
        how = self.replications
        if how.most is not None and how.most < how.least:
            raise GridError(
                f"{where}: replications.most: found {how.most}; accepted: from {how.least}, `least`"
            )
        if how.most is not None and how.precision is None:
            raise GridError(
                f"{where}: replications.most: found without `precision`; accepted: only with it"
            )

    @property
    def compared(self) -> tuple[Policy, ...]:
        """The policies, one by one."""
        if not isinstance(self.policies, Grid):
            return self.policies
        pairs = product(self.policies.global_, self.policies.local)
        return tuple(Policy.model_validate({"global": one, "local": other}) for one, other in pairs)

    @property
    def kinds(self) -> tuple[Any, ...]:
        """What the policies can be set to: parameters of one are of all, and idle there."""
        return kinds_of(
            *(global_scheduler(each.global_) for each in self.compared),
            *(local_scheduler(each.local) for each in self.compared),
        )

    @property
    def shared(self) -> dict[str, Any]:
        """The parameters that all runs share: all have only recorded jobs if one needs those."""
        pairs = ((global_scheduler(p.global_), local_scheduler(p.local)) for p in self.compared)
        return self.set | chosen(pairs)

    @property
    def of_muscle(self) -> list[str]:
        """The labels of the policies whose global scheduler is MUSCLE, or made from it."""
        found = [(each.label, global_scheduler(each.global_)) for each in self.compared]
        return [label for label, policy in found if issubclass(policy, MuscleScheduler)]

    @property
    def settings(self) -> list[dict[str, Any]]:
        """Every combination of the values of the parameters that vary."""
        return [dict(zip(self.vary, each, strict=True)) for each in product(*self.vary.values())]

    @property
    def reported(self) -> tuple[str, ...]:
        """The metric, and the others that are reported."""
        return tuple(dict.fromkeys((self.metric, *self.report)))

    @property
    def more_is_better(self) -> bool:
        """Whether high numbers of the metric are good ones."""
        if self.better is not None:
            return self.better == "more"
        return self.metric in MORE_IS_BETTER

    def to_dict(self) -> dict[str, Any]:
        """Return what the file says, ready for JSON."""
        return self.model_dump(mode="json", by_alias=True)


def cell(value: Any) -> Any:
    """Return the value of a parameter as a table has it: a number, or a text."""
    return value if isinstance(value, str | int | float) else json.dumps(value)


def _told(failure: pydantic.ValidationError) -> str:
    """Return the first of pydantic's errors in a line of ours."""
    # Each branch of a union has its errors: the deepest are those of the branch that is meant.
    errors = failure.errors()
    errors.sort(key=lambda each: each["type"] != "extra_forbidden")  # what else may follow of it
    first = [each for each in errors if each["loc"][0] == errors[0]["loc"][0]]
    error = max(first, key=lambda each: (len(each["loc"]), each["type"] == "extra_forbidden"))
    place = error["loc"][:-2] if error["loc"][-1] == "[key]" else error["loc"]
    key = ".".join(_in_words(part) for part in place if _is_key(part))
    if error["type"] == "extra_forbidden":
        return f"{key}: unknown key; {meant(error['loc'][-1], _keys(error['loc'][:-1]))}"
    if error["type"] == "names":
        return f"{key}: {error['msg']}"
    if error["type"] == "missing":
        return f"{key}: missing; accepted: {_REQUIRED[str(place[-1])]}"
    return f"{key}: found {quoted(error['input'])}; {accepted([error])}"


def _in_words(part: str | int) -> str:
    return part if isinstance(part, str) and part.isprintable() else repr(part)


def _is_key(part: str | int) -> bool:
    """Tell whether a part of an error's place is a key or an index, not a branch of a union."""
    return isinstance(part, int) or not (part in ("Grid", "Policy") or part.startswith("tuple["))


def _keys(place: tuple[str | int, ...]) -> list[str]:
    """Return the keys that a table of a study may have."""
    table: type[BaseModel] = Definition
    if place:
        branches: Mapping[str, type[BaseModel]] = {"replications": Replications, "policies": Grid}
        table = branches[str(place[0])]
        if any(isinstance(part, int) for part in place):
            table = Policy
    return [field.alias or name for name, field in table.model_fields.items()]
