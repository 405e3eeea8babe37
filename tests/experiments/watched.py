"""Small grids to watch, and a terminal to watch them on."""

from __future__ import annotations

import io

import pyte
from rich.console import Console

from agents.model import GridModel
from agents.muscle import MuscleScheduler
from agents.schedulers import GlobalScheduler
from agents.titan import TitanScheduler
from experiments.live.dashboard import Dashboard
from experiments.live.picture import Picture, Progress
from grid.distributions import BoundedPareto, UniformSizes
from grid.jobs import job_table
from grid.platform.multicluster import Platform
from grid.workloads.deadlines import ServiceClass
from grid.workloads.source import Cleaning
from grid.workloads.synthetic import BatchWorkload

SIZES = [(80, 24), (200, 60)]
UNKNOWN = Progress((), None, None, None)


def grid_of(clusters, *, world=MuscleScheduler, local=TitanScheduler, count=400, names=()):
    names = names or [f"C{index}" for index in range(1, clusters + 1)]
    tables = [{"name": name, "size": (20, 16, 12, 10)[i % 4]} for i, name in enumerate(names)]
    workload = BatchWorkload(
        mean_batch=20.0 * clusters,
        count=count,
        sizes=UniformSizes(1, 10),
        runtimes=BoundedPareto(5, 100),
        classes=(ServiceClass("all", 1.0, 0, 5),),
        origins=(0.4 / clusters,) * clusters,
        seed=1,
    )
    return GridModel(
        Platform.from_dict({"clusters": tables}), workload, world, local, latency=0.5, interval=20.0
    )


class FewJobs:
    """Jobs that a test made by hand."""

    cleaning = Cleaning()
    drawn_deadlines = None

    def __init__(self, *rows):
        self.jobs = job_table(len(rows))
        for job, row in zip(self.jobs, rows, strict=True):
            for name, value in row.items():
                job[name] = value
        self.count = len(rows)

    def chunks(self):
        yield self.jobs.copy()


class Splits(GlobalScheduler):
    """Puts half of each job on each of two clusters."""

    spans = True

    def place(self, job):
        half = job.size // 2
        return {"C1": half, "C2": half} if self.clusters[0].free >= half else None


class Screen:
    """A terminal that remembers what it shows."""

    def __init__(self, width, height):
        self.screen = pyte.Screen(width, height)
        self.screen.set_mode(pyte.modes.LNM)
        self.stream = pyte.Stream(self.screen)
        self.text = io.StringIO()
        self.console = Console(
            file=self, force_terminal=True, width=width, height=height, legacy_windows=False
        )

    def write(self, text):
        self.text.write(text)
        self.stream.feed(text)

    def flush(self):
        pass

    def isatty(self):
        return True


def plain(model, width, height, progress=UNKNOWN, **options):
    picture = Picture(model, "a run", **options)
    return [line.plain for line in picture.lines(progress, width, height)]


def run_on(console, count=40):
    model = grid_of(4, count=count)
    with Dashboard(model, "a run", console) as dashboard:
        while model.running:
            model.step()
            dashboard.update()
    return model
