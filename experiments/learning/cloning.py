"""Cloning: weights by which a policy decides as another one did, as far as they can."""

from __future__ import annotations

import dataclasses
import math
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from agents.learned import ranks
from agents.learned.formula import Floats
from agents.learned.policy import LearnedPolicy
from agents.schedulers import PlanningScheduler
from experiments.environments.agents import GLOBAL, LOCAL
from experiments.environments.play import Play, Rules
from experiments.learning.comparison import Compared, compared, same_starts
from experiments.learning.learning import learned_from
from experiments.learning.lessons import Lesson, Lessons, check_held_out, first_policy
from experiments.learning.terms import of_clusters
from experiments.run.running import run
from experiments.scenario.scenario import Scenario
from experiments.sweeps.progress import SweepProgress
from grid.errors import GridError
from grid.foreign import quoted
from grid.world.finished import Records

MOST = 100_000
"""Decisions that are learned from, and as many that the clone is tried on, at most."""
SEEN = 32
"""Jobs among which one was to start, at most: those that came first, and itself."""
RIDGE = 1e-5
"""Weight of the squares of weights, in units of their terms' deviations, beside a decision."""
GAIN = 0.002
"""Share of decisions that a further term has to have agree."""
FIGURES = 6
"""Significant figures of weights: what differs beyond is the machine's."""


class Decision(NamedTuple):
    """Which cluster a job was sent to, or which job started: the terms of each, and the one."""

    terms: Floats
    """A row for each; of equals, the first is taken."""
    allowed: npt.NDArray[np.bool_]
    chosen: int


@dataclass(frozen=True)
class Cloned:
    """A policy that was cloned, and how it does.

    Attributes
    ----------
    policy : LearnedPolicy
    teacher : str
    metric : str
    lessons : Lessons
    decisions : int
        That it was learned from.
    agreed, agreed_held_out : float
        In which share of these, and of those of runs that were held out, it decides alike.
    same_starts : float
        Which share of the jobs of runs that were held out start when and where they do under the
        teacher.
    held_out : float
        Mean of the metric over the runs that were held out.
    others : tuple of Compared
    """

    policy: LearnedPolicy
    teacher: str
    metric: str
    lessons: Lessons
    decisions: int
    agreed: float
    agreed_held_out: float
    same_starts: float
    held_out: float
    others: tuple[Compared, ...]

    def summary(self) -> dict[str, Any]:
        """Return it ready for JSON."""
        return {
            "agent": self.policy.agent,
            "formula": self.policy.formula,
            "weights": self.policy.weights,
            "metric": self.metric,
            "teacher": self.teacher,
            "training": {
                "runs": len(self.lessons.training),
                "jobs": self.lessons.jobs,
                "decisions": self.decisions,
                "agreed": self.agreed,
            },
            "held_out": {
                "runs": len(self.lessons.held_out),
                "agreed": self.agreed_held_out,
                "same_starts": self.same_starts,
                "mean": self.held_out,
                "others": [each.summary() for each in self.others],
            },
        }


