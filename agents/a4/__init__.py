"""A4: brokers that carry jobs, metadata and schedules, and find resources (`muscle`, section 1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grid.lazy import exported

if TYPE_CHECKING:
    from agents.a4.broker import A4Broker, Belief
    from agents.a4.discovery import DiscoveryScheduler

__all__ = ["A4Broker", "Belief", "DiscoveryScheduler"]

__getattr__ = exported(
    __name__,
    {
        "A4Broker": "agents.a4.broker",
        "Belief": "agents.a4.broker",
        "DiscoveryScheduler": "agents.a4.discovery",
    },
)
