"""The command `metasched`: a file for each group of its commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grid.lazy import exported

if TYPE_CHECKING:
    from experiments.cli.app import main

__all__ = ["main"]

__getattr__ = exported(
    __name__,
    {
        "main": "experiments.cli.app",
    },
)
