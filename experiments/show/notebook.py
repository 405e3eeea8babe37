"""What notebooks and terminals show of scenarios, runs, replications and studies."""

from __future__ import annotations

from functools import singledispatch
from typing import NamedTuple

from experiments.run.results import Result
from experiments.scenario.scenario import Scenario
from experiments.show.labels import label, schedulers
from experiments.show.labels import told as told_of
from experiments.show.numbers import listed, number
from experiments.show.page import cluster_table, figures, origin_tables, templates
from experiments.show.run_data import Ran
from experiments.show.study_page import cleaning_table, ranking_table
from experiments.show.tables import Cell, Column, Table
from experiments.show.words import Sentence, found
from experiments.studies.outcome import StudyOutcome
from experiments.sweeps.replications import Replications
from grid.metrics.stability import GREW

ROWS = 50
"""Rows of a table that are shown at most."""


class Told(NamedTuple):
    """What is shown of an object."""

    title: str
    facts: dict[str, str]
    sentences: list[Sentence]
    tables: list[Table]


def html_of(thing: object) -> str:
    """Return an object as a piece of a page; all its text is escaped."""
    told = _told(thing)
    return templates().get_template("notebook.html").render(**told._asdict(), shown=ROWS)


def text_of(thing: object) -> str:
    """Return an object as a line of text."""
    told = _told(thing)
    facts = ", ".join(f"{name} {text}" for name, text in told.facts.items())
    return f"<{type(thing).__name__} {told.title}{', ' if facts else ''}{facts}>"


@singledispatch
def _told(thing: object) -> Told:
    raise NotImplementedError(type(thing).__name__)


@_told.register
def _(scenario: Scenario) -> Told:
    told = scenario.to_dict()
    workload = told["workload"]
    clusters = scenario.platform.clusters
    facts = {
        "clusters": f"{len(clusters)}",
        "processors": number(float(scenario.platform.sizes.sum())),
        "jobs": workload if isinstance(workload, str) else listed(workload or ["synthetic"]),
    }
    rows = [
        [Cell(each.name), Cell(str(each.size), each.size), Cell(f"{each.rate:g}", each.rate)]
        for each in clusters
    ]
    columns = [Column("cluster", text=True), Column("processors"), Column("rate")]
    title = f"{scenario.name}: {schedulers(told['global'], told['local'], len(clusters))}"
    lines = [Sentence(scenario.title)] if scenario.title else []
    return Told(title, facts, lines, [Table("Clusters", columns, rows)])


@_told.register
def _(result: Result) -> Told:
    summary = result.summary()
    by = schedulers(summary["global"], summary["local"], len(result.platform.clusters))
    title = f"{summary['scenario']}: {by}"
    lines = [] if result.records is None else found(Ran.of(result))
    tables = [cluster_table(summary), *origin_tables([(title, summary)])]
    return Told(f"{title}, seed {result.seed}", figures(summary), lines, tables)


@_told.register
def _(replications: Replications) -> Told:
    told = replications.scenario.to_dict()
    scenario = replications.scenario
    by = schedulers(told["global"], told["local"], len(scenario.platform.clusters))
    title = f"{scenario.name}: {by}"
    rows = [
        [Cell(label(name)), Cell(told_of(name, mean.mean, mean.half_width), mean.mean)]
        for name, mean in replications.shown.items()
    ]
    columns = [Column("metric", text=True), Column("mean, 95 % confidence")]
    lines = []
    if replications.unstable:
        few = f"{replications.unstable} of {len(replications.runs)} runs"
        of_this = "means are those of runs of this length"
        lines = [Sentence(f"In {few} the mean queue {GREW}: {of_this}.", True)]
    lines += [Sentence(line, True) for line in replications.remarks]
    facts = {"runs": f"{len(replications.runs)}", "seeds": f"drawn from {replications.seed}"}
    return Told(title, facts, lines, [Table("Means", columns, rows)])


@_told.register
def _(outcome: StudyOutcome) -> Told:
    facts = {"runs": f"{len(outcome.runs):,} of {outcome.planned:,}", "metric": outcome.metric}
    lines = [Sentence(line) for line in outcome.sentences()]
    ranking = [ranking_table(outcome)] if len(outcome.runs) else []
    return Told(outcome.title or "study", facts, lines, [*ranking, *cleaning_table(outcome)])
