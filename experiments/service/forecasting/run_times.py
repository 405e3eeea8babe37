"""How long jobs run, as far as those that have ended tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from experiments.service.store import LiveJob

Floats = npt.NDArray[np.float64]

ENOUGH = 5
"""Jobs from which run times are drawn, at least."""
UNKNOWN_TIME = 3600.0
"""Run time of a job of which nothing is known, s, as that which is expected of it."""


class RunTimes:
    """What is known of how long jobs run, s on a site of rate 1.

    They are drawn from jobs of the same name that have ended, if these are `ENOUGH`, else from all:
    from their run times over what was requested, where both have that, else from their run times.
    If too few have ended, a job runs for as long as was requested.

    Parameters
    ----------
    ended : sequence of LiveJob
        Jobs whose commands have ended.
    rates : mapping of str to float
        Of sites.
    """

    def __init__(self, ended: Sequence[LiveJob], rates: Mapping[str, float]) -> None:
        self._shares: dict[str | None, Floats] = {}
        self._times: dict[str | None, Floats] = {}
        shares: dict[str | None, list[float]] = {None: []}
        times: dict[str | None, list[float]] = {None: []}
        for job in ended:
            if job.started is None or job.ended is None:
                continue
            rate = job.rate or rates.get(str(job.site), 1.0)  # of then, if that is known
            ran = (job.ended - job.started) * rate
            for name in (None, job.name):
                times.setdefault(name, []).append(ran)
                if job.time is not None:
                    shares.setdefault(name, []).append(ran / job.time)
        self.known = len(times[None])
        for of, found in ((self._shares, shares), (self._times, times)):
            of.update({key: np.sort(each) for key, each in found.items() if len(each) >= ENOUGH})

    def draw(self, job: LiveJob, elapsed: float, draws: Floats) -> Floats:
        """Return run times of a job that has run for some time (s), one for each number in [0, 1).

        One that has outlasted all others runs for one to two times as long as it has.
        """
        for name in (job.name, None):
            if job.time is not None and name in self._shares:
                return _among(self._shares[name] * job.time, elapsed, draws)
            if name in self._times:
                return _among(self._times[name], elapsed, draws)
        asked = UNKNOWN_TIME if job.time is None else job.time
        return _among(np.array([asked]), elapsed, draws)


def _among(known: Floats, elapsed: float, draws: Floats) -> Floats:
    """Return draws from values beyond one."""
    first = int(np.searchsorted(known, elapsed, side="right"))
    if first == len(known):
        return elapsed * (1.0 + draws)
    later: Floats = known[first + (draws * (len(known) - first)).astype(np.int64)]
    return later
