"""Learning a policy: from some runs of a scenario, judged by others that are held out."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any

import pandas as pd

from agents.learned.formula import Floats, array_of
from agents.learned.policy import LearnedPolicy
from agents.learned.policy import Lessons as LearnedFrom
from experiments.learning.evolution import Generation, evolve, population_of
from experiments.learning.lessons import Lesson, Lessons, Trial, first_policy, value_of
from experiments.scenario.scenario import Scenario
from experiments.show.numbers import number
from experiments.studies.definition import MORE_IS_BETTER
from experiments.studies.ranking import differences, surely_apart
from experiments.sweeps.executors import local_workers
from experiments.sweeps.progress import SweepProgress
from experiments.sweeps.statistics import Interval, mean_interval
from grid.errors import GridError

OTHERS = {"local": ("fcfs", "sjf", "easy"), "global": ("dll", "ect")}
"""Schedulers that a learned one is compared with, beside the scenario's own."""
OURS, BEGUN = "learned", "as it began"
"""What is compared: with the weights that were learned, and with those before."""


class Compared:
    """How a learned policy did on runs that are held out, and how another did.

    Attributes
    ----------
    name : str
        Of the other.
    mean : float
        Of the metric of the other.
    difference : Interval
        The learned one's minus that, of one run.
    better : int
        Runs in which the learned one was better.
    learned_is_better : bool
        On average.
    surely : bool
        They surely differ (`surely_apart`, of all others together).
    """

    def __init__(self, name: str, ours: pd.Series, other: pd.Series, more_is_better: bool) -> None:
        self.name, self.mean = name, float(other.mean())
        self.differences = differences(ours, other)
        self.difference: Interval = mean_interval(self.differences)
        good = self.differences > 0 if more_is_better else self.differences < 0
        self.better, self.surely = int(good.sum()), False
        self.learned_is_better = (self.difference.mean > 0) == more_is_better

    def summary(self) -> dict[str, Any]:
        """Return it ready for JSON."""
        return {
            "policy": self.name,
            "mean": self.mean,
            "difference": self.difference.mean,
            "half_width": self.difference.half_width,
            "better_in": self.better,
            "surely": self.surely,
        }


@dataclass(frozen=True)
class Learned:
    """A policy that was learned, and how it does.

    Attributes
    ----------
    policy : LearnedPolicy
    metric : str
    lessons : Lessons
    generations : int
        After which it was the best.
    jobs : int
        That were scheduled in all runs together while it was learned.
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
    generations: int
    jobs: int
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
            "training": {
                "runs": len(self.lessons.training),
                "jobs": self.lessons.jobs,
                "generations": self.generations,
                "scheduled": self.jobs,
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
    metric: str,
    steps: int,
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
    metric : str
        What is to be best: its mean over runs.
    steps : int
        Jobs to be scheduled, about, all runs together; there is one generation at least.
    seed : int
        Of the search, and of the first run.
    window : float
        Of a log, how long a run is, s.
    workers : int
        Processes.
    progress : SweepProgress

    Raises
    ------
    GridError
        If nothing can be learned so.
    """
    first = first_policy(scenario, agent)
    lessons = Lessons.of(scenario, seed, window)
    trial = Trial(first, lessons.training, metric)
    start = array_of(first.weights, first.terms)
    begun = Generation(start, trial.loss(start))  # which compiles, and refuses what is amiss
    size = population_of(len(start))
    generations = max(1, round(steps / (size * lessons.jobs)))
    with ExitStack() as opened:
        losses = partial(_losses_here, trial)
        if workers > 1:
            begin = partial(_take, first, lessons.training, metric)
            crew = opened.enter_context(local_workers(min(workers, size), begin, kept=False))
            losses = partial(_losses, crew.executor)
        tried = {begun.loss}
        found = evolve(begun, partial(_noted, tried, losses), generations, seed)
        came = [next(found)]
        came += progress.one_by_one(found, generations, "generation")
    best = came[-1]
    if len(tried) == 1:
        raise GridError(
            f"--objective: found {metric}, which is {number(abs(best.loss))} whatever the weights; "
            "accepted: one that depends on them"
        )
    weights = dict(zip(first.terms, best.weights.tolist(), strict=True))
    of = learned_from(scenario, metric, seed, lessons)
    policy = first.model_copy(update={"weights": weights, "lessons": of})
    sign = -1.0 if metric in MORE_IS_BETTER else 1.0
    begun_with = {BEGUN: first.scheduler()}
    held_out, others = compared(scenario, policy, begun_with, lessons, metric, progress)
    return Learned(
        policy,
        metric,
        lessons,
        next(number for number, each in enumerate(came) if each.loss == best.loss),
        (1 + generations * size) * lessons.jobs,
        sign * came[0].loss,
        sign * best.loss,
        held_out,
        others,
    )


