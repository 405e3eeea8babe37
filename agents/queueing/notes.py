"""What a policy that visits queues keeps in mind from one call to the next."""

from __future__ import annotations

from typing import Any

import numpy as np

from grid.kernel.compile import inlined
from grid.kernel.state import CAPACITIES

ROOM = CAPACITIES[-1] + 2
"""Most local queues there can be, the global one, and a place for a queue that does not count."""

NOTES = np.dtype(
    [
        ("aging", np.float64),  # s after which the head of a queue is aged; 0: never
        ("version", np.int64),
        # Queues are visited in the order in which they are listed.
        ("count", np.int64),  # of the listed ones
        ("at", np.int64),  # where in the list the visit is
        ("kept", np.int64),  # how many before that stay for the next round
        ("listed", np.int64, (ROOM,)),
        ("only_aged", np.int64),  # 1 while only an aged head is tried
        ("joining", np.int64),  # 1 while further queues may join the list
        # LQ
        ("turn", np.int64),  # the local queue whose turn it is
        ("in_vain", np.int64),  # how many from that one on were visited in vain
        # LS-RO and LS-DO
        ("blocked", np.int64),  # how many queues are disabled, their heads not fitting
        ("disabled", np.int64, (ROOM,)),  # these, in the order in which that happened
        ("marked", np.int64, (ROOM,)),  # of each queue: 1 if it comes before those that are not
    ]
)


@inlined
def noted(memory: Any) -> Any:
    """Return the notes in a policy's memory."""
    return memory.view(NOTES)[0]
