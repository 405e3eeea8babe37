"""A run as an environment of Gymnasium: one agent, all others built in."""

from __future__ import annotations

import dataclasses
import math
import os
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from agents.schedulers import GlobalScheduler, LocalScheduler
from experiments.learning.agents import Observation, agent_of
from experiments.learning.episode import Episode
from experiments.learning.observing import nothing
from experiments.learning.rewards import Reward, reward_of, rewards
from experiments.scenario.scenario import Scenario
from grid.errors import GridError
from grid.foreign import quoted
from grid.world.finished import Records


class Choices(spaces.Discrete):
    """Actions, the last of which is to wait; `sample` draws one of those that may be taken.

    Attributes
    ----------
    mask : array of int8
        1 for each action that may be taken now.
    """

    mask: npt.NDArray[np.int8]

    def sample(self, mask: Any = None, probability: Any = None) -> np.int64:
        """Draw an action that may be taken now, unless a mask or probabilities are given."""
        if mask is None and probability is None:
            mask = self.mask
        return super().sample(mask, probability)


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
        Schedulers, built in or ``module:Class``, instead of the scenario's.
    reward : str or callable
        What jobs give that have ended since the last decision, for a local agent those of its
        cluster, divided by the jobs of an episode, so that the sum over a whole episode is a mean:
        one of `REWARDS`, or a function of `Records`, which returns a number for each.
    window : int
        How many waiting jobs a local agent sees, the first in order of landing.
    jobs : int, optional
        An episode is truncated once so many jobs have left.
    time : float, optional
        An episode is truncated at the first decision after this simulated time, s.
    strict : bool
        Refuse a masked action; else the first that may be taken is, and ``info["replaced"]`` is
        true: for learners that know no masks.

    Attributes
    ----------
    episode : Episode
        The model of the present run.

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
        agent: str = "global",
        *,
        global_: str | type[GlobalScheduler] | None = None,
        local: str | type[LocalScheduler] | None = None,
        reward: str | Reward = "bounded_slowdown",
        window: int = 128,
        jobs: int | None = None,
        time: float | None = None,
        strict: bool = True,
    ) -> None:
        for name, given in (("jobs", jobs), ("window", window)):
            if given is not None and not (type(given) is int and given >= 1):
                raise GridError(f"{name}: found {quoted(given)}; accepted: a number from 1")
        if time is not None and not 0.0 < time < math.inf:
            raise GridError(f"time: found {quoted(time)}; accepted: seconds, above 0")
        loaded = scenario if isinstance(scenario, Scenario) else Scenario.load(scenario)
        loaded = dataclasses.replace(
            loaded,
            global_scheduler=global_ or loaded.global_scheduler,
            local_scheduler=local or loaded.local_scheduler,
        )
        self._agent = agent_of(agent, loaded, window)
        self._reward, self._jobs, self._time = reward_of(reward), jobs, time
        self._strict, self._replaced, self._asked = strict, False, False
        self.observation_space = self._agent.space
        self.action_space = Choices(*self._agent.space["action_mask"].shape)  # type: ignore[misc]
        self.action_space.mask = np.ones(int(self.action_space.n), np.int8)

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
        """
        super().reset(seed=seed)
        self._replaced = False
        of_run = int(self.np_random.integers(2**31)) if seed is None else seed
        changes = [*(options or {}).get("set", ())]
        scenario = self._agent.scenario
        scenario = scenario.changed(changes) if changes else scenario
        self.episode: Episode = self._agent.episode(scenario, of_run)
        self._count = min(self.episode.workload.count or math.inf, self._jobs or math.inf)
        self._earned = 0.0
        self.episode.world.log.stream(self._note)
        self._asked = self._agent.go_on(self.episode)
        return self._seen(), self._info()

    def step(self, action: np.int64 | int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Take the decision, and let everything happen until the next one.

        Raises
        ------
        GridError
            For an action that is masked, or after the end of the episode.
        """
        if not hasattr(self, "episode"):
            raise GridError("step: found no episode; accepted: reset")
        if not self._asked:
            raise GridError("step: the episode is over; accepted: reset")
        mask, episode = self.action_space.mask, self.episode
        known = bool(0 <= action < len(mask))
        self._replaced = bool(known and not mask[action])
        if not known or (self._strict and self._replaced):
            raise GridError(self._refusal(action))
        self._agent.decide(episode, int(mask.argmax() if self._replaced else action))
        self._asked = self._agent.go_on(episode)
        episode.world.log.flush()
        earned, self._earned = self._earned / self._count, 0.0
        left = self._jobs is not None and episode.world.log.count >= self._jobs
        late = self._time is not None and episode.now > self._time
        truncated = self._asked and (left or late)
        return self._seen(), earned, not self._asked, truncated, self._info()

    def _note(self, jobs: Records) -> None:
        ended = self._agent.own(jobs[~np.isnan(jobs["start"])])
        self._earned += rewards(*self._reward, ended) if len(ended) else 0.0

    def _seen(self) -> Observation:
        if not self._asked:
            self.action_space.mask = np.ones_like(self.action_space.mask)
            return nothing(self.observation_space)
        seen = self._agent.seen(self.episode)
        self.action_space.mask = seen["action_mask"]
        return seen

    def _info(self) -> dict[str, Any]:
        """Return the time (s), what is decided about, and whether an action was replaced."""
        about = self._agent.about(self.episode)
        return {"time": self.episode.now, **about, "replaced": self._replaced}

    def _refusal(self, action: object) -> str:
        ((what, about),) = self._agent.about(self.episode).items()
        accepted = ", ".join(map(str, np.flatnonzero(self.action_space.mask).tolist()))
        of = f"for {what} {quoted(about, 60)} at {self.episode.now:g} s"
        return f"action: found {quoted(action)} {of}; accepted: {accepted}, by the mask"
