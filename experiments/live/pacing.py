"""Holding a run back so that a person can watch it, pause it and let it go step by step."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, isinf
from numbers import Real
from time import perf_counter, sleep

from agents.model import GridModel
from experiments.live.picture import jobs_done
from experiments.show.numbers import number
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
        Simulated seconds a second of wall time, infinity: as fast as it goes; None: such that the
        run takes `LEAST` seconds.
    wait : callable, optional
        Lets some seconds pass; by default it sleeps.

    Attributes
    ----------
    paused : bool
        The run makes no step but those that `step` asks for.
    idle : float
        Wall time for which it was paused so far, s.

    Raises
    ------
    GridError
        If the pace is not above 0.
    """

    def __init__(
        self, model: GridModel, pace: float | None, wait: Callable[[float], object] | None = None
    ) -> None:
        if pace is not None:
            check_pace(pace)
        self.paused, self.idle = False, 0.0
        self._model = model
        self._pace = pace
        self._least = LEAST
        self._wait = wait or (lambda seconds: sleep(seconds))
        self._stepping = False
        self._at, self._due = 0.0, 0.0
        self._anchor()

    @property
    def speed(self) -> str:
        """How fast the run goes, in words."""
        if self._pace is None:
            return f"a run of {number(self._least)} s"
        return "full speed" if isinf(self._pace) else f"{number(self._pace)} simulated s/s"

    def pause(self) -> None:
        """Let the run make no more steps, or go on if it is paused."""
        self.paused = not self.paused
        self._anchor()

    def step(self) -> None:
        """Pause, after one more step of an interval, or of several until something happens."""
        self.paused = self._stepping = True
        self._model.stride = inf

    def change(self, factor: float) -> None:
        """Let the run go so many times as fast; one at full speed can only be slowed down.

        Slowed down, that takes `LEAST` seconds.
        """
        if self._pace is None:
            self._least /= factor
        elif not isinf(self._pace):
            self._pace *= factor
        elif factor < 1:
            self._pace = None
        self._anchor()

    def hold(self, meanwhile: Callable[[], object], stopping: Callable[[], bool]) -> None:
        """Wait as long as the run is ahead of its pace, or paused.

        Without a pace in simulated seconds, time goes on meanwhile if nothing happens for long.

        Parameters
        ----------
        meanwhile : callable
            What is to be called now and then.
        stopping : callable
            Whether to wait no longer.
        """
        at = self._position()
        self._due = max(self._due + at - self._at, perf_counter() - LAG)
        self._at = at
        self._stepping = False
        self._wait(0.0)  # for a key may have been pressed
        counted = perf_counter()
        while self._held() and not stopping():
            ahead, paused = self._due - perf_counter(), self.paused
            self._wait(SLICE if paused else min(ahead, SLICE))
            before, counted = counted, perf_counter()
            if paused:
                self.idle += counted - before
            meanwhile()
            if self._pace is None and not paused and self._strolls(ahead):
                return
        if self._pace is None:
            self._model.stride = inf

    def _held(self) -> bool:
        if self.paused:
            return not self._stepping
        return self._due > perf_counter()

    def _anchor(self) -> None:
        """Count from here: at the present pace, the run is where it should be."""
        self._model.stride = inf if self._pace is None else self._pace / 4
        self._at = self._position()
        self._due = perf_counter()

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
            return self._least * share_done(self._model)
        return self._model.now / self._pace
