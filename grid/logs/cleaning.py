"""Rules that turn the records of a log into jobs, each counted."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from grid.jobs import SHORTEST_RUN, UNKNOWN, JobArray, job_table
from grid.workloads.source import DROPPED, Cleaning

CUT_OFF = f"record cut off or garbled{DROPPED}"
NO_SUBMIT = f"no submit time{DROPPED}"
NO_SIZE = f"no size{DROPPED}"
NO_RUNTIME = f"no known run time{DROPPED}"
NO_WAIT = f"no recorded wait{DROPPED}"
REQUESTED_SIZE = "no allocated processors: requested processors taken"
ZERO_RUNTIME = "run time 0: counted as 1 s"
LOW_REQUEST = "requested time below the run time: raised to it"
EARLY_DEADLINE = "deadline before the arrival: kept"
KILLED = "run time above the requested time: cut to it"
NUMBER_AGAIN = "job number used before: kept"
NUMBER_SHARED = "job number used at another site: kept"
ORIGIN = "origin other than {site}, whose log it is: {site} taken"
RAISED = "{what} of {site}: number raised by {above}"
TOGETHER = "job of {site}: its log began {later} after that of {first}; here both begin at 0"
AFTER_LAST = (
    "job after the last that {site} submits, at {last:,.15g} s; the last of all: {end:,.15g} s"
)
NONE_OF_SITE = "job of a window in which {site} submits none"
OUTSIDE = "outside the window: left out"

Rows = npt.NDArray[np.int64]
"""Indices of records."""

BUT_A_TENTH = 0.9
"""Share of a time at whose end a site whose last job came before is said to submit none later."""

NO_ROW = -1
"""Stands for what is no record, or none that was read."""


@dataclass(frozen=True, eq=False)
class Applied:
    """Which records of a log each rule applied to, so that those of any window can be counted.

    Attributes
    ----------
    since : float array
        When each record was submitted, s after the first usable one; nan where that is not known.
    rules : mapping of str to int array
        Of each rule the records, or `NO_ROW`.
    zero : float
        When the first usable one was, by the log's own time, s.
    sites : mapping of int to str
        Names of the sites, by their indices, that the records are of, each of which numbers its own
        jobs; empty for one log.
    raised : mapping of (str, int) to str
        Columns, ``user`` and ``application``, and sites, by their indices, of which numbers are
        others than in the log, and the rule by which they are.
    together : mapping of int to str
        Sites whose jobs begin together with those of another site that began earlier, likewise.
    """

    since: npt.NDArray[np.float64]
    rules: Mapping[str, Rows]
    zero: float = 0.0
    sites: Mapping[int, str] = field(default_factory=dict)
    raised: Mapping[tuple[str, int], str] = field(default_factory=dict)
    together: Mapping[int, str] = field(default_factory=dict)

    def cleaning(self, jobs: JobArray, start: float = 0.0, end: float = math.inf) -> Cleaning:
        """Return the counts of the records submitted in a window; by default of all.

        Parameters
        ----------
        jobs : JobArray
            The jobs that these records became, whose numbers are compared.
        start, end : float
            As for `grid.workloads.transform.window`. Records without a submit time are outside.
        """
        rules = {rule: len(rows) for rule, rows in self.rules.items()}
        if start > 0 or end < math.inf:
            inside = (self.since >= start) & (self.since < end)
            inside = np.append(inside, False)  # for `NO_ROW`
            rules = {OUTSIDE: len(self.since) - int(inside.sum())} | {
                rule: int(inside[rows].sum()) for rule, rows in self.rules.items()
            }
        rules |= _numbered_again(jobs, bool(self.sites))
        for (column, site), rule in self.raised.items():
            named = jobs[column] != UNKNOWN
            rules[rule] = int((named & (jobs["origin"] == site)).sum())
        for site, rule in self.together.items():
            rules[rule] = int((jobs["origin"] == site).sum())
        rules |= _after_last(jobs, self.sites)
        applied = {rule: count for rule, count in rules.items() if count}
        dropped = sum(count for rule, count in applied.items() if rule.endswith(DROPPED))
        return Cleaning(len(self.since), applied, dropped)


def merged(sites: Sequence[Applied], later: Sequence[float], names: Mapping[int, str]) -> Applied:
    """Return the rules of the logs of several sites as those of one log.

    Parameters
    ----------
    sites : sequence of Applied
    later : sequence of float
        By how much the first job of each came later than the first of all, s.
    names : mapping of int to str
        Their names, by the indices that are the origins of their jobs.
    """
    first = np.cumsum([0, *(len(each.since) for each in sites)])
    rules: dict[str, list[Rows]] = {}
    for each, above in zip(sites, first, strict=False):
        for rule, rows in each.rules.items():
            rules.setdefault(rule, []).append(np.where(rows == NO_ROW, NO_ROW, rows + above))
    return Applied(
        np.concatenate([each.since + by for each, by in zip(sites, later, strict=True)]),
        {rule: np.concatenate(rows) for rule, rows in rules.items()},
        sites=names,
    )


def _numbered_again(jobs: JobArray, sites: bool) -> dict[str, int]:
    """Return how many jobs have a number that another had before, at their site or another.

    Of jobs of different sites with one number, those of the first site do not count.
    """
    if not sites:
        number = np.sort(jobs["number"])  # most are in order: quicker than a hash of each
        return {NUMBER_AGAIN: int((number[1:] == number[:-1]).sum())}
    jobs = jobs[np.lexsort((jobs["origin"], jobs["number"]))]
    number, site = jobs["number"], jobs["origin"]
    same = number[1:] == number[:-1]
    begins = np.concatenate(([0], np.where(same, 0, np.arange(1, len(jobs)))))
    first = site[np.maximum.accumulate(begins)]
    return {
        NUMBER_AGAIN: int((same & (site[1:] == site[:-1])).sum()),
        NUMBER_SHARED: int((site != first).sum()),
    }


def _after_last(jobs: JobArray, sites: Mapping[int, str]) -> dict[str, int]:
    """Return how many jobs come after those of a site whose log covers no more than their begin.

    Named are the sites without a job in the last tenth of the time from the first arrival to the
    last.
    """
    found: dict[str, int] = {}
    if not len(jobs):
        return found
    first, end = jobs["arrival"][0], jobs["arrival"][-1]
    for index, site in sites.items():
        of_site = jobs["arrival"][jobs["origin"] == index]
        if not len(of_site):
            found[NONE_OF_SITE.format(site=site)] = len(jobs)
        elif (last := of_site[-1]) - first < BUT_A_TENTH * (end - first):
            rule = AFTER_LAST.format(site=site, last=last, end=end)
            found[rule] = int((jobs["arrival"] > last).sum())
    return found


def requested_times(records: JobArray) -> npt.NDArray[np.float64]:
    """Return the time that each record requested, inf where that is 0 or less: it is not said.

    As of run times, all below a microsecond is 0.
    """
    time: npt.NDArray[np.float64] = records["requested_time"]
    return np.where(time >= SHORTEST_RUN, time, np.inf)


def needed(
    records: JobArray, size: npt.NDArray[np.int64], wait: bool = False
) -> dict[str, npt.NDArray[np.bool_]]:
    """Return which records say what a job needs, by the rule that drops the others.

    `wait` is whether it needs to have a recorded wait.
    """
    waits = {NO_WAIT: records["recorded_wait"] >= 0} if wait else {}
    return {
        NO_SUBMIT: records["arrival"] >= 0,
        NO_SIZE: size > 0,
        NO_RUNTIME: records["runtime"] >= 0,
        **waits,
    }


def clean(
    records: JobArray,
    requested_size: npt.NDArray[np.int64] | None = None,
    kills: bool = False,
    only_recorded: bool = False,
) -> tuple[JobArray, dict[str, Rows]]:
    """Return the usable records as jobs in order of arrival, and the records of each rule.

    Those of one instant keep their order.

    A record that is dropped counts under one rule only, the first that applies of no submit time,
    no size, no run time and no recorded wait; the rules that change a record count only records
    that are kept.

    Parameters
    ----------
    records : JobArray
        Records in which a negative arrival or run time, a size of 0 or less, or a requested time
        of which `requested_times` says so means unknown. Columns of jobs that are not there stay
        neutral.
    requested_size : int array, optional
        Size of a record whose own is unknown, likewise; shape of `records`.
    kills : bool
        Jobs are killed at the requested time, instead of having requested too little.
    only_recorded : bool
        Records without a recorded wait are dropped.
    """
    rules: dict[str, Rows] = {}

    def count(rule: str, rows: Rows) -> None:
        if len(rows):
            rules[rule] = rows

    size = records["size"]
    if requested_size is not None:
        size = np.where(size > 0, size, requested_size)
    usable = np.ones(len(records), bool)
    for rule, known in needed(records, size, only_recorded).items():
        count(rule, np.flatnonzero(usable & ~known))
        usable &= known

    kept = np.flatnonzero(usable)
    kept = kept[np.argsort(records["arrival"][kept], kind="stable")]
    jobs = job_table(len(kept))
    for name in records.dtype.names or ():
        jobs[name] = records[name][kept]
    jobs["requested_time"] = requested_times(jobs)
    count(REQUESTED_SIZE, kept[jobs["size"] <= 0])
    jobs["size"] = size[kept]
    zero = jobs["runtime"] < SHORTEST_RUN
    count(ZERO_RUNTIME, kept[zero])
    jobs["runtime"][zero] = 1.0
    if kills:
        late = jobs["requested_time"] < jobs["runtime"]
        count(KILLED, kept[late])
        jobs["runtime"][late] = jobs["requested_time"][late]
    low = jobs["requested_time"] < jobs["runtime"]
    count(LOW_REQUEST, kept[low])
    jobs["requested_time"][low] = jobs["runtime"][low]
    count(EARLY_DEADLINE, kept[jobs["deadline"] < jobs["arrival"]])
    return jobs, rules
