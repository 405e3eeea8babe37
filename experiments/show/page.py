"""The page on a run, or on several: one file that a browser opens without a network."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import jinja2

from experiments.run.summary import version
from experiments.run.whose import WHOSE
from experiments.show import labels
from experiments.show.comparing import compared, other_platforms
from experiments.show.differences import differences, parameters, told_apart
from experiments.show.labels import scale_of, told_of_origins
from experiments.show.numbers import counted, listed, number
from experiments.show.packed import carries, clock, data_of, distributions, embedded
from experiments.show.run_data import (
    MOST_GROUPS,
    RATES,
    Ran,
    ginis,
    of_groups,
    shares,
)
from experiments.show.tables import Cell, Column, Table, changes_table, links_table
from experiments.show.words import found, limits
from grid.platform.topology import GRID, latencies


@cache
def templates() -> jinja2.Environment:
    """Return the templates, which escape all text."""
    return jinja2.Environment(
        loader=jinja2.PackageLoader("experiments.show", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def page_of(runs: Sequence[Ran]) -> str:
    """Return the page on runs, HTML.

    Parameters
    ----------
    runs : sequence of Ran
        One to be looked at, or several to be compared.
    """
    runs = told_apart(runs)
    single = runs[0] if len(runs) == 1 else None
    columns = WHOSE if single else WHOSE[:1]  # several runs are compared by users alone
    drawn = [ran for ran in runs if ran.completed.any()]
    used, unequal = shares(drawn, columns), [ginis(ran, columns) for ran in drawn]
    charts = [
        {
            "place": f"gantt{index}",
            "heading": f"{ran.name}: {ran.policy}",
            "splits": bool(ran.split.any()),
        }
        for index, ran in enumerate(drawn)
    ]
    title = single.summary["scenario"] if single else " / ".join(ran.name for ran in runs)
    return templates().get_template("runs.html").render(
        title=f"{title}: {single.policy}" if single else title,
        subtitles=[_provenance(ran) for ran in runs],
        version=version(),
        figures=figures(single.summary) if single else {},
        found=found(single) if single else compared(runs),
        charts=charts,
        restarted=any(ran.restarted for ran in drawn),
        carried=any(carries(ran) and len(ran.timeline) for ran in drawn),
        saturated=any(
            link["saturated"] > 0 and len(ran.timeline) for ran in drawn for link in ran.links
        ),
        rates={name: of for name, of in RATES.items() if any(name in ran.rates for ran in drawn)},
        shares=[
            {"by": name, "run": index, "of": "" if single else f": {ran.name}"}
            for index, ran in enumerate(drawn)
            for name in used[index]
        ],
        warmed=any(ran.warm_up.any() for ran in drawn),
        unequal=listed([by for by in WHOSE if any(by in of for _, of in unequal)], "or"),
        tables=_tables(runs),
        limits=limits(runs),
        data=embedded(
            {
                "runs": [
                    data_of(ran, f"gantt{index}", used[index], unequal[index])
                    for index, ran in enumerate(drawn)
                ],
                "several": not single,
                "distributions": distributions(runs) if drawn else [],
                **clock(runs),
            }
        ),
    )  # fmt: skip


def _provenance(ran: Ran) -> str:
    summary = ran.summary
    workload = summary["workload"]
    logs = [workload] if isinstance(workload, str) else workload or []
    of = ", ".join(map(str, logs)) or "synthetic"
    by = f", metasched {summary['version']}" if summary.get("version") else ""
    start = summary.get("start", "").replace("T", " ")
    at = f", time 0: {start}, by the log's clock" if start else ""
    return f"{ran.name}: scenario {summary['scenario']}, jobs: {of}, seed {summary['seed']}{at}{by}"


WHERE_KNOWN = ("deadlines_met", "energy_kwh", "cost", "co2_kg")
"""Numbers that readers want first of runs that have them."""


def figures(summary: dict[str, Any]) -> dict[str, str]:
    """Return the numbers of a summary that readers want first."""
    metrics, counts = summary["metrics"], summary["jobs"]
    names = ["mean_wait", "p95_wait", "mean_bounded_slowdown", "utilization", "makespan"]
    if metrics.get("coallocated"):
        names.append("coallocated")
    names += [name for name in WHERE_KNOWN if metrics.get(name) is not None]
    return {
        "jobs completed": f"{counts['completed']:,} of {counts['submitted']:,}",
        **{_figure(name, summary): labels.told(name, metrics[name]) for name in names},
    }


def _figure(name: str, summary: dict[str, Any]) -> str:
    """Return what a number of a summary is called: of deadlines also where they are from."""
    drawn = {"drawn": "drawn ", "mixed": "partly drawn "}.get(summary.get("deadlines") or "", "")
    return (drawn if name == "deadlines_met" else "") + labels.label(name)


# Tables -----------------------------------------------------------------------------------------

RUN_NUMBERS = (
    *("mean_wait", "p95_wait", "max_wait", "mean_turnaround", "mean_bounded_slowdown"),
    *("p95_bounded_slowdown", "utilization", "makespan", "coallocated", "mean_penalty"),
    *WHERE_KNOWN,
)
CLUSTER_NUMBERS = (
    *("size", "rate", "jobs", "utilization", "mean_wait", "max_wait", "mean_bounded_slowdown"),
    *("idle_time_mean", "makespan"),
)
LINK_NUMBERS = ("mean_demand", "saturated")
OF_LINKS = ("coallocated", "mean_staging")
"""Metrics that are above 0 where jobs used links."""

GROUP_NUMBERS = ("jobs", "work", "mean_wait")
ORIGIN_NUMBERS = (
    *("jobs", "rejected", "migrated", "mean_wait", "max_wait", "mean_turnaround"),
    *("mean_bounded_slowdown", "over_deadline", "deadlines_met"),
)
OF_ORIGINS = "Of the jobs submitted through each cluster, wherever they ran"
USER_NUMBERS = ("jobs", "work", "mean_wait", "mean_bounded_slowdown")

SPLIT_JOBS = "A job that is split counts on each of its clusters. "
OF_CLUSTERS = (
    "Utilization is over the time of the whole run; makespan and own idle-time are from the own "
    "first start of a cluster to its own last finish, so that a processor may be idle for longer "
    "in the whole run."
)
LAST_STARTS = " Of a job that was interrupted, only the last start counts for these two."
OWN = {"idle_time_mean": "own "}
"""What comes before the headings of clusters' numbers that the whole run has in another sense."""


