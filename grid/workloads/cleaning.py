"""Rules that turn the records of a log into jobs, each counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from grid.jobs import JobArray, job_table
from grid.workloads.source import DROPPED, Cleaning

CUT_OFF = f"record cut off or garbled{DROPPED}"
NO_SUBMIT = f"no submit time{DROPPED}"
NO_SIZE = f"no size{DROPPED}"
NO_RUNTIME = f"no run time{DROPPED}"
REQUESTED_SIZE = "no allocated processors: requested processors taken"
ZERO_RUNTIME = "run time 0: counted as 1 s"
LOW_REQUEST = "requested time below the run time: raised to it"
KILLED = "run time above the requested time: cut to it"
NUMBER_AGAIN = "job number used before: kept"
NUMBER_SHARED = "job number used at another site: kept"
OUTSIDE = "outside the window: left out"


def clean(
    records: JobArray,
    requested_size: npt.NDArray[np.int64] | None = None,
    kills: bool = False,
) -> tuple[JobArray, Cleaning]:
    """Return the usable records as jobs in order of arrival, and what each rule did.

    Those of one instant keep their order.

    A record that is dropped counts under one rule only, the first that applies of no submit time,
    no size and no run time; the rules that change a record count only records that are kept.

    Parameters
    ----------
    records : JobArray
        Records in which a negative arrival or run time, or a size of 0 or less, means unknown. A
        requested time is inf where unknown. Columns of jobs that are not there stay neutral.
    requested_size : int array, optional
        Size of a record whose own is unknown, likewise; shape of `records`.
    kills : bool
        Jobs are killed at the requested time, instead of having requested too little.
    """
    rules: dict[str, int] = {}

    def count(rule: str, applies: npt.NDArray[np.bool_]) -> None:
        if applies.any():
            rules[rule] = int(applies.sum())

    size = records["size"]
    if requested_size is not None:
        size = np.where(size > 0, size, requested_size)
    usable = np.ones(len(records), bool)
    for rule, known in (
        (NO_SUBMIT, records["arrival"] >= 0),
        (NO_SIZE, size > 0),
        (NO_RUNTIME, records["runtime"] >= 0),
    ):
        count(rule, usable & ~known)
        usable &= known

    kept = np.flatnonzero(usable)
    kept = kept[np.argsort(records["arrival"][kept], kind="stable")]
    jobs = job_table(len(kept))
    for name in records.dtype.names or ():
        jobs[name] = records[name][kept]
    count(REQUESTED_SIZE, jobs["size"] <= 0)
    jobs["size"] = size[kept]
    zero = jobs["runtime"] == 0
    count(ZERO_RUNTIME, zero)
    jobs["runtime"][zero] = 1.0
    if kills:
        late = (jobs["requested_time"] > 0) & (jobs["requested_time"] < jobs["runtime"])
        count(KILLED, late)
        jobs["runtime"][late] = jobs["requested_time"][late]
    low = jobs["requested_time"] < jobs["runtime"]
    count(LOW_REQUEST, low)
    jobs["requested_time"][low] = jobs["runtime"][low]
    cleaning = Cleaning(len(records), rules, len(records) - len(jobs))
    number = np.sort(jobs["number"])  # most logs have them in order: quicker than a hash of each
    return jobs, cleaning.also(NUMBER_AGAIN, int((number[1:] == number[:-1]).sum()))


def combined(cleanings: Iterable[Cleaning]) -> Cleaning:
    """Return what was done to several logs as if they were one.

    Examples
    --------
    >>> combined([Cleaning(3, {"a": 1}, 1), Cleaning(4, {"a": 2, "b": 1})])
    Cleaning(records=7, rules={'a': 3, 'b': 1}, dropped=1)
    """
    records = dropped = 0
    rules: Counter[str] = Counter()
    for cleaning in cleanings:
        records += cleaning.records
        dropped += cleaning.dropped
        rules.update(cleaning.rules)
    return Cleaning(records, dict(rules), dropped)
