"""What programs, notebooks and policies of one's own need most, by one name.

Everything is loaded when it is first asked for, so that importing this takes no time.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agents.model import GridModel
    from agents.pace.predictor import Predictor
    from agents.schedule import Placement
    from agents.schedulers import (
        REJECT,
        GlobalScheduler,
        LocalScheduler,
        PlanningScheduler,
    )
    from experiments.run.results import Result
    from experiments.run.running import run
    from experiments.scenario.scenario import Scenario
    from experiments.studies.outcome import StudyOutcome
    from experiments.studies.study import Study
    from grid.errors import GridError
    from grid.platform.multicluster import Platform
    from metasched import live

    __version__: str

__all__ = [
    "REJECT",
    "GlobalScheduler",
    "GridError",
    "GridModel",
    "LocalScheduler",
    "Placement",
    "PlanningScheduler",
    "Platform",
    "Predictor",
    "Result",
    "Scenario",
    "Study",
    "StudyOutcome",
    "__version__",
    "live",
    "load",
    "run",
    "study",
]

_HOMES = {
    "GlobalScheduler": "agents.schedulers",
    "GridError": "grid.errors",
    "GridModel": "agents.model",
    "LocalScheduler": "agents.schedulers",
    "Placement": "agents.schedule",
    "PlanningScheduler": "agents.schedulers",
    "Platform": "grid.platform",
    "Predictor": "agents.pace.predictor",
    "REJECT": "agents.schedulers",
    "Result": "experiments.run.results",
    "Scenario": "experiments.scenario",
    "Study": "experiments.studies.study",
    "StudyOutcome": "experiments.studies.outcome",
    "run": "experiments.run",
}


def load(
    name: str | os.PathLike[str], platform: Platform | str | os.PathLike[str] | None = None
) -> Scenario:
    """Return a scenario that comes with the product by name, or one's own by path.

    Parameters
    ----------
    name : str or path
    platform : Platform or path, optional
        Takes the place of its own, if it has one.

    Raises
    ------
    GridError
        If there is none, or a file is no scenario or no platform.

    Examples
    --------
    >>> load("quickstart").changed(jobs=200).parameters.jobs
    200
    """
    if isinstance(platform, str | os.PathLike):
        platform = import_module("grid.platform.reading").read_platform(platform)
    found: Scenario = import_module("experiments.scenario").Scenario.load(name, other=platform)
    return found if platform is None else found.changed(platform=platform)


def study(
    name: str | os.PathLike[str],
    out: str | os.PathLike[str],
    resume: bool = False,
    workers: int | None = None,
) -> StudyOutcome:
    """Carry out a study, and return what it found; the same runs as of ``metasched study``.

    Parameters
    ----------
    name : str or path
        Of a study that comes with the product, or the path of one's own.
    out : path
        File of all runs.
    resume : bool
        Go on with a file that is there.
    workers : int, optional
        Processes; by default one for each core. They import the script that this is called from:
        there it stands below ``if __name__ == "__main__":``.

    Raises
    ------
    GridError
        If there is no such study, or its file cannot be used.
    """
    found = import_module("experiments.studies.study").Study.load(name)
    return found.run(out, resume=resume, workers=workers)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("importlib.metadata").version("metasched")
    if name == "live":
        return import_module("metasched.live")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
