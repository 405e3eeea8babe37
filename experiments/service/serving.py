"""Beginning to serve a grid, and its own jobs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from experiments.service.grid_file import LiveGrid
from experiments.service.mirror import Mirror
from experiments.service.presence import is_service
from experiments.service.service import Service
from experiments.service.store import Store
from grid.kernel.access import prepare_to_withdraw


@contextmanager
def serving(
    grid: LiveGrid,
    folder: Path,
    seed: int,
    say: Callable[[str], None],
    made: Callable[..., Service] = Service,
) -> Iterator[Service]:
    """Give a service of a grid, which submits the grid's own jobs where none are known yet.

    It is made by what is given, as `Service` is.
    """
    if not is_service(folder):
        grid.scenario.model(seed, made=Mirror)  # what cannot be served leaves no folder
    store = Store(folder, make=True)
    with suppress(ImportError, ValueError, OSError):  # a job that runs takes one
        import resource

        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with closing(store):
        service = made(grid, store, seed, say)
        prepare_to_withdraw(service.model.world.tables)  # else a round waits for that
        with closing(service):
            if not store.note("submitted"):
                with store.at_once():
                    for job in grid.jobs:
                        store.add(**job)
                    store.note("submitted", True)
            yield service
