"""A result in words and columns, for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from experiments.run.result_files import measured_links
from experiments.run.results import Result
from experiments.scenario.unread import PREDICTIONS, go_by_predictions
from experiments.show.labels import (
    MEASURED,
    TIMES_OF_RESTARTED,
    drawn_words,
    label,
    scale_of,
    schedulers,
    slowed_nobody,
    told,
    told_of_origins,
)
from experiments.show.numbers import counted, duration, percent
from experiments.show.tables import print_rows, print_whole
from grid.foreign import plain
from grid.jobs import UNKNOWN
from grid.metrics.stability import GREW
from grid.platform.topology import GRID

if TYPE_CHECKING:
    from experiments.scenario.scenario import Scenario
    from experiments.sweeps.replications import Replications
    from experiments.sweeps.saturation import Saturation

REJECTED_NAMED, ROWS_SHOWN = 10, 20
"""Rejected jobs, and rows of a table, that people are shown at most."""

UNSTABLE = f"not stable: the mean queue {GREW}; means are those of a run of this length"

CLUSTER_COLUMNS = {
    "size": "procs",
    "jobs": "jobs",
    "utilization": "used",
    "makespan": "makespan",
    "idle_time_mean": "own idle",
    "over_deadline": "late",
    "cp": "CP",
}
"""Numbers of a cluster that people are shown, by short names."""
OFF = {"mean_prediction_error": "off"}
"""That which is shown where predictions are not exact."""
APPLICATION_COLUMNS = {"jobs": "jobs", **OFF, "prediction_accuracy": "accuracy"}
"""Numbers of an application that people are shown, by short names."""
CLASS_COLUMNS = {
    "jobs": "jobs",
    "deadlines_met": "met",
    "over_deadline": "late",
    "mean_wait": "wait",
    "mean_turnaround": "turnaround",
    "mean_bounded_slowdown": "slowdown",
}
"""Numbers of a service class that people are shown, by short names."""

ORIGIN_COLUMNS = {
    "jobs": "jobs",
    "rejected": "rejected",
    "migrated": "moved",
    "deadlines_met": "met",
    "mean_wait": "wait",
    "max_wait": "longest",
    "mean_turnaround": "turnaround",
    "mean_bounded_slowdown": "slowdown",
}
"""Numbers of the jobs of one origin that people are shown, by short names."""

LEVEL_COLUMNS = {
    "brokers": "number",
    "mean_age": "age of knowledge",
    "sent": "sent",
    "received": "received",
}
"""Numbers of a level of brokers that people are shown, by short names."""

_LITERALLY: dict[str, Any] = {"markup": False, "emoji": False, "highlight": False}


def _messages(result: Result) -> str:
    """Return how many messages brokers sent, and how many of them were lost, if some were."""
    lost = f", {result.messages_lost:,} of them lost on a hop" if result.messages_lost else ""
    return f"{sum(result.messages.values()):,}{lost}"


def print_result(result: Result, console: Console) -> None:
    """Print the run and its clusters, in plain columns that fit 80 characters."""
    summary = result.summary()
    metrics, counts = summary["metrics"], result.counts
    by = schedulers(summary["global"], summary["local"], len(result.platform.clusters))
    title = f"{summary['scenario']}: {by}, seed {result.seed}"
    console.print(title, style="bold", **_LITERALLY)
    table = Table.grid(padding=(0, 2, 0, 0))
    for words, value in (
        ("jobs completed", f"{counts['completed']:,} of {counts['submitted']:,} submitted"),
        ("simulated time", f"{_simulated(result)}, in {duration(result.wall_s)}"),
        *_performance(result, metrics),
        *((label(each), told(each, metrics[each])) for each in _measured(metrics)),
        *_coallocation(metrics, measured_links(summary)),
        *_losses(result),
        ("messages", _messages(result)),
        *((name, told(name, value)) for name, value in result.own_metrics.items()),
    ):
        table.add_row(words, value)
    console.print(table)
    console.print()
    shown = summary["clusters"][:ROWS_SHOWN]
    columns = CLUSTER_COLUMNS | _off(result, summary["clusters"])
    print_whole(_table_of("cluster", shown, columns), console)
    if result.platform.brokers:
        console.print()
        print_whole(_table_of("brokers", [*_levels(result)], LEVEL_COLUMNS), console)
    if result.classes:
        console.print()
        print_whole(_table_of("class", result.classes, CLASS_COLUMNS), console)
    if origins := _several(summary):
        console.print()
        print_whole(_of_origins(origins), console)
    if applications := _applications(result):
        console.print()
        most = applications[:ROWS_SHOWN]
        print_whole(_table_of("application", most, APPLICATION_COLUMNS), console)
    for line in (*_explained(result, summary), *_remarks(result, summary)):
        console.print(line, **_LITERALLY)


def _applications(result: Result) -> list[dict[str, Any]]:
    """Return the rows of applications, if there is something to tell of them."""
    return result.applications if _off(result, result.applications) else []


def _several(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of origins, if jobs have several."""
    rows: list[dict[str, Any]] = summary.get("origins", [])
    return rows if len(rows) > 1 else []


