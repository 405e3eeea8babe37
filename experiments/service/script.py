"""Scripts for Slurm: the lines of ``#SBATCH`` that have a meaning for a service."""

from __future__ import annotations

import os
import shlex
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from grid.errors import GridError
from grid.foreign import quoted

_MARK = "#SBATCH"
_SIZES = {"ntasks", "nodes", "ntasks_per_node", "cpus_per_task"}
"""Options that tell how many processors a job needs."""


@dataclass(frozen=True)
class Script:
    """What a script asks for; None where it does not say.

    Attributes
    ----------
    command : tuple of str
        What runs it, with its arguments.
    size : int or None
        Processors.
    asks : str
        The file and the last line that says how many, which begin messages.
    time : float or None
        s.
    name, folder : str or None
    hold, requeue : bool
    unread : str
        What it says beside that.
    """

    command: tuple[str, ...]
    size: int | None
    asks: str
    time: float | None
    name: str | None
    folder: str | None
    hold: bool
    requeue: bool
    unread: str


class _Parser(ArgumentParser):
    def error(self, message: str) -> None:  # type: ignore[override]
        raise ValueError(message)


def read_script(words: Sequence[str]) -> Script | None:
    """Return what a script asks for, if a command is one with lines of ``#SBATCH``.

    As for Slurm, these come before its first command.

    Raises
    ------
    GridError
        If a line cannot be read.
    """
    path = Path(words[0])
    try:
        with path.open("rb") as file:
            if file.read(2) != b"#!":
                return None
            first = os.fsdecode(file.readline(4096))
            lines = [os.fsdecode(line).rstrip() for line in file]
    except OSError:
        return None
    parser, given, said, asks = _parser(), Namespace(), [], ""
    for number, line in enumerate(lines, 2):
        if line.startswith(_MARK):
            where, before = f"{path}:{number}", {**vars(given)}
            try:
                _, more = parser.parse_known_args(shlex.split(line[len(_MARK) :], True), given)
            except ValueError as error:
                raise GridError(f"{where}: found {quoted(line)}: {error}") from None
            said += more
            changed = {name for name, value in vars(given).items() if value != before.get(name)}
            asks = f"{where}: {_MARK}" if changed & _SIZES else asks
            if "time" in changed:
                given.time = _time(where, given.time)
            if "chdir" in changed and not os.path.isdir(given.chdir):
                found = quoted(given.chdir)
                raise GridError(
                    f"{where}: --chdir: found {found}; accepted: a folder that is there"
                )
        elif line and not line.lstrip().startswith("#"):
            break
    if not vars(given):
        return None
    runner = [] if os.access(path, os.X_OK) else shlex.split(first)
    tasks = given.ntasks
    if tasks is None and (given.nodes or given.ntasks_per_node):
        tasks = (given.nodes or 1) * (given.ntasks_per_node or 1)
    size = (tasks or 1) * (given.cpus_per_task or 1)
    return Script(
        (*runner, str(path.absolute()), *words[1:]),
        size if tasks or given.cpus_per_task else None,
        asks,
        given.time if given.time and given.time < float("inf") else None,  # 0: no limit
        given.job_name or path.name,
        None if given.chdir is None else os.path.abspath(given.chdir),
        given.hold,
        given.requeue,
        " ".join(said),
    )


def _time(where: str, text: str) -> float:
    """Return a time limit, s; 0 or infinite: none."""
    from agents.slurm.values import seconds  # with all agents, which takes a second
    from grid.jobs import LONGEST

    found = seconds(where, text)
    if LONGEST < found < float("inf"):
        raise GridError(f"{where}: --time: found {quoted(text)}; accepted: at most {LONGEST:g} s")
    return found


def _parser() -> _Parser:
    parser = _Parser(add_help=False, allow_abbrev=False)
    parser.add_argument("-n", "--ntasks", type=_count)
    parser.add_argument("-N", "--nodes", type=_least)
    parser.add_argument("--ntasks-per-node", type=_count)
    parser.add_argument("-c", "--cpus-per-task", type=_count)
    parser.add_argument("-t", "--time")
    parser.add_argument("-J", "--job-name")
    parser.add_argument("-D", "--chdir")
    parser.add_argument("-H", "--hold", action="store_true")
    parser.add_argument("--requeue", action="store_true")
    parser.add_argument("--no-requeue", action="store_false", dest="requeue")
    return parser


def _least(text: str) -> int:
    return _count(text.partition("-")[0])


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or not (found := int(text[:9])) > 0:
        raise ArgumentTypeError("accepted: a whole number from 1")
    return found
