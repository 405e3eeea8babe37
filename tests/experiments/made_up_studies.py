"""Files of studies whose results are made up, so that what is made of them is known."""

from __future__ import annotations

import json

from experiments.studies.database import StudyDatabase, Task
from experiments.studies.definition import Definition

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


def made_up(path, result, text=STUDY, replications=5, ended=""):
    """Write a study in which a run comes to ``result(policy, workload, setting, replication)``.

    That is a dict of metrics, or None for a run that is not finished.
    """
    study = Definition.of_text(text, "study.toml")
    told = {"study": study.to_dict(), "version": "1.0", "text": text, "ended": ended}
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
