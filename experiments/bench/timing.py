"""How long a model takes, on the clock of the process."""

from __future__ import annotations

import time

from agents.model import GridModel


def cpu_seconds(model: GridModel) -> float:
    """Run a model to its end without keeping its jobs; return the CPU seconds that took."""
    model.world.stream_records(None)
    begin = time.process_time()
    model.run()
    seconds = time.process_time() - begin
    return seconds
