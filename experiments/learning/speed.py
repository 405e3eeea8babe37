"""How many decisions agents can take in environments in a CPU second, alone and many at once."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median

import numpy as np

from experiments.bench.measurement import Measurement
from experiments.scenario.scenario import Scenario

WORLDS, STEPS, TURNS = 64, 1500, 5


def bench_envs(worlds: int = WORLDS, steps: int = STEPS, turns: int = TURNS) -> list[Measurement]:
    """Measure the environments in turn, which send jobs to clusters at random.

    Parameters
    ----------
    worlds : int
        Of the one that has many.
    steps : int
        Of all together, in a turn; the one alone takes as many as they do.
    turns : int
    """
    from metasched.envs import GridEnv, VectorGridEnv

    jobs = 2 * (turns + 1) * steps
    scenario = Scenario.load("quickstart").changed(
        mode="open", jobs=jobs, max_size=4, local_scheduler="fcfs"
    )
    clusters = len(scenario.platform.clusters)
    alone, many = GridEnv(scenario), VectorGridEnv(worlds, scenario)
    alone.reset(seed=1)
    many.reset(seed=1)
    drawn = np.random.default_rng(1).integers(0, clusters, (steps, worlds))

    def step_alone() -> None:
        for actions in drawn:
            alone.step(actions[0])

    def step_many() -> None:
        for actions in drawn:
            many.step(actions)

    ways = {"GridEnv": (step_alone, 1), f"VectorGridEnv({worlds})": (step_many, worlds)}
    rates: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(turns + 1):
        for name, (step, count) in ways.items():
            rate = count * steps / _took(step)
            if turn:  # the first compiles
                rates[name].append(rate)
    unit, how = "decisions per CPU second", f"global agent, median of {turns} turns"
    return [Measurement(name, median(each), unit, how) for name, each in rates.items()]


def _took(step: Callable[[], None]) -> float:
    """Return the CPU time of a call, s."""
    began = time.process_time()
    step()
    return time.process_time() - began
