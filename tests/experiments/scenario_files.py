"""A scenario's file, and what its run records."""

from __future__ import annotations

import numpy as np

SITE = """
title = "A site"
[[clusters]]
name = "C1"
size = 8
[[clusters]]
name = "C2"
size = 4
rate = 2.0
"""


def run_of(scenario, seed=0):
    model = scenario.model(seed)
    model.run()
    records = model.world.log.records()
    return model, np.sort(records, order="number")
