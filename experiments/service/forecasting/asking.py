"""Asking a service for a forecast: it has loaded and compiled already what that takes."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path

from experiments.service.forecasting.forecast import Forecast, Progress, Question
from experiments.service.presence import knock
from experiments.service.store import Store

FORECASTS = "forecasts"
"""Name of the socket in the folder of a service."""
PATIENCE = 5.0
"""Time in which a service says that it is there, s; else whoever asks reckons for themselves."""


def foretold(
    store: Store, futures: int, seed: int, workers: int | None, progress: Progress | None
) -> Forecast:
    """Return the forecast of a service's jobs: its own, or one made here if it does not answer."""
    question = Question.of(store, futures, seed, workers)
    if (sites := store.note("sites")) and not any(job.goes_on for job in question.jobs):
        return Forecast.of((), futures, tuple(sites), question.now, 0)
    if (answer := _answer(store.folder, question, progress)) is not None:
        return answer
    from experiments.service.forecasting.foretelling import forecast_of

    return forecast_of(store, question, progress)


def _answer(folder: Path, question: Question, progress: Progress | None) -> Forecast | None:
    """Return the forecast of the service of a folder; None if none is there that answers."""
    try:
        with Connection(knock(folder, FORECASTS).detach()) as service:
            if not service.poll(PATIENCE):
                return None
            service.recv()
            jobs = {each.job: each for each in question.jobs}
            bare = [replace(each, environment={}) for each in question.jobs]
            service.send(question._replace(jobs=bare))
            marks: Iterable[object] = (service.recv() for _ in range(question.futures - 1))
            if progress is not None and question.futures > 1:
                marks = progress.one_by_one(marks, question.futures - 1, "more future")
            deque(marks, maxlen=0)
            found: Forecast = service.recv()
    except (OSError, EOFError):  # it ended, or cannot do it: whoever does it here learns why
        return None
    return replace(found, jobs=tuple(jobs[each.job] for each in found.jobs))
