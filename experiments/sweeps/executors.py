"""Workers behind Python's standard `Executor`: processes of this machine, or those of Dask."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing.synchronize import Event
from typing import Any, NamedTuple

import numpy as np

from agents.importing import Paths
from agents.model import GridModel
from experiments.cli.users_errors import in_words
from experiments.sweeps.forecast import UnderWay
from experiments.sweeps.starting import deaf, quiet_tracker, starting, ways_to_start
from grid.errors import GridError

DEATHS = 3
"""Workers that are killed one after the other, nothing being done in between, are no accident."""
LOOK = 0.002
"""Time between two looks at a run in a worker, s, so short that they may be far longer later."""
GRACE = 5.0
"""Time in which workers have to end once they are told to, s."""
PATIENCE = 8
"""Time in which a Dask scheduler has to answer, s."""
GUARDED = 'what starts workers stands below `if __name__ == "__main__":` in a script'
KEPT = "any runs that finished are kept"


class Workers(NamedTuple):
    """Who does the runs.

    Attributes
    ----------
    executor : Executor
        Takes them.
    number : int
        How many it does at a time.
    under_way : callable
        Tells how far workers have come with what they are at, where that is known.
    """

    executor: Executor
    number: int
    under_way: Callable[[], Iterable[UnderWay]] = tuple


def steps(model: GridModel) -> Iterator[None]:
    """Yield the steps of a model in a worker, to its end or until nobody waits for it any more."""
    model.datacollector.model_reporters.clear()  # nobody looks, and each step would add a row
    while model.running:
        if _stopping is not None and _stopping.is_set():
            raise InterruptedError("the sweep has ended")
        model.step()
        if _desk is not None:
            _desk.tell(model.world.log.count)
        yield


def unseen_steps(model: GridModel) -> Iterator[None]:
    """Yield the same for who does not look at the model between them: they get longer.

    They take `LOOK` at least, as it comes: nothing may depend on where they end.
    """
    began = time.monotonic()
    for _ in steps(model):
        yield
        if time.monotonic() - began < LOOK:
            model.interval *= 2
        began = time.monotonic()


def at_piece(piece: int, done: float, share: float, jobs: int) -> None:
    """Note in a worker which run it begins.

    Parameters
    ----------
    piece : int
        The piece of work that the run is of.
    done, share : float
        Which share of the piece is done, and which the run is.
    jobs : int
        Of the run.
    """
    if _desk is not None:
        _desk.begin(piece, done, share, jobs)


class _Desk:
    """Where a worker of this machine notes, for its parent, how far it has come.

    Parameters
    ----------
    places : array of float
        Of each worker the piece that it is at (-1: none), the share of it that is done, and the
        time that this took, s.
    index : int
        The worker's.
    """

    def __init__(self, places: Any, index: int) -> None:
        self._places, self._at = places, 3 * index
        self._piece, self._done, self._share, self._jobs = -1, 0.0, 0.0, 1
        self._began = 0.0

    def begin(self, piece: int, done: float, share: float, jobs: int) -> None:
        """Note which run begins."""
        if piece != self._piece:
            self._began = time.monotonic()
        self._piece, self._done, self._share, self._jobs = piece, done, share, max(1, jobs)
        self._places[self._at] = -1.0
        self.tell(0)
        self._places[self._at] = piece

    def tell(self, through: int) -> None:
        """Note that so many of the run's jobs are through."""
        part = min(1.0, through / self._jobs)
        self._places[self._at + 1] = self._done + self._share * part
        self._places[self._at + 2] = time.monotonic() - self._began


# Processes of this machine ----------------------------------------------------------------------


def refuse_to_nest() -> None:
    """End this process if it is a worker that imports the script it was started for."""
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        os._exit(1)  # which its parent tells; an exception would be told as the script's


