"""The character of a log, and a platform, as tables for people."""

from __future__ import annotations

import math
from collections.abc import Iterator

from rich.console import Console, JustifyMethod, RenderableType
from rich.table import Table
from rich.text import Text

from experiments.logs.character import Character, Distribution
from experiments.logs.waits import Waits
from experiments.show.numbers import counted, duration, instants, largest, number, time_scale
from grid.foreign import plain
from grid.logs.fields import UNIX_TIMES
from grid.logs.formats import FORMATS
from grid.logs.log import Log
from grid.logs.partitions import Partition, partitions_of
from grid.platform.multicluster import Platform
from grid.platform.topology import uplinks
from grid.workloads.source import DROPPED, Cleaning
from grid.workloads.table import Table as Jobs

BAR = 40
"""Width of the longest bar."""

PARTITIONS = 20
"""Partitions that are shown, those with most jobs."""


def print_character(character: Character, console: Console) -> None:
    """Print the cleaning report of a log, and what the log is like."""
    log, table = character.log, character.table
    length = duration(float(table.jobs["arrival"][-1] - table.jobs["arrival"][0]))
    begin = "" if table.start is None else f" from {table.start:%Y-%m-%d %H:%M %Z}"
    machine = "the machine" if table.processors is not None else "the largest usable job"
    machine = "the sites where jobs have run" if log.format == "live" else machine
    _title(console, f"{plain(str(log.path), 200)}: {FORMATS[log.format].title}")
    _say(console, f"{counted(table.count, 'usable job')} in {length}{begin}")
    _say(console, f"{counted(table.machine, 'processor')}, those of {machine}")
    if larger := int((table.jobs["size"] > table.machine).sum()):
        _say(console, f"{counted(larger, 'job')} that the machine cannot hold")
    for told in _read_of(log, table):
        _say(console, told)
    if character.users:
        named = ", numbered as their names first come" if "user" in log.numbered else ""
        _say(console, f"users: {character.users:,}{named}")
    if character.deadlines:
        _say(console, f"deadlines: {character.deadlines:,} of {counted(table.count, 'job')}")
    if table.times is not None:
        named = plain(", ".join(table.times.clusters), 200)
        _say(console, f"execution times on each cluster: {named}")
    _print_partitions(partitions_of(log), console)
    print_cleaning(table.cleaning, console)
    if character.missing:
        told = ", ".join(f"{name} by {count:,}" for name, count in character.missing.items())
        _say(console, f"unknown: {told}")
    _title(console, "\nWhat all records say")
    console.print(_distributions(character))
    clock = "the log's clock"
    if table.start is None:
        clock = f"hours from {'the first arrival' if log.from_first else 'time 0 of the log'}"
    _title(console, f"\nArrivals by hour of the day ({clock})")
    hours = _table("hour", "jobs", "")
    most = max(character.hours)
    for hour, count in enumerate(character.hours):
        hours.add_row(f"{hour:02}", f"{count:,}", _bar(count / most))
    console.print(hours)
    _title(console, "\nArrivals and offered load by week")
    weeks = _table("week", "from", "jobs", "load", "")
    loads = [week.load or 0.0 for week in character.weeks]
    for week, load in zip(character.weeks, loads, strict=True):
        told = "-" if week.load is None else f"{week.load:.3f}"
        bar = _bar(load / max(loads)) if max(loads) else ""
        weeks.add_row(str(week.week), week.begin or "-", f"{week.jobs:,}", told, bar)
    console.print(weeks)
    if character.weeks[-1].load is None:
        _say(console, "load -: the last job arrived within a day of the week's beginning")


def _read_of(log: Log, table: Jobs) -> Iterator[str]:
    """Yield what was read of the head of a log, and what times are counted from."""
    if log.header:
        said = ", ".join(f"{key} {plain(value)}" for key, value in log.header.items())
        yield f"from the head: {said}"
    for note in log.notes:
        yield f"not used of the head: {note}"
    if log.remarks:
        yield f"other lines at the head, without meaning here: {log.remarks:,}"
    if log.from_first and table.applied is not None and 0 < table.applied.zero < UNIX_TIMES:
        yield f"first submit at {table.applied.zero:,.15g} s, from where times are counted"


def _print_partitions(partitions: list[Partition], console: Console) -> None:
    """Print the partitions of a log that has several, at most `PARTITIONS` of them."""
    if len(partitions) < 2:
        return
    _title(console, f"\nPartitions or sites: {len(partitions):,}")
    table = _table("partition", "jobs", "largest", left=("partition",))
    for each in partitions[:PARTITIONS]:
        table.add_row(Text(plain(each.name)), f"{each.jobs:,}", f"{each.largest:,}")
    console.print(table)
    if len(partitions) > PARTITIONS:
        _say(console, f"and {len(partitions) - PARTITIONS:,} with fewer jobs")


