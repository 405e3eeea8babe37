"""Who may learn: what it sees, what it may do, and how that is done."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from gymnasium import spaces

from experiments.environments import observing
from experiments.environments.episode import Episode
from grid.errors import GridError
from grid.foreign import quoted
from grid.kernel.state import NONE, WAIT
from grid.names import meant
from grid.platform.multicluster import Platform
from grid.world.finished import Records

Observation = dict[str, Any]
GLOBAL, LOCAL = "global", "local"
"""Names of agents: the global scheduler, and the local one, if there is but one."""


class LearningAgent(Protocol):
    """What an environment needs of an agent, the last of whose actions is to wait."""

    space: spaces.Dict
    """Of what it sees, ``action_mask`` included."""

    @property
    def cluster(self) -> int | None:
        """Whose local scheduler it is; None: the global one."""

    def begin(self) -> None:
        """Forget the run before."""

    def is_asked(self, episode: Episode) -> bool:
        """Tell whether it has something to decide, now that the episode stands still."""

    def seen(self, episode: Episode) -> Observation:
        """Return what it sees, if it is asked."""

    def decide(self, episode: Episode, action: int) -> None:
        """Do what may be done."""

    def about(self, episode: Episode) -> dict[str, Any]:
        """Return the number of the job that is decided about, or those of the jobs."""

    def own(self, jobs: Records) -> Records:
        """Return those of the jobs that ended which it is rewarded for."""


class GlobalAgent:
    """The global scheduler: decides where the job goes that is offered to it."""

    cluster = None

    def __init__(self, platform: Platform) -> None:
        self._clusters = len(platform.clusters)
        self.space = observing.space_of(self._clusters)

    def begin(self) -> None:
        """Have nothing to forget."""

    def is_asked(self, episode: Episode) -> bool:
        """Tell whether a job is offered."""
        return episode.scheduler.asked != NONE

    def seen(self, episode: Episode) -> Observation:
        """Return what is known of the job and of the clusters."""
        return observing.observed(episode)

    def decide(self, episode: Episode, action: int) -> None:
        """Send the job to a cluster, or let it wait."""
        if action < self._clusters:
            episode.last_chance = False
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
    cluster : int
    window : int
        How many waiting jobs it sees, the first in order of landing.
    """

    def __init__(self, cluster: int, window: int) -> None:
        self.cluster, self._window = cluster, window
        self.space = observing.local_space_of(window)
        self.begin()

    def begin(self) -> None:
        """Forget whom it has seen."""
        self.starts: list[int] = []  # slots of those that start at this instant
        self._seen = np.zeros(self._window, np.int64)
        self.jobs = self._seen[:0]  # slots of those that it sees
        self._free = 0

    def is_asked(self, episode: Episode) -> bool:
        """Tell whether a job can start that it sees; if none can, go on without it."""
        self.jobs = self._seen[:0]
        if not episode.learners[self.cluster].asked:
            return False
        tables, starts = episode.world.tables, np.array(self.starts, np.int64)
        of_cluster = tables.box, tables.slots, self.cluster, starts
        count, self._free, fits = observing.candidates(*of_cluster, self._seen)
        if not fits:
            self._act(episode)
            return False
        self.jobs = self._seen[:count]
        return True

    def seen(self, episode: Episode) -> Observation:
        """Return what waits, and whether it may start."""
        may_wait = self.starts or episode.world.state.running_count[self.cluster] > 0
        return observing.observed_locally(
            episode, self.cluster, self.jobs, self._free, self._window, bool(may_wait)
        )

    def decide(self, episode: Episode, action: int) -> None:
        """Start a job now, or let what is left wait until something has changed."""
        if action == self._window:
            self._act(episode)
        else:
            self.starts.append(int(self.jobs[action]))

    def about(self, episode: Episode) -> dict[str, Any]:
        """Return the numbers of the jobs that it sees."""
        return {"jobs": episode.world.jobs["number"][self.jobs].tolist()}

    def own(self, jobs: Records) -> Records:
        """Return those of its cluster."""
        return jobs[jobs["cluster"] == self.cluster]

    def _act(self, episode: Episode) -> None:
        episode.learners[self.cluster].decide(self.starts)
        self.starts = []


def agent_of(name: str, platform: Platform, window: int) -> LearningAgent:
    """Return an agent: the `GLOBAL` one, or that of a cluster by its name, or the `LOCAL` one.

    Raises
    ------
    GridError
        If there is none of that name.
    """
    names = list(platform.names)
    if name == GLOBAL:
        return GlobalAgent(platform)
    if name == LOCAL and len(names) == 1:
        return LocalAgent(0, window)
    if name in names:
        return LocalAgent(names.index(name), window)
    known = [GLOBAL, *([LOCAL] if len(names) == 1 else []), *names]
    told = f"accepted: {', '.join(known)}"
    if isinstance(name, str) and name != LOCAL:
        told = meant(name, known)
    raise GridError(f"agent: found {quoted(name)}; {told}")
