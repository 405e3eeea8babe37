"""One run of a study, and the numbers that are kept of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from agents.model import GridModel
from experiments.scenario.jobs import paths_of
from experiments.scenario.scenario import Scenario
from experiments.sweeps.executors import unseen_steps
from experiments.sweeps.inputs import named_files, read_once
from experiments.sweeps.observations import observe_run
from experiments.sweeps.sweep import Observation, Runnable


@dataclass(frozen=True)
class StudyRun:
    """What a study runs: a scenario whose logs are known by their content.

    Attributes
    ----------
    scenario : Scenario
    digests : mapping of str to str
        SHA-256 of each file of its workload.
    jobs : int
        How many there are.
    """

    scenario: Scenario
    digests: Mapping[str, str]
    jobs: int

    def cut(self, jobs: int) -> StudyRun:
        """Return the same with so many synthetic jobs at most; a log stays as it is."""
        if self.scenario.workload is not None:
            return self
        scenario = self.scenario.cut(jobs)
        return dataclasses.replace(self, scenario=scenario, jobs=scenario.jobs)

    def model(self, seed: int = 0) -> GridModel:
        """Return a model of it, ready to step."""
        return self.scenario.model(seed, partial(read_once, self.digests))

    def to_dict(self) -> dict[str, Any]:
        """Return what tells it from others: logs by what is in them, wherever they lie."""
        told = self.scenario.to_dict()
        if files := named_files([self.scenario]):
            told["files"] = files
        source = self.scenario.workload
        if source is not None:
            told["workload"] = [self.digests[path] for path in paths_of(source)]
            if not isinstance(source, (str, Path)):
                told["sites"] = [entry.partition("=")[0] for entry in source]
        return told


def numbers_of(run: Runnable, seed: int) -> Observation:
    """Carry a run to its end in a worker; return the numbers among its metrics, and its jobs."""
    assert isinstance(run, StudyRun)
    model = run.model(seed)
    found = observe_run(run.scenario, model, unseen_steps(model))
    del found["completed"]
    return found
