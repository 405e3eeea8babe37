"""OAS: the order and allocation of jobs on several clusters that lets the last end earliest."""

from agents.oas.instance import Cluster, Instance, Job
from agents.oas.schedule import Run
from agents.oas.solvers.heuristics import HEURISTICS
from agents.oas.solving import Answer, approximate, solve
from agents.oas.verify import ScheduleError, verify

__all__ = [
    "HEURISTICS",
    "Answer",
    "Cluster",
    "Instance",
    "Job",
    "Run",
    "ScheduleError",
    "approximate",
    "solve",
    "verify",
]
