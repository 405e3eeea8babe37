"""What can be chosen about the policies of `queues`."""

from __future__ import annotations

from dataclasses import dataclass

from grid.jobs import LONGEST
from grid.settings import Checked, setting


@dataclass(frozen=True)
class QueueSettings(Checked):
    """Of policies that visit queues."""

    group = "order of jobs"

    aging: float = setting(
        0.0,
        "Time after which the head of a queue goes before all others; 0: never.",
        unit="s",
        least=0,
        most=LONGEST,
    )
