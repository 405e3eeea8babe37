"""What can be chosen about the meta-schedulers of `beosim`."""

from __future__ import annotations

from dataclasses import dataclass

from grid.jobs import LONGEST
from grid.settings import Checked, setting


@dataclass(frozen=True)
class CoallocationSettings(Checked):
    """Of policies that look at links."""

    group = "co-allocation"

    lslt: float = setting(
        100.0,
        "Threshold of the saturation of links.",
        unit="percent of their capacity",
        symbol="LSLT",
        above=0,
        most=LONGEST,
    )


@dataclass(frozen=True)
class ChunkingSettings(CoallocationSettings):
    """Of B3."""

    chunk: int = setting(
        85,
        "Chunk size threshold: how much of a job has to fit on one cluster.",
        unit="percent",
        least=0,
        most=100,
    )


@dataclass(frozen=True)
class SatisfySettings(CoallocationSettings):
    """Of A1."""

    solution: str = setting(
        "first",
        "The first mapping found that keeps links within the threshold, or the one that needs "
        "least of all links together.",
        choices=("first", "least-demand"),
    )


@dataclass(frozen=True)
class PenaltySettings(Checked):
    """Of the fixed-penalty model."""

    group = CoallocationSettings.group

    penalty: float = setting(
        1.2, "Factor on the execution time of a job that is split.", least=1, most=1e6
    )
