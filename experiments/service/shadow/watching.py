"""The shadow: it looks at clusters, each in a thread of its own, and tells of each period."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from experiments.scenario.scenario import Scenario
from experiments.service.at_sites import batch
from experiments.service.at_sites.asking import keep_asking
from experiments.service.database import PATIENCE
from experiments.service.grid_file import LiveGrid
from experiments.service.presence import locked
from experiments.service.shadow.comparing import Pair, outcomes
from experiments.service.shadow.look import Look, Watched, look
from experiments.service.shadow.period import UNSEEN, period_of
from experiments.service.shadow.report import in_periods, told_of
from experiments.service.shadow.sightings import Sightings
from experiments.show.numbers import counted, duration
from grid.errors import GridError

Say = Callable[[str], object]

_AT_ONCE = 1.0
"""The longest that is waited at once, s: a Ctrl-C just before a wait is seen after it."""


class Asked(NamedTuple):
    """What a shadow was asked for: pairs of policies, periods, and pauses between looks, s."""

    pairs: Sequence[Pair]
    every: float
    pause: float


class Shadow:
    """What watches sites, and keeps what it sees; made by `shadowing`.

    Parameters
    ----------
    grid : LiveGrid
        Whose drivers are `Watched`.
    sightings : Sightings
    asked : Asked
    say : callable
        Is told in a line what happens, in any thread.
    """

    def __init__(self, grid: LiveGrid, sightings: Sightings, asked: Asked, say: Say) -> None:
        self._grid, self._sightings, self._asked, self._say = grid, sightings, asked, say
        self._stopped = threading.Event()
        self._threads = []
        for name, driver in zip(grid.scenario.platform.names, grid.drivers, strict=True):
            assert isinstance(driver, Watched)
            site = _Site(name, driver, sightings.folder, asked.pause, self._stopped, say)
            self._threads.append(threading.Thread(target=site.watch, daemon=True))

    def stop(self) -> None:
        """Have `run` end; for other threads."""
        self._stopped.set()

    def run(self, tell: Callable[[dict[str, Any]], object], seed: int = 0) -> None:
        """Watch until Ctrl-C; tell of each period that is over, and then of the one that is not."""
        every, told = self._asked.every, self._sightings.periods()
        begin = told[-1]["end"] if told else self._sightings.note("began")
        ready = time.time() + 2 * self._asked.pause  # by then all sites that answer have
        for thread in self._threads:
            thread.start()

        def report(whole: bool) -> dict[str, Any]:
            scenario, pairs = self._grid.scenario, self._asked.pairs
            return report_of(self._sightings, scenario, pairs, begin, seed=seed, whole=whole)

        with suppress(KeyboardInterrupt):
            while self._goes_on_at(max(ready, begin + every)):
                ready = time.time() + self._asked.pause
                if (self._sightings.last_look() or 0.0) - begin < every:
                    continue
                try:
                    found = report(whole=True)
                except GridError as error:  # what comes is to be seen all the same
                    self._say(f"no report: {error}")
                    ready = time.time() + every
                    continue
                begin = found["end"]
                tell(found)
        if (self._sightings.last_look() or 0.0) > begin:
            tell(report(whole=False))

    def _goes_on_at(self, due: float) -> bool:
        """Wait until then; return False once it is stopped."""
        while not self._stopped.wait(min(_AT_ONCE, max(0.0, due - time.time()))):
            if time.time() >= due:
                return True
        return False

    def close(self) -> None:
        """Look no more."""
        self._stopped.set()
        for thread in self._threads:
            if thread.ident is not None:
                thread.join(PATIENCE)  # it may wait for an answer


class _Site:
    """A site that is looked at now and then.

    Parameters
    ----------
    name : str
    driver : Watched
    folder : Path
        Of what is seen.
    pause : float
        Time between two looks, s.
    stopped : Event
        Set when it is enough.
    say : callable
    """

    def __init__(
        self,
        name: str,
        driver: Watched,
        folder: Path,
        pause: float,
        stopped: threading.Event,
        say: Say,
    ) -> None:
        self._name, self._driver, self._folder, self._pause = name, driver, folder, pause
        self._stopped, self._say = stopped, say
        self._silent = False

    def watch(self) -> None:
        """Look until it is enough."""
        with closing(Sightings(self._folder)) as sightings:
            longest = max(self._pause, batch.LONGEST)
            ask = partial(self._ask, sightings)
            keep_asking(ask, self._is_silent, self._wait, self._pause, longest)

    def _wait(self, pause: float) -> bool:
        return not self._stopped.wait(pause)

    def _ask(self, sightings: Sightings) -> float:
        now, found = time.time(), look(self._driver.partition)
        before = sightings.record(self._name, found)
        if before is None:
            self._say(f"{self._name}: {_there(found)}")
        elif now - before > UNSEEN:
            gap = duration(now - before)
            self._say(
                f"{self._name}: not looked at for {gap}; jobs that came and ended are unknown"
            )
        if self._silent:
            self._silent = False
            self._say(f"{self._name}: answers again")
        return self._pause

    def _is_silent(self, why: str) -> None:
        if not self._silent:
            self._silent = True
            self._say(f"{self._name}: {why}; nothing is seen of it until it answers again")


def _there(found: Look) -> str:
    live = [job for job in found.jobs if job.ended is None]
    run = sum(job.started is not None for job in live)
    there = f"jobs there that run: {run}, that wait: {len(live) - run}"
    of_all = counted(found.processors.size, "processor")
    return f"{of_all}; {there}; not counted, for nobody saw them come"


@contextmanager
def shadowing(grid: LiveGrid, folder: Path, asked: Asked, say: Say) -> Iterator[Shadow]:
    """Give the shadow of a grid.

    Raises
    ------
    GridError
        If another one is there already.
    """
    with ExitStack() as opened:
        sightings = opened.enter_context(closing(Sightings(folder, make=True)))
        opened.enter_context(locked(folder, "shadow"))
        grid.note_in(sightings)
        sightings.note("pairs", asked.pairs)
        sightings.note("every", asked.every)
        if sightings.note("began") is None:
            sightings.note("began", float(int(time.time())))  # Slurm's clock has whole seconds
        yield opened.enter_context(closing(Shadow(grid, sightings, asked, say)))


def report_of(
    sightings: Sightings,
    scenario: Scenario,
    pairs: Sequence[Pair],
    begin: float | None = None,
    last: float = float("inf"),
    seed: int = 0,
    whole: bool = False,
) -> dict[str, Any]:
    """Return what is told of a period up to the last look, ready for JSON.

    Parameters
    ----------
    sightings : Sightings
    scenario : Scenario
        Of the grid.
    pairs : sequence of Pair
    begin, last : float
        As of `period_of`.
    seed : int
    whole : bool
        It is one of the periods that later ones are told with.

    Raises
    ------
    GridError
        If nothing was seen yet.
    """
    period = period_of(sightings, scenario, begin, last)
    told = told_of(period, outcomes(period, scenario, pairs, seed))
    if whole:
        sightings.tell(period.begin, period.end, told)
    return in_periods(told, sightings.periods())
