"""Who sees a world instant by instant."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Indices = npt.NDArray[np.int64]


class Watcher(Protocol):
    """Somebody who sees each instant of a world by itself, and each message."""

    def look(self) -> None:
        """See the world, whenever all of an instant has happened or somebody outside must act."""

    def planned(self, cluster: int, jobs: Indices) -> None:
        """See the plan (slots) that a cluster has just got."""

    def carried(
        self, kind: int, item: int, sender: int, receiver: int, hop: int, after: float
    ) -> None:
        """See a message, sent or lost (`grid.kernel.policies.message_hook`)."""

    def told(self, event: str, slot: int | None = None, **facts: Any) -> None:
        """See what else happens between brokers, about the job in a slot if it is about one.

        Of what is about several, `facts` have their ``slots``.
        """
