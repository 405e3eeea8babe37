"""The page on a study: which policies were compared, which is best where, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pandas as pd

from experiments.run.result_files import platform_of
from experiments.scenario.assignments import shown
from experiments.show.labels import heading, label, scale_of_difference
from experiments.show.numbers import NONE, PLAIN, Scale, number
from experiments.show.packed import embedded
from experiments.show.page import OF_LINKS, templates
from experiments.show.panels import Panel, Point, panel
from experiments.show.tables import Cell, Column, Table, changes_table, links_table
from experiments.show.words import Sentence
from experiments.studies.telling import MARK, grew, of_others
from experiments.studies.verdicts import pieces
from experiments.studies.windows import dated
from grid.metrics.stability import GREW
from grid.platform.topology import latencies

if TYPE_CHECKING:
    from experiments.studies.outcome import StudyOutcome

PANELS = 60
"""Drawings at most; the table has all settings."""
LIMITS = (
    "A confidence interval tells how much of a mean may be chance in these workloads and seeds; "
    "how well they stand for other sites, it does not.",
    "Policies share a rank where the paired differences of their runs do not tell them apart: more "
    "replications may.",
    "Each setting is judged by itself: of twenty in which all policies are equal, in about one "
    "some are called different by chance.",
    "No mean is claimed where jobs are left unfinished.",
)
OF_STUDY = "Parameters that vary, such as clusters or nodes, may make it another."
UNSTABLE = (
    "Means with a *, hollow in drawings, are those of runs of this length: in some the mean queue "
    f"{GREW}. That proves no queue that grows without end, nor does a mean without a * prove a "
    "steady state."
)


def study_page(outcome: StudyOutcome) -> str:
    """Return the page on a study, HTML."""
    told = outcome.provenance
    unstable = len(outcome.runs) and outcome.points["unstable"].any()
    limits = [Sentence(line) for line in (*LIMITS, *([UNSTABLE] if unstable else ()))]
    drawn = _panels(outcome) if len(outcome.runs) else []
    return templates().get_template("study.html").render(
        title=outcome.title or "Study",
        subtitles=[f"{len(outcome.runs):,} of {outcome.planned:,} runs, seed {outcome.study.seed}"],
        version=told.get("version"),
        found=[Sentence(line) for line in outcome.sentences()],
        metric=heading(outcome.metric, outcome.scale(outcome.metric)),
        better="more" if outcome.study.more_is_better else "less",
        panels=drawn[:PANELS],
        left_out=max(0, len(drawn) - PANELS),
        tables=[
            *([*_tables(outcome), *_windows(outcome)] if len(outcome.runs) else []),
            *_platform(outcome),
            *_parameters(outcome),
            *cleaning_table(outcome),
        ],
        limits=limits,
        text=told.get("text", ""),
        inputs=told.get("inputs", {}),
        data=embedded({}),
    )  # fmt: skip


def _panels(outcome: StudyOutcome) -> list[Panel]:
    """Return a drawing for each setting of all but one parameter, which is on its axis."""
    points, vary, scale = outcome.points, outcome.study.vary, outcome.scale(outcome.metric)
    numeric = [name for name in vary if len(vary[name]) > 1 and _is_numeric(vary[name])]
    along = max(numeric, key=lambda name: len(vary[name]), default="workload")
    others = [name for name in _telling(outcome) if name != along]
    found = []
    for place, rows in _groups(points, others):
        values = sorted(rows[along].unique()) if along in numeric else [*rows[along].unique()]
        curves = {}
        for policy, of in rows.groupby("policy", sort=False):
            at = of.set_index(along)
            curves[str(policy)] = [_point(at, value, outcome.metric, scale) for value in values]
        found.append(
            panel(
                place, _words(along), [shown(value) for value in values], curves, along in numeric
            )
        )
    return found


def _groups(points: pd.DataFrame, columns: list[str]) -> list[tuple[str, pd.DataFrame]]:
    if not columns:
        return [("", points)]
    return [
        (_place(dict(zip(columns, values, strict=True))), rows)
        for values, rows in points.groupby(columns, sort=False)
    ]


def _point(at: pd.DataFrame, value: Any, metric: str, scale: Scale) -> Point:
    if value not in at.index:
        return Point(math.nan, math.nan)
    row = at.loc[value]
    note = "queue grew" if grew(row["unstable"]) else ""
    mean, half = float(row[metric]), float(row[f"{metric} half_width"])
    return Point(mean / scale.size, half / scale.size, note)


def _place(values: dict[str, Any]) -> str:
    return ", ".join(
        str(value) if name == "workload" else f"{_words(name)} {shown(value)}"
        for name, value in values.items()
    )


def _is_numeric(values: Any) -> bool:
    return all(isinstance(each, int | float) and not isinstance(each, bool) for each in values)


def _words(name: str) -> str:
    return name.replace("_", " ")


# Tables -----------------------------------------------------------------------------------------


def ranking_table(outcome: StudyOutcome) -> Table:
    """Return the policies of each setting, the best first."""
    scale = outcome.scale(outcome.metric)
    apart = scale_of_difference(outcome.metric, scale)
    unit = f", {apart.unit}" if apart.unit else ""
    names = {
        "n": pieces(outcome),
        "mean": heading(outcome.metric, scale),
        "difference": f"difference to the best mean{unit}",
        "worse": f"worse in, {pieces(outcome)}",
    }
    if len(outcome.study.compared) == 1:
        columns, of = [*_telling(outcome), "policy", "n", "mean"], {"mean": scale}
        return _table(
            outcome, "Means", outcome.ranking, names, columns, "", {"mean": "half_width"}, of
        )
    return _table(
        outcome,
        "Ranking",
        outcome.ranking,
        names,
        [*_telling(outcome), "rank", "policy", "n", "mean", "difference", "worse"],
        "The rank of a policy is one more than the number of policies that are surely better, so "
        "those that cannot be told apart share one. Differences are paired: of runs with the same "
        "jobs, and in so many of them the policy is worse than that of the best mean.",
        {"mean": "half_width"},
        {"mean": scale, "difference": apart},
    )


def _telling(outcome: StudyOutcome) -> list[str]:
    """Return the columns of a setting that are not the same in all rows."""
    return [name for name in outcome.where if outcome.runs[name].nunique() > 1]


def _tables(outcome: StudyOutcome) -> list[Table]:
    scale = outcome.scale(outcome.metric)
    tables = [ranking_table(outcome)]
    if len(outcome.effects):
        apart = scale_of_difference(outcome.metric, scale)
        unit, by = (f", {each.unit}" if each.unit else "" for each in (scale, apart))
        effects = {
            "n": "pairs",
            "mean": f"before{unit}",
            "difference": f"change{by}",
            "lower": "lower in",
            "higher": "higher in",
            "surely": "surely changes",
        }
        told = outcome.effects["surely_changes"].map({True: "yes", False: "no"})
        others = [name for name in _telling(outcome) if outcome.effects[name].notna().any()]
        columns = ["parameter", "from", "to", *others, "policy", "n", "mean", "difference"]
        columns += ["lower", "higher", "surely"]
        tables.append(
            _table(
                outcome,
                "Effects of parameters",
                outcome.effects.assign(surely=told),
                effects,
                columns,
                f"The change of {label(outcome.metric)} from one value to the other, all else "
                "equal, of the replications that both have, with its 95 % confidence interval, and "
                "in how many of them it is lower and higher. Whether it surely changes is judged "
                "as ranks are: by the signs and sizes in all pairs, of all rows of the parameter "
                "together.",
                {"difference": "half_width"},
                {"mean": scale, "difference": apart},
            )
        )
    scales = {name: outcome.scale(name) for name in outcome.study.reported}
    counts = [each for each in ("unstable", "unfinished", "rejected") if outcome.points[each].any()]
    tables.append(
        _table(
            outcome,
            "All means",
            outcome.points,
            {"n": pieces(outcome)} | {name: heading(name, scale) for name, scale in scales.items()},
            [*_telling(outcome), "policy", "n", *counts, *scales],
            "With 95 % confidence intervals; where only some runs have a number, n tells how many.",
            scales=scales,
        )
    )
    return tables


def _windows(outcome: StudyOutcome) -> Iterator[Table]:
    """Yield when the windows of each log were, and what the policies came to in each of them."""
    scale, several = outcome.scale(outcome.metric), len([*outcome.runs["workload"].unique()]) > 1
    places = [name for name in _telling(outcome) if name != "workload"]
    for workload, runs in outcome.runs.groupby("workload", sort=False):
        zone, found = dated(outcome, str(workload))
        if not found:
            continue
        columns = [Column(f"from{'' if zone else ', s'}", bool(zone)), Column("until", bool(zone))]
        values = [[Cell(begin), Cell(end)] for begin, end in found]
        by_policy = () if places else runs.groupby("policy", sort=False)  # else far too many
        for policy, of in by_policy:
            columns.append(Column(str(policy)))
            metric = of.set_index("replication")[outcome.metric]
            for window, row in enumerate(values):
                row.append(_number(metric.get(window), None, 0, scale, ""))
        what = (
            f", with the {heading(outcome.metric, scale)}, of each policy"
            if len(columns) > 2
            else ""
        )
        note = f"By {zone}{what}." if zone else f"After the first submission{what}."
        yield Table(f"Windows{f' of {workload}' if several else ''}", columns, values, note, False)


def _platform(outcome: StudyOutcome) -> list[Table]:
    """Return the clusters of a study, links that matter and planned changes, as far as known."""
    told = outcome.provenance
    given = told.get("platforms") or {"": told.get("platform")}
    where = "platform of the study"
    platforms = [(name, platform_of(each, where)) for name, each in given.items() if each]
    if not platforms:
        return []
    machines = told.get("machines", {})
    of_logs = Cell(", ".join(f"{size:,} ({name})" for name, size in machines.items()))
    several = len(platforms) > 1
    clusters = [
        [
            *([Cell(name)] if several else []),
            *(Cell(each.name), of_logs if machines else _count(each.size), _count(each.rate)),
        ]
        for name, platform in platforms
        for each in platform.clusters
    ]
    columns = [Column(name, text=True) for name in ("platform", "cluster")[not several :]]
    columns += [Column("processors"), Column("rate")]
    of_study = f"Platform{'s' if several else ''} of the study"
    tables = [Table(of_study, columns, clusters, OF_STUDY)]
    moved = any((outcome.runs[name] > 0).any() for name in OF_LINKS if name in outcome.runs)
    if moved or any(latencies(platform.graph).any() for _, platform in platforms):
        tables += links_table(platforms, OF_STUDY, "platform")
    return [*tables, *changes_table(platforms, _whose(outcome), "platform")]


def _parameters(outcome: StudyOutcome) -> list[Table]:
    """Return the parameters that the scenario of a study sets, which its file need not show."""
    given = outcome.provenance.get("parameters", {})
    rows = [[Cell(name), Cell(shown(value))] for name, value in given.items()]
    columns = [Column(name, text=True) for name in ("parameter", "value")]
    note = "Others are those of the study, or defaults."
    return [Table("Parameters of the scenario", columns, rows, note)] if rows else []


def cleaning_table(outcome: StudyOutcome) -> list[Table]:
    """Return what was done to the records of logs, if something was."""
    found = outcome.provenance.get("cleaning", [])
    texts = ["workload", "rule", *(["where"] if any(each["where"] for each in found) else [])]
    rows = [
        [_count(each["times"]), _count(each["records"]), *(Cell(each[name]) for name in texts)]
        for each in found
    ]
    columns = [Column("times"), Column("records"), *(Column(name, text=True) for name in texts)]
    note = "Cleaning is of whole logs, before windows are cut from them."
    return [Table("Cleaning of logs", columns, rows, note)] if rows else []


def _whose(outcome: StudyOutcome) -> str:
    """Return which runs have the planned changes, "" if all: other clusters have none."""
    return "Of the runs with clusters auto alone." if "clusters" in outcome.study.vary else ""


def _count(value: float) -> Cell:
    return Cell(number(value), value)


def _table(
    outcome: StudyOutcome,
    heading: str,
    rows: pd.DataFrame,
    names: dict[str, str],
    columns: list[str],
    note: str,
    halves: Mapping[str, str] = MappingProxyType({}),
    scales: Mapping[str, Scale] = MappingProxyType({}),
) -> Table:
    """Return rows as they are read.

    `halves` has columns of half-widths of other names, `scales` units of columns that have one.
    """
    of, settings = pd.api.types, {*outcome.study.vary, "from", "to"}  # which are told whole
    texts = {
        name: not of.is_numeric_dtype(rows[name]) or of.is_bool_dtype(rows[name])
        for name in columns
    }
    cells = [
        [
            _text(row[name])
            if texts[name] or name in settings
            else _number(
                row[name],
                row.get(halves.get(name, f"{name} half_width")),
                row["unstable"],
                scales.get(name, PLAIN),
                of_others(row.get(f"{name} n", 0), row.get("n", 0)),
            )
            for name in columns
        ]
        for row in rows.to_dict("records")
    ]
    heads = [Column(names.get(name, _words(name)), texts[name]) for name in columns]
    return Table(heading, heads, cells, note, open=heading in ("Ranking", "Means"))


def _text(value: Any) -> Cell:
    if value is None or value is pd.NA or value != value:
        return Cell(NONE)
    return Cell(shown(value), None if isinstance(value, str) else float(value))


def _number(value: Any, half: Any, unstable: Any, scale: Scale, of: str) -> Cell:
    """Return a number with its half-width, if it has one, what it is of, and a mark.

    The mark is that queues of runs grew.
    """
    if value is None or value is pd.NA or math.isnan(value):
        return Cell(NONE)
    mark = MARK if grew(unstable) and half is not None else ""
    width = half or None  # nothing is chance where it is 0
    return Cell(scale.told(value, width) + mark + of, float(value))
