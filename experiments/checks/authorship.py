"""Which code is that of a scheduler's author."""

from __future__ import annotations

import inspect
from pathlib import Path

from agents.importing import CODE, OURS

PACKAGES = [CODE / package for package in OURS]


def is_of_author(file: str, scheduler: type) -> bool:
    """Tell whether a file is beside that of a scheduler, or below; what is installed there is not.

    Parameters
    ----------
    file : str
        Absolute path, as of a frame's code.
    scheduler : type
    """
    folder = Path(inspect.getfile(scheduler)).resolve().parent
    path = Path(file)
    return (
        path.is_relative_to(folder)
        and "site-packages" not in path.relative_to(folder).parts
        and not any(path.is_relative_to(package) for package in PACKAGES)
    )
