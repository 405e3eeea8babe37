"""Studies: policies x settings x workloads x replications on the same jobs, kept in one file."""

from __future__ import annotations

import hashlib
import json
import math
import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import count, product
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from agents.importing import importable_from
from experiments.run.own_metrics import check_names
from experiments.run.summary import version
from experiments.scenario.assignments import shown
from experiments.scenario.files import SUFFIXES
from experiments.scenario.scenario import Scenario
from experiments.show.numbers import duration
from experiments.studies.asked import check_asked, check_policies
from experiments.studies.database import StudyDatabase, Task, alone, check_out
from experiments.studies.definition import PLATFORM, SYNTHETIC, Definition, Policy, cell
from experiments.studies.notes import noted, notes_of
from experiments.studies.outcome import StudyOutcome
from experiments.studies.platforms import digests_of, fitting, platforms_of
from experiments.studies.study_run import StudyRun, numbers_of
from experiments.studies.workloads import StudyWorkload, named_workloads, naming_table
from experiments.sweeps.compiling import saying_when_compiling
from experiments.sweeps.executors import Workers, dask_workers, local_workers, refuse_to_nest
from experiments.sweeps.forecast import Forecast
from experiments.sweeps.inputs import named_files, own_code, unfit
from experiments.sweeps.progress import SweepProgress
from experiments.sweeps.replications import PROBE
from experiments.sweeps.run_store import code_digest
from experiments.sweeps.sequential_stopping import next_target
from experiments.sweeps.starting import cores
from experiments.sweeps.sweep import (
    ENOUGH,
    Costs,
    Run,
    Watch,
    carry_out,
    check_importable,
    try_out,
)
from grid.errors import GridError, blaming
from grid.foreign import quoted
from grid.names import meant
from grid.reading import read_text

PACKAGED = Path(__file__).parent / "packaged"
"""Studies that come with the product."""
DECIDING = ("seed", "policies", "set", "vary", "workloads")
"""Keys of a study that say what its runs are; others say how many, or what is told of them."""

Opening = Callable[[list[Run]], AbstractContextManager[Workers]]
"""Opens workers for runs."""
At = tuple[str, str]
"""A setting with a workload: the workload's name, and the values that vary in JSON."""


