"""What is accepted instead of a value that pydantic refused, in the words of other messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_KINDS = {
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_parsing_size": "a whole number",
    "int_from_float": "a whole number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "string_type": "a string",
    "tuple_type": "a list",
    "list_type": "a list",
    "too_short": "a list of at least one",
    "model_type": "a table",
    "dict_type": "a table",
}
"""Of the kinds of pydantic's errors."""
_BOUNDS = {
    "greater_than": ("gt", "above"),
    "greater_than_equal": ("ge", "from"),
    "less_than": ("lt", "below"),
    "less_than_equal": ("le", "at most"),
}
"""Of those that are about a limit: its name among what pydantic tells, and words before it."""

_PLAIN = 1e8
"""From here on limits have an exponent."""

_BRANCHES = "bool", "float", "int", "str"
"""Of unions, what places name that are identifiers."""


def accepted(errors: Sequence[ErrorDetails]) -> str:
    """Return the end of a message on a value: what would do, by what it fails to be.

    Parameters
    ----------
    errors : sequence of dict
        Those of one value, at least one: it may be one thing or another.

    Examples
    --------
    >>> found = {"type": "greater_than", "ctx": {"gt": 0.0}}, {"type": "float_parsing"}
    >>> accepted(found), accepted(found[1:])
    ('accepted: above 0 or a number', 'accepted: a number')
    """
    words = [_words(each) for each in errors]
    if "" in words:  # of a check of our own, which has a message of its own
        message = errors[0]["msg"].removeprefix("Value error, ")
        return message[0].lower() + message[1:]
    return f"accepted: {' or '.join(dict.fromkeys(words))}"


def place_of(location: Sequence[str | int]) -> str:
    """Return the place of an error as a user writes it: branches of unions are not named.

    >>> place_of(("weights", "tuple[float, ...]", 2)), place_of(("step", "bool"))
    ('weights.2', 'step')
    >>> place_of(("length", "float"))
    'length'
    """
    named = (str(part) for part in location if part not in _BRANCHES)
    return ".".join(part for part in named if part.isdigit() or part.isidentifier())


def _words(error: ErrorDetails) -> str:
    kind, context = error["type"], error.get("ctx", {})
    if kind == "literal_error":
        return str(context["expected"])
    if kind in _BOUNDS:
        name, word = _BOUNDS[kind]
        limit = context[name]
        return f"{word} {limit:,.12g}" if abs(limit) < _PLAIN else f"{word} {limit:.3g}"
    if kind == "too_long":
        return f"a list of at most {context['max_length']:,}"
    return _KINDS.get(kind, "")
