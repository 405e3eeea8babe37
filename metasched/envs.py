"""Environments of Gymnasium and PettingZoo in which agents learn to schedule."""

try:
    import gymnasium as _  # noqa: F401
    import pettingzoo as _of_many  # noqa: F401
except ImportError as error:
    raise ImportError(
        f"{error.name}: not installed; accepted: pip install 'metasched[learn]'"
    ) from None

from experiments.environments.grid_env import GridEnv
from experiments.environments.parallel import GridParallelEnv as parallel_env  # noqa: N813
from experiments.environments.rewards import REWARDS
from experiments.environments.vector import VectorGridEnv

__all__ = ["REWARDS", "GridEnv", "VectorGridEnv", "parallel_env"]
