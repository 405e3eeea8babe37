"""How long work goes on, for people: a bar in a terminal, a line now and then elsewhere."""

from __future__ import annotations

import math
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TimeElapsedColumn,
)
from rich.table import Column
from rich.text import Text

from experiments.show.numbers import countdown, counted, percent_done
from experiments.sweeps.forecast import Forecast, Told
from grid.foreign import plain

T = TypeVar("T")

EVERY = 1.9
"""Time between lines where there is no terminal, s: nothing is silent for longer than 2 s."""

SOON = 1.2
"""Time after which work that is usually quick is told of, s."""

LONGEST_WORDS = 100
"""Characters of what goes on that are shown."""

_LINES = 10
"""Parts of the runs after each of which there is a line where there is no terminal."""


class _Words(ProgressColumn):
    """What a progress says, in words."""

    max_refresh = 0.5

    def __init__(self, words: Callable[[], str]) -> None:
        super().__init__(Column(no_wrap=True, overflow="ellipsis"))
        self._words = words

    def render(self, task: Task) -> Text:
        return Text(self._words())


class SweepProgress:
    """Tells how much is done and when the last of it will be.

    Parameters
    ----------
    console : Console
        Where to.
    quiet : bool
        Of work that is usually quick: nothing is told of it before it has lasted for a while, nor
        when it has ended.
    """

    def __init__(self, console: Console, quiet: bool = False) -> None:
        self._console = console
        self._quiet = quiet
        self._bar: Progress | None = None
        self._doing = self._unit = ""
        self._forecast = Forecast([])
        self._under_way: Told = tuple
        self._done = self._kept = 0
        self._began = time.monotonic()
        self._ended = threading.Event()
        self._clock: threading.Thread | None = None
        self._lock = threading.Lock()  # of the forecast, which is shown by a thread

    def prepare(self, words: str) -> None:
        """Tell what goes on for nobody knows how long; what went on before is over."""
        self.end()
        self._doing = words
        if not (self._quiet or self._console.is_terminal):
            self.say(f"{words} ...")
        self._show()

    def note(self, words: str) -> None:
        """Have it shown what is at hand: in a terminal, or of a single run."""
        self._doing = words

    def begin(
        self, kept: int, forecast: Forecast, under_way: Told = tuple, unit: str = "run"
    ) -> None:
        """Tell how much there is to do, then how long it takes; what went on before is over.

        Parameters
        ----------
        kept : int
            Runs that are done: in rounds before, or by a command before.
        forecast : Forecast
            Of those to be done.
        under_way : callable
            Tells of the pieces that workers are at.
        unit : str
            What a run is called.
        """
        self.end()
        self._forecast, self._under_way, self._unit = forecast, under_way, unit
        self._done, self._kept = 0, kept
        if not self._quiet:
            self.say(f"{counted(forecast.runs, unit)} to do{self._also()}")
        if forecast.runs:
            self._show()

    def advance(self, piece: int, took: Sequence[float]) -> None:
        """Note that the runs of a piece of work have ended, and how long each of them took, s."""
        runs = self._forecast.runs
        tenths = _LINES * self._done // runs
        with self._lock:
            self._done += len(took)
            self._forecast.end(piece, took, time.monotonic() - self._began)
        said = self._clock is None or self._quiet or self._done == runs
        if not said and _LINES * self._done // runs > tenths:
            self.say(self._words())

    def one_by_one(self, done: Iterable[T], count: int, unit: str) -> Iterator[T]:
        """Yield what is done as it is asked for, and tell when the last of so many will be.

        Parameters
        ----------
        done : iterable
        count : int
        unit : str
            What each is called.
        """
        self.begin(0, Forecast([[(unit, 1.0)]] * count, known=False), unit=unit)
        began = time.monotonic()
        for piece, each in enumerate(done):
            now = time.monotonic()
            self.advance(piece, [now - began])
            yield each
            began = now

    def __enter__(self) -> SweepProgress:
        return self

    def __exit__(self, *of_error: object) -> None:
        self.end()

    # Showing ------------------------------------------------------------------------------------

    def _show(self) -> None:
        """Begin to show how it goes on."""
        self._began = time.monotonic()
        self._ended = threading.Event()
        if self._console.is_terminal and not self._quiet:
            self._draw()
        else:
            self._clock = threading.Thread(target=self._tell, args=[self._ended], daemon=True)
            self._clock.start()

    def _tell(self, ended: threading.Event) -> None:
        """Draw a bar once this takes long; or say a line then, and now and then, to its end."""
        if self._console.is_terminal:
            if not ended.wait(SOON):
                self._draw()
            return
        pause = SOON
        while not ended.wait(pause):
            self.say(self._words())
            pause = EVERY

    def _draw(self) -> None:
        columns = [_Words(self._words), TimeElapsedColumn()]
        self._bar = Progress(
            SpinnerColumn("line"),
            *([BarColumn(20)] if self._forecast.runs else []),
            *columns,
            console=self._console,
            transient=True,
            refresh_per_second=4,
            redirect_stdout=sys.stdout.isatty(),
        )
        self._bar.add_task("", total=1.0)
        self._bar.start()

    def end(self) -> None:
        """Tell no more of what went on."""
        self._ended.set()
        if self._clock is not None:
            self._clock.join()
            self._clock = None
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
        if self._forecast.runs and not self._quiet:
            took = countdown(time.monotonic() - self._began)
            of = counted(self._forecast.runs, self._unit)
            self.say(f"{self._done:,} of {of} done in {took}{self._also()}")
        self._forecast, self._doing = Forecast([]), ""

    def _also(self) -> str:
        """Return in words how many runs were done before."""
        return f" ({self._kept:,} done already)" if self._kept else ""

    def _words(self) -> str:
        passed, runs = time.monotonic() - self._began, self._forecast.runs
        if not runs:
            return self._doing if self._bar else f"{self._doing}, for {countdown(passed)} so far"
        told = [*self._under_way()]
        with self._lock:
            left = self._forecast.left(passed, told)
        if left is not None and not math.isfinite(left):
            left = None
        if left is not None and self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=passed / (passed + left or 1.0))
        least = "at least " if self._forecast.open_ended else ""
        done = f"{self._done:,} of {least}{counted(runs, self._unit)}"
        single = bool(runs == 1 and told)
        if single:
            share = sum(each.share for each in told)
            done, left = percent_done(share), None if self._doing else left
            if share == 1.0:
                done, left = "all jobs are through, news of the last is under way", None
        if left is not None and not (least and round(left) == 0):  # that would tell nothing
            done += f", {least}{countdown(left)} left"
        elif passed >= 1.0 and not self._bar:  # which tells it beside
            done += f", after {countdown(passed)}"
        return f"{done}: {self._doing}" if self._doing and (single or self._bar) else done

    def say(self, line: str) -> None:
        """Tell a line."""
        self._console.print(line, markup=False, emoji=False, highlight=False, soft_wrap=True)


@contextmanager
def telling(words: str) -> Iterator[SweepProgress]:
    """Tell on standard error that something goes on, once it lasts for longer than a moment."""
    with SweepProgress(Console(stderr=True), quiet=True) as progress:
        progress.prepare(plain(words, LONGEST_WORDS))
        yield progress
