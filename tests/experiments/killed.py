"""Replaces files of a folder in processes that are killed before each call that changes one."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from contextlib import suppress
from pathlib import Path

from experiments.run import replacing
from experiments.run.files import new_file
from experiments.studies.outputs import new_files

CHANGES = {"os.rename", "os.link", "os.remove", "os.rmdir", "os.mkdir", "open", "ctypes.dlopen"}


def kill_at(call: int) -> None:
    """Have this process killed before the change of that number."""
    left = call

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal left
        writes = event != "open" or bool(arguments[2] & (os.O_WRONLY | os.O_RDWR))  # type: ignore[operator]
        if event in CHANGES and writes:
            left -= 1
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


def replace(folder: Path) -> None:
    """Put new files a and b into a folder, and take c away."""
    new = replacing.scratch_in(folder)
    for name in ("a", "b"):
        (new / name).write_text("new")
    replacing.replace_all(new, folder, gone=("c",))
    shutil.rmtree(new, ignore_errors=True)


def replace_one(folder: Path) -> None:
    """Put a new file a into a folder."""
    with new_file(folder / "a", "a") as new:
        new.write_text("new")


def add(folder: Path) -> None:
    """Put new files a and b into a folder."""
    with new_files(folder) as new:
        for name in ("a", "b"):
            (new / name).write_text("new")


def found(folder: Path) -> dict[str, str]:
    """Return the files in a folder but those in folders in it."""
    return {path.name: path.read_text() for path in folder.iterdir() if path.is_file()}


def main(root: Path, how: str, exchange: bool) -> None:
    """Print what is there after each kill, and after the next time, which is not killed."""
    if not exchange:

        def never(one: Path, other: Path) -> None:
            raise OSError("not here")

        replacing.exchange = never
    call, rows = 0, []
    killed = True
    while killed:
        folder = root / str(call) / "out"
        folder.mkdir(parents=True)
        for name in ("a", "b", "c", "mine"):
            (folder / name).write_text("old")
        (folder / "link").symlink_to("mine")
        child = os.fork()
        if child == 0:
            kill_at(call)
            globals()[how](folder)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        killed = os.WIFSIGNALED(status)
        there = found(folder)
        with suppress(OSError):
            replacing.recover(folder)
        recovered = found(folder)
        globals()[how](folder)
        left = sorted(each.name for each in root.joinpath(str(call)).iterdir())
        left += sorted(each.name for each in folder.iterdir())
        rows.append({"there": there, "recovered": recovered, "left": left, "last": found(folder)})
        call += 1
    print(json.dumps(rows))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3] == "exchange")
