"""Platforms from files: our own tables in TOML, or SimGrid's XML."""

from __future__ import annotations

import os
from pathlib import Path

from grid.platform.multicluster import Platform
from grid.platform.simgrid import read_simgrid

SUFFIXES = (".toml", ".xml")


def read_platform(path: str | os.PathLike[str]) -> Platform:
    """Read a platform from a file: XML if its name ends in ``.xml``, else TOML.

    Raises
    ------
    PlatformError
        If the file cannot be read or describes no usable platform.
    """
    path = Path(path)
    return read_simgrid(path) if path.suffix.lower() == ".xml" else Platform.from_toml(path)
