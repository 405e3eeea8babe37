"""A run: carried out, watched, interrupted and resumed, and the result that it leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grid.lazy import exported

if TYPE_CHECKING:
    from experiments.run.results import Result
    from experiments.run.running import resume, run

__all__ = ["Result", "resume", "run"]

__getattr__ = exported(
    __name__,
    {
        "Result": "experiments.run.results",
        "resume": "experiments.run.running",
        "run": "experiments.run.running",
    },
)
