"""Which jobs of a schedule start now, when it is carried out in its order rather than by its clock.

On each cluster jobs start in the order of their planned starts, each as soon as its nodes are free
on all of its clusters. If jobs end when they were expected to, none starts later than planned; if
not, the order still stands, and nobody waits for a job that waits for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt


class Planned(NamedTuple):
    """A job that has not started.

    Attributes
    ----------
    job : int
        What tells it from others.
    nodes : tuple of int
        That it shall hold of each cluster.
    loads : tuple of float
        That it puts on the link of each, Mbit/s.
    """

    job: int
    nodes: tuple[int, ...]
    loads: tuple[float, ...]


def starting(
    plan: Iterable[Planned], free: Sequence[int], spare: npt.NDArray[np.float64]
) -> Iterator[Planned]:
    """Yield the jobs that start now.

    Parameters
    ----------
    plan : iterable of Planned
        In order of their starts.
    free : sequence of int
        Nodes of each cluster.
    spare : array, shape (clusters,)
        Mbit/s of each link; infinite if links may be saturated.
    """
    left, bandwidth = np.array(free), spare.copy()
    blocked = np.zeros(len(left), bool)
    for each in plan:
        if blocked.all():
            return
        nodes, loads = np.array(each.nodes), np.array(each.loads)
        used = nodes > 0
        if blocked[used].any() or (nodes > left).any() or (loads > bandwidth)[used].any():
            blocked |= used
        else:
            left -= nodes
            bandwidth -= loads
            yield each
