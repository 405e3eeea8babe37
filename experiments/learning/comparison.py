"""How a learned policy and others do on runs that are held out."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from agents.learned.policy import LearnedPolicy
from experiments.learning.lessons import HELD_OUT, Lesson, Lessons, value_of
from experiments.run.running import run
from experiments.scenario.scenario import Scenario
from experiments.studies.definition import MORE_IS_BETTER
from experiments.studies.ranking import differences, surely_apart
from experiments.sweeps.progress import SweepProgress
from experiments.sweeps.statistics import Interval, mean_interval

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


def same_starts(
    agent: str, one: Any, other: Any, lessons: Sequence[Lesson], progress: SweepProgress
) -> float:
    """Return the share of the jobs of some runs that start when and where they do under another.

    Parameters
    ----------
    agent : str
        "global" or "local".
    one, other : type or str
        Schedulers of that level.
    lessons : sequence of Lesson
    progress : SweepProgress
    """

    def shares() -> Iterator[tuple[int, int]]:
        for lesson in lessons:
            found = []
            for kind in (one, other):
                under = lesson.under(agent, kind)
                jobs = run(under.of.scenario, seed=under.seed).jobs
                found.append(jobs.dropna(subset=["start"])[["job", "cluster", "start"]])
            yield len(found[0].merge(found[1])), len(found[1])

    told = [*progress.one_by_one(shares(), len(lessons), "held-out run")]
    alike, all_ = (sum(each) for each in zip(*told, strict=True))
    return alike / all_ if all_ else math.nan


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
    own = scenario.to_dict()[policy.agent]
    of_own = getattr(scenario, f"{policy.agent}_scheduler")
    kinds: dict[str, Any] = {OURS: policy.scheduler(), own: of_own}
    kinds |= {name: name for name in OTHERS[policy.agent] if name != own}
    kinds |= with_
    runs = [(name, kind, lesson) for name, kind in kinds.items() for lesson in lessons.held_out]

    def values() -> Iterator[float]:
        for _, kind, lesson in runs:
            yield value_of(lesson.under(policy.agent, kind), metric, HELD_OUT)

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
