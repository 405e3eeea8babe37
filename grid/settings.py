"""What a policy, or the grid, can be set to: declared in a frozen dataclass, and checked.

A field says all that there is to say of a parameter::

    @dataclass(frozen=True)
    class Patience:
        longest: float = setting(60.0, "Work that a cluster may have.", unit="s", above=0)

Its type is ``int``, ``float``, ``bool``, ``str``, a tuple or a table of such, or one or the other.
"""

from __future__ import annotations

import dataclasses
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from numbers import Integral
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, create_model

from grid.accepted import accepted, place_of
from grid.errors import GridError
from grid.foreign import quoted

S = TypeVar("S")

OURS = ("agents", "grid")
"""Packages of classes that say by annotations what is true or false of those made from them."""
_BOUNDS = {"gt": "above", "ge": "from", "lt": "below", "le": "at most"}
_DECLARED = "accepted: setting(default, meaning)"
_KINDS = {bool: "true or false", str: "a string", int: "a whole number", float: "a number"}


@dataclass(frozen=True)
class Setting:
    """What is said of a parameter beside its name, type and default."""

    meaning: str
    unit: str
    symbol: str
    limits: dict[str, float]
    choices: tuple[str, ...]
    published: bool
    files: Callable[[str], Sequence[str]] | None = None

    @property
    def description(self) -> str:
        """The meaning, with the symbol and the unit behind it."""
        added = ", ".join(filter(None, (self.symbol, self.unit)))
        return f"{self.meaning.removesuffix('.')} ({added})." if added else self.meaning


@dataclass(frozen=True)
class Declared:
    """A parameter as a dataclass declares it.

    Attributes
    ----------
    setting : Setting
    default : object
    kind : object
        Its type, with its limits, as pydantic takes it.
    """

    setting: Setting
    default: Any
    kind: Any


def _where() -> str:
    """Return where a field is declared, which has no name yet."""
    at = sys._getframe(2)
    return f"{at.f_code.co_filename}, line {at.f_lineno}"


def check_flags(kind: type) -> None:
    """Raise `GridError` for what a class says of itself by another value than True or False.

    What has to be one of them, or None too, is annotated so in our classes that it is made from.
    """
    for base in kind.__mro__:
        if base.__module__.partition(".")[0] not in OURS:
            continue
        for name, said in inspect.get_annotations(base).items():
            found = inspect.getattr_static(kind, name, False)
            by_object = hasattr(found, "__get__")
            if "bool" not in said or isinstance(found, bool) or by_object:
                continue
            if found is not None or "None" not in said:
                accepted_ = "True or False" + (" or None" if "None" in said else "")
                raise GridError(
                    f"{kind.__name__}: {name}: found {quoted(found)}; accepted: {accepted_}"
                )


def setting(
    default: Any,
    meaning: str,
    *,
    unit: str = "",
    symbol: str = "",
    above: float | None = None,
    least: float | None = None,
    below: float | None = None,
    most: float | None = None,
    choices: tuple[str, ...] = (),
    published: bool = True,
    files: Callable[[str], Sequence[str]] | None = None,
) -> Any:
    """Declare a parameter: a field of a frozen dataclass.

    Parameters
    ----------
    default : object
    meaning : str
        A sentence or two, for the lists of parameters.
    unit, symbol : str
        The unit, and what the paper calls it, if it has them.
    above, least, below, most : float, optional
        Limits of numbers, without (`above`, `below`) or with themselves.
    choices : tuple of str
        The texts that are accepted, if not all.
    published : bool
        Scenarios have a parameter of this name.
    files : callable, optional
        If its texts name files: returns a file and those that it leads to, which results hang on.

    Raises
    ------
    GridError
        For an argument of another type, or a default that could be changed, other than a
        dictionary, which is copied.
    """
    limits = {"gt": above, "ge": least, "lt": below, "le": most}
    texts = {"meaning": meaning, "unit": unit, "symbol": symbol}
    bounds = {"above": above, "least": least, "below": below, "most": most}
    for name, value in (texts | bounds).items():
        kind, accepted_ = (str, "a text") if name in texts else (float | int | None, "a number")
        if not isinstance(value, kind) or isinstance(value, bool):
            raise GridError(f"{_where()}: {name}: found {quoted(value)}; accepted: {accepted_}")
    given = {name: limit for name, limit in limits.items() if limit is not None}
    said = {"setting": Setting(meaning, unit, symbol, given, choices, published, files)}
    if isinstance(default, dict):
        return dataclasses.field(default_factory=default.copy, metadata=said)
    if type(default).__hash__ is None:
        raise GridError(
            f"{_where()}: found the default {quoted(default)}; accepted: one of a tuple"
        )
    return dataclasses.field(default=default, metadata=said)


