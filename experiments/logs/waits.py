"""How well simulated schedules explain the waits that a log recorded."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.registry import local_scheduler
from experiments.logs.character import clock_of, hours_of
from experiments.scenario.recorded import ROUNDING
from experiments.scenario.scenario import Scenario
from experiments.sweeps.progress import SweepProgress
from grid.errors import GridError
from grid.jobs import ANYWHERE
from grid.logs.cleaning import NO_WAIT
from grid.logs.log import Log
from grid.workloads.table import Table

Floats = npt.NDArray[np.float64]

RECORDED = "recorded"
QUANTILES = {"median": 50, "90 %": 90, "99 %": 99}
"""Of waits, by name, in percent."""
HOURS = 4
"""Hours of the day that are told together."""
WORKING = (8, 18)
"""Working hours, from and until."""
SATURDAY = 5
"""By the calendar of pandas, whose week begins with Monday, 0."""


@dataclass(frozen=True, eq=False)
class Waits:
    """Waits of the same jobs as recorded and under simulated local schedulers.

    Attributes
    ----------
    table : Table
        The jobs whose waits are compared.
    of : mapping of str to float array
        Waits of each schedule, s, `RECORDED` first.
    processors : int
        Of the machine that was simulated.
    told : bool
        The user has told how many.
    left_out : int
        Jobs that are too large for it.
    """

    table: Table
    of: Mapping[str, Floats]
    processors: int
    told: bool = False
    left_out: int = 0

    @classmethod
    def simulated(
        cls, log: Log, schedulers: Sequence[str], watch: SweepProgress, processors: int | None
    ) -> Waits:
        """Return those of a log: its machine serves all jobs whose waits are recorded.

        Parameters
        ----------
        log : Log
        schedulers : sequence of str
            Local schedulers, as scenarios name them.
        watch : SweepProgress
            Is told which is under way.
        processors : int or None
            Of the machine; by default as the log says, or those of its largest job.

        Raises
        ------
        GridError
            If no wait is recorded, or a scheduler cannot be used.
        """
        if twice := [name for name in schedulers if schedulers.count(name) > 1]:
            raise GridError(f"found {twice[0]} twice; accepted: once")
        for name in schedulers:
            if name == RECORDED:
                raise GridError(f"found {name}; accepted: others, beside which it is")
            local_scheduler(name)
        if not (log.records["recorded_wait"] >= 0).any():
            raise GridError(f"found no recorded wait in {log.path}; accepted: a log that has some")
        table = log.cleaned(only_recorded=True)
        if table.times is not None:
            raise GridError(
                f"{log.path}: found run times on each cluster, runtime@NAME; accepted: "
                "one run time of each job, runtime"
            )
        on_one = dataclasses.replace(table, jobs=table.jobs.copy())
        on_one.jobs["origin"] = ANYWHERE
        base = Scenario.load("site").changed(workload=str(log.path), only_recorded=True)
        base = base if processors is None else base.changed(nodes=processors)
        found: dict[str, Floats] = {RECORDED: table.jobs["recorded_wait"]}
        for name in schedulers:
            watch.prepare(f"simulating {name}")
            model = base.changed(local_scheduler=name).model(0, lambda *_: on_one)
            model.run()
            rows = model.world.log.records().rows
            waits = np.full(table.count, np.nan)
            waits[rows["submission"] - 1] = rows["start"] - rows["arrival"]
            found[name] = waits
        fits = np.logical_and.reduce([np.isfinite(waits) for waits in found.values()])
        if not fits.any():
            names = ", ".join(schedulers)
            size = table.machine if processors is None else processors
            raise GridError(
                f"found no job of {log.path} that starts on {size:,} "
                f"processors under {names}; accepted: more, or other schedulers"
            )
        jobs = dataclasses.replace(table, jobs=table.jobs[fits])
        fitting = {name: of[fits] for name, of in found.items()}
        machine = table.machine if processors is None else processors
        return cls(jobs, fitting, machine, processors is not None, int((~fits).sum()))

    @cached_property
    def rows(self) -> dict[str, dict[str, float]]:
        """Mean and quantiles of the waits of each schedule, s, by what they are."""
        found = {"mean": {name: float(waits.mean()) for name, waits in self.of.items()}}
        for quantile, percent in QUANTILES.items():
            found[quantile] = {
                name: float(np.percentile(waits, percent)) for name, waits in self.of.items()
            }
        return found

    @cached_property
    def agreement(self) -> dict[str, dict[str, float | None]]:
        """Of each simulated schedule, how its waits agree with the recorded ones, job by job.

        ``off`` is the median difference, whatever its sign, s; ``correlation`` that of the ranks,
        Spearman's, None where all waits of one of the two are equal.
        """
        from scipy.stats import spearmanr

        truth, found = self.of[RECORDED], {}
        for name, waits in self.of.items():
            if name != RECORDED:
                even = np.ptp(waits) == 0 or np.ptp(truth) == 0
                found[name] = {
                    "off": _no_dust(float(np.median(np.abs(waits - truth)))),
                    "correlation": None if even else float(spearmanr(waits, truth).statistic),
                }
        return found

    @cached_property
    def most_in_use(self) -> int:
        """Most processors that these jobs had at once, as recorded."""
        jobs = self.table.jobs
        starts = jobs["arrival"] + self.of[RECORDED]
        times = np.concatenate([starts, starts + jobs["runtime"]]).round(6)  # without dust
        steps = np.concatenate([jobs["size"], -jobs["size"]])
        return int(steps[np.lexsort((steps, times))].cumsum().max())  # those that end go first

    @property
    def unrecorded(self) -> int:
        """Jobs whose wait is not recorded, which do not count here."""
        return self.table.cleaning.rules.get(NO_WAIT, 0)

    @cached_property
    def by_hour(self) -> dict[str, tuple[int, dict[str, float]]]:
        """Jobs that arrived in hours of the day, and their mean waits under each schedule, s."""
        part = hours_of(self.table) // HOURS
        names = [f"{HOURS * k:02}-{HOURS * (k + 1):02}" for k in range(24 // HOURS)]
        return self._means(part, names)

    @cached_property
    def by_weekday(self) -> dict[str, tuple[int, dict[str, float]]]:
        """Jobs of working hours, other hours of weekdays and weekends; none without dates."""
        clock = clock_of(self.table)
        if clock is None:
            return {}
        hour, weekend = clock.hour.to_numpy(), clock.day_of_week.to_numpy() >= SATURDAY
        first, last = WORKING
        part = np.where(weekend, 2, np.where((hour >= first) & (hour < last), 0, 1))
        return self._means(part, [f"weekdays {first}-{last}", "weekdays, rest", "weekends"])

    @cached_property
    def by_size(self) -> dict[str, tuple[int, dict[str, float]]]:
        """Jobs of 1, 2, 3-4, 5-8, ... processors, likewise."""
        group = np.ceil(np.log2(self.table.jobs["size"])).astype(np.int64)
        least = [1, *(2**k // 2 + 1 for k in range(1, int(group.max()) + 1))]
        names = [f"{low}" if low == 2**k else f"{low}-{2**k}" for k, low in enumerate(least)]
        return self._means(group, names)

    def _means(
        self, part: npt.NDArray[np.int64], names: Sequence[str]
    ) -> dict[str, tuple[int, dict[str, float]]]:
        """Return the jobs of each part that has some, and their mean waits."""
        count = np.bincount(part, minlength=len(names))
        sums = {name: np.bincount(part, waits, len(names)) for name, waits in self.of.items()}
        return {
            names[k]: (int(n), {name: float(of[k] / n) for name, of in sums.items()})
            for k, n in enumerate(count.tolist())
            if n
        }

    def to_dict(self) -> dict[str, Any]:
        """Return all that, ready for JSON; times in s."""
        return {
            "jobs": self.table.count,
            "processors": self.processors,
            "most_in_use": self.most_in_use,
            "left_out": self.left_out,
            "unrecorded": self.unrecorded,
            "waits": self.rows,
            "agreement": self.agreement,
            "by_hour": {name: {"jobs": n} | of for name, (n, of) in self.by_hour.items()},
            "by_weekday": {name: {"jobs": n} | of for name, (n, of) in self.by_weekday.items()},
            "by_size": {name: {"jobs": n} | of for name, (n, of) in self.by_size.items()},
        }


def _no_dust(seconds: float) -> float:
    """Return a difference of times, 0 if it is no more than they are rounded by."""
    return seconds if seconds > ROUNDING else 0.0
