"""Independent replications of a run: means over runs of different seeds, and how sure they are."""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.run.files import REPLICATIONS, RESULT
from experiments.run.own_metrics import FAILED
from experiments.run.totals import deadlines_from
from experiments.run.writing import ours
from experiments.scenario.platform import on
from experiments.scenario.scenario import Scenario
from experiments.show.display import Shown
from experiments.show.labels import (
    MEASURED,
    TIMES_OF_RESTARTED,
    WITHIN,
    drawn_words,
    is_optional,
    label,
)
from experiments.show.numbers import counted
from experiments.studies.outputs import new_files, write_csv
from experiments.sweeps.executors import unseen_steps
from experiments.sweeps.inputs import digest_of_files
from experiments.sweeps.observations import (
    DREW,
    LEFT,
    NOT_RANDOM,
    OF_PB,
    PB_REPEATS_MCP,
    SAME_IN_ALL,
    is_reason,
    observe_run,
    pb_repeats_mcp,
    seeds_matter,
    why_left,
    words_on,
)
from experiments.sweeps.run_store import Kept, code_digest
from experiments.sweeps.statistics import Interval, mean_interval
from experiments.sweeps.sweep import (
    ENOUGH,
    Observation,
    Run,
    Watch,
    check_importable,
    observed,
    sweep,
)
from grid.workloads.source import Cleaning
from grid.workloads.table import NOTHING, Stated, stated_by

COUNTS = ("seed", "completed", "rejected", "unfinished", "stable")
"""What runs have beside their metrics."""
PROBE = 20
"""The time that runs take is measured by one of so many times fewer jobs."""
SEEDS = 10
"""Seeds of runs that failed that are told at most."""


