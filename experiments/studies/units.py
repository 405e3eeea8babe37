"""What the metrics of runs are counted in."""

from __future__ import annotations

UNITS = {
    "s": (
        "mean_wait",
        "max_wait",
        "p95_wait",
        "mean_turnaround",
        "over_deadline",
        "makespan",
        "idle_time_mean",
        "mean_staging",
    ),
    "processor-s": ("idle_time_total", "work", "lost_work"),
    "jobs/s": ("throughput",),
}
"""Metrics by what they are counted in."""


def unit_of(metric: str) -> str:
    """Return what a metric is counted in, "" for a share, a number, or one of the user's own.

    >>> unit_of("mean_wait"), unit_of("utilization"), unit_of("response_total")
    ('s', '', 's')
    """
    if metric.startswith("response_"):
        return "s"
    return next((unit for unit, names in UNITS.items() if metric in names), "")
