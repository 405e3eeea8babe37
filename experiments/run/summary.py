"""A result in numbers, for programs."""

from __future__ import annotations

import functools
import math
from importlib import metadata
from typing import TYPE_CHECKING, Any

from grid.metrics.energy import summed
from grid.metrics.of_run import cluster_metrics, job_metrics, origin_metrics

if TYPE_CHECKING:
    from experiments.run.totals import RunTotals


LARGEST = 20
"""Users of whom a summary tells, those who used most."""


ORIGIN_TABLES = {"wait_origins": "mean_wait", "slowdown_origins": "mean_bounded_slowdown"}
"""Tables among the metrics, of what those of each origin had."""


def summary_of(result: RunTotals) -> dict[str, Any]:
    """Return the run in numbers, ready for JSON: None where nothing defines a number.

    Parameters
    ----------
    result : RunTotals

    Returns
    -------
    dict
        ``scenario``, ``seed``, ``jobs``, ``deadlines`` (`RunTotals.deadlines`), ``metrics``
        (`grid.metrics.of_run.job_metrics`; mcp and pb, of what cp_basis says; mcp_overall and
        pb_overall, of the run as one round; mcp_planned and pb_planned, means over the rounds as
        planned; rounds, how many there were: all of these and ``cp`` None if jobs were not
        allocated in rounds; drawn_deadlines, the share of the jobs' deadlines that were drawn;
        energy_kwh, cost and co2_kg (`grid.metrics.energy`), None unless they are told;
        stable (`RunTotals.stable`); if queues were visited, mean turnarounds: response_total,
        response_local of jobs of one component, response_global of others, response_queues of each
        queue, and saturated, which is not stable;
        refused_starts; restarts and lost_work; the messages by kind and how many were lost;
        if there are ``origins``, wait_origins and slowdown_origins, the mean of each;
        metrics of the user's own), ``clusters`` (`grid.metrics.of_run.cluster_metrics`; cp,
        cp_overall and cp_planned; restarts and lost_work; energy_kwh, cost, co2_kg; the messages
        that its broker sent and received), ``links`` (of each its mean demand over capacity, and
        the share of time in which it is saturated, None if the global scheduler takes no account of
        links), ``wall_s``, ``simulated_s``, ``rejected_jobs`` (all their numbers), ``rejections``
        (how many, by why);
        ``brokers`` (`RunTotals.brokers`) if there are some between;
        ``applications`` if predictions are not exact and jobs name some (their ``count``, and of
        the ``largest``, those of most jobs, a row each: `RunTotals.applications`);
        ``classes`` if deadlines were drawn from service classes (`RunTotals.classes`);
        ``origins`` if jobs have some (`grid.metrics.of_run.origin_metrics`);
        ``users`` if jobs name them (their ``count``, and of the ``largest``, those who used most,
        a row each: `grid.metrics.fairness.Users.table`);
        ``start``, what a log's clock showed at time 0, if that is known and arrivals
        are not scaled;
        `Scenario.to_dict` and ``version``, which say what ran; ``cleaning`` if records of a log
        were cleaned, ``notes`` on what may mislead, ``unfinished`` and ``interrupted`` if so,
        ``why_unfinished`` where jobs are, unless the run was interrupted; the scenario's extras.
    """
    metrics: dict[str, float | None] = {}
    clusters = cluster_metrics(result.tally)
    for of, rounds in (
        ("", result.overall if result.rounds is None else result.rounds),
        ("_overall", result.overall),
        ("_planned", result.planned),
    ):
        means = rounds.means()
        in_rounds = result.in_rounds
        metrics |= {
            f"mcp{of}": means.mcp if in_rounds else None,
            f"pb{of}": means.pb if in_rounds else None,
        }
        for cluster, cp in zip(clusters, means.cps, strict=True):
            cluster[f"cp{of}"] = cp if in_rounds else None
    origins = origin_metrics(result.tally)
    told = zip(clusters, result.cluster_losses, result.cluster_messages, strict=True)
    for cluster, losses, messages in told:
        cluster |= {**losses, "messages": messages}
    for cluster, drawn in zip(clusters, result.energy, strict=True):
        cluster |= drawn
    summary: dict[str, Any] = {
        "scenario": result.scenario.name,
        "seed": result.seed,
        "jobs": result.counts,
        "deadlines": result.deadlines,
        "metrics": {
            **metrics,
            "cp_basis": result.basis,
            "rounds": result.round_count if result.in_rounds else None,
            "drawn_deadlines": result.drawn_deadlines,
            **job_metrics(result.tally),
            **summed(result.energy),
            "stable": result.stable,
            **_responses(result),
            "refused_starts": result.refused_starts,
            "restarts": result.restarts,
            **({} if result.preemptions is None else {"preemptions": result.preemptions}),
            "lost_work": result.lost_work,
            "messages": result.messages,
            "messages_lost": result.messages_lost,
            **({"mean_age": result.mean_ages} if result.brokers else {}),
            **_by_origin(origins),
            **result.own_metrics,
        },
        "clusters": clusters,
        "links": _links(result),
        "wall_s": result.wall_s,
        "simulated_s": result.simulated_s,
        "rejected_jobs": result.rejected,
        "rejections": result.rejections,
        **result.scenario.to_dict(),
        "version": version(),
    }
    if result.platform.brokers:
        summary["brokers"] = result.brokers
    if result.stated.timed:
        summary["execution_times"] = "given"
    if result.classes:
        summary["classes"] = result.classes
    if origins:
        summary["origins"] = origins
    if of_each := result.applications:
        summary["applications"] = {"count": len(of_each), "largest": of_each[:LARGEST]}
    users = result.tally.users.table()
    if users:
        summary["users"] = {"count": len(users), "largest": users[:LARGEST]}
    if result.stated.start:
        summary["start"] = result.stated.start
    if result.cleaning.records:
        summary["cleaning"] = {"records": result.cleaning.records, "rules": result.cleaning.rules}
    if result.notes:
        summary["notes"] = [*result.notes]
    if result.unfinished:
        summary["unfinished"] = result.unfinished
    if result.interrupted:
        summary["interrupted"] = True
    elif result.unfinished:
        summary["why_unfinished"] = result.why_unfinished
    return summary | dict(result.extras)


