"""Which schedulers read the deadlines of jobs."""

from __future__ import annotations

import inspect
import sys

from agents.schedulers import GlobalScheduler, LocalScheduler, PlanningScheduler, Scheduler

_BASES = (Scheduler, GlobalScheduler, LocalScheduler, PlanningScheduler)


def reads_deadlines(scheduler: type[Scheduler]) -> bool:
    """Return whether a scheduler reads deadlines, as its `uses_deadlines` says.

    Where that says nothing, it does if the word is in the source of its module, or of a module of
    the classes that it is made from; one whose source cannot be read may do so.

    Examples
    --------
    >>> from agents.registry import global_scheduler, local_scheduler
    >>> reads_deadlines(global_scheduler("dll")), reads_deadlines(local_scheduler("titan"))
    (False, True)
    """
    if scheduler.uses_deadlines is not None:
        return scheduler.uses_deadlines
    made_from = scheduler.__mro__[: min(map(scheduler.__mro__.index, _found(scheduler)))]
    return any("deadline" in _source(each) for each in made_from)


def _found(scheduler: type[Scheduler]) -> list[type[Scheduler]]:
    return [base for base in _BASES if base in scheduler.__mro__]


def _source(of: type) -> str:
    """Return the source of the module of a class; of the class where a notebook has no module."""
    for what in (sys.modules.get(of.__module__), of):
        try:
            return inspect.getsource(what) if what is not None else "deadline"
        except (OSError, TypeError):
            continue
    return "deadline"
