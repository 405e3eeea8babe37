"""A result in words and columns, for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from experiments.results import Result

if TYPE_CHECKING:
    from experiments.studies.replications import Replications
    from experiments.studies.saturation import Saturation

REJECTED_NAMED, CLUSTERS_SHOWN = 10, 20
"""Rejected jobs and clusters that people are shown at most."""

UNSTABLE = "not stable: the queue grew for as long as jobs arrived, and means with it"

_LITERALLY: dict[str, Any] = {"markup": False, "emoji": False, "highlight": False}


def print_result(result: Result, console: Console) -> None:
    """Print the run and its clusters, in plain columns that fit 80 characters."""
    summary = result.summary()
    metrics, counts = summary["metrics"], result.counts
    schedulers = f"{summary['global']} over {summary['local']}"
    title = f"{summary['scenario']}: {schedulers}, seed {result.seed}"
    console.print(title, style="bold", **_LITERALLY)
    table = Table.grid(padding=(0, 2, 0, 0))
    for label, value in (
        ("jobs completed", f"{counts['completed']:,} of {counts['submitted']:,} submitted"),
        ("simulated time", f"{_seconds(result.simulated_s)}, in {_seconds(result.wall_s)}"),
        *_performance(result, metrics),
        ("mean wait", _seconds(metrics["mean_wait"])),
        ("longest wait", _seconds(metrics["max_wait"])),
        ("mean turnaround", _seconds(metrics["mean_turnaround"])),
        *_responses(metrics),
        ("mean bounded slowdown", _number(metrics["mean_bounded_slowdown"])),
        ("over-deadline of all jobs", _seconds(metrics["over_deadline"])),
        ("deadlines met", _percent(metrics["deadlines_met"])),
        ("makespan", _seconds(metrics["makespan"])),
        ("idle-time of a processor", _seconds(metrics["idle_time_mean"])),
        ("utilization", _percent(metrics["utilization"])),
        *_coallocation(metrics, summary["links"]),
        *_losses(result),
        ("messages", f"{sum(result.messages.values()):,}"),
        *((name, _own(value)) for name, value in result.own_metrics.items()),
    ):
        table.add_row(label, value)
    console.print(table)
    console.print()
    console.print(_clusters_table(summary["clusters"]))
    console.print("idle: mean of the processors; late: over-deadline, sum of the jobs")
    console.print(f"CP: {'whole run' if result.rounds is None else 'mean of rounds'}")
    for line in _remarks(result):
        console.print(line, **_LITERALLY)


def print_replications(found: Replications, console: Console) -> None:
    """Print the mean of each metric with its confidence interval."""
    schedulers = f"{found.scenario.global_scheduler} over {found.scenario.local_scheduler}"
    title = f"{found.scenario.name}: {schedulers}, {len(found.runs)} replications"
    console.print(f"{title}, seed {found.seed}", style="bold", **_LITERALLY)
    if found.unstable:
        console.print(
            f"not stable: in {found.unstable} of {len(found.runs)} the queue grew for as long as "
            "jobs arrived, so that means would only tell how long they were",
            **_LITERALLY,
        )
        return
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column("metric")
    table.add_column("mean", justify="right")
    table.add_column("95 % confidence")
    for name, interval in found.means.items():
        if interval is not None:
            half = interval.half_width
            told = "-" if half is None else f"± {half:.3g}"
            table.add_row(Text(name), f"{interval.mean:,.6g}", told)
    console.print(table)


def print_saturation(found: Saturation, console: Console) -> None:
    """Print the bracket of a maximal utilization, and the loads that were tried."""
    schedulers = f"{found.scenario.global_scheduler} over {found.scenario.local_scheduler}"
    title = f"{found.scenario.name}: {schedulers}, {found.replications} runs at each load"
    console.print(f"{title}, seed {found.seed}", style="bold", **_LITERALLY)
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column("load")
    table.add_column("growth of queues", justify="right")
    table.add_column("verdict")
    for load, growth in sorted(found.bracket.growth.items()):
        told = f"{growth.mean:.2f} ± {growth.half_width:.2f}"
        table.add_row(f"{load:.5g}", told, found.bracket.verdict(load))
    console.print(table)
    console.print("growth: mean queue in the last third of runs over that in the first; 2.37 where")
    console.print("queues are just borne, and 95 % confidence intervals")
    low, high = found.bracket.low, found.bracket.high
    console.print(f"maximal utilization: between {low:.4f} and {high:.4f}", **_LITERALLY)


def _responses(metrics: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield how long jobs of one component took and those of more, if queues were visited."""
    if "response_local" in metrics:
        yield "response, one component", _seconds(metrics["response_local"])
        yield "response, several", _seconds(metrics["response_global"])


