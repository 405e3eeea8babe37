"""Episodes of a scenario, in which agents decide whenever they are asked."""

from __future__ import annotations

import dataclasses
import math
import operator
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from agents.numbers import is_whole
from agents.schedulers import GlobalScheduler, LocalScheduler
from experiments.environments.agents import GLOBAL, Observation, agent_of
from experiments.environments.episode import Episode, Learner
from experiments.environments.observing import nothing
from experiments.environments.rewards import (
    MET,
    Reward,
    is_metric,
    metric_of,
    reward_of,
    rewards,
)
from experiments.run.observed import Observed
from experiments.scenario.jobs import read_source
from experiments.scenario.notes import told
from experiments.scenario.scenario import Scenario
from experiments.scenario.unread import idle
from grid.errors import GridError
from grid.foreign import quoted
from grid.platform.topology import number
from grid.workloads.table import Table
from grid.world.finished import Records


class Choices(spaces.Discrete):
    """Actions, the last of which is to wait; `sample` draws one of those that may be taken.

    Attributes
    ----------
    mask : array of int8
        1 for each action that may be taken now.
    """

    def __init__(self, count: int) -> None:
        super().__init__(count)
        self.mask: npt.NDArray[np.int8] = np.ones(count, np.int8)

    def sample(self, mask: Any = None, probability: Any = None) -> np.int64:
        """Draw an action that may be taken now, unless a mask or probabilities are given."""
        if mask is None and probability is None:
            mask = self.mask
        return super().sample(mask, probability)

    def taken(
        self,
        action: Any,
        strict: bool,
        about: Callable[[], Mapping[str, Any]],
        now: float,
        who: str = "",
    ) -> tuple[int, bool]:
        """Return the action that is taken, and whether it stands in for one that is masked.

        Raises
        ------
        GridError
            For what is none, and if `strict` for one that is masked; by who is asked, and what is
            decided about.
        """
        asked = -1
        if not isinstance(action, bool):
            with suppress(TypeError):
                asked = operator.index(action)
        known = 0 <= asked < len(self.mask)
        if known and self.mask[asked]:
            return asked, False
        if known and not strict:
            return int(self.mask.argmax()), True
        ((what, which),) = about().items()
        accepted = ", ".join(map(str, np.flatnonzero(self.mask).tolist()))
        raise GridError(
            f"{who}action: found {quoted(action)} for {what} {quoted(which, 60)} at {now:g} s; "
            f"accepted: {accepted}, by the mask"
        )


@dataclasses.dataclass(frozen=True)
class Rules:
    """What all environments are given alike, as `GridEnv` says."""

    reward: str | Reward = "bounded_slowdown"
    window: int = 128
    jobs: int | None = None
    time: float | None = None
    strict: bool = True

    def __post_init__(self) -> None:
        for name, given in (("jobs", self.jobs), ("window", self.window)):
            if given is not None and not (is_whole(given) and given >= 1):
                raise GridError(f"{name}: found {quoted(given)}; accepted: a number from 1")
        if self.time is not None and not 0.0 < number(self.time) < math.inf:
            raise GridError(f"time: found {quoted(self.time)}; accepted: seconds, above 0")
        if not isinstance(self.strict, bool):
            raise GridError(f"strict: found {quoted(self.strict)}; accepted: True or False")
        if is_metric(self.reward) and (self.jobs, self.time) != (None, None):
            cut = "time" if self.jobs is None else "jobs"
            raise GridError(
                f"{cut}: found with reward {self.reward}, which is of whole runs; accepted: without"
            )


def scenario_of(
    given: Scenario | str | os.PathLike[str],
    global_: str | type[GlobalScheduler] | None,
    local: str | type[LocalScheduler] | None,
    agent: str = "",
) -> Scenario:
    """Return a scenario, or that of a name or path, with other schedulers if they are given.

    Raises
    ------
    GridError
        If one is in the place of which the agent is.
    """
    loaded = given if isinstance(given, Scenario) else Scenario.load(given)
    alone = len(loaded.platform.clusters) == 1 and agent not in (GLOBAL, "")
    instead = {"global_": (global_, agent == GLOBAL), "local": (local, alone)}
    for name, (scheduler, replaced) in instead.items():
        if scheduler is not None and replaced:
            found = quoted(scheduler if isinstance(scheduler, str) else scheduler.__name__)
            raise GridError(
                f"{name}: found {found}, for which the agent decides; accepted: without"
            )
    return dataclasses.replace(
        loaded,
        global_scheduler=global_ or loaded.global_scheduler,
        local_scheduler=local or loaded.local_scheduler,
    )


