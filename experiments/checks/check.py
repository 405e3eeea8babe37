"""Checks of a scheduler or predictor by itself: it is run through small grids, again and again."""

from __future__ import annotations

import io
import pickle
import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from agents.a4.broker import A4Broker
from agents.disciplines import RecordedScheduler
from agents.model import GridModel
from agents.pace.predictor import Predictor
from agents.protocols import NamedAgent
from agents.registry import anyone
from agents.schedulers import GlobalScheduler, LocalScheduler, PlanningScheduler, Scheduler
from agents.view import Job, KnownCluster
from experiments.checks import hash_seed
from experiments.checks.seeding import seedings
from experiments.checks.trials import GRIDS, OTHER_SEED, WIDE, Grid, NoAnswerError, Trial, run_in
from experiments.checks.verdicts import Verdict
from experiments.cli.users_errors import in_a_line
from experiments.show.numbers import counted, listed
from experiments.sweeps.forecast import Forecast, Piece
from grid.errors import GridError
from grid.platform.multicluster import Platform
from grid.world.world import World

if TYPE_CHECKING:
    from experiments.sweeps.sweep import Watch

STEPS = (0.37, 1e6)
"""Lengths of a step that must not matter, s."""


@contextmanager
def _global_randomness() -> Iterator[None]:
    """Put the random numbers that everybody shares back as they were."""
    plain, numpy_s = random.getstate(), np.random.get_state()
    try:
        yield
    finally:
        random.setstate(plain)
        np.random.set_state(numpy_s)


def _silent(words: str) -> None:
    """Tell nobody."""


def check(
    name: str, tell: Callable[[str], None] = _silent, watch: Watch | None = None
) -> list[Verdict]:
    """Check a scheduler, or a predictor.

    Parameters
    ----------
    name : str
        Built-in, or ``module:Class``; a global or local scheduler, or a predictor.
    tell : callable
        Takes in words what is being tried, before it is.
    watch : Watch, optional
        Is told of how many trials there are, and of each that has ended.

    Raises
    ------
    GridError
        If there is none of that name, or it needs a log.
    """
    found = anyone(name)
    if issubclass(found, RecordedScheduler):
        raise GridError(
            f"{name}: goes by what logs tell, and the grids of this check have none; accepted: "
            "schedulers that order jobs themselves"
        )
    grids = [*GRIDS, WIDE] if issubclass(found, GlobalScheduler) and found.spans else [*GRIDS]
    with _global_randomness():
        told = lambda words: tell(f"{name}: {words}")  # noqa: E731
        return _Examination(name, found, grids, told, watch).verdicts()


def _trials(grids: Sequence[Grid]) -> list[Piece]:
    """Return the trials of a scheduler that does well, by grid; their times are not known."""
    each: list[Piece] = [[(grid.name, 1.0)] for grid in grids]
    return [*each * (4 + len(STEPS)), *each[:1] * 2, [("rehashed", 3.0)]]


