"""CP-SAT's search ends at once when it is interrupted."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
INTERRUPTED = """
import os, random, signal, threading
from ortools.sat.python import cp_model
from agents.oas.solvers.search import search

random.seed(1)
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
signal.signal(signal.SIGINT, signal.default_int_handler)
threading.Timer(2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    search(model, 600)
except KeyboardInterrupt:
    print("interrupted")
"""


def test_ctrl_c_ends_a_search_at_once():
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-W", "ignore", "-c", INTERRUPTED]
    got = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60)
    assert got.stdout == "interrupted\n", got.stderr
