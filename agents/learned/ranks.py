"""Local schedulers that serve jobs by a rank that was learned.

The rank of a job is a weighted sum of `TERMS`, in which its time is that which is predicted on the
cluster, and what units add. It is fixed when the job lands, as all ranks are: what a job gains
while it waits is its weight of ``arrival``, which units do not read, for all jobs grow older alike.
"""

from __future__ import annotations

import copyreg
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from agents.disciplines import (
    ConservativeScheduler,
    EasyScheduler,
    FcfsScheduler,
    FpfsScheduler,
)
from agents.learned.formula import Floats
from agents.learned.units import Unit, numbers_of, weighed
from agents.schedulers import LocalScheduler
from grid.kernel.compile import compiled

TERMS = {
    "time": "log t",
    "size": "log n",
    "time-size": "log t log n",
    "time-time": "log² t",
    "size-size": "log² n",
    "arrival": "h",
}
"""Terms of a rank, by name."""
OF_UNITS = {name: term for name, term in TERMS.items() if name != "arrival"}
"""Those that units read: what they add then stays right as jobs grow older."""
SYMBOLS = "t: 1 + predicted time, s; n: processors; h: submitted, hours after the run began"

HOUR = 3600.0

SERVICES: dict[str, type[LocalScheduler]] = {
    scheduler.service: scheduler
    for scheduler in (FcfsScheduler, FpfsScheduler, EasyScheduler, ConservativeScheduler)
}
"""Whose jobs start in which way, by `LocalScheduler.service`."""

FIRST = {"time": 1.0}
"""The weights from which learning begins: the shortest job first."""


def terms_of(time: Floats, size: Floats, arrival: Floats) -> Floats:
    """Return the terms of jobs, a row for each, by predicted times, processors and arrivals, s."""
    time, size = np.log1p(time), np.log(size)
    terms = time, size, time * size, time * time, size * size, arrival / HOUR
    return np.stack(terms, axis=-1)


def rank_by(numbers: Floats) -> Any:
    """Return a compiled `priority` by the numbers that the array has at the time (`numbers_of`)."""
    address, units = numbers.ctypes.data, (len(numbers) - len(TERMS)) // (2 + len(TERMS))

    @compiled(cache=False)
    def priority(job: Any, now: float) -> float:
        time, size = math.log(1.0 + job.predicted_time), math.log(job.size)
        terms = time, size, time * size, time * time, size * size, job.arrival / HOUR
        return weighed(address, units, terms)

    return priority


class _Ranking(type):
    """The type of these classes, which are pickled as what makes them."""


def ranking(
    weights: Mapping[str, float], service: str, units: Sequence[Unit] = ()
) -> type[LocalScheduler]:
    """Return a local scheduler that ranks jobs by weights of `TERMS`, and by units.

    Its ``weights`` are an array, whose numbers may be changed between runs.

    Parameters
    ----------
    weights : mapping of str to float
    service : str
        A key of `SERVICES`.
    units : sequence of Unit
    """
    numbers = numbers_of(weights, units, TERMS)
    own = {
        "given": (dict(weights), service, tuple(units)),
        "__doc__": "By a rank that was learned.",
        "__module__": __name__,
        "label": "LEARNED",
        "uses_deadlines": False,
        "reads_predictions": True,
        "weights": numbers,
        "priority": rank_by(numbers),
    }
    made: Any = _Ranking("LearnedRank", (SERVICES[service],), own)
    return made


def _made_by(kind: Any) -> Any:
    return ranking, kind.given


copyreg.pickle(_Ranking, _made_by)
