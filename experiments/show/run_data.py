"""A run that is to be shown, from its folder or from memory."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from experiments.run.files import JOBS
from experiments.run.result_files import (
    ResultFiles,
    Row,
    measured_links,
    read_electricity,
    read_timeline,
)
from experiments.run.setbacks import setbacks
from experiments.run.summary import summary_of
from experiments.run.whose import WHOSE
from experiments.scenario.unread import STAGING
from experiments.show.gantt_layout import lay
from experiments.show.labels import schedulers
from grid.errors import GridError, blaming
from grid.kernel.statistics import SLOWDOWN_BOUND
from grid.logs.calendar import read, zone_of
from grid.metrics.fairness import wait_ginis, work_ginis
from grid.platform.multicluster import Platform
from grid.world.finished import in_order
from grid.world.records import Parts
from grid.world.records import parts as parts_of

if TYPE_CHECKING:
    from experiments.run.totals import RunTotals

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

RATES = {
    "energy_kwh": "Power, kW",
    "cost": "Cost of electricity an hour",
    "co2_kg": "CO2 of electricity, kg an hour",
}
"""Headings of what electricity comes to an hour."""
MOST_GROUPS, MOST_CURVES = 20, 6
"""Groups of jobs in a table, and in a drawing."""
STRETCHES = 400
"""Of a run, at whose ends Gini coefficients are told."""
LAST_YEAR, YEAR = 9000, 31_556_952.0
"""Dates are told up to that year; a year, s."""


class Chart(NamedTuple):
    """Blocks of a Gantt chart, each of shape (blocks,): neighbouring processors of a cluster."""

    job: Integers  # row of the job
    cluster: Integers
    first: Integers  # lowest processor
    rows: Integers  # how many processors


@dataclass(frozen=True, eq=False)
class Ran:
    """A run that is to be shown.

    Attributes
    ----------
    name : str
        What tells it from others: its folder, or its scenario.
    summary : dict
        `Result.summary`.
    platform : Platform
    jobs : DataFrame
        A row for each job that left: job (number), arrival (s), size (processors), start and finish
        (s, NaN if it was rejected), and columns of `experiments.run.whose`, texts.
    parts : Parts
        Of those jobs on clusters.
    timeline : DataFrame
        `Result.timeline`.
    electricity : DataFrame
        `Result.electricity`.
    apart : str
        What it was given that others of its policy, beside which it is shown, were not.
    """

    name: str
    summary: dict[str, Any]
    platform: Platform
    jobs: pd.DataFrame
    parts: Parts
    timeline: pd.DataFrame
    electricity: pd.DataFrame
    apart: str = ""

    @classmethod
    def read(cls, folder: str | os.PathLike[str]) -> Ran:
        """Read a folder that ``metasched run --out`` wrote.

        Raises
        ------
        GridError
            If a file is missing, cut off, or none that a run writes.
        """
        files = ResultFiles.read(folder)
        rows, where = files.rows, Path(folder) / JOBS
        left = files.summary["jobs"]["completed"] + files.summary["jobs"]["rejected"]
        if left != len(rows):
            raise GridError(f"{where}: {len(rows)} jobs; accepted: {left}, as the summary has it")
        whose = rows[0].whose if rows else ()
        jobs = pd.DataFrame(
            {
                "job": np.array([row.job for row in rows], np.int64),
                "arrival": np.array([row.arrival for row in rows], np.float64),
                "size": np.array([row.size for row in rows], np.int64),
                "start": np.array([row.start for row in rows], np.float64),
                "finish": np.array([row.finish for row in rows], np.float64),
                **{name: [row.whose[name] for row in rows] for name in whose},
            }
        )
        parts = _parts(rows, files.platform, where)
        over_time = read_timeline(files), read_electricity(files)
        name = Path(folder).resolve().name
        ran = cls(name, files.summary, files.platform, jobs, parts, *over_time)
        try:
            _ = ran.chart
        except GridError as error:
            raise GridError(f"{where}: {error}; accepted: a file that a run wrote") from None
        return ran

    @classmethod
    def of(cls, result: RunTotals) -> Ran:
        """Return a run that kept its jobs.

        Raises
        ------
        GridError
            If it did not.
        """
        whose = result.whose.columns
        jobs = result.jobs[["job", "arrival", "size", "start", "finish", *whose]]
        assert result.records is not None
        records = result.records
        parts = parts_of(records[in_order(records)])
        name = result.scenario.name
        over_time = result.timeline, result.electricity
        return cls(name, summary_of(result), result.platform, jobs, parts, *over_time)

    @cached_property
    def chart(self) -> Chart:
        """The blocks of its Gantt chart, by cluster and start.

        Raises
        ------
        GridError
            If jobs cannot have run as is told.
        """
        start, finish = (self.jobs[name].to_numpy(np.float64) for name in ("start", "finish"))
        backwards = np.flatnonzero(~(finish[self.parts.job] >= start[self.parts.job]))
        if len(backwards):
            job = self.jobs["job"].iloc[self.parts.job[backwards[0]]]
            raise GridError(f"job {job}: it finishes before it starts")
        found = []
        for index, cluster in enumerate(self.platform.clusters):
            here = np.flatnonzero(self.parts.cluster == index)
            job = self.parts.job[here]
            with blaming(f"cluster {cluster.name}"):
                blocks = lay(start[job], finish[job], self.parts.processors[here], cluster.size)
            of = np.full(len(blocks.part), index)
            found.append(Chart(job[blocks.part], of, blocks.first, blocks.rows))
        return Chart(*map(np.concatenate, zip(*found, strict=True)))

    @property
    def policy(self) -> str:
        """Its schedulers: the global one, where it decides anything, over the local ones."""
        clusters = len(self.platform.clusters)
        by = self.real or schedulers(self.summary["global"], self.summary["local"], clusters)
        return f"{by}, {self.apart}" if self.apart else by

    @property
    def left_running(self) -> bool:
        """Whether jobs may have been running at its end: what they used is in no number."""
        return bool(self.summary.get("interrupted") and self.summary.get("unfinished"))

    @property
    def setbacks(self) -> str:
        """What threw jobs back, in words."""
        metrics = self.summary["metrics"]
        return setbacks(metrics.get("restarts", 0), metrics.get("preemptions", 0))

    @property
    def real(self) -> str:
        """Under which policies its jobs ran in truth; "" if it is simulated."""
        return str(self.summary.get("served", ""))

    @property
    def restarted(self) -> bool:
        """Whether jobs were thrown back: only their last starts are known, not those before."""
        return bool(self.summary["metrics"].get("restarts"))

    @property
    def bounds(self) -> Floats:
        """Bounds of the intervals of its timeline, s."""
        return np.append(self.timeline["from"], self.timeline["to"].iloc[-1:])

    @property
    def links(self) -> list[dict[str, Any]]:
        """The numbers of its links, where they were measured."""
        return measured_links(self.summary)

    @property
    def link_names(self) -> list[str]:
        """Links, by the node that each joins to the centre."""
        return [name[len("demand ") :] for name in self.timeline.columns[3::2]]

    @cached_property
    def split(self) -> npt.NDArray[np.bool_]:
        """Whether each job ran on several clusters."""
        return np.bincount(self.parts.job, minlength=len(self.jobs)) > 1

    @cached_property
    def work(self) -> Floats:
        """How long each job runs on a cluster of rate 1, s; NaN where nothing tells.

        Nothing does where it was split or staged, or jobs have execution times of their own.
        """
        rate = np.full(len(self.jobs), np.nan)
        staged = any(self.summary["parameters"].get(name) for name in STAGING)
        if not (staged or self.summary.get("execution_times")):
            rate[self.parts.job] = self.platform.rates[self.parts.cluster]
            rate[self.split] = np.nan
        ran: Floats = (self.jobs["finish"] - self.jobs["start"]).to_numpy(np.float64)
        return ran * rate

    @cached_property
    def completed(self) -> npt.NDArray[np.bool_]:
        """Whether each job was completed rather than rejected."""
        return self.jobs["start"].notna().to_numpy()

    @cached_property
    def counted(self) -> npt.NDArray[np.bool_]:
        """Whether each job was completed and arrived after the warm-up: means are of these."""
        return self.completed & ~self.warm_up

    @cached_property
    def warm_up(self) -> npt.NDArray[np.bool_]:
        """Whether each job arrived before the first that counts."""
        warmup, arrivals = self.summary["parameters"].get("warmup") or 0, self.jobs["arrival"]
        since = arrivals.iloc[warmup] if warmup < len(arrivals) else np.inf
        return (arrivals < since).to_numpy()

    @cached_property
    def waits(self) -> Floats:
        """Waits of the jobs that count, s."""
        jobs = self.jobs[self.counted]
        return (jobs["start"] - jobs["arrival"]).to_numpy()

    @cached_property
    def slowdowns(self) -> Floats:
        """Bounded slowdowns of the jobs that count, over the time that they ran."""
        jobs = self.jobs[self.counted]
        ran = np.maximum((jobs["finish"] - jobs["start"]).to_numpy(), SLOWDOWN_BOUND)
        return np.maximum((jobs["finish"] - jobs["arrival"]).to_numpy() / ran, 1.0)

    @cached_property
    def rates(self) -> dict[str, dict[int, Floats]]:
        """What its clusters draw, cost and emit an hour in each step, of those that tell it."""
        table = self.electricity
        hours = (table["to"] - table["from"]).to_numpy(np.float64) / 3600 if len(table) else 0.0
        found = {
            name: {
                index: table[f"{name} {cluster.name}"].to_numpy(np.float64) / hours
                for index, cluster in enumerate(self.platform.clusters)
                if f"{name} {cluster.name}" in table
            }
            for name in RATES
        }
        return {name: of_clusters for name, of_clusters in found.items() if of_clusters}


def of_groups(ran: Ran, name: str) -> list[tuple[str, dict[str, float]]]:
    """Return the groups of jobs by a column of theirs, of most work first, and their numbers."""
    jobs = ran.jobs[ran.counted]
    table = pd.DataFrame(
        {
            name: jobs[name],
            "jobs": 1.0,
            "work": jobs["size"] * (jobs["finish"] - jobs["start"]),
            "wait": ran.waits,
        }
    )
    sums = table.groupby(name).sum().sort_values("work", ascending=False, kind="stable")
    sums = sums.head(MOST_GROUPS).assign(mean_wait=sums["wait"] / sums["jobs"])
    rows = sums[["jobs", "work", "mean_wait"]].to_dict("index")
    return [(str(group), row) for group, row in rows.items()]


def shares(
    runs: Sequence[Ran], columns: Sequence[str] = WHOSE
) -> list[dict[str, tuple[list[str], Integers]]]:
    """Return by whom processors are used: of each run those who use most, and whose each job is.

    By each column of jobs in which there are several. They are the same in all runs; the last are
    all others together.
    """
    found: list[dict[str, tuple[list[str], Integers]]] = [{} for _ in runs]
    for name in columns:
        told = [at for at, ran in enumerate(runs) if name in ran.jobs and ran.completed.any()]
        used = [
            (jobs["size"] * (jobs["finish"] - jobs["start"])).groupby(jobs[name])
            for jobs in (runs[at].jobs[runs[at].completed] for at in told)
        ]
        if not used:
            continue
        sums = pd.concat([each.sum() for each in used]).groupby(level=0).sum()
        most = sums.sort_values(ascending=False, kind="stable").index
        if len(most) < 2:
            continue
        names = most[:MOST_CURVES].to_list()
        texts = [f"{name} {each or 'unknown'}" for each in names]
        for at in told:
            codes = pd.Index(names).get_indexer(runs[at].jobs[name]).astype(np.int64)
            codes[codes < 0] = len(names)
            found[at][name] = texts + ["all others"] * (len(most) > len(names)), codes
    return found


def ginis(ran: Ran, columns: Sequence[str] = WHOSE) -> tuple[Floats, dict[str, dict[str, Floats]]]:
    """Return the bounds of equal stretches of a run, s, and the Gini coefficients at their ends.

    By each column in which there are several, ``gini_wait`` and ``gini_work``: of mean waits and of
    work, of the jobs that count (`grid.metrics.fairness`). Jobs that tell nothing count nowhere.
    """
    jobs = ran.jobs[ran.counted]
    bounds = np.linspace(jobs["arrival"].min(), jobs["finish"].max(), STRETCHES + 1)
    found = {}
    for name in columns:
        if name not in jobs or jobs[name][jobs[name] != ""].nunique() < 2:
            continue
        of = jobs[jobs[name] != ""]
        groups = pd.factorize(of[name])[0]
        arrivals, starts, finishes = (
            of[each].to_numpy(np.float64) for each in ("arrival", "start", "finish")
        )
        sizes = of["size"].to_numpy(np.int64)
        found[name] = {
            "gini_wait": wait_ginis(bounds[1:], groups, starts, starts - arrivals),
            "gini_work": work_ginis(bounds[1:], groups, arrivals, starts, finishes, sizes),
        }
    return bounds, found


def _parts(rows: list[Row], platform: Platform, where: Path) -> Parts:
    index = {name: at for at, name in enumerate(platform.names)}
    found: list[tuple[int, int, int]] = []
    for at, row in enumerate(rows):
        if sum(row.placement.values()) != (0 if row.start is None else row.size):
            raise GridError(
                f"{where}:{at + 2}: placement: not the job's {row.size} processors; "
                "accepted: all of them, or none without a start"
            )
        for name, count in row.placement.items():
            if name not in index or count < 1:
                raise GridError(
                    f"{where}:{at + 2}: placement: found {name}:{count}; "
                    "accepted: processors of clusters of the platform"
                )
            found.append((at, index[name], count))
    return Parts(*np.array(found, np.int64).reshape(-1, 3).T)


def common_start(runs: Sequence[Ran]) -> tuple[datetime, str] | None:
    """Return what the site's clock showed at time 0 of all runs, and in words which clock that is.

    None if it is not known, or not the same. Dates by it do not jump to and from summer time.
    """
    starts = {ran.summary.get("start") for ran in runs}
    last = max(ran.summary["simulated_s"] for ran in runs)
    said = starts.pop()
    if starts or said is None:
        return None
    clock, zone = datetime.fromisoformat(said).replace(tzinfo=None), zone_of(read(said))
    return (clock, zone) if clock.year + last / YEAR < LAST_YEAR else None
