"""MUSCLE: rounds in which jobs that fill a cluster side by side go there together (`muscle`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grid.lazy import exported

if TYPE_CHECKING:
    from agents.muscle.composition import composition_table
    from agents.muscle.scheduler import MuscleScheduler, seed_schedules

__all__ = ["MuscleScheduler", "composition_table", "seed_schedules"]

__getattr__ = exported(
    __name__,
    {
        "MuscleScheduler": "agents.muscle.scheduler",
        "composition_table": "agents.muscle.composition",
        "seed_schedules": "agents.muscle.scheduler",
    },
)
