"""A run as an environment of PettingZoo: the global and all local schedulers learn at once."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo import ParallelEnv

from experiments.environments.agents import GLOBAL, Observation
from experiments.environments.play import Choices, Play, Rules, check_options, scenario_of, seed_of
from experiments.environments.rewards import Reward
from experiments.scenario.scenario import Scenario
from grid.errors import GridError

Told = dict[str, Any]


class GridParallelEnv(ParallelEnv):  # type: ignore[misc]
    """The decisions of all schedulers in runs of a scenario.

    Agents are ``"global"`` and the clusters, by name. At each step, the global scheduler is asked,
    or local ones are, of one or more clusters, as of `GridEnv`; who is not asked sees zeros, and
    can only wait. The reward of each is of `GridEnv`, too.

    Parameters
    ----------
    scenario, reward, window, jobs, time, strict
        As of `GridEnv`.

    Attributes
    ----------
    possible_agents, agents : list of str
        All; those of an episode that is not over.
    """

    metadata = {"name": "metasched", "render_modes": []}  # noqa: RUF012

    def __init__(
        self,
        scenario: Scenario | str | os.PathLike[str],
        *,
        reward: str | Reward = "bounded_slowdown",
        window: int = 128,
        jobs: int | None = None,
        time: float | None = None,
        strict: bool = True,
    ) -> None:
        of = scenario_of(scenario, None, None)
        self.possible_agents = [GLOBAL, *of.platform.names]
        if GLOBAL in of.platform.names:
            raise GridError(f"{of.name}: clusters: found {GLOBAL!r}; accepted: another name")
        self._play = Play(of, self.possible_agents, Rules(reward, window, jobs, time, strict))
        self.agents: list[str] = []
        self._draws = np.random.default_rng()

    def observation_space(self, agent: str) -> spaces.Dict:
        """Return the space of what an agent sees."""
        return self._play.agents[agent].space

    def action_space(self, agent: str) -> Choices:
        """Return what an agent may do."""
        return self._play.actions[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Observation], dict[str, Told]]:
        """Begin another run, as `GridEnv` does, which raises `GridError` as there."""
        # PettingZoo's own tests give an option of this name, which says nothing.
        check_options({name: each for name, each in (options or {}).items() if name != "options"})
        seed = seed_of(seed)
        if seed is not None:
            self._draws = np.random.default_rng(seed)
        of_run = int(self._draws.integers(2**31)) if seed is None else seed
        self._play.begin(of_run, options)
        self.agents = [*self.possible_agents]
        return self._of_each(self._play.seen), self._of_each(self._play.info)

    def step(
        self, actions: dict[str, np.int64]
    ) -> tuple[dict[str, Observation], dict[str, float], Told, Told, dict[str, Told]]:
        """Take the decisions of all, and let everything happen until the next.

        Raises
        ------
        GridError
            For an action that is masked or lacking, or after the end of the episode.
        """
        earned = self._play.act(actions)
        over, cut = not self._play.asked, self._play.truncated
        seen, told = self._of_each(self._play.seen), self._of_each(self._play.info)
        ended, truncated = dict.fromkeys(self.agents, over), dict.fromkeys(self.agents, cut)
        if over or cut:
            self.agents = []
        return seen, earned, ended, truncated, told

    def _of_each(self, what: Any) -> dict[str, Any]:
        return {agent: what(agent) for agent in self.possible_agents}
