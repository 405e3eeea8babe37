"""Python's standard `Executor`, whose tasks are jobs of a service."""

from __future__ import annotations

import os
import sys
import threading
import time as clock
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent import futures
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from itertools import chain, islice
from typing import Any, ParamSpec, TypeVar

from experiments.service.calls.task import each_of
from experiments.service.calls.task_files import clear, failed, forget, hand_over, taken, written
from experiments.service.connection import Connection, Job
from experiments.service.given import Time
from experiments.service.store import WAITING
from grid.errors import GridError
from grid.foreign import quoted

COMMAND = sys.executable, "-P", "-m", "experiments.service.calls.task"
"""Of each task: what it is to call is in its job's folder."""
_LOOK, _LONGEST = 0.02, 0.2
"""Time between two looks at whether anything has changed, from the first to the last, s."""
_SHARE = 0.05
"""Of the time since something has changed, that passes between two looks, within these bounds."""
_WAKE = 5.0
"""Time after which it is told that there is no service any more, s."""
P = ParamSpec("P")
T = TypeVar("T")


class TaskFuture(Future[T]):
    """The future of a task.

    Attributes
    ----------
    job : Job
        Its job, whose output, site and state may be asked for, and which may be cancelled while it
        runs.
    """

    def __init__(self, job: Job, withdraw: Callable[[int], bool]) -> None:
        super().__init__()
        self.job, self._withdraw = job, withdraw

    def cancel(self) -> bool:
        """Have the task not begin; tell whether it does not. One that runs is left to run."""
        if self._withdraw(self.job.number):
            _give_up(self)
        return self.cancelled()


def _give_up(future: TaskFuture[Any]) -> None:
    """Have a future be cancelled, whose task shall not run or whose result nobody wants."""
    if Future.cancel(future):
        future.set_running_or_notify_cancel()
    else:
        future.set_exception(failed(future.job.read(), "cancelled, for nobody takes its result"))