def _tables(runs: list[Ran]) -> list[Table]:
    several = len(runs) > 1
    of_runs = [([ran.name, ran.policy], ran.summary["metrics"]) for ran in runs]
    clusters = [([ran.name, row["name"]], row) for ran in runs for row in ran.summary["clusters"]]
    links = [([ran.name, row["name"]], row) for ran in runs if carries(ran) for row in ran.links]
    tables = [_table("Runs", ["run", "policy"], of_runs, RUN_NUMBERS)] if several else []
    tables += _parameters(runs) if several else []
    tables.append(
        _table(
            "Clusters",
            ["run", "cluster"],
            clusters,
            CLUSTER_NUMBERS,
            _of_clusters(*(ran.summary for ran in runs)),
        )
        if several
        else cluster_table(runs[0].summary)
    )
    if links:
        tables.append(
            _table(
                "Links",
                ["run", "link"][not several :],
                [(names[not several :], row) for names, row in links],
                LINK_NUMBERS,
                "A link has the name of the node that it joins to the centre.",
            )
        )
    platforms = [(ran.name, ran.platform) for ran in runs]
    if any(map(_goes_by_links, runs)) or "links" in other_platforms(runs):
        tables += links_table(platforms)
    tables += changes_table(platforms)
    of_one = [] if several else _parameters(runs)
    return [
        *tables,
        *origin_tables([(ran.name, ran.summary) for ran in runs]),
        *_users(runs),
        *_of_groups(runs),
        *of_one,
    ]


def _goes_by_links(ran: Ran) -> bool:
    """Return whether jobs of a run were split or had data moved, or messages were late."""
    moved = any(ran.summary["metrics"].get(name) for name in OF_LINKS)
    return moved or bool(latencies(ran.platform.graph).any())


def origin_tables(runs: Sequence[tuple[str, dict[str, Any]]]) -> Iterator[Table]:
    """Yield how the jobs of each origin fared in runs of these names, if there are several."""
    several = len(runs) > 1
    rows = [
        ([name, row["name"] or GRID][not several :], row)
        for name, summary in runs
        for row in summary.get("origins", ())
    ]
    names = {row["name"] for _, row in rows}
    if len(names) > 1:
        numbers = told_of_origins([row for _, row in rows], ORIGIN_NUMBERS)
        note = f"{OF_ORIGINS}{f', and through none: {GRID}' if '' in names else ''}."
        yield _table("By origin", ["run", "origin"][not several :], rows, numbers, note)


