"""PACE's evaluation engine: execution times from models of applications and of hardware."""

from __future__ import annotations

import functools
import math

from agents.numbers import is_real
from agents.pace.application import Application, Subtask, application_of
from agents.pace.hardware import Hardware, hardware_of
from agents.pace.packaged import packaged
from agents.pace.templates import TEMPLATES, Step
from grid.errors import GridError
from grid.foreign import plain, quoted
from grid.jobs import LONGEST, SHORTEST_RUN
from grid.platform.multicluster import Platform


def predict(
    application: str | Application,
    hardware: str | Hardware,
    processors: int,
    problem_size: float,
) -> float:
    """Return the execution time of an application.

    Evaluations are kept: the same question is answered from memory.

    Parameters
    ----------
    application : str or Application
        Name of a packaged model, or the path of a ``.toml`` file, or the model.
    hardware : str or Hardware
        Likewise, of the cluster.
    processors : int
        From 1.
    problem_size : float
        n, above 0.

    Returns
    -------
    float
        s

    Raises
    ------
    GridError
        If a model or a number cannot be used.

    Examples
    --------
    >>> [round(predict("cpi", "workstations", processors, 1e6), 4) for processors in (1, 4)]
    [0.06, 0.0152]
    """
    if not (is_real(processors) and float(processors).is_integer() and processors >= 1):
        raise GridError(f"processors: found {quoted(processors)}; accepted: a whole number from 1")
    if not is_real(problem_size) or not 0 < problem_size < math.inf:
        raise GridError(f"problem_size: found {quoted(problem_size)}; accepted: a number above 0")
    return evaluate(
        application_of(application), hardware_of(hardware), int(processors), float(problem_size)
    )


class Evaluator:
    """The execution times of applications on the clusters of a platform; models are read once.

    Parameters
    ----------
    platform : Platform
    """

    def __init__(self, platform: Platform) -> None:
        self._clusters = platform.clusters
        self._hardware: list[Hardware] = []
        self._applications: dict[str, Application] = {}

    def __call__(self, application: str, processors: int, problem_size: float) -> list[float]:
        """Return the execution time on each cluster, s.

        Raises
        ------
        GridError
            If a cluster names no hardware, or as `predict`.
        """
        if bare := [cluster.name for cluster in self._clusters if not cluster.hardware]:
            raise GridError(
                f"application {quoted(application)}: cluster {plain(bare[0])} names no hardware; "
                f"accepted: `hardware` of each, {', '.join(packaged('hardware'))} or a .toml"
            )
        self._hardware = self._hardware or [hardware_of(each.hardware) for each in self._clusters]
        if application not in self._applications:
            self._applications[application] = application_of(application)
        model = self._applications[application]
        return [predict(model, each, processors, problem_size) for each in self._hardware]


@functools.lru_cache(maxsize=1 << 20)
def evaluate(
    application: Application, hardware: Hardware, processors: int, problem_size: float
) -> float:
    """Return the execution time of an application, s: the sum over its subtasks, times iterations.

    Raises
    ------
    GridError
        If the hardware does not know an operation, or that is no time of a job.
    """
    one = math.fsum(
        time_of(subtask, hardware, processors, problem_size) for subtask in application.subtasks
    )
    time = one * application.iterations(problem_size, processors)
    if not SHORTEST_RUN <= time <= LONGEST:
        raise GridError(
            f"application {quoted(application.name)} on {hardware.name}: {time:g} s on "
            f"{processors} processors at n = {problem_size:g}; accepted: from {SHORTEST_RUN:g} to "
            f"{LONGEST:g} s"
        )
    return time


def time_of(subtask: Subtask, hardware: Hardware, processors: int, problem_size: float) -> float:
    """Return the time of a subtask, s."""
    n, p = problem_size, processors
    computation = math.fsum(count(n, p) * hardware.cost(kind) for kind, count in subtask.operations)
    message = hardware.message(subtask.message(n, p)) if p > 1 else 0.0
    stages = subtask.stages(n, p)
    if stages < 1:
        raise subtask.stages.refused(stages, n, p, 1)
    return TEMPLATES[subtask.template](Step(computation, message, p, stages))