class Executor(futures.Executor):
    """Carries out calls of functions as jobs of a service, at whichever site has them run.

    Each call is written to its job's folder with `cloudpickle`, so that functions of a script or
    notebook itself and lambdas may be called, and run by this Python in the present folder and
    environment. Its result is read, and these files are removed, once the job has ended. That
    may be long after: a service may come later, or end and be started again meanwhile.

    At the end of a ``with`` block, all results are there. If it is left by Ctrl-C or an exit, the
    jobs are cancelled, those that run included, for nobody would take their results.

    Parameters
    ----------
    state : Connection, str or path
        A connection to the service, which is to be open until all results are there, or its folder.
    size : int
        Processors of each job.
    time : float, str or timedelta, optional
        Each will take so long: seconds, or text such as ``"10m"``; batch systems end it then.
    deadline : float, str or timedelta, optional
        It shall have ended so long after it is submitted.
    name : str, optional
        Of each job; by default that of the function.
    site : str, optional
        The only one for the jobs.
    requeue : bool
        A job may run again if it is killed with its node.
    folder : str or path, optional
        Where they run; by default here.
    environment : mapping of str to str, optional
        All of it; by default that of this process.

    Raises
    ------
    GridError
        If no service has ever been there.

    See Also
    --------
    Connection.submit : What these options mean, for which the first call is refused if need be.
    """

    def __init__(
        self,
        state: Connection | str | os.PathLike[str],
        *,
        size: int = 1,
        time: Time | None = None,
        deadline: Time | None = None,
        name: str | None = None,
        site: str | None = None,
        requeue: bool = False,
        folder: str | os.PathLike[str] | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._own = not isinstance(state, Connection)
        self._connection = state if isinstance(state, Connection) else Connection(state)
        self._options: dict[str, Any] = {
            "size": size,
            "time": time,
            "deadline": deadline,
            "site": site,
            "requeue": requeue,
            "folder": folder,
            "environment": environment,
        }
        self._name = name
        self._folder = (self._connection.store.folder / "jobs").resolve()
        self._pending: dict[int, TaskFuture[Any]] = {}
        self._lock = threading.Lock()
        self._watcher: threading.Thread | None = None
        self._closed = False

    def __exit__(self, kind: type[BaseException] | None, *of_error: object) -> None:
        if kind is not None and not issubclass(kind, Exception):
            self._abandon()
            return
        try:
            self.shutdown()
        except BaseException:  # Ctrl-C while it waits
            self._abandon()
            raise

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> TaskFuture[T]:
        """Have a function called by a job, and return the future of its result.

        Raises
        ------
        GridError
            If the call cannot be pickled, or the job is none that the service can run.
        RuntimeError
            After `shutdown`.
        """
        name = self._name or getattr(fn, "__name__", None) or type(fn).__name__
        call = written(self._folder, name, (fn, args, kwargs))
        try:
            with self._lock:
                if self._closed:
                    raise RuntimeError("cannot schedule new futures after shutdown")
                job = self._connection.submit(
                    COMMAND, name=name, prepare=partial(hand_over, call), **self._options
                )
                future: TaskFuture[T] = TaskFuture(job, self._withdraw)
                self._pending[job.number] = future
                if self._watcher is None:
                    self._watcher = threading.Thread(target=self._watch, name="metasched tasks")
                    self._watcher.start()
        finally:
            call.unlink(missing_ok=True)
        return future

    def map(
        self,
        fn: Callable[..., T],
        *iterables: Iterable[Any],
        timeout: float | None = None,
        chunksize: int = 1,
    ) -> Iterator[T]:
        """Return an iterator of what a function returns for each of some arguments, in order.

        Parameters
        ----------
        fn : callable
        *iterables : iterable
            Its arguments, all of which are taken at once.
        timeout : float, optional
            Time from now in which the results have to be there, s; else, a `TimeoutError`.
        chunksize : int
            Calls of one job: many, where a call takes less than a second.
        """
        if chunksize < 1:
            raise GridError(f"chunksize: found {quoted(chunksize)}; accepted: a number from 1")
        if chunksize == 1:
            return super().map(fn, *iterables, timeout=timeout)
        rows = zip(*iterables, strict=False)
        chunks = iter(lambda: list(islice(rows, chunksize)), [])
        each = partial(each_of, fn)
        each.__name__ = getattr(fn, "__name__", type(fn).__name__)  # type: ignore[attr-defined]
        return chain.from_iterable(super().map(each, chunks, timeout=timeout))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no call any more.

        Parameters
        ----------
        wait : bool
            Return when all results are there.
        cancel_futures : bool
            Have those that have not begun not begin.
        """
        with self._lock:
            self._closed = True
            watcher, waiting = self._watcher, []
            if cancel_futures:
                numbers = self._connection.cancel_each(self._pending, begun=False)
                waiting = [self._pending.pop(number) for number in numbers]
            if watcher is None and self._own:
                self._connection.close()
        for future in waiting:
            forget(self._folder / str(future.job.number))
            _give_up(future)
        if wait and watcher not in (None, threading.current_thread()):
            watcher.join()

    def _abandon(self) -> None:
        """Cancel all jobs, for nobody would take their results."""
        with self._lock:
            self._closed = True
            tasks = [*self._pending.values()]
            with suppress(GridError):
                self._connection.cancel_each(self._pending)
            self._pending.clear()
        for future in tasks:
            forget(self._folder / str(future.job.number))
            _give_up(future)
        self.shutdown()

    def _withdraw(self, number: int) -> bool:
        """Have a task not begin, unless it has; tell whether that is done."""
        with self._lock:
            if number not in self._pending:
                return False
            withdrawn = bool(self._connection.cancel_each([number], begun=False))
            if withdrawn:
                forget(self._folder / str(number))
                del self._pending[number]
        return withdrawn

    def _watch(self) -> None:
        """Have all futures know what becomes of their tasks, as long as there are any."""
        store, seen = self._connection.store, None
        changed = woken = clock.monotonic()
        try:
            while True:
                version = store.version()  # before it is known which jobs are looked for
                with self._lock:
                    if not self._pending:
                        self._end_watch()
                        return
                    pending = dict(self._pending) if version != seen else {}
                if pending:
                    seen, changed = version, clock.monotonic()
                    self._look(pending, store.states(min(pending)))
                if clock.monotonic() - woken > _WAKE:
                    woken = clock.monotonic()
                    self._connection.wake()
                clock.sleep(min(_LONGEST, max(_LOOK, _SHARE * (clock.monotonic() - changed))))
        except Exception as error:  # as where the file of all jobs is lost
            with self._lock:
                tasks = [*self._pending.values()]
                self._pending.clear()
                self._end_watch()
            for future in tasks:
                future.set_exception(error)

    def _end_watch(self) -> None:
        self._watcher = None
        if self._closed and self._own:
            self._connection.close()

    def _look(self, pending: Mapping[int, TaskFuture[Any]], states: Mapping[int, str]) -> None:
        """Have futures know the states of their tasks' jobs, and of those that have ended."""
        for number, future in pending.items():
            state = states.get(number)
            if state == WAITING or (state is not None and future.running()):
                continue
            with self._lock:
                if number not in self._pending:
                    continue  # it is cancelled
                if not future.running():
                    future.set_running_or_notify_cancel()
                if state is None:
                    del self._pending[number]
            if state is None:
                self._settle(future)

    def _settle(self, future: TaskFuture[Any]) -> None:
        """Have a future, whose job has ended, be done, and remove what nobody needs of it."""
        try:
            try:
                value = taken(future.job)
            finally:
                clear(future.job)
        except BaseException as error:
            future.set_exception(error)
        else:
            future.set_result(value)
