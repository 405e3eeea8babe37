"""Many runs as an environment of Gymnasium: all of them go on in one compiled call."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
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
from experiments.environments.agents import GLOBAL, Observation
from experiments.environments.play import Play, Rules, check_options, scenario_of, seed_of
from experiments.environments.rewards import REWARDS, Reward
from experiments.environments.stepping import (
    INFO,
    Queues,
    SeenGlobally,
    SeenLocally,
    Worlds,
    masked,
    step_all,
    step_all_locally,
)
from experiments.scenario.scenario import Scenario
from grid.errors import GridError
from grid.foreign import quoted
from grid.kernel.state import NONE
from grid.world.finished import Records

Floats = npt.NDArray[np.float64]


class _Lane(Play):
    """The runs of one of many worlds, one after the other.

    Attributes
    ----------
    counted : int
        Of the jobs that left and are still in the kernel's tables, how many have been rewarded.
    """

    counted = 0

    def _note(self, jobs: Records, rewarded: int = 0) -> None:
        super()._note(jobs, self.counted)
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

    def about(self, at: int, lane: _Lane, asked: bool, job: int) -> dict[str, Any]:
        """Return the number of the job that is decided about; None if none is."""
        return {"job": job if asked else None}


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

    def about(self, at: int, lane: _Lane, asked: bool, job: int) -> dict[str, Any]:
        """Return the numbers of the jobs that are seen."""
        assert lane.episode is not None
        slots = self._queues.slots[at, : np.count_nonzero(self._seen.jobs[at, :, 0])]
        return {"jobs": lane.episode.world.jobs["number"][slots].tolist()}


class Together:
    """Runs of a scenario in many worlds, which go on together to the next decision in each.

    Where nobody but the kernel decides, and it knows the reward, that is one compiled call.

    Parameters
    ----------
    n : int
        Worlds.
    of : Scenario
    agent : str
        Who decides, as `GridEnv` says.
    rules : Rules

    Attributes
    ----------
    lanes : list of Play
        The worlds.
    space : spaces.Dict
        Of what is seen in each.
    seen : dict of str to array
        What is, written anew at each decision.
    told : array of `INFO`
        And what is told beside that.
    asked : bool array
        Where a decision is wanted: the run is not over.
    """

    def __init__(self, n: int, of: Scenario, agent: str, rules: Rules) -> None:
        self.lanes = [_Lane(of, [agent], rules) for _ in range(n)]
        first = self.lanes[0].agents[agent]
        self._kind = [*REWARDS].index(rules.reward) if rules.reward in [*REWARDS] else None
        self._rules, self._agent, self.space = rules, agent, first.space
        self.seen: Any = create_empty_array(first.space, n)
        self._side: _Global | _Local
        if first.cluster is None:
            self._side = _Global(self.seen)
        else:
            self._side = _Local(self.seen, first.cluster, int(of.platform.sizes[first.cluster]))
        self.asked, self._fast = np.zeros((2, n), np.bool_)
        self._earned, self._count = np.zeros((2, n))
        self._counted, self.told = np.zeros(n, np.int64), np.zeros(n, INFO)
        self._worlds: Any = numba.typed.List()

    def begin(self, at: int, seed: int, options: dict[str, Any] | None) -> None:
        """Begin another run in a world."""
        lane = self.lanes[at]
        lane.counted = 0
        lane.begin(seed, options)
        self._take(at)

    def step(self, actions: npt.NDArray[np.int64], on: npt.NDArray[np.bool_]) -> Floats:
        """Take a decision in some worlds, and go on there; return what each has earned."""
        go, slow = self._fast & on, ~self._fast & on
        self._earned[:] = 0.0
        if self._kind is not None:
            most, until = self.lanes[0].most, self.lanes[0].until
            worlds = Worlds(go, actions, self._counted, self._earned, self.told, most, until)
            self._side.step(self._worlds, worlds, self._kind)
        stopped = on & ~go
        for at in np.flatnonzero(stopped).tolist() if stopped.any() else ():
            lane = self.lanes[at]
            assert lane.episode is not None
            agent = lane.agents[self._agent]
            if slow[at]:
                agent.decide(lane.episode, int(actions[at]))
            else:
                self._side.give(at, lane, agent)
            lane.counted = int(self._counted[at])
            self._earned[at] += lane.on()
            self._take(at)
        return self._earned / self._count

    @property
    def truncated(self) -> npt.NDArray[np.bool_]:
        """Which runs are not over, but as long as they shall be."""
        jobs, time = self._rules.jobs, self._rules.time
        if jobs is None and time is None:
            return np.zeros_like(self.asked)
        left, now = self.told["left"] >= (jobs or math.inf), self.told["time"] > (time or math.inf)
        return self.asked & (left | now)

    def about(self, at: int) -> dict[str, Any]:
        """Return the number of the job that is decided about in a world, or those of the jobs."""
        lane = self.lanes[at]
        assert lane.episode is not None
        return self._side.about(at, lane, bool(self.asked[at]), int(self.told["job"][at]))

    def _take(self, at: int) -> None:
        """Have a world stand where its run does, and see what is seen there."""
        lane = self.lanes[at]
        assert lane.episode is not None
        for name, value in lane.seen(self._agent).items():
            self.seen[name][at] = value
        slot = self._side.take(at, lane, lane.agents[self._agent])
        self._counted[at], self._count[at] = lane.counted, lane.count
        self.asked[at], self._fast[at] = bool(lane.asked), lane.fast and self._kind is not None
        world = lane.episode.world
        self.told[at] = world.now, world.jobs["number"][slot], world.log.count
        tables = lane.episode.world.storage.arguments()
        if at < len(self._worlds):
            self._worlds[at] = tables
        else:
            self._worlds.append(tables)


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
        As of `GridEnv`; worlds go on one by one with rewards that are none of `REWARDS`.

    Raises
    ------
    GridError
        As `GridEnv`.

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
        reward: str | Reward = "bounded_slowdown",
        window: int = 128,
        jobs: int | None = None,
        time: float | None = None,
    ) -> None:
        if not (is_whole(n) and n >= 1):
            raise GridError(f"n: found {quoted(n)}; accepted: a number from 1")
        rules = Rules(reward, window, jobs, time)
        self._runs = Together(int(n), scenario_of(scenario, global_, local, agent), agent, rules)
        first = self._runs.lanes[0]
        self.num_envs = int(n)
        self.single_observation_space = self._runs.space
        self.single_action_space = first.actions[agent]
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = spaces.MultiDiscrete([int(first.actions[agent].n)] * self.num_envs)
        self._over = np.zeros(self.num_envs, np.bool_)
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

        Raises
        ------
        GridError
            As `GridEnv`, and for other than one seed for each world.
        """
        seeds: Sequence[int | None] = [None] * self.num_envs
        if seed is not None or not self._draws:
            known: Sequence[int | None] = [None] * self.num_envs
            if isinstance(seed, Iterable):
                known = [seed_of(each) for each in seed]
            elif (first := seed_of(seed)) is not None:
                known = [first + at for at in range(self.num_envs)]
            if len(known) != self.num_envs:
                accepted = f"a number, or one for each of {self.num_envs} worlds"
                raise GridError(f"seed: found {quoted(seed)}; accepted: {accepted}")
            self._draws = [np_random(each)[0] for each in known]
            seeds = known
        check_options(options)
        self._options = options
        for at in range(self.num_envs):
            self._begin(at, seeds[at])
        self._over[:] = False
        return self._runs.seen, self._info()

    def _begin(self, at: int, seed: int | None = None) -> None:
        """Begin another run in a world."""
        drawn = int(self._draws[at].integers(2**31)) if seed is None else seed
        self._runs.begin(at, drawn, self._options)

    def step(
        self, actions: npt.NDArray[np.int64]
    ) -> tuple[Observation, npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any], dict[str, Any]]:
        """Take a decision in each world, and let everything happen until the next ones.

        Raises
        ------
        GridError
            For an action that is masked, or none.
        """
        given, over, runs = np.asarray(actions), self._over.copy(), self._runs
        if given.dtype.kind not in "iu":
            raise GridError(f"step: found an array of {given.dtype}; accepted: whole numbers")
        taken = given.astype(np.int64, copy=False)
        self._check(taken, over)
        earned = runs.step(taken, ~over)
        for at in np.flatnonzero(over).tolist() if over.any() else ():
            self._begin(at)
        ended, cut = ~runs.asked, runs.truncated & ~over
        self._over = ended | cut
        return runs.seen, earned, ended, cut, self._info()

    def _check(self, actions: npt.NDArray[np.int64], over: npt.NDArray[np.bool_]) -> None:
        """Raise `GridError` for an action that may not be taken."""
        if not self._draws:
            raise GridError("step: found no episode; accepted: reset")
        if actions.shape != (self.num_envs,):
            accepted = f"{self.num_envs} actions, one for each world"
            raise GridError(f"step: found an array of shape {actions.shape}; accepted: {accepted}")
        mask = self._runs.seen["action_mask"]
        at = masked(actions, mask, over)
        if at != NONE:
            accepted = ", ".join(map(str, np.flatnonzero(mask[at]).tolist()))
            raise GridError(
                f"world {at}: action: found {actions[at]}; accepted: {accepted}, by the mask"
            )

    def _info(self) -> dict[str, Any]:
        """Return the time (s) of each world, and the number of the job that is decided about."""
        return {name: self._runs.told[name].copy() for name in ("time", "job")}