def learned_from(scenario: Scenario, metric: str, seed: int, lessons: Lessons) -> LearnedFrom:
    """Return what the file of a policy says of the runs that it was learned from."""
    return LearnedFrom(
        scenario=scenario.name,
        metric=metric,
        seed=seed,
        logs=dict.fromkeys(lessons.digests.values(), lessons.windows),
        starts=dict.fromkeys(lessons.digests.values(), lessons.start) if lessons.start else {},
    )


def compared(
    scenario: Scenario,
    policy: LearnedPolicy,
    with_: Mapping[str, Any],
    lessons: Lessons,
    metric: str,
    progress: SweepProgress,
) -> tuple[float, tuple[Compared, ...]]:
    """Return the mean of the metric over runs that are held out, and how others did there.

    Parameters
    ----------
    scenario : Scenario
        Whose own scheduler is among the others.
    policy : LearnedPolicy
    with_ : mapping of str to type
        More of the others, by what they are called.
    lessons : Lessons
    metric : str
    progress : SweepProgress
    """
    level = f"{policy.agent}_scheduler"
    own = scenario.to_dict()[policy.agent]
    kinds: dict[str, Any] = {OURS: policy.scheduler(), own: getattr(scenario, level)}
    kinds |= {name: name for name in OTHERS[policy.agent] if name != own}
    kinds |= with_
    runs = [(name, kind, lesson) for name, kind in kinds.items() for lesson in lessons.held_out]

    def values() -> Iterator[float]:
        for _, kind, (run, seed) in runs:
            of = dataclasses.replace(run.scenario, **{level: kind})
            yield value_of(Lesson(dataclasses.replace(run, scenario=of), seed), metric)

    came = [*progress.one_by_one(values(), len(runs), "held-out run")]
    samples: dict[str, list[float]] = {}
    for (name, *_), value in zip(runs, came, strict=True):
        samples.setdefault(name, []).append(value)
    ours = pd.Series(samples.pop(OURS))
    more = metric in MORE_IS_BETTER
    others = [Compared(name, ours, pd.Series(each), more) for name, each in samples.items()]
    for each, sure in zip(others, surely_apart([x.differences for x in others]), strict=True):
        each.surely = sure
    return float(ours.mean()), tuple(others)


def _noted(
    tried: set[float],
    losses: Callable[[Sequence[Floats]], Sequence[float]],
    candidates: Sequence[Floats],
) -> Sequence[float]:
    """Return the losses of candidates, which are noted."""
    found = losses(candidates)
    tried.update(found)
    return found


def _losses_here(trial: Trial, candidates: Sequence[Floats]) -> list[float]:
    return [trial.loss(each) for each in candidates]


def _losses(executor: Any, candidates: Sequence[Floats]) -> list[float]:
    tasks = [executor.submit(_loss, each) for each in candidates]
    return [task.result() for task in tasks]


_trial: Trial | None = None
"""In a worker process: what candidates are tried on."""


def _take(policy: LearnedPolicy, lessons: Sequence[Lesson], metric: str) -> None:
    """Have this process know what candidates are tried on."""
    global _trial
    _trial = Trial(policy, lessons, metric)


def _loss(weights: Floats) -> float:
    assert _trial is not None
    return _trial.loss(weights)
