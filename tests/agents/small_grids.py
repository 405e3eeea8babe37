"""Small multiclusters and workloads on which whole models are tried."""

from __future__ import annotations

import numpy as np

from agents.model import GridModel
from agents.pace.predictor import Prediction
from agents.registry import global_scheduler, local_scheduler
from agents.titan.settings import Settings
from grid.distributions import BoundedPareto, UniformSizes
from grid.jobs import ANYWHERE, job_table
from grid.metrics.performance import Criteria
from grid.platform.multicluster import Platform
from grid.settings import declared
from grid.workloads.deadlines import ServiceClass
from grid.workloads.synthetic import BatchWorkload, SyntheticWorkload
from grid.workloads.table import Table

SIZES, RATES = (8, 6, 4), (1.0, 1.3, 0.7)
PLATFORM = Platform.star(SIZES, RATES)
LINKS = (0.1, 0.2, 0.4)
FAR = Platform.star(SIZES, RATES, latency=LINKS)
ONE = Platform.star([4])
PAIR = Platform.star([4, 4])
FAST = Settings(population=8, patience=8)


def most_held(starts, finishes, counts):
    """Return the most processors that are held at one time."""
    events = sorted(
        [(t, 1, n) for t, n in zip(starts, counts, strict=True)]
        + [(t, 0, -n) for t, n in zip(finishes, counts, strict=True)]
    )
    return max(np.cumsum([n for _, _, n in events]), default=0)


def set_to(policy, **values):
    """Return the settings that a policy declares, with those of the values that are of them."""
    policy = global_scheduler(policy) if isinstance(policy, str) else policy
    kind = getattr(policy, "settings_type", None)
    return [kind(**{n: values[n] for n in values if n in declared(kind)})] if kind else []


NAMED = {
    Prediction: {"prediction": "source", "prediction_error": "error"},
    Criteria: {"weights": "weights", "idle": "idle"},
}
OUTCOME = ("number", "start", "finish", "cluster", "execution_time", "restarts")


def mix(count=60, share=0.0, seed=1, largest=6, clusters=3, slowest=0.7):
    return {
        "count": count,
        "sizes": UniformSizes(1, largest),
        "runtimes": BoundedPareto(5.0, 60.0),
        "classes": (ServiceClass("all", 1.0, 0.0, 5.0),),
        "origins": (share / clusters,) * clusters,
        "slowest_rate": slowest,
        "seed": seed,
    }


def workload(mode="open", rate=0.35, **changes):
    if mode == "batch":
        return BatchWorkload(mean_batch=15.0, **mix(**changes))
    return SyntheticWorkload(rate=rate, **mix(**changes))


def table(*rows):
    """Return jobs of rows (arrival, size, run time[, deadline[, origin]])."""
    jobs = job_table(len(rows))
    for job, (arrival, size, runtime, *rest) in zip(jobs, rows, strict=True):
        job["arrival"], job["size"], job["runtime"] = arrival, size, runtime
        job["deadline"], job["origin"] = (*rest, *(np.inf, ANYWHERE)[len(rest) :])
    return Table(jobs)


def model_of(global_="muscle", local="titan", jobs=None, platform=PLATFORM, settings=(), **options):
    """Return a model; schedulers by name or as classes, predictions and criteria by keyword."""
    kinds = [
        kind(**{name: options.pop(key) for key, name in names.items() if key in options})
        for kind, names in NAMED.items()
    ]
    fast = [] if any(isinstance(each, Settings) for each in settings) else [FAST]
    return GridModel(
        platform,
        workload() if jobs is None else jobs,
        global_scheduler(global_) if isinstance(global_, str) else global_,
        local_scheduler(local) if isinstance(local, str) else local,
        settings=(*fast, *kinds, *settings),
        **options,
    )


def done(model):
    """Return the records of the completed jobs by number."""
    records = model.world.log.records()
    return np.sort(records[~np.isnan(records["start"])], order="number")


def ran(*arguments, **options):
    """Return a model that has run to its end."""
    model = model_of(*arguments, **options)
    model.run()
    return model


def heard(model):
    """Return a list that fills with the messages of a model."""
    messages = []
    model.listeners.append(messages.append)
    return messages
