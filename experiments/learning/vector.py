"""Many runs as an environment of Gymnasium: all of them go on in one compiled call."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import Any

import numba
import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.utils.seeding import np_random
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space, create_empty_array

from agents.numbers import is_whole
from agents.schedulers import GlobalScheduler, LocalScheduler
from experiments.learning.agents import GLOBAL, Observation
from experiments.learning.play import Play, Rules, check_options, scenario_of
from experiments.learning.rewards import REWARDS
from experiments.learning.stepping import (
    INFO,
    Queues,
    SeenGlobally,
    SeenLocally,
    Worlds,
    step_all,
    step_all_locally,
)
from experiments.scenario.scenario import Scenario
from grid.errors import GridError
from grid.foreign import quoted
from grid.kernel.state import NONE
from grid.world.finished import Records


class _Lane(Play):
    """The runs of one of many worlds, one after the other.

    Attributes
    ----------
    counted : int
        Of the jobs that left and are still in the kernel's tables, how many have been rewarded.
    """

    counted = 0

    def _note(self, jobs: Records) -> None:
        super()._note(jobs[self.counted :])
        self.counted = 0

    @property
    def fast(self) -> bool:
        """Whether nobody but the kernel has anything to do before the next decision."""
        episode = self.episode
        assert episode is not None
        return not episode.last_chance and episode._mail.next_due() == math.inf

    def on(self) -> float:
        """Let everything happen until the next decision, or the end; return what was earned."""
        assert self.episode is not None
        (found,) = self._carry_on(self.episode).values()
        return found

    @property
    def count(self) -> float:
        """Jobs of an episode."""
        return float(self._count)


class _Global:
    """How the global scheduler's decisions are carried out in worlds."""

    def __init__(self, seen: Any) -> None:
        names = "job", "clusters", "waiting", "action_mask"
        self._seen = SeenGlobally(*(seen[name] for name in names))

    def step(self, tables: Any, worlds: Worlds, kind: int) -> None:
        """Do what `step_all` does."""
        step_all(tables, worlds, kind, self._seen)

    def take(self, at: int, lane: _Lane, agent: Any) -> int:
        """Have a decision be wanted of this alone; return the slot of its job."""
        assert lane.episode is not None
        lane.episode.scheduler.asked = NONE
        return int(lane.episode.world.state.job)

    def give(self, at: int, lane: _Lane, agent: Any) -> None:
        """Have a world know of what was decided at this instant: nothing."""


class _Local:
    """How a local scheduler's decisions are carried out in worlds."""

    def __init__(self, seen: Any, cluster: int, processors: int) -> None:
        worlds, window = seen["jobs"].shape[:2]
        self._seen = SeenLocally(seen["jobs"], seen["cluster"], seen["action_mask"])
        self._cluster, self._processors = cluster, numba.typed.List()
        self._queues = Queues(
            np.zeros((worlds, processors), np.int64),
            np.zeros(worlds, np.int64),
            np.zeros((worlds, window), np.int64),
        )

    def step(self, tables: Any, worlds: Worlds, kind: int) -> None:
        """Do what `step_all_locally` does."""
        here = self._cluster, self._queues, self._seen
        step_all_locally(tables, self._processors, worlds, kind, *here)

    def take(self, at: int, lane: _Lane, agent: Any) -> int:
        """Have a decision be wanted of this alone; return the slot of the first job seen."""
        assert lane.episode is not None
        world, jobs, queues = lane.episode.world, agent.jobs, self._queues
        if at < len(self._processors):
            self._processors[at] = world.tables.processors
        else:
            self._processors.append(world.tables.processors)
        more = int(world.platform.sizes[self._cluster]) - queues.starts.shape[1]
        if more > 0:  # those of a log's machine
            self._queues = queues._replace(starts=np.pad(queues.starts, ((0, 0), (0, more))))
        self._queues.started[at] = len(agent.starts)
        self._queues.starts[at, : len(agent.starts)] = agent.starts
        self._queues.slots[at, : len(jobs)] = jobs
        return int(jobs[0]) if len(jobs) else 0

    def give(self, at: int, lane: _Lane, agent: Any) -> None:
        """Have a world know of what was decided at this instant."""
        assert lane.episode is not None
        queues = self._queues
        agent.starts = queues.starts[at, : queues.started[at]].tolist()
        agent.jobs = queues.slots[at]
        lane.episode.learners[self._cluster].asked = False


