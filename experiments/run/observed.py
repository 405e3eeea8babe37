"""What a result needs of the jobs of a run, taken as they leave, so that they need not be kept."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.model import GridModel
from experiments.scenario.jobs import deadline_classes
from experiments.scenario.scenario import Scenario
from grid.jobs import UNKNOWN
from grid.kernel.dtypes import FINISHED
from grid.kernel.state import VACANT
from grid.metrics.energy import NAMES, Meter
from grid.metrics.job_totals import Tally
from grid.metrics.of_rounds import Rounds, round_performance
from grid.metrics.of_run import application_metrics, class_metrics, period
from grid.workloads.deadlines import ClassDraws
from grid.workloads.synthetic import BatchWorkload
from grid.workloads.table import Table
from grid.world.finished import Records, in_order, last
from grid.world.validation import why_rejected


def drawn_classes(scenario: Scenario, model: GridModel) -> ClassDraws | None:
    """Return the service classes of a model's jobs, if all deadlines were drawn from some."""
    parameters = scenario.parameters
    if not parameters.service_classes or model.workload.drawn_deadlines != 1:
        return None
    return ClassDraws(deadline_classes(parameters), model.seed)


class Applications:
    """The applications that the jobs of a workload name, and those that name none.

    Parameters
    ----------
    workload : Table

    Attributes
    ----------
    names : list of str
        A job that names none is of the first.
    """

    def __init__(self, workload: Table) -> None:
        self._numbers = np.unique(np.append(workload.jobs["application"], UNKNOWN))
        named = [workload.applications.get(each, str(each)) for each in self._numbers[1:].tolist()]
        self.names = [*dict.fromkeys(["none", *named])]
        self._places = np.array([0, *map(self.names.index, named)])

    def of(self, numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the place among the names of each of some applications."""
        places: npt.NDArray[np.int64] = self._places[np.searchsorted(self._numbers, numbers)]
        return places


class Observed:
    """The jobs of a model that left, summed up.

    Parameters
    ----------
    model : GridModel
    listed : callable, optional
        Takes the jobs that left in order of arrival, number and submission, some at a time.
    classes : ClassDraws, optional
        Service classes of the jobs.

    Attributes
    ----------
    tally : Tally
    rejections : Counter
        Jobs that can never start, by why.
    """

    def __init__(
        self,
        model: GridModel,
        listed: Callable[[Records], None] | None = None,
        classes: ClassDraws | None = None,
    ) -> None:
        self.tally = Tally(model.world.platform)
        self._classes = classes
        self._by_class = Tally(model.world.platform, 0 if classes is None else len(classes.names))
        self._applications: Applications | None = None
        if isinstance(model.workload, Table) and not model.pace.exact:
            self._applications = Applications(model.workload)
        names = [] if self._applications is None else self._applications.names
        self._by_application = Tally(model.world.platform, len(names))
        self.rejections: Counter[str] = Counter()
        clusters = model.world.platform.clusters
        self._meter = None if model.energy is None else Meter(model.energy, clusters)
        self._model = model
        self._listed = listed
        self._rounds: list[Rounds] = []
        self._left: list[Records] = []

    def add(self, records: Records) -> None:
        """Add jobs, in order of leaving."""
        self.tally.add(records, self._counted_from)
        if self._meter is not None:
            self._meter.add(records, self._counted_from)
        if self._classes is not None:
            of_jobs = self._classes.of(records["submission"])
            self._by_class.add(records, self._counted_from, of_jobs)
        if self._applications is not None:
            of_jobs = self._applications.of(records["application"])
            self._by_application.add(records, self._counted_from, of_jobs)
        gone = records.rows[np.isnan(records["start"])]
        self.rejections.update(why_rejected(self._model.world.storage, row) for row in gone)
        if self._listed is None and not self._in_rounds:
            return
        self._left.append(records)
        # Whoever arrived by then has left, and nobody arrives then any more.
        self._list_until(min(self._arrivals_there().min(initial=np.inf), self._model.now))

    @property
    def classes(self) -> list[dict[str, Any]]:
        """Numbers of each service class (`grid.metrics.of_run.class_metrics`); none without any."""
        return class_metrics(self._by_class, () if self._classes is None else self._classes.names)

    @property
    def applications(self) -> list[dict[str, Any]]:
        """How good predictions were for each (`grid.metrics.of_run.application_metrics`).

        None if they are exact, or no job names an application.
        """
        names = [] if self._applications is None else self._applications.names
        return application_metrics(self._by_application, names) if len(names) > 1 else []

    @property
    def energy(self) -> list[dict[str, float | None]]:
        """What the electricity of each cluster came to (`grid.metrics.energy.Meter.totals`).

        None if that is not told, or nothing was completed.
        """
        begin, end = period(self.tally)
        if self._meter is None or not begin < end:
            return [dict.fromkeys(NAMES) for _ in self.tally.platform.clusters]
        return self._meter.totals(begin, end)

    @property
    def electricity(self) -> dict[str, npt.NDArray[np.float64]]:
        """The same over time (`grid.metrics.energy.Meter.over_time`); empty if it is not told."""
        begin, end = period(self.tally)
        if self._meter is None or not begin < end:
            return {}
        return self._meter.over_time(begin, end)

    def finish(self) -> None:
        """Note that no more jobs will leave."""
        self._list_until(np.inf)

    @property
    def rounds(self) -> Rounds | None:
        """The complete rounds of mode `batch` since the warm-up, None in other modes."""
        if not self._in_rounds:
            return None
        none = Records(np.zeros(0, FINISHED), np.zeros((0, 0), np.int32))
        found = [self._performance(none), *self._rounds]
        return Rounds(
            np.concatenate([each.dispatched for each in found]),
            np.concatenate([each.jobs for each in found]),
            np.concatenate([each.cps for each in found]),
        ).since(self._counted_from)

    @property
    def _in_rounds(self) -> bool:
        return isinstance(self._model.workload, BatchWorkload)

    @property
    def _counted_from(self) -> float:
        sums = self._model.world.state.statistics
        return sums.counted_from if sums.warmup else -math.inf

    def _arrivals_there(self) -> npt.NDArray[np.float64]:
        """Return the arrivals of the jobs that have not left, s."""
        slots = self._model.world.jobs.slots
        arrivals: npt.NDArray[np.float64] = slots["arrival"][slots["status"] != VACANT]
        return arrivals

    def _list_until(self, time: float) -> None:
        """Hand the jobs that arrived before a time (s) on, in that order."""
        listed, kept = [], []
        for records in self._left:
            before = records["arrival"] < time
            if before.any():
                listed.append(records[before])
                records = records[~before]
            if len(records):
                kept.append(records)
        self._left = kept
        if not listed:
            return
        records = last(listed, sum(map(len, listed)))
        records = records[in_order(records)]
        if self._listed is not None:
            self._listed(records)
        if self._in_rounds:
            there = np.isin(records["arrival"], self._arrivals_there())
            self._rounds.append(self._performance(records[~there]))

    def _performance(self, records: Records) -> Rounds:
        model = self._model
        return round_performance(records, model.world.platform, model.weights, model.idle)
