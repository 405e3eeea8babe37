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

from agents.schedulers import LocalScheduler
from experiments.learning.episode import Episode, Learner
from experiments.learning.observing import nothing, observed, space_of
from experiments.learning.rewards import Reward, reward_of, rewards
from experiments.scenario.scenario import Scenario
from grid.errors import GridError
from grid.foreign import quoted
from grid.kernel.state import NONE, WAIT
from grid.world.finished import Records

Observation = dict[str, Any]
AGENTS = ("global",)


class Choices(spaces.Discrete):
    """The clusters, by index, and last to let the job wait; `sample` draws of those that may be.

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

    At each step, one job is decided about: the action is the index of the cluster that it is sent
    to, or the number of clusters to let it wait in the global queue, from where it is offered again
    when something has changed. An episode is a run, and ends with it.

    Parameters
    ----------
    scenario : Scenario, str or path
        Or the name of one that comes with the product, or its file; its global scheduler is left.
    agent : str
        Who decides: ``"global"``, the global scheduler.
    local : str or class, optional
        The local scheduler, built in or ``module:Class``, instead of the scenario's.
    reward : str or callable
        What jobs give that have ended since the last decision, divided by the jobs of an episode,
        so that the sum over a whole episode is a mean: one of `REWARDS`, or a function of
        `Records`, which returns a number for each.
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
        local: str | type[LocalScheduler] | None = None,
        reward: str | Reward = "bounded_slowdown",
        jobs: int | None = None,
        time: float | None = None,
        strict: bool = True,
    ) -> None:
        if agent not in AGENTS:
            raise GridError(f"agent: found {quoted(agent)}; accepted: {', '.join(AGENTS)}")
        if jobs is not None and not (type(jobs) is int and jobs >= 1):
            raise GridError(f"jobs: found {quoted(jobs)}; accepted: a number from 1")
        if time is not None and not 0.0 < time < math.inf:
            raise GridError(f"time: found {quoted(time)}; accepted: seconds, above 0")
        loaded = scenario if isinstance(scenario, Scenario) else Scenario.load(scenario)
        self.scenario = dataclasses.replace(
            loaded, global_scheduler=Learner, local_scheduler=local or loaded.local_scheduler
        )
        self._reward, self._jobs, self._time = reward_of(reward), jobs, time
        self._strict, self._replaced = strict, False
        count = len(self.scenario.platform.clusters)
        self.observation_space = space_of(count)
        self.action_space = Choices(count + 1)
        self.action_space.mask = np.ones(count + 1, np.int8)

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
        scenario = self.scenario.changed(changes) if changes else self.scenario
        self.episode: Episode = scenario.model(of_run, made=Episode)
        self._count = min(self.episode.workload.count or math.inf, self._jobs or math.inf)
        self._earned = 0.0
        self.episode.world.log.stream(self._note)
        self.episode.proceed()
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
        episode, count = self.episode, len(self.action_space.mask) - 1
        if episode.slot == NONE:
            raise GridError("step: the episode is over; accepted: reset")
        known = bool(0 <= action <= count)
        self._replaced = bool(known and not self.action_space.mask[action])
        if not known or (self._strict and self._replaced):
            raise GridError(self._refusal(action))
        if self._replaced:
            action = int(self.action_space.mask.argmax())
        episode.scheduler.decide(WAIT if action == count else int(action))
        episode.proceed()
        episode.world.log.flush()
        earned, self._earned = self._earned / self._count, 0.0
        over = episode.slot == NONE
        left = self._jobs is not None and episode.world.log.count >= self._jobs
        late = self._time is not None and episode.now > self._time
        return self._seen(), earned, over, not over and (left or late), self._info()

    def _note(self, jobs: Records) -> None:
        ended = jobs[~np.isnan(jobs["start"])]
        self._earned += rewards(*self._reward, ended) if len(ended) else 0.0

    def _seen(self) -> Observation:
        if self.episode.slot == NONE:
            self.action_space.mask = np.ones_like(self.action_space.mask)
            return nothing(self.observation_space)
        seen = observed(self.episode)
        self.action_space.mask = seen["action_mask"]
        return seen

    def _info(self) -> dict[str, Any]:
        """Return the number of the job that is decided about, the time (s), what was replaced."""
        episode = self.episode
        columns, slot = episode.world.jobs.columns, episode.slot
        job = None if slot == NONE else columns["number"].item(slot)
        return {"time": episode.now, "job": job, "replaced": self._replaced}

    def _refusal(self, action: object) -> str:
        world, info = self.episode.world, self._info()
        accepted = ", ".join(map(str, np.flatnonzero(self.action_space.mask).tolist()))
        size = world.jobs.columns["size"].item(self.episode.slot)
        of_job = f"for job {info['job']}, of {size} processors, at {info['time']:g} s"
        return f"action: found {quoted(action)} {of_job}; accepted: {accepted}, by the mask"
