"""A small grid of real processes, and its service."""

from __future__ import annotations

import threading
from contextlib import contextmanager

from experiments.service.grid_file import load_grid
from experiments.service.serving import serving

GRID = """
global = "dll"
local = "fcfs"
[[sites]]
name = "A"
slots = 2
[[sites]]
name = "B"
slots = 1
"""

WATCHED = """
global = "dll"
local = "fcfs"
[[sites]]
name = "a"
driver = "slurm"
slurm_conf = "a.conf"
[[sites]]
name = "b"
driver = "slurm"
slurm_conf = "b.conf"
"""
"""Two clusters of Slurm, which is asked by the names of their files."""

JOBS = [{"command": ["true"]}, {"command": ["sleep", "0.2"], "size": 2}, {"command": ["false"]}]


def served(grid, state, *jobs, **options):
    """Have jobs run to their ends; return them, and what was told."""
    said = []
    with serving(load_grid(str(grid), **options), state, 0, said.append) as service:
        for job in jobs:
            service.store.add(**({"size": 1} | job))
        service.run(once=True)
        return service.store.jobs(), said


@contextmanager
def at_work(grid, state):
    """Have a service be there meanwhile; give what it tells."""
    said, there = [], threading.Event()
    services = []

    def serve():
        with serving(load_grid(str(grid)), state, 0, said.append) as service:
            services.append(service)
            there.set()
            service.run()

    thread = threading.Thread(target=serve)
    thread.start()
    assert there.wait(300)  # it may have to be compiled
    try:
        yield said
    finally:
        services[0].stop()
        thread.join(60)
        assert not thread.is_alive()
