"""The hierarchy of A4 brokers, and how they advertise resources (`muscle`, section 1).

Each cluster has a broker of its own. It advertises to the broker above it, which passes on what it
hears, up to the broker of the global scheduler. Without further brokers that is the one above all.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from grid.errors import PlatformError
from grid.foreign import quoted
from grid.platform.topology import check_name

CHANGE, PERIODIC, BOTH = "change", "periodic", "both"
"""When brokers advertise: at each change, periodically, or both."""

SHORTEST = 1e-3
"""Least period of advertisements, s."""


@dataclass(frozen=True)
class Broker:
    """A broker between those of clusters and that of the global scheduler.

    Attributes
    ----------
    name : str
        Unique among brokers and clusters.
    parent : str
        Name of the broker above; empty: the global scheduler's.
    """

    name: str
    parent: str = ""

    def __post_init__(self) -> None:
        check_name("broker", self.name)


@dataclass(frozen=True)
class Advertising:
    """How brokers tell each other of their clusters.

    Parameters
    ----------
    when : {"change", "periodic", "both"}
        When a cluster's broker advertises.
    period : float
        Between two periodic advertisements of a cluster, s; at least `SHORTEST`.
    loss : float
        Probability that a message is lost on its way from one broker to the next: from 0, below 1.
        Advertisements that are lost are gone, for others will follow. All else is acknowledged,
        and sent again when the acknowledgement is overdue: after twice the time of that hop.
    truth : bool
        The global scheduler knows everything at once, without advertisements; what to compare with.

    Raises
    ------
    PlatformError
        If a value is outside its range.
    """

    when: str = CHANGE
    period: float = 60.0
    loss: float = 0.0
    truth: bool = False

    def __post_init__(self) -> None:
        if self.when not in (CHANGE, PERIODIC, BOTH):
            raise PlatformError(
                f"advertise: found {quoted(self.when)}; accepted: {CHANGE}, {PERIODIC}, {BOTH}"
            )
        if not SHORTEST <= self.period < math.inf:
            raise PlatformError(
                f"period: found {quoted(self.period)}; accepted: seconds, at least {SHORTEST}"
            )
        if not 0 <= self.loss < 1:
            raise PlatformError(
                f"loss: found {quoted(self.loss)}; accepted: a number from 0, below 1"
            )


def chains(clusters: Sequence[tuple[str, str]], brokers: Sequence[Broker]) -> list[list[int]]:
    """Return which brokers stand between each cluster's own and the global scheduler's.

    Parameters
    ----------
    clusters : sequence of (str, str)
        Name of each cluster, and of the broker above its own; empty: the global scheduler's.
    brokers : sequence of Broker

    Returns
    -------
    list of list of int
        For each cluster, indices of brokers from the lowest up.

    Raises
    ------
    PlatformError
        For a name used twice, a broker that is not there, a cycle, or a cluster without a broker
        where brokers are given.

    Examples
    --------
    >>> chains([("C1", "west"), ("C2", "")], [Broker("coast"), Broker("west", "coast")])
    Traceback (most recent call last):
    grid.errors.PlatformError: cluster C2: without a broker; accepted: coast, west
    >>> chains([("C1", "west"), ("C2", "coast")], [Broker("coast"), Broker("west", "coast")])
    [[1, 0], [0]]
    """
    index = {broker.name: i for i, broker in enumerate(brokers)}
    known = ", ".join(index)
    names = Counter([broker.name for broker in brokers] + [name for name, _ in clusters])
    for name, times in names.items():
        if times > 1:
            raise PlatformError(f"broker {name}: a name used twice; accepted: a name of its own")
    for broker in brokers:
        path = [broker.name]
        while (above := brokers[index[path[-1]]].parent) != "":
            if not isinstance(above, str) or above not in index:
                others = ", ".join(name for name in index if name not in path)
                raise PlatformError(
                    f"broker {path[-1]}: unknown parent {quoted(above)}; accepted: "
                    f"{others}{', or ' if others else ''}none"
                )
            if above in path:
                cycle = " - ".join([*path[path.index(above) :], above])
                raise PlatformError(f"brokers: cycle {cycle}; accepted: brokers that form a tree")
            path.append(above)
    ways = []
    for name, above in clusters:
        if above == "" and brokers:
            raise PlatformError(f"cluster {name}: without a broker; accepted: {known}")
        way: list[int] = []
        while above != "":
            if not isinstance(above, str) or above not in index:
                raise PlatformError(
                    f"cluster {name}: unknown broker {quoted(above)}; accepted: {known or 'none'}"
                )
            way.append(index[above])
            above = brokers[index[above]].parent
        ways.append(way)
    return ways
