"""What a run leaves behind: its jobs and numbers, for people, for programs and as files."""

from __future__ import annotations

import json
import math
import os
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from experiments.files import JOBS, SUMMARY, replace_both, synced, unwritable
from grid.finished import Records
from grid.kernel.state import VACANT
from grid.metrics import cluster_metrics, job_metrics
from grid.platform import Platform
from grid.records import jobs_table
from grid.refusals import why_rejected
from grid.rounds import Rounds, round_performance, run_performance
from grid.stability import is_stable
from grid.workloads.source import Cleaning
from grid.workloads.synthetic import BatchWorkload
from grid.world import World

if TYPE_CHECKING:
    from agents.model import GridModel
    from experiments.scenario import Scenario

COLUMNS = ["job", "arrival", "size", "start", "finish", "placement"]
"""Columns of ``jobs.csv``."""

REALISED, WHOLE = "realised rounds", "whole run"
"""What CP, MCP and PB are of: in mode `batch` the rounds as they went (means over them); in mode
`open`, where rounds overlap, all of the run as one. So for every scheduler."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Result:
    """A finished or interrupted run.

    Attributes
    ----------
    scenario : Scenario
        What was run.
    seed : int
    wall_s : float
        Time that the run took, s.
    simulated_s : float
        Simulated time at its end, s.
    interrupted : bool
        It was stopped before its end.
    submitted : int
        Jobs that arrived.
    records : Records
        Of each job that left.
    rounds : Rounds or None
        The rounds of mode `batch` as they went, for every scheduler; None in mode `open`.
    planned : Rounds
        The rounds as the local schedulers planned them; none if the global one has no rounds.
    overall : Rounds
        All of the run as one round.
    cleaning : Cleaning
        What was done to the records of the log.
    messages : dict of str to int
        Messages sent, by kind.
    rejections : dict of str to int
        Jobs that can never start, by why.
    messages_lost : int
        Lost on a hop between brokers.
    cluster_messages : list of dict of str to int
        Messages ``sent`` by each cluster's broker, and ``received``: addressed to it.
    restarts : int
        Times that a failure threw a job back.
    thrown_back : int
        Unfinished jobs that a failure threw back.
    cluster_losses : list of dict
        Of each cluster its ``restarts``, to which a co-allocated job adds one on each of its
        clusters, and its ``lost_work``: what such jobs had been held for, processor-seconds.
    extras : mapping
        What the scenario adds to the summary.
    """

    scenario: Scenario
    seed: int
    wall_s: float
    simulated_s: float
    interrupted: bool
    submitted: int
    records: Records
    rounds: Rounds | None
    planned: Rounds
    overall: Rounds
    cleaning: Cleaning
    rejections: dict[str, int]
    messages: dict[str, int]
    messages_lost: int
    cluster_messages: list[dict[str, int]]
    restarts: int
    thrown_back: int
    cluster_losses: list[dict[str, Any]]
    extras: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        model: GridModel,
        scenario: Scenario,
        wall_s: float,
        extras: Mapping[str, Any] | None = None,
    ) -> Result:
        """Return the result of a model as it stands.

        Parameters
        ----------
        model : GridModel
            Run to its end, or interrupted.
        scenario : Scenario
            That the model is of.
        wall_s : float
            Time that the run took, s.
        extras : mapping, optional
            More keys of the summary, such as ``seed_schedules``; values that JSON can hold.
        """
        records, slots = model.world.records(), model.world.jobs
        return cls(
            scenario=scenario,
            seed=model.seed,
            wall_s=wall_s,
            simulated_s=model.now,
            interrupted=model.running,
            submitted=model.world.count("submitted"),
            records=records,
            rounds=_realised(model, records),
            planned=_planned(model),
            overall=run_performance(records, scenario.platform, model.weights, model.idle),
            cleaning=model.workload.cleaning,
            rejections=_rejections(model.world, records),
            messages={
                **model.world.messages,
                "scheduling": model.messages_posted,
                "discovery": model.discovery_messages,
            },
            messages_lost=model.messages_lost,
            cluster_messages=[cluster.messages for cluster in model.clusters],
            restarts=model.world.count("restarted"),
            thrown_back=int(((slots["status"] != VACANT) & (slots["restarts"] > 0)).sum()),
            cluster_losses=[
                {"restarts": cluster.restarts, "lost_work": cluster.lost_work}
                for cluster in model.clusters
            ],
            extras=extras or {},
        )

    @property
    def platform(self) -> Platform:
        """Where it ran."""
        return self.scenario.platform

    @cached_property
    def jobs(self) -> pd.DataFrame:
        """One row for each job that left (`grid.records.jobs_table`)."""
        return jobs_table(self.records, self.platform)

    @property
    def rejected(self) -> list[int]:
        """Numbers of the jobs that can never start, in order of arrival."""
        rows = self.records.rows[np.isnan(self.records["start"])]
        numbers: list[int] = rows[np.lexsort((rows["number"], rows["arrival"]))]["number"].tolist()
        return numbers

    @property
    def counts(self) -> dict[str, int]:
        """Jobs submitted, completed, rejected, and records dropped by cleaning."""
        rejected = int(np.isnan(self.records["start"]).sum())
        completed = len(self.records) - rejected
        counts = self.submitted, completed, rejected, self.cleaning.dropped
        return dict(zip(("submitted", "completed", "rejected", "dropped"), counts, strict=True))

    @property
    def unfinished(self) -> int:
        """Jobs that arrived and neither were completed nor rejected."""
        return self.submitted - len(self.records)

    @property
    def why_unfinished(self) -> str:
        """Why jobs of a run that was not interrupted are unfinished, in words."""
        if not self.thrown_back:
            return "no scheduler started them"
        back = f"{self.thrown_back:,} thrown back by failures"
        never = self.unfinished - self.thrown_back
        return f"{never:,} that no scheduler started, {back}" if never else back

    @property
    def lost_work(self) -> float:
        """What jobs had been held for when failures threw them back, processor-seconds."""
        return math.fsum(losses["lost_work"] for losses in self.cluster_losses)

    @cached_property
    def stable(self) -> bool | None:
        """Whether the queue stopped growing; None if jobs came in rounds, or too few ended."""
        return None if self.rounds is not None or self.unfinished else is_stable(self.records)

    @property
    def basis(self) -> str:
        """What CP, MCP and PB are of: `REALISED` or `WHOLE`."""
        return WHOLE if self.rounds is None else REALISED

    # For programs -------------------------------------------------------------------------------

    def summary(self) -> dict[str, Any]:
        """Return the run in numbers, ready for JSON: None where nothing defines a number.

        Returns
        -------
        dict
            ``scenario``, ``seed``, ``jobs``, ``metrics`` (`grid.metrics.job_metrics`; mcp and pb,
            of what cp_basis says; mcp_overall and pb_overall, of the run as one round; mcp_planned
            and pb_planned, means over the rounds as planned; rounds, how many there were; stable;
            restarts and lost_work; the messages by kind and how many were lost), ``clusters``
            (`grid.metrics.cluster_metrics`; cp, cp_overall and cp_planned; restarts and lost_work;
            the messages that its broker sent and received), ``wall_s``,
            ``simulated_s``, ``rejected_jobs`` (all their numbers), ``rejections`` (how many, by
            why); `Scenario.to_dict` and ``version``, which say what ran; ``cleaning`` if records of
            a log were cleaned, ``unfinished`` and ``interrupted`` if so; the scenario's extras.
        """
        metrics: dict[str, Any] = {}
        clusters = cluster_metrics(self.records, self.platform)
        for of, rounds in (
            ("", self.overall if self.rounds is None else self.rounds),
            ("_overall", self.overall),
            ("_planned", self.planned),
        ):
            means = rounds.means()
            metrics |= {f"mcp{of}": means.mcp, f"pb{of}": means.pb}
            for cluster, cp in zip(clusters, means.cps, strict=True):
                cluster[f"cp{of}"] = cp
        told = zip(clusters, self.cluster_losses, self.cluster_messages, strict=True)
        for cluster, losses, messages in told:
            cluster |= {**losses, "messages": messages}
        summary: dict[str, Any] = {
            "scenario": self.scenario.name,
            "seed": self.seed,
            "jobs": self.counts,
            "metrics": {
                **metrics,
                "cp_basis": self.basis,
                "rounds": self.round_count,
                **job_metrics(self.records, self.platform),
                "stable": self.stable,
                "restarts": self.restarts,
                "lost_work": self.lost_work,
                "messages": self.messages,
                "messages_lost": self.messages_lost,
            },
            "clusters": clusters,
            "wall_s": self.wall_s,
            "simulated_s": self.simulated_s,
            "rejected_jobs": self.rejected,
            "rejections": self.rejections,
            **self.scenario.to_dict(),
            "version": _version(),
        }
        if self.cleaning.records:
            summary["cleaning"] = {"records": self.cleaning.records, "rules": self.cleaning.rules}
        if self.unfinished:
            summary["unfinished"] = self.unfinished
        if self.interrupted:
            summary["interrupted"] = True
        return summary | dict(self.extras)

    @property
    def _listed(self) -> Rounds:
        """The rounds one by one: as they went in mode `batch`, in mode `open` as planned."""
        return self.planned if self.rounds is None else self.rounds

    @property
    def round_count(self) -> int:
        """How many rounds there were; 0 in mode `open` if the global scheduler has none."""
        return len(self._listed.dispatched)

    def rounds_table(self) -> pd.DataFrame:
        """Return one row for each round: as it went in mode `batch`, in mode `open` as planned.

        Columns: round (from 1), dispatched, mcp, pb (s), and of each cluster ``cp NAME`` (s) and
        ``jobs NAME``. A CP that no local scheduler told is NaN.
        """
        rounds = self._listed
        table = {
            "round": np.arange(1, len(rounds.dispatched) + 1),
            "dispatched": rounds.dispatched,
            "mcp": rounds.mcp(),
            "pb": rounds.pb(),
        }
        for index, name in enumerate(self.platform.names):
            table[f"cp {name}"] = rounds.cps[:, index]
            table[f"jobs {name}"] = rounds.jobs[:, index]
        return pd.DataFrame(table)

    def write_rounds(self, path: str | os.PathLike[str]) -> None:
        """Write `rounds_table` as CSV: all of it, or nothing is changed.

        Parameters
        ----------
        path : path
            Its folder is made if it is not there; a file there is replaced.

        Raises
        ------
        GridError
            If the file cannot be written.
        """
        path = Path(path)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(
                prefix=".metasched-", dir=path.parent, ignore_cleanup_errors=True
            ) as scratch:
                new = Path(scratch) / "rounds.csv"
                with synced(new) as file:
                    self.rounds_table().to_csv(file, index=False, lineterminator="\n")
                new.replace(path)
        except OSError as error:
            raise unwritable(path, "rounds", "file", error) from None

    def write(self, folder: str | os.PathLike[str]) -> None:
        """Write ``summary.json`` and ``jobs.csv``: both, or nothing is changed.

        Parameters
        ----------
        folder : path
            Made if it is not there; results in it are replaced once the new ones are complete.

        Raises
        ------
        GridError
            If the files cannot be written.
        """
        folder = Path(folder)
        summary = json.dumps(self.summary(), indent=2, allow_nan=False)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(
                prefix=".metasched-", dir=folder, ignore_cleanup_errors=True
            ) as scratch:
                new = Path(scratch)
                with synced(new / JOBS) as file:
                    self.jobs.to_csv(file, columns=COLUMNS, index=False, lineterminator="\n")
                with synced(new / SUMMARY) as file:
                    file.write(summary + "\n")
                replace_both(new, folder)
        except OSError as error:
            raise unwritable(folder, "results", "folder", error) from None


def _realised(model: GridModel, records: Records) -> Rounds | None:
    """Return the complete rounds of mode `batch`, None in mode `open`."""
    if not isinstance(model.workload, BatchWorkload):
        return None
    slots = model.world.slots
    running = slots["arrival"][slots["status"] != VACANT]
    complete = records[~np.isin(records["arrival"], running)]
    return round_performance(complete, model.world.platform, model.weights, model.idle)


def _planned(model: GridModel) -> Rounds:
    shape = len(model.rounds), len(model.clusters)
    return Rounds(
        np.array([each.dispatched for each in model.rounds]),
        np.array([each.jobs for each in model.rounds], np.int64).reshape(shape),
        np.array([each.cps for each in model.rounds], np.float64).reshape(shape),
    )


def _rejections(world: World, records: Records) -> dict[str, int]:
    rows = records.rows[np.isnan(records["start"])]
    return dict(Counter(why_rejected(world, row) for row in rows))


def _version() -> str | None:
    """Return the version of the installed package; None if it runs without being installed."""
    try:
        return metadata.version("metasched")
    except metadata.PackageNotFoundError:
        return None
