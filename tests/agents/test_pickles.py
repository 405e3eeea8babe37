"""A model that is pickled at any moment goes on from there to the very same end."""

from __future__ import annotations

import io
import pickle
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.learned.choices import choosing
from agents.learned.ranks import ranking
from agents.messages import Message
from agents.model import GridModel
from agents.pace.predictor import EndedJob, Prediction, Predictor, SubmittedJob
from agents.registry import global_scheduler, local_scheduler
from agents.schedulers import Answer, GlobalScheduler
from agents.view import Job
from agents.wiring import reconnect
from experiments.scenario.scenario import Scenario
from grid.distributions import Exponential, UniformSizes
from grid.jobs import job_table
from grid.platform.multicluster import Platform
from grid.workloads.backlog import BacklogWorkload
from grid.workloads.table import Table
from grid.world.pickling import Pickler


class Grudging(GlobalScheduler):
    """A scheduler in plain Python that keeps jobs, tables and what it heard."""

    def __init__(self, model: GridModel) -> None:
        super().__init__(model)
        self._free = model.world.known["free"]
        self._kept: list[Job] = []
        self._heard = 0
        model.listeners.append(self.hear)

    def hear(self, message: Message) -> None:
        """Count messages."""
        self._heard += 1

    def place(self, job: Job) -> Answer:
        """Take the cluster of most free processors; what was kept decides how ties are broken."""
        self._kept = [*self._kept, job][-5:]
        odd = sum(kept.slot for kept in self._kept if kept.size == job.size)
        order = np.roll(np.arange(len(self.clusters)), odd)
        able = [index for index in order if self.clusters[index].size >= job.size]
        return self.clusters[max(able, key=lambda index: self._free[index])]


SYSTEMS = {
    "muscle": ("muscle", {}, ("jobs=80", "latency=2", "loss=0.1", "mean_up_time=20000")),
    "batch": ("muscle", {}, ("jobs=120", "queue=25", "mode=batch")),
    "b3": ("beosim", {"global_scheduler": "b3"}, ("jobs=300", "load=0.8")),
    "ls-do": ("queues", {"global_scheduler": "ls-do"}, ("jobs=400",)),
    "a4": ("quickstart", {"global_scheduler": "a4", "local_scheduler": "sjf"}, ("latency=1",)),
    "python": ("quickstart", {"global_scheduler": Grudging, "local_scheduler": "fcfs"}, ()),
    "learned": ("quickstart", {"global_scheduler": "dll"}, ("prediction=learned",)),
    "weighed": (
        "quickstart",
        {
            "global_scheduler": choosing({"time-load": 1.0, "free": -2.0}),
            "local_scheduler": ranking({"time": 1.0, "arrival": 0.5}, "easy"),
        },
        (),
    ),
    "on each": ("quickstart", {"global_scheduler": "ect"}, ()),
    "heavy": ("quickstart", {"global_scheduler": "gs", "local_scheduler": "fcfs"}, ()),
    "processors": (
        "quickstart",
        {"global_scheduler": "muscle", "local_scheduler": "titan"},
        ("jobs=60", "coding=two-dimensional", "execution=processors", "mean_up_time=3000"),
    ),
    "levels": ("hierarchy", {"global_scheduler": "muscle"}, ("levels=3", "jobs=60", "latency=0.5")),
}


@cache
def table() -> Table:
    """Return jobs of a few users, whose run times can be learned."""
    jobs = job_table(300)
    rng = np.random.default_rng(5)
    jobs["number"] = np.arange(300)
    jobs["arrival"] = np.cumsum(rng.exponential(5.0, 300))
    jobs["size"] = rng.integers(1, 9, 300)
    jobs["user"] = rng.integers(0, 5, 300)
    jobs["runtime"] = rng.exponential(60.0, 300) * (1 + jobs["user"])
    return Table(jobs)


class Growing(Predictor):
    """Other times on each cluster, the longer the more jobs have ended."""

    on_each_cluster = True

    def __init__(self, model: GridModel) -> None:
        super().__init__(model)
        self.count = 0

    def predict(self, job: SubmittedJob) -> list[float]:
        """Return two times, s."""
        return [1.0 + self.count % 7, 5.0]

    def ended(self, job: EndedJob) -> None:
        """Count it."""
        self.count += 1


def begun(name: str) -> GridModel:
    """Return the model of a system at its beginning."""
    scenario, changes, parameters = SYSTEMS[name]
    if name not in ("heavy", "learned", "on each"):
        return Scenario.load(scenario).changed(parameters, **changes).model(3)
    dispatched = BacklogWorkload(
        count=400, sizes=UniformSizes(1, 8), runtimes=Exponential(60), waiting=2
    )
    return GridModel(
        Platform.star([8, 16]),
        dispatched if name == "heavy" else table(),
        global_scheduler(changes["global_scheduler"]),
        local_scheduler("fcfs"),
        latency=0.0 if name == "heavy" else 1.0,
        settings=[Prediction({"heavy": "exact", "on each": Growing}.get(name, name))],
        seed=3,
    )


class Stop:
    """Stops a model after so many instants."""

    def __init__(self, model: GridModel, instants: int) -> None:
        self._model, self._left = model, instants

    def look(self) -> None:
        """Count an instant."""
        self._left -= 1
        if self._left <= 0:
            self._model.stop()

    def planned(self, *facts: object) -> None:
        """See nothing."""

    carried = planned

    def told(self, event: str, slot: int | None = None, **facts: object) -> None:
        """See nothing."""


def copied(model: GridModel) -> GridModel:
    """Return a copy of a model by way of a pickle."""
    file = io.BytesIO()
    Pickler(file).dump(model)
    copy: GridModel = pickle.loads(file.getvalue())
    reconnect(copy, copy.scheduler, copy.clusters)
    return copy


def outcome(model: GridModel) -> tuple[object, ...]:
    """Return all that a model came to."""
    records, box = model.world.log.records(), model.world.tables.box[0]
    of_process = [name for name in box.dtype.names if name.endswith("_at")]
    kept = [box[name].tobytes() for name in box.dtype.names if name not in of_process]
    rounds = [(each.dispatched, each.jobs.tolist(), each.cps.tolist()) for each in model.rounds]
    messages = model.messages, model.messages_lost
    return records.rows.tobytes(), records.takes.tobytes(), repr(rounds), messages, model.now, kept


@cache
def end(name: str) -> tuple[object, ...]:
    """Return what a system that nothing interrupts comes to."""
    model = begun(name)
    model.run()
    return outcome(model)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", SYSTEMS)
@settings(max_examples=5)
@given(stops=st.lists(st.integers(0, 250), min_size=1, max_size=3))
def test_goes_on_from_a_pickle(name: str, stops: list[int]) -> None:
    model = begun(name)
    for instants in stops:
        if instants and model.running:
            model.world.watcher = Stop(model, instants)
            model.step()
            model.world.watcher = None
        model = copied(model)
    model.run()
    assert outcome(model) == end(name)
