"""Learning a policy: from some runs of a scenario, judged by others that are held out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any

from agents.learned.formula import Floats
from agents.learned.policy import LearnedPolicy
from agents.learned.policy import Lessons as LearnedFrom
from agents.learned.units import numbers_of
from experiments.learning.comparison import BEGUN, Compared, compared
from experiments.learning.evolution import Generation, evolve, population_of
from experiments.learning.lessons import Lesson, Lessons, Trial, check_held_out, first_policy
from experiments.scenario.scenario import Scenario
from experiments.show.numbers import number
from experiments.studies.definition import MORE_IS_BETTER
from experiments.sweeps.executors import local_workers
from experiments.sweeps.progress import SweepProgress
from grid.errors import GridError
from grid.foreign import quoted
from grid.names import meant

EVOLUTION, PPO = "evolution", "ppo"
"""Methods: CMA-ES finds the weights of a formula, or PPO trains a network beside it, too."""
STEPS = {EVOLUTION: 5_000_000, PPO: 1_000_000}
"""How many steps are made unless one says."""
REWARDS = {
    "mean_bounded_slowdown": "bounded_slowdown",
    "mean_wait": "wait",
    "mean_turnaround": "turnaround",
}
"""What PPO rewards jobs with as they end, by what is to be best."""


@dataclass(frozen=True)
class Learned:
    """A policy that was learned, and how it does.

    Attributes
    ----------
    policy : LearnedPolicy
    metric : str
    lessons : Lessons
    method : str
        `EVOLUTION` or `PPO`.
    turns : int
        Generations of the former, or updates of the latter, that were made.
    best_turn : int
        Which of these found it, 0 if none was better than what it began with.
    steps : int
        Jobs that were scheduled in all runs together while it was learned; of `PPO`, choices that
        were taken.
    before, after : float
        Mean of the metric over the runs that it was learned from, with the weights to begin with
        and with its own.
    held_out : float
        Mean of the metric over those that were held out.
    others : tuple of Compared
    """

    policy: LearnedPolicy
    metric: str
    lessons: Lessons
    method: str
    turns: int
    best_turn: int
    steps: int
    before: float
    after: float
    held_out: float
    others: tuple[Compared, ...]

    def summary(self) -> dict[str, Any]:
        """Return it ready for JSON."""
        return {
            "agent": self.policy.agent,
            "formula": self.policy.formula,
            "weights": self.policy.weights,
            "metric": self.metric,
            "method": self.method,
            "training": {
                "runs": len(self.lessons.training),
                "jobs": self.lessons.jobs,
                "generations" if self.method == EVOLUTION else "updates": self.turns,
                "best": self.best_turn,
                "scheduled" if self.method == EVOLUTION else "choices": self.steps,
                "before": self.before,
                "after": self.after,
            },
            "held_out": {
                "runs": len(self.lessons.held_out),
                "mean": self.held_out,
                "others": [each.summary() for each in self.others],
            },
        }


def learn(
    scenario: Scenario,
    agent: str,
    method: str,
    metric: str,
    steps: int | None,
    seed: int,
    window: float,
    workers: int,
    progress: SweepProgress,
) -> Learned:
    """Learn a policy of a scenario, and compare it with others.

    Parameters
    ----------
    scenario : Scenario
        Whose other schedulers stay as they are.
    agent : str
        "global" or "local": all of these are alike.
    method : str
        `EVOLUTION` or `PPO`.
    metric : str
        What is to be best: its mean over runs.
    steps : int or None
        Jobs to be scheduled, or with `PPO` choices to be taken, about, all runs together: as many
        as whole generations or updates take, of which there is one at least. None: as many as
        `STEPS` says.
    seed : int
        Of the search, and of the first run.
    window : float
        Of a log, how long a run is, s.
    workers : int
        Processes, of evolution.
    progress : SweepProgress

    Raises
    ------
    GridError
        If nothing can be learned so.
    """
    first = first_policy(scenario, agent)
    if method == PPO:
        trainer = _trainer(scenario, first, metric)
        first = trainer.with_network(first)
    lessons = Lessons.of(scenario, seed, window)
    trial = Trial(first, lessons.training, metric)
    start = numbers_of(first.weights, first.units, first.searched)
    begun = Generation(start, trial.loss(start))  # which compiles, and refuses what is amiss
    check_held_out(lessons, first, metric)
    size, steps = population_of(len(start)), steps or STEPS[method]
    if method == PPO:
        of_turn, unit = trainer.WORLDS * trainer.CHOICES, "update"
    else:
        of_turn, unit = size * lessons.jobs, "generation"
    if steps < of_turn:
        progress.say(f"--steps {steps:,}: one {unit} takes {of_turn:,}")
    turns, tried = max(1, round(steps / of_turn)), {begun.loss}
    with ExitStack() as opened:
        if method == PPO:
            how = begun, trial.loss, first, lessons.training, REWARDS[metric], turns, seed
            found, made = trainer.train(*how), turns * of_turn
        else:
            losses: Callable[..., Iterable[float]] = partial(map, trial.loss)
            if workers > 1:
                begin = partial(_take, first, lessons.training, metric)
                crew = opened.enter_context(local_workers(min(workers, size), begin, kept=False))
                losses = partial(crew.executor.map, _loss)
            found = evolve(begun, partial(_noted, tried, losses), turns, seed)
            made = turns * of_turn + lessons.jobs  # of what it begins with, too
        came = [next(found)]
        came += progress.one_by_one(found, turns, unit)
    best = came[-1]
    if len(tried) == 1 and method == EVOLUTION:
        raise GridError(
            f"--objective: found {metric}, which is {number(abs(best.loss))} whatever the weights; "
            "accepted: one that depends on them"
        )
    of = learned_from(scenario, metric, seed, lessons)
    policy = first.with_numbers(best.weights).model_copy(update={"lessons": of})
    sign = -1.0 if metric in MORE_IS_BETTER else 1.0
    begun_with = {BEGUN: first.scheduler()}
    held_out, others = compared(scenario, policy, begun_with, lessons, metric, progress)
    return Learned(
        policy,
        metric,
        lessons,
        method,
        turns,
        next(number for number, each in enumerate(came) if each.loss == best.loss),
        made,
        sign * came[0].loss,
        sign * best.loss,
        held_out,
        others,
    )


def _trainer(scenario: Scenario, first: LearnedPolicy, metric: str) -> Any:
    """Return what trains networks, if it can do so.

    Raises
    ------
    GridError
        For what it cannot do, or where it is not installed.
    """
    if metric not in REWARDS:
        raise GridError(f"--objective: found {quoted(metric)} with ppo; {meant(metric, REWARDS)}")
    if first.agent == "local" and first.service != "fpfs":
        found = quoted(scenario.to_dict()["local"])
        raise GridError(
            f"--local: found {found} with ppo; accepted: fpfs, by which jobs start that fit, in an "
            "order that is learned"
        )
    try:
        from experiments.learning import ppo
    except ImportError as error:
        raise GridError(
            f"--method: found ppo without {error.name}; accepted: pip install 'metasched[ppo]'"
        ) from None
    return ppo


def learned_from(scenario: Scenario, metric: str, seed: int, lessons: Lessons) -> LearnedFrom:
    """Return what the file of a policy says of the runs that it was learned from."""
    return LearnedFrom(
        scenario=scenario.name,
        metric=metric,
        seed=seed,
        logs=dict.fromkeys(lessons.digests.values(), lessons.windows),
        starts=dict.fromkeys(lessons.digests.values(), lessons.start) if lessons.start else {},
    )


def _noted(
    tried: set[float],
    losses: Callable[..., Iterable[float]],
    candidates: Sequence[Floats],
) -> Sequence[float]:
    """Return the losses of candidates, which are noted."""
    found = [*losses(candidates)]
    tried.update(found)
    return found


_trial: Trial | None = None
"""In a worker process: what candidates are tried on."""


def _take(policy: LearnedPolicy, lessons: Sequence[Lesson], metric: str) -> None:
    """Have this process know what candidates are tried on."""
    global _trial
    _trial = Trial(policy, lessons, metric)


def _loss(weights: Floats) -> float:
    assert _trial is not None
    return _trial.loss(weights)
