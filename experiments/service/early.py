"""Jobs that sites have before their turn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from experiments.service.at_sites.batch_system import SilentError
from experiments.service.at_sites.drivers import Driver, take_back
from experiments.service.at_sites.holding import HoldingSite
from experiments.service.at_sites.site import HELD, Site
from experiments.service.mirror import Mirror
from experiments.service.store import LiveJob, Store
from experiments.show.numbers import counted
from grid.errors import GridError


class Early:
    """Has sites hold those of their waiting jobs that came first, as many as each takes.

    Parameters
    ----------
    model : Mirror
    sites : sequence of Site
        In the order of its clusters.
    store : Store
    """

    def __init__(self, model: Mirror, sites: Sequence[Site], store: Store) -> None:
        self._model, self._store = model, store
        self._sites = {
            cluster: site for cluster, site in enumerate(sites) if isinstance(site, HoldingSite)
        }
        self._there: dict[int, set[int]] = {cluster: set() for cluster in self._sites}

    def begin(self, drivers: Sequence[Driver], mark: str, say: Callable[[str], object]) -> None:
        """Take note of who holds jobs, and take back those of sites that hold none any more.

        Parameters
        ----------
        drivers : sequence of Driver
            Of the sites.
        mark : str
            Of the service.
        say : callable
            Is told in a line what was taken back, or that it cannot be.
        """
        names = self._model.world.platform.names
        holding = {**(self._store.note("holding") or {})}
        there = {names[cluster]: dict(drivers[cluster].given) for cluster in self._sites}
        for key, (name, given) in {**holding}.items():
            if _place(given) == _place(there.get(name, {})):
                continue
            try:
                if back := take_back(name, given, mark):
                    held = counted(back, "job that it holds is", "jobs that it holds are")
                    say(f"{name}, as it was before: {held} taken back")
                del holding[key]
            except (SilentError, GridError) as error:
                held = "what it holds of this service stays there for now"
                say(f"{name}, as it was before: {error}; {held}")
        holding |= {str((name, *_place(given))): (name, given) for name, given in there.items()}
        if holding or self._store.note("holding"):
            self._store.note("holding", holding)

    def update(self, jobs: Mapping[int, LiveJob]) -> None:
        """Tell sites what has changed.

        Parameters
        ----------
        jobs : dict of int to LiveJob
            Those that the mirror knows, by number.
        """
        rates = self._model.world.platform.rates
        for cluster, site in self._sites.items():
            waiting = self._model.waiting_at(cluster)
            there = self._there[cluster]
            for number in there.difference(waiting):
                site.forget(number)
            there.intersection_update(waiting)
            for number in waiting:
                if len(there) >= site.early:
                    break
                job = replace(jobs[number], rate=rates.item(cluster))  # on which its limit depends
                if number not in there and self._expect(site, job):
                    there.add(number)

    def _expect(self, site: HoldingSite, job: LiveJob) -> bool:
        with suppress(OSError):  # another time
            folder = self._store.make_folder(job)
            (folder / HELD).touch()
            site.expect(job, folder)
            return True
        return False


def _place(given: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return which cluster and partition a site is, by the keys of its driver."""
    return given.get("slurm_conf", False), given.get("partition", False)
