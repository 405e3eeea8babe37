"""Laws of sizes and of run times."""

from __future__ import annotations

from grid.distributions.runtimes import (
    BoundedPareto,
    Deterministic,
    Empirical,
    Exponential,
    Hyperexponential,
    RuntimeDistribution,
    exponential_at,
    log_normal,
    runtime_at,
)
from grid.distributions.sizes import (
    LARGEST_SIZE,
    LogUniformSizes,
    NormalSizes,
    SizeDistribution,
    UniformSizes,
    guide,
    size_at,
)

__all__ = [
    "LARGEST_SIZE",
    "BoundedPareto",
    "Deterministic",
    "Empirical",
    "Exponential",
    "Hyperexponential",
    "LogUniformSizes",
    "NormalSizes",
    "RuntimeDistribution",
    "SizeDistribution",
    "UniformSizes",
    "exponential_at",
    "guide",
    "log_normal",
    "runtime_at",
    "size_at",
]
