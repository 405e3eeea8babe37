"""Accounting of Slurm: what ``sacct -P`` (``--parsable2``) prints, with its line of names."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any

import numpy as np

from grid.errors import WorkloadError
from grid.foreign import quoted
from grid.jobs import FILED, LONGEST
from grid.logs.calendar import SITES_CLOCK
from grid.logs.cleaning import NO_ROW
from grid.logs.fields import are_numbers, numbered, placed
from grid.logs.files import opened_lines
from grid.logs.log import RECORD, Log
from grid.logs.pipes import SEPARATOR, fields, records

MOST_COLUMNS = 1000
"""Slurm itself knows some 120."""

STEP = "step, not among the records: folded into its job"
LONELY = "step of no job here, not among the records: left out"
EARLY = "recorded start before the submit time: a wait of 0 s taken"
HETEROGENEOUS = "part of a heterogeneous job: a job by itself"

JOB_ID = ("JobIDRaw", "JobID")
SIZE = ("AllocCPUS", "NCPUS", "AllocTRES")
REQUESTED = ("ReqCPUS", "ReqTRES")
ELAPSED = ("ElapsedRaw", "Elapsed")
ENDED = "End with Start"
LIMIT = ("TimelimitRaw", "Timelimit")
USER = ("User", "UID")
OTHERS = ("Submit", "Start", "End", "State", "NodeList", "Partition", "Account", "QOS")
USED = (*JOB_ID, *SIZE, *REQUESTED, *ELAPSED, *LIMIT, *USER, *OTHERS)
RUNNING = ("PENDING", "RUNNING", "SUSPENDED", "REQUEUED", "CONFIGURING", "COMPLETING")
"""States of jobs that have not ended."""

DURATION = re.compile(r"(?:(\d++)-)?(?:(\d++):)?(\d++):(\d++(?:\.\d++)?)", re.ASCII)
NOTHING = frozenset(
    ("", "Unknown", "None", "NONE", "N/A", "INVALID", "UNLIMITED", "Partition_Limit")
)
"""What stands for a time or a number that is not known."""


def sacct_log(path: Path) -> Log:
    """Read the accounting of Slurm.

    Each line is a job, or a step of one, which is folded into its job. The size of a job is
    what was allocated to it, else what it asked for; its number is the raw one, which each task of
    an array has for itself; users are numbered as they first come. A job that was cancelled before
    it started, or has not ended, has no run time. Dates are those of the site's clock, unless they
    have a zone: then the clock is that of the first.

    Parameters
    ----------
    path : Path
        The file, plain or packed. Its first line names the columns.

    Raises
    ------
    WorkloadError
        If the file cannot be read, lacks columns, or a field cannot be used (``FILE:LINE``).
    """
    rows: list[tuple[Any, ...]] = []
    users: list[str] = []
    names: list[str] = []
    accounts: list[str] = []
    qualities: list[str] = []
    steps: Counter[str] = Counter()
    jobs: dict[str, int] = {}
    parts_of_jobs: list[int] = []
    cut_off = 0
    clock: tzinfo = UTC  # of times that are numbers, counted from 1970
    with opened_lines(path) as lines:
        columns = _columns(path, next(lines, ""))
        wanted = [name for name in USED if name in columns]
        key = next(name for name in JOB_ID if name in columns)
        for line, parts in records(lines, len(columns)):
            if parts[: len(columns)] == columns:  # another dump begins
                continue
            said = {} if len(parts) < len(columns) else fields(parts, columns, wanted)
            if any(name not in said for name in wanted):
                cut_off += 1
                continue
            identity, dot, _ = said[key].partition(".")
            if dot:
                steps[identity] += 1
                continue
            jobs[identity] = len(rows)
            if "+" in said.get("JobID", identity):
                parts_of_jobs.append(len(rows))
            rows.append(_row(f"{path}:{line + 1}", said))
            if clock is UTC and "-" in said["Submit"]:
                clock = datetime.fromisoformat(said["Submit"].strip()).tzinfo or SITES_CLOCK
            names.append(said.get("Partition", ""))
            accounts.append(said.get("Account", ""))
            qualities.append(said.get("QOS", ""))
            users.append(next((said[name] for name in USER if said.get(name)), ""))
    if not rows:
        raise WorkloadError(f"{path}: empty workload: found no job; accepted: at least one")
    found = np.array(rows, float)
    records_ = np.zeros(len(rows), RECORD)
    for index, name in enumerate(("number", "arrival", "size", "runtime", "requested_time")):
        records_[name] = found[:, index]
    records_["user"] = numbered(users)
    wait = found[:, 6]  # from an unknown start or submission, nan
    records_["recorded_wait"] = np.where(np.isnan(wait), -1, np.maximum(wait, 0))
    records_["application"] = -1
    folded = [jobs.get(identity, NO_ROW) for identity in steps.elements()]
    rules = {
        **({EARLY: early} if (early := np.flatnonzero(wait < 0).tolist()) else {}),
        HETEROGENEOUS: parts_of_jobs,
        STEP: [row for row in folded if row != NO_ROW],
        LONELY: [row for row in folded if row == NO_ROW],
    }
    start = datetime.fromtimestamp(0, clock)
    filed = {}
    for name, texts in zip(FILED, (names, accounts, qualities), strict=True):
        records_[name], filed[name] = placed(texts)
    return Log(
        path,
        "sacct",
        records_,
        found[:, 5].astype(np.int64),
        start=start,
        rules=rules,
        cut_off=cut_off,
        partition=records_["partition"],
        partitions=filed["partition"],
        filed=filed,
        numbered=() if are_numbers(users) else ("user",),
    )


def _columns(path: Path, header: str) -> list[str]:
    columns = header.split(SEPARATOR)
    if len(columns) > MOST_COLUMNS:
        raise WorkloadError(
            f"{path}:1: found {len(columns):,} columns; accepted: at most {MOST_COLUMNS:,}"
        )
    found = {*columns} | ({ENDED} if {"Start", "End"} <= {*columns} else set())
    for names in (JOB_ID, ("Submit",), (*SIZE, *REQUESTED), (*ELAPSED, ENDED)):
        if not set(names) & found:
            raise WorkloadError(
                f"{path}:1: no column {' or '.join(names)} in {quoted(header.strip())}; accepted: "
                "sacct -P with its line of names"
            )
    if len(set(columns)) < len(columns):
        twice = next(name for name in columns if columns.count(name) > 1)
        raise WorkloadError(f"{path}:1: column {quoted(twice)} found twice; accepted: once")
    return columns


def _row(where: str, said: Mapping[str, str]) -> tuple[float, ...]:
    """Return number, arrival, size, run time, requested time and size; -1: unknown; and the wait.

    That is nan where nothing tells it, and below 0 where the job began before it was submitted.
    """
    start, end = (_when(where, said, name) for name in ("Start", "End"))
    limit = _first(where, said, LIMIT)
    runtime = _first(where, said, ELAPSED)
    if runtime < 0 <= start <= end:
        runtime = end - start
    state = said.get("State", "").partition(" ")[0]
    cancelled = state == "CANCELLED" and runtime <= 0
    if state in RUNNING or cancelled or said.get("NodeList") == "None assigned":
        runtime = -1.0
    submit = _when(where, said, "Submit")
    return (
        _number(where, said),
        submit,
        _first(where, said, SIZE),
        runtime,
        math.inf if limit < 0 else limit,
        _first(where, said, REQUESTED),
        start - submit if min(start, submit) >= 0 else math.nan,
    )


def _number(where: str, said: Mapping[str, str]) -> int:
    """Return the raw number of a job; without it, the one that the tasks of an array share."""
    text = said.get("JobIDRaw") or said.get("JobID", "")
    match = re.match(r"\d{1,15}(?!\d)", text, re.ASCII)
    if match is None:
        raise WorkloadError(f"{where}: JobID is {quoted(text)}; accepted: a number")
    return int(match[0])


def _first(where: str, said: Mapping[str, str], names: tuple[str, ...]) -> float:
    """Return the first of some columns that says something, as a number; -1 if none does."""
    for name in names:
        text = said.get(name, "").strip()
        if text in NOTHING:
            continue
        if name.endswith("TRES"):
            cpu = re.search(r"(?:^|,)cpu=(\d{1,15})(?:,|$)", text, re.ASCII)
            if cpu:
                return float(cpu[1])
            continue
        match = DURATION.fullmatch(text)
        value, unit = math.nan, 60 if name.startswith("Timelimit") else 1
        if match and name in ("Elapsed", "Timelimit"):
            days, hours, minutes, seconds = (float(part or 0) for part in match.groups())
            value = ((days * 24 + hours) * 60 + minutes) * 60 + seconds
        elif re.fullmatch(r"\d{1,15}", text, re.ASCII):
            value = float(text) * unit
        if not value <= LONGEST:
            timed = "a time such as 1-02:03:04, or " if name in ("Elapsed", "Timelimit") else ""
            raise WorkloadError(
                f"{where}: {name} is {quoted(text)}; accepted: {timed}a whole number up to "
                f"{LONGEST / unit:.3g}"
            )
        return value
    return -1.0


def _when(where: str, said: Mapping[str, str], name: str) -> float:
    """Return a time by the site's clock, or of a date with a zone, s; -1 if it is not said."""
    text = said.get(name, "").strip()
    if text in NOTHING:
        return -1.0
    if re.fullmatch(r"\d{1,12}", text, re.ASCII):
        return float(text)
    try:
        date = datetime.fromisoformat(text)
        return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
    except ValueError:
        raise WorkloadError(
            f"{where}: {name} is {quoted(text)}; accepted: a time such as 2021-10-05T11:26:12"
        ) from None
