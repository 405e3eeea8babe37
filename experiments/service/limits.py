"""How many processors sites have for jobs: told to the mirror, and noted for who asks."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from experiments.events import log
from experiments.service.at_sites.site import Site
from experiments.service.mirror import Mirror
from experiments.service.store import Store


class Limits:
    """Has agents see as many processors of a site as jobs may hold there: none if it is drained.

    Parameters
    ----------
    model : Mirror
    sites : sequence of Site
        In the order of its clusters.
    store : Store
    tell : callable
        Is told which sites start no job any more, or do again.
    """

    def __init__(
        self, model: Mirror, sites: Sequence[Site], store: Store, tell: Callable[..., object]
    ) -> None:
        self._model, self._sites, self._store, self._tell = model, sites, store, tell
        drained = {*(store.note("drained") or ())}  # to be told anew
        self._drained = {*(store.note("told_drained") or ())} - drained
        self._limits = model.world.platform.sizes.tolist()
        self._noted: dict[str, object] = {}

    def update(self) -> None:
        """Have all know what sites have now."""
        wanted = {*(self._store.note("drained") or ())}
        for cluster, site in enumerate(self._sites):
            if (site.name in wanted) != (site.name in self._drained):
                back = site.name in self._drained
                told = "takes part again" if back else "starts no job any more"
                kind = log.RESTORED if back else log.DRAINED
                self._tell(kind, f"{site.name}: {told}", site=site.name)
            limit = 0 if site.name in wanted else site.capacity
            if limit != self._limits[cluster]:  # jobs that go back do so after that is told
                self._model.limit(cluster, limit)
                self._limits[cluster] = limit
        if wanted != self._drained:
            self._drained = {*self._store.note("told_drained", sorted(wanted))}
        self._note("up", {site.name: site.capacity for site in self._sites})
        self._note("silent", [site.name for site in self._sites if site.silent])

    def _note(self, key: str, value: object) -> None:
        if self._noted.get(key) != value:
            self._noted[key] = self._store.note(key, value)
