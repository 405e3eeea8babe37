"""Forecasts that a service makes for whoever asks, in a process of its own."""

from __future__ import annotations

import os
import signal
import time
from contextlib import closing

import numpy as np
import pytest

from experiments.service.forecasting import answering, asking
from experiments.service.forecasting.asking import FORECASTS
from experiments.service.forecasting.forecast import Question
from experiments.service.forecasting.foretelling import forecast
from experiments.service.grid_file import load_grid
from experiments.service.presence import knock
from experiments.service.serving import serving
from experiments.service.store import Store
from metasched.live import connect

from .served import at_work

ALIKE = "starts", "ends", "sites"


@pytest.fixture
def busy(grid, state):
    """Give a connection to a service some of whose jobs run, and others wait."""
    with at_work(grid, state), connect(state) as live:
        for size in (2, 1, 1, 2):
            live.submit(["sleep", "1000"], size=size, time=60.0)
        while sum(job.started is not None for job in live.queue()) < 2:
            time.sleep(0.01)
        yield live
        for job in live.queue():
            live.cancel(job.job)
        live.wait()


@pytest.fixture
def alone(monkeypatch):
    """Have nobody reckon but a service."""

    def never(*_):
        raise AssertionError

    monkeypatch.setattr("experiments.service.forecasting.foretelling.forecast_of", never)


def test_a_service_answers_as_who_asks_would_themselves(busy, grid, alone, monkeypatch):
    now, told = time.time() + 1.0, []
    monkeypatch.setattr(time, "time", lambda: now)

    class Told:
        def one_by_one(self, done, count, unit):
            told.append((count, unit))
            for each in done:
                told.append(each)
                yield each

    question = Question.of(busy.store, 20, 3, 1)
    here = forecast(load_grid(str(grid)), *question)
    answer = busy.forecast(futures=20, seed=3, progress=Told())
    assert answer.jobs == here.jobs
    assert answer.jobs[0].environment["PATH"]  # which is not sent about
    for name in ALIKE:
        assert getattr(answer, name).tobytes() == getattr(here, name).tobytes()
    assert told == [(19, "more future"), *[None] * 19]
    alone = busy.forecast(futures=1, seed=3)
    assert alone.starts[:, 0].tolist() == here.starts[:, 0].tolist()


def test_jobs_on_trial_are_in_the_answer(busy, alone):
    with busy.trial() as trial:
        number = trial.submit(["true"], size=1, time=30.0).number
        found = trial.forecast()
    assert number in [job.job for job in found.jobs]
    assert np.isfinite(found.starts).all()
    assert number not in [job.job for job in busy.queue()]


def test_whoever_is_not_answered_reckons_for_themselves(grid, state, monkeypatch):
    """For no service is there, or it is gone, does not listen, or cannot do it."""
    monkeypatch.setattr(asking, "PATIENCE", 0.01)
    with serving(load_grid(str(grid)), state, 0, print) as service:
        service.store.add(["sleep", "1000"], 1, 60.0, held=True)
        service.store.add(["sleep", "1000"], 3, 60.0, held=True)
        service.store.update(1, held=0)
        with connect(state) as live:
            assert len(live.forecast(futures=2).jobs) == 1
    with connect(state) as live:
        assert len(live.forecast(futures=2).jobs) == 1
        live.release(2)
        live.cancel(1)

    def fails(*_, **__):
        raise ValueError

    monkeypatch.setattr(asking, "PATIENCE", 60.0)
    monkeypatch.setattr(answering, "forecast", fails)
    with at_work(grid, state), connect(state) as live:
        live.wait()
        live.submit(["true"], hold=True)
        assert len(live.forecast(futures=2).jobs) == 0


def test_the_bell_of_a_service_that_ends_in_that_very_moment(state, monkeypatch):
    with closing(Store(state, make=True)) as store:
        reads, writes = os.pipe()
        os.close(reads)
        monkeypatch.setattr(os, "open", lambda *_: writes)
        assert not store.ring()


@pytest.mark.thorough
def test_who_answers_keeps_nothing_of_the_service(grid, state, monkeypatch, tmp_path):
    """Neither its lock nor its bell; it ends when nobody wants the answer any more."""
    mark = tmp_path / "pid"

    def slow(*_, progress, **__):
        for _ in progress.one_by_one(range(600), 600, "future"):
            (tmp_path / "new").write_text(str(os.getpid()))
            (tmp_path / "new").rename(mark)  # which is never half-written
            time.sleep(0.1)

    monkeypatch.setattr(answering, "forecast", slow)
    with at_work(grid, state):
        service = asking.Connection(knock(state, FORECASTS).detach())
        service.recv()
        with closing(Store(state)) as store:
            service.send(Question.of(store, 2, 0, 1))
        service.recv()
    with closing(Store(state)) as store:
        assert not store.ring()  # nobody hears it
    with at_work(grid, state):
        service.recv()  # of the service before
        answers = int(mark.read_text())
        assert answers != os.getpid()
        os.kill(answers, 0)
        service.close()
        for _ in range(100):
            try:
                os.kill(answers, 0)
            except ProcessLookupError:
                break
            time.sleep(0.1)
        else:
            os.kill(answers, signal.SIGKILL)
            raise AssertionError(answers)