def print_waits(waits: Waits, console: Console) -> None:
    """Print how well simulated schedules explain the waits that a log recorded."""
    names = [*waits.of]
    _title(console, f"\nWaits of {counted(waits.table.count, 'job')}, recorded and simulated")
    if waits.unrecorded:
        _say(console, f"without {counted(waits.unrecorded, 'job')} of which no wait is recorded")
    if waits.left_out:
        _say(console, f"without {counted(waits.left_out, 'job')} that the machine cannot hold")
    by_log = (
        "by the log" if waits.table.processors is not None else "those of the largest usable job"
    )
    by_whom = "as you say" if waits.told else by_log
    _say(console, f"on {counted(waits.processors, 'processor')}, {by_whom}")
    if waits.most_in_use > waits.processors:
        most = counted(waits.most_in_use, "processor")
        _say(console, f"as recorded, up to {most} were in use at once: see --processors")
    agreed = [waits.agreement.get(name) for name in names]
    off = [each["off"] if each else None for each in agreed]
    by_part = waits.by_hour, waits.by_weekday, waits.by_size
    means = [of for parts in by_part for _, of in parts.values()]
    scale = time_scale(
        largest(value for of in [waits.rows["mean"], *means] for value in of.values())
    )
    table = _table(f"wait, {scale.unit}", *names, left=(f"wait, {scale.unit}",))
    for what, of in waits.rows.items():
        table.add_row(what, *(scale.told(of[name]) for name in names))
    table.add_row(
        f"median difference, {scale.unit}",
        *("" if each is None else scale.told(each) for each in off),
    )
    table.add_row(
        "rank correlation", *(number(each["correlation"]) if each else "" for each in agreed)
    )
    console.print(table)
    clock = "the log's clock" if waits.table.start is not None else "hours, modulo 24"
    for title, first, parts in (
        (f"Mean wait by hour of arrival ({clock})", "hours", waits.by_hour),
        ("Mean wait by time of the week", "arrival", waits.by_weekday),
        ("Mean wait by size", "processors", waits.by_size),
    ):
        if not parts:
            continue
        _title(console, f"\n{title}, {scale.unit}")
        table = _table(first, "jobs", *names)
        told = [scale.column([of[name] for _, of in parts.values()]) for name in names]
        for (part, (jobs, _)), *row in zip(parts.items(), *told, strict=True):
            table.add_row(part, f"{jobs:,}", *row)
        console.print(table)


def print_cleaning(cleaning: Cleaning, console: Console) -> None:
    """Print what each rule did to the records of a log."""
    _title(console, f"\nCleaning of {counted(cleaning.records, 'record')}")
    if not cleaning.rules:
        _say(console, "nothing fixed or dropped")
        return
    rules = _table("records", "rule", left=("rule",))
    for rule, count in cleaning.rules.items():
        rules.add_row(f"{count:,}", Text(rule, style="red" if rule.endswith(DROPPED) else ""))
    console.print(rules)


def print_platform(path: str, platform: Platform, console: Console) -> None:
    """Print the clusters and links of a platform, and what its file says in vain."""
    clusters = counted(len(platform.clusters), "cluster")
    processors = counted(int(platform.sizes.sum()), "processor")
    _title(console, f"{plain(path, 200)}: {clusters}, {processors}")
    print_network(platform, console)
    for note in platform.notes:
        _say(console, note)


def print_network(platform: Platform, console: Console) -> None:
    """Print the clusters and links of a platform, and its planned changes."""
    above = dict(uplinks(platform.graph))
    left = "cluster", "link to"
    table = _table("cluster", "procs", "rate", "link to", "Mbit/s", "latency s", left=left)
    known = {each.name: each for each in platform.clusters}
    for name, parent in above.items():
        link = platform.graph.edges[name, parent]
        size = f"{known[name].size:,}" if name in known else "switch"
        rate = f"{known[name].rate:.4g}" if name in known else ""
        width = "no limit" if link["capacity"] == math.inf else f"{link['capacity']:.6g}"
        table.add_row(Text(name), size, rate, Text(parent), width, f"{link['latency']:.3g}")
    console.print(table)
    _print_changes(platform, console)


def _print_changes(platform: Platform, console: Console) -> None:
    """Print the planned changes of a platform, if there are some."""
    if not platform.changes:
        return
    changes = platform.changes
    _title(console, "\nChanges")
    table = _table("cluster", "what", "procs", "at s", "until s", left=("cluster", "what"))
    at = instants([each.at for each in changes])
    until = iter(instants([each.until for each in changes if each.until < math.inf]))
    for change, begin in zip(changes, at, strict=True):
        procs = "all" if change.processors is None else f"{change.processors:,}"
        end = next(until) if change.until < math.inf else "-"
        table.add_row(Text(change.cluster), change.what, procs, begin, end)
    console.print(table)


def _distributions(character: Character) -> Table:
    table = _table("", "known", "mean", "cv", "least", "median", "95 %", "most", left=("",))
    for name, values, tell in (
        ("size, processors", character.sizes, number),
        ("run time", character.runtimes, duration),
        ("estimate", character.estimates, duration),
        ("estimate / run", character.overestimates, number),
        ("recorded wait", character.waits, duration),
    ):
        found = Distribution.of(values)
        cells = found._asdict().items()
        told = [(number if key == "cv" else tell)(value) for key, value in cells if key != "known"]
        table.add_row(name, f"{found.known:,}", *told)
    return table


def _table(*names: str, left: tuple[str, ...] = ()) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for name in names:
        aligned: JustifyMethod = "left" if name in left or not name else "right"
        table.add_column(name, justify=aligned, no_wrap=name not in left, overflow="fold")
    return table


def _bar(share: float) -> RenderableType:
    return "█" * round(BAR * share)


def _title(console: Console, text: str) -> None:
    console.print(text, style="bold", markup=False, highlight=False, soft_wrap=True)


def _say(console: Console, text: str) -> None:
    console.print(text, markup=False, highlight=False, soft_wrap=True)
