"""Environments of Gymnasium in which agents learn to schedule."""

try:
    import gymnasium as _  # noqa: F401
except ImportError:
    raise ImportError(
        "gymnasium: not installed; accepted: pip install 'metasched[learn]'"
    ) from None

from experiments.learning.grid_env import GridEnv
from experiments.learning.rewards import REWARDS

__all__ = ["REWARDS", "GridEnv"]
