"""The history of a service of real jobs (`metasched serve`): its file of all jobs."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from grid.errors import WorkloadError
from grid.jobs import job_table
from grid.logs.fields import placed
from grid.logs.log import Log

MAGIC = b"SQLite format 3\0"
"""How the file begins."""
VERSION = 4
"""Of its tables, as of `experiments.service.store`."""


def live_log(path: Path) -> Log:
    """Read what a service knows of its jobs, also while it is there.

    A job's run time is that of its last attempt, on a site of rate 1; it has none if it has not
    begun, or not ended. Its application is its name; its user is that of the service.

    Parameters
    ----------
    path : Path
        Its `jobs.db`.

    Raises
    ------
    WorkloadError
        If it is another file, or of another version.
    """
    asked = (
        "SELECT job, name, size, time, deadline, submitted, site, started, ended, rate FROM jobs"
    )
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as file:
            (version,) = file.execute("PRAGMA user_version").fetchone()
            if version != VERSION:
                raise WorkloadError(f"{path}: found version {version}; accepted: {VERSION}")
            rows = file.execute(f"{asked} ORDER BY job").fetchall()
            notes = dict(file.execute("SELECT name, value FROM notes"))
        sizes = {site: facts["size"] for site, facts in json.loads(notes.get("ever", "{}")).items()}
    except (sqlite3.Error, ValueError, KeyError, TypeError, AttributeError) as error:
        raise WorkloadError(
            f"{path}: {error}; accepted: the jobs.db of metasched serve, as it was written"
        ) from None
    if not rows:
        raise WorkloadError(f"{path}: empty workload: found no job; accepted: at least one")
    number, name, size, time, deadline, submitted, site, started, ended, rates = zip(
        *rows, strict=True
    )
    begun, over = np.array(started, float), np.array(ended, float)
    jobs = job_table(len(rows))
    jobs["number"], jobs["size"], jobs["arrival"] = number, size, submitted
    rate = np.nan_to_num(np.array(rates, float), nan=1.0)
    jobs["runtime"] = np.nan_to_num(np.maximum(over - begun, 0.0) * rate, nan=-1.0)
    for column, values in (("requested_time", time), ("deadline", deadline)):
        jobs[column] = np.nan_to_num(np.array(values, float), nan=np.inf)
    jobs["recorded_wait"] = np.nan_to_num(np.maximum(begun - jobs["arrival"], 0.0), nan=-1.0)
    jobs["application"], names = placed(name)
    return Log(
        path,
        "live",
        jobs,
        processors=sum(sizes.get(each, 0) for each in {*site}) or None,  # that jobs have seen
        start=datetime.fromtimestamp(0, UTC),
        applications=dict(enumerate(names)),
        size_note="those of the sites where jobs have run",
        numbered=("application",),
    )