def _of_origins(rows: list[dict[str, Any]]) -> Table:
    """Return how the jobs of each origin fared."""
    named = [row | {"name": row["name"] or GRID} for row in rows[:ROWS_SHOWN]]
    columns = {name: ORIGIN_COLUMNS[name] for name in told_of_origins(rows, ORIGIN_COLUMNS)}
    return _table_of("origin", named, columns)


def _levels(result: Result) -> Iterator[dict[str, Any]]:
    """Yield what brokers of each level above clusters' own knew and carried, from the top."""
    for level, age in result.mean_ages.items():
        found = [each for each in result.brokers if str(each["level"]) == level]
        messages = {
            way: sum(each["messages"][way] for each in found) for way in ("sent", "received")
        }
        yield {"name": f"level {level}", "brokers": len(found), "mean_age": age, **messages}


def _simulated(result: Result) -> str:
    """Return the simulated time, and when the last job ended if messages went on for long."""
    words, last = duration(result.simulated_s), float(result.tally.grid["ended"].max())
    long_ago = 0.0 <= last < 0.9 * result.simulated_s and not result.unfinished
    return f"{words} (the last job ended after {duration(last)})" if long_ago else words


def print_replications(found: Replications, console: Console) -> None:
    """Print the mean of each metric with its confidence interval."""
    often = counted(len(found.runs), "replication")
    title = f"{found.scenario.name}: {_by(found.scenario)}, {often}"
    console.print(f"{title}, seeds drawn from {found.seed}", style="bold", **_LITERALLY)
    if found.unstable:
        console.print(
            f"not stable: in {found.unstable} of {len(found.runs)} the mean queue {GREW}; means "
            "are those of runs of this length",
            **_LITERALLY,
        )
    mean = "mean, 95 % confidence" if len(found.runs) > 1 else "of one run, without an interval"
    mean = mean if found.random else "the same in all runs"
    rows = [
        (label(name), told(name, interval.mean, interval.half_width if found.random else None))
        for name, interval in found.shown.items()
    ]
    print_rows({"metric": "left", mean: "left"}, rows, console)
    for line in found.remarks:
        console.print(line, **_LITERALLY)


def print_saturation(found: Saturation, console: Console) -> None:
    """Print the bracket of a maximal utilization, and the loads that were tried."""
    title = f"{found.scenario.name}: {_by(found.scenario)}, {found.replications} runs at each load"
    console.print(f"{title}, seeds drawn from {found.seed}", style="bold", **_LITERALLY)
    rows = [
        (
            f"{load:.5g}",
            f"{growth.mean:.2f} ± {growth.half_width:.2f}",
            found.bracket.verdict(load),
        )
        for load, growth in sorted(found.bracket.growth.items())
    ]
    print_rows({"load": "left", "growth of queues": "right", "verdict": "left"}, rows, console)
    console.print("growth: (mean queue in the last third of runs + 1) / (that in the first + 1);")
    console.print("2.37 where long queues are just borne; 95 % confidence intervals")
    for line in (found.found, *found.remarks):
        console.print(line, **_LITERALLY)


def _meant(names: Sequence[str], row: dict[str, Any]) -> list[str]:
    """Return the metrics that have a number."""
    return [name for name in names if row.get(name) is not None]


def _measured(metrics: dict[str, Any]) -> list[str]:
    """Return the metrics of a run that are shown; idle-time is a part of CP."""
    names = _meant(MEASURED, metrics)
    return [name for name in names if name != "idle_time_mean" or metrics["mcp"] is not None]


