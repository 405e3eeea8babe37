"""Whatever goes together runs to its end, or is refused before it begins."""

from __future__ import annotations

import collections
import itertools
import shutil

import pytest

from experiments.scenario.scenario import Scenario
from grid.platform.changes import Change
from grid.platform.multicluster import Platform

from .matrix import Combination, combinations, outcome_of, sample

SEEDS = range(4)


def test_a_planner_below_queues_that_are_visited_survives_the_loss_of_its_cluster():
    platform = Platform.star([8, 4])
    fails = Platform(platform.clusters, platform.graph, changes=(Change("C2", "fail", 50, 100),))
    parameters = {"mode": "open", "jobs": 40, "max_size": 4, "load": 0.8, "local_share": 1.0}
    for policy in ("eq-rd", "ls-or", "gp"):
        model = Scenario("fails", fails, parameters, policy, "titan").model()
        model.run()
        assert model.completed == 40


@pytest.mark.parametrize("selection", ["fcfs", "easy", "conservative"])
def test_no_reservation_confuses_a_scheduler_that_follows_its_plan(selection):
    parameters = {"mode": "batch", "jobs": 12, "max_size": 16, "local_share": 1.0}
    parameters |= {"round_jobs": 6, "round_time": 0.02, "selection": selection}
    model = Scenario("plan", Platform.star([16, 3, 16]), parameters, "oas", "fcfs").model(2)
    model.run()
    assert model.completed == 12


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "each",
    [
        # Seed schedules of two rounds, the earlier one of which was lost and sent again.
        Combination("muscle", "easy", "latency and loss", "open", 3),
        # A failure ended a job that ran for longer than predicted, whose end was waited for.
        Combination("muscle", "conservative", "drain", "open", 3),
        # A round began while brokers told late which processors were free again.
        Combination("oas", "ljf", "latency and loss", "batch", 2),
        # Loads and durations so large that products of them overflowed, which ended the process.
        Combination("oas", "fcfs", "local submission", "batch", 3),
        # A failure made all running jobs end before the moment that others had reserved.
        Combination("adaptive", "fair-share", "failures", "open", 3),
    ],
    ids=str,
)
def test_what_went_wrong_once(each, tmp_path):
    assert outcome_of(each, tmp_path / "result").kind == "ran"


def test_the_sample_has_every_pair():
    taken = sample()
    for of in itertools.combinations(range(4), 2):
        pairs = {tuple(each[index] for index in of) for each in taken}
        wanted = {tuple(each[index] for index in of) for each in combinations(range(1))}
        assert pairs == wanted


@pytest.mark.thorough
def test_a_sample_of_all_combinations_runs_or_is_refused(tmp_path):
    told = _told(sample(), tmp_path)
    assert not told["failed"], told["failed"]
    assert len(told["refused"]) < 0.1 * len(told["ran"])


@pytest.mark.slow
def test_all_combinations_run_or_are_refused(tmp_path):
    told = _told(combinations(SEEDS), tmp_path)
    print({kind: len(lines) for kind, lines in told.items()})
    assert not told["failed"], told["failed"]


def _told(taken, folder):
    """Return what became of combinations, in lines by kind."""
    told = collections.defaultdict(list)
    for number, each in enumerate(taken):
        kind, words = outcome_of(each, folder / str(number))
        told[kind].append(f"{each}: {words}")
        shutil.rmtree(folder / str(number), ignore_errors=True)
    return told
