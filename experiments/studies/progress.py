"""How a sweep goes on, for people: a bar in a terminal, a line now and then elsewhere."""

from __future__ import annotations

import threading
import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

EVERY = 30.0
"""Longest time without a line where there is no terminal, s."""

_LINES = 10
"""Lines at least where there is no terminal, or one a run if there are fewer."""


class SweepProgress:
    """Tells how many runs are done and when the last one will be.

    Runs count by the time that they were estimated to take, so that the rest is told from how
    fast that time passes, not from how many runs are left.

    Parameters
    ----------
    console : Console
        Where to.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._bar: Progress | None = None
        self._runs = self._done = 0
        self._share = 0.0
        self._began = self._advanced = time.monotonic()
        self._estimate = 0.0
        self._ended = threading.Event()
        self._clock: threading.Thread | None = None

    def prepare(self, words: str) -> None:
        """Tell what goes on before the estimate; a sweep before it is over."""
        self._end()
        self._say(f"{words} ...")

    def begin(self, runs: int, kept: int, estimate: float) -> None:
        """Tell how long it will take, before anything is begun; also of a second sweep."""
        self._end()
        also = f" ({kept} kept from before)" if kept else ""
        self._say(f"{runs} runs to do{also}: estimated time {duration(estimate)}")
        self._runs, self._estimate = runs, estimate
        self._done, self._share = 0, 0.0
        self._began = self._advanced = time.monotonic()
        if runs and not self._console.is_terminal:
            self._ended.clear()
            self._clock = threading.Thread(target=self._tell_again, daemon=True)
            self._clock.start()
        elif runs:
            self._bar = Progress(
                BarColumn(None),
                TextColumn("{task.description}"),
                TimeElapsedColumn(),
                console=self._console,
                transient=True,
            )
            self._bar.add_task(self._words(), total=1.0)
            self._bar.start()

    def advance(self, share: float) -> None:
        """Note that a run has ended, which was that share of the work."""
        tenths = _LINES * self._done // self._runs
        self._done += 1
        self._share += share
        self._advanced = time.monotonic()
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], advance=share, description=self._words())
        elif _LINES * self._done // self._runs > tenths:
            self._say(self._words())

    def _tell_again(self) -> None:
        """Say a line now and then, however long a run takes."""
        while not self._ended.wait(EVERY):
            self._say(self._words())

    def __enter__(self) -> SweepProgress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end()

    def _end(self) -> None:
        self._ended.set()
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
        if self._clock is not None:
            self._clock.join()
            self._clock = None
        if self._runs:
            took = duration(time.monotonic() - self._began)
            self._say(f"{self._done} of {self._runs} runs done in {took}")
            self._runs = 0

    def _words(self) -> str:
        # The estimate counts for what is left, the time that went by for what is done: a few runs
        # alone say little of the pace, since those that are begun beside them do not count yet.
        rest = max(0.0, 1.0 - self._share)
        pace = self._estimate * rest + self._advanced - self._began
        left = pace * rest - (time.monotonic() - self._advanced)
        return f"{self._done} of {self._runs} runs, {duration(max(0.0, left))} left"

    def _say(self, line: str) -> None:
        self._console.print(line, markup=False, emoji=False, highlight=False, soft_wrap=True)


def duration(seconds: float) -> str:
    """Return a time in words.

    Examples
    --------
    >>> duration(4.2), duration(75), duration(7500), duration(1_220_400)
    ('4 s', '1 min 15 s', '2 h 5 min', '14 d 3 h')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours < 48 else f"{hours // 24} d {hours % 24} h"
