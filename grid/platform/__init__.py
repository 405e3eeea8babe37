"""The multicluster: clusters, and the dedicated links that join them, from Python or files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grid.lazy import exported

if TYPE_CHECKING:
    from grid.platform.brokers import Broker
    from grid.platform.changes import Change, Failures
    from grid.platform.multicluster import Cluster, Platform
    from grid.platform.topology import Link

__all__ = ["Broker", "Change", "Cluster", "Failures", "Link", "Platform"]

__getattr__ = exported(
    __name__,
    {
        "Broker": "grid.platform.brokers",
        "Change": "grid.platform.changes",
        "Cluster": "grid.platform.multicluster",
        "Failures": "grid.platform.changes",
        "Link": "grid.platform.topology",
        "Platform": "grid.platform.multicluster",
    },
)
