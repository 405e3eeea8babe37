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
    names = {each.casefold(): each for each in known}
    near = difflib.get_close_matches(str(name)[:100].casefold(), names, n=2, cutoff=_NEAR)
    if near:
        likely = " or ".join(names[each] for each in near)
        return f"did you mean {likely}? {listed}".strip()
    return listed or f"accepted: {', '.join(names.values())}"
