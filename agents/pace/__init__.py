"""PACE: execution times predicted before jobs run (`muscle`, section 2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grid.lazy import exported

if TYPE_CHECKING:
    from agents.pace.evaluation import predict
    from agents.pace.predictor import Predictor

__all__ = ["Predictor", "predict"]

__getattr__ = exported(
    __name__, {"Predictor": "agents.pace.predictor", "predict": "agents.pace.evaluation"}
)
