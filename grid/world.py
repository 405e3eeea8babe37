"""The world: a multicluster's state, its clock and the kernel that moves them, as one object."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

Array = npt.NDArray[Any]


class World:
    def __init__(self, platform, latency=0.0, tracked=False, slots=256):
        n = len(platform.clusters)
