"""What may come of an input: a result, or an error of one line that is fit to be read."""

from __future__ import annotations

import resource
import signal
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import NoReturn

from click.testing import CliRunner

from experiments.cli.app import main
from grid.errors import GridError

ROOT = Path(__file__).resolve().parents[2]
LONGEST = 300
"""Characters that the message of an error may have."""
SECONDS = 5.0
"""CPU time that an input may take."""
RESULT, REFUSED = "result", "refused"


class FindingError(Exception):
    """What must not come of an input.

    Attributes
    ----------
    key : str
        What tells it from others: what it is, and where in our code it comes from.
    """

    def __init__(self, key: str, detail: str) -> None:
        super().__init__(f"{key}\n{detail}")
        self.key = key


class TooSlow(BaseException):
    """An input takes too long; nothing shall take this for an error of its own."""


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    raise TooSlow(f"more than {SECONDS:g} s of CPU time")


@contextmanager
def bounded() -> Iterator[None]:
    """Have what is done take a bounded time, and give no warning."""
    before = signal.signal(signal.SIGVTALRM, _stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        signal.signal(signal.SIGVTALRM, before)


def limit_memory(gigabytes: float) -> None:
    """Have this process get no more memory than that, for good."""
    most = int(gigabytes * 2**30)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def judged(use: Callable[[], object]) -> str:
    """Return whether an input gave a result or was refused.

    Raises
    ------
    FindingError
        If anything else came of it.
    """
    try:
        with bounded():
            return REFUSED if use() == REFUSED else RESULT
    except GridError as error:
        if wrong := _wrong(str(error)):
            raise FindingError(f"{wrong} in {_place(error)}", ascii(str(error))[:600]) from error
        return REFUSED
    except (KeyboardInterrupt, FindingError):
        raise
    except BaseException as error:
        raise FindingError(
            f"{type(error).__name__} in {_place(error)}",
            "".join(traceback.format_exception(error, limit=-4))[-1500:],
        ) from error


def command(words: list[str]) -> str:
    """Return whether the command gave a result or refused its input, as `judged`."""
    what = f"metasched {words[0]}"
    try:
        with bounded():
            ran = CliRunner().invoke(main, words)
    except TooSlow as error:
        raise FindingError(f"{what} is too slow in {_place(error)}", " ".join(words)) from error
    if ran.exception is not None and not isinstance(ran.exception, SystemExit):
        raise FindingError(
            f"{type(ran.exception).__name__} in {what} in {_place(ran.exception)}",
            "".join(traceback.format_exception(ran.exception, limit=-4))[-1500:],
        )
    if "Traceback (most recent" in ran.stderr:
        last = ran.stderr.strip().rpartition("\n")[2].partition(":")[0]
        raise FindingError(f"traceback of {last} in {what}", ran.stderr[-1500:])
    if ran.exit_code not in (0, 1, 2):
        raise FindingError(f"exit status {ran.exit_code} of {what}", ran.output)
    errors = [line for line in ran.stderr.splitlines() if not line.endswith(" so far")]
    for line in (line.removeprefix("metasched: ") for line in errors):
        if wrong := _wrong(line):
            raise FindingError(f"{wrong} of {what}", ascii(line)[:600])
    if ran.exit_code == 2 and len(errors) > 1:
        raise FindingError(f"{len(errors)} lines of {what}", ran.stderr[:600])
    if any(ord(sign) < 32 and sign != "\n" for sign in ran.stdout):
        raise FindingError(f"control characters on stdout of {what}", ascii(ran.stdout)[:600])
    return REFUSED if ran.exit_code == 2 else RESULT


def _wrong(message: str) -> str:
    """Return what is wrong with the message of an error; nothing: it may be shown."""
    if not message.isprintable():
        return "unprintable message"
    return f"message of over {LONGEST} characters" if len(message) > LONGEST else ""


def _place(error: BaseException) -> str:
    """Return the innermost function of ours that an error comes from."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [each for each in frames if Path(each.filename).is_relative_to(ROOT)]
    if not ours:
        return "?"
    last = next((each for each in ours[::-1] if "tests" not in Path(each.filename).parts), ours[-1])
    return f"{Path(last.filename).relative_to(ROOT)}:{last.name}"
