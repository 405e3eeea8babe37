"""How worker processes are started: from code that is loaded once, deaf to Ctrl-C."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing import forkserver, resource_tracker
from typing import Any

from agents.importing import starting_processes
from agents.registry import GLOBAL, LOCAL

LOADED = (
    "experiments.sweeps.sweep",
    "experiments.scenario.scenario",
    *sorted({each.partition(":")[0] for each in (GLOBAL | LOCAL).values()}),
)
"""Modules that all workers need."""

WITHOUT_THREADS = {"OPENBLAS_NUM_THREADS": "1", "JE_ARROW_MALLOC_CONF": "background_thread:false"}
"""Environment in which no library of `LOADED` starts threads when it is loaded."""


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def ways_to_start() -> Any:
    """Return how to start workers: on Linux by forking a server process that has `LOADED`.

    Forks do not mix with threads; the server has none. Elsewhere, and where there is no place for
    its socket, each worker loads all by itself.
    """
    if sys.platform == "linux":
        served = multiprocessing.get_context("forkserver")
        served.set_forkserver_preload([*LOADED])
        before = {**os.environ}
        os.environ.update(WITHOUT_THREADS)
        try:
            with suppress(OSError), starting():
                forkserver.ensure_running()
                return served
        finally:
            for name in WITHOUT_THREADS:
                del os.environ[name]
            os.environ.update(before)
    return multiprocessing.get_context("spawn")


@contextmanager
def starting() -> Iterator[None]:
    """Have processes that are started be deaf to Ctrl-C from their first instruction on.

    It is the parent's: they inherit that it is blocked. They also begin with no module of a user's
    in the place of another.
    """
    mask = getattr(signal, "pthread_sigmask", None)  # Windows has none
    before = mask(signal.SIG_BLOCK, {signal.SIGINT}) if mask else None
    try:
        with starting_processes():
            yield
    finally:
        if mask:
            mask(signal.SIG_SETMASK, before)


@contextmanager
def deaf() -> Iterator[None]:
    """Have Ctrl-C come later to this process, whichever of its threads the system tells of it."""
    before = signal.getsignal(signal.SIGINT)
    if before is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if came:
            signal.raise_signal(signal.SIGINT)


def quiet_tracker() -> None:
    """Start the process that clears up after a killed one, and does not warn that it had to."""
    sys.warnoptions.append("ignore:resource_tracker")
    try:
        with starting_processes():
            resource_tracker.ensure_running()
    finally:
        sys.warnoptions.pop()
