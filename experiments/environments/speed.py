"""How many decisions agents can take in environments in a CPU second, alone and many at once."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any

import numpy as np

from experiments.bench.measurement import Measurement
from experiments.environments.agents import GLOBAL, LOCAL
from experiments.environments.grid_env import GridEnv
from experiments.environments.vector import VectorGridEnv
from experiments.scenario.scenario import Scenario

Chosen = Callable[[Any], Any]
"""Returns an action for each world, by their masks."""

WORLDS, STEPS, TURNS = 64, 1500, 5


def bench_envs(worlds: int = WORLDS, steps: int = STEPS, turns: int = TURNS) -> list[Measurement]:
    """Measure the environments in turn, with a global agent and with a local one.

    Jobs go to one of four clusters at random; or, at a site, the first of the waiting jobs that
    fits starts, of a window of 128.

    Parameters
    ----------
    worlds : int
        Of the one that has many.
    steps : int
        Of all together, in a turn; the one alone takes as many as they do.
    turns : int
    """
    jobs = 2 * (turns + 1) * steps
    grid = Scenario.load("quickstart").changed(
        mode="open", jobs=jobs, max_size=4, local_scheduler="fcfs"
    )
    site = Scenario.load("site").changed(jobs=jobs)
    draws = partial(_at_random, np.random.default_rng(1))
    ways: dict[tuple[str, str], tuple[_Alone | _Many, int]] = {}
    for scenario, agent, chosen in ((grid, GLOBAL, draws), (site, LOCAL, _first)):
        many = VectorGridEnv(worlds, scenario, agent)
        ways[agent, "GridEnv"] = _Alone(GridEnv(scenario, agent), chosen), 1
        ways[agent, f"VectorGridEnv({worlds})"] = _Many(many, chosen), worlds
    rates: dict[tuple[str, str], list[float]] = {way: [] for way in ways}
    for turn in range(turns + 1):
        for way, (player, count) in ways.items():
            rate = count * steps / _took(partial(player.play, steps))
            if turn:  # the first compiles
                rates[way].append(rate)
    unit, how = "decisions per CPU second", f"median of {turns} turns"
    return [
        Measurement(name, median(each), unit, f"{agent} agent, {how}")
        for (agent, name), each in rates.items()
    ]


class _Alone:
    """Takes decisions in an environment alone."""

    def __init__(self, env: GridEnv, chosen: Chosen) -> None:
        self._env, self._chosen = env, chosen
        self._seen, _ = env.reset(seed=1)

    def play(self, steps: int) -> None:
        """Take so many."""
        for _ in range(steps):
            mask = self._seen["action_mask"][np.newaxis]
            self._seen, *_ = self._env.step(int(self._chosen(mask)[0]))


class _Many:
    """Takes decisions in many worlds at once."""

    def __init__(self, env: VectorGridEnv, chosen: Chosen) -> None:
        self._env, self._chosen = env, chosen
        self._seen, _ = env.reset(seed=1)

    def play(self, steps: int) -> None:
        """Take so many in each."""
        for _ in range(steps):
            self._seen, *_ = self._env.step(self._chosen(self._seen["action_mask"]))


def _at_random(rng: np.random.Generator, mask: Any) -> Any:
    """Return clusters, of which all can hold any job."""
    return rng.integers(0, mask.shape[1] - 1, len(mask))


def _first(mask: Any) -> Any:
    return mask.argmax(axis=1)


def _took(step: Callable[[], None]) -> float:
    """Return the CPU time of a call, s."""
    began = time.process_time()
    step()
    return time.process_time() - began