def _by(scenario: Scenario) -> str:
    """Return the schedulers of a scenario."""
    named = scenario.to_dict()
    return schedulers(named["global"], named["local"], len(scenario.platform.clusters))


def _performance(result: Result, metrics: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield MCP and PB with what they are of, where there are rounds; PB if it says more."""
    if not result.in_rounds:
        return
    ran, planned = result.rounds, len(result.planned.dispatched)
    more = planned > result.round_count  # in mode batch, as jobs become known late
    times = f" finished, jobs allocated {counted(planned, 'time')}" if more else ""
    rounds = "allocations" if more else "rounds"
    yield "rounds", f"{result.round_count:,}{times}"
    whole, kinds = result.overall, f"{rounds} {result.planned.alone}".rstrip()
    for of, found, words in (
        ("", ran or whole, "whole run" if ran is None else f"mean of rounds {ran.alone}".rstrip()),
        ("_overall", whole, "" if ran is None else "whole run"),
        ("_planned", result.planned, f"{kinds} as planned"),
    ):
        if words and metrics[f"mcp{of}"] is not None:
            names = ["mcp"] if found.alone else ["mcp", "pb"]
            values = ", ".join(duration(metrics[f"{name}{of}"]) for name in names)
            yield f"{', '.join(map(label, names))}: {words}", values


def _losses(result: Result) -> Iterator[tuple[str, str]]:
    """Yield what old news and failures cost, if they did."""
    if result.refused_starts:
        refused = f"{result.refused_starts:,}, for fewer processors were free than reckoned with"
        yield label("refused_starts"), refused
    if result.restarts:
        stopped = f"{result.preemptions:,} by preemption, " if result.preemptions else ""
        lost = f"{stopped}{told('lost_work', result.lost_work)} lost"
        yield "restarts", f"{result.restarts:,}, {lost}"


def _coallocation(
    metrics: dict[str, Any], links: list[dict[str, Any]]
) -> Iterator[tuple[str, str]]:
    """Yield what splitting and moving jobs and staging their data came to, if that happened."""
    if metrics["coallocated"]:
        for name in ("coallocated", "mean_penalty"):
            yield label(name), told(name, metrics[name])
        if any(link["mean_demand"] for link in links):
            most = max(link["saturated"] for link in links)
            yield "most saturated link", f"{percent(most)} of the time"
    for name in ("migrated", "mean_staging"):
        if metrics[name]:
            yield label(name), told(name, metrics[name])


def _off(result: Result, rows: list[dict[str, Any]]) -> dict[str, str]:
    """Return the column of how far predictions were off, if they were, and somebody cares.

    That is a scheduler, or whoever chose them.
    """
    scenario = result.scenario
    chosen = scenario.parameters.model_fields_set - scenario.packaged
    matters = go_by_predictions(scenario) or not chosen.isdisjoint(PREDICTIONS)
    return OFF if matters and any(row["mean_prediction_error"] for row in rows) else {}


def _explained(result: Result, summary: dict[str, Any]) -> Iterator[str]:
    """Yield what the tables of clusters and origins mean, where there are such columns and rows."""
    clusters = summary["clusters"]
    off = _off(result, clusters)
    columns = _columns(clusters, CLUSTER_COLUMNS | OFF)
    notes = {
        "idle_time_mean": "own idle: in its own makespan",
        "over_deadline": "late: total over-deadline",
        **({"mean_prediction_error": "off: mean prediction error"} if off else {}),
        "cp": f"CP: {'whole run' if result.rounds is None else 'mean of rounds'}",
    }
    if told := [words for name, words in notes.items() if name in columns]:
        yield "; ".join(told)
    if origins := _several(summary):
        none = "" if all(row["name"] for row in origins) else f"; {GRID}: through none"
        yield f"origin: the cluster that jobs were submitted through{none}"
    counted_jobs = sum(row["jobs"] for row in clusters)
    if result.tally.grid["jobs"][0] < counted_jobs:
        yield "jobs: one that is split counts on each of its clusters"


def _remarks(result: Result, summary: dict[str, Any]) -> Iterator[str]:
    """Yield in words what the tables do not say."""
    sums = result.tally.grid[0]
    if start := summary.get("start"):
        yield f"time 0: {start.replace('T', ' ')}, by the log's clock"
    if why := slowed_nobody(summary):
        yield why
    if sums["due"] + sums["due_rejected"] and (drawn := drawn_words(result.deadlines)):
        yield drawn
    due = int(sums["due"] + sums["due_rejected"])
    if due and sums["due"] < sums["jobs"]:
        yield f"deadlines met: of {counted(due, 'job')} with a deadline"
    if summary["metrics"]["mean_staging"]:
        yield "slowdown: turnaround over run time without the staging of data"
    if missed := int(sums["due_rejected"]):
        theirs = "its deadline" if missed == 1 else "their deadlines"
        ran = "; jobs of a class are those that ran" if result.classes else ""
        yield f"deadlines met: {counted(missed, 'rejected job')} missed {theirs}{ran}"
    if warm := result.tally.completed - int(sums["jobs"]):
        yield f"means and clusters: without {counted(warm, 'completed job')} of the warm-up"
    if result.short_warm_up:
        yield result.short_warm_up
    if nobody := _shares_of_nobody(result):
        yield f"shares: {counted(len(nobody), 'user')} without jobs that count: {', '.join(nobody)}"
    tables = {
        "cluster": result.platform.clusters,
        "origin": _several(summary),
        "application": _applications(result),
    }
    for what, rows in tables.items():
        if (more := len(rows) - ROWS_SHOWN) > 0:
            yield f"and {counted(more, f'more {what}')}"
    if rejected := result.rejected:
        named = ", ".join(map(str, rejected[:REJECTED_NAMED]))
        rest = ", ..." if len(rejected) > REJECTED_NAMED else ""
        reasons = [*result.rejections.items()]
        why = f", {reasons[0][0]}" if len(reasons) == 1 else ""
        which = f"job{'s' * (len(rejected) > 1)} " if why else ""
        yield f"{counted(len(rejected), 'job')} rejected{why}: {which}{named}{rest}"
        for why, count in reasons if len(reasons) > 1 else ():
            yield f"  {count:,}: {why}"
    if result.unfinished:
        why = "the run was interrupted" if result.interrupted else result.why_unfinished
        yield f"{counted(result.unfinished, 'job')} not finished: {why}"
        if result.interrupted and result.tally.grid["jobs"][0]:  # else neither is shown
            yield "processors that those held count as idle in utilization and idle-times"
    elif result.interrupted:
        yield "the run was interrupted before the next jobs came"
    if result.stable is False:
        yield UNSTABLE
    if result.restarts and result.tally.grid["jobs"][0]:
        yield TIMES_OF_RESTARTED
    yield from cleaned(result)


def cleaned(result: Result) -> Iterator[str]:
    """Yield in words how the log of a run was cleaned."""
    if result.cleaning.rules:
        yield f"cleaning of {counted(result.cleaning.records, 'record')}:"
    for rule, count in result.cleaning.rules.items():
        yield f"  {count:,}: {rule}"


def _shares_of_nobody(result: Result) -> list[str]:
    """Return the users that have a share and no job."""
    shares = getattr(result.scenario.parameters, "shares", ())
    there = {UNKNOWN, *(row["user"] for row in result.tally.users.table())}
    return [str(user) for user in shares if user not in there]


def _columns(rows: list[dict[str, Any]], columns: Mapping[str, str]) -> dict[str, str]:
    """Return the columns of which a row has a number; idle-times are told along with CP."""
    named = columns.items()
    found = {name: words for name, words in named if any(_meant([name], row) for row in rows)}
    if "cp" not in found:
        found.pop("idle_time_mean", None)
    return found


def _table_of(what: str, shown: list[dict[str, Any]], columns: Mapping[str, str]) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column(what, overflow="fold")  # numbers keep their room, names take the rest
    names = [Text(plain(row["name"], len(row["name"]))) for row in shown]
    cells: list[list[str]] = []
    for name, words in _columns(shown, columns).items():
        values = [row[name] for row in shown]
        scale = scale_of(name, values)
        table.add_column(f"{words} {scale.unit}".rstrip(), justify="right", no_wrap=True)
        cells.append(scale.column(values))
    for name, *row in zip(names, *cells, strict=True):
        table.add_row(name, *row)
    return table