class Checked:
    """Settings that are checked when they are made."""

    group: ClassVar[str] = ""
    """Under which the parameters are listed."""

    def __post_init__(self) -> None:
        check(self)


def check(settings: Any) -> None:
    """Raise `GridError` for a value outside its range."""
    kind: Any = type(settings)
    names = _settings(kind)
    if not names:
        return
    try:
        found = _model(kind)(**{name: getattr(settings, name) for name in names})
    except ValidationError as failure:
        errors = failure.errors()
        of_one = [each for each in errors if each["loc"][0] == errors[0]["loc"][0]]
        at, wrong = place_of(of_one[0]["loc"]), quoted(of_one[0]["input"])
        raise GridError(f"{at}: found {wrong}; {accepted(of_one)}") from None
    for name in names:
        object.__setattr__(settings, name, getattr(found, name))  # whole numbers as such


def by_kind(settings: Iterable[Any]) -> dict[type, Any]:
    """Return settings by their kinds, checked; may raise `GridError`."""
    what = "accepted: a list of objects of frozen dataclasses, one of a kind"
    if not isinstance(settings, Iterable) or isinstance(settings, str):
        raise GridError(f"settings: found {quoted(settings)}; {what}")
    found: dict[type, Any] = {}
    for each in settings:
        of = type(each)
        if not getattr(getattr(of, "__dataclass_params__", None), "frozen", False):
            raise GridError(f"settings: found {quoted(each)}; {what}")
        if of in found:
            raise GridError(f"settings: found a second {called(of)}; {what}")
        check(each)
        found[of] = each
    return found


def chosen(kind: type[S], given: Mapping[type, Any]) -> S:
    """Return the settings of a kind, as far as it or kinds that it extends were given."""
    if kind in given:
        return given[kind]
    extended = (vars(each) for of, each in given.items() if issubclass(kind, of))
    return kind(**{name: value for values in extended for name, value in values.items()})


def check_kind(where: str, kind: Any) -> None:
    """Raise `GridError` unless something is a kind of settings."""
    is_kind = isinstance(kind, type) and dataclasses.is_dataclass(kind)
    if not (is_kind and kind.__dataclass_params__.frozen):
        raise GridError(f"{where}: found {quoted(kind)}; accepted: a frozen dataclass")


@cache
def declared(kind: Any) -> dict[str, Declared]:
    """Return the parameters of scenarios that a kind of settings declares, by name.

    Raises
    ------
    GridError
        If it does not declare them as it must.
    """
    check_kind("settings_type", kind)
    for each in dataclasses.fields(kind):
        if hasattr(BaseModel, each.name) or each.name[0] == "_":
            raise GridError(f"{called(kind)}.{each.name}: a name in use; accepted: another one")
        if "setting" not in each.metadata:
            raise GridError(f"{called(kind)}.{each.name}: found without setting(); {_DECLARED}")
    try:
        default = kind()
        check(default)
    except GridError as error:
        raise GridError(f"{called(kind)}.{error}") from None
    return {
        name: Declared(said, getattr(default, name), _annotations(kind)[name])
        for name, said in _settings(kind).items()
        if said.published
    }


def called(kind: type) -> str:
    """Return what messages call a kind of settings."""
    return f"{kind.__module__}:{kind.__qualname__}"


def in_words(each: Declared) -> str:
    """Return what is accepted as a parameter.

    >>> said = Setting("Jumps.", "", "", {"ge": 0}, ("any",), True)
    >>> in_words(Declared(said, 1, int | Literal["any"]))
    "a whole number, from 0 or 'any'"
    """
    bounds = [f"{_BOUNDS[name]} {limit:g}" for name, limit in each.setting.limits.items()]
    words = dict.fromkeys(_words(each.kind))
    return " or ".join(", ".join([word, *bounds]) if "number" in word else word for word in words)


