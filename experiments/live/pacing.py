"""Holding a run back so that a person can watch it."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from numbers import Real
from time import perf_counter, sleep

from agents.model import GridModel
from experiments.live.picture import jobs_done
from grid.errors import GridError
from grid.foreign import quoted

LEAST = 30.0
"""Wall time that a run takes at least when it is watched and nothing is said of its pace, s."""

SLICE = 0.05
"""Longest sleep before pictures and Ctrl-C are looked after, s."""

LAG = 1.0
"""Wall time by which a run that was too slow may be too fast afterwards, s: compiling takes more,
and what follows shall not rush by."""


def share_done(model: GridModel) -> float:
    """Return how far a run is, from 0 to 1, by the jobs that started and those that are through."""
    world = model.world
    began = world.state.started - world.state.restarted + world.state.rejected
    return (began + jobs_done(model)) / (2 * model.workload.count)


def check_pace(pace: float) -> None:
    """Raise `GridError` if a pace, simulated seconds a second, is not above 0."""
    if not (isinstance(pace, Real) and pace > 0):
        raise GridError(
            f"pace: found {quoted(pace)}; accepted: simulated seconds a second, above 0"
        )


class Pacing:
    """Holds a model back after each of its steps.

    Parameters
    ----------
    model : GridModel
        It has made no step yet; its stride is shortened, so that its clock does not stand still
        and then jump where nothing happens for long.
    pace : float or None
        Simulated seconds a second of wall time; None: such that the run takes `LEAST` seconds.

    Raises
    ------
    GridError
        If the pace is not above 0.
    """

    def __init__(self, model: GridModel, pace: float | None) -> None:
        if pace is not None:
            check_pace(pace)
        self._model = model
        self._pace = pace
        if pace is not None:
            model.stride = pace / 4
        self._at = self._position()
        self._due = perf_counter()

    def hold(self, meanwhile: Callable[[], object], stopping: Callable[[], bool]) -> None:
        """Sleep as long as the run is ahead of its pace.

        Without a pace in simulated seconds, time goes on meanwhile if nothing happens for long.

        Parameters
        ----------
        meanwhile : callable
            What is to be called now and then.
        stopping : callable
            Whether to sleep no longer.
        """
        at = self._position()
        self._due = max(self._due + at - self._at, perf_counter() - LAG)
        self._at = at
        while (ahead := self._due - perf_counter()) > 0 and not stopping():
            sleep(min(ahead, SLICE))
            meanwhile()
            if self._pace is None and self._strolls(ahead):
                return
        if self._pace is None:
            self._model.stride = inf

    def _strolls(self, ahead: float) -> bool:
        """Have the model pass a gap in small steps for as long as it is ahead, if there is one."""
        model = self._model
        gap = model.world.state.coming - model.now
        if not (model.running and model.interval < gap < inf):
            return False
        model.stride = gap * min(1.0, SLICE / ahead)
        return True

    def _position(self) -> float:
        """Return the wall time at which the run should be where it is, s after its beginning."""
        if self._pace is None:
            return LEAST * share_done(self._model)
        return self._model.now / self._pace
