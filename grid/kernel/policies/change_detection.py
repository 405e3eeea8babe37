"""What somebody who watches has seen of the live jobs, so that only what is new is looked at."""

from __future__ import annotations

from typing import Any

import numpy as np

from grid.kernel.compile import compiled
from grid.kernel.state import VACANT

SEEN = np.dtype(
    [
        ("number", np.int64),
        ("arrival", np.float64),  # s
        ("status", np.int64),  # where the job was
        ("restarts", np.int64),
    ],
    align=True,
)
"""A slot as it was seen last; a new array is one of vacant slots."""


@compiled()
def moved(slots: Any, seen: Any, out: Any) -> int:
    """Write the slots that hold another job than was seen, or one that got on; see them so.

    Parameters
    ----------
    slots, seen : structured arrays of one length
        Of dtype `SLOT` and `SEEN`.
    out : array of int64
        As long.

    Returns
    -------
    int
        How many were written; vacant ones are left out.
    """
    count = 0
    for index in range(len(slots)):
        slot, last = slots[index], seen[index]
        if slot.status == last.status and (
            slot.status == VACANT
            or (
                slot.restarts == last.restarts
                and slot.number == last.number
                and slot.arrival == last.arrival
            )
        ):
            continue
        last.number = slot.number
        last.arrival = slot.arrival
        last.status = slot.status
        last.restarts = slot.restarts
        if slot.status != VACANT:
            out[count] = index
            count += 1
    return count
