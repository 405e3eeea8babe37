"""The dashboard's picture of a model, for a console of a known size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from rich.text import Text

from agents.model import GridModel
from experiments.events import words
from experiments.events.happenings import Happening
from experiments.events.words import Story
from experiments.live.columns import ASCII, UNICODE, bar, fit, rule
from experiments.live.help import help_panel
from experiments.live.panels import (
    clusters_panel,
    from_row,
    jobs_panel,
    links_panel,
    messages_panel,
    story_panel,
)
from experiments.show.numbers import counted, duration, instant, percent_done
from grid.logs.calendar import read, shown
from grid.platform.topology import uplinks
from grid.workloads.synthetic import BatchWorkload
from grid.workloads.table import stated_by

_STORY, _SHORT_STORY = 7, 5
"""Lines that the story of the followed job takes, and where there are no rounds to tell of."""

_LEAST_CLUSTERS, _LEAST_MESSAGES = 6, 3
"""Lines that the panels of clusters and of messages keep while others are cut to the height."""

_LEAST_BAR = 6
"""Cells of the bar of progress; words about it are shortened for it."""


OVERVIEW, CLUSTERS, JOBS, HELP = range(4)
"""What a picture may be of."""


@dataclass
class View:
    """Which part of a run is looked at, as its reader turned to it.

    Attributes
    ----------
    shown : int
        `OVERVIEW`, `CLUSTERS`, `JOBS` or `HELP`.
    first : int
        Row of the list with which it begins.
    rows, count : int
        How many rows of it are shown, and how many there are, as of the last picture.
    footer : list of str
        What is told below; none: there is no such line.
    """

    shown: int = OVERVIEW
    first: int = 0
    rows: int = 1
    count: int = 0
    footer: list[str] = field(default_factory=list)

    def turn(self, shown: int) -> None:
        """Turn to something, or back to the overview from it."""
        self.shown = OVERVIEW if self.shown == shown else shown
        self.first = 0

    def scroll(self, rows: int) -> None:
        """Move the list, as far as it goes."""
        self.first = max(0, min(self.first + rows, self.count - self.rows))

    def window(self, count: int, rows: int) -> range:
        """Return which of `count` things are shown in `rows`, of which one may sum up the rest."""
        here = from_row(self.first, count, rows)
        self.first, self.rows, self.count = here.start, max(1, len(here)), count
        return here


class Progress(NamedTuple):
    """What a picture shows that the model does not know.

    Attributes
    ----------
    happenings : sequence of Happening
        What happened last, oldest first.
    elapsed : float or None
        Wall time of the run so far, s, if known.
    rate : float or None
        Jobs done a second of wall time, if known.
    story : Story or None
        Of the job that is followed, if one is.
    """

    happenings: Sequence[Happening]
    elapsed: float | None
    rate: float | None
    story: Story | None


def jobs_done(model: GridModel) -> int:
    """Return how many jobs are through: completed or rejected."""
    return model.world.log.count


class Picture:
    """A picture of a model, to be looked at again and again.

    Parameters
    ----------
    model : GridModel
    title : str
        What runs.
    ascii_only : bool
        Use no other characters.
    """

    def __init__(self, model: GridModel, title: str, ascii_only: bool = False) -> None:
        self.model = model
        self.title = title
        self._glyphs = ASCII if ascii_only else UNICODE
        self._count = model.workload.count  # 0: nobody knows how many will come
        start = stated_by(model.workload).start
        self._start = read(start) if start else None  # what a log's clock showed at time 0
        self._links = [" - ".join(ends) for ends in uplinks(model.world.platform.graph)]

    def lines(
        self, progress: Progress, width: int, height: int, view: View | None = None
    ) -> list[Text]:
        """Return the model as it is now, in `height` lines that are at most `width` cells wide.

        What does not fit is summed up: first messages give way, then links, clusters and the story.
        """
        view = view or View()
        footer = [Text(fit(view.footer, width, "  "), "reverse")] if view.footer else []
        lines = [
            rule(self.title, width, self._glyphs, "bold cyan"),
            Text(fit(self._times(progress), width)),
            self._bar(progress, width),
        ]
        height -= len(footer)
        lines += self._panels(progress, width, height - len(lines), view)
        return [*lines[:height], *[Text()] * (height - len(lines)), *footer]

    def _panels(self, progress: Progress, width: int, height: int, view: View) -> list[Text]:
        model, glyphs = self.model, self._glyphs
        if view.shown == HELP:
            return help_panel(model, glyphs, width, height, view.window)
        if view.shown == JOBS:
            names = model.world.platform.names
            return jobs_panel(model, names, glyphs, width, height, view.window)
        if view.shown == CLUSTERS:
            return clusters_panel(model, glyphs, width, height, view.window)
        return self._overview(progress, width, height, view)

    def _overview(self, progress: Progress, width: int, height: int, view: View) -> list[Text]:
        model, glyphs, lines, room = self.model, self._glyphs, list[Text](), height
        clusters = min(3 + len(model.clusters), room)
        least = min(clusters, _LEAST_CLUSTERS)
        story = _STORY if model.scheduler.collects else _SHORT_STORY
        story = min(story, room - least) if progress.story else 0
        room -= story
        room = max(room - _LEAST_MESSAGES, min(room, least + 1))
        below = max(min(1, room - least), room - clusters)
        links = links_panel(model, self._links, glyphs, width, below)
        lines += clusters_panel(model, glyphs, width, min(clusters, room - len(links)), view.window)
        if progress.story is not None:
            lines += story_panel(progress.story, glyphs, width, story)
        lines += links
        lines += messages_panel(model, progress.happenings, glyphs, width, height - len(lines))
        return lines

    def status(self, progress: Progress, width: int) -> Text:
        """Return a single line: how far the run is."""
        return Text(fit([*self._jobs(progress), *self._times(progress)], width))

    def _times(self, progress: Progress) -> list[str]:
        model = self.model
        now = f"time {instant(model.now)}"
        if date := "" if self._start is None else shown(self._start, model.now):
            now += f" ({date})"
        elif model.now >= 3600:
            now += f" ({duration(model.now)})"
        items = [now, f"global queue {model.world.state.waiting[-1]:,}"]
        if model.rounds:
            last = model.rounds[-1]
            jobs = int(last.jobs.sum())
            act = words.act(last.number, isinstance(model.workload, BatchWorkload))
            items.append(f"{act}: {jobs:,} {'job' if jobs == 1 else 'jobs'}")
        if progress.elapsed is not None and self._count:  # else it runs for longer than it is seen
            items.append(f"running for {duration(round(progress.elapsed))}")
        return items

    @property
    def _total(self) -> int:
        return self._count or self.model.world.state.submitted

    def _jobs(self, progress: Progress, brief: bool = False) -> list[str]:
        """Return how far the run is, in words, and when it may be through."""
        done, rate = jobs_done(self.model), progress.rate
        share = f"({percent_done(done / self._total)})" if self._count else "so far"
        if brief:
            items = [f"{done:,}/{counted(self._total, 'job')} {share}"]
        else:
            items = [f"{done:,} of {counted(self._total, 'job')} done {share}"]
        if self._count:
            eta = f"ETA {duration(round((self._total - done) / rate))}" if rate else "ETA unknown"
            items.append("all done" if done >= self._total else eta)
        if rate is not None:
            digits = 0 if rate >= 100 else 1 if rate >= 1 else 3
            items.append(f"{rate:,.{digits}f} jobs/s")
        if rejected := self.model.world.state.rejected:
            items.append(f"{rejected:,} rejected")
        return items

    def _bar(self, progress: Progress, width: int) -> Text:
        words = "   ".join(self._jobs(progress))
        if len(words) > width - _LEAST_BAR - 3:
            brief = self._jobs(progress, brief=True)
            words = fit(brief, width - _LEAST_BAR - 3, "  ") or fit(brief, width)
        room = min(40, width - len(words) - 3)
        if room < _LEAST_BAR:
            return Text(words)
        done = bar(jobs_done(self.model), self._total, room, self._glyphs)
        return done.append("   ").append(words)
