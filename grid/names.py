"""Names that nobody has: which others may have been meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_NEAR = 0.65
"""Likeness, from 0 to 1, from which on a name may have been meant."""


def meant(name: object, known: Iterable[str], listed: str = "") -> str:
    """Return the end of a message on a name that is unknown: the likeliest names, or all of them.

    Parameters
    ----------
    name : object
        As it was given.
    known : iterable of str
        The names that are accepted.
    listed : str
        What lists them, if they are many, and what else is accepted.

    Examples
    --------
    >>> meant("jbos", ["jobs", "queue"]), meant("x", ["jobs", "queue"])
    ('did you mean jobs?', 'accepted: jobs, queue')
    >>> meant("MUSCEL", ["muscle"], "`metasched policies` lists them")
    'did you mean muscle? `metasched policies` lists them'
    """
    known = list(known)
    if near := nearest(name, known):
        return f"did you mean {' or '.join(near)}? {listed}".strip()
    names = {each.casefold(): each for each in known}
    return listed or f"accepted: {', '.join(names.values())}"


def lack_of(own: type, method: str) -> str:
    """Return in words that a class lacks a method that it had to have; it may be misspelt.

    >>> class Base:
    ...     def place(self): ...
    >>> class Mine(Base):
    ...     def plcae(self): ...
    >>> lack_of(Mine, "place")
    'Mine: no method `place`; found `plcae`'
    """
    base = next(each for each in own.__mro__ if method in vars(each))
    near = nearest(method, sorted({*dir(own)} - {*dir(base)}), most=1)
    return f"{own.__name__}: no method `{method}`" + "".join(f"; found `{each}`" for each in near)


def nearest(
    name: object, known: Iterable[str], most: int = 2, likeness: float = _NEAR
) -> list[str]:
    """Return the names that are much like a name, the likest first.

    >>> nearest("place", ["plase", "__init__"])
    ['plase']
    """
    names = {each.casefold(): each for each in known}
    near = difflib.get_close_matches(str(name)[:100].casefold(), names, n=most, cutoff=likeness)
    return [names[each] for each in near]