class VectorGridEnv(VectorEnv[Observation, npt.NDArray[np.int64], npt.NDArray[Any]]):
    """One scheduler's decisions in many runs of a scenario at once.

    Each world is as a `GridEnv` of these arguments, step by step, the first one as after
    ``reset(seed=seed)``, the next as after ``seed + 1``, and so on. They go on in one compiled call
    to their next decisions, where nobody but the kernel decides. What is seen is written
    into the same arrays each time: copy what you keep. When an episode is over or truncated, the
    next step begins another one in its world, whatever its action (`AutoresetMode.NEXT_STEP`).

    Parameters
    ----------
    n : int
        Worlds.
    scenario, agent, global_, local, reward, window, jobs, time
        As of `GridEnv`; the reward is one of `REWARDS`.

    Raises
    ------
    GridError
        As `GridEnv`, and for other rewards.

    Examples
    --------
    >>> env = VectorGridEnv(3, "quickstart", jobs=5)
    >>> seen, info = env.reset(seed=1)
    >>> seen["clusters"].shape, info["job"].tolist()
    ((3, 4, 7), [1, 1, 1])
    >>> seen, reward, over, cut, info = env.step(np.array([0, 1, 4]))
    >>> reward.tolist(), over.tolist(), info["job"].tolist()
    ([0.0, 0.0, 0.0], [False, False, False], [2, 2, 2])
    """

    metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(
        self,
        n: int,
        scenario: Scenario | str | os.PathLike[str],
        agent: str = GLOBAL,
        *,
        global_: str | type[GlobalScheduler] | None = None,
        local: str | type[LocalScheduler] | None = None,
        reward: str = "bounded_slowdown",
        window: int = 128,
        jobs: int | None = None,
        time: float | None = None,
    ) -> None:
        if not (is_whole(n) and n >= 1):
            raise GridError(f"n: found {quoted(n)}; accepted: a number from 1")
        self._rules = Rules(reward, window, jobs, time)
        of = scenario_of(scenario, global_, local)
        self._lanes = [_Lane(of, [agent], self._rules) for _ in range(n)]
        if reward not in REWARDS:  # what is none of these has been refused, but for functions
            found = "a function" if callable(reward) else quoted(reward)
            raise GridError(f"reward: found {found}; accepted: {', '.join(REWARDS)}")
        self._kind = [*REWARDS].index(reward)
        first = self._lanes[0]
        self.num_envs = int(n)
        self.single_observation_space = first.agents[agent].space
        self.single_action_space = first.actions[agent]
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = spaces.MultiDiscrete([int(first.actions[agent].n)] * self.num_envs)
        self._seen: Any = create_empty_array(self.single_observation_space, self.num_envs)
        self._agent, cluster = agent, first.agents[agent].cluster
        self._side: _Global | _Local
        if cluster is None:
            self._side = _Global(self._seen)
        else:
            self._side = _Local(self._seen, cluster, int(of.platform.sizes[cluster]))
        self._over, self._asked, self._fast = np.zeros((3, self.num_envs), np.bool_)
        self._earned, self._count = np.zeros((2, self.num_envs))
        self._counted, self._told = np.zeros(self.num_envs, np.int64), np.zeros(self.num_envs, INFO)
        self._worlds: Any = numba.typed.List()
        self._draws: list[np.random.Generator] = []

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin another run in each world, as `GridEnv` does.

        Parameters
        ----------
        seed : int or sequence of int, optional
            Of the first world, that of each other is one more; or one for each.
        options : dict, optional
            Of all runs until the next call.
        """
        seeds: Sequence[int | None] = [None] * self.num_envs
        if seed is not None or not self._draws:
            known: Sequence[int | None] = [None] * self.num_envs
            if is_whole(seed):
                known = [int(seed) + at for at in range(self.num_envs)]  # type: ignore[arg-type]
            elif seed is not None:
                known = [*seed]  # type: ignore[misc]
            if len(known) != self.num_envs:
                accepted = f"a number, or one for each of {self.num_envs} worlds"
                raise GridError(f"seed: found {quoted(seed)}; accepted: {accepted}")
            self._draws = [np_random(each)[0] for each in known]
            seeds = known
        check_options(options)
        self._options = options
        self._worlds = numba.typed.List()
        for at in range(self.num_envs):
            self._begin(at, seeds[at])
        self._over[:] = False
        return self._seen, self._info()

    def _begin(self, at: int, seed: int | None = None) -> None:
        """Begin another run in a world."""
        lane = self._lanes[at]
        lane.counted = 0
        drawn = int(self._draws[at].integers(2**31)) if seed is None else seed
        lane.begin(drawn, self._options)
        self._take(at)

    def _take(self, at: int) -> None:
        """Have a world stand where its run does, and see what is seen there."""
        lane = self._lanes[at]
        assert lane.episode is not None
        for name, value in lane.seen(self._agent).items():
            self._seen[name][at] = value
        slot = self._side.take(at, lane, lane.agents[self._agent])
        self._counted[at], self._count[at] = lane.counted, lane.count
        self._asked[at], self._fast[at] = bool(lane.asked), lane.fast
        world = lane.episode.world
        self._told[at] = world.now, world.jobs["number"][slot], world.log.count
        tables = lane.episode.world.storage.arguments()
        if at < len(self._worlds):
            self._worlds[at] = tables
        else:
            self._worlds.append(tables)

    def step(
        self, actions: npt.NDArray[np.int64]
    ) -> tuple[Observation, npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any], dict[str, Any]]:
        """Take a decision in each world, and let everything happen until the next ones.

        Raises
        ------
        GridError
            For an action that is masked.
        """
        taken, over = np.asarray(actions, np.int64), self._over.copy()
        self._check(taken, over)
        go = self._fast & ~over
        slow = ~go & ~over
        seen, earned = self._seen, self._earned
        earned[:] = 0.0
        worlds = Worlds(go, taken, self._counted, earned, self._told)
        self._side.step(self._worlds, worlds, self._kind)
        for at in np.flatnonzero(~go).tolist():
            lane = self._lanes[at]
            assert lane.episode is not None
            if over[at]:
                self._begin(at)
                continue
            agent = lane.agents[self._agent]
            if slow[at]:
                agent.decide(lane.episode, int(taken[at]))
            else:
                self._side.give(at, lane, agent)
            lane.counted = int(self._counted[at])
            earned[at] += lane.on()
            self._take(at)
        ended, most = ~self._asked, self._rules
        long = self._told["left"] >= (most.jobs or math.inf)
        cut = self._asked & ~over & (long | (self._told["time"] > (most.time or math.inf)))
        self._over = ended | cut
        return seen, earned / self._count, ended, cut, self._info()

    def _check(self, actions: npt.NDArray[np.int64], over: npt.NDArray[np.bool_]) -> None:
        """Raise `GridError` for an action that may not be taken."""
        if not self._draws:
            raise GridError("step: found no episode; accepted: reset")
        if actions.shape != (self.num_envs,):
            accepted = f"{self.num_envs} actions, one for each world"
            raise GridError(f"step: found an array of shape {actions.shape}; accepted: {accepted}")
        mask = self._seen["action_mask"]
        known = (actions >= 0) & (actions < mask.shape[1])
        taken = mask[np.arange(self.num_envs), np.where(known, actions, 0)] == 1
        for at in np.flatnonzero(~over & ~(known & taken)).tolist():
            accepted = ", ".join(map(str, np.flatnonzero(mask[at]).tolist()))
            raise GridError(
                f"world {at}: action: found {actions[at]}; accepted: {accepted}, by the mask"
            )

    def _info(self) -> dict[str, Any]:
        """Return the time (s) of each world, and the number of the job that is decided about."""
        return {name: self._told[name].copy() for name in ("time", "job")}
