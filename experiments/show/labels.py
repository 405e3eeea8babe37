"""What metrics are called and counted in, wherever people read them.

A `label` is a metric in words, a `heading` has its unit too, and `told` is its value as people read
it. Metrics of the user's own have their names for labels, and no unit.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from agents.registry import GLOBAL, global_scheduler
from experiments.show.numbers import (
    PERCENT,
    PLAIN,
    POINTS,
    Scale,
    counted,
    largest,
    listed,
    percent,
    time_scale,
)


class Metric(NamedTuple):
    """A metric in words, and the kind of number that it is: a key of `UNITS`."""

    label: str
    kind: str = "number"


UNITS = {
    "time": "s",
    "work": "processor-s",
    "rate": "jobs/s",
    "energy": "kWh",
    "mass": "kg",
    "share": "",
    "ratio": "",
    "number": "",
}
"""Units in which numbers of each kind are kept, in files and in ``--json``."""

METRICS = {
    "mean_wait": Metric("mean wait", "time"),
    "p95_wait": Metric("95th percentile of waits", "time"),
    "max_wait": Metric("longest wait", "time"),
    "mean_turnaround": Metric("mean turnaround", "time"),
    "response_total": Metric("mean response", "time"),
    "response_local": Metric("mean response, one component", "time"),
    "response_global": Metric("mean response, several", "time"),
    "mean_bounded_slowdown": Metric("mean bounded slowdown", "ratio"),
    "p95_bounded_slowdown": Metric("95th percentile of bounded slowdowns", "ratio"),
    "over_deadline": Metric("over-deadline of all jobs", "time"),
    "deadlines_met": Metric("deadlines met", "share"),
    "drawn_deadlines": Metric("deadlines drawn at random", "share"),
    "mean_prediction_error": Metric("mean prediction error", "share"),
    "prediction_accuracy": Metric("prediction accuracy", "share"),
    "makespan": Metric("makespan", "time"),
    "work": Metric("work", "work"),
    "idle_time_total": Metric("idle-time of all processors", "work"),
    "idle_time_mean": Metric("idle-time of a processor", "time"),
    "coallocated": Metric("co-allocated jobs", "share"),
    "mean_penalty": Metric("mean penalty of co-allocation", "ratio"),
    "migrated": Metric("moved, of jobs with an origin", "share"),
    "mean_staging": Metric("mean staging", "time"),
    "utilization": Metric("utilization", "share"),
    "throughput": Metric("throughput", "rate"),
    "gini_wait": Metric("Gini of users' waits", "ratio"),
    "gini_slowdown": Metric("Gini of users' slowdowns", "ratio"),
    "energy_kwh": Metric("energy", "energy"),
    "cost": Metric("cost of electricity"),
    "co2_kg": Metric("CO2", "mass"),
    "cp": Metric("CP", "time"),
    "cp_planned": Metric("planned CP", "time"),
    "cp_overall": Metric("CP, whole run", "time"),
    "mcp": Metric("MCP", "time"),
    "pb": Metric("PB", "time"),
    "mcp_planned": Metric("planned MCP", "time"),
    "pb_planned": Metric("planned PB", "time"),
    "mcp_overall": Metric("MCP, whole run", "time"),
    "pb_overall": Metric("PB, whole run", "time"),
    "rounds": Metric("rounds"),
    "refused_starts": Metric("starts refused"),
    "restarts": Metric("restarts"),
    "preemptions": Metric("preemptions"),
    "lost_work": Metric("work lost", "work"),
    "messages_lost": Metric("messages lost"),
    "mean_age": Metric("mean age of knowledge", "time"),
    "size": Metric("processors"),
    "rate": Metric("rate", "ratio"),
    "jobs": Metric("jobs"),
    "mean_demand": Metric("mean demand over capacity", "share"),
    "saturated": Metric("time saturated", "share"),
}
"""Metrics of runs, clusters and links by their names in files."""

OF_PARTS = ("size", "rate", "jobs", "mean_demand", "saturated")
"""Those of clusters and links alone."""

MEASURED = (
    *("mean_wait", "max_wait", "mean_turnaround", "response_local", "response_global"),
    *("mean_bounded_slowdown", "over_deadline", "deadlines_met", "makespan"),
    *("idle_time_mean", "utilization", "energy_kwh", "cost", "co2_kg"),
)
"""Metrics that people are shown first, in their order."""

OPTIONAL = (
    *("coallocated", "mean_penalty", "migrated", "mean_staging", "mean_prediction_error"),
    *("refused_starts", "restarts", "preemptions", "lost_work", "messages", "messages_lost"),
    "mean_age",
)
"""Metrics of what not every run has: 0 says nothing."""

OF_DEADLINES = ("over_deadline", "deadlines_met", "drawn_deadlines")
"""Metrics of jobs with a deadline."""

WHOLE_RUN = (
    *("messages", "messages_lost", "mean_age", "refused_starts", "restarts", "preemptions"),
    *("lost_work", "rounds"),
)
"""Metrics, and tables of them, of all that happened in a run, whatever became of the jobs."""

OF_CHOSEN = {"mean_penalty": "split", "mean_staging": "moved"}
"""Metrics of the jobs alone with which policies did so."""

ELECTRIC = {"energy_kwh": "watts are", "cost": "price is", "co2_kg": "carbon intensity is"}
"""Metrics of electricity, and what they need."""

OWN_RATES = "Jobs of some sites ran at rates of their own: parameter speeds."
WAITS_OF_RESTARTED = "waits: up to the last start of a job, what it ran in vain before included"
TIMES_OF_RESTARTED = f"{WAITS_OF_RESTARTED}; makespan: from the first of the last starts"

SLOWED_NOBODY = "saturated links slowed no job; jobs that compute only (fraction 1) never are"

_NAMED = 4
"""Clusters with processors away that are named at most."""

TABLES = {
    "response_queues": Metric("mean response, queue", "time"),
    "messages": Metric("messages,"),
    "mean_age": Metric("mean age of knowledge, level", "time"),
    "wait_origins": Metric("mean wait, from", "time"),
    "slowdown_origins": Metric("mean bounded slowdown, from", "ratio"),
}
"""Metrics that are tables: of each entry the label begins so."""


WITHIN = "/"
"""Stands between the name of a table among the metrics and that of a number in it."""


def metric(name: str) -> Metric:
    """Return what is known of a metric by its name, or by its path in a table of metrics.

    >>> metric("mean_wait"), metric("messages/order").label, metric("response_queues/C1").kind
    (Metric(label='mean wait', kind='time'), 'messages, order', 'time')
    """
    table, _, key = name.partition(WITHIN)
    if key and table in TABLES:
        return Metric(f"{TABLES[table].label} {key}", TABLES[table].kind)
    return METRICS.get(name) or Metric(name)


def slowed_nobody(summary: dict[str, Any]) -> str:
    """Return that links of a run were saturated and slowed no job, "" where one was."""
    saturated = any(link["saturated"] for link in summary["links"])
    slowed = summary["metrics"]["mean_penalty"] != 1
    return "" if slowed or not saturated else SLOWED_NOBODY


def told_of_origins(rows: Sequence[Mapping[str, Any]], names: Iterable[str]) -> list[str]:
    """Return which numbers of origins people are shown: of what befell no job, 0 says nothing."""
    return [
        name
        for name in names
        if name not in ("rejected", "migrated") or any(row[name] for row in rows)
    ]


def is_of_whole_run(name: str) -> bool:
    """Return whether a metric is of all that happened (`WHOLE_RUN`), not of completed jobs."""
    return name.partition(WITHIN)[0] in WHOLE_RUN


def is_optional(name: str) -> bool:
    """Return whether a metric is of what not every run has (`OPTIONAL`)."""
    return name.partition(WITHIN)[0] in OPTIONAL


def may_lack(name: str) -> bool:
    """Return whether a run may have no such number though another of the same study has it."""
    return WITHIN in name or is_optional(name)


def why_none(name: str) -> str:
    """Return why runs may lack a metric altogether, "" if it only takes a job to have it.

    >>> why_none("mcp"), why_none("deadlines_met"), why_none("cost"), why_none("mean_wait")
    ('jobs are not allocated in rounds', 'no job has a deadline', 'no price is given', '')
    """
    if name in ELECTRIC:
        return f"no {ELECTRIC[name]} given"
    if name in OF_DEADLINES:
        return "no job has a deadline"
    of_rounds = name == "rounds" or name.partition("_")[0] in ("mcp", "pb", "cp")
    reports = ", or no local scheduler reports CP" if name.endswith("_planned") else ""
    return f"jobs are not allocated in rounds{reports}" if of_rounds else ""


def label(name: str) -> str:
    """Return a metric in words."""
    return metric(name).label


def unit_of(name: str) -> str:
    """Return what a metric is kept in, "" for a share, a ratio, a number, or one of the user's own.

    >>> unit_of("mean_wait"), unit_of("utilization"), unit_of("work")
    ('s', '', 'processor-s')
    """
    return UNITS[metric(name).kind]


def scale_of(name: str, values: Iterable[float | None], least: float = math.inf) -> Scale:
    """Return the one unit in which some values of a metric are told, such as those of a column.

    Of times, a smaller one if it must show the least that is given.

    >>> scale_of("mean_wait", [30.0, 9000.0]).unit, scale_of("throughput", [0.002]).unit
    ('h', 'jobs/min')
    """
    kind, most = metric(name).kind, largest(values)
    if kind == "share":
        return PERCENT
    if kind == "rate":
        of_time = time_scale(2 / most if most else 0.0)
        return Scale(1 / of_time.size, f"jobs/{of_time.unit}")
    scale = time_scale(most, least) if kind in ("time", "work") else PLAIN
    unit = {"time": scale.unit, "work": f"processor-{scale.unit}"}.get(kind, UNITS[kind])
    return Scale(scale.size, unit)


def scale_of_difference(name: str, scale: Scale) -> Scale:
    """Return the unit of differences of a metric, whose own values are told in a scale.

    >>> scale_of_difference("utilization", PERCENT).unit
    'percentage points'
    """
    return POINTS if metric(name).kind == "share" else scale


def heading(name: str, scale: Scale | None = None) -> str:
    """Return a metric in words with its unit: that of a scale, or the one in which it is kept.

    >>> heading("mean_wait"), heading("mean_wait", scale_of("mean_wait", [9000.0]))
    ('mean wait, s', 'mean wait, h')
    """
    unit = unit_of(name) if scale is None else scale.unit
    return label(name) + (f", {unit}" if unit else "")


def told(
    name: str, value: float | None, half: float | None = None, scale: Scale | None = None
) -> str:
    """Return a value of a metric with its half-width, if it has one, in a unit or in what suits it.

    >>> told("mean_wait", 9000.0), told("utilization", 0.853), told("restarts", 3)
    ('2.50 h', '85.3 %', '3')
    """
    if half is None and metric(name).kind == "share":
        return percent(value)
    return (scale or scale_of(name, [value])).with_unit(value, half)


def drawn_words(deadlines: str | None) -> str:
    """Return a line about deadlines, given where they are from; nothing if all are the jobs' own.

    >>> drawn_words("drawn")
    'deadlines: drawn, as the jobs bring none (parameter assign_deadlines)'
    """
    some = {"drawn": "drawn, as the jobs bring none", "mixed": "drawn for jobs that bring none"}
    return f"deadlines: {some[deadlines]} (parameter assign_deadlines)" if deadlines in some else ""


def warm_up_words(warmup: int, left_out: int, arrived: int) -> str:
    """Return a line on a warm-up that leaves out fewer jobs than it has; nothing on others.

    >>> warm_up_words(20, 0, 120)
    'warmup: 20, of which none is left out: all come with the first that counts'
    """
    if left_out >= min(warmup, arrived):
        return ""
    are, others = f"{left_out:,} {'is' if left_out == 1 else 'are'}", "the others"
    if not left_out:
        are, others = "none is", "all"
    return f"warmup: {warmup:,}, of which {are} left out: {others} come with the first that counts"


def away_words(away: Mapping[str, float], varies: bool = False) -> str:
    """Return how many processors of which clusters are away, if any are; in some runs at most.

    >>> away_words({"A": 1, "B": 0}), away_words({"A": 1, "B": 1200}), away_words({"A": 5}, True)
    ('1 processor of A is away', '1 processor of A and 1,200 of B are away', \
'up to 5 processors of A are away')
    >>> away_words(dict.fromkeys("ABCDE", 2)), away_words({})
    ('10 processors of 5 clusters are away', '')
    """
    away = {name: count for name, count in away.items() if count}
    if len(away) > _NAMED:
        away = {counted(len(away), "cluster"): sum(away.values())}
    if not away:
        return ""
    (name, count), *others = away.items()
    named = [f"{counted(count, 'processor')} of {name}"]
    named += [f"{count:,.0f} of {name}" for name, count in others]
    are = "is" if sum(away.values()) == 1 else "are"
    return f"{'up to ' if varies else ''}{listed(named)} {are} away"


def has_a_say(global_: str, clusters: int) -> bool:
    """Return whether the global scheduler of a run decides anything, given how many clusters."""
    return clusters > 1 or global_ not in GLOBAL or not global_scheduler(global_).only_chooses


def schedulers(global_: str, local: str, clusters: int) -> str:
    """Return the schedulers of a run: a global one that decides nothing is not named.

    >>> schedulers("dll", "easy", 4), schedulers("dll", "easy", 1), schedulers("muscle", "titan", 1)
    ('dll over easy', 'easy', 'muscle over titan')
    """
    return f"{global_} over {local}" if has_a_say(global_, clusters) else local
