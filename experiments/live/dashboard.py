"""A live picture of a running model on the console, and the same picture as a file."""

from __future__ import annotations

import io
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from agents.model import GridModel
from experiments.events.happenings import Happenings
from experiments.live.following import Follower
from experiments.live.picture import Picture, Progress, View, jobs_done

SHARE = 0.03
"""Share of the wall time that drawing may take; a slow console is drawn less often."""

PLAIN_PERIOD = 5.0
"""Wall time between two lines, s, where the console cannot redraw a picture."""

SAMPLES = 120
"""Pictures over which the rate of jobs is taken, so that it forgets a slow beginning."""

ENOUGH = 10
"""Jobs from which on their rate tells when a run will end, and is not mostly chance."""

SVG_HEIGHT = 32
"""Lines of a picture that is saved."""


class Dashboard:
    """A live picture of a running model, to be drawn between its steps.

    Where the console cannot move its cursor (a file, or ``TERM=dumb``), a line now and then tells
    how far the run is, and the picture is drawn once, at the end.

    Parameters
    ----------
    model : GridModel
    title : str
        What runs.
    console : Console, optional
        By default standard output.
    refresh : float
        Most pictures a second of wall time.
    follow : int, optional
        Number of the job to follow; by default one after the other.
    prints : bool
        What this process prints goes to the console, too, above the picture.
    before : float
        Wall time that the run took before it was interrupted, s.
    shows : callable
        Tells whether there is anybody to draw for.

    Attributes
    ----------
    can_redraw : bool
        Whether the console can show a picture that moves.
    view : View
        Which part of the run is looked at.
    idle : float
        Wall time, s, that does not count, for the run was paused.

    Examples
    --------
    Run a model and watch it::

        with Dashboard(model, "quickstart") as dashboard:
            while model.running:
                model.step()
                dashboard.update()
    """

    def __init__(
        self,
        model: GridModel,
        title: str,
        console: Console | None = None,
        refresh: float = 4.0,
        follow: int | None = None,
        prints: bool = True,
        before: float = 0.0,
        shows: Callable[[], bool] = lambda: True,
    ) -> None:
        self.model, self.shows = model, shows
        self.console = console or Console()
        self.can_redraw = self.console.is_terminal and not self.console.is_dumb_terminal
        self.view, self.idle = View(), 0.0
        self._period = 1.0 / refresh if self.can_redraw else PLAIN_PERIOD
        self._happenings = Happenings(model)
        self._follower = Follower(model, follow)
        self._picture = Picture(model, title, self.console.options.ascii_only)
        self._size = self.console.size
        self._due = perf_counter()
        self._began = self._due - before
        self._samples = deque([(self._due, jobs_done(model))], maxlen=SAMPLES)
        self._live = Live(
            console=self.console,
            auto_refresh=False,
            vertical_overflow="crop",
            redirect_stdout=prints,
            redirect_stderr=prints,
            get_renderable=self.render,
        )

    def __enter__(self) -> Dashboard:
        self._live.start()
        self.update()
        return self

    def __exit__(self, *of_error: object) -> None:
        """Draw the overview once more, and leave it there, without what is told of keys."""
        self.view = View()
        self._look()
        self._follower.close()
        self._live.stop()
        if not self.console.is_terminal:
            self.console.line()  # which rich leaves open

    @contextmanager
    def unseen(self) -> Iterator[None]:
        """Leave the model to itself meanwhile, so that a pickle of it holds no dashboard."""
        self._follower.close()
        try:
            yield
        finally:
            self._follower.listen()

    def update(self) -> None:
        """Draw the picture anew if that is due."""
        if perf_counter() >= self._due and self.shows():
            self._draw()

    def redraw(self) -> None:
        """Draw the picture anew, which is looked at differently."""
        if self.can_redraw:
            self._live.refresh()

    def render(self) -> RenderableType:
        """Return the picture as of the last look, for the size that the console has now."""
        width, height = self.console.size
        # One line is left for the prompt that follows the last picture.
        return _unwrapped(self._picture.lines(self._progress(), width, height - 1, self.view))

    def _draw(self) -> None:
        begin = perf_counter()
        self._look()
        done = jobs_done(self.model)
        if not self._samples[0][1]:
            self._samples.clear()  # before the first jobs were done the kernel was compiled
        if not self._samples or begin - self.idle > self._samples[-1][0] + self._period / 2:
            self._samples.append((begin - self.idle, done))  # none of a pause
        if not self.can_redraw:
            status = self._picture.status(self._progress(), self.console.width)
            self.console.print(_unwrapped([status]))
        else:
            if self.console.size != self._size:
                # The terminal has moved what it showed about; start again on a clean one.
                self._size = self.console.size
                self.console.clear()
            self._live.refresh()
        end = perf_counter()
        self._due = max(begin + self._period, end + (end - begin) * (1.0 / SHARE - 1.0))

    def _look(self) -> None:
        self._happenings.look()
        self._follower.look(perf_counter())

    def _progress(self) -> Progress:
        now = perf_counter() - self.idle
        since, before = self._samples[0]
        done = jobs_done(self.model)
        rate = None
        if done >= self.model.workload.count > 0:
            rate = done / (now - self._began)
        elif before and done - before >= ENOUGH:
            rate = (done - before) / (now - since)
        return Progress(self._happenings.last, now - self._began, rate, self._follower.story)


def _unwrapped(lines: list[Text]) -> Group:
    for line in lines:
        line.no_wrap, line.overflow = True, "crop"
    return Group(*lines)


def save_svg(
    model: GridModel,
    title: str,
    path: Path,
    width: int = 100,
    elapsed: float | None = None,
    follower: Follower | None = None,
) -> None:
    """Save a picture of a model, as the dashboard shows it, as an SVG.

    Parameters
    ----------
    model : GridModel
    title : str
        What runs.
    path : Path
        File to write.
    width : int
        Columns of the console.
    elapsed : float, optional
        Wall time of the run so far, s; without it the picture tells no rate.
    follower : Follower, optional
        Whose story the picture tells.
    """
    happenings = Happenings(model)
    happenings.look()
    rate = jobs_done(model) / elapsed if elapsed else None
    progress = Progress(happenings.last, elapsed, rate, follower.story if follower else None)
    console = Console(
        record=True,
        width=width,
        file=io.StringIO(),
        force_terminal=True,
        color_system="truecolor",
        no_color=False,
    )
    console.print(_unwrapped(Picture(model, title).lines(progress, width, SVG_HEIGHT)))
    console.save_svg(str(path), title=f"metasched: {title}")