class _Examination:
    """Runs of one scheduler in some grids, and what they tell.

    Every finding is the name of a grid and what was found in it.
    """

    def __init__(
        self,
        name: str,
        scheduler: type[Scheduler] | type[Predictor],
        grids: list[Grid],
        tell: Callable[[str], None],
        watch: Watch | None,
    ) -> None:
        self._name = name
        self._scheduler = scheduler
        self._tell = tell
        self._watch = watch
        self._ended = count()
        if watch is not None:
            watch.begin(0, Forecast(_trials(grids), known=False))
        self._first: dict[Grid, Trial] = {}
        for grid in grids:
            trial = self._first[grid] = self._tried(grid)
            if isinstance(trial.error, NoAnswerError):
                break  # it would keep people waiting in each of the others

    def _tried(self, grid: Grid, how: str = "", **changes: Any) -> Trial:
        self._tell(f"trying the grid of {grid.name!r} {how}".strip())
        with self._timed():
            return run_in(grid, self._scheduler, **changes)

    @contextmanager
    def _timed(self) -> Iterator[None]:
        """Have people told that a trial has ended."""
        began = time.monotonic()
        yield
        if self._watch is not None:
            self._watch.advance(next(self._ended), [time.monotonic() - began])

    def verdicts(self) -> list[Verdict]:
        """Return the verdicts; each is about the grids in which it means anything."""
        first = self._first
        whole = [grid for grid in first if first[grid].error is None]
        again = self._other(whole)
        same = [grid for grid in whole if grid not in again]
        reseeded = self._other(same, "when others are drawn", shared_seed=2)
        stepped: dict[Grid, str] = {}
        for step in STEPS:
            stepped |= self._other(same, f"with steps of {step:g} s", step=step)
        rest = "; the others differ when run again" if again else ""
        return [
            self._verdict("made", self._errors(unmade=True), [*first]),
            self._verdict("refused", self._errors(refused=True), whole),
            self._verdict("raised", self._errors(refused=False), whole),
            self._verdict("left", self._left(whole), whole),
            self._verdict("again", again.values(), whole, ", all random numbers seeded alike"),
            self._verdict("reseeded", [*reseeded.values(), *self._constant(same[:1])], same, rest),
            self._rehashed(same[:2], rest),
            self._verdict("stepped", stepped.values(), same, rest),
            self._verdict("unsaved", self._unsaved(whole, same), whole),
        ]

    def _verdict(
        self, check: str, findings: Iterable[str], grids: Sequence[Grid], also: str = ""
    ) -> Verdict:
        """Return the verdict of a check in some grids; where it holds, `also` is said of them."""
        title, hint = CHECKS[check]
        if told := "\n".join(_once(findings)):
            if NoAnswerError.__name__ in told:
                hint = ENDLESS
            elif check == "refused":
                hint = _answers(self._scheduler)
            elif check == "made" and "__init__" not in told:
                hint = ""  # what is wrong is told already
            return Verdict(title, False, told, hint)
        if not grids:
            ended = any(trial.error is None for trial in self._first.values())
            return Verdict(title, None, DIFFERENT if ended else UNENDED)
        broken = sum(trial.error is not None for trial in self._first.values())
        if check != "made" and broken:  # which might have shown what these do not
            others = "1 other" if broken == 1 else f"{broken} others"
            also += f"; not known of {others}, in which no run came to its end"
        return Verdict(title, True, f"in {counted(len(grids), 'grid')}{also}")

    def _errors(self, unmade: bool = False, refused: bool = False) -> list[str]:
        """Return the errors that ended runs: before they began, of the grid's, or any others."""
        return [
            f"{grid.name}: {in_a_line(trial.error)}"
            for grid, trial in self._first.items()
            if trial.error is not None
            and (trial.model is None) == unmade
            and (unmade or isinstance(trial.error, GridError) == refused)
        ]

    def _left(self, grids: list[Grid]) -> list[str]:
        findings = []
        for grid in grids:
            world = self._first[grid].world
            submitted, left = world.state.submitted, len(world.log.records())
            if left < submitted:
                findings.append(
                    f"{grid.name}: {submitted - left:,} of {submitted:,} jobs never ran"
                )
            elif world.state.rejected == submitted:
                findings.append(f"{grid.name}: all {submitted:,} jobs were rejected")
        return findings

    def _other(self, grids: list[Grid], how: str = "", **changes: Any) -> dict[Grid, str]:
        """Return in which grids another run differs from the first, and in what."""
        findings = {}
        for grid in grids:
            trial = self._tried(grid, how or "again", **changes)
            if trial.error is not None:
                findings[grid] = f"{grid.name}: {in_a_line(trial.error)} {how}".strip()
            elif trial.outcome != self._first[grid].outcome:
                findings[grid] = f"{grid.name}: another result {how}".strip()
        return findings

    def _constant(self, grids: list[Grid]) -> list[str]:
        """Return where generators are made alike whatever the seed of the run."""
        findings = []
        for grid in grids:
            with seedings(self._scheduler) as one:
                self._tried(grid, "with its generators watched")
            with seedings(self._scheduler) as other:
                self._tried(grid, "with another seed", seed=OTHER_SEED)
            alike = {place: one[place, key] for place, key in one if (place, key) in other}
            findings += [f"{grid.name}: {words}, whatever the seed" for words in alike.values()]
        return findings

    def _rehashed(self, grids: list[Grid], rest: str) -> Verdict:
        if not grids:
            return self._verdict("rehashed", [], grids)
        self._tell("trying other hashes of texts, in a process of its own")
        try:
            with self._timed():
                elsewhere = hash_seed.digests(self._name, grids)
        except hash_seed.CrashedError as error:
            found = f"not known: the process in which texts have other hashes {error}"
            return Verdict(CHECKS["rehashed"][0], False, found, CRASHED)
        findings = []
        for grid, there in zip(grids, elsewhere, strict=True):
            if there.digest != hash_seed.digest(self._first[grid]):
                what = there.error or "another result"
                findings.append(f"{grid.name}: {what} in a process of other hashes of texts")
        return self._verdict("rehashed", findings, grids, rest)

    def _unsaved(self, grids: list[Grid], same: list[Grid]) -> list[str]:
        """Return what of it cannot be saved, or where it goes on otherwise from what was."""
        findings = {}
        for grid in () if _saves_itself(self._scheduler) else grids:
            for name, value in self._first[grid].attributes.items():
                if (error := _pickling_error(value)) is not None:
                    findings[name] = f"self.{name}: {error}"
        if findings:
            return [*findings.values()]
        how = "when it is saved and taken up again"
        found: dict[Grid, str] = {}
        for grid in same:
            end = self._first[grid].world.now
            found |= self._other([grid], how, saved_at=[end * share for share in SAVED])
        return [*found.values()]