@dataclass(frozen=True, eq=False)
class Study:
    """A study, checked: everything that it names is there and goes together.

    Attributes
    ----------
    path : Path
        Its file.
    text : str
        What is in it.
    definition : Definition
        What that says.
    """

    path: Path
    text: str
    definition: Definition

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Study:
        """Read a study file, or one that comes with the product by its name.

        Paths in it are relative to its folder.

        Raises
        ------
        GridError
            If it, or anything that it names, cannot be used.
        """
        if not isinstance(path, str | os.PathLike):
            raise GridError(f"study: found {quoted(path)}; accepted: a study file, or its name")
        packaged = PACKAGED / f"{os.fspath(path)}.toml"
        if os.path.isfile(packaged):
            path = packaged
        try:
            text = read_text(path)
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            names = sorted(each.stem for each in PACKAGED.glob("*.toml"))
            known = meant(path, names, f"accepted: a study file (.toml), or {', '.join(names)}")
            raise GridError(f"{path}: cannot be read ({why}); {known}") from None
        study = cls(Path(path), text, Definition.of_text(text, str(path)).located(path))
        for (policy, at), scenario in study._scenarios.items():
            with naming_table(study.path, study.definition, policy, *at):
                study._at[at].check(scenario, study.definition.replications)
        study._try_out()
        return study

    def run(
        self,
        out: str | os.PathLike[str],
        workers: int | None = None,
        dask: str | None = None,
        resume: bool = False,
        watch: Watch | None = None,
    ) -> StudyOutcome:
        """Carry the study out, and return what it came to.

        Parameters
        ----------
        out : path
            The file of tasks and results; each finished run is on the disk at once.
        workers : int, optional
            Processes of this machine, all cores by default; they change nothing but the time.
        dask : str, optional
            Address of a Dask scheduler whose workers do the runs instead.
        resume : bool
            Go on with the study that is in the file, if there is one.
        watch : Watch, optional
            Is told how it goes on; by default standard error is.

        Raises
        ------
        GridError
            If the file is there and is not to be gone on with, is named as one of another kind, or
            is of another study, version or input; if workers cannot be had.
        KeyboardInterrupt
            After Ctrl-C, once local workers have ended; finished runs are kept.
        """
        if workers is not None and (not isinstance(workers, int) or workers < 1):
            raise GridError(f"workers: found {quoted(workers)}; accepted: a whole number from 1")
        refuse_to_nest()
        if not isinstance(out, str | os.PathLike):
            raise GridError(f"out: found {quoted(out)}; accepted: a path")
        path = Path(out)
        check_out(path, resume)
        with ExitStack() as stack:
            if watch is None:
                watch = stack.enter_context(SweepProgress(Console(stderr=True)))
            self._carry_out(path, partial(self._workers, workers, dask), watch, stack)
        return StudyOutcome.read(path)

    def _carry_out(self, path: Path, open_workers: Opening, watch: Watch, stack: ExitStack) -> None:
        """Do round after round until all settings have enough replications, or a budget ends."""
        how = self.definition.replications
        until = time.monotonic() + how.time if how.time is not None else math.inf
        database = self._database(path, stack) if os.path.exists(path) else None
        workers: Workers | None = None
        costs: Costs = {}
        targets = {at: workload.first(how) for at, workload in self._at.items()}
        ended: str | None = None
        for round_ in count(1):
            tasks = [each for at, target in targets.items() for each in self._tasks(at, target)]
            if how.runs is not None and len(tasks) > how.runs:
                ended = self._over_budget(how.runs, len(tasks), begun=database is not None)
                break
            runs = [run for _, run in tasks]
            done = {} if database is None else database.all()
            if workers is None and any(run.key not in done for run in runs):
                workers = stack.enter_context(open_workers(runs))
            database = database or self._database(path, stack)
            database.plan(task for task, _ in tasks)
            if round_ > 1:
                watch.prepare(f"round {round_}, as means are not sure enough yet")
            if workers is None:
                watch.begin(len({run.key for run in runs}), Forecast([]))
            elif not carry_out(runs, numbers_of, database, workers, watch, costs, until):
                assert how.time is not None
                ended = f"The study ended by its time of {duration(how.time)}"
                break
            before, targets = targets, self._next_targets(path, targets)
            if targets == before:
                ended = ""
                break
        assert database is not None
        database.note({"ended": ended})

    def _over_budget(self, budget: int, runs: int, begun: bool) -> str:
        """Return in words that a round would go beyond the budget of runs."""
        if not begun:
            raise GridError(
                f"{self.path}: replications.runs: found {budget}; accepted: from {runs}, the runs "
                "of the first round"
            )
        return (
            f"The study ended by its budget of {budget} runs: the next round would have taken it "
            f"to {runs}"
        )

    def _next_targets(self, path: Path, targets: dict[At, int]) -> dict[At, int]:
        """Return how many replications each setting is to have, by what finished runs say."""
        study, outcome = self.definition, StudyOutcome.read(path)
        found = {}
        for (name, setting), target in targets.items():
            values = {"workload": name} | {
                key: cell(value) for key, value in json.loads(setting).items()
            }
            here = np.all([outcome.runs[key] == value for key, value in values.items()], axis=0)
            workload, runs = self._at[name, setting], outcome.runs[here]
            limit = workload.most(study.replications)
            found[name, setting] = next_target(study, runs, target, limit, workload.whole_log)
        return found

    @property
    def notes(self) -> list[str]:
        """Which parameters of the study mean nothing, and on which clock changes are, in lines."""
        return notes_of(self.definition, self._scenarios, self.workloads)

    # What is run --------------------------------------------------------------------------------

    @cached_property
    def bases(self) -> dict[str | None, Scenario]:
        """Of each platform that varies, or None, the scenario with what all runs share."""
        study, folder = self.definition, self.path.parent
        named = Path(study.scenario).suffix in SUFFIXES
        platforms, changes = platforms_of(study, self.path), dict[str, Any]()
        with blaming(f"{self.path}: scenario" if named else self.path):
            scenario = Scenario.load(
                str(folder / study.scenario) if named else study.scenario,
                (study.compared[0].global_, study.compared[0].local),
                next(iter(platforms.values()), None),
            )
        importable_from(Path.cwd())
        importable_from(folder)
        check_importable(scenario, "study")
        if study.own_metrics:
            with blaming(f"{self.path}: own_metrics"):
                check_names(study.own_metrics)
            of_both = *scenario.own_metrics, *study.own_metrics
            changes["own_metrics"] = (*dict.fromkeys(of_both),)
        with blaming(f"{self.path}: policies"):
            kinds = study.kinds
        found, where = {}, f"{self.path}: set"
        for name, platform in platforms.items():
            given = fitting(study.shared, platform, platforms.values())
            on = {PLATFORM: platform} | changes
            found[name] = scenario.with_parameters(given, where, kinds, **on)
        return found or {None: scenario.with_parameters(study.shared, where, kinds, **changes)}

    @property
    def base(self) -> Scenario:
        """What all runs share, on the first platform."""
        return next(iter(self.bases.values()))

    @cached_property
    def workloads(self) -> list[StudyWorkload]:
        """What jobs there are: of each named log, or those of the scenario."""
        study, none = self.definition, StudyWorkload(SYNTHETIC)
        run = [  # a wrong name is told before what logs lack
            self._scenario(policy, setting, none)
            for policy, setting in product(study.compared, study.settings)
        ]
        return named_workloads(study, self.bases, self.path, run)

    @cached_property
    def _at(self) -> dict[At, StudyWorkload]:
        """Settings with each workload, in the order of the file."""
        settings = [json.dumps(setting) for setting in self.definition.settings]
        return {(each.name, setting): each for each in self.workloads for setting in settings}

    @cached_property
    def _scenarios(self) -> dict[tuple[str, At], Scenario]:
        """What each policy runs in each setting, but for what replications differ in.

        All policies of a setting run the same jobs: with deadlines if one of them reads them.
        """
        found = {}
        for at, workload in self._at.items():
            here = [
                self._scenario(policy, json.loads(at[1]), workload)
                for policy in self.definition.compared
            ]
            drawn = {"assign_deadlines": any(each.draws_deadlines for each in here)}
            for policy, scenario in zip(self.definition.compared, here, strict=True):
                auto = scenario.to_dict()["parameters"]["assign_deadlines"] == "auto"
                if auto:
                    scenario = scenario.with_parameters(drawn, f"{self.path}: policies")
                found[policy.label, at] = scenario
        check_policies(self.path, self.definition.compared, found)
        return found

    def _scenario(
        self, policy: Policy, setting: dict[str, Any], workload: StudyWorkload
    ) -> Scenario:
        base = self.bases[setting.get(PLATFORM)]
        every = [each.platform for each in self.bases.values()]
        scenario = base.with_parameters(
            fitting(policy.set, base.platform, every),
            f"{self.path}: policies: set",
            global_scheduler=policy.global_,
            local_scheduler=policy.local,
            workload=workload.source,
        )
        varied = fitting(setting, base.platform, every)
        varied.pop(PLATFORM, None)
        return scenario.with_parameters(varied, f"{self.path}: vary", self.definition.kinds)

    @cached_property
    def _seeds(self) -> list[int]:
        """Of each replication its seed, which all policies, settings and workloads share."""
        most = self.definition.replications.limit
        return [*map(int, np.random.SeedSequence(self.definition.seed).generate_state(most))]

    @cached_property
    def _runs(self) -> dict[tuple[str, At, int], Run]:
        return {}

    def _tasks(self, at: At, target: int) -> Iterator[tuple[Task, Run]]:
        """Yield the runs of all policies in a setting, replication by replication."""
        for replication in range(target):
            for policy in self.definition.compared:
                which = policy.label, at, replication
                if which not in self._runs:
                    self._runs[which] = self._run(*which)
                run = self._runs[which]
                yield Task(policy.label, *at, replication, run.seed, run.key), run

    def _run(self, policy: str, at: At, replication: int) -> Run:
        workload, scenario = self._at[at], self._scenarios[policy, at]
        what = workload.run(scenario, replication)
        probe = workload.short(scenario, min(what.jobs, max(ENOUGH, what.jobs // PROBE)))
        name, setting = at
        of = [policy, *([] if name == SYNTHETIC else [name])]
        of += [f"{key} {shown(value)}" for key, value in json.loads(setting).items()]
        of.append(f"replication {replication + 1}")
        return Run(what, self._seeds[replication], (policy, *at), probe, ", ".join(of))

    # Where it is run ----------------------------------------------------------------------------

    def _try_out(self) -> None:
        """Have everything compiled that policies need, and the names of metrics checked."""
        first, workload = next(iter(self._at.items()))

        def short(of_first: bool) -> Iterator[StudyRun]:
            for (_, at), scenario in self._scenarios.items():
                if (at == first) == of_first:
                    yield self._at[at].short(scenario, ENOUGH)

        with saying_when_compiling(always=False):
            deadlines, where = workload.deadlines, str(self.path)
            check_asked(self.definition, short(True), short(False), deadlines, where)

    def _workers(
        self, number: int | None, dask: str | None, runs: list[Run]
    ) -> AbstractContextManager[Workers]:
        """Return what opens the workers that are asked for."""
        if dask is None:
            return local_workers(min(number or cores(), len(runs)), partial(try_out, runs[0].probe))
        files = self._digests | named_files(self._scenarios.values())
        return dask_workers(dask, partial(unfit, code_digest(), files))

    @cached_property
    def _digests(self) -> dict[str, str]:
        """SHA-256 of all logs, by path."""
        return {path: each for of in self.workloads for path, each in of.digests.items()}

    def _database(self, path: Path, stack: ExitStack) -> StudyDatabase:
        """Open the file of tasks and results; this study's alone."""
        told = self.definition.to_dict()
        scenario = json.dumps(self.base.to_dict(), sort_keys=True)
        parameters = {
            "version": version(),
            "code digest": code_digest(),
            **{name: told[name] for name in DECIDING},
            "window": self.definition.replications.window,
            "inputs": {Path(path).name: each for path, each in self._digests.items()},
            "files": named_files(self._scenarios.values()) | digests_of(self.bases, self.path),
            "own code": own_code(self._scenarios.values()),
            "scenario digest": hashlib.sha256(scenario.encode()).hexdigest(),
        }
        notes = {
            "title": self.definition.title,
            "study": told,
            "text": self.text,
            "ended": None,
            "of_muscle": self.definition.of_muscle,
            **noted(self.definition, self.bases, self._scenarios, self.workloads),
        }
        stack.enter_context(alone(path))
        return StudyDatabase(path, parameters, notes)
