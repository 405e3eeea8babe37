"""Who may learn: what it sees, what it may do, and how that is done."""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any, Protocol

import numpy as np
from gymnasium import spaces

from experiments.learning import observing
from experiments.learning.episode import Episode, Learner
from experiments.scenario.scenario import Scenario
from grid.errors import GridError
from grid.foreign import quoted
from grid.kernel.state import NONE, WAIT
from grid.names import meant
from grid.world.finished import Records

Observation = dict[str, Any]


class LearningAgent(Protocol):
    """What an environment needs of an agent; its last action is to wait."""

    scenario: Scenario
    """In which it decides."""
    space: spaces.Dict
    """Of what it sees, ``action_mask`` included."""

    def episode(self, scenario: Scenario, seed: int) -> Episode:
        """Return a run, before its beginning."""

    def go_on(self, episode: Episode) -> bool:
        """Let everything happen until there is something to decide; tell whether there is."""

    def seen(self, episode: Episode) -> Observation:
        """Return what it sees."""

    def decide(self, episode: Episode, action: int) -> None:
        """Do what may be done."""

    def about(self, episode: Episode) -> dict[str, Any]:
        """Return the number of the job that is decided about, or those of the jobs."""

    def own(self, jobs: Records) -> Records:
        """Return those of the jobs that ended which it is rewarded for."""


class GlobalAgent:
    """The global scheduler: decides where the job goes that is offered to it."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = dataclasses.replace(scenario, global_scheduler=Learner)
        self._clusters = len(scenario.platform.clusters)
        self.space = observing.space_of(self._clusters)

    def episode(self, scenario: Scenario, seed: int) -> Episode:
        """Return a run."""
        made: Any = scenario.model(seed, made=Episode)
        episode: Episode = made
        return episode

    def go_on(self, episode: Episode) -> bool:
        """Tell whether another job is offered."""
        episode.proceed()
        return episode.scheduler.asked != NONE

    def seen(self, episode: Episode) -> Observation:
        """Return what is known of the job and of the clusters."""
        return observing.observed(episode)

    def decide(self, episode: Episode, action: int) -> None:
        """Send the job to a cluster, or let it wait."""
        episode.scheduler.decide(WAIT if action == self._clusters else action)

    def about(self, episode: Episode) -> dict[str, Any]:
        """Return the number of the job; None if none is offered."""
        slot = episode.scheduler.asked
        number = None if slot == NONE else episode.world.jobs["number"].item(slot)
        return {"job": number}

    def own(self, jobs: Records) -> Records:
        """Return all."""
        return jobs


class LocalAgent:
    """The local scheduler of a cluster: decides which of the jobs that wait there start now.

    Parameters
    ----------
    scenario : Scenario
    cluster : int
    window : int
        How many waiting jobs it sees, the first in order of landing.
    """

    def __init__(self, scenario: Scenario, cluster: int, window: int) -> None:
        self.scenario, self._cluster, self._window = scenario, cluster, window
        self.space = observing.local_space_of(window)
        self._starts: list[int] = []  # slots of those that start at this instant
        self._jobs = np.empty(0, np.int64)  # slots of those that it sees
        self._free = 0

    def episode(self, scenario: Scenario, seed: int) -> Episode:
        """Return a run."""
        self._starts = []
        made: Any = scenario.model(seed, made=partial(Episode, cluster=self._cluster))
        episode: Episode = made
        return episode

    def go_on(self, episode: Episode) -> bool:
        """Tell whether a job can start."""
        learner, sizes = episode.learner, episode.world.jobs
        while True:
            if not learner.asked:
                episode.proceed()
            if not learner.asked:
                self._jobs = self._jobs[:0]
                return False
            waiting = episode.candidates()
            self._jobs = waiting[~np.isin(waiting, self._starts)][: self._window]
            starting = int(sizes["size"][self._starts].sum()) if self._starts else 0
            self._free = int(episode.world.state.free[self._cluster]) - starting
            if (sizes["size"][self._jobs] <= self._free).any():
                return True
            self._act(episode)

    def seen(self, episode: Episode) -> Observation:
        """Return what waits, and whether it may start."""
        may_wait = self._starts or episode.world.state.running_count[self._cluster] > 0
        return observing.observed_locally(
            episode, self._cluster, self._jobs, self._free, self._window, bool(may_wait)
        )

    def decide(self, episode: Episode, action: int) -> None:
        """Start a job now, or let what is left wait until something has changed."""
        if action == self._window:
            self._act(episode)
        else:
            self._starts.append(int(self._jobs[action]))

    def about(self, episode: Episode) -> dict[str, Any]:
        """Return the numbers of the jobs that it sees."""
        return {"jobs": episode.world.jobs["number"][self._jobs].tolist()}

    def own(self, jobs: Records) -> Records:
        """Return those of its cluster."""
        return jobs[jobs["cluster"] == self._cluster]

    def _act(self, episode: Episode) -> None:
        episode.learner.decide(self._starts)
        self._starts = []


def agent_of(name: str, scenario: Scenario, window: int) -> LearningAgent:
    """Return an agent: ``"global"``, or that of a cluster by its name, ``"local"`` of the only one.

    Raises
    ------
    GridError
        If there is none of that name.
    """
    names = list(scenario.platform.names)
    if name == "global":
        return GlobalAgent(scenario)
    if name == "local" and len(names) == 1:
        return LocalAgent(scenario, 0, window)
    if name in names:
        return LocalAgent(scenario, names.index(name), window)
    known = ["global", *(["local"] if len(names) == 1 else []), *names]
    told = meant(name, known) if isinstance(name, str) else f"accepted: {', '.join(known)}"
    raise GridError(f"agent: found {quoted(name)}; {told}")
