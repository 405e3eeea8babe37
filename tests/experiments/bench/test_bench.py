from __future__ import annotations

import io
import json
import random
from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

from agents.titan.decoding import Problem, score, scoring
from experiments.bench import coallocation, kernel, long_queues, queues, site
from experiments.bench.coallocation import CASES, bench_coallocation
from experiments.bench.kernel import PlainLeastLoad, bench_kernel
from experiments.bench.long_queues import bench_long_queues
from experiments.bench.measurement import Measurement, as_json, print_measurements
from experiments.bench.page import bench_page
from experiments.bench.plain_deap import plain_evolve, plain_toolbox
from experiments.bench.queues import POLICIES, bench_queues
from experiments.bench.site import LOCAL, WHOLE, bench_site
from experiments.bench.titan import bench_titan
from experiments.cli.bench import MEASURES, _of_runs
from tests.experiments.browsers import browser_or_skip


def by_name(measurements):
    values = {each.name: each.value for each in measurements}
    assert len(values) == len(measurements)
    return values


def test_kernel():
    ended = []
    values = by_name(bench_kernel(2000, lambda: ended.append(1)))
    assert len(ended) == kernel.RUNS
    plain, compiled, built_in = list(values.values())[:3]
    assert min(plain, compiled, built_in) > 0
    assert values["compiled over plain"] == pytest.approx(compiled / plain)
    assert values["built-in over plain"] == pytest.approx(built_in / plain)
    assert values["runs that agree"] == 1


def test_how_much_of_the_kernel_is_measured_is_told(monkeypatch):
    """By the runs of all of its parts, from which follows how long the rest takes."""
    said = []
    for module in (coallocation, queues, site, kernel):
        name = f"bench_{module.__name__.rpartition('.')[2]}"

        def bench(ended, runs=module.RUNS, name=name):
            for _ in range(runs):
                ended()
            return [Measurement(name, 1.0, "", "")]

        monkeypatch.setattr(module, name, bench)
    watch = SimpleNamespace(
        begin=lambda kept, forecast: said.append(forecast.runs),
        advance=lambda piece, took: said.append(piece),
    )
    found = _of_runs(watch, "kernel", False)
    assert [each.name for each in found][-1] == "bench_kernel"
    assert said == [75, *range(75)]


def test_kernel_tells_when_the_runs_differ(monkeypatch):
    monkeypatch.setattr(PlainLeastLoad, "place", lambda self, job: self.clusters[-1])
    agreement = bench_kernel(jobs=100)[-1]
    assert agreement.value == 0
    assert "NOT" in agreement.note


@pytest.mark.thorough
def test_coallocation():
    ended = []
    measurements = bench_coallocation(800, lambda: ended.append(1))
    assert len(ended) == coallocation.RUNS
    values = by_name(measurements)
    assert values.pop("peak memory") > 50
    assert len(values) == len(CASES)
    assert min(values.values()) > 0


def test_policies_of_queues_are_measured():
    ended = []
    measurements = bench_queues(1000, lambda: ended.append(1))
    assert len(ended) == queues.RUNS
    assert [each.name for each in measurements] == [f"{name}, 4 clusters" for name in POLICIES]
    assert all(each.value > 0 and each.unit == "jobs/CPU s" for each in measurements)


@pytest.mark.thorough
def test_disciplines_of_a_site_are_measured():
    ended = []
    measurements = bench_site(1000, lambda: ended.append(1))
    assert len(ended) == site.RUNS
    assert [each.name for each in measurements] == [
        *(f"{name}, one cluster" for name in LOCAL),
        *(f"{name}, one cluster, whole process" for name in WHOLE),
    ]
    assert all(each.value > 0 and each.unit == "jobs/CPU s" for each in measurements)


@pytest.mark.thorough
def test_the_page_on_a_run_is_measured():
    with browser_or_skip():
        pass
    values = by_name(bench_page(jobs=200))
    assert values["page, size"] < 1
    assert values["page, zoom, median"] <= values["page, zoom, slowest"]


def test_titan():
    measurements = bench_titan(generations=3, plain_generations=2, queues=(1, 3), proven=())
    values = by_name(measurements)
    ratio = values["TITAN"] / values["DEAP in plain Python"]
    assert values["TITAN over plain"] == pytest.approx(ratio)
    assert values["TITAN, two-dimensional"] > 0
    searches = [each for each in measurements if each.unit == "CPU ms"]
    assert [each.name for each in searches] == ["search, 1 job", "search, 3 jobs"]
    assert min(each.value for each in searches) > 0


def problem(jobs: int) -> Problem:
    draw = np.random.default_rng(jobs)
    sizes, times = draw.integers(1, 6, jobs), draw.uniform(1, 50, jobs)
    return Problem(sizes, times, draw.uniform(0, 90, jobs), draw.uniform(0, 40, 5))


@pytest.mark.parametrize("jobs", [1, 2, 7, 25])
def test_plain_loop_scores_as_titan_does(jobs):
    given = problem(jobs)
    judge = scoring(given, (4.0, 3.0, 1.0), "total")
    toolbox = plain_toolbox(given, (4.0, 3.0, 1.0), random.Random(1))
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(jobs)
        (cp,) = toolbox.evaluate(order.tolist())
        assert cp == pytest.approx(score(order, judge))


def test_plain_loop_keeps_the_best():
    logbook = plain_evolve(problem(12), (4.0, 3.0, 1.0), generations=20)
    lowest = logbook.select("min")
    assert logbook.select("gen") == list(range(21))
    assert lowest == sorted(lowest, reverse=True)
    assert lowest[-1] < lowest[0]


@pytest.mark.thorough
def test_what_twice_as_many_jobs_cost_is_measured():
    ended = []
    measurements = bench_long_queues(0.005, lambda: ended.append(1))
    assert len(ended) == long_queues.RUNS
    names = [f"{of.name}, twice the jobs" for of in long_queues.CASES]
    assert [each.name for each in measurements] == names
    assert all(each.value > 0 and each.unit == "x" for each in measurements)
    assert measurements[0].note.startswith("CPU s of 1,000 jobs over those of 500 (")


def test_printed_and_json():
    rows = [Measurement("speed", 2_512_345.6, "jobs/CPU s", "fast"), Measurement("x", 0.5, "", "")]
    assert json.loads(json.dumps(as_json(rows)))[0] == {
        "name": "speed",
        "value": 2_512_345.6,
        "unit": "jobs/CPU s",
        "note": "fast",
    }
    out = io.StringIO()
    print_measurements(rows, Console(file=out, width=80))
    assert "2,512,346" in out.getvalue()
    assert "0.5" in out.getvalue()


@pytest.mark.parametrize("name", MEASURES)
def test_what_a_command_measures_by_is_there(name):
    module, function, _ = MEASURES[name]
    assert callable(getattr(import_module(f"experiments.{module}"), function))
