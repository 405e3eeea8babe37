"""A service in a thread of this process, all of whose jobs end with it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from queue import Empty, SimpleQueue

from experiments.service.grid_file import LiveGrid
from experiments.service.service import Service
from experiments.service.serving import serving
from experiments.service.store import Store
from grid.errors import GridError

LOOK = 0.05
"""Time between two looks at jobs that are waited for, s."""
PATIENCE = 120.0
"""Time in which jobs that are killed have to end, and half of it those that are cancelled, s."""


class Served:
    """A service, as those see it who submit jobs.

    Attributes
    ----------
    service : Service
        Of another thread: only what `Service` allows there may be called.
    store : Store
        Its jobs.
    """

    def __init__(self, service: Service, store: Store, thread: Future[None]) -> None:
        self.service, self.store, self._thread = service, store, thread

    def wait(self, condition: Callable[[], bool], most: float = float("inf")) -> None:
        """Wait until something is so.

        Raises
        ------
        GridError
            If that takes longer than `most`, s.
        """
        began = time.monotonic()
        while not condition():
            if self._thread.done():
                self._thread.result()
                raise GridError(f"{self.store.folder}: the service has ended")
            if time.monotonic() - began > most:
                raise GridError(f"{self.store.folder}: jobs have not ended in {most:g} s")
            time.sleep(LOOK)

    def all_ended(self) -> bool:
        """Tell whether no job is left."""
        return not self.store.left()

    def end(self) -> None:
        """Have all jobs end that have not, and wait for it; what does not is killed."""
        self._cancel()
        began = time.monotonic()
        self.wait(lambda: self.all_ended() or time.monotonic() - began > PATIENCE / 2)
        if not self.all_ended():
            self._cancel()
            self.wait(self.all_ended, PATIENCE)

    def _cancel(self) -> None:
        with self.store.at_once():
            for job in self.store.jobs("ended IS NULL"):
                self.store.update(job.job, cancelled=job.cancelled + 1)
        self.store.ring()


@contextmanager
def served(
    grid: LiveGrid, folder: Path, made: Callable[..., Service] = Service
) -> Iterator[Served]:
    """Give a service of a grid; end all of its jobs, and then it, whatever happens.

    Parameters
    ----------
    grid : LiveGrid
    folder : Path
        Of the service.
    made : callable
        Makes it, as `Service` does.
    """
    began: SimpleQueue[Service] = SimpleQueue()
    stopped = threading.Event()

    def serve() -> None:
        with serving(grid, folder, 0, lambda line: None, made) as service:
            began.put(service)
            if not stopped.is_set():  # if it is later, `stop` finds the service
                service.run()

    with ThreadPoolExecutor(1) as pool:
        thread = pool.submit(serve)
        service = None
        try:
            service = _first(began, thread)
            with closing(Store(folder)) as store:
                of = Served(service, store, thread)
                try:
                    yield of
                finally:
                    if not of.all_ended():
                        of.end()
        finally:
            stopped.set()
            if service is None and not began.empty():
                service = began.get()
            if service is not None:
                service.stop()
    thread.result()


def _first(began: SimpleQueue[Service], thread: Future[None]) -> Service:
    """Return the service once it is there."""
    while True:
        try:
            return began.get(timeout=LOOK)
        except Empty:
            if thread.done() and began.empty():
                thread.result()
                raise GridError("the service has ended") from None
