"""More runs of `muscle` from look to look: where, how many, and how often a verdict is wrong."""

from __future__ import annotations

import numpy as np
import pytest
from rich.console import Console

from experiments.papers import judging, muscle
from experiments.papers.muscle.looks import among, more, spent
from experiments.papers.muscle.points import DLL, MUSCLE, SERIES, WRAND
from experiments.sweeps.statistics import mean_interval
from experiments.sweeps.sweep import Unwatched

SPREAD = 0.3
ROUNDS = 20
SOON = 0.001
"""Hours that end with the first look."""


def invented(monkeypatch, saving):
    """Have runs cost a second each, and come to what a function says MUSCLE saves, with noise."""

    def sweep(runs, observe, kept, workers, watch):
        done = kept.all()
        for run in {run.key: run for run in runs if run.key not in done}.values():
            parameters = run.scenario.parameters
            rng = np.random.default_rng([run.seed, int(run.key[:8], 16)])
            factor = 1.0
            if run.scenario.global_scheduler != MUSCLE:
                factor /= 1 - saving(parameters.queue, run.scenario.global_scheduler)
            rounds = factor * rng.normal(100, 100 * SPREAD, ROUNDS)
            found = {"mcp": rounds, "pb": rounds, "makespan": rounds, "overdue": rounds / 5}
            found |= {"late": np.full(ROUNDS, parameters.queue / 800), "whole": np.ones(1)}
            found["utilization"] = np.full(ROUNDS, 0.5)
            listed = {name: values.tolist() for name, values in found.items()}
            kept.add({run.key: listed}, {run.key: 1.0})
        done = kept.all()
        return {run.key: done[run.key] for run in runs}

    monkeypatch.setattr(muscle, "sweep", sweep)


def clear(queue, policy):
    """Return what is soon decided: far above 0, far from the paper's, and no peak inside."""
    return 0.9 if policy == DLL else 0.85


def close(queue, policy):
    """Return the same, but for a point that nothing decides soon."""
    return 0.0 if (queue, policy) == (40, WRAND) else clear(queue, policy)


def paper(folder, hours, figures=(6,)):
    return muscle.Paper(figures, scale=0.1, cpu_hours=hours).reproduce(folder, Unwatched())


def test_only_what_is_open_gets_more_runs(monkeypatch, tmp_path):
    invented(monkeypatch, close)
    found = paper(tmp_path, SOON)
    (number,) = [each for each in found.claims if "of DLL at N=100" in each.claim.text]
    assert (number.word, number.open_at) == (judging.FAILS, {})
    (first,) = [each for each in found.claims if "in all cases" in each.claim.text]
    assert first.word == judging.OPEN
    costs = {run.key: 1.0 for run in found.outcome.runs}
    assert more(found.outcome, [number], costs, 1e9) == {}
    grown = more(found.outcome, [number, first], costs, 1e9)
    assert grown == dict.fromkeys(set.union(*first.open_at.values()), 2)


@pytest.mark.thorough
def test_it_ends_when_time_is_up(monkeypatch, tmp_path):
    invented(monkeypatch, close)
    found = paper(tmp_path, 0.04)
    assert 0.8 * 144 < found.cpu_s <= 144
    assert found.cpu_s == len(found.outcome.runs)  # a second each
    assert found.look > 2
    text = found.page()
    assert f"In {found.look} looks, runs were added" in text
    assert (
        "metasched reproduce muscle --figure 6 --scale 0.1 --replications 1 --cpu-hours 0.04"
        in (text)
    )
    amounts = found.summary()
    assert (amounts["looks"], amounts["cpu_hours"]) == (found.look, 0.04)


def test_a_page_says_why_no_more_runs_were_added(monkeypatch, tmp_path):
    invented(monkeypatch, close)
    found = paper(tmp_path, SOON)
    spent = found.cpu_s / 3600
    assert spent < 0.1
    told = f"too little was left of 0.001 CPU hours ({spent:.2g} CPU hours were spent)"
    assert f"No runs were added, for {told}." in " ".join(found.method())
    for each in found.claims:
        each.open_at.clear()
    assert "No runs were added, for no verdict was open (" in " ".join(found.method())
    found.look = 3
    told = f"or 0.001 CPU hours were spent ({spent:.2g} were)."
    assert f"until none was {told}" in " ".join(found.method())
    found.outcome._cut[found.outcome.points[0]] = None
    assert f"until none was that more runs might decide {told}" in " ".join(found.method())


