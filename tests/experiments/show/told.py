"""Runs as they are changed for a test, and what is said of them."""

from __future__ import annotations

import copy
import dataclasses

import numpy as np

from experiments.show.comparing import compared
from experiments.show.words import found
from grid.world.records import Parts


def changed(ran, name="quickstart", rows=None, **metrics):
    summary = copy.deepcopy(ran.summary)
    summary["metrics"] |= metrics
    rows = rows or range(len(ran.jobs))
    jobs = ran.jobs.iloc[rows].reset_index(drop=True)
    kept = np.isin(ran.parts.job, rows)
    parts = Parts(*(of[kept] for of in ran.parts))
    parts = parts._replace(job=parts.job - rows[0])
    return dataclasses.replace(ran, name=name, summary=summary, jobs=jobs, parts=parts)


def words(ran):
    return " ".join(each.text for each in found(ran))


def compared_words(*runs):
    return " ".join(each.text for each in compared([*runs]))


def use(ran, *shares, jobs=20, waits=(0.0, 0.0, 0.0, 90.0)):
    for row, share, wait in zip(ran.summary["clusters"], shares, waits, strict=True):
        row |= {"utilization": share, "jobs": jobs, "mean_wait": wait}
    return words(ran)
