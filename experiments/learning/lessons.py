"""What is learned from, and what is held out: runs that have no job in common."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from agents.learned import ranks
from agents.learned.formula import Floats
from agents.learned.policy import LearnedPolicy
from experiments.scenario.jobs import paths_of
from experiments.scenario.scenario import Scenario
from experiments.show.labels import why_none
from experiments.show.numbers import counted
from experiments.studies.asked import metrics_among
from experiments.studies.definition import MORE_IS_BETTER
from experiments.studies.parts import Parts, since_the_first
from experiments.studies.study_run import StudyRun, numbers_of
from experiments.studies.workloads import WINDOW, StudyWorkload
from experiments.sweeps.inputs import read_once
from grid.errors import GridError, blaming
from grid.foreign import quoted
from grid.logs.calendar import clock_at, written
from grid.names import meant
from grid.reading import digest

RUNS = 8
"""Runs of synthetic jobs that are learned from, and as many that are held out."""
TRAINING = 0.5
"""Share of the windows of a log that are learned from, the first."""
LEAST = 2
"""Windows of either kind, at least."""
HELD_OUT = "run that is held out"
"""What those are called that are not learned from."""


class Lesson(NamedTuple):
    """A run: what it is of, and its seed."""

    of: StudyRun
    seed: int

    def under(self, agent: str, scheduler: Any) -> Lesson:
        """Return the run under another scheduler, of the level of an agent."""
        instead: dict[str, Any] = {f"{agent}_scheduler": scheduler}
        of = dataclasses.replace(self.of.scenario, **instead)
        return Lesson(dataclasses.replace(self.of, scenario=of), self.seed)


@dataclass(frozen=True)
class Lessons:
    """Runs to learn from, and those that are held out.

    Attributes
    ----------
    training, held_out : tuple of Lesson
    windows : tuple of (float, float)
        Of a log, those that are learned from, s after its first job; none of synthetic jobs.
    digests : dict of str to str
        SHA-256 of each file of the log.
    start : str
        What its clock showed at its first job; "" if it does not tell.
    left_out : tuple of str
        Which windows of it are of neither kind, and why, in lines.
    """

    training: tuple[Lesson, ...]
    held_out: tuple[Lesson, ...]
    windows: tuple[tuple[float, float], ...] = ()
    digests: dict[str, str] = dataclasses.field(default_factory=dict)
    start: str = ""
    left_out: tuple[str, ...] = ()

    @property
    def jobs(self) -> int:
        """Jobs of the runs that are learned from, all together."""
        return sum(lesson.of.jobs for lesson in self.training)

    @classmethod
    def of(cls, scenario: Scenario, seed: int, window: float) -> Lessons:
        """Return those of a scenario: windows of its log, or seeds of its synthetic jobs.

        Parameters
        ----------
        scenario : Scenario
        seed : int
            Of the first run; those of synthetic jobs follow.
        window : float
            Of a log, s.

        Raises
        ------
        GridError
            If the log has too few windows, or has one already.
        """
        if scenario.workload is None:
            count = StudyRun(scenario, {}, scenario.jobs).model(seed).workload.count
            run = StudyRun(scenario, {}, count)  # the warm-up's included
            seeds = range(seed, seed + 2 * RUNS)
            each = [Lesson(run, number) for number in seeds]
            return cls(tuple(each[:RUNS]), tuple(each[RUNS:]))
        parameters = scenario.parameters
        for name in WINDOW:
            if name in parameters.model_fields_set:
                raise GridError(f"{name}: found for what is learned from a log; accepted: --window")
        digests = {path: digest(path) for path in paths_of(scenario.workload)}
        read = partial(read_once, digests, scenario.workload)
        table = read(scenario.platform, parameters)
        arrivals = since_the_first(table)
        first_job = float(table.jobs["arrival"][0])
        start = "" if table.start is None else written(clock_at(table.start, first_job))
        with blaming("--window"):
            parts = Parts.of_log(arrivals, window, [scenario], read, digests)
        if len(parts.fit) < 2 * LEAST:
            name = ", ".join(scenario.logs)
            raise GridError(
                f"--window: found {parts.told(name)}; accepted: one of which there are at least "
                f"{2 * LEAST}, half of them to learn from"
            )
        first = int(TRAINING * len(parts.fit))
        log = StudyWorkload(
            scenario.name, scenario.workload, digests, arrivals, stretches=parts.fit
        )
        runs = [Lesson(log.run(scenario, at), seed) for at in range(len(parts.fit))]
        left_out = tuple(
            f"left out: {counted(int(of.sum()), 'window')} of the log {why}"
            for why, of in parts.without.items()
        )
        kinds = tuple(runs[:first]), tuple(runs[first:])
        return cls(*kinds, parts.fit[:first], digests, start, left_out)


class Trial:
    """A policy whose weights are tried, run after run.

    Parameters
    ----------
    policy : LearnedPolicy
        To begin with.
    lessons : sequence of Lesson
    metric : str
        Of a run.
    """

    def __init__(self, policy: LearnedPolicy, lessons: Sequence[Lesson], metric: str) -> None:
        self.metric = metric
        self._policy = policy
        kind: Any = policy.scheduler()
        self._weights = kind.weights
        self._lessons = [lesson.under(policy.agent, kind) for lesson in lessons]

    def loss(self, weights: Floats) -> float:
        """Return the mean of the metric over all runs with other weights, the lower the better."""
        self._weights[: len(weights)] = weights
        values = [value_of(lesson, self.metric) for lesson in self._lessons]
        mean = math.fsum(values) / len(values)
        return -mean if self.metric in MORE_IS_BETTER else mean


def check_held_out(lessons: Lessons, policy: LearnedPolicy, metric: str) -> None:
    """Raise `GridError` if a run that is held out lacks the metric under a policy."""
    kind = policy.scheduler()
    for lesson in lessons.held_out:
        value_of(lesson.under(policy.agent, kind), metric, HELD_OUT)


def value_of(lesson: Lesson, metric: str, kind: str = "run to learn from") -> float:
    """Return the metric of a run, of a kind in words.

    Raises
    ------
    GridError
        If there is no such metric, or no number for it.
    """
    numbers = numbers_of(lesson.of, lesson.seed)
    if metric not in (metrics := metrics_among(numbers)):
        raise GridError(f"--objective: found {quoted(metric)}; {meant(metric, sorted(metrics))}")
    (value,) = numbers[metric]
    if numbers["unfinished"][0] or not math.isfinite(value):
        left = int(numbers["unfinished"][0])
        lacks = f"{counted(left, 'job')} that never ended" if left else f"{value:g}"
        why = "" if left else why_none(metric)
        raise GridError(
            f"{metric}: found {lacks}, in a {kind}{f': {why}' if why else ''}; "
            "accepted: runs to whose end it is a number"
        )
    return value


def first_policy(scenario: Scenario, agent: str) -> LearnedPolicy:
    """Return the policy of a scenario that learning begins with.

    Raises
    ------
    GridError
        If a global one is to be learned for one cluster, or a local one, and its local scheduler
        has an order of its own.
    """
    from agents.learned import choices

    if agent == "global":
        if len(names := scenario.platform.names) == 1:
            raise GridError(
                f"--agent: found global with one cluster, {quoted(names[0])}; accepted: local, or "
                "several clusters to choose from"
            )
        return LearnedPolicy(agent="global", weights=choices.FIRST)
    service = scenario.local_policy.service
    planned = not issubclass(scenario.local_policy, tuple(ranks.SERVICES.values()))
    if planned or service not in ranks.SERVICES:
        found = quoted(scenario.to_dict()["local"])
        raise GridError(
            f"--local: found {found}, which has an order of its own; accepted: fcfs, fpfs, easy or "
            "conservative, whose jobs start in the same way, in an order that is learned"
        )
    return LearnedPolicy(agent="local", weights=ranks.FIRST, service=service)  # type: ignore[arg-type]
