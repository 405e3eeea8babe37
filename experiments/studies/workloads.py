"""The jobs that a study's policies meet: synthetic ones, or stretches of named logs."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np

from agents.pace.built_in import Requested
from experiments.cli.options import chosen_workload
from experiments.scenario.assignments import shown
from experiments.scenario.dates import window_of
from experiments.scenario.jobs import READ, Source, no_occasion, paths_of
from experiments.scenario.parameters import ALIASES
from experiments.scenario.scenario import Scenario
from experiments.show.numbers import counted
from experiments.studies.definition import PLATFORM, SYNTHETIC, Definition, Replications
from experiments.studies.parts import Bools, Floats, Parts, Reading, readings_of, since_the_first
from experiments.studies.platforms import check_sites
from experiments.studies.study_run import StudyRun
from experiments.sweeps.inputs import named_files, read_once
from grid.errors import GridError, blaming
from grid.foreign import quoted
from grid.jobs import ANYWHERE
from grid.logs.calendar import clock_at
from grid.platform.multicluster import Platform
from grid.reading import digest
from grid.workloads.source import Cleaning
from grid.workloads.table import NOTHING, Stated, Table

WINDOW = ("window_start", "window_end")


@dataclass(frozen=True, eq=False)
class StudyWorkload:
    """What jobs there are, and what of them a replication has.

    Attributes
    ----------
    name : str
    source : path, tuple of ``name=path``, or None
        Logs; None for synthetic jobs.
    digests : dict of str to str
        SHA-256 of each of their files.
    arrivals : float array
        Of the jobs of logs, s after the first.
    start : datetime or None
        What the clock of a log showed at its first arrival, if that is known.
    stretches : tuple of (float, float)
        What replications replay, s after the first job; none: all of them the whole log.
    deadlines : bool
        Whether some job of logs has one.
    stated : Stated
        What the jobs of logs say.
    unread : tuple of str
        Parameters that jobs of logs give no occasion for.
    machine : int, optional
        Processors of the machine that the jobs of a log come from.
    machines : mapping of str to int
        Of logs of several, those of each by its cluster.
    cleanings : dict of str to Cleaning
        What was done to the records of logs, all of them; of each way in which runs read them, by
        the parameters that say so, in words: "" if there is but one.
    unrequested, homeless : int
        Jobs of replications without a requested time, where others of the replication have one,
        and those submitted through no cluster.
    none_requested : int
        Windows of replications where no job has a requested time, though others of the log have.
    idle : dict of str to int
        Of several sites those through which no job comes in some of the stretches that there can
        be replications of, and in how many.
    left_out : dict of str to int
        Why stretches before the last of these are none, in words, and how many.
    """

    name: str
    source: Source | None = None
    digests: dict[str, str] = field(default_factory=dict)
    arrivals: Floats = field(default_factory=lambda: np.zeros(0))
    start: datetime | None = None
    stretches: tuple[tuple[float, float], ...] = ()
    deadlines: bool = False
    stated: Stated = NOTHING
    unread: tuple[str, ...] = ()
    machine: int | None = None
    machines: dict[str, int] = field(default_factory=dict)
    cleanings: dict[str, Cleaning] = field(default_factory=dict)
    unrequested: int = 0
    homeless: int = 0
    none_requested: int = 0
    idle: dict[str, int] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=dict)

    @property
    def whole_log(self) -> bool:
        """Whether each replication replays all of a log."""
        return self.source is not None and not self.stretches

    def first(self, how: Replications) -> int:
        """Return the replications of the first round.

        Two tell whether anything is random when all of a log is replayed.
        """
        return 2 if self.whole_log else how.least

    def most(self, how: Replications) -> int:
        """Return the replications that there can be."""
        return min(how.limit, len(self.stretches)) if self.stretches else how.limit

    def told(self, how: Replications) -> str:
        """Return in words whose jobs replications have: "of three", "of 5 windows of three"."""
        windows = f"of {counted(self.most(how), 'window')} " if self.stretches else ""
        return f"{windows}of {self.name}"

    def run(self, scenario: Scenario, replication: int) -> StudyRun:
        """Return what a replication runs."""
        if self.source is None:
            return StudyRun(scenario, {}, scenario.jobs)
        if self.whole_log:
            return StudyRun(scenario, self.digests, len(self.arrivals))
        return self._part(scenario, *self.stretches[replication])

    def check(self, scenario: Scenario, how: Replications) -> None:
        """Raise `GridError` for what no replication can be of, or not all can."""
        self.run(scenario, 0).model()
        if not self.stretches:
            return
        last = self.stretches[self.most(how) - 1]
        if scenario.parameters.mode == "per-cluster":  # that refuses large jobs
            self._part(scenario, self.stretches[0][0], last[1]).model()
        if named_files([scenario]):  # series among them may end before
            self._part(scenario, *last).model()

    def short(self, scenario: Scenario, jobs: int) -> StudyRun:
        """Return the beginning of a run, about so many jobs, that bears whatever the whole does.

        All of its jobs count, and if none of them tells what prediction needs, that is exact.
        """
        if self.source is None:
            return StudyRun(scenario, {}, scenario.jobs).cut(jobs)
        scenario = scenario.with_parameters({"warmup": 0}, self.name)
        scenario = replace(scenario, packaged=scenario.packaged | {"prediction"})
        given = scenario.parameters
        asked = self.stretches[0] if self.stretches else (given.window_start, given.window_end)
        start, end = window_of(self.arrivals, self.start, *asked, self.name)
        start = max(start, 0.0)
        there = self.arrivals[(self.arrivals >= start) & (self.arrivals < end)]
        return self._part(scenario, start, float(there[:jobs][-1]) + 1.0)

    def _part(self, scenario: Scenario, start: float, end: float) -> StudyRun:
        window = dict(zip(WINDOW, (start, end), strict=True))
        first, last = np.searchsorted(self.arrivals, (start, end)).tolist()
        return StudyRun(scenario.with_parameters(window, self.name), self.digests, last - first)


def named_workloads(
    study: Definition,
    bases: Mapping[str | None, Scenario],
    where: Path,
    scenarios: Sequence[Scenario],
) -> list[StudyWorkload]:
    """Return the workloads of a study, their logs read.

    Parameters
    ----------
    study : Definition
    bases : mapping of str to Scenario
        Of each platform. Sites are of all of them, and the own workload is taken if the study names
        none.
    where : Path
        The file of the study, to whose folder paths are relative.
    scenarios : sequence of Scenario
        What is run on each of them; stretches that one of these cannot be run on are left out.

    Raises
    ------
    GridError
        If a log cannot be used, or has too few stretches.
    """
    base = next(iter(bases.values()))
    if study.workloads:
        sources = {
            name: _source(entries, where.parent) for name, entries in study.workloads.items()
        }
    elif base.workload is not None:
        given = base.workload
        entries = [str(given)] if isinstance(given, (str, Path)) else list(given)
        sources = {Path(entries[0]).name: _source(entries, Path())}
    else:
        sources = {}
    check_sites(where, sources, bases)
    how, parameters = study.replications, base.parameters
    tables: dict[str, Collection[str]] = {"set": study.set, "vary": study.vary}
    tables |= {f"policies: {quoted(each.label)}: set": each.set for each in study.compared}
    tables["scenario"] = parameters.model_fields_set
    for name, table in product(WINDOW, tables if how.window is not None else ()):
        if name in tables[table]:
            raise GridError(
                f"{where}: {table}: {name}: found with replications.window; accepted: one of them: "
                "windows follow each other from the first submission on"
            )
    if how.window is not None and not sources:
        raise GridError(f"{where}: replications.window: found without logs; accepted: with them")
    if not sources:
        return [StudyWorkload(SYNTHETIC)]
    return [_read(name, source, base, how, where, scenarios) for name, source in sources.items()]


@contextmanager
def naming_table(
    where: Path, study: Definition, policy: str, workload: str, setting: str
) -> Iterator[None]:
    """Have an error about a parameter that a study gives begin with its file and its table.

    Parameters
    ----------
    where : Path
        The file.
    study : Definition
    policy, workload : str
        What is run and on what, by their names.
    setting : str
        The values that vary, in JSON.
    """
    try:
        yield
    except GridError as error:
        own = {each.label: each.set for each in study.compared}[policy]
        tables = {"set": study.set, "vary": study.vary, f"policies: {quoted(policy)}: set": own}
        # Behind the table, or the scenario's name if the error names what it gave.
        told = re.sub("^(policies: set|[^:]*): ", "", str(error).removeprefix(f"{where}: "))
        name = told.partition(":")[0]
        table = next((of for of, given in tables.items() if ALIASES.get(name, name) in given), "")
        if not table:
            raise
        log = "" if workload == SYNTHETIC else f", with workload {workload}"
        platform = json.loads(setting).get(PLATFORM)
        log += "" if platform is None else f", on {PLATFORM} {platform}"
        raise GridError(f"{where}: {table}{log}: {told}") from error


def _source(entries: Sequence[str], folder: Path) -> Source:
    """Return a log, or those of sites, by paths that are good from everywhere."""
    chosen = chosen_workload(tuple(entries))
    assert chosen is not None
    if isinstance(chosen, str):
        return os.path.abspath(folder / chosen)
    split = [entry.partition("=") for entry in chosen]
    return tuple(
        f"{site}={os.path.abspath(folder / path)}" if path else site for site, _, path in split
    )


def _read(
    name: str,
    source: Source,
    base: Scenario,
    how: Replications,
    where: Path,
    scenarios: Sequence[Scenario],
) -> StudyWorkload:
    digests = {path: digest(path) for path in paths_of(source)}
    with blaming(f"{where}: workloads: {name}"):
        table = read_once(digests, source, base.platform, base.parameters)
        cleanings = _cleanings(scenarios, partial(read_once, digests, source))
    arrivals = since_the_first(table)
    deadlines = bool(np.isfinite(table.jobs["deadline"]).any())
    workload = StudyWorkload(
        name,
        source,
        digests,
        arrivals,
        table.start and clock_at(table.start, float(table.jobs["arrival"][0])),
        deadlines=deadlines,
        stated=table.stated,
        unread=_no_occasion(table, scenarios),
        machine=table.machine,
        machines={**table.machines},
        cleanings=cleanings,
        unrequested=table.stated.unrequested,
        homeless=table.stated.homeless,
    )
    if how.window is None:
        return workload
    with blaming(f"{where}: replications.window"):
        read = partial(read_once, digests, source)
        parts = Parts.of_log(arrivals, how.window, scenarios, read, digests)
    if len(parts.fit) < how.least:
        found = parts.told(f"workload {name}")
        raise GridError(
            f"{where}: replications.window: found {found}; accepted: one of which there "
            f"are at least {how.least}, `least`"
        )
    workload = replace(workload, stretches=parts.fit)
    run, without = parts.fit[: workload.most(how)], parts.without
    before = parts.there[0] < run[-1][0]
    left_out = {why: int((of & before).sum()) for why, of in without.items() if (of & before).any()}
    unknown = ~Requested.tells(table.jobs) & (table.stated.unrequested > 0)  # else for no job
    of_runs = np.searchsorted(arrivals, run).tolist()
    requested = [(i, j) for i, j in of_runs if not unknown[i:j].all()]
    nowhere = table.jobs["origin"] == ANYWHERE
    return replace(
        workload,
        left_out=left_out,
        idle=_idle(table, source, run, base.platform),
        unrequested=sum(int(unknown[i:j].sum()) for i, j in requested),
        homeless=sum(int(nowhere[i:j].sum()) for i, j in of_runs),
        none_requested=len(of_runs) - len(requested),
    )


def _no_occasion(table: Table, scenarios: Iterable[Scenario]) -> tuple[str, ...]:
    """Return the parameters that jobs give no occasion for in anything that is run."""
    found = []
    for parameters, platform in ((each.parameters, each.platform) for each in scenarios):
        found.append(no_occasion(table, parameters, platform))
    return tuple(name for name in found[0] if all(name in each for each in found))


def _cleanings(scenarios: Iterable[Scenario], read: Reading) -> dict[str, Cleaning]:
    """Return `StudyWorkload.cleanings` of a log."""
    readings, found = readings_of(scenarios), {}
    for reading in readings:
        given = reading[1]
        differs = (name for name in READ if len({repr(getattr(r[1], name)) for r in readings}) > 1)
        where = ", ".join(f"{name} {shown(getattr(given, name))}" for name in differs)
        found[where] = read(*reading).cleaning
    one = next(iter(found.values()))
    alike = all((each.records, each.rules) == (one.records, one.rules) for each in found.values())
    return {"": one} if alike else found


def _idle(
    table: Table, source: Source, run: Sequence[tuple[float, float]], platform: Platform
) -> dict[str, int]:
    """Return in how many stretches no job comes through each of several sites that has some."""
    if isinstance(source, str):
        return {}
    arrivals, names = since_the_first(table), platform.names
    without = {
        names[site]: sum(_empty(arrivals[table.jobs["origin"] == site], run))
        for site in np.unique(table.jobs["origin"]).tolist()
    }
    return {site: often for site, often in without.items() if often}


def _empty(arrivals: Floats, stretches: Sequence[tuple[float, float]]) -> Bools:
    """Return of each stretch whether no job arrives in it."""
    first, last = np.searchsorted(arrivals, np.transpose(stretches))
    empty: Bools = first == last
    return empty