def check_options(options: Mapping[str, Any] | None) -> None:
    """Raise `GridError` for options of an episode that mean nothing."""
    for name in options or {}:
        if name != "set":
            raise GridError(f"options: found {quoted(name)}; accepted: 'set'")


def seed_of(given: Any) -> int | None:
    """Return the seed that is given, if one is; raise `GridError` for what is none."""
    if given is not None and not is_whole(given):
        raise GridError(f"seed: found {quoted(given)}; accepted: a whole number from 0")
    return None if given is None else int(given)


class Play:
    """Runs of a scenario in which some agents decide, and the others are built in.

    Parameters
    ----------
    scenario : Scenario
    names : sequence of str
        Of the agents, as `agent_of` takes them.
    rules : Rules
    read : callable
        Reads logs, as `experiments.scenario.jobs.read_source`.

    Attributes
    ----------
    agents : dict of str to LearningAgent
    actions : dict of str to Choices
        What each may do.
    episode : Episode
        The present run; None before the first.
    asked : set of str
        Agents that have something to decide.
    """

    episode: Episode | None = None

    def __init__(
        self,
        scenario: Scenario,
        names: Sequence[str],
        rules: Rules,
        read: Callable[..., Table] = read_source,
    ) -> None:
        self.agents = {name: agent_of(name, scenario.platform, rules.window) for name in names}
        self._learning = {
            agent.cluster for agent in self.agents.values() if agent.cluster is not None
        }
        if len(self._learning) < len(self.agents):
            scenario = dataclasses.replace(scenario, global_scheduler=Learner)
        self._whole: Observed | None = None  # all jobs of a run, if that is rewarded as a whole
        self._scenario, self._rules, self._reward = scenario, rules, reward_of(rules.reward)
        self._read = read
        self.actions = {
            name: Choices(agent.space["action_mask"].shape[0])  # type: ignore[index]
            for name, agent in self.agents.items()
        }
        self.asked: set[str] = set()
        self._replaced: set[str] = set()

    def begin(self, seed: int, options: Mapping[str, Any] | None) -> None:
        """Begin another run, with the parameters that ``options["set"]`` changes.

        Raises
        ------
        GridError
            For changes that cannot be made or have no effect, or if nobody is ever asked.
        """
        scenario = self._changed((options or {}).get("set", ()))
        made: Any = scenario.model(seed, self._read, partial(Episode, learning=self._learning))
        if self._rules.reward == MET and made.workload.drawn_deadlines is None:
            raise GridError(
                f"reward {MET}: found no job with a deadline; accepted: with "
                "assign_deadlines=true, or jobs that bring deadlines"
            )
        self.episode, self._replaced = made, set()
        self._count = min(made.workload.count or math.inf, self._rules.jobs or math.inf)
        self._left, self._earned = 0, dict.fromkeys(self.agents, 0.0)
        self._whole = Observed(made) if is_metric(self._rules.reward) else None
        if self._whole is not None:
            made.world.log.stream(self._whole.add)
        made.world.log.stream(self._note)
        for agent in self.agents.values():
            agent.begin()
        self._go_on(made)
        if not self.asked:
            raise GridError("reset: nobody is asked in this run; accepted: one with a decision")

    def _changed(self, changes: Any) -> Scenario:
        """Return the scenario with changed parameters."""
        if not isinstance(changes, list | tuple) or not all(isinstance(x, str) for x in changes):
            accepted = 'a list such as ["load=0.9"]'
            raise GridError(f"options: set: found {quoted(changes)}; accepted: {accepted}")
        if not changes:
            return self._scenario
        scenario = self._scenario.changed(list(changes))
        names = {change.partition("=")[0].strip() for change in changes}
        if lost := {name: why for name, why in idle(scenario).items() if name in names}:
            raise GridError(f"options: set: {'; '.join(told(lost))}; accepted: without")
        found, usual = (len(each.platform.clusters) for each in (scenario, self._scenario))
        if found != usual:
            raise GridError(f"options: set: found {found} clusters; accepted: {usual}, as before")
        return scenario

    def act(self, actions: Mapping[str, Any]) -> dict[str, float]:
        """Take decisions, and let everything happen until the next; return what agents earned.

        Raises
        ------
        GridError
            For an action that is masked or lacking, or after the end of the episode.
        """
        self.check_asked(bool(self.asked) and not self.truncated)
        episode = self.episode
        assert episode is not None
        self._replaced = set()
        taken = {name: self._checked(name, actions.get(name)) for name in self.agents}
        for name in self.asked:
            self.agents[name].decide(episode, taken[name])
        earned = self._carry_on(episode)
        return {name: each / self._count for name, each in earned.items()}

    def check_asked(self, asked: bool) -> None:
        """Raise `GridError` unless there is an episode in which somebody is asked."""
        if self.episode is None:
            raise GridError("step: found no episode; accepted: reset")
        if not asked:
            raise GridError("step: the episode is over; accepted: reset")

    def _carry_on(self, episode: Episode) -> dict[str, float]:
        """Let everything happen until the next decision, or the end; return what was earned."""
        self._go_on(episode)
        episode.world.log.flush()
        earned, self._earned = self._earned, dict.fromkeys(self.agents, 0.0)
        if self._whole is not None and not self.asked:
            self._whole.finish()
            of_run = metric_of(str(self._rules.reward), episode, self._scenario, self._whole)
            earned = dict.fromkeys(self.agents, of_run * self._count)
        return earned

    @property
    def truncated(self) -> bool:
        """Whether an episode that is not over is as long as it shall be."""
        episode, rules = self.episode, self._rules
        assert episode is not None
        left = rules.jobs is not None and episode.world.log.count >= rules.jobs
        return bool(self.asked) and (left or self.until < episode.now)

    def seen(self, name: str) -> Observation:
        """Return what an agent sees: zeros if it is not asked, and can but wait."""
        agent, choices = self.agents[name], self.actions[name]
        if name in self.asked:
            assert self.episode is not None
            found = agent.seen(self.episode)
        else:
            found = nothing(agent.space)
            found["action_mask"][-1] = 1
        choices.mask = found["action_mask"]
        return found

    def info(self, name: str) -> dict[str, Any]:
        """Return the time (s), what an agent decides about, and whether its action was replaced."""
        assert self.episode is not None
        about = self.agents[name].about(self.episode)
        return {"time": self.episode.now, **about, "replaced": name in self._replaced}

    def _go_on(self, episode: Episode) -> None:
        """Let everything happen until somebody has something to decide, or nothing is left."""
        while episode.running:
            self.asked = {name for name, agent in self.agents.items() if agent.is_asked(episode)}
            if self.asked:
                return
            episode.proceed()
        self.asked = set()

    @property
    def most(self) -> int:
        """Of the jobs that leave, the first so many are rewarded."""
        return sys.maxsize if self._rules.jobs is None else self._rules.jobs

    @property
    def until(self) -> float:
        """Of these, those that have ended by then (s) are rewarded."""
        return self._rules.time or math.inf

    def _note(self, jobs: Records, rewarded: int = 0) -> None:
        """Reward jobs that left after all that are noted, but for the first of them."""
        before, self._left = self._left, self._left + len(jobs)
        jobs = jobs[rewarded : max(rewarded, self.most - before)]
        ended = jobs[~np.isnan(jobs["start"]) & (jobs["finish"] <= self.until)]
        for name, agent in self.agents.items():
            if len(own := agent.own(ended)):
                self._earned[name] += rewards(*self._reward, own)

    def _checked(self, name: str, action: Any) -> int:
        """Return what an agent does: what it wants, if it may."""
        episode = self.episode
        assert episode is not None
        who = "" if len(self.agents) == 1 else f"{name}: "
        about = partial(self.agents[name].about, episode)
        of = action, self._rules.strict, about, episode.now, who
        taken, replaced = self.actions[name].taken(*of)
        if replaced:
            self._replaced.add(name)
        return taken
