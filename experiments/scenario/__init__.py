"""Scenarios: what is run, from files or scripts, and the parameters that they publish."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grid.lazy import exported

if TYPE_CHECKING:
    from experiments.scenario.scenario import Scenario

__all__ = ["Scenario"]

__getattr__ = exported(
    __name__,
    {
        "Scenario": "experiments.scenario.scenario",
    },
)
