"""What keys do to a run that is watched: its pace, and what the dashboard shows of it."""

from __future__ import annotations

from collections.abc import Callable
from time import sleep

from experiments.live.dashboard import Dashboard
from experiments.live.keyboard import Keyboard
from experiments.live.pacing import Pacing
from experiments.live.picture import CLUSTERS, HELP, JOBS, OVERVIEW, View

FASTER = 2.0
"""How many times as fast a run goes after a key."""


def keys_of_view(view: View) -> dict[str, Callable[[], None]]:
    """Return what keys do that turn to something else of what is shown."""
    return {
        "c": lambda: view.turn(CLUSTERS),
        "j": lambda: view.turn(JOBS),
        "?": lambda: view.turn(HELP),
        "KEY_ESCAPE": lambda: view.turn(OVERVIEW),
        "KEY_UP": lambda: view.scroll(-1),
        "KEY_DOWN": lambda: view.scroll(1),
        "KEY_PGUP": lambda: view.scroll(-view.rows),
        "KEY_PGDOWN": lambda: view.scroll(view.rows),
        "KEY_HOME": lambda: view.scroll(-view.count),
        "KEY_END": lambda: view.scroll(view.count),
    }


class Controls:
    """Keys that pause a run, have it step, go faster or slower, and turn to what is shown of it.

    Parameters
    ----------
    dashboard : Dashboard
    pace : float or None
        As `Pacing` takes it.
    """

    def __init__(self, dashboard: Dashboard, pace: float | None) -> None:
        self.pacing = Pacing(dashboard.model, pace, self._wait)
        self._dashboard, self._view = dashboard, dashboard.view
        self._keyboard: Keyboard | None = None
        of_pace: dict[str, Callable[[], None]] = {
            " ": self.pacing.pause,
            "s": self.pacing.step,
            "+": lambda: self.pacing.change(FASTER),
            "=": lambda: self.pacing.change(FASTER),  # + without shift
            "-": lambda: self.pacing.change(1 / FASTER),
        }
        self._keys = of_pace | keys_of_view(self._view)

    def listen(self, keyboard: Keyboard) -> None:
        """Do from now on what keys say, and tell of them below the picture."""
        self._keyboard = keyboard
        self._tell()
        self._dashboard.redraw()

    def hold(self, stopping: Callable[[], bool]) -> None:
        """Wait after a step for as long as the run is to be held back."""
        self.pacing.hold(self._update, stopping)

    def _update(self) -> None:
        self._dashboard.idle = self.pacing.idle
        self._dashboard.update()

    def _wait(self, seconds: float) -> None:
        if self._keyboard is None:
            sleep(seconds)
            return
        do = self._keys.get(self._keyboard.wait(seconds))
        self._dashboard.idle = self.pacing.idle
        if do is not None:
            do()
        self._tell()  # also of being sent to the background, or fetched from there
        if do is not None:
            self._dashboard.redraw()

    def _tell(self) -> None:
        assert self._keyboard is not None
        if self._keyboard.missing:
            self._view.footer = [f"no keys: {self._keyboard.missing}"]
            return
        pacing, back = self.pacing, ["Esc back"] * (self._view.shown != OVERVIEW)
        self._view.footer = [
            "PAUSED, space goes on" if pacing.paused else "space pauses",
            *back,
            "s step",
            f"+ - {pacing.speed}",
            "? help",
            "j jobs",
            "c clusters",
            "arrows scroll",
        ]
