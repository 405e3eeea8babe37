"""What the processors of a cluster and the network between them cost, as PACE models it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agents.pace.packaged import checked_keys, named
from grid.errors import GridError
from grid.foreign import quoted
from grid.names import meant

BITS = 8
"""Of a byte."""

MEGA = 1e6


@dataclass(frozen=True)
class Hardware:
    """The hardware of one cluster.

    Attributes
    ----------
    name : str
    operations : tuple of (str, float)
        Time of one operation of each kind, s.
    latency : float
        Of a message between two processors of the cluster, s.
    bandwidth : float
        Mbit/s between two of them; infinite without a limit.
    """

    name: str
    operations: tuple[tuple[str, float], ...]
    latency: float = 0.0
    bandwidth: float = math.inf

    @classmethod
    def from_dict(cls, name: str, mapping: Mapping[str, Any]) -> Hardware:
        """Return the hardware that the tables of a TOML file describe.

        Raises
        ------
        GridError
            If it says what no operation, or no network, costs.
        """
        where = f"hardware {quoted(name)}"
        checked_keys(where, mapping, {"operations"}, {"latency", "bandwidth", "description"})
        costs = mapping["operations"]
        if not (isinstance(costs, dict) and costs):
            raise GridError(
                f"{where}: operations: found {quoted(costs)}; accepted: a table of the time of "
                "each kind, s"
            )
        return cls(
            name,
            tuple(
                (kind, _cost(where, kind, cost, "s, from 0"))
                for kind, cost in sorted(costs.items())
            ),
            _cost(where, "latency", mapping.get("latency", 0.0), "s, from 0"),
            _cost(where, "bandwidth", mapping.get("bandwidth", math.inf), "Mbit/s, above 0"),
        )

    def cost(self, kind: str) -> float:
        """Return the time of one operation, s."""
        costs = dict(self.operations)
        if kind not in costs:
            raise GridError(
                f"hardware {quoted(self.name)}: operation {quoted(kind)}: unknown; "
                f"{meant(kind, costs)}"
            )
        return costs[kind]

    def message(self, size: float) -> float:
        """Return the time of a message of so many bytes, s."""
        return self.latency + size * BITS / (self.bandwidth * MEGA)


def hardware_of(model: str | Hardware) -> Hardware:
    """Return hardware by the name of a packaged one, or from a TOML file."""
    if isinstance(model, Hardware):
        return model
    return Hardware.from_dict(model, named("hardware", model))


def _cost(where: str, name: str, value: Any, accepted: str) -> float:
    number = float(value) if type(value) in (int, float) else math.nan
    if not (number > 0 if "above" in accepted else 0 <= number < math.inf):
        raise GridError(f"{where}: {name}: found {quoted(value)}; accepted: {accepted}")
    return number
