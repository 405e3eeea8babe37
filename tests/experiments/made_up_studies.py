"""Files of studies whose results are made up, so that what is made of them is known."""

from __future__ import annotations

import json
import zlib

import pandas as pd

from experiments.studies.database import StudyDatabase, Task
from experiments.studies.definition import Definition
from experiments.studies.outcome import StudyOutcome

STUDY = """
title = "Made up"
scenario = "quickstart"
metric = "mean_turnaround"
report = ["utilization"]
[policies]
global = ["ect", "dll"]
local = "fcfs"
[vary]
link_mbps = [100, 1000]
"""


def ripple(*of):
    """Return a small number, another of each: differences of real runs are never all the same."""
    return zlib.crc32(repr(of).encode()) / 2**32 / 1000


def made_up(path, result, text=STUDY, replications=5, ended=""):
    """Write a study in which a run comes to ``result(policy, workload, setting, replication)``.

    That is a dict of metrics, or None for a run that is not finished.
    """
    study = Definition.of_text(text, "study.toml")
    told = {"study": study.to_dict(), "version": "1.0", "text": text, "ended": ended}
    told["of_muscle"] = study.of_muscle
    database = StudyDatabase(path, {}, told)
    tasks, results = [], {}
    for replication in range(replications):
        for workload in study.workloads or ["synthetic"]:
            for setting in study.settings:
                for policy in study.compared:
                    values = json.dumps(setting)
                    key = f"{policy.label} {workload} {values} {replication}"
                    tasks.append(Task(policy.label, workload, values, replication, 7, key))
                    found = result(policy.label, workload, setting, replication)
                    if found is not None:
                        counts = {"unfinished": 0.0, "rejected": 0.0, "stable": 1.0}
                        numbers = {**counts, "utilization": 0.5, **found}
                        results[key] = {name: [value] for name, value in numbers.items()}
    database.plan(tasks)
    database.add(results)
    return path


def outcome_of(values):
    """Return a study of windows of a log, from the mean wait of each policy in each of them."""
    named = [{"name": name, "global": "ect", "local": "fcfs"} for name in values]
    study = Definition.model_validate(
        {
            "scenario": "site",
            "metric": "mean_wait",
            "policies": named,
            "workloads": {"mine": "mine.swf"},
            "replications": {"window": "4d"},
        }
    )
    same = {
        "workload": "mine",
        "seed": 7,
        "unfinished": 0.0,
        "rejected": 0.0,
        "stable": float("nan"),
    }
    runs = pd.DataFrame(
        [
            {"policy": name, "replication": window, "mean_wait": float(value), **same}
            for name, of_it in values.items()
            for window, value in enumerate(of_it)
        ]
    )
    return StudyOutcome(study, {}, runs, len(runs), "")
