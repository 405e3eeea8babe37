"""Jobs that are planned beside others that run already, against an exhaustive search."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from agents.oas import HEURISTICS, Instance
from agents.oas.instance import Cluster
from agents.oas.model import link_demand
from agents.oas.rounds import OasSettings, Running, Waiting, plan_round
from agents.oas.scaled import Scaled
from agents.oas.schedule import Decision
from agents.oas.solvers.cp_sat import cp_sat
from agents.oas.solvers.heuristics import heuristic
from grid.errors import GridError
from tests.agents import plain_oas
from tests.agents.small_oas import SWIG, possible

pytestmark = SWIG


def beside(seed, link=100):
    """An instance whose first job runs for some time, and the decision about it."""
    draw = random.Random(seed)
    instance = possible(seed, 3, clusters=(2, 2, 1), link=link)
    ways = plain_oas.distributions(instance["clusters"], instance["jobs"][0])
    instance["jobs"][0]["sigma"] = 0  # it takes as long wherever it is
    nodes = draw.choice(ways)
    scaled = Scaled.of(Instance.from_dict(instance), up=True)
    assert scaled.exact_times
    return instance, Decision(0, scaled.durations[0][0], nodes), scaled


def check(instance, decisions, scaled):
    """Nodes and links at each start."""
    given = Instance.from_dict(instance)
    for begin, _, _ in decisions:
        now = [
            (job, each.nodes)
            for job, each in zip(given.jobs, decisions, strict=True)
            if each.begin <= begin < each.end
        ]
        for k, cluster in enumerate(given.clusters):
            assert sum(nodes[k] for _, nodes in now) <= cluster.nodes
            assert sum(link_demand(job, nodes[k]) for job, nodes in now) <= cluster.link_mbps
    for job, each in enumerate(decisions):
        level = max(of for of, n in zip(scaled.levels, each.nodes, strict=True) if n)
        assert each.end - each.begin == scaled.durations[job][level]
        assert sum(each.nodes) == given.jobs[job].tasks


@pytest.mark.parametrize("seed", range(6))
def test_the_best_schedule_beside_a_running_job_is_that_of_an_exhaustive_search(seed):
    instance, running, scaled = beside(seed)
    given = Instance.from_dict(instance)
    found = {name: heuristic(name, given, None, [running]) for name in HEURISTICS}
    for name, decisions in found.items():
        assert decisions[0] == running, name
        check(instance, decisions, scaled)
    first = instance["jobs"][0]
    held = Fraction(0), running.end * scaled.unit, first, running.nodes
    rest = {**instance, "jobs": instance["jobs"][1:]}
    best = plain_oas.optimum(rest, None, [held])
    for deterministic in (False, True):
        solved = cp_sat(given, scaled, found["fcfs"], 20.0, deterministic, pinned=1)
        check(instance, solved.decisions, scaled)
        ends = [each.end for each in solved.decisions[1:]]
        assert max(ends) * scaled.unit == best == solved.bound * scaled.unit
    assert min(max(each.end for each in d[1:]) for d in found.values()) * scaled.unit >= best


CLUSTERS = Cluster(4, Fraction(1), Fraction(1000)), Cluster(4, Fraction(1, 2), Fraction(1000))


def test_a_round_waits_for_the_faster_nodes_if_that_is_worth_it():
    running = [Running((4, 0), 10.0, 0.0)]
    for time, cluster in ((50.0, 0), (5.0, 1)):
        (decision,) = plan_round(CLUSTERS, [Waiting(4, time, 0.0)], running, OasSettings())
        assert decision.nodes[cluster] == 4


def test_a_round_is_no_longer_than_the_best_heuristic_and_shorter_if_there_is_time():
    draw = random.Random(2)
    waiting = [Waiting(draw.randint(1, 7), draw.uniform(10, 90), 20.0) for _ in range(9)]
    ends = [
        max(each.end for each in plan_round(CLUSTERS, waiting, [], OasSettings(round_time=time)))
        for time in (0.0, 1.0)
    ]
    assert ends[1] <= ends[0]
    again = [plan_round(CLUSTERS, waiting, [], OasSettings(round_time=0.05)) for _ in range(2)]
    assert again[0] == again[1]


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"round_jobs": 0}, "round_jobs: found 0; accepted: from 1"),
        ({"round_time": -1}, "round_time: found -1; accepted: from 0"),
        ({"round_clock": "sun"}, "round_clock: found 'sun'; accepted: 'deterministic' or 'wall'"),
    ],
)
def test_settings_out_of_range_are_refused(setting, message):
    with pytest.raises(GridError, match=message):
        OasSettings(**setting)