def _users(runs: list[Ran]) -> Iterator[Table]:
    """Yield the users who used most, if jobs name some, and how unequally all were served."""
    several = len(runs) > 1
    rows, notes = [], []
    for ran in (ran for ran in runs if "users" in ran.summary):
        users, metrics = ran.summary["users"], ran.summary["metrics"]
        rows += [([ran.name, str(row["user"])][not several :], row) for row in users["largest"]]
        ginis = [metrics.get(name) for name in ("gini_wait", "gini_slowdown")]
        waits, slowdowns = ("not defined" if of is None else number(of) for of in ginis)
        notes.append(
            f"{f'{ran.name}: ' if several else ''}{len(users['largest'])} of "
            f"{counted(users['count'], 'user')}, by the work of their jobs; Gini coefficients of "
            f"all users: of mean waits {waits}, of mean slowdowns {slowdowns} (0: all alike)."
        )
    if rows:
        heads = ["run", "user"][not several :]
        yield _table("Users", heads, rows, USER_NUMBERS, " ".join(notes))._replace(open=False)


def _of_groups(runs: list[Ran]) -> Iterator[Table]:
    """Yield how jobs of each application, partition and account fared, those of most use first."""
    several = len(runs) > 1
    for name in WHOSE[1:]:  # users have a table of their own
        rows = [
            ([ran.name, str(group) or "unknown"][not several :], numbers)
            for ran in runs
            if name in ran.jobs
            for group, numbers in of_groups(ran, name)
        ]
        if rows:
            note = f"At most {MOST_GROUPS} of a run, by work; of jobs after the warm-up, completed."
            if any(isinstance(ran.summary["workload"], list) for ran in runs):
                note += f" Of several logs, each {name} of one name counts as one."
            heads = ["run", name][not several :]
            yield _table(f"By {name}", heads, rows, GROUP_NUMBERS, note)._replace(open=False)


def _parameters(runs: list[Ran]) -> list[Table]:
    """Return the parameters that mean something to a run, or in which several differ."""
    if len(runs) == 1:
        told = [each for each in parameters(runs) if all(each.means)]
        of_one = [[Cell(each.name), Cell(each.values[0])] for each in told]
        heads = [Column(name, text=True) for name in ("parameter", "value")]
        return [Table("Parameters", heads, of_one, "As --set takes them, or --seed.")]
    found = differences(runs)
    idle = any(each.cells != each.values for each in found)
    note = "Values in brackets mean nothing in that run." if idle else ""
    rows = [[Cell(each.name), *map(Cell, each.cells)] for each in found]
    columns = [Column(name, text=True) for name in ("parameter", *(ran.name for ran in runs))]
    return [Table("Parameters that differ", columns, rows, note)] if rows else []


def cluster_table(summary: dict[str, Any]) -> Table:
    """Return the clusters of one run."""
    rows = [([row["name"]], row) for row in summary["clusters"]]
    return _table("Clusters", ["cluster"], rows, CLUSTER_NUMBERS, _of_clusters(summary))


def _of_clusters(*summaries: dict[str, Any]) -> str:
    """Return what the numbers of clusters are of."""
    split = any(each["metrics"]["coallocated"] for each in summaries)
    some = any(each["jobs"]["completed"] for each in summaries)
    again = some and any(each["metrics"].get("restarts") for each in summaries)
    told = f"{SPLIT_JOBS if split else ''}{OF_CLUSTERS if some else ''}"
    return f"{told}{LAST_STARTS if again else ''}"


def _table(
    heading: str,
    names: list[str],
    rows: list[tuple[list[str], dict[str, Any]]],
    numbers: Sequence[str],
    note: str = "",
) -> Table:
    values = {key: [row.get(key) for _, row in rows] for key in numbers}
    scales = {
        key: scale_of(key, of)
        for key, of in values.items()
        if any(value is not None for value in of)
    }
    told = {key: scale.column(values[key]) for key, scale in scales.items()}
    columns = [
        *(Column(name, text=True) for name in names),
        *(Column(OWN.get(key, "") + labels.heading(key, scale)) for key, scale in scales.items()),
    ]
    cells = [
        [
            *map(Cell, texts),
            *(Cell(shown[at], values[key][at]) for key, shown in told.items()),
        ]
        for at, (texts, _) in enumerate(rows)
    ]
    return Table(heading, columns, cells, note, open=True)