def _words(kind: Any) -> Iterator[str]:
    origin, args = get_origin(kind), get_args(kind)
    if origin is Annotated:
        yield from _words(args[0])
    elif origin is Literal:
        yield from map(repr, args)
    elif origin in (Union, UnionType):
        for each in args:
            yield from _words(each)
    elif origin is tuple:
        yield _list_of(args)
    elif kind is not NoneType:
        yield _KINDS.get(kind, "a table")


def _list_of(args: tuple[Any, ...]) -> str:
    """Return what a list is of, where all are numbers of one kind.

    >>> _list_of((float, ...)), _list_of((int, int)), _list_of((str, ...))
    ('a list of numbers', 'a list of 2 whole numbers', 'a list')
    """
    of, count = {word for each in args if each is not ... for word in _words(each)}, len(args)
    word = of.pop() if len(of) == 1 else ""
    if not word.endswith("number"):
        return "a list"
    return f"a list of {'' if ... in args else f'{count} '}{word.removeprefix('a ')}s"


def _settings(kind: type) -> dict[str, Setting]:
    fields = dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else ()
    return {each.name: each.metadata["setting"] for each in fields if "setting" in each.metadata}


@cache
def _model(kind: type) -> type[BaseModel]:
    """Return a table of pydantic's that has the ranges of a kind."""
    fields: Any = {name: (each, ...) for name, each in _annotations(kind).items()}
    config = ConfigDict(allow_inf_nan=False, protected_namespaces=())
    return create_model(kind.__name__, __config__=config, **fields)


@cache
def _annotations(kind: type) -> dict[str, Any]:
    """Return of each setting its type with its limits, as pydantic takes it.

    Raises
    ------
    GridError
        For a type that no file could hold.
    """
    found = {}
    try:
        hints = get_type_hints(kind, include_extras=True)
    except Exception as error:
        raise GridError(f"types: {error}; accepted: some that are there") from None
    for name, said in _settings(kind).items():
        leaves = {*_leaves(hints[name])}
        for what, given, kinds in (
            ("choices", said.choices, (str,)),
            ("limits", said.limits, (float, int)),
        ):
            if given and leaves.isdisjoint(kinds):
                needed = " or ".join(each.__name__ for each in kinds)
                raise GridError(
                    f"{name}: found {what} of the type {quoted(hints[name])}; accepted: those of "
                    f"a type with {needed}"
                )
        try:
            found[name] = _limited(hints[name], said)
        except TypeError:
            if said.published:
                raise GridError(
                    f"{name}: found the type {quoted(hints[name])}; accepted: int, float, bool, "
                    "str, a tuple or a dict of them, or one or the other"
                ) from None
            found[name] = Any
    return found


def _leaves(hint: Any) -> Iterator[Any]:
    """Return the types of what a type holds, all the way down, that `_limited` limits."""
    origin = get_origin(hint)
    args = () if origin in (Literal, Annotated) else get_args(hint)
    for each in args[1:] if origin is dict else args:
        yield from _leaves(each)
    if not args:
        yield hint


def _limited(hint: Any, said: Setting) -> Any:
    origin, args = get_origin(hint), get_args(hint)
    limits: Any = said.limits
    if hint is int:
        return Annotated[int, BeforeValidator(whole), Field(strict=True, **limits)]
    if hint is float:
        return Annotated[float, Field(strict=True, **limits)]
    if hint is str and said.choices:
        return Literal[said.choices]
    if hint in (bool, str, NoneType, ...) or origin is Annotated:
        return hint
    parts: Any = tuple(_limited(each, said) for each in args)
    if origin in (Union, UnionType):
        return Union[parts]  # noqa: UP007 (of which there are any number)
    if origin is tuple and args:
        return Annotated[tuple[parts], BeforeValidator(listed)] if str not in args else tuple[parts]
    if origin is dict:
        keys: Any = args[0]
        return dict[keys, parts[1]]
    raise TypeError


def listed(value: Any) -> Any:
    """Return numbers between commas, in parentheses or not, as a list; all else as it is.

    >>> listed("4,3, 1"), listed("(1, 2)"), listed("4"), listed("a,b")
    ([4, 3, 1], [1, 2], '4', 'a,b')
    """
    if isinstance(value, str) and "," in value:
        with suppress(ValueError):
            return [whole(float(part)) for part in value.strip("() ").split(",")]
    return value


def whole(value: Any) -> Any:
    """Return a whole number in any guise (``1e3``, or numpy's) as an int, all else as it is."""
    if isinstance(value, Integral) and not isinstance(value, bool):
        return int(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value