@contextmanager
def local_workers(count: int, begin: Callable[[], object], kept: bool = True) -> Iterator[Workers]:
    """Give worker processes that end in order, also after Ctrl-C or the death of this process.

    Parameters
    ----------
    count : int
    begin : callable
        What each does first, so that its code is loaded; others can import it. What it raises,
        the worker's tasks do.
    kept : bool
        Finished runs are on the disk.

    Raises
    ------
    GridError
        If workers are killed time after time.
    """
    refuse_to_nest()
    processes = None
    try:
        with deaf():  # until there is what waits for a worker that begins
            processes = _Processes(count, begin)
        yield Workers(processes, count, processes.under_way)
    except BrokenProcessPool:
        if processes is None or not processes.begun:
            raise GridError(f"no worker process could begin; accepted: {GUARDED}") from None
        raise GridError(
            f"worker processes were killed, or ended themselves, {DEATHS} times in a row (out of "
            f"memory?){f'; {KEPT}' if kept else ''}"
        ) from None
    finally:
        if processes is not None:
            processes.shutdown()


class _Processes(Executor):
    """A pool of processes that begins anew when one of them is killed, with what was not done."""

    def __init__(self, count: int, begin: Callable[[], object]) -> None:
        self._count, self._begin = count, begin
        quiet_tracker()
        self._processes = ways_to_start()
        self._stopping = self._processes.Event()
        self._lock = threading.Lock()
        self._deaths, self._over, self._begun = 0, False, False
        self._pool = self._new_pool()

    def submit(self, task: Callable[..., Any], /, *given: Any, **named: Any) -> Future[Any]:
        """Have a task done by a worker."""
        future: Future[Any] = Future()
        self._hand(partial(task, *given, **named), future)
        return future

    @property
    def begun(self) -> bool:
        """Whether any worker got as far as code of ours."""
        self._begun |= self._next.value > 0
        return self._begun

    def under_way(self) -> list[UnderWay]:
        """Return how far workers have come with what they are at."""
        places = [*zip(*[iter(self._places)] * 3, strict=True)]
        return [UnderWay(int(piece), done, took) for piece, done, took in places if piece >= 0]

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = True) -> None:
        """End all workers; what they are doing is lost. Who waits for it waits for `GRACE` at most.

        A worker may be in a long step, or not have heard of it where Ctrl-C is pressed twice.
        """
        with self._lock:
            self._over = True
        self._stopping.set()
        pool, ended = self._pool, threading.Event()

        def end() -> None:
            try:
                pool.shutdown(wait, cancel_futures=cancel_futures)
            finally:
                ended.set()

        threading.Thread(target=end, daemon=True).start()
        try:
            ended.wait(GRACE)
        finally:
            while not ended.is_set():
                self._kill()
                ended.wait(GRACE / 10)

    def _kill(self) -> None:
        for pid in filter(None, self._pids):
            with suppress(OSError):  # it has ended
                os.kill(pid, signal.SIGTERM)

    def _hand(self, task: Callable[[], Any], future: Future[Any]) -> None:
        while True:
            pool = self._pool
            try:
                with starting():
                    done = pool.submit(_do, task)
                break
            except BrokenProcessPool as error:
                if not self._replaced(pool):
                    future.set_exception(error)
                    return
        done.add_done_callback(partial(self._take, task, future, pool))

    def _take(
        self,
        task: Callable[[], Any],
        future: Future[Any],
        pool: ProcessPoolExecutor,
        done: Future[Any],
    ) -> None:
        """Pass on what came of a task, or hand it out again if its pool is no more."""
        error = None if done.cancelled() else done.exception()
        if isinstance(error, BrokenProcessPool) and self._replaced(pool):
            self._hand(task, future)
            return
        if done.cancelled():
            future.cancel()
        if not future.set_running_or_notify_cancel():
            return
        if error is not None:
            future.set_exception(error)
        else:
            self._deaths = 0
            future.set_result(done.result())

    def _replaced(self, pool: ProcessPoolExecutor) -> bool:
        """Have another pool in the place of a broken one, unless that is of no use."""
        with self._lock:
            if self._over:
                return False
            if pool is self._pool:
                self._deaths += 1
                if not self.begun or self._deaths >= DEATHS:
                    return False
                self._pool = self._new_pool()
            return True

    def _new_pool(self) -> ProcessPoolExecutor:
        """Start the first worker; each of the others is started with a task."""
        self._places = self._processes.RawArray("d", [-1.0, 0.0, 0.0] * self._count)
        self._pids = self._processes.RawArray("q", self._count)
        self._next = self._processes.Value("i", 0)
        shared = self._places, self._pids, self._next
        # unpickled in this order
        given = Paths(), {**os.environ}, self._stopping, self._begin, shared
        pool = ProcessPoolExecutor(self._count, self._processes, _begin, given)
        with starting():
            pool.submit(os.getpid)
        return pool


