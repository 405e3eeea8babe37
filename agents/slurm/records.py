"""The text of ``slurm.conf``, and of what ``scontrol show`` prints: records of keys and values.

Both are pairs ``Key=Value``. In a configuration a line has a parameter, or describes a node or a
partition; in a dump a record goes on in the indented lines that follow.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import NamedTuple

from agents.slurm.values import node_names
from grid.errors import GridError, blaming
from grid.foreign import quoted
from grid.strict import text_of

ENTITIES = ("nodename", "partitionname", "reservationname")
"""First keys of records that describe something; all others are parameters."""

OTHERS = ("downnodes", "nodeset", "frontendname", "switchname", "jobid", "qosname", "username")
"""First keys of other records, of which nothing is taken, but for sets of nodes."""

DEEPEST = 8
"""Files within each other that ``Include`` may lead to."""

_KEY = r"[A-Za-z_][\w./:-]*+(?:\[\d+\])?"
_PAIR = re.compile(rf"""({_KEY})\s*+[-+*/]?=\s*+("[^"]*+"|\S*+)\s*+""", re.ASCII)
_FURTHER = re.compile(rf"""({_KEY})\s*+[-+*/]?=(?:\s++(?!{_KEY}=))?("[^"]*+"|\S*+)\s*+""", re.ASCII)
"""A pair after the first of a line, whose value may be blank."""

_PRINTED = re.compile(rf"({_KEY})=(.*?)\s*(?=\s{_KEY}=|$)\s*", re.ASCII)
"""A pair of a record that ``scontrol show`` prints, whose value may have blanks."""

_PARAMETER = re.compile(rf"({_KEY})\s+=(.*)", re.ASCII)
"""A parameter that ``scontrol show config`` prints, likewise."""

_DUMPED = ("totalcpus", "cputot")
"""Keys of partitions and nodes as ``scontrol show`` prints them, with all their other keys."""

_WORDS = re.compile(r"\s(?:OS|Reason)=", re.ASCII)
"""What a line has that ``scontrol -o`` prints of a node, or the one that it prints without."""

_INCLUDE = re.compile(r"\s*+include\s++(\S++)\s*+", re.ASCII | re.IGNORECASE)
_HEAD = re.compile(r"configuration data as of|slurmctld\(|no \w+ in|[^=]*:$", re.IGNORECASE)
"""Other lines that ``scontrol show`` prints."""


class Record(NamedTuple):
    """What a record says.

    Attributes
    ----------
    where : str
        File and line, which begin messages.
    kind : str
        Its first key, in small letters.
    values : dict of str to str
        By keys in small letters.
    names : dict of str to str
        The keys as they are spelt.
    printed : bool
        ``scontrol show config`` has printed it, as it does all parameters.
    """

    where: str
    kind: str
    values: dict[str, str]
    names: dict[str, str]
    printed: bool = False

    @property
    def dumped(self) -> bool:
        """Whether ``scontrol show`` has printed it, a partition or a node."""
        return any(key in self.values for key in _DUMPED)


def records_of(path: str | os.PathLike[str], depth: int = 0, place: str = "") -> Iterator[Record]:
    """Yield the records of a file, and of those that it includes, in order.

    Messages on one that cannot be read begin with the `place` where it is included.

    Raises
    ------
    GridError
        If a file cannot be read, or a line has no pairs of a key and a value.
    """
    _check_depth(path, depth)
    last: Record | None = None
    in_config = False
    for number, line in _lines(_text(path, place)):
        where = f"{path}:{number}"
        if _HEAD.match(line.lstrip()):
            in_config |= line.lower().startswith("configuration data")
            continue
        if in_config and (parameter := _PARAMETER.fullmatch(line)):
            key, value = parameter[1].lower(), parameter[2].strip()
            yield Record(where, key, {key: value}, {key: parameter[1]}, True)
            continue
        if include := _INCLUDE.fullmatch(line):
            yield from filter(None, [last])
            last = None
            yield from records_of(Path(path).parent / include[1], depth + 1, where)
            continue
        values, names = _pairs(where, line)
        kind = next(iter(values))
        in_config &= kind not in (*ENTITIES, *OTHERS)
        goes_on = line[:1].isspace() and last is not None and kind not in (*ENTITIES, *OTHERS)
        if goes_on and last is not None:
            last.values.update(values)
            last.names.update(names)
            continue
        if last is not None:
            yield last
        last = None
        if kind in (*ENTITIES, *OTHERS):
            last = Record(where, kind, values, names)
        else:
            for key, value in values.items():
                yield Record(where, key, {key: value}, {key: names[key]})
    if last is not None:
        yield last


def in_force(records: Sequence[Record]) -> list[Record]:
    """Return the records that count, as in Slurm: of a parameter that comes again, the last.

    Raises
    ------
    GridError
        If two lines describe a partition or a node; what is printed may describe it again.
    """
    last = {record.kind: record for record in records}
    described = set[tuple[str, str]]()
    for record in records:
        if record.kind not in ENTITIES[:2] or record.dumped:
            continue
        where, text = f"{record.where}: {record.names[record.kind]}", record.values[record.kind]
        for name in node_names(where, text) if record.kind == "nodename" else [text]:
            if (record.kind, name) in described:
                raise GridError(f"{where}: found {quoted(name)} twice; accepted: once")
            if name.upper() != "DEFAULT":
                described.add((record.kind, name))
    several = (*ENTITIES, *OTHERS)
    return [each for each in records if each.kind in several or each is last[each.kind]]


def with_included(path: str, depth: int = 0, place: str = "") -> list[str]:
    """Return a file, included at a `place` if it is, and those that it includes.

    Raises
    ------
    GridError
        If one cannot be read.
    """
    _check_depth(path, depth)
    found = [path]
    for number, line in _lines(_text(path, place)):
        if include := _INCLUDE.fullmatch(line):
            included = os.fspath(Path(path).parent / include[1])
            found += with_included(included, depth + 1, f"{path}:{number}")
    return found


def _check_depth(path: str | os.PathLike[str], depth: int) -> None:
    if depth > DEEPEST:
        raise GridError(f"{path}: Include leads on and on; accepted: at most {DEEPEST} files deep")


def _text(path: str | os.PathLike[str], place: str) -> str:
    with blaming(f"{place}: Include") if place else nullcontext():
        return text_of(path, "a slurm.conf, or what scontrol show prints")


def _lines(text: str) -> Iterator[tuple[int, str]]:
    r"""Yield lines with their numbers, comments cut off, and those together that ``\`` joins."""
    joined, first = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        first = first or number
        bare = line if _WORDS.search(line) else re.sub(r"(?<!\\)#.*", "", line)
        bare = bare.rstrip()
        if bare.endswith("\\"):
            joined += bare[:-1]
            continue
        if (joined + bare).strip():
            yield first, joined + bare
        joined, first = "", 0
    if joined.strip():
        yield first, joined


def _pairs(where: str, line: str) -> tuple[dict[str, str], dict[str, str]]:
    values: dict[str, str] = {}
    names: dict[str, str] = {}
    text = line.strip()
    printed = line[:1].isspace() or _WORDS.search(line)
    at = 0
    while at < len(text):
        form = _FURTHER if at else _PAIR
        pair = (printed and _PRINTED.match(text, at)) or form.match(text, at)
        if pair is None:
            raise GridError(f"{where}: found {quoted(text[at:])}; accepted: Key=Value")
        values[pair[1].lower()] = pair[2].strip('"')
        names[pair[1].lower()] = pair[1]
        at = pair.end()
    return values, names
