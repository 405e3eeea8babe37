"""Logs of several sites as one workload."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from grid.distributions import require
from grid.jobs import JobArray
from grid.workloads.transform import moved


def merge_sites(sites: Mapping[int, JobArray]) -> tuple[JobArray, int]:
    """Return the jobs of all sites in order of arrival, and how many got another number.

    The origin of each job is its site. The logs are aligned at their first submit: each begins at
    time 0. Jobs of one instant come in the order of their sites' indices, then as in their log.

    Job numbers stay as they are unless one occurs at two sites. Then those of every site but the
    first are raised: the k-th site by index, counting from 0, adds k times the smallest power of
    ten above all numbers, so that job 17 of the third site may become 20017.

    Parameters
    ----------
    sites : mapping of int to JobArray
        The jobs of each cluster by its index, in order of arrival; at least one job each.

    Raises
    ------
    WorkloadError
        If a site is missing or has no job.
    """
    require(bool(sites), "logs of sites", len(sites), "at least one")
    parts = []
    for index in sorted(sites):
        require(len(sites[index]) > 0, f"jobs of site {index}", 0, "at least one")
        part = moved(sites[index], sites[index]["arrival"][0])
        part["origin"] = index
        parts.append(part)
    distinct = np.concatenate([np.unique(part["number"]) for part in parts])
    raised = 0
    if len(np.unique(distinct)) < len(distinct):
        step = 10 ** len(str(distinct.max()))
        for position, part in enumerate(parts):
            part["number"] += position * step
        raised = sum(map(len, parts[1:]))
    jobs = np.concatenate(parts)
    return jobs[np.argsort(jobs["arrival"], kind="stable")], raised