@dataclass(frozen=True, repr=False)
class Replications(Shown):
    """Runs of a scenario with different seeds.

    Attributes
    ----------
    scenario : Scenario
    seed : int
        Of which those of the runs are spawned.
    runs : DataFrame
        A row for each: its ``seed``, the jobs that it ``completed``, ``rejected`` and left
        ``unfinished``, its metrics, NaN where nothing defines a number, and whether it is
        ``stable`` (1, 0, or NaN if nothing tells).
    failed_metrics : mapping of str to list of int
        The seeds of runs in which a metric of the user's own failed, by ``module:function``.
    stated : Stated
        What the jobs of a log say.
    all_left_at : float
        When the last job of all runs ended, s; infinity if that is not known.
    why_unfinished : str
        Why runs left jobs, if they did, in words.
    drew : bool
        Random numbers were drawn for some run.
    cleaning : Cleaning
        What was done to the records of the log.
    alone : tuple of str
        The PBs that say no more than their MCP in any run.
    said : tuple of str
        What is to be said of some of the runs (`words_on`).
    """

    scenario: Scenario
    seed: int
    runs: pd.DataFrame
    failed_metrics: Mapping[str, list[int]] = field(default_factory=dict)
    stated: Stated = NOTHING
    all_left_at: float = math.inf
    why_unfinished: str = ""
    drew: bool = False
    cleaning: Cleaning = field(default_factory=Cleaning)
    alone: tuple[str, ...] = ()
    said: tuple[str, ...] = ()

    @property
    def unstable(self) -> int:
        """Runs whose queue grew (`grid.metrics.stability`)."""
        return int((self.runs["stable"] == 0).sum())

    @property
    def unfinished(self) -> int:
        """Jobs that runs left unfinished."""
        return int(self.runs["unfinished"].sum())

    @property
    def rejected(self) -> int:
        """Jobs that runs rejected."""
        return int(self.runs["rejected"].sum())

    @property
    def all_rejected(self) -> bool:
        """Whether there were jobs, and runs rejected all of them."""
        return bool(self.rejected and not self.runs[["completed", "unfinished"]].any(axis=None))

    @property
    def random(self) -> bool:
        """Whether runs differ in more than their seeds, as far as is known."""
        whole = self.scenario.workload is not None and len(self.runs) > 1
        return not whole or self.drew or seeds_matter(self.runs)

    @property
    def having(self) -> dict[str, int]:
        """How many runs have a number of each metric."""
        return {str(name): int(of) for name, of in self._metrics.notna().sum().items()}

    @property
    def means(self) -> dict[str, Interval | None]:
        """The mean of each metric with its 95 % confidence interval, of the runs that have it.

        None if no run has such a number. Where queues of runs grew, they are means of runs of this
        length.
        """
        return {
            str(name): None if values.isna().all() else mean_interval(values.dropna())
            for name, values in self._metrics.items()
        }

    @property
    def _metrics(self) -> pd.DataFrame:
        return self.runs.drop(columns=[*COUNTS])

    @property
    def shown(self) -> dict[str, Interval]:
        """The means that people are shown, those that matter most first."""
        means = {name: mean for name, mean in self.means.items() if mean is not None}
        names = [name for name in MEASURED if name in means]
        return {
            name: means[name]
            for name in (*names, *(each for each in means if each not in names))
            if name != "drawn_deadlines"
            and (
                not name.endswith("_overall") or means[name] != means.get(name[: -len("_overall")])
            )
            and (means[name].mean or means[name].half_width or not is_optional(name))
            and (name != "prediction_accuracy" or means[name].mean < 1)
        }

    @property
    def remarks(self) -> list[str]:
        """What the means do not say, for people: a line each."""
        lines, total, own = [], len(self.runs), self.scenario.own_metrics
        lacking: dict[int, list[str]] = {}
        for name in dict.fromkeys([*self.shown, *(each.rpartition(":")[2] for each in own)]):
            if self.having[name] < total:
                lacking.setdefault(total - self.having[name], []).append(label(name))
        for runs, names in lacking.items():
            of = "" if runs == total else f": {'its mean is' if len(names) == 1 else 'means are'}"
            of += " of the others" if of else ""
            lines.append(f"{', '.join(names)}: none in {runs} of {counted(total, 'run')}{of}")
        if self.rejected:
            lines.append(f"{counted(self.rejected, 'job')} rejected in all runs together")
        if "deadlines_met" in self.shown and (drawn := drawn_words(self.deadlines)):
            lines.append(drawn)
        lines += [f"{label(name)} {PB_REPEATS_MCP}" for name in self.alone if name in self.shown]
        if "restarts" in self.shown and self.shown["restarts"].mean:
            lines.append(TIMES_OF_RESTARTED)
        lines += self.said
        warmup = self.scenario.to_dict()["parameters"].get("warmup")
        if warmup and not any("the warm-up of" in line for line in self.said):
            first = f"the first {counted(warmup, 'job')}"
            lines.append(f"means: without {first} of each run, its warm-up")
        of_run = [mean for name, mean in self.shown.items() if WITHIN not in name]
        if self.random and any(mean.half_width == 0.0 for mean in of_run):
            lines.append(SAME_IN_ALL)
        if self.cleaning.rules:
            lines.append(f"cleaning of {counted(self.cleaning.records, 'record')}:")
        lines += [f"  {count:,}: {rule}" for rule, count in self.cleaning.rules.items()]
        return lines if self.random else [*lines, NOT_RANDOM]

    @property
    def failures(self) -> list[str]:
        """In which runs metrics of the user's own failed: a line each."""
        lines = []
        for name, seeds in self.failed_metrics.items():
            named = ", ".join(map(str, seeds[:SEEDS])) + (", ..." if len(seeds) > SEEDS else "")
            failed = f"{len(seeds)} of {counted(len(self.runs), 'run')} (--seed {named})"
            lines.append(f"metric {name}: failed in {failed}; it is null there")
        return lines

    @property
    def deadlines(self) -> str | None:
        """Where deadlines are from (`Result.deadlines`)."""
        return deadlines_from(self.runs.get("drawn_deadlines", pd.Series(dtype=float)).mean())

    def summary(self) -> dict[str, Any]:
        """Return the replications in numbers, ready for JSON: None where nothing defines one.

        Returns
        -------
        dict
            ``scenario``, ``seed``, ``replications`` and their ``seeds``; ``unstable``, of how
            many of them the queue grew (None if nothing tells of any); ``deadlines``
            (`Result.deadlines`); ``metrics``, of each its ``mean`` and ``ci95``, the half-width of
            the 95 % confidence interval, and ``n`` if only so many of the runs have such a number;
            but ``stable`` and ``saturated`` as in a run's summary, and what is in a table there by
            its path, as ``messages/order``;
            `Scenario.to_dict`; ``rejected`` and ``unfinished`` if jobs were, of all runs.
        """
        stable = self.runs["stable"]
        verdict = None if stable.isna().any() and not self.unstable else not self.unstable
        metrics: dict[str, Any] = {
            name: {"mean": None, "ci95": None}
            if interval is None
            else {"mean": interval.mean, "ci95": interval.half_width}
            for name, interval in self.means.items()
        }
        for name, having in self.having.items():
            if 0 < having < len(self.runs):
                metrics[name]["n"] = having
        metrics["stable"] = verdict
        if "response_total" in metrics:  # queues were visited
            metrics["saturated"] = None if verdict is None else not verdict
        summary: dict[str, Any] = {
            "scenario": self.scenario.name,
            "seed": self.seed,
            "replications": len(self.runs),
            "seeds": self.runs["seed"].tolist(),
            "unstable": None if stable.isna().all() else self.unstable,
            "deadlines": self.deadlines,
            "metrics": metrics,
            **self.scenario.to_dict(),
        }
        counts = {"rejected": self.rejected, "unfinished": self.unfinished}
        return summary | {name: count for name, count in counts.items() if count}


