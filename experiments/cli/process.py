"""The command as a process: its streams, its exit status, and how whose errors are shown."""

from __future__ import annotations

import errno
import gc
import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from functools import partial
from pathlib import Path
from typing import Any, NoReturn, TextIO

import click

from grid.errors import GridError
from grid.foreign import one_line, quoted
from grid.names import meant

_HELP: Any = getattr(click.exceptions, "NoArgsIsHelpError", ())
"""Raised by click, from 8.2 on, to show help where a group is called alone."""
FAILED = UNFINISHED = 1
BAD_INPUT, INTERRUPTED = 2, 130
"""Exit status: an error of a program, or jobs left; one that the user can mend; Ctrl-C."""
COLLECTED = 50_000
"""Objects after which Python looks for garbage: as often as it does by itself, it takes a tenth of
the time in which modules are loaded, and finds none."""


class Commands(click.Group):
    """A group of commands that says which was meant by a name that none of them has."""

    def resolve_command(
        self, context: click.Context, words: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that words begin with; of an unknown one, say which was meant."""
        if words and not words[0].startswith("-") and self.get_command(context, words[0]) is None:
            listed = f"`{' '.join(['metasched', *_path(context)])} --help` lists them"
            known = meant(words[0], self.list_commands(context), listed)
            raise GridError(f"command {quoted(words[0])}: unknown; {known}")
        return super().resolve_command(context, words)


def _path(context: click.Context) -> list[str]:
    """Return the words that a command is called by, after the name of the program."""
    return context.command_path.split()[1:]


class Program(Commands):
    """A command that ends in order whatever happens to it, and says why in one line."""

    def main(self, *arguments: Any, **options: Any) -> Any:
        """Run the command; standard output that cannot be written to is an error of its own."""
        gc.set_threshold(COLLECTED)
        if sys.stderr is None:
            sys.stderr = open(os.devnull, "w")  # noqa: SIM115 as long as the process
        if sys.stdout is None:
            _say("standard output is closed; accepted: a terminal, a file or a pipe")
            sys.exit(BAD_INPUT)
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(errors="replace")  # a name may have letters that it has not
        try:
            try:
                return super().main(*arguments, **options)
            finally:
                sys.stdout.flush()
        except OSError as error:
            give_stdout_up()
            if error.errno != errno.EPIPE:
                _say(f"standard output: {error.strerror or error}")
            sys.exit(FAILED)

    def make_context(self, *given: Any, **more: Any) -> click.Context:
        """Return the context of the command, unless its own options are misused."""
        try:
            return super().make_context(*given, **more)
        except click.UsageError as error:
            _refuse_misuse(error, [])

    def invoke(self, context: click.Context) -> Any:
        """Turn an error that the user can mend into one line, and Ctrl-C into its exit status."""
        before = sys.unraisablehook
        sys.unraisablehook = partial(_unraisable, before)
        try:
            return super().invoke(context)
        except GridError as error:
            _say(str(error))
            sys.exit(BAD_INPUT)
        except click.UsageError as error:
            _refuse_misuse(error, [context.invoked_subcommand or ""])
        except KeyboardInterrupt:
            _say("interrupted")
            sys.exit(INTERRUPTED)
        finally:
            sys.unraisablehook = before


def _refuse_misuse(error: click.UsageError, words: list[str]) -> NoReturn:
    """Say in one line what is missing or unknown, in the command of these words if not known."""
    if isinstance(error, _HELP):
        raise error
    if error.ctx is not None:
        words = _path(error.ctx)
    command = " ".join(["metasched", *words])
    message = error.format_message().removesuffix(".")
    if isinstance(error, click.NoSuchOption) and error.option_name[1:2].isdigit():
        message = f"no such option {error.option_name}, which after -- is an argument"
    where = f"{' '.join(words)}: " if words else ""
    _say(f"{where}{message[0].lower()}{message[1:]}; `{command} --help` says what it takes")
    sys.exit(BAD_INPUT)


def _unraisable(
    hook: Callable[[sys.UnraisableHookArgs], object], lost: sys.UnraisableHookArgs
) -> None:
    """End the process on a Ctrl-C that comes while LLVM calls Python, and would be lost."""
    if issubclass(lost.exc_type, KeyboardInterrupt):
        end_interrupted()
    hook(lost)


def end_interrupted() -> NoReturn:
    """End the process at once, as after a Ctrl-C, and wait for none of its threads."""
    _say("interrupted")
    os._exit(INTERRUPTED)


def _say(line: str) -> None:
    click.echo(f"metasched: {one_line(line)}", err=True)


def give_stdout_up() -> None:
    """Have what is left to be written to standard output go nowhere; it was tried in vain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def users_code() -> Iterator[None]:
    """Load and run what users wrote, and show an error in it as `told` does.

    Else click would take some for its own: the end of a file, a broken pipe, an exit.
    """
    try:
        yield
    except (GridError, KeyboardInterrupt):
        raise
    except BaseException as error:
        from experiments.cli.users_errors import told

        click.echo(told(error), err=True, nl=False)
        sys.exit(FAILED)


@contextmanager
def going_on(by: str, kept: Path | None) -> Iterator[None]:
    """Have Ctrl-C end a command, and say by which one it goes on if what it keeps is there.

    To go around `users_code`, which would take that for an exit of theirs.
    """
    try:
        yield
    except KeyboardInterrupt:
        if kept is None or not os.path.exists(kept):
            raise
        _say(f"interrupted; {by} goes on from there")
        sys.exit(INTERRUPTED)


@contextmanager
def stdout_kept(kept: bool = True) -> Iterator[TextIO]:
    """Give standard output; if it is kept, all else that is printed goes to standard error.

    That holds for prints of compiled code too, and to the end of the process for those of threads
    and at exit.
    """
    if not kept:
        yield sys.stdout
        return
    try:
        printed, instead = sys.stdout.fileno(), sys.stderr.fileno()
    except io.UnsupportedOperation:  # they are no files, as in a test
        stdout = sys.stdout
        with redirect_stdout(sys.stderr):
            yield stdout
        return
    sys.stdout.flush()
    with os.fdopen(os.dup(printed), "w", encoding="utf-8") as stdout:
        os.dup2(instead, printed)
        with redirect_stdout(sys.stderr):
            yield stdout
