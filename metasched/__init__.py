"""What programs and notebooks need most, by one name.

Everything is loaded when it is first asked for, so that importing this takes no time.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from experiments.results import Result
    from experiments.run import run
    from experiments.scenario import Scenario
    from experiments.studies.outcome import StudyOutcome
    from experiments.studies.study import Study
    from grid.platform import Platform

__all__ = [
    "Platform",
    "Result",
    "Scenario",
    "Study",
    "StudyOutcome",
    "run",
]

_HOMES = {
    "Platform": "grid.platform",
    "Result": "experiments.results",
    "Scenario": "experiments.scenario",
    "Study": "experiments.studies.study",
    "StudyOutcome": "experiments.studies.outcome",
    "run": "experiments.run",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
