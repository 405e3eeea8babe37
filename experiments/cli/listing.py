"""What there is to run: scenarios, policies and parameters, as tables or JSON."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import click
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from agents import registry
from agents.importing import CODE
from agents.schedulers import GlobalScheduler, Scheduler
from experiments.logs.listing import print_network
from experiments.scenario.assignments import shown
from experiments.scenario.files import packaged_names, scenario_file
from experiments.scenario.meanings import meaning
from experiments.scenario.parameters import Parameters
from experiments.scenario.scenario import Scenario
from experiments.scenario.unread import without_effect
from experiments.show.numbers import counted
from experiments.show.tables import UNFOLDED, print_whole, unfolded
from grid.errors import GridError
from grid.foreign import plain, quoted
from grid.names import meant
from grid.platform.distance import DistanceCosts
from grid.platform.multicluster import Platform
from grid.settings import declared, in_words

Rows = list[dict[str, Any]]

SHOWN = ("name", "level", "title", "paper")
"""Columns of tables; the class and the file stand below the title."""

GROUPS = {
    "step": "run",
    "mode": "arrivals",
    "clusters": "platform",
    "workload_model": "synthetic jobs",
    "min_deadline_ratio": "deadlines",
    "local_share": "submission",
    "latency": "brokers",
    "mean_up_time": "failures",
    "weights": "performance",
    "prediction": "predictions",
    "partitions": "logs",
}
"""Groups of parameters that no policy declares, by the first one of each in their order."""


def groups_of(parameters: type[Parameters]) -> dict[str, str]:
    """Return the group of each parameter."""
    found, group = {}, ""
    for name, field in parameters.model_fields.items():
        group = GROUPS.get(name, group)
        declared_as = field.json_schema_extra
        found[name] = str(declared_as["group"]) if isinstance(declared_as, dict) else group
    return found


def list_scenarios(paper: str | None = None) -> Rows:
    """Return name, title, paper and file of each packaged scenario, or of those of a paper."""
    loaded = [Scenario.load(name) for name in packaged_names()]
    rows = [
        {"name": s.name, "title": s.title, "paper": s.paper, "file": str(scenario_file(s.name))}
        for s in loaded
    ]
    return _of_paper(rows, paper, "scenarios")


def list_policies(level: str | None = None, paper: str | None = None) -> Rows:
    """Return name, level, one line, paper, class, file and settings of schedulers with names.

    They are built in, or of installed packages.

    Parameters
    ----------
    level : str, optional
        ``"global"`` or ``"local"``; by default both.
    paper : str, optional
        Its key; by default those of all papers and of none.
    """
    rows = []
    for name in (*registry.GLOBAL, *registry.LOCAL, *registry.installed()):
        try:
            found = registry.any_scheduler(name)
        except Exception as error:
            if name not in registry.installed():
                raise
            title = f"cannot be loaded: {plain(str(error), 300)}"
            unknown = {"level": "", "paper": "", "class": registry.installed()[name], "file": ""}
            rows.append({"name": name, "title": title, "settings": []} | unknown)
            continue
        of = "global" if issubclass(found, GlobalScheduler) else "local"
        title = registry.summary(found)
        row: dict[str, Any] = {"name": name, "level": of, "title": title, "paper": found.paper}
        rows.append(row | _home(found) | {"settings": _settings(found)})
    of_level = [row for row in rows if level in (None, row["level"] or level)]
    return _of_paper(of_level, paper, f"{level} policies" if level else "policies")


def _settings(policy: type[Scheduler]) -> Rows:
    """Return what a scheduler can be set to, a row for each parameter."""
    return [
        {
            "name": name,
            "default": each.default,
            "unit": each.setting.unit,
            "range": in_words(each),
            "symbol": each.setting.symbol,
            "meaning": each.setting.meaning,
        }
        for kind in registry.kinds_of(policy)
        for name, each in declared(kind).items()
    ]


def _of_paper(rows: Rows, paper: str | None, what: str) -> Rows:
    """Return the rows of a paper, or all if none is named; and say what it has none of."""
    if paper is None:
        return rows
    found = [row for row in rows if row["paper"] == paper]
    if not found:
        known = sorted({row["paper"] for row in rows} - {""})
        built_in = map(registry.any_scheduler, (*registry.GLOBAL, *registry.LOCAL))
        if paper and any(paper == each.paper for each in built_in):
            of_others = f"accepted: {', '.join(known)}"
            raise GridError(f"--paper: found {paper}, a paper without {what}; {of_others}")
        raise GridError(f"--paper: found {quoted(paper)}; {meant(paper, known)}")
    return found


def print_table(rows: Rows, as_json: bool) -> None:
    """Print rows for people, where they are in the code below the title; or as JSON."""
    if as_json:
        click.echo(json.dumps(rows))
        return
    shown = []
    for row in rows:
        where = _below(row["file"])
        of = where
        if "class" in row:  # which is not there if it cannot be loaded
            of = f"{row['class'].partition(':')[2]} in {where}" if where else row["class"]
        texts = {name: Text(value) for name, value in row.items() if name in SHOWN}
        texts["title"] = Text.assemble(row["title"], "\n", (of, "dim"))
        shown.append(texts)
    _print(shown)


def described(scenario: Scenario, name: str, notes: Sequence[str], ran: Scenario) -> dict[str, Any]:
    """Return what a scenario would be run with, ready for JSON.

    Parameters
    ----------
    scenario : Scenario
    name : str
        As `Scenario.load` took it.
    notes : sequence of str
        What deserves a word (`experiments.scenario.notes`).
    ran : Scenario
        The same with what its log tells (`Scenario.as_run`).

    Returns
    -------
    dict
        ``scenario``, ``title``, ``paper``, ``file``; ``global`` and ``local``, of each its
        ``name``, ``class`` and ``file``; ``workload``; ``platform`` (`Scenario.to_dict`);
        ``notes``; ``parameters``, a row for each: its ``name``, ``group``, ``value``, ``default``,
        whether it is ``changed``, whether it ``matters`` to the scenario, and its ``meaning``.
    """
    values, all_of = scenario.parameters.model_dump(mode="json"), type(scenario.parameters)
    defaults, groups = all_of().model_dump(mode="json"), groups_of(all_of)
    told, idle = scenario.to_dict(), _without_effect(scenario)
    return {
        "scenario": scenario.name,
        "title": scenario.title,
        "paper": scenario.paper,
        "file": str(scenario_file(name).resolve()),
        "global": {"name": told["global"]} | _home(scenario.policy),
        "local": {"name": told["local"]} | _home(scenario.local_policy),
        "workload": told["workload"],
        "platform": ran.to_dict()["platform"],
        "notes": [*notes],
        "parameters": [
            {
                "name": each,
                "group": groups[each],
                "value": values[each],
                "default": defaults[each],
                "changed": values[each] != defaults[each],
                "matters": each not in idle,
                "meaning": meaning(each, all_of),
            }
            for each in all_of.model_fields
        ],
    }


def print_parameters(platform: Platform, found: Mapping[str, Any], every: bool) -> None:
    """Print what a scenario would be run with, so that it fits a screen, or all of it."""
    rows = found["parameters"]
    clusters = len(platform.clusters)
    print(f"{found['scenario']}: valid. {plain(found['title'], 200)}".rstrip())
    print(f"  scenario  {_below(found['file'])}")
    for level in ("global", "local"):
        policy = found[level]
        of = policy["class"].partition(":")[2]
        print(f"  {level:8}  {policy['name']}: {of} in {_below(policy['file'])}")
    print(
        f"  platform  {counted(clusters, 'cluster')}, {counted(platform.sizes.sum(), 'processor')}"
    )
    if every:
        print_network(platform, Console())
    order = [*dict.fromkeys(row["group"] for row in rows)]
    rows = sorted(rows, key=lambda row: order.index(row["group"]))
    _print_values([row for row in rows if every or row["changed"]], every)
    if not every:
        print("As by default, where it matters:")
        for group in dict.fromkeys(row["group"] for row in rows):
            names = [
                row["name"]
                for row in rows
                if row["group"] == group and row["matters"] and not row["changed"]
            ]
            if names:
                _print_names(group, names)
        print(f"Each is changed by --set NAME=VALUE; --all lists all {len(rows)}, with meanings.")


def _without_effect(scenario: Scenario) -> set[str]:
    """Return the parameters that mean nothing to a scenario."""
    found = {name for names, _ in without_effect(scenario) for name in names}
    splits = scenario.policy.spans or scenario.policy.collects
    return found if splits else found | declared(DistanceCosts).keys()


def _home(target: type[Scheduler]) -> dict[str, str]:
    """Return the class of a scheduler, as ``module:Class``, and its file."""
    try:
        file = str(Path(inspect.getfile(target)).resolve())
    except (OSError, TypeError):  # of a script that was run
        file = ""
    return {"class": f"{target.__module__}:{target.__qualname__}", "file": file}


def _below(file: str) -> str:
    """Return a path in short: below the current folder, or that of the product."""
    for folder in (Path.cwd(), CODE):
        if Path(file).is_relative_to(folder):
            return plain(str(Path(file).relative_to(folder)), 200)
    return plain(file, 200)


def _print_names(group: str, names: Sequence[str]) -> None:
    line = Table.grid(padding=(0, 2))
    line.add_column(width=16)
    line.add_column(overflow="fold")
    line.add_row(Text(f"  {group}"), Text(", ".join(names)))
    Console().print(line)


def _print_values(rows: Sequence[Mapping[str, Any]], every: bool) -> None:
    """Print values of parameters by groups: all of it, or a line for each with its default."""
    console = unfolded()
    folds = console.width < UNFOLDED
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, expand=folds)
    table.add_column("parameter", no_wrap=True)
    table.add_column("value", no_wrap=not every, max_width=20, overflow="fold")
    if not every:
        table.add_column("default", no_wrap=True, max_width=12 if folds else None)
    table.add_column("meaning", ratio=1, no_wrap=not every, overflow="ellipsis")
    for group, members in groupby(rows, key=itemgetter("group")):
        if every:
            table.add_row(Text(group, "bold"))
        for row in members:
            name, *values = (row["name"], *(_in_short(row[key]) for key in ("value", "default")))
            if every:
                values = [shown(row["value"])]
            table.add_row(f"  {name}" if every else name, *map(Text, values), Text(row["meaning"]))
    if rows:
        print_whole(table, console)


def _in_short(value: object) -> str:
    """Return a value of a parameter in a few letters."""
    whole = shown(value)
    return whole if len(whole) <= 12 or not isinstance(value, list) else f"{len(value)} values"


def _print(rows: Sequence[Mapping[str, Text]]) -> None:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for index, name in enumerate(rows[0]):
        table.add_column(name, no_wrap=index == 0, overflow="fold")
    for row in rows:
        table.add_row(*row.values())
    print_whole(table, unfolded())
