"""What schedulers read: deadlines, predictions, or else what their sources name."""

from __future__ import annotations

import inspect
import sys

from agents.schedulers import GlobalScheduler, LocalScheduler, PlanningScheduler, Scheduler
from grid.settings import OURS

_BASES = (Scheduler, GlobalScheduler, LocalScheduler, PlanningScheduler)


def reads_deadlines(scheduler: type[Scheduler]) -> bool:
    """Return whether a scheduler reads deadlines, as its `uses_deadlines` says.

    Where that says nothing, it does if its source has the word (`mentions`).

    Examples
    --------
    >>> from agents.registry import global_scheduler, local_scheduler
    >>> reads_deadlines(global_scheduler("dll")), reads_deadlines(local_scheduler("titan"))
    (False, True)
    """
    if scheduler.uses_deadlines is not None:
        return scheduler.uses_deadlines
    return mentions(scheduler, "deadline")


def read_deadlines(policy: type[GlobalScheduler], local: type[LocalScheduler]) -> bool:
    """Return whether the schedulers of a run read deadlines: local ones if any job waits there.

    Examples
    --------
    >>> from agents.registry import global_scheduler, local_scheduler
    >>> titan = local_scheduler("titan")
    >>> [read_deadlines(global_scheduler(name), titan) for name in ("dll", "b3")]
    [True, False]
    """
    return reads_deadlines(policy) or (not policy.starts_jobs and reads_deadlines(local))


def reads_predictions(scheduler: type[Scheduler]) -> bool:
    """Return whether predictions may decide anything, as `reads_predictions` of a class says.

    One of a user's own that says nothing may read them, whatever it is made from.

    Examples
    --------
    >>> from agents.registry import local_scheduler
    >>> [reads_predictions(local_scheduler(name)) for name in ("fcfs", "fpfs", "easy")]
    [False, False, True]
    """
    for each in scheduler.__mro__:
        if "reads_predictions" in vars(each):
            return bool(vars(each)["reads_predictions"])
        if each.__module__.partition(".")[0] not in OURS:
            break
    return True


def mentions(scheduler: type[Scheduler], words: str) -> bool:
    """Return whether words are in the source of a scheduler's module, or of what it is made from.

    That is, of the modules of its other classes. One whose source cannot be read may have them.

    Examples
    --------
    >>> from agents.registry import local_scheduler
    >>> [mentions(local_scheduler(name), "model.weights") for name in ("fcfs", "titan")]
    [False, True]
    """
    made_from = scheduler.__mro__[: min(map(scheduler.__mro__.index, _found(scheduler)))]
    sources = map(_source, made_from)
    return any(source is None or words in source for source in sources)


def _found(scheduler: type[Scheduler]) -> list[type[Scheduler]]:
    return [base for base in _BASES if base in scheduler.__mro__]


def _source(of: type) -> str | None:
    """Return the source of the module of a class; of the class where a notebook has no module."""
    for what in (sys.modules.get(of.__module__), of):
        try:
            return inspect.getsource(what) if what is not None else None
        except (OSError, TypeError):
            continue
    return None
