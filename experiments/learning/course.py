"""A course: the decisions of runs to learn from, one run after the other, as terms of choices."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from functools import partial
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from agents.learned import choices, ranks
from experiments.environments.agents import GLOBAL
from experiments.environments.play import Play, Rules
from experiments.learning import terms
from experiments.learning.lessons import Lesson
from experiments.sweeps.inputs import read_once

SEEN = 64
"""Waiting jobs of a cluster among which one is chosen, at most: those that landed first."""


class Course(gymnasium.Env[npt.NDArray[np.float32], np.int64]):
    """One choice after the other, in runs which follow each other, over and over.

    A choice is of the cluster of a job, or of the job of a queue that starts next, as far as it
    fits. Nothing waits that need not. If several local schedulers are asked at an instant, one
    answers after the other. An episode is a run.

    Parameters
    ----------
    lessons : sequence of Lesson
    agent : str
        "global" or "local": all of these.
    reward : str
        One of `REWARDS`.
    first : int
        The index of the run that comes first.

    Notes
    -----
    Observed are, for each choice, its terms, and 1 if it may be taken.
    """

    def __init__(self, lessons: Sequence[Lesson], agent: str, reward: str, first: int) -> None:
        platform = lessons[0].of.scenario.platform
        names = [GLOBAL] if agent == GLOBAL else list(platform.names)
        rules = Rules(reward, SEEN)
        self._lessons = deque(
            (Play(of.scenario, names, rules, partial(read_once, of.digests)), seed)
            for of, seed in lessons
        )
        self._lessons.rotate(-first)
        self._is_global = agent == GLOBAL
        self._sizes = dict(zip(platform.names, platform.sizes.tolist(), strict=True))
        each = len(platform.names) if self._is_global else SEEN
        of_each = len(choices.TERMS if self._is_global else ranks.TERMS) + 1
        self._shape = each, of_each
        self.observation_space = spaces.Box(-np.inf, np.inf, self._shape, np.float32)
        self.action_space = spaces.Discrete(each + 1)
        self._play, _ = self._lessons[0]
        self._mask: npt.NDArray[np.bool_] = np.ones(each + 1, np.bool_)
        self._waiting: deque[str] = deque()
        self._actions: dict[str, int] = {}

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Return which choices may be taken now; the last one, to wait, if there is no other."""
        return self._mask

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[npt.NDArray[np.float32], dict[str, Any]]:
        """Begin the next run, with the seed that it always has."""
        super().reset(seed=seed)
        self._play, of_run = self._lessons[0]
        self._lessons.rotate(-1)
        self._play.begin(of_run, None)
        self._ask()
        return self._seen(), {}

    def step(
        self, action: np.int64 | int
    ) -> tuple[npt.NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Take a choice; go on to the next."""
        self._actions[self._waiting.popleft()] = int(action)
        earned = 0.0
        if not self._waiting:
            told = self._play.act(self._actions)
            earned = sum(told.values())
            self._ask()
        return self._seen(), earned, not self._play.asked, False, {}

    def _ask(self) -> None:
        """Have all answer who are asked at this instant."""
        asked = self._play.asked
        self._waiting = deque(name for name in self._play.agents if name in asked)
        self._actions = {name: int(self._play.actions[name].n) - 1 for name in self._play.agents}
        for name in self._play.agents:
            if name not in asked:
                self._play.seen(name)

    def _seen(self) -> npt.NDArray[np.float32]:
        found = np.zeros(self._shape, np.float32)
        self._mask = np.zeros(len(found) + 1, np.bool_)
        self._mask[-1] = True
        if not self._waiting:  # the run is over
            return found
        name = self._waiting[0]
        seen = self._play.seen(name)
        may = seen["action_mask"][:-1].astype(bool)
        if may.any():
            self._mask[:-1], self._mask[-1] = may, False
        if self._is_global:
            found[:, :-1] = terms.of_clusters(seen)
        else:
            now = self._play.info(name)["time"]
            found[:, :-1] = terms.of_jobs(seen, self._sizes[name], now)
        found[:, -1] = may
        return found
