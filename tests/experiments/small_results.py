"""Results of small runs, made by hand and by MUSCLE."""

from __future__ import annotations

import io
import math

from rich.console import Console

from agents.model import GridModel
from agents.muscle import MuscleScheduler
from agents.schedulers import GlobalScheduler, LocalScheduler
from agents.titan import TitanScheduler
from experiments.run.results import Result
from experiments.run.writing import new_result
from experiments.scenario.scenario import Scenario
from experiments.show.run_tables import print_result
from grid.distributions import BoundedPareto, UniformSizes
from grid.jobs import job_table
from grid.platform.multicluster import Platform
from grid.workloads.deadlines import ServiceClass
from grid.workloads.source import Cleaning
from grid.workloads.table import Table

PLATFORM = Platform.star([20, 16, 12, 10], [1.0, 1.2, 1.4, 1.6])
MIX = {
    "sizes": UniformSizes(1, 10),
    "runtimes": BoundedPareto(5, 100),
    "classes": (ServiceClass("all", 1.0, 0, 5),),
    "origins": (0.1,) * 4,
    "seed": 1,
}


class First(GlobalScheduler):
    """Sends every job to the first cluster that can hold it."""

    def place(self, job):
        return next(cluster for cluster in self.clusters if cluster.size >= job.size)


class Never(GlobalScheduler):
    """Starts nothing."""

    def place(self, job):
        return None


class Arrival(LocalScheduler):
    """Serves jobs in order of arrival."""

    def priority(self, job):
        return job.arrival


def table(count=3, sizes=(2, 99, 3), cleaning=None):
    jobs = job_table(count)
    jobs["number"] = [7, 8, 9][:count]
    jobs["arrival"] = [0.0, 0.1, 1 / 3][:count]
    jobs["size"] = sizes[:count]
    jobs["runtime"] = [math.pi, 1.0, 0.1][:count]
    return Table(jobs, cleaning or Cleaning())


def plain(workload=None, place=First, **settings):
    return GridModel(PLATFORM, workload or table(), place, Arrival, **settings)


def muscle(workload):
    return GridModel(PLATFORM, workload, MuscleScheduler, TitanScheduler, seed=1)


def result_of(model, name, wall_s, extras=None):
    """Return the result of a model as that of a scenario with its platform and schedulers."""
    given = type(model.scheduler), type(model.clusters[0].scheduler)
    scenario = Scenario(name, model.world.platform, {}, *given)
    return Result.of(model, scenario, wall_s, extras)


def write(result, folder):
    """Write the files of a result whose jobs were kept."""
    with new_result(folder, result.platform) as new:
        new.add(result.records)
        new.finish(result)


def printed(result):
    console = Console(file=io.StringIO(), width=80)
    print_result(result, console)
    return console.file.getvalue()
