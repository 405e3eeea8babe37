"""Every global scheduler over every local one, under each condition, in tiny grids."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from agents.registry import GLOBAL, LOCAL
from experiments.checks.verify import verify
from experiments.run.running import run
from experiments.scenario.scenario import Scenario
from grid.errors import GridError
from grid.platform.changes import Change
from grid.platform.multicluster import Platform

PLATFORMS = (24, 6, 1), (8, 4), (6,), (16, 3, 16, 2, 1)
"""Sizes of clusters; the first ones where a combination is alone with its condition."""
RATES, LATENCIES = (1.0, 1.3, 0.7, 1.0, 2.0), (0.1, 0.2, 0.4, 0.0, 1.5)
JOBS = 40
FEW = 12
"""Jobs under a global scheduler that solves a program for each round."""

MODES = ("open", "batch")
BASE: dict[str, Any] = {
    "load": 0.8,
    "queue": 15.0,
    "interarrival": 12.0,
    "computation_fraction": 0.7,
    "bsbw": 40.0,
    "population": 8,
    "patience": 8,
    "round_jobs": 6,
    "round_time": 0.02,
}

CONDITIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "latency and loss": {"latency": 0.7, "loss": 0.2, "advertise": "both", "period": 20.0},
    "failures": {"mean_up_time": 3000.0, "mean_down_time": 25.0},
    "drain": {},
    "local submission": {"local_share": 1.0},
    "wrong predictions": {"prediction_error": 0.6},
    "wide jobs": {"coallocate": True},
}

CHANGES: dict[str, tuple[tuple[str, str, float, float, float], ...]] = {
    "failures": (
        ("C2", "fail", 50.0, 100.0, 1.0),
        ("C1", "fail", 120.0, 150.0, 0.8),
        ("C1", "fail", 200.0, 215.0, 1.0),
        ("C3", "fail", 95.0, 260.0, 1.0),
    ),
    "drain": (
        ("C1", "drain", 40.0, 130.0, 0.9),
        ("C2", "drain", 150.0, 190.0, 1.0),
        ("C3", "join", 90.0, math.inf, 1.0),
    ),
}
"""Cluster, what, from when, until when (s), and which share of the processors."""


class Combination(NamedTuple):
    """What is run; of seeds above 0 other conditions and choices hold beside the one named."""

    global_: str
    local: str
    condition: str
    mode: str
    seed: int

    def __str__(self) -> str:
        return f"{self.global_} over {self.local}, {self.condition}, {self.mode}, seed {self.seed}"


class Outcome(NamedTuple):
    """How a combination ended: it ran, was refused before it began, or failed; and in words."""

    kind: str
    words: str = ""


OF_ANY_JOBS = [name for name in LOCAL if name != "recorded"]
"""Local schedulers; recorded goes by what logs tell."""
AS_THEY_CAME = sorted(GLOBAL, key=lambda name: name == "greenest")
"""Global schedulers, newer ones last: which combinations are sampled goes by their places."""


def combinations(seeds: range) -> Iterator[Combination]:
    """Yield them all."""
    for each in itertools.product(seeds, CONDITIONS, MODES, GLOBAL, OF_ANY_JOBS):
        seed, condition, mode, global_, local = each
        yield Combination(global_, local, condition, mode, seed)


def sample() -> list[Combination]:
    """Return some, among which any two of scheduler, condition and mode come together."""
    found = []
    for (i, global_), (j, local) in itertools.product(
        enumerate(AS_THEY_CAME), enumerate(OF_ANY_JOBS)
    ):
        # The nine local schedulers meet a global one under the seven conditions in turn.
        condition = [*CONDITIONS][(i + j) % len(CONDITIONS)]
        mode = MODES[(i + j // 2 + (i + j) // len(CONDITIONS)) % len(MODES)]
        found.append(Combination(global_, local, condition, mode, (i // 2 + j) % 3))
    return found


def scenario_of(each: Combination) -> Scenario:
    """Return the scenario of a combination."""
    draw = random.Random(repr(each))
    held, sizes = {each.condition}, PLATFORMS[0]
    parameters = BASE | {"mode": each.mode, "jobs": FEW if each.global_ == "oas" else JOBS}
    if each.seed > 0:
        held |= {name for name in CONDITIONS if draw.random() < 0.25}
        sizes = draw.choice(PLATFORMS)
        shares = tuple(
            share for share in ((), (), (60, 40), (50, 25, 25)) if len(share) <= len(sizes)
        )
        parameters |= {
            "local_share": draw.choice((0.0, 0.5, 1.0)),
            "selection": draw.choice(("fpfs", "fcfs", "easy", "conservative")),
            "max_jumps": draw.choice(("any", 3)),
            "local_max_jumps": draw.choice(("any", 3)),
            "composition": draw.choice(shares),
            "request": draw.choice(("unordered", "ordered", "total")),
            "coding": draw.choice(("order", "two-dimensional")),
            "knowledge": draw.choice(("brokers", "truth")),
            "round_threshold": draw.choice(("auto", 0.0, 20.0)),
            "aging": draw.choice((0.0, 30.0)),
            "idle": draw.choice(("mean", "total")),
            "staging_time": draw.choice((0.0, 5.0)),
            "message_rate": draw.choice((0.0, 1.0)),
        }
        if each.mode == "open" and draw.random() < 0.2:
            parameters |= {"mode": "per-cluster", "jobs_per_cluster": parameters["jobs"] // 3}
        if parameters["coding"] == "two-dimensional" and each.seed == 3:
            parameters["execution"] = "processors"
    wide = "wide jobs" in held
    parameters["max_size"] = max(sum(sizes) - 1, 1) if wide else sorted(sizes)[-2:][0]
    if parameters.get("composition"):
        parameters["max_size"] = min(parameters["max_size"], max(sizes))
    for name in CONDITIONS:
        if name in held:
            parameters |= CONDITIONS[name]
    far = LATENCIES[: len(sizes)] if "latency and loss" in held else 0.0
    star = Platform.star(sizes, RATES[: len(sizes)], 100.0, far)
    changes = tuple(
        Change(cluster, what, at, until, math.ceil(share * size))
        for name in CHANGES
        if name in held
        for cluster, what, at, until, share in CHANGES[name]
        for size in (dict(zip(star.names, sizes, strict=True)).get(cluster, 0),)
        if size > 0
    )
    return Scenario("matrix", replace(star, changes=changes), parameters, each.global_, each.local)


def outcome_of(each: Combination, folder: Any) -> Outcome:
    """Run a combination, and check what comes of it."""
    try:
        scenario = scenario_of(each)
        scenario.model(each.seed)
    except GridError as error:
        words = str(error)
        return Outcome("refused" if "\n" not in words else "failed", words)
    try:
        result = run(scenario, each.seed, out=folder)
    except Exception as error:
        return Outcome("failed", f"{type(error).__name__}: {error}")
    if result.unfinished:
        return Outcome("failed", f"{result.unfinished} unfinished: {result.why_unfinished}")
    counts = result.counts
    if counts["submitted"] != counts["completed"] + counts["rejected"]:
        return Outcome("failed", f"not all are accounted for: {counts}")
    wrong = [f"{found.check}: {found.detail}" for found in verify(folder) if not found.holds]
    return Outcome("failed", "; ".join(wrong)) if wrong else Outcome("ran", str(counts))
