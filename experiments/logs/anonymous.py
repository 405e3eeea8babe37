"""A log without what names people: for handing on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from grid.errors import WorkloadError
from grid.jobs import UNKNOWN
from grid.workloads.table import Table
from grid.workloads.transform import moved

TOLD = {
    "partition": "partitions: numbered from 0 on",
    "user": "users: numbered at random, differently each time",
    "application": "applications: numbered at random, differently each time",
    "job": "jobs: numbered from 1 on, in order of arrival",
    "arrival": "times: from the first arrival on, without a date",
}
"""What is done to it, in words, by columns: told where jobs say something there and a format
has a place for it."""


def anonymous(table: Table) -> Table:
    """Return jobs whose users and applications are known by none of their names or numbers.

    Who is the same stays the same. Times, sizes and origins stay, but for the date.

    Raises
    ------
    WorkloadError
        If applications have to keep their names, for models by these names say how long jobs run.

    Examples
    --------
    >>> from grid.jobs import job_table
    >>> jobs = job_table(3)
    >>> jobs["size"], jobs["runtime"], jobs["user"] = 1, 60.0, [700, -1, 700]
    >>> found = anonymous(Table(jobs)).jobs
    >>> found["user"].tolist(), found["number"].tolist()
    ([0, -1, 0], [1, 2, 3])
    """
    if table.jobs["problem_size"].any():
        raise WorkloadError(
            "--anonymise: found jobs with problem sizes, whose applications name their models; "
            "accepted: jobs with run times"
        )
    jobs = moved(table.jobs, float(table.jobs["arrival"][0]))
    jobs["number"] = np.arange(1, len(jobs) + 1)
    draw = np.random.default_rng()  # of no seed: whoever has it could undo this
    for name in ("user", "application"):
        known = jobs[name] != UNKNOWN
        _, index = np.unique(jobs[name][known], return_inverse=True)
        numbers = draw.permutation(int(index.max(initial=-1)) + 1)
        jobs[name][known] = numbers[index]
    filed = {name: tuple(map(str, range(len(each)))) for name, each in table.filed.items()}
    return replace(table, jobs=jobs, start=None, applications={}, filed=filed)
