"""TITAN: the genetic algorithm that orders the jobs of a cluster (`muscle`, section 3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grid.lazy import exported

if TYPE_CHECKING:
    from agents.titan.scheduler import Optimised, TitanScheduler, optimise

__all__ = ["Optimised", "TitanScheduler", "optimise"]

__getattr__ = exported(
    __name__,
    {
        "Optimised": "agents.titan.scheduler",
        "TitanScheduler": "agents.titan.scheduler",
        "optimise": "agents.titan.scheduler",
    },
)
