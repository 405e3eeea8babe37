"""Small studies, and what is in their files."""

from __future__ import annotations

import io
import os
import signal
import sqlite3
from contextlib import closing

import numpy as np
from click.testing import CliRunner
from rich.console import Console

from experiments.cli.app import main
from experiments.studies.telling import print_outcome

STUDY = """
title = "Small"
scenario = "quickstart"
seed = 3
report = ["mean_wait"]
[policies]
global = ["muscle", "ect"]
local = ["titan", "fcfs"]
[set]
jobs = 60
[vary]
load = [0.4, 0.9]
[replications]
least = 3
most = 5
precision = 0.01
"""
RUNS = 2 * 2 * 2 * 5


class Silent:
    """Is told how a study goes on, and kills workers when a run has ended."""

    def __init__(self, workers=None):
        self.workers = workers
        self.begun = []

    def prepare(self, words):
        pass

    def begin(self, kept, forecast, under_way=tuple):
        self.begun.append((forecast.runs, kept))

    def advance(self, piece, took):
        if self.workers is not None:
            pids, self.workers = self.workers(), None
            assert pids
            for pid in pids:
                os.kill(pid, signal.SIGKILL)


def content(path):
    """Return all that is in the file of a study, but how long runs took."""
    with closing(sqlite3.connect(path)) as database, database:
        return [
            sorted(database.execute(f"SELECT {columns} FROM {table}"))
            for columns, table in (
                ("key, result", "runs"),
                ("*", "tasks"),
                ("*", "parameters"),
                ("*", "notes"),
            )
        ]


def cpu_seconds(path):
    with closing(sqlite3.connect(path)) as database, database:
        return dict(database.execute("SELECT key, cpu_s FROM runs"))


def kept(path):
    try:
        return len(cpu_seconds(path)) if path.exists() else 0
    except sqlite3.Error:
        return 0


def call(*words):
    return CliRunner().invoke(main, ["study", *map(str, words)])


def jobs_of(run):
    model = run.scenario.model(run.seed)
    names = ["number", "arrival", "size", "runtime"]
    return np.concatenate([chunk[names].copy() for chunk in model.workload.chunks()])


def write_log_study(folder, changes=(), jobs=400):
    """Write a study of a log of a hundred hours."""
    rng = np.random.default_rng(2)
    arrivals = np.sort(rng.uniform(0, 360_000, jobs)).astype(int)
    sizes, times = rng.integers(1, 17, jobs), rng.integers(60, 9000, jobs)
    lines = [
        f"{i + 1} {a} 0 {t} {s} -1 -1 {s} {2 * t} " + "-1 " * 9
        for i, (a, s, t) in enumerate(zip(arrivals, sizes, times, strict=True))
    ]
    (folder / "mine.swf").write_text("\n".join(lines))
    text = """
scenario = "site"
metric = "mean_wait"
[policies]
global = "dll"
local = ["fcfs", "easy"]
[set]
nodes = 20
[workloads]
mine = "mine.swf"
[replications]
least = 4
"""
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (folder / "study.toml").write_text(text)
    return folder / "study.toml"


def printed(outcome):
    """Return what is printed of a study."""
    told = io.StringIO()
    print_outcome(outcome, Console(file=told, width=200))
    return told.getvalue()
