"""How long co-allocation takes to decide: Table 1 of `beosim`, on this machine."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from experiments.papers.beosim.points import A1, ADAPTIVE, B1, B2, B3, B4, Point, scenario
from experiments.papers.claims_report import bare_table
from experiments.papers.engine import Listing
from experiments.sweeps.progress import telling
from experiments.sweeps.sweep import Watch
from grid.kernel.compile import compiled
from grid.kernel.dtypes import SLOT
from grid.kernel.policies.decisions import call_place, place_address
from grid.kernel.policies.policy_view import known_dtype

PAPER: dict[str, float | None] = {
    A1: 69.6,
    B1: 0.98,
    B2: 0.89,
    B3: 1.28,
    B4: 1.10,
    ADAPTIVE: None,
}
"""Mean time of a decision that the paper prints, microseconds; `adaptive` is ours."""

JOBS, INTERVAL, SMALLEST, LARGEST = 1000, 100.0, 10, 50
"""Jobs of each cluster, s from one look to the next, and nodes of the smallest and largest job."""
SECONDS = 0.2
"""CPU time of a measurement, at least."""


def listing(folder: Path, watch: Watch) -> Listing:
    """Measure how long each module takes to decide about a job that fits together only.

    The states of the grid are those of a run of section 6 under the module itself (BSBW 500 Mbit/s,
    LSLT 100 %, chunk 85 %), at which a size of its workload fits nowhere whole, but in the free
    nodes of all clusters. The time includes that it takes to see so. No runs are kept.
    """
    found = {}
    table = bare_table("module", "µs a decision", "paper")
    with telling("measuring how long decisions take"):
        for policy, paper in PAPER.items():
            found[policy] = {"us": _microseconds(policy), "paper": paper}
            printed = "-" if paper is None else f"{paper:g}"
            table.add_row(policy, f"{found[policy]['us']:.3f}", printed)
    return Listing(found, table)


def _microseconds(policy: str) -> float:
    point = Point(6, 4, policy)
    model = scenario(point, JOBS).changed([f"step={INTERVAL!r}"]).model()
    world, scheduler = model.world, model.scheduler
    world.log.stream(None)
    rng = np.random.default_rng(0)
    states, jobs = [], []
    while model.running:
        model.step()
        least = max(int(world.known["free"].max()) + 1, SMALLEST)
        most = min(int(world.known["free"].sum()), LARGEST)
        if least <= most:
            states.append(_state(world))
            size = int(rng.integers(least, most + 1))
            jobs.append(_job(size, int(rng.integers(world.clusters)), point.bsbw))
    address = place_address(scheduler.compiled("place"), world.capacity)
    arguments = address, np.concatenate(states), np.concatenate(jobs), world.tables.memory
    _decide(*arguments, 1)
    rounds, taken = 1, 0.0
    while taken < SECONDS:
        rounds *= 4
        began = time.process_time()
        _decide(*arguments, rounds)
        taken = time.process_time() - began
    return 1e6 * taken / (rounds * len(states))


def _state(world: Any) -> npt.NDArray[np.void]:
    """Return what a scheduler knows now."""
    state = np.zeros(1, known_dtype(world.capacity))
    state["clusters"], state["links"] = world.clusters, world.links
    for name, values in world.known.items():
        state[name][0, : len(values)] = values
    return state


def _job(size: int, origin: int, bsbw: float) -> npt.NDArray[np.void]:
    job = np.zeros(1, SLOT)
    job["size"], job["origin"] = size, origin
    job["ppbw"] = bsbw * 4 * (size - 1) / size**2  # eq. 8
    return job


@compiled(cache=False)
def _decide(address: int, states: Any, jobs: Any, memory: Any, rounds: int) -> int:
    started = 0
    for _ in range(rounds):
        for index in range(len(states)):
            known = states[index]
            started += call_place(address, known, jobs[index], memory)
            for cluster in range(known.clusters):
                known.take[cluster] = 0  # as the kernel does
    return started
