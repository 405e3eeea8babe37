"""What can be set, declared and checked."""

from __future__ import annotations

from dataclasses import dataclass
from inspect import currentframe

import numpy as np
import pytest

from grid.errors import GridError
from grid.settings import Checked, by_kind, chosen, declared, in_words, setting


@dataclass(frozen=True)
class Several(Checked):
    whole: int = setting(3, "One.", least=1, most=9, unit="jobs", symbol="n")
    share: float = setting(0.5, "Two.", above=0, below=1)
    most: int | str = setting("any", "Three.", least=0, choices=("any",))
    way: str = setting("a", "Four.", choices=("a", "b"))
    given: bool = setting(False, "Five.")
    each: tuple[float, ...] = setting((1.0,), "Six.", least=0)
    table: dict[str, int] = setting({}, "Seven.", least=0)
    hidden: object = setting(None, "Eight.", published=False)


@dataclass(frozen=True)
class More(Several):
    other: int = setting(1, "Nine.")


def test_what_is_declared_is_told():
    told = {name: (each.default, in_words(each)) for name, each in declared(Several).items()}
    assert told == {
        "whole": (3, "a whole number, from 1, at most 9"),
        "share": (0.5, "a number, above 0, below 1"),
        "most": ("any", "a whole number, from 0 or 'any'"),
        "way": ("a", "'a' or 'b'"),
        "given": (False, "true or false"),
        "each": ((1.0,), "a list of numbers, from 0"),
        "table": ({}, "a table"),
    }
    assert declared(Several)["whole"].setting.description == "One (n, jobs)."


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"whole": 0}, "whole: found 0; accepted: from 1"),
        ({"whole": 2.5}, "whole: found 2.5; accepted: a whole number"),
        ({"whole": True}, "whole: found True; accepted: a whole number"),
        ({"share": 1.0}, "share: found 1.0; accepted: below 1"),
        ({"share": np.nan}, "share: found nan; accepted: a finite number"),
        ({"most": -1}, "most: found -1; accepted: from 0 or 'any'"),
        ({"way": "c"}, "way: found 'c'; accepted: 'a' or 'b'"),
        ({"each": (1.0, -1.0)}, "each.1: found -1.0; accepted: from 0"),
        ({"table": {"a": -1}}, "table.a: found -1; accepted: from 0"),
    ],
)
def test_values_outside_their_range_are_refused(values, says):
    with pytest.raises(GridError) as error:
        Several(**values)
    assert str(error.value) == says


def test_whole_numbers_in_any_guise_are_whole_numbers():
    found = Several(whole=np.int64(4), most=5.0)
    assert (type(found.whole), type(found.most)) == (int, int)


@dataclass(frozen=True)
class Plain:
    length: float = setting(1.0, "One.", above=0)


def test_what_does_not_check_itself_is_checked_by_the_model():
    with pytest.raises(GridError, match=r"^length: found -1; accepted: above 0$"):
        by_kind([Plain(-1)])


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ([3], "found 3"),
        (["x"], "found 'x'"),
        ([Plain], "found <class "),
        ([Plain(1.0), Plain(2.0)], "found a second tests.grid.test_settings:Plain"),
        (Plain(1.0), "found Plain("),
    ],
)
def test_what_is_no_settings_is_refused(given, found):
    with pytest.raises(GridError) as error:
        by_kind(given)
    assert str(error.value).startswith(f"settings: {found}")
    assert "; accepted: a list of objects of frozen dataclasses, one of a kind" in str(error.value)


def test_what_a_kind_extends_is_of_it_too():
    assert chosen(More, by_kind([Several(whole=5)])) == More(whole=5)
    assert chosen(More, by_kind([Several(whole=5), More(whole=6)])) == More(whole=6)
    assert chosen(Several, by_kind([More(whole=5)])) == Several()


def kind_of(annotation, value, frozen=True):
    fields = {"__annotations__": {"length": annotation}}
    if value is not None:
        fields["length"] = value
    return dataclass(frozen=frozen)(type("Wrong", (), fields))


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        (kind_of(float, None), "Wrong.length: found without setting(); accepted: setting("),
        (kind_of(float, 1.0), "Wrong.length: found without setting(); accepted: setting("),
        (kind_of(float, setting(1.0, "One."), frozen=False), "accepted: a frozen dataclass"),
        (kind_of(bytes, setting(b"", "One.")), "Wrong.length: found the type <class 'bytes'>; acc"),
        (kind_of("Nothing", setting(1, "One.")), "types: name 'Nothing' is not defined; accepted"),
        (kind_of(float, setting("a", "One.")), "Wrong.length: found 'a'; accepted: a number"),
        (kind_of(float, setting(1.0, "One.", above=2)), "Wrong.length: found 1.0; accepted: above"),
        (
            kind_of(int, setting(1, "One.", choices=("a",))),
            "Wrong.length: found choices of the type <class 'int'>; accepted: those of a "
            "type with str",
        ),
        (
            kind_of(dict[str, float], setting({}, "One.", choices=("a",))),
            "Wrong.length: found choices of the type dict[str, float]; accepted: those of a type",
        ),
        (
            kind_of(bool, setting(True, "One.", least=0)),
            "Wrong.length: found limits of the type <class 'bool'>; accepted: those of a "
            "type with float or int",
        ),
        (int, "settings_type: found <class 'int'>; accepted: a frozen dataclass"),
        (5, "settings_type: found 5; accepted: a frozen dataclass"),
    ],
)
def test_what_is_declared_wrongly_is_refused_in_a_line(kind, says):
    with pytest.raises(GridError) as error:
        declared(kind)
    assert says in str(error.value)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"above": "0"}, "above: found '0'; accepted: a number"),
        ({"most": True}, "most: found True; accepted: a number"),
        ({"unit": 5}, "unit: found 5; accepted: a text"),
    ],
)
def test_what_is_said_of_a_parameter_by_another_type_is_refused(given, says):
    with pytest.raises(GridError, match=rf"test_settings\.py, line \d+: {says}$"):
        setting(60.0, "Work.", **given)


def test_a_default_that_could_be_changed_is_refused():
    says = rf"\.py, line {currentframe().f_lineno + 2}: found the default \[1\]; accepted: one of"
    with pytest.raises(GridError, match=says):
        setting([1], "One.")
