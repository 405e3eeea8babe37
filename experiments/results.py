"""What a run leaves behind: its jobs and numbers, for people, for programs and as files."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np
import numpy.typing as npt
import pandas as pd

from grid.errors import GridError
from grid.finished import Records
from grid.kernel.state import VACANT
from grid.metrics import cluster_metrics, job_metrics
from grid.platform import Platform
from grid.records import jobs_table
from grid.rounds import Rounds, round_performance, run_performance
from grid.workloads.source import Cleaning
from grid.workloads.synthetic import BatchWorkload

if TYPE_CHECKING:
    from agents.model import GridModel

SUMMARY, JOBS = "summary.json", "jobs.csv"
"""Files of a result."""

REJECTED_LISTED = 1000
"""Rejected jobs that a summary lists at most; their count has no bound."""

COLUMNS = ["job", "arrival", "size", "start", "finish", "placement"]
"""Columns of ``jobs.csv``."""

REALISED, PLANNED, WHOLE = "realised rounds", "planned rounds", "whole run"
"""What CP, MCP and PB are taken of: in mode `batch` the rounds as they went; in mode `open`, where
rounds overlap, the rounds as local schedulers planned them; without rounds, all of the run as one.
"""


@dataclass(frozen=True, eq=False, kw_only=True)
class Result:
    """A finished or interrupted run.

    Attributes
    ----------
    scenario : str
        Its name.
    seed : int
    wall_s : float
        Time that the run took, s.
    simulated_s : float
        Simulated time at its end, s.
    interrupted : bool
        It was stopped before its end.
    submitted : int
        Jobs that arrived.
    platform : Platform
    records : Records
        Of each job that left.
    rounds : Rounds
        The rounds that CP, MCP and PB are taken of.
    basis : str
        Which these are: `REALISED`, `PLANNED` or `WHOLE`.
    cleaning : Cleaning
        What was done to the records of the log.
    messages : dict of str to int
        Messages sent, by kind.
    extras : mapping
        What the scenario adds to the summary.
    """

    scenario: str
    seed: int
    wall_s: float
    simulated_s: float
    interrupted: bool
    submitted: int
    platform: Platform
    records: Records
    rounds: Rounds
    basis: str
    cleaning: Cleaning
    messages: dict[str, int]
    extras: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls, model: GridModel, scenario: str, wall_s: float, extras: Mapping[str, Any] | None = None
    ) -> Result:
        """Return the result of a model as it stands.

        Parameters
        ----------
        model : GridModel
            Run to its end, or interrupted.
        scenario : str
            Name of the scenario.
        wall_s : float
            Time that the run took, s.
        extras : mapping, optional
            More keys of the summary, such as ``seed_schedules``; values that JSON can hold.
        """
        records = model.world.records()
        rounds, basis = _performance(model, records)
        return cls(
            scenario=scenario,
            seed=model.seed,
            wall_s=wall_s,
            simulated_s=model.now,
            interrupted=model.running,
            submitted=model.world.count("submitted"),
            platform=model.world.platform,
            records=records,
            rounds=rounds,
            basis=basis,
            cleaning=model.workload.cleaning,
            messages={**model.world.messages, "scheduling": model.messages_posted},
            extras=extras or {},
        )

    @cached_property
    def jobs(self) -> pd.DataFrame:
        """One row for each job that left (`grid.records.jobs_table`)."""
        return jobs_table(self.records, self.platform)

    @property
    def rejected(self) -> list[int]:
        """Numbers of the jobs that no cluster can hold, in order of arrival."""
        numbers: list[int] = self.jobs["job"][self.jobs["start"].isna()].tolist()
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

    # For programs -------------------------------------------------------------------------------

    def summary(self) -> dict[str, Any]:
        """Return the run in numbers, ready for JSON: None where nothing defines a number.

        Returns
        -------
        dict
            ``scenario``, ``seed``, ``jobs``, ``metrics`` (`grid.metrics.job_metrics`, and mcp, pb
            and cp_basis, the number of rounds, the messages by kind), ``clusters``
            (`grid.metrics.cluster_metrics`, and cp), ``wall_s``, ``simulated_s``,
            ``rejected_jobs`` (at most `REJECTED_LISTED`); ``cleaning`` if records of a log were
            cleaned, ``unfinished`` and ``interrupted`` if so; and the scenario's extras. MCP, PB
            and CP are means over the rounds whose CP is known of every cluster.
        """
        mcp, pb = self.rounds.mcp(), self.rounds.pb()
        known = ~np.isnan(mcp)
        cps = self.rounds.cps[known]
        clusters = cluster_metrics(self.records, self.platform)
        for index, cluster in enumerate(clusters):
            cluster["cp"] = _mean(cps[:, index])
        summary: dict[str, Any] = {
            "scenario": self.scenario,
            "seed": self.seed,
            "jobs": self.counts,
            "metrics": {
                "mcp": _mean(mcp[known]),
                "pb": _mean(pb[known]),
                "cp_basis": self.basis,
                "rounds": int(known.sum()),
                **job_metrics(self.records, self.platform),
                "messages": self.messages,
            },
            "clusters": clusters,
            "wall_s": self.wall_s,
            "simulated_s": self.simulated_s,
            "rejected_jobs": self.rejected[:REJECTED_LISTED],
        }
        if self.cleaning.records:
            summary["cleaning"] = {"records": self.cleaning.records, "rules": self.cleaning.rules}
        if self.unfinished:
            summary["unfinished"] = self.unfinished
        if self.interrupted:
            summary["interrupted"] = True
        return summary | dict(self.extras)

    def rounds_table(self) -> pd.DataFrame:
        """Return one row for each round, with NaN where a CP is not known.

        Columns: round (from 1), dispatched, mcp, pb (s), and of each cluster ``cp NAME`` (s) and
        ``jobs NAME``.
        """
        table = {
            "round": np.arange(1, len(self.rounds.dispatched) + 1),
            "dispatched": self.rounds.dispatched,
            "mcp": self.rounds.mcp(),
            "pb": self.rounds.pb(),
        }
        for index, name in enumerate(self.platform.names):
            table[f"cp {name}"] = self.rounds.cps[:, index]
            table[f"jobs {name}"] = self.rounds.jobs[:, index]
        return pd.DataFrame(table)

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
                with _synced(new / JOBS) as file:
                    self.jobs.to_csv(file, columns=COLUMNS, index=False, lineterminator="\n")
                with _synced(new / SUMMARY) as file:
                    file.write(summary + "\n")
                _replace(new, folder)
        except OSError as error:
            raise GridError(
                f"{folder}: cannot write results: {error.strerror or error}; "
                "accepted: a folder that can be written to"
            ) from None


def _performance(model: GridModel, records: Records) -> tuple[Rounds, str]:
    """Return the rounds that a model's performance is taken of, and which these are."""
    given = model.world.platform, model.weights, model.idle
    if isinstance(model.workload, BatchWorkload):
        slots = model.world.slots
        running = slots["arrival"][slots["status"] != VACANT]
        return round_performance(records[~np.isin(records["arrival"], running)], *given), REALISED
    if model.rounds:
        planned = Rounds(
            np.array([each.dispatched for each in model.rounds]),
            np.array([each.jobs for each in model.rounds]),
            np.array([each.cps for each in model.rounds]),
        )
        if not np.isnan(planned.mcp()).all():
            return planned, PLANNED
    return run_performance(records, *given), WHOLE


def _mean(values: npt.NDArray[np.float64]) -> float | None:
    return float(values.mean()) if len(values) else None


def check_folder(folder: str | os.PathLike[str]) -> None:
    """Raise `GridError` if results cannot be written to a folder, before any work is done."""
    path = Path(folder)
    while not path.exists():
        path = path.parent
    if not path.is_dir() or not os.access(path, os.W_OK):
        raise GridError(f"{folder}: accepted: a folder that can be written to, or made")


@contextmanager
def _synced(path: Path) -> Iterator[TextIO]:
    """Open a new file, and have all of it on the disk when it is closed."""
    with path.open("x", encoding="utf-8", newline="") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


def _replace(new: Path, folder: Path) -> None:
    """Put the files of `new` into a folder: both, or, whatever goes wrong, neither."""
    standing = [name for name in (JOBS, SUMMARY) if (folder / name).exists()]
    old = new / "old"
    old.mkdir()
    for name in standing:
        shutil.copy2(folder / name, old)
    try:
        for name in (JOBS, SUMMARY):
            (new / name).replace(folder / name)
    except BaseException:
        for name in (JOBS, SUMMARY):
            if name in standing:
                (old / name).replace(folder / name)
            else:
                (folder / name).unlink(missing_ok=True)
        raise
