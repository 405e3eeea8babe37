"""Runs whose queue is long and grows: means mostly tell how long they were; they may end early."""

from __future__ import annotations

import math

from agents.model import GridModel

LOST = 250
"""Jobs a cluster, of which so many wait in a queue that keeps growing, are a lost run."""
FAR = 10.0
"""A queue just borne is a few times the square root of the number of jobs long, never so many."""


def is_lost(model: GridModel) -> bool:
    """Tell whether the queue of a run grows (`grid.metrics.stability`), and is long already.

    Its jobs arrive by a process, not in rounds.
    """
    waiting = model.queued + sum(model.waiting)
    return waiting > LOST * model.world.clusters and model.world.statistics.stable is False


def is_far_lost(model: GridModel) -> bool:
    """Tell whether a lost run's queue is longer than that of a load just borne ever is.

    That one's is a few times the square root of the number of jobs long: near the maximal
    utilization a run can seem lost for a while, and a mean needs it whole.
    """
    far = FAR * math.sqrt(model.workload.count)
    return model.queued + sum(model.waiting) > far and is_lost(model)
