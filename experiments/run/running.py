"""Running a model to its end, watched or not, and stopping it in order."""

from __future__ import annotations

import math
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from types import FrameType
from typing import TYPE_CHECKING

from agents.model import GridModel
from experiments.cli.process import give_stdout_up
from experiments.cli.users_errors import warn
from experiments.events.log import event_log, resumed_log
from experiments.run.checkpoints import Saving, SeedSchedules, UnderWay
from experiments.run.failure_warnings import hardly_ending
from experiments.run.files import check_files, check_folder
from experiments.run.observed import Observed, drawn_classes
from experiments.run.own_metrics import tell_failures
from experiments.run.progress import Far
from experiments.run.results import Result
from experiments.run.writing import new_result, resumed_result
from experiments.scenario.scenario import Scenario
from experiments.sweeps.compiling import noting_what_is_compiled
from experiments.sweeps.forecast import Forecast
from grid.errors import GridError
from grid.foreign import quoted

if TYPE_CHECKING:
    from experiments.sweeps.progress import SweepProgress

LONG_ENOUGH_TO_SEE = 1.0
"""Wall seconds after which a run in a terminal is shown live unless told otherwise."""


PATIENCE = 1.0
"""Wall seconds after Ctrl-C in which another counts as the same one, pressed twice, and a step
under way may end before it is told what another one does then."""

WAITING = (
    "metasched: waiting for the step under way to end, after which the results so far are kept; "
    "Ctrl-C once more ends the run without any"
)


@dataclass(frozen=True)
class Display:
    """How a run is watched: as the parameters of `run` of these names say.

    And whether it is `endless`, for some job can hardly be expected to end.
    """

    live: bool | None = False
    pace: float | None = None
    follow: int | None = None
    watch: SweepProgress | None = None
    endless: bool = False

    def checked(self, model: GridModel) -> Display:
        """Return this with the dashboard shown where something else is asked of it.

        Raises
        ------
        GridError
            If there is no such job, the pace is none, or no dashboard is shown.
        """
        if not isinstance(self.live, bool | None):
            raise GridError(f"live: found {quoted(self.live)}; accepted: True, False or None")
        if self.follow is not None:
            from experiments.live.following import check_number

            check_number(model, self.follow)
        if self.pace is not None:
            from experiments.live.pacing import check_pace

            check_pace(self.pace)
        for name in ("pace", "follow"):
            if self.live is False and getattr(self, name) is not None:
                raise GridError(f"{name}: found with live = False; accepted: with live = True")
        asked = (self.pace, self.follow) != (None, None)
        return replace(self, live=True) if self.live is None and asked else self


UNSEEN = Display()


@contextmanager
def _stop_in_order(model: GridModel) -> Iterator[Callable[[], bool]]:
    """Have the first Ctrl-C end the step under way; one after a while is for real."""
    wanted = 0.0
    late = threading.Timer(PATIENCE, lambda: print(WAITING, file=sys.stderr))
    late.daemon = True

    def note(number: int, frame: FrameType | None) -> None:
        nonlocal wanted
        if wanted:
            again(number, frame)
            return
        wanted = time.monotonic()
        late.start()
        model.stop()

    def again(number: int, frame: FrameType | None) -> None:
        if time.monotonic() > wanted + PATIENCE:
            raise KeyboardInterrupt

    background = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    if background or threading.current_thread() is not threading.main_thread():
        yield lambda: False  # only the main thread gets signals
        return
    before = signal.signal(signal.SIGINT, note)
    try:
        yield lambda: wanted > 0.0
    finally:
        late.cancel()
        twice = wanted and before is signal.default_int_handler  # which results are not lost by
        signal.signal(signal.SIGINT, again if twice else before)


