"""Running a model to its end, watched or not, and stopping it in order."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from types import FrameType
from typing import Any

from agents.messages import Message, SeedSchedule
from agents.model import GridModel
from experiments.attempts import hardly_ending
from experiments.events.log import event_log
from experiments.observed import Observed
from experiments.process import give_stdout_up
from experiments.results import Result
from experiments.scenario import Scenario
from experiments.writing import new_result
from grid.errors import GridError

LONG_ENOUGH_TO_SEE = 1.0
"""Wall seconds after which a run in a terminal is shown live unless told otherwise."""


@contextmanager
def _stop_in_order(model: GridModel) -> Iterator[Callable[[], bool]]:
    """Have the first Ctrl-C end the step under way; the second one is for real."""
    wanted = False

    def note(number: int, frame: FrameType | None) -> None:
        nonlocal wanted
        if wanted:
            raise KeyboardInterrupt
        wanted = True
        model.stop()

    background = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    if background or threading.current_thread() is not threading.main_thread():
        yield lambda: False  # only the main thread gets signals
        return
    before = signal.signal(signal.SIGINT, note)
    try:
        yield lambda: wanted
    finally:
        signal.signal(signal.SIGINT, before)


def run(
    scenario: Scenario,
    seed: int = 0,
    live: bool | None = False,
    pace: float | None = None,
    follow: int | None = None,
    events: str | os.PathLike[str] | None = None,
    out: str | os.PathLike[str] | None = None,
    keep_jobs: bool = True,
) -> Result:
    """Run a scenario and return its result.

    Parameters
    ----------
    scenario : Scenario
    seed : int
        Of every random stream.
    live : bool or None
        Show the dashboard; None: when stdout is a terminal and the run is long enough to see.
        True in a terminal: make the run last long enough to watch.
    pace : float, optional
        Simulated seconds a second of wall time, if the dashboard is shown.
    follow : int, optional
        Number of the job that the dashboard follows; by default one after the other.
    events : path, optional
        Write every message and job event there, as JSON lines (`experiments.events.log`).
    out : path, optional
        Write the files of the result into this folder (`experiments.writing`), jobs as they leave.
    keep_jobs : bool
        Keep all jobs, which `Result.jobs` needs; else memory does not grow with their number.

    Raises
    ------
    GridError
        If the events or the result cannot be written.
    """
    if live is None and (pace is not None or follow is not None):
        live = True
    model = scenario.model(seed)
    if follow is not None:
        from experiments.live.following import check_number

        check_number(model, follow)
    if failures := scenario.failures:
        line = hardly_ending(scenario, model.workload, failures.mean_up_time)
        if line is not None:
            print(f"metasched: {line}", file=sys.stderr)
    extras: dict[str, Any] = {}
    if "seed_schedules" in scenario.outputs:
        extras["seed_schedules"] = _collect_seeds(model)
    model.world.compile()  # compiled while Ctrl-C still ends everything at once
    with nullcontext() if out is None else new_result(out, scenario.platform) as new:
        observed = Observed(model, None if new is None else new.add)
        if keep_jobs:
            model.world.consumers.append(observed.add)
        else:
            model.world.stream_records(observed.add)
        observed.add(model.world.latest(0))  # and this too
        began = time.perf_counter()
        interrupted = False
        facts = {"scenario": scenario.name, "seed": seed}
        with (
            event_log(model, events, **facts),
            _stop_in_order(model) as stopping,
            _watched(model, scenario, live, pace, follow, stopping) as update,
        ):
            while model.running and not interrupted:
                model.step()
                update()
                interrupted = stopping()
        wall = time.perf_counter() - began
        model.world.flush()
        observed.finish()
        result = Result.of(model, scenario, wall, extras, observed)
        if new is not None:
            new.finish(result)
    return result


@contextmanager
def _watched(
    model: GridModel,
    scenario: Scenario,
    live: bool | None,
    pace: float | None,
    follow: int | None,
    stopping: Callable[[], bool],
) -> Iterator[Callable[[], None]]:
    """Give what is to be called after each step, to keep the dashboard up to date."""
    if live is False or (live is None and not sys.stdout.isatty()):
        yield lambda: None
        return
    from experiments.live.dashboard import Dashboard
    from experiments.live.pacing import Pacing

    dashboard = Dashboard(model, scenario.name, follow=follow)
    to_watch = live is True and dashboard.can_redraw and sys.stdout.isatty()
    pacing = Pacing(model, pace) if to_watch or pace is not None else None
    show_from = time.perf_counter() + (LONG_ENOUGH_TO_SEE if live is None else 0.0)
    shown = False

    def update() -> None:
        nonlocal shown
        with _drawing():
            if not shown and time.perf_counter() >= show_from:
                shown = True
                dashboard.__enter__()
            if shown:
                dashboard.update()
            if pacing is not None:
                pacing.hold(dashboard.update, stopping)

    try:
        yield update
    finally:
        if shown:
            with _drawing():
                dashboard.__exit__(None, None, None)


@contextmanager
def _drawing() -> Iterator[None]:
    """Tell a console that takes no more from errors of users' code."""
    try:
        yield
    except SystemExit:  # rich's, when a pipe is closed
        raise GridError("dashboard: nobody reads it any more") from None
    except OSError as error:
        give_stdout_up()
        raise GridError(f"dashboard: standard output: {error.strerror or error}") from None


def _collect_seeds(model: GridModel) -> list[list[dict[str, Any]]]:
    """Return a list for each cluster that fills with the seed schedules it is sent."""
    seeds: list[list[dict[str, Any]]] = [[] for _ in model.clusters]
    index = {cluster.name: cluster.index for cluster in model.clusters}

    def note(message: Message) -> None:
        if isinstance(message, SeedSchedule):
            seeds[index[message.receiver]] += [
                {
                    "job": job,
                    "start": placement.start,
                    "finish": finish,
                    "resources": list(placement.resources),
                }
                for job, placement, finish in zip(
                    message.jobs, message.schedule, message.finishes, strict=True
                )
            ]

    model.listeners.append(note)
    return seeds
