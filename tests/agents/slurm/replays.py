"""The jobs that are replayed through real Slurm, and what it made of them.

``python -m tests.agents.slurm.replays FOLDER 1 2 3`` replays the jobs of these seeds and writes
``FOLDER/SEED.json``.
"""

from __future__ import annotations

import json
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

import numpy as np

from tests.agents.slurm.real_cluster import Ended, RealCluster, Submission

CONF = Path(__file__).with_name("replay.conf")
NODES = ("n1", "n2", "n3", "n4")
PROCESSORS = 32
JOBS = 200
LOAD = 0.95
"""Work that comes over what the processors can do meanwhile."""

SHORT = 30
"""Longest limit of jobs of partition short, minutes."""

PORT = 17600
FACTOR = 60


def jobs_of(seed: int, count: int = JOBS) -> list[Submission]:
    """Return jobs that arrive at random: many small, few large, limits beyond their run times."""
    random = np.random.default_rng(seed)
    sizes = random.choice([1, 2, 4, 6, 8, 12, 16, 24, 32], count, p=[.2, .12, .16, .1, .16, .08, .1, .05, .03])  # fmt: skip
    runtimes = np.clip(random.lognormal(np.log(400), 1.1, count), 30, 5400).round()
    minutes = np.ceil(runtimes * random.choice([1.2, 2, 4, 8], count) / 60 + 1)
    mean = float((sizes * runtimes).mean()) / (PROCESSORS * LOAD)
    arrivals = np.cumsum(random.exponential(mean, count))
    return [
        Submission(at, size, runtime, limit, "short" if limit <= SHORT else "long")
        for at, size, runtime, limit in zip(
            arrivals.tolist(), sizes.tolist(), runtimes.tolist(), minutes.astype(int).tolist(),
            strict=True,
        )
    ]  # fmt: skip


def replayed(seed: int, factor: int = FACTOR, count: int = JOBS) -> list[Ended]:
    """Return what real Slurm made of the jobs of a seed."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        cluster = RealCluster(Path(folder), CONF.read_text(), NODES, PORT + 10 * seed, factor)
        with cluster:
            return cluster.replay(jobs_of(seed, count))


if __name__ == "__main__":
    out = Path(sys.argv[1])
    for each in map(int, sys.argv[2:]):
        (out / f"{each}.json").write_text(json.dumps([asdict(job) for job in replayed(each)]))