def run(
    scenario: Scenario | str | os.PathLike[str],
    seed: int = 0,
    live: bool | None = False,
    pace: float | None = None,
    follow: int | None = None,
    events: str | os.PathLike[str] | None = None,
    out: str | os.PathLike[str] | None = None,
    keep_jobs: bool = True,
    saving: Saving | None = None,
    watch: SweepProgress | None = None,
) -> Result:
    """Run a scenario and return its result.

    Parameters
    ----------
    scenario : Scenario, str or path
        Or the name of one that comes with the product, or its file, as `Scenario.load` takes it.
    seed : int
        Of every random stream.
    live : bool or None
        Show the dashboard; None: when stdout is a terminal, we are in its foreground, and the run
        is long enough to see.
        True in a terminal: make the run last long enough to watch.
    pace : float, optional
        Simulated seconds a second of wall time, of the dashboard.
    follow : int, optional
        Number of the job that the dashboard follows; by default one after the other.
    events : path, optional
        Write every message and job event there, as JSON lines (`experiments.events.log`).
    out : path, optional
        Write the files of the result into this folder (`experiments.run.writing`), jobs as they
        leave.
    keep_jobs : bool
        Keep all jobs, which `Result.jobs` needs; else memory does not grow with their number,
        unless the scenario has metrics of its user's own.
    saving : Saving, optional
        Write checkpoints: at once, now and then, and when Ctrl-C ends the run.
    watch : SweepProgress, optional
        Tells how far the run is where no dashboard does; by default nobody does.

    Raises
    ------
    GridError
        If there is no such scenario, something is asked of a dashboard that is not shown, or the
        events, the result or the first checkpoint cannot be
        written, or would be written over a log that is read.
    """
    if isinstance(scenario, str | os.PathLike):
        scenario = Scenario.load(scenario)
    elif not isinstance(scenario, Scenario):
        raise GridError(
            f"run: found {quoted(scenario)}; accepted: a Scenario, the name of one, or its file"
        )
    for name, path in (("out", out), ("events", events)):
        given = path if isinstance(path, str | os.PathLike) else ""
        if path is not None and (not os.fspath(given) or "\0" in os.fspath(given)):
            raise GridError(f"{name}: found {quoted(path)}; accepted: a path")
    if out is not None:
        check_folder(out)
    check_files(
        [(None if events is None else os.fspath(events), "events")],
        None if out is None else os.fspath(out),
        scenario.logs,
    )
    if not isinstance(saving, Saving | None):
        raise GridError(f"saving: found {quoted(saving)}; accepted: a Saving, or None")
    model = scenario.model(seed)
    asked, scenario = scenario, scenario.as_run(model)
    display = Display(live, pace, follow, watch).checked(model)
    if failures := scenario.failures:
        line = hardly_ending(scenario, model.workload, failures.mean_up_time)
        if line is not None:
            warn(line)
            display = replace(display, endless=True)
    seeds = None
    if "seed_schedules" in scenario.outputs:
        seeds = SeedSchedules(model)
        model.listeners.append(seeds.note)
    model.datacollector.model_reporters.clear()  # nobody looks, and each step would add a row
    model.world.compile()  # compiled while Ctrl-C still ends everything at once
    keep = saving is not None
    with (
        nullcontext()
        if out is None
        else new_result(out, scenario.platform, model.workload, keep) as new
    ):
        observed = Observed(
            model,
            None if new is None else new.add,
            drawn_classes(scenario, model),
        )
        under_way = UnderWay(
            scenario=asked,
            seed=seed,
            model=model,
            observed=observed,
            new=new,
            seeds=seeds,
            saving=saving,
        )
        if keep_jobs or scenario.own_metrics:
            model.world.log.consumers.append(under_way.add)
        else:
            model.world.log.stream(under_way.add)
        observed.add(model.world.log.latest(0))  # and this too
        facts = {"scenario": scenario.name, "seed": seed}
        with event_log(model, events, keep, **facts) as under_way.log:
            if saving is not None:
                _begin_saving(under_way)
            _go_on(under_way, display)
        return _result_of(under_way)


def resume(under_way: UnderWay, display: Display = UNSEEN) -> Result:
    """Go on with a run that was read from a checkpoint, and return its result.

    It ends as it would have without an interruption; its files are written on where they are.

    Parameters
    ----------
    under_way : UnderWay
        Read by `experiments.run.checkpoints.read`.
    display : Display
        By default it is not watched.

    Raises
    ------
    GridError
        If a file of the run is no longer there, or not as it was.
    """
    model, new, log = under_way.model, under_way.new, under_way.log
    display = display.checked(model)
    model.stride = math.inf  # it may have been held back before
    model.world.compile()
    with nullcontext() if new is None else resumed_result(new):
        with nullcontext() if log is None else resumed_log(log):
            if under_way.saving is not None:
                under_way.due = time.monotonic() + under_way.saving.every
            _go_on(under_way, display)
        return _result_of(under_way)


