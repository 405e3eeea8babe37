"""Carrying out a schedule in its order rather than by its clock.

On each cluster jobs start in the order of their planned starts, each as soon as its nodes are free
on all of its clusters. If jobs end when they were expected to, none starts later than planned; if
not, the order still stands, and nobody waits for a job that waits for them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from agents.schedulers import Answer, GlobalScheduler
from agents.view import Job
from grid.errors import PlacementError
from grid.kernel.state import NONE
from grid.names import lack_of

if TYPE_CHECKING:
    from agents.model import GridModel


class Planned(NamedTuple):
    """A job that has not started.

    Attributes
    ----------
    job : int
        Its serial, which tells it from all others that the world has seen.
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


class OrderedScheduler(GlobalScheduler):
    """Starts jobs in the order of a plan, on the nodes that it gives them.

    Attributes
    ----------
    plan : list of Planned
        Jobs that have not started, in order of their starts.
    """

    paper = "oas"
    selection = "fpfs"  # reservations are of policies that decide by what is free, not by a plan
    max_jumps = math.inf  # nor does a job wait for those before it, but for its turn
    spans = True
    reconsiders = True
    starts_jobs = True

    def __init__(self, model: GridModel) -> None:
        super().__init__(model)
        self.plan: list[Planned] = []
        self._starts: dict[int, Planned] = {}
        self._seen: set[int] = set()
        self._last = -math.inf, NONE  # when a job was offered last, and which

    def place(self, job: Job) -> Answer:
        """Start the job if it is its turn."""
        serials = self.model.world.jobs["serial"]
        serial = serials.item(job.slot)
        before, self._last = self._last, (self.model.now, serial)
        # Jobs are offered in order of their serials: one that is not begins to offer all of them.
        if serial not in self._seen or self._last <= before or self.model.now > before[0]:
            waiting = {
                serials.item(slot): slot for slot in self.model.world.jobs.waiting().tolist()
            }
            self._seen = set(waiting)
            self.plan = [each for each in self.plan if each.job in waiting]
            self._starts = {each.job: each for each in self.starting(waiting)}
        if serial not in self._starts:
            return None
        nodes = self._starts.pop(serial).nodes
        return {cluster.name: count for cluster, count in zip(self.clusters, nodes, strict=True)}

    def starting(self, waiting: dict[int, int]) -> Iterable[Planned]:
        """Return the jobs of the plan that start now.

        Parameters
        ----------
        waiting : dict of int to int
            The slot of each waiting job, by its serial.
        """
        raise PlacementError(lack_of(type(self), "starting"))
