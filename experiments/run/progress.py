"""How far a single run is, and how long it will take."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

from experiments.sweeps.forecast import UnderWay

if TYPE_CHECKING:
    from agents.model import GridModel

ENOUGH_TO_TELL = 0.05
"""Share of a run of which the rest is told: what is compiled on the way counts for much before."""
LONG_ENOUGH_TO_TELL = 60.0
"""Wall seconds after which the rest is told, however little is done."""
STEEPEST = 2.0
"""Highest power of what is done that the time is expected to grow as: that under which a queue
grows evenly, and all who wait are looked at for each job that comes."""


class Far:
    """How far a run is that begins now, and what it would take in all.

    What jobs took of late says as much as what all of them took, and neither is right alone. The
    longer a queue has grown, the more time a job takes: then the time has grown as some power of
    what is done, and is expected to go on so.

    Parameters
    ----------
    model : GridModel
    endless : bool
        Some job can hardly be expected to end: then nobody knows.
    """

    def __init__(self, model: GridModel, endless: bool = False) -> None:
        self._model, self._endless = model, endless
        self._began = time.monotonic()
        self._before = self._share()  # if it goes on from a checkpoint
        self._seen = [(0.0, self._before)]  # times since, s, and shares

    def told(self) -> list[UnderWay]:
        """Return how far the run is, and what that would have taken at its present pace."""
        at, share = time.monotonic() - self._began, self._share()
        while len(self._seen) > 1 and self._seen[1][0] <= at / 2:
            del self._seen[0]
        since, then = self._seen[0]
        self._seen.append((at, share))
        took = math.inf
        enough = share - self._before >= ENOUGH_TO_TELL or at >= LONG_ENOUGH_TO_TELL
        if enough and share > then and not self._endless:
            done, rest = share - self._before, 1 - share
            took = share * math.sqrt(at / done * (at - since) / (share - then))
            if since > 0 and then > self._before and rest > 0:
                power = math.log(at / since) / math.log(done / (then - self._before))
                left = at * (((1 - self._before) / done) ** min(power, STEEPEST) - 1)
                took = max(took, left * share / rest) if power > 1 else took
        return [UnderWay(0, min(1.0, share), took)]

    def _share(self) -> float:
        """Return how far the run is: some policies take their time when jobs come, some later."""
        world = self._model.world
        through = world.state.submitted + world.log.count
        return through / max(1, 2 * self._model.workload.count)
