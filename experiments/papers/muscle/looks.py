"""More runs from look to look, of what an open verdict rests on, until none is open or time is up.

A verdict stands from the look at which it is reached. At look k each interval is one among k (k +
1), so that all looks together keep 95 %: the sum of 1 / (k (k + 1)) is 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from experiments.papers.muscle.claims import Judged
from experiments.papers.muscle.savings import Outcome, Place

GROWTH = 2
"""From one look to the next, replications become so many times as many at most."""


def among(look: int) -> int:
    """Return among how many intervals each of a look is one; looks count from 1."""
    return look * (look + 1)


def spent(outcome: Outcome, cpu_s: Mapping[str, float]) -> float:
    """Return the CPU seconds that the runs of an outcome took, by what each run did."""
    return sum(cpu_s.get(run.key, 0.0) for run in outcome.runs)


def more(
    outcome: Outcome, claims: Iterable[Judged], cpu_s: Mapping[str, float], left: float
) -> dict[Place, int]:
    """Return how many replications which places are to have at the next look.

    Parameters
    ----------
    outcome : Outcome
    claims : iterable of Judged
        As judged at this look.
    cpu_s : mapping of str to float
        CPU seconds of each run, by key.
    left : float
        CPU seconds that these runs may take, by what those before took: if they are too few for
        all, each place gets its share.

    Returns
    -------
    dict
        Empty if no verdict is open or nothing can be afforded.
    """
    counts = outcome.replications
    wanted: dict[Place, int] = {}
    for places in (places for each in claims for places in each.open_at.values()):
        for point in {point for point, _ in places}:
            here = [place for place in places if place[0] == point]
            enough = GROWTH * min(counts[place] for place in here)  # what has more can wait
            wanted |= {place: max(enough, wanted.get(place, 0)) for place in here}
    lacking = {place: count - counts[place] for place, count in wanted.items()}
    lacking = {place: count for place, count in lacking.items() if count > 0}
    price = sum(count * _mean_cpu_s(outcome, place, cpu_s) for place, count in lacking.items())
    share = min(1.0, max(0.0, left) / price) if price else 1.0
    bought = {place: math.floor(share * count) for place, count in lacking.items()}
    return {place: counts[place] + count for place, count in bought.items() if count}


def _mean_cpu_s(outcome: Outcome, place: Place, cpu_s: Mapping[str, float]) -> float:
    runs = outcome.runs_of(place)
    return sum(cpu_s.get(run.key, 0.0) for run in runs) / len(runs)