def _saves_itself(kind: type) -> bool:
    """Tell whether a class has a say in what of it is saved."""
    names = "__getstate__", "__reduce__", "__reduce_ex__"
    return any(getattr(kind, name, None) is not getattr(object, name, None) for name in names)


def _once(findings: Iterable[str]) -> list[str]:
    """Return findings, those that are alike as one with the names of all their grids."""
    where: dict[str, list[str]] = {}
    for finding in findings:
        name, _, words = finding.partition(": ")
        where.setdefault(words, []).append(name)
    return [f"{listed(names)}: {words}" for words, names in where.items()]


def _answers(kind: type[Scheduler] | type[Predictor]) -> str:
    """Return which decisions are possible, of a class of this kind."""
    words = next(words for base, words in ANSWERS.items() if issubclass(kind, base))
    if issubclass(kind, GlobalScheduler):
        words += "; visit: the index of a queue with jobs, or None" if kind.queues else ""
        own = kind.broker_class is not A4Broker
        words += "; a broker: what the methods of A4Broker return" if own else ""
    return words


SAVED = 0.15, 0.35, 0.5, 0.8
"""At which shares of a run it is saved and taken up: what is lost need not show each time."""

CHECKS = {
    "made": (
        "it can be made",
        "an __init__ of its own takes the model (a local scheduler: and its cluster), and hands "
        "them to super().__init__",
    ),
    "refused": (
        "its decisions are possible",
        "",  # as `ANSWERS` have it
    ),
    "raised": (
        "it raises no exception",
        "see the line named; `metasched run` with it shows the calls that led there, and with "
        "--traceback all of them",
    ),
    "left": (
        "every job gets its turn",
        "None lets a job wait until something changes; the last change is the end of the last job "
        "that runs; REJECT is for jobs that can never start",
    ),
    "again": (
        "run again, same result",
        "set up all state in __init__, not in the class or its module; take no time of day, and "
        "no random numbers that the run does not seed",
    ),
    "reseeded": (
        "no randomness but its own",
        "draw from a generator of your own that model.seed seeds; a global scheduler: or from "
        "self.stream, in compiled code known.stream, by grid.streams.uniform or below",
    ),
    "rehashed": (
        "another process, same result",
        "each has other hashes: take no hash() of a text, and sort sets of texts before you go "
        "through them; take nothing else of the process either, and no time of day",
    ),
    "stepped": (
        "no step changes the result",
        "decide by model.now and by messages; a step only says how often people look",
    ),
    "unsaved": (
        "its state can be saved",
        "keep plain values in its attributes; no open file, generator, lock or lambda; of a "
        "__getstate__ of its own, have __setstate__ make again what that leaves out",
    ),
}
"""What is checked, and what to do if that fails."""
ANSWERS: dict[type, str] = {
    GlobalScheduler: "place: a cluster of at least the job's size, or processors that are free",
    PlanningScheduler: "plan: all the jobs given, each once",
    LocalScheduler: "priority: a number",
    Predictor: "predict: seconds",
}
"""What to do if a decision is impossible."""
UNENDED = "none of its runs came to its end"
DIFFERENT = "none of its runs has the same result when run again"
"""Why something is not checked."""
ENDLESS = "it was interrupted at the line named: see that the loops around that end"
"""What to do if it does not answer."""
CRASHED = (
    "once more, for it may have been killed from outside, as for want of memory; else it is the "
    "scheduler's own process-wide state, such as compiled code that writes where it must not"
)
"""What to do about a process that crashed."""


class _Pickler(pickle.Pickler):
    """Saves what is a scheduler's own; of the grid around it only that it is there."""

    def persistent_id(self, thing: Any) -> str | None:
        around = isinstance(thing, (GridModel, World, Platform, NamedAgent, KnownCluster, Job))
        return type(thing).__name__ if around else None


class _Unpickler(pickle.Unpickler):
    """Restores what `_Pickler` saved, with names in place of the grid around it."""

    def persistent_load(self, name: Any) -> Any:
        return name


def _pickling_error(value: object) -> str | None:
    """Return why a value cannot be saved and restored, None if it can."""
    saved = io.BytesIO()
    try:
        _Pickler(saved).dump(value)
        _Unpickler(io.BytesIO(saved.getvalue())).load()
    except Exception as error:  # whatever the value's own methods raise
        return " ".join(f"{type(error).__name__}: {error}".split())
    return None
