"""Global schedulers that send each job where a score that was learned is lowest.

The score of a cluster is a weighted sum of `TERMS`, of what brokers know, and what units add. One
that was cloned may also weigh where jobs were submitted (`OF_CLONES`).
"""

from __future__ import annotations

import copyreg
import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from agents.learned.formula import Floats
from agents.learned.units import Unit, numbers_of, weighed
from agents.schedulers import GlobalScheduler
from grid.kernel.compile import compiled
from grid.kernel.state import WAIT

TERMS = {
    "time": "log(1 + t)",
    "load": "log(1 + l)",
    "time-load": "log(1 + t + l)",
    "waiting": "log(1 + q)",
    "free": "f",
    "fits": "e",
    "share": "s",
}
"""Terms of the score of a cluster, by name: what environments show, and units may read."""
COUNT = len(TERMS)
HOME = "home"
OF_CLONES = TERMS | {HOME: "o"}
"""Those that clones weigh."""
SYMBOLS = (
    "t: predicted time of the job there, s; l: load, s; q: jobs that wait there; "
    "f: share of its processors that are free; e: 1 if the job fits in these, else 0; s: share of "
    "its processors that the job needs; o: 1 if the job was submitted through it, else 0"
)

FIRST = {"time-load": 1.0}
"""The weights from which learning begins: by when its work and the job are done."""


class LearnedChoice(GlobalScheduler):
    """To the cluster of the lowest score that can hold the job, by a score that was learned."""

    only_chooses, reads_components = True, False
    uses_deadlines = False
    label = "LEARNED"
    weights: ClassVar[Floats] = np.zeros(len(OF_CLONES))
    """Of `TERMS`, then those of units (`numbers_of`), then that of `HOME`."""

    def memory(self) -> Floats:
        """Return a copy of the weights."""
        return self.weights.copy()

    @compiled()
    def place(known: Any, job: Any, memory: Any) -> int:  # noqa: N805
        """Choose the cluster of the lowest score; of equals, the one of lowest index."""
        best, least = WAIT, np.inf
        units, of_home = (len(memory) - 1 - COUNT) // (2 + COUNT), memory[-1]
        for cluster in range(known.clusters):
            if job.size > known.up[cluster]:
                continue
            time = job.predicted_runtime / known.rate[cluster]
            free, size = known.free[cluster], known.size[cluster]
            terms = (
                math.log(1.0 + time),
                math.log(1.0 + known.load[cluster]),
                math.log(1.0 + time + known.load[cluster]),
                math.log(1.0 + known.waiting[cluster]),
                free / size,
                1.0 if job.size <= free else 0.0,
                job.size / size,
            )
            score = weighed(memory.ctypes.data, units, terms)
            if cluster == job.origin:
                score += of_home
            if score < least or best == WAIT:
                best, least = cluster, score
        return best


class _Choosing(type):
    """The type of these classes, which are pickled as what makes them."""


def choosing(weights: Mapping[str, float], units: Sequence[Unit] = ()) -> type[GlobalScheduler]:
    """Return a global scheduler that scores clusters by weights of `OF_CLONES`, and by units.

    Its ``weights`` are an array, whose numbers may be changed between runs.
    """
    own = {
        "__doc__": LearnedChoice.__doc__,
        "__module__": __name__,
        "given": (dict(weights), tuple(units)),
        "weights": np.append(numbers_of(weights, units, TERMS), float(weights.get(HOME, 0.0))),
    }
    made: Any = _Choosing("LearnedChoice", (LearnedChoice,), own)
    return made


def _made_by(kind: Any) -> Any:
    return choosing, kind.given


copyreg.pickle(_Choosing, _made_by)