_stopping: Event | None = None
_desk: _Desk | None = None
_unfit: Exception | None = None
"""Why this worker can do nothing."""


def _begin(
    _: object,
    environment: dict[str, str],
    stopping: Event,
    begin: Callable[[], object],
    shared: tuple[Any, Any, Any],
) -> None:
    """Begin a worker: it ends with its parent, and has its code loaded."""
    global _stopping, _desk, _unfit
    os.environ.clear()  # that of what it was forked from may be older
    os.environ.update(environment)
    np.random.seed()  # which a fork does not: for users who draw from numpy's own stream
    _stopping = stopping
    places, pids, next_ = shared
    with next_.get_lock():
        _desk = _Desk(places, next_.value)
        pids[next_.value] = os.getpid()
        next_.value += 1
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        with in_words("first short run of a worker process"):
            begin()
    except Exception as error:  # the pool would print it with all frames, and end
        _unfit = error


def _do(task: Callable[[], Any]) -> Any:
    if _unfit is not None:
        raise _unfit
    return task()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


# Dask -------------------------------------------------------------------------------------------


@contextmanager
def dask_workers(address: str, check: Callable[[], str]) -> Iterator[Workers]:
    """Give the workers of a Dask cluster; Dask itself sees to those that are killed.

    Parameters
    ----------
    address : str
        Of its scheduler.
    check : callable
        Is called on every worker that is there, and returns in words what is wrong with it, or "".

    Raises
    ------
    GridError
        If Dask is not installed, the scheduler does not answer, a worker cannot be used, or they
        are lost under way.
    """
    try:
        from distributed import Client, KilledWorker
        from distributed.comm import get_address_host_port
    except ModuleNotFoundError:
        raise GridError(
            "dask: Dask is not installed; accepted: metasched with the extra `dask`, as in pip "
            "install 'metasched[dask]'"
        ) from None
    for name in ("distributed", "distributed.client"):  # what they have to say, we say
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        get_address_host_port(address)  # else Dask tries for long what is no address at all
        client = Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError, ImportError) as error:
        why = " ".join(str(error).split()) or type(error).__name__
        raise GridError(
            f"dask {address}: cannot be reached ({why[:200]}); accepted: the address of a Dask "
            "scheduler, such as tcp://node1:8786"
        ) from None
    try:
        for worker, wrong in client.run(check, on_error="return").items():
            if wrong:
                told = " ".join(str(wrong).split())
                raise GridError(f"dask {address}: worker {worker}: {told}")
        executor = client.get_executor(pure=False)
        try:
            yield Workers(executor, max(1, sum(client.nthreads().values())))
        except KilledWorker:
            raise GridError(f"Dask workers were killed time after time; {KEPT}") from None
        except CancelledError:
            raise GridError(f"dask {address}: the connection was lost; {KEPT}") from None
        finally:
            executor.shutdown(wait=False)
    finally:
        client.close(timeout=PATIENCE)