def clone(
    scenario: Scenario,
    agent: str,
    teacher: str,
    metric: str,
    seed: int,
    window: float,
    progress: SweepProgress,
) -> Cloned:
    """Clone a global scheduler by a score of clusters, or a local one by a rank of jobs.

    Parameters
    ----------
    scenario : Scenario
        Whose other schedulers stay as they are. Jobs start in the teacher's way if that serves a
        queue by ranks, else in that of its own local scheduler.
    agent : str
        "global" or "local".
    teacher : str
        The name of a scheduler, or ``module:Class``; a global one sends each job as it comes.
    metric : str
        By which the clone is compared with others.
    seed : int
        Of the first run.
    window : float
        Of a log, how long a run is, s.
    progress : SweepProgress

    Raises
    ------
    GridError
        If the teacher cannot be cloned.

    Notes
    -----
    The weights are those of the largest likelihood if the teacher had drawn clusters by odds of
    exp(-score) (conditional logit), with a slight pull to 0, without which those of a teacher that
    a formula fits would grow without end. Terms are taken one by one (`fit`).
    """
    lessons, level = Lessons.of(scenario, seed, window), f"{agent}_scheduler"
    instead: dict[str, Any] = {level: teacher}
    taught = dataclasses.replace(scenario, **instead)
    if taught.largest_job > taught.platform.sizes.max():
        raise GridError(f"--teacher: found {quoted(teacher)}, which splits jobs; accepted: another")
    own, served = taught.local_policy, scenario
    ranked = own.service in ranks.SERVICES and not issubclass(own, PlanningScheduler)
    if agent == LOCAL and ranked:
        served = dataclasses.replace(scenario, local_scheduler=ranks.SERVICES[own.service])
    first = first_policy(served, agent)
    if agent == LOCAL:
        if scenario.policy.collects or scenario.policy.queues or scenario.parameters.latency:
            name = quoted(scenario.to_dict()["global"])
            raise GridError(
                f"--teacher: found with global scheduler {name}, or a latency, by which jobs do "
                "not land as they are submitted; accepted: another --global, and no latency"
            )
        if key := _moves(scenario):
            raise GridError(
                f"{key}: found with --teacher of local schedulers; accepted: without, for "
                "which processors were free is told by the jobs alone"
            )
    check_held_out(lessons, first, metric)
    decisions = _sent if agent == GLOBAL else _started
    found = []
    for of, unit in ((lessons.training, "lesson"), (lessons.held_out, "held-out lesson")):
        each = (list(decisions(lesson, teacher)) for lesson in of)
        told = progress.one_by_one(each, len(of), unit)
        found.append([decision for decisions in told for decision in decisions][:MOST])
    training, held_out = found
    if not training:
        raise GridError(f"--teacher: {quoted(teacher)} chose nothing; accepted: runs with choices")
    fitted = fit(training)
    weights = {
        term: float(f"{weight:.{FIGURES}g}")
        for term, weight in zip(first.terms, fitted.tolist(), strict=True)
    }
    of_file = learned_from(scenario, metric, seed, lessons)
    policy = first.model_copy(update={"weights": weights, "lessons": of_file})
    rounded = np.array([*weights.values()])
    mean, others = compared(scenario, policy, {teacher: teacher}, lessons, metric, progress)
    return Cloned(
        policy,
        teacher,
        metric,
        lessons,
        len(training),
        agreement(rounded, training),
        agreement(rounded, held_out),
        same_starts(agent, policy.scheduler(), teacher, lessons.held_out, progress),
        mean,
        others,
    )


def _moves(scenario: Scenario) -> str:
    """Return the key by which processors come and go; "" if all stay."""
    if scenario.failures is not None:
        return "mean_up_time"
    return "changes" if scenario.platform.changes else ""


def _sent(lesson: Lesson, teacher: str) -> Iterator[Decision]:
    """Yield where a global scheduler sent jobs; the run is played again to see what it saw."""
    run_of = dataclasses.replace(lesson.of.scenario, global_scheduler=teacher)
    done = run(run_of, seed=lesson.seed).jobs
    names = {cluster: index for index, cluster in enumerate(run_of.platform.names)}
    went: dict[int, deque[int]] = {}
    for job, cluster in zip(done["job"].tolist(), done["cluster"].tolist(), strict=True):
        went.setdefault(job, deque()).append(names.get(cluster, -1))
    play = Play(run_of, [GLOBAL], Rules())
    play.begin(lesson.seed, None)
    episode = play.episode
    assert episode is not None
    played: list[Records] = []
    episode.world.log.consumers.append(played.append)
    while play.asked:
        seen = play.seen(GLOBAL)
        allowed = seen["action_mask"][:-1].astype(bool)
        queue = went.get(play.info(GLOBAL)["job"])
        chosen = queue.popleft() if queue else -1
        if chosen < 0 or not allowed[chosen]:  # it was rejected, or sent again, as from failures
            play.act({GLOBAL: int(seen["action_mask"].argmax())})
            continue
        slot = episode.scheduler.asked
        home = np.arange(len(allowed)) == episode.world.tables.slots["origin"][slot]
        yield Decision(np.column_stack([of_clusters(seen), home]), allowed, chosen)
        play.act({GLOBAL: chosen})
    starts = [each for records in played for each in records["start"].tolist()]
    if not np.array_equal(np.sort(starts), np.sort(done["start"]), equal_nan=True):
        key = _moves(run_of)
        has, without = (f" with {key}", "without it, and ") if key else ("", "")
        raise GridError(
            f"--teacher: found {quoted(teacher)}{has}, which has jobs wait or go back; accepted: "
            f"{without}one that sends each job as it comes"
        )


