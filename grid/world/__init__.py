"""The world: a multicluster's state, its clock, and the kernel that moves it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grid.lazy import exported

if TYPE_CHECKING:
    from grid.world.world import World

__all__ = ["World"]

__getattr__ = exported(
    __name__,
    {
        "World": "grid.world.world",
    },
)