def _go_on(under_way: UnderWay, display: Display) -> None:
    """Step until the run is over or interrupted, and write checkpoints when they are due."""
    model, before, interrupted = under_way.model, under_way.wall, False
    began = time.perf_counter()
    with (
        _stop_in_order(model) as stopping,
        _watched(model, under_way.scenario.name, display, stopping, before) as shown,
    ):
        update, unseen = shown
        while model.running and not interrupted:
            model.step()
            update()
            interrupted = stopping()
            under_way.wall = before + time.perf_counter() - began
            due = interrupted or time.monotonic() >= under_way.due
            if under_way.saving is not None and model.running and due:
                with unseen():
                    _save(under_way)


def _begin_saving(under_way: UnderWay) -> None:
    """Write the first checkpoint; if that cannot be done, leave nothing else of the run either."""
    try:
        under_way.save()
    except BaseException:
        if under_way.new is not None:
            under_way.new.close(keep=False)
        if under_way.log is not None:
            under_way.log.forget()
        raise


def _save(under_way: UnderWay) -> None:
    """Write a checkpoint; a run goes on if that cannot be done, and the one before is kept."""
    assert under_way.saving is not None
    try:
        under_way.save()
    except GridError as error:
        warn(str(error))
        under_way.due = time.monotonic() + under_way.saving.every


def _result_of(under_way: UnderWay) -> Result:
    """Return the result of a run that is over or interrupted, its files written."""
    model, observed, seeds, new = (
        under_way.model, under_way.observed, under_way.seeds, under_way.new
    )  # fmt: skip
    model.world.log.flush()
    observed.finish()
    extras = {} if seeds is None else {"seed_schedules": seeds.seeds}
    result = Result.of(model, under_way.scenario, under_way.wall, extras, observed)
    if new is not None:
        new.finish(result)
    tell_failures(result.failed_metrics)
    return result


@contextmanager
def _watched(
    model: GridModel,
    title: str,
    display: Display,
    stopping: Callable[[], bool],
    before: float,
) -> Iterator[tuple[Callable[[], None], Callable[[], AbstractContextManager[None]]]]:
    """Give what is to be called after each step, to keep the dashboard up to date.

    And what to be entered while nobody is to see the model, for it is pickled.
    """
    live, pace, watch = display.live, display.pace, display.watch
    if live is False or (live is None and not sys.stdout.isatty()):
        if watch is not None:
            watch.begin(0, Forecast([[((), 1.0)]], known=False), Far(model, display.endless).told)
        with nullcontext() if watch is None else noting_what_is_compiled(watch.note):
            yield (lambda: None), nullcontext
        return
    from experiments.live.controls import Controls
    from experiments.live.dashboard import Dashboard
    from experiments.live.keyboard import Keyboard, in_foreground

    if watch is not None:
        watch.end()
    dashboard = Dashboard(
        model,
        title,
        follow=display.follow,
        before=before,
        shows=lambda: live is True or in_foreground(1),
    )
    to_watch = live is True and dashboard.can_redraw and sys.stdout.isatty()
    controls = Controls(dashboard, pace if to_watch or pace is not None else math.inf)
    show_from = time.perf_counter() + (LONG_ENOUGH_TO_SEE if live is None else 0.0)
    shown = False

    def update() -> None:
        nonlocal shown
        with _drawing():
            if not shown and time.perf_counter() >= show_from and dashboard.shows():
                shown = True
                dashboard.__enter__()
                if dashboard.can_redraw:
                    controls.listen(keys.enter_context(Keyboard()))
            if shown:
                dashboard.update()
            controls.hold(stopping)

    try:
        with ExitStack() as keys:
            yield update, dashboard.unseen
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