def _started(lesson: Lesson, teacher: str) -> Iterator[Decision]:
    """Yield the jobs that started before others, which came before and would have fitted."""
    run_of = dataclasses.replace(lesson.of.scenario, local_scheduler=teacher)
    sizes = dict(zip(run_of.platform.names, run_of.platform.sizes.tolist(), strict=True))
    done = run(run_of, seed=lesson.seed).jobs.dropna(subset=["start"])
    for cluster, jobs in done.groupby("cluster", sort=False):
        if cluster not in sizes:
            continue  # they ran on several
        columns = ("arrival", "size", "start", "finish", "predicted_time")
        arrival, size, start, finish, time = (jobs[name].to_numpy(np.float64) for name in columns)
        terms = ranks.terms_of(time, size, arrival)
        for now in np.unique(start):
            waits = np.flatnonzero((arrival <= now) & (start > now))
            held = size[(start <= now) & (finish > now)].sum()
            for job in np.flatnonzero(start == now) if len(waits) else ():
                fits = waits[size[waits] <= sizes[cluster] - held + size[job]][: SEEN - 1]
                seen = np.sort(np.append(fits, job))
                if len(seen) > 1:
                    shown, allowed = np.zeros((SEEN, len(ranks.TERMS))), np.arange(SEEN) < len(seen)
                    shown[: len(seen)] = terms[seen]
                    yield Decision(shown, allowed, int(seen.searchsorted(job)))


def fit(decisions: Sequence[Decision]) -> Floats:
    """Return weights by which the clusters that were chosen have the lowest scores.

    Of the terms, one after the other is taken that has most decisions agree, as long as it has
    `GAIN` more of them do: a formula of few terms is read more easily, and as right elsewhere.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> terms = rng.uniform(size=(200, 3, 4))
    >>> known = [Decision(each, np.ones(3, bool), each[:, 1].argmin()) for each in terms]
    >>> weights = fit(known)
    >>> np.flatnonzero(weights).tolist(), agreement(weights, known)
    ([1], 1.0)
    """
    told = _Told(
        np.stack([each.terms for each in decisions]),
        np.stack([each.allowed for each in decisions]),
        np.array([each.chosen for each in decisions]),
    )
    taken: list[int] = []
    best = np.zeros(told.terms.shape[2])
    alike = agreement(best, decisions)
    while others := [each for each in range(len(best)) if each not in taken]:
        tried = [_likeliest(told, [*taken, each]) for each in others]
        agreed = [agreement(weights, decisions) for weights in tried]
        at = int(np.argmax(agreed))
        if agreed[at] < alike + GAIN:
            break
        best, alike = tried[at], agreed[at]
        taken.append(others[at])
    return best / (np.abs(best).max() or 1.0)  # whose scale says nothing


class _Told(NamedTuple):
    """Decisions as arrays, a row for each."""

    terms: Floats
    allowed: npt.NDArray[np.bool_]
    chosen: npt.NDArray[np.int64]


def _likeliest(told: _Told, taken: Sequence[int]) -> Floats:
    """Return the weights of the largest likelihood, of some terms.

    Beside these goes the place of each, which stands for that of equals the first is taken.
    """
    from scipy.optimize import minimize

    count, each, all_ = told.terms.shape
    place = np.broadcast_to(np.arange(each, dtype=float), (count, each))
    terms = np.concatenate([told.terms[..., taken], place[..., np.newaxis]], axis=2)
    scale = terms.std(axis=(0, 1))
    scale[scale == 0.0] = 1.0
    own = terms[np.arange(count), told.chosen][:, np.newaxis]
    terms = (terms - own) / scale

    def loss(weights: Floats) -> tuple[float, Floats]:
        odds = np.where(told.allowed, np.exp(np.clip(-(terms @ weights), -500.0, 500.0)), 0.0)
        of_all = odds.sum(axis=1)
        slope = -(odds[..., np.newaxis] * terms).sum(axis=1) / of_all[:, np.newaxis]
        ridge = RIDGE * float(weights @ weights)
        return float(np.log(of_all).mean()) + ridge, slope.mean(axis=0) + 2.0 * RIDGE * weights

    found = minimize(loss, np.zeros(len(scale)), jac=True, method="L-BFGS-B").x / scale
    weights = np.zeros(all_)
    weights[taken] = found[:-1]
    return weights


def agreement(weights: Floats, decisions: Sequence[Decision]) -> float:
    """Return in which share of decisions the first of those of the lowest score was chosen."""
    if not decisions:
        return math.nan
    allowed = np.stack([each.allowed for each in decisions])
    scores = np.stack([each.terms for each in decisions]) @ weights
    first = np.where(allowed, scores, np.inf).argmin(axis=1)
    return float((first == [each.chosen for each in decisions]).mean())
