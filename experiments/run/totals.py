"""What a run came to: its jobs, and the numbers that are summed up as they leave."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from experiments.run.setbacks import setbacks, why_unfinished
from experiments.run.whose import Whose
from experiments.show.labels import warm_up_words
from grid.errors import GridError
from grid.metrics.job_totals import Tally
from grid.metrics.of_rounds import Rounds
from grid.platform import topology
from grid.platform.brokers import CHANGE
from grid.platform.multicluster import Platform
from grid.workloads.source import Cleaning
from grid.workloads.table import NOTHING, Stated
from grid.world.finished import Records, in_order
from grid.world.records import jobs_table
from grid.world.statistics import Statistics

if TYPE_CHECKING:
    import pandas as pd

    from experiments.scenario.scenario import Scenario

REALISED, WHOLE = "realised rounds", "whole run"
"""What CP, MCP and PB are of: in mode `batch` the rounds as they went (means over them); in mode
`open`, where rounds overlap, all of the run as one; nothing if the scheduler has no rounds."""

DRAWN, GIVEN, MIXED = "drawn", "given", "mixed"
"""Where deadlines are from: the simulator's random numbers, the workload, or some of each."""


def deadlines_from(drawn: float | None) -> str | None:
    """Return where deadlines are from, given the share of them that were drawn, if there are any.

    >>> deadlines_from(1.0), deadlines_from(0.5), deadlines_from(None)
    ('drawn', 'mixed', None)
    """
    if drawn is None or math.isnan(drawn):
        return None
    return {0.0: GIVEN, 1.0: DRAWN}.get(drawn, MIXED)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class RunTotals:
    """What a finished or interrupted run came to.

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
    tally : Tally
        Sums over the jobs that left.
    energy : list of dict
        What the electricity of each cluster came to (`grid.metrics.energy`).
    electricity_over_time : dict of array
        The same over time (`grid.metrics.energy.Meter.over_time`); empty if it is not told.
    whose : Whose
        What jobs say of whom they are.
    classes : list of dict
        Numbers of each service class (`grid.metrics.of_run.class_metrics`), if all deadlines were
        drawn from some; else none.
    applications : list of dict
        How good predictions were for each application
        (`grid.metrics.of_run.application_metrics`), if they are not exact and jobs name some.
    statistics : Statistics
        Of the queue over time.
    records : Records or None
        Of each job that left; None if they were not kept.
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
    brokers : list of dict
        Of each broker above those of clusters, the global one first: its ``name``, its ``level``,
        from 1 for the global one down, how many ``clusters`` are below it, the ``mean_age`` of what
        it believed of them (s; `agents.a4.A4Broker.mean_age`) and the ``messages`` that it
        ``sent`` and ``received``; where discovery fills tables, of how many clusters it has
        ``noted`` something, and the ``noted_age`` of that at the end (s); none if the global one,
        alone, knew the present state.
    cluster_messages : list of dict of str to int
        Messages ``sent`` by each cluster's broker, and ``received``: addressed to it.
    refused_starts : int
        Starts that clusters refused, for they were not as free as the global scheduler counted on.
    restarts : int
        Times that a failure, or another job, threw a job back.
    thrown_back : int
        Unfinished jobs that were thrown back.
    away : dict of str to int
        Processors of clusters that are drained, failed or not yet there at its end, where some are.
    too_large : int
        Unfinished jobs that need more processors than are up at its end where they could start.
    idle : str
        What kept waiting jobs from starting, in words, as far as schedulers tell.
    notes : tuple of str
        What its user may want to know before trusting it (`experiments.scenario.notes`).
    cluster_losses : list of dict
        Of each cluster its ``restarts``, to which a co-allocated job adds one on each of its
        clusters, and its ``lost_work``: what such jobs had been held for, processor-seconds; of
        the restarts its ``preemptions``, if its scheduler may preempt jobs.
    extras : mapping
        What the scenario adds to the summary.
    own_metrics : mapping of str to float or None
        What metrics of the user's own came to.
    in_rounds : bool
        Jobs were allocated in rounds, which CP, MCP and PB are about.
    drawn_deadlines : float or None
        Share of the jobs' deadlines that were drawn; None if no job has one.
    failed_metrics : mapping of str to exception
        What those of them raised that failed, by ``module:function``.
    stated : Stated
        What the jobs of a log say.
    """

    scenario: Scenario
    seed: int
    wall_s: float
    simulated_s: float
    interrupted: bool
    submitted: int
    tally: Tally
    energy: list[dict[str, float | None]]
    electricity_over_time: Mapping[str, npt.NDArray[np.float64]]
    whose: Whose
    classes: list[dict[str, Any]] = field(default_factory=list)
    applications: list[dict[str, Any]] = field(default_factory=list)
    statistics: Statistics
    records: Records | None
    rounds: Rounds | None
    planned: Rounds
    overall: Rounds
    cleaning: Cleaning
    rejections: dict[str, int]
    messages: dict[str, int]
    messages_lost: int
    brokers: list[dict[str, Any]]
    cluster_messages: list[dict[str, int]]
    refused_starts: int
    restarts: int
    thrown_back: int
    away: dict[str, int]
    too_large: int
    idle: str
    notes: tuple[str, ...] = ()
    cluster_losses: list[dict[str, Any]]
    extras: Mapping[str, Any] = field(default_factory=dict)
    own_metrics: Mapping[str, float | None] = field(default_factory=dict)
    in_rounds: bool = False
    drawn_deadlines: float | None = None
    failed_metrics: Mapping[str, BaseException] = field(default_factory=dict)
    stated: Stated = NOTHING

    @property
    def platform(self) -> Platform:
        """Where it ran."""
        return self.scenario.platform

    @cached_property
    def jobs(self) -> pd.DataFrame:
        """One row for each job that left (`grid.world.records.jobs_table`).

        Raises
        ------
        GridError
            If they were not kept.
        """
        if self.records is None:
            raise GridError("jobs: found none kept; accepted: a run with keep_jobs=True")
        table, whose = jobs_table(self.records, self.platform), self.whose
        places = self.records["submission"][in_order(self.records)] - 1
        return table.assign(**dict(zip(whose.columns, whose.of(places), strict=True)))

    @property
    def counted(self) -> pd.DataFrame:
        """The rows of `jobs` that count: completed, and not of the warm-up."""
        jobs = self.jobs
        return jobs[jobs["finish"].notna() & (jobs["arrival"] >= self.tally.counted_from)]

    @property
    def warmup(self) -> int:
        """How many jobs the warm-up was to leave out."""
        return int(getattr(self.scenario.parameters, "warmup", 0))

    @property
    def short_warm_up(self) -> str:
        """A line on a warm-up that left out fewer jobs than it has, "" for others."""
        if self.unfinished:  # nothing sums up where they came
            return ""
        return warm_up_words(self.warmup, self.tally.left_out, self.submitted)

    @property
    def rejected(self) -> list[int]:
        """Numbers of the jobs that can never start, in order of arrival."""
        return [number for _, number in sorted(self.tally.rejected)]

    @property
    def counts(self) -> dict[str, int]:
        """Jobs submitted, completed, rejected, and records dropped by cleaning."""
        tally = self.tally
        counts = self.submitted, tally.completed, len(tally.rejected), self.cleaning.dropped
        return dict(zip(("submitted", "completed", "rejected", "dropped"), counts, strict=True))

    @property
    def unfinished(self) -> int:
        """Jobs that arrived and neither were completed nor rejected."""
        return self.submitted - self.tally.completed - len(self.tally.rejected)

    @property
    def all_left_at(self) -> float:
        """When the last job ended, s; infinity if jobs are left, or none was completed."""
        some = self.interrupted or self.unfinished or not self.tally.completed
        return math.inf if some else float(self.tally.grid["ended"].max())

    @property
    def why_unfinished(self) -> str:
        """Why jobs of a run that was not interrupted are unfinished, in words."""
        return why_unfinished(
            self.unfinished,
            self.thrown_back,
            self.never_heard,
            self.away,
            self.too_large,
            idle=self.idle,
            by=setbacks(self.restarts, self.preemptions or 0),
        )

    @property
    def never_heard(self) -> bool:
        """Whether a scheduler may have waited in vain for what brokers have lost."""
        told = getattr(self.scenario.parameters, "advertising", None)
        return bool(told is not None and told.loss and not told.truth and told.when == CHANGE)

    @property
    def preemptions(self) -> int | None:
        """Restarts of jobs that others preempted; None if no scheduler has jobs preempt others."""
        found = [losses["preemptions"] for losses in self.cluster_losses if "preemptions" in losses]
        return sum(found) if found else None

    @property
    def lost_work(self) -> float:
        """What jobs had been held for when they were thrown back, processor-seconds."""
        return math.fsum(losses["lost_work"] for losses in self.cluster_losses)

    @property
    def stable(self) -> bool | None:
        """Whether the queue did not grow throughout; None if that is not asked, or of too few jobs.

        It is asked of jobs that a process sends for as long as a run is to last. Those of a
        log, or of a window of it, are finite, as rounds are: they have no steady state to lose.
        """
        finite = self.scenario.workload is not None or self.rounds is not None
        return None if finite or self.unfinished else self.statistics.stable

    @property
    def basis(self) -> str | None:
        """What CP, MCP and PB are of: `REALISED` or `WHOLE`; None without rounds."""
        if not self.in_rounds:
            return None
        return WHOLE if self.rounds is None else REALISED

    @property
    def deadlines(self) -> str | None:
        """Where the jobs' deadlines are from: `DRAWN`, `GIVEN` or `MIXED`; None without any."""
        return deadlines_from(self.drawn_deadlines)

    @property
    def _listed(self) -> Rounds:
        """The rounds one by one: as they went in mode `batch`, in mode `open` as planned."""
        return self.planned if self.rounds is None else self.rounds

    @property
    def round_count(self) -> int:
        """How many rounds there were; 0 in mode `open` if the global scheduler has none."""
        return len(self._listed.dispatched)

    @property
    def timeline(self) -> pd.DataFrame:
        """What there was in at most a few dozen intervals of the run, one row each.

        Each ends with an arrival; of those at one instant only the last one ends one.

        Columns: from, to (s), waiting (jobs, mean), and, unless the global scheduler takes no
        account of links, of each link ``demand NAME`` (mean over its capacity) and
        ``saturated NAME`` (share of the time). A link has the name of the node that it joins to the
        one nearer to the central switch.
        """
        import pandas as pd

        found = self.statistics
        table = {
            "from": found.queue_times[:-1],
            "to": found.queue_times[1:],
            "waiting": found.mean_queue,
        }
        if (links := found.links_over_time) is not None:
            for index, name in enumerate(self.link_names):
                table[f"demand {name}"] = links.demand[:, index]
                table[f"saturated {name}"] = links.saturated[:, index]
        rows = pd.DataFrame(table)
        return rows[rows["to"] > rows["from"]].reset_index(drop=True)

    @property
    def mean_ages(self) -> dict[str, float | None]:
        """How old what brokers believed of a cluster was, s, mean of each level (`brokers`).

        None: no cluster is below the brokers of that level.
        """
        ages: dict[str, float | None] = {}
        for level in sorted({each["level"] for each in self.brokers}):
            found = [each for each in self.brokers if each["level"] == level and each["clusters"]]
            clusters = sum(each["clusters"] for each in found)
            total = math.fsum(each["mean_age"] * each["clusters"] for each in found)
            ages[str(level)] = total / clusters if clusters else None
        return ages

    @property
    def link_names(self) -> list[str]:
        """Of each link the node that it joins to the one nearer to the central switch."""
        return [node for node, _ in topology.uplinks(self.platform.graph)]

    @property
    def electricity(self) -> pd.DataFrame:
        """What electricity came to in each interval; empty if that is not told."""
        import pandas as pd

        return pd.DataFrame(self.electricity_over_time)

    def rounds_table(self) -> pd.DataFrame:
        """Return one row for each round: as it went in mode `batch`, in mode `open` as planned.

        Columns: round (from 1, those of the warm-up included), dispatched, mcp, pb (s), and of each
        cluster ``cp NAME`` (s) and ``jobs NAME``. A CP that no local scheduler told is NaN.
        """
        import pandas as pd

        rounds = self._listed
        table = {
            "round": rounds.first + np.arange(len(rounds.dispatched)),
            "dispatched": rounds.dispatched,
            "mcp": rounds.mcp(),
            "pb": rounds.pb(),
        }
        for index, name in enumerate(self.platform.names):
            table[f"cp {name}"] = rounds.cps[:, index]
            table[f"jobs {name}"] = rounds.jobs[:, index]
        return pd.DataFrame(table)