def replicate(
    scenario: Scenario,
    seed: int,
    replications: int,
    workers: int,
    watch: Watch,
    folder: str | os.PathLike[str] | None = None,
) -> Replications:
    """Run a scenario several times, each with a seed of its own.

    Parameters
    ----------
    scenario : Scenario
    seed : int
        Of which those of the runs are spawned: more replications begin with the same runs.
    replications : int
    workers : int
        Processes; they change nothing but the time.
    watch : Watch
        Is told how it goes on.
    folder : path, optional
        Where finished runs are kept, and taken up again.

    Raises
    ------
    GridError
        For a scenario that cannot be run, or a folder that holds other runs.
    """
    model = scenario.model(seed)  # what it refuses, it refuses before any process is started
    check_importable(scenario, "replications")
    seeds = np.random.SeedSequence(seed).generate_state(replications).tolist()
    files = digest_of_files(scenario)
    runs = [Run(scenario, each, (), _probe(scenario), files=files) for each in seeds]
    with ExitStack() as stack:
        lasting = folder is not None
        if folder is None:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="metasched-"))
        kept = Kept(Path(folder), {"command": "run", "code digest": code_digest()}, lasting)
        work = partial(observed, observe=partial(observe_run, scenario), of=unseen_steps)
        found = sweep(runs, work, kept, workers, watch)
    failed: dict[str, list[int]] = {}
    for run in runs:
        for name in [name for name in found[run.key] if name.startswith(FAILED)]:
            failed.setdefault(name.removeprefix(FAILED), []).append(run.seed)
    table = pd.DataFrame([_row(run.seed, found[run.key]) for run in runs])
    told = pd.DataFrame({key: of[0] for key, of in each.items()} for each in found.values())
    left = np.array([found[run.key].get(LEFT, [math.nan]) for run in runs]).max()
    return Replications(
        on(scenario, model.world.platform),  # which a log may have told
        seed,
        table,
        failed,
        stated_by(model.workload),
        math.inf if math.isnan(left) else float(left),
        why_left(told),
        any(each.get(DREW, [0.0])[0] for each in found.values()),
        model.workload.cleaning,
        tuple(name for name in OF_PB if pb_repeats_mcp(told, name)),
        tuple(words_on(told)),
    )


def _row(seed: int, found: Observation) -> dict[str, float]:
    return {"seed": seed} | {
        name: values[0]
        for name, values in found.items()
        if name != LEFT and not is_reason(name) and not name.startswith(FAILED)
    }


def write(replications: Replications, text: str, folder: Path) -> None:
    """Write the files of replications, in the place of those of one run.

    Parameters
    ----------
    replications : Replications
    text : str
        The summary, in JSON.
    folder : Path

    Raises
    ------
    GridError
        If they cannot be written.
    """
    with new_files(folder, ours(folder, RESULT)) as new:
        (new / REPLICATIONS[0]).write_text(text + "\n", encoding="utf-8")
        write_csv(replications.runs, new / REPLICATIONS[1])


def _probe(scenario: Scenario) -> Scenario:
    """Return a short run; of a log there is none."""
    parameters = scenario.parameters
    if scenario.workload is not None:
        return scenario
    name = "jobs_per_cluster" if parameters.mode == "per-cluster" else "jobs"
    jobs = getattr(parameters, name)
    return scenario.changed([f"{name}={min(jobs, max(ENOUGH, jobs // PROBE))}", "warmup=0"])
