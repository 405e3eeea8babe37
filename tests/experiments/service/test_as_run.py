"""The history of a service as the result of a run."""

from __future__ import annotations

import json
from contextlib import closing

from experiments.service.grid_file import load_grid
from experiments.service.history.as_run import as_run
from experiments.service.serving import serving
from experiments.service.store import Store
from tests.experiments.commands import call

from .served import GRID, served


def test_deadlines_of_jobs_that_failed_are_told(grid, state):
    """And a time that is too long for a table of jobs at the rate of its site is none there.

    That another was too short is nothing to clean.
    """
    grid.write_text(GRID.replace('"B"', '"B"\nrate = 0.5'))
    late = {"command": ["sh", "-c", "sleep 0.3; false"], "time_s": 0.1}
    served(grid, state, late | {"deadline": 3600.0})
    with closing(Store(state)) as store:
        store.add(["true"], 1, 1e12, only="B")
    served(grid, state)
    with as_run(state) as out:
        summary = json.loads((out / "summary.json").read_text())
    assert "deadlines met: by whoever ended in time, without success, too" in summary["notes"]
    assert "cleaning" not in summary


def test_policies_that_started_nothing_have_served_nothing(history):
    with serving(load_grid(str(history.parent / "grid.toml"), "ect", "easy"), history, 0, print):
        pass
    with as_run(history) as out:
        summary = json.loads((out / "summary.json").read_text())
    assert summary["served"] == "dll over fcfs"


def test_pages_and_pictures_of_real_jobs(history, tmp_path):
    page = tmp_path / "page.html"
    made = call("report", history, "-o", page)
    assert made.exit_code == 0, made.output
    text = page.read_text()
    assert "Jobs as they ran in truth, served by dll over fcfs; nothing is simulated" in text
    assert "<h1>grid: dll over fcfs</h1>" in text
    for word in (
        "home over recorded",
        "simulated time",
        "as simulated",
        ">prediction<",
        "By origin",
        "brought an execution time",
    ):
        assert word not in text
    assert str(history / "jobs.db") in text
    assert call("plot", history, "-o", tmp_path / "gantt.png").exit_code == 0
