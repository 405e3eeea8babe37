"""The process of a task: it calls a function that an executor has written down for its job.

It is started as ``python -P -m experiments.service.calls.task``, and loads little;
cloudpickle, which takes longer than Python itself, only where pickle does not do.
"""

from __future__ import annotations

import os
import pickle
import sys
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

CALL, RESULT = "call", "result"
"""Files in a job's folder: what it is to call, and what comes of that."""
RETURNED, RAISED, LOST = "returned", "raised", "lost"
"""What a result is: a value, an exception, or one of them that cannot be pickled."""


class Result(NamedTuple):
    """What came of a call, beside the value or exception itself."""

    kind: str
    line: str = ""
    """What was raised, or cannot be passed on."""
    trace: str = ""
    """Where it was raised."""


def write_call(file: Any, call: tuple[Callable[..., object], Any, Any]) -> None:
    """Write what a task is to call, and where it finds modules."""
    import cloudpickle

    pickle.dump([os.path.abspath(each) for each in sys.path], file)
    cloudpickle.dump(call, file)


def each_of(function: Callable[..., Any], rows: Iterable[tuple[Any, ...]]) -> list[Any]:
    """Return what a function returns for each of some arguments."""
    return [function(*row) for row in rows]


def main() -> int:
    """Carry out the task of the job that this is; return its exit status."""
    own = Path(os.environ["METASCHED_FOLDER"])
    folder = own.with_name(os.environ["METASCHED_JOB"])  # of its first attempt
    try:
        with (folder / CALL).open("rb") as file:
            sys.path[:] = pickle.load(file)
            function, arguments, options = pickle.load(file)
        result = Result(RETURNED), function(*arguments, **options)
    except Exception as error:
        error.__traceback__ = error.__traceback__ and error.__traceback__.tb_next  # without this
        trace = "".join(traceback.format_exception(error))
        print(trace, end="", file=sys.stderr, flush=True)
        result = Result(RAISED, in_a_line(error), trace), error
    if not (folder / CALL).exists():
        return 1  # nobody waits for it
    new = folder / f"{RESULT}.{own.name}"
    try:
        _write(new, *result)
    except Exception as error:
        what, found = result
        why = f"a result of type {type(found).__name__} cannot be passed on: {in_a_line(error)}"
        result = Result(LOST, what.line or why, what.trace), None
        print(why, file=sys.stderr, flush=True)
        _write(new, *result)
    os.replace(new, folder / RESULT)
    return 0 if result[0].kind == RETURNED else 1


def in_a_line(error: Exception) -> str:
    """Return what an exception is, and says."""
    return traceback.format_exception_only(error)[-1].strip()


def _write(path: Path, result: Result, found: object) -> None:
    with path.open("wb") as file:
        pickle.dump(tuple(result), file)
        header = file.tell()
        try:
            pickle.dump(found, file)
        except Exception:  # of any kind, as objects see fit
            import cloudpickle

            file.seek(header)
            file.truncate()
            cloudpickle.dump(found, file)


if __name__ == "__main__":
    sys.exit(main())