@pytest.mark.thorough
def test_it_goes_on_from_its_folder(monkeypatch, tmp_path):
    invented(monkeypatch, close)
    paper(tmp_path / "one", SOON)
    later = paper(tmp_path / "one", 0.03)
    at_once = paper(tmp_path / "two", 0.03)
    assert later.summary() == at_once.summary()
    assert later.page() == at_once.page()


@pytest.mark.thorough
def test_a_verdict_stands_from_the_look_at_which_it_is_reached(monkeypatch, tmp_path):
    invented(monkeypatch, close)
    few, many = (paper(tmp_path, hours) for hours in (SOON, 0.03))
    assert many.look > few.look
    for early, late in zip(few.claims, many.claims, strict=True):
        for reading, verdict in early.verdicts.items():
            if reading not in early.open_at:
                assert late.verdicts[reading][:2] == verdict[:2]


def test_what_has_more_runs_than_the_other_waits_for_it(monkeypatch, tmp_path):
    invented(monkeypatch, close)
    found = muscle.Paper((6,), scale=0.1, replications=2, cpu_hours=SOON)
    found.reproduce(tmp_path, Unwatched())
    (first,) = [each for each in found.claims if "in all cases" in each.claim.text]
    places = set.union(*first.open_at.values())
    ahead = {place for place in places if place[1].policy == MUSCLE}
    found.outcome.replications |= dict.fromkeys(ahead, 5)
    costs = {run.key: 1.0 for run in found.outcome.runs}
    grown = more(found.outcome, [first], costs, 1e9)
    assert grown == dict.fromkeys(places - ahead, 4)
    assert spent(found.outcome, costs) == len(found.outcome.runs)
    assert more(found.outcome, [first], costs, 0.0) == {}


def test_pairs_are_of_the_runs_that_both_have(monkeypatch, tmp_path):
    invented(monkeypatch, clear)
    outcome = paper(tmp_path, SOON).outcome
    point = outcome.points[0]
    (muscles,) = [each for each in SERIES if each.titan == "ours" and each.policy == MUSCLE]
    (lists,) = [each for each in SERIES if each[:2] == ("ours", DLL) and each.start == "list"]
    before = outcome.saving(point, lists)
    twice = np.concatenate([outcome.rounds(point, muscles, "mcp"), np.zeros(ROUNDS)])
    outcome._rounds[point, muscles]["mcp"] = twice
    assert outcome.saving(point, lists) == before


def test_all_looks_together_are_seldom_wrong():
    """Of means that are 0, at most 5 % are found to be above or below by any of seven looks."""
    rng = np.random.default_rng(1)
    sure = wrong = 0
    for _ in range(1000):
        sample = rng.normal(0.0, 1.0, 20 * 2**6)
        looks = [mean_interval(sample[: 20 * 2**look]) for look in range(7)]
        wide = [each.widened(among(look)) for look, each in enumerate(looks, start=1)]
        wrong += any(each.low > 0 or each.high < 0 for each in wide)
        sure += any(each.low > 0 or each.high < 0 for each in looks)
    assert wrong <= 50
    assert sure > 100  # what the wider intervals are for


@pytest.mark.thorough
def test_savings_that_are_printed_are_marked(monkeypatch, tmp_path):
    invented(monkeypatch, clear)
    found = paper(tmp_path / "runs", SOON, (6, 7))
    found.draw(tmp_path)
    assert "as printed" in (tmp_path / "muscle-figure6.svg").read_text(encoding="utf-8")
    assert "as printed" not in (tmp_path / "muscle-figure7.svg").read_text(encoding="utf-8")


def test_makespan_and_utilization_are_told_with_figure_4(monkeypatch, tmp_path):
    invented(monkeypatch, clear)
    text = paper(tmp_path / "four", SOON, (4,)).page()
    assert "## Makespan and utilization" in text
    rows = [line for line in text.splitlines() if line.startswith(("| ours |", "| paper |"))]
    assert len(rows) == 2 * 7
    assert "What MUSCLE pays" not in paper(tmp_path / "six", SOON).page()
    paper(tmp_path / "six", SOON).show("out", Console(width=200, record=True))
