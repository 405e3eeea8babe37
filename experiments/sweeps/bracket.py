"""Between which loads a maximal utilization lies, and which load tells most of it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from experiments.sweeps.statistics import Interval

WIDTH = 0.005
"""How narrow the search goes unless told otherwise."""
JUST_BORNE = 3**1.5 - 2**1.5
"""Mean of the square root of time over the last third, divided by that over the first."""


@dataclass
class Bracket:
    """What is known of a maximal utilization, and which load to try next.

    Attributes
    ----------
    width : float
        A gap between two loads that is not searched any further.
    low, high : float
        The highest load known to be borne, and the lowest known not to be; 0 and 1 until one is
        tried, for at 1 clusters are busy all the time.
    growth : dict of float to Interval
        Of each load that was tried, the mean queue in the last third of runs over that in the
        first, one job added to both.

    Examples
    --------
    >>> bracket = Bracket(0.3)
    >>> bracket.next_load()
    0.5
    >>> bracket.learn(0.5, Interval(1.1, 0.2))
    >>> bracket.next_load()
    0.75
    >>> bracket.learn(0.75, Interval(4.9, 0.3))
    >>> bracket.low, bracket.high, bracket.next_load()
    (0.5, 0.75, None)
    """

    width: float = WIDTH
    low: float = 0.0
    high: float = 1.0
    growth: dict[float, Interval] = field(default_factory=dict)

    def learn(self, load: float, growth: Interval) -> None:
        """Take note of how queues grow at a load."""
        self.growth[load] = growth
        match self.verdict(load):
            case "borne":
                self.low = max(self.low, load)
            case "not borne":
                self.high = min(self.high, load)

    def next_load(self) -> float | None:
        """Return the load to try next; None once the bracket is as narrow as it gets."""
        untold = self.untold
        gaps = [(self.low, min(untold)), (max(untold), self.high)] if untold else []
        for below, above in gaps or [(self.low, self.high)]:
            if above - below > self.width * (1 + 1e-9):
                return (below + above) / 2
        return None

    @property
    def untold(self) -> list[float]:
        """Loads that were tried, of which runs did not tell whether they are borne."""
        return sorted(load for load in self.growth if self.low < load < self.high)

    @property
    def loads_left(self) -> int:
        """Loads that there are to try yet, if no doubt remains about any of them."""
        gap = (self.high - self.low) / self.width
        return max(1, math.ceil(math.log2(gap))) if self.next_load() is not None else 0

    def verdict(self, load: float) -> str:
        """Return in a word what the runs at a load that was tried tell of it, and no others."""
        growth = self.growth[load]
        if growth.high < JUST_BORNE:
            return "borne"
        return "not borne" if growth.low > JUST_BORNE else "open"
