"""A word on jobs that processors hardly ever stay up for."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from experiments.scenario.scenario import Scenario
from grid.jobs import JobArray
from grid.workloads.source import Workload
from grid.workloads.synthetic import BatchWorkload

MANY = 1e6
"""Starts of a job that can be expected before it ends, above which a word is due."""


def hardly_ending(
    scenario: Scenario, workload: Workload | BatchWorkload, mean_up_time: float
) -> str | None:
    """Return a line about the job that restarts most often, if that can be expected to be for ever.

    A job on n processors that all stay up for its execution time t starts exp(n t / mean_up_time)
    times on average, for times until failures are exponential.

    Parameters
    ----------
    scenario : Scenario
        Jobs are taken to run on the fastest cluster that can hold them.
    workload : Workload or BatchWorkload
        Its jobs are drawn anew.
    mean_up_time : float
        Mean time until a processor fails, s.
    """
    sizes, rates = scenario.platform.sizes, scenario.platform.rates
    order = np.argsort(sizes)
    fastest = np.maximum.accumulate(rates[order][::-1])[::-1]  # of those at least as large
    worst, line, more = 0.0, None, -1
    for jobs in _chunks(workload):
        able = jobs[jobs["size"] <= scenario.largest_job]
        places = np.minimum(np.searchsorted(sizes[order], able["size"]), len(sizes) - 1)
        times = able["runtime"] / fastest[places]
        exponents = able["size"] * times / mean_up_time
        many = exponents > math.log(MANY)
        more += int(many.sum())
        if many.any() and exponents.max() > worst:
            at = int(exponents.argmax())
            worst, job = float(exponents[at]), able[at]
            line = (
                f"job {job['number']}: {job['size']} processors for {times[at]:,.6g} s, each of "
                f"which fails after {mean_up_time:g} s on average (mean_up_time): can be expected "
                f"to start 1e{worst / math.log(10):.0f} times before it ends"
            )
    if line is None or more == 0:
        return line
    return f"{line}, and {more:,} more job{'s' * (more > 1)} over a million times"


def _chunks(workload: Workload | BatchWorkload) -> Iterator[JobArray]:
    if not isinstance(workload, BatchWorkload):
        yield from workload.chunks()
        return
    anew = replace(workload)
    while len(jobs := anew.next_batch(0.0)):
        yield jobs