def _links(result: RunTotals) -> list[dict[str, Any]]:
    names, found = result.link_names, result.statistics.links
    if found is None:
        return [{"name": name, "mean_demand": None, "saturated": None} for name in names]
    return [
        {"name": name, "mean_demand": demand, "saturated": saturated}
        for name, demand, saturated in zip(
            names, found.demand.tolist(), found.saturated.tolist(), strict=True
        )
    ]


def _responses(result: RunTotals) -> dict[str, Any]:
    """Return mean response times as `queues` has them, if queues were visited."""
    found = result.statistics.responses
    if found is None:
        return {}
    names = (*result.scenario.platform.names, "global")
    return {
        "response_total": result.statistics.mean_turnaround,
        "response_local": _known(found.local),
        "response_global": _known(found.everywhere),
        "response_queues": dict(zip(names, map(_known, found.queues.tolist()), strict=True)),
        "saturated": None if result.stable is None else not result.stable,
    }


def _by_origin(origins: list[dict[str, Any]]) -> dict[str, Any]:
    """Return tables of what is compared by origin; jobs of the grid have none to be named by."""
    return {
        table: {each["name"]: each[name] for each in origins if each["name"]}
        for table, name in ORIGIN_TABLES.items()
        if origins
    }


def _known(number: float) -> float | None:
    return None if math.isnan(number) else number


@functools.cache
def version() -> str | None:
    """Return the version of the installed package; None if it runs without being installed."""
    try:
        return metadata.version("metasched")
    except metadata.PackageNotFoundError:
        return None
