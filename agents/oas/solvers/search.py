"""CP-SAT's search, within a limit, which Ctrl-C ends at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

WORKERS = 8
"""CP-SAT's own portfolio, of which some prove what others do not; whatever the machine has."""


def search(model: Any, time_limit: float, deterministic: bool = False) -> tuple[Any, Any]:
    """Return a solver that has searched, and its status.

    CP-SAT would take Ctrl-C for the end of this one search, and its caller would go on.

    Parameters
    ----------
    model : CpModel
    time_limit : float
        Seconds, wall-clock ones or those of CP-SAT's deterministic time.
    deterministic : bool
        The limit counts what is computed, by one worker: the same is found every time.
    """
    from ortools.sat.python import cp_model

    solver = cp_model.CpSolver()
    solver.parameters.catch_sigint_signal = False
    if deterministic:
        solver.parameters.num_workers = 1
        solver.parameters.max_deterministic_time = time_limit
    else:
        solver.parameters.num_workers = WORKERS
        solver.parameters.max_time_in_seconds = time_limit
    # Python handles no signal in a thread that computes in C++.
    with ThreadPoolExecutor(1) as pool:
        searching = pool.submit(solver.solve, model)
        try:
            return solver, searching.result()
        except BaseException:
            solver.stop_search()
            raise
