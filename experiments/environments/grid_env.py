"""A run as an environment of Gymnasium: one agent, all others built in."""

from __future__ import annotations

import os
from functools import partial
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from agents.schedulers import GlobalScheduler, LocalScheduler
from experiments.environments.agents import GLOBAL, Observation
from experiments.environments.play import Choices, Rules, check_options, scenario_of, seed_of
from experiments.environments.rewards import Reward
from experiments.environments.vector import Together
from experiments.scenario.scenario import Scenario


class GridEnv(gymnasium.Env[Observation, np.int64]):
    """One scheduler's decisions in runs of a scenario.

    The global scheduler decides about one job at each step: the action is the index of the cluster
    that it is sent to, or the number of clusters to let it wait in the global queue, from where it
    is offered again when something has changed. A local scheduler is asked while jobs that it sees
    fit: the action is the index of the one that starts now, or the size of the window to let them
    wait until a job lands or ends there. An episode is a run, and ends with it.

    Parameters
    ----------
    scenario : Scenario, str or path
        Or the name of one that comes with the product, or its file.
    agent : str
        Who decides: ``"global"``, the global scheduler; the name of a cluster, its local scheduler;
        or ``"local"``, that of the only one. All others are built in.
    global_, local : str or class, optional
        Schedulers, built in or ``module:Class``, instead of the scenario's, but not in the place
        of the agent.
    reward : str or callable
        What jobs give that have ended since the last decision, for a local agent those of its
        cluster, divided by the jobs of an episode, so that the sum over a whole episode is a mean:
        one of `REWARDS`, or a function of `Records`, which returns a number for each. Or the name
        of a metric, which is given once, as the run ends: minus that where less is better.
    window : int
        How many waiting jobs a local agent sees, the first in order of landing.
    jobs : int, optional
        An episode is truncated once so many jobs have left.
    time : float, optional
        An episode is truncated at the first decision after this simulated time, s.
    strict : bool
        Refuse a masked action; else the first that may be taken is, and ``info["replaced"]`` is
        true: for learners that know no masks.

    Raises
    ------
    GridError
        If there is no such scenario, or one of the others is not as said.

    Examples
    --------
    >>> env = GridEnv("quickstart", jobs=5)
    >>> seen, info = env.reset(seed=1)
    >>> seen["action_mask"].tolist(), info["job"]
    ([1, 1, 1, 1, 1], 1)
    >>> seen, reward, terminated, truncated, info = env.step(0)
    >>> reward, terminated, truncated, info["job"]
    (0.0, False, False, 2)
    """

    action_space: Choices
    observation_space: spaces.Dict

    def __init__(
        self,
        scenario: Scenario | str | os.PathLike[str],
        agent: str = GLOBAL,
        *,
        global_: str | type[GlobalScheduler] | None = None,
        local: str | type[LocalScheduler] | None = None,
        reward: str | Reward = "bounded_slowdown",
        window: int = 128,
        jobs: int | None = None,
        time: float | None = None,
        strict: bool = True,
    ) -> None:
        rules = Rules(reward, window, jobs, time, strict)
        self._runs = Together(1, scenario_of(scenario, global_, local, agent), agent, rules)
        self._strict, self._on = rules.strict, np.ones(1, np.bool_)
        self.observation_space = self._runs.space
        self.action_space = self._runs.lanes[0].actions[agent]

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin another run.

        Parameters
        ----------
        seed : int, optional
            That of the run, as after ``--seed``; without one, drawn by those before.
        options : dict, optional
            ``{"set": ["load=0.9"]}`` changes parameters for this episode, as ``--set``.

        Raises
        ------
        GridError
            For seeds, options or changes that mean nothing, and if nobody is ever asked.
        """
        check_options(options)
        seed = seed_of(seed)
        super().reset(seed=seed)
        of_run = int(self.np_random.integers(2**31)) if seed is None else seed
        self._runs.begin(0, of_run, options)
        return self._seen(), self._info(replaced=False)

    def step(self, action: np.int64 | int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Take the decision, and let everything happen until the next one.

        Raises
        ------
        GridError
            For an action that is masked, or after the end of the episode.
        """
        runs = self._runs
        runs.lanes[0].check_asked(bool(runs.asked[0] and not runs.truncated[0]))
        now = float(runs.told["time"][0])
        of = action, self._strict, partial(runs.about, 0), now
        taken, replaced = self.action_space.taken(*of)
        (earned,) = runs.step(np.array([taken]), self._on)
        over, cut = not runs.asked[0], bool(runs.truncated[0])
        return self._seen(), float(earned), over, cut, self._info(replaced)

    def _seen(self) -> Observation:
        """Return what is seen, in arrays of its own."""
        seen = {name: each[0].copy() for name, each in self._runs.seen.items()}
        self.action_space.mask = seen["action_mask"]
        return seen

    def _info(self, replaced: bool) -> dict[str, Any]:
        time = float(self._runs.told["time"][0])
        return {"time": time, **self._runs.about(0), "replaced": replaced}
