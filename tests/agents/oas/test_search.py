"""The search of a solver ends at once when it is interrupted."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
BEGINS = """
import os, random, signal, threading
random.seed(1)
"""
JOB_SHOP = """
from ortools.sat.python import cp_model
from agents.oas.solvers.search import search

model, machines, last = cp_model.CpModel(), [[] for _ in range(15)], None
last = model.new_int_var(0, 10_000, "")
for _ in range(20):  # a job shop that takes hours
    before = 0
    for machine in random.sample(range(15), 15):
        run = model.new_fixed_size_interval_var(
            model.new_int_var(0, 10_000, ""), random.randint(1, 99), ""
        )
        machines[machine].append(run)
        model.add(run.start_expr() >= before)
        before = run.end_expr()
    model.add(last >= before)
for runs in machines:
    model.add_no_overlap(runs)
model.minimize(last)
solve = lambda: search(model, 600)
"""
MILP = """
from agents.oas import Cluster, Instance, Job
from agents.oas.solving import solve as solved

clusters = Cluster(4, 1.0, 1000), Cluster(4, 0.5, 1000)  # half a minute at least
jobs = [Job(random.randint(1, 6), random.randint(20, 99), 10, 0.7) for _ in range(9)]
solve = lambda: solved(Instance(clusters, tuple(jobs)), 20.0, "milp", 600.0)
"""
ENDS = """
signal.signal(signal.SIGINT, signal.default_int_handler)
threading.Timer(2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    solve()
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.thorough
@pytest.mark.parametrize("search", [JOB_SHOP, MILP])
def test_ctrl_c_ends_a_search_at_once(search):
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-W", "ignore", "-c", BEGINS + search + ENDS]
    got = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60)
    assert got.stdout == "interrupted\n", got.stderr