def _performance(result: Result, metrics: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield MCP and PB with what they are of."""
    if result.round_count:
        yield "rounds", f"{result.round_count:,}"
    for of, words, told in (
        ("", "mean of rounds", result.rounds is not None),
        ("_planned", "rounds as planned", metrics["mcp_planned"] is not None),
        ("_overall", "whole run", True),
    ):
        if told:
            values = f"{_seconds(metrics[f'mcp{of}'])}, {_seconds(metrics[f'pb{of}'])}"
            yield f"MCP, PB: {words}", values


def _losses(result: Result) -> Iterator[tuple[str, str]]:
    """Yield what failures cost, if they did."""
    if result.restarts:
        lost = f"{_number(result.lost_work)} processor-seconds lost"
        yield "restarts", f"{result.restarts:,}, {lost}"


def _coallocation(
    metrics: dict[str, Any], links: list[dict[str, Any]]
) -> Iterator[tuple[str, str]]:
    """Yield what splitting jobs and staging their data came to, if that happened."""
    if metrics["coallocated"]:
        yield "co-allocated jobs", _percent(metrics["coallocated"])
        yield "their time over dedicated", f"{metrics['mean_penalty']:.3f}"
        most = max(link["saturated"] for link in links)
        yield "most saturated link", f"{_percent(most)} of the time"
    if metrics["mean_staging"]:
        yield "jobs away from origin", _percent(metrics["migrated"])
        yield "mean staging of those", _seconds(metrics["mean_staging"])


def _remarks(result: Result) -> Iterator[str]:
    """Yield in words what the tables do not say."""
    if (more := len(result.platform.clusters) - CLUSTERS_SHOWN) > 0:
        yield f"and {more} more clusters"
    if rejected := result.rejected:
        named = ", ".join(map(str, rejected[:REJECTED_NAMED]))
        rest = ", ..." if len(rejected) > REJECTED_NAMED else ""
        reasons = [*result.rejections.items()]
        why = f", {reasons[0][0]}" if len(reasons) == 1 else ""
        yield f"{_jobs(len(rejected))} rejected{why}: {named}{rest}"
        for why, count in reasons if len(reasons) > 1 else ():
            yield f"  {count:,}: {why}"
    if result.unfinished:
        why = "the run was interrupted" if result.interrupted else result.why_unfinished
        yield f"{_jobs(result.unfinished)} not finished: {why}"
    elif result.interrupted:
        yield "the run was interrupted before the next jobs came"
    if result.stable is False:
        yield UNSTABLE
    if result.cleaning.rules:
        yield f"cleaning of {result.cleaning.records:,} records:"
    for rule, count in result.cleaning.rules.items():
        yield f"  {count:,}: {rule}"


def _number(value: float | None) -> str:
    """Return a number in at most ten characters."""
    if value is None:
        return "-"
    if abs(value) < 1e5:
        return f"{value:,.1f}"
    return f"{value:,.0f}" if abs(value) < 1e8 else f"{value:.2e}"


def _own(value: float | None) -> str:
    return "-" if value is None else f"{value:,.6g}"


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{_number(value)} s"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f}%"


def _jobs(count: int) -> str:
    return "1 job" if count == 1 else f"{count:,} jobs"


def _clusters_table(clusters: list[dict[str, Any]]) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("cluster", no_wrap=True, max_width=12)
    for heading in ("procs", "jobs", "used", "makespan s", "idle s", "late s", "CP s"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in clusters[:CLUSTERS_SHOWN]:
        seconds = (row[key] for key in ("makespan", "idle_time_mean", "over_deadline", "cp"))
        used = _percent(row["utilization"])
        table.add_row(
            Text(row["name"]), str(row["size"]), str(row["jobs"]), used, *map(_number, seconds)
        )
    return table
