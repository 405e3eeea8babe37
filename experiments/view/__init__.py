"""Runs in the browser, by Mesa's SolaraViz: a model, its controls, and what is drawn of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grid.lazy import exported

if TYPE_CHECKING:
    from experiments.view.page import components

__all__ = ["components"]

__getattr__ = exported(
    __name__,
    {
        "components": "experiments.view.page",
    },
)
