"""Modules of users that misbehave: they print everywhere, raise anything, cannot be pickled."""

from __future__ import annotations

LOUD = """
import atexit, ctypes, os, sys
import numba
from agents.schedulers import GlobalScheduler, LocalScheduler

print("imported")
atexit.register(print, "at exit")


@numba.njit
def told():
    print("compiled")


class Loud(GlobalScheduler):
    def place(self, job):
        print("print")
        os.write(1, b"os.write\\n")
        sys.__stdout__.write("kept\\n")
        ctypes.CDLL(None).printf(b"printf\\n")
        told()
        return self.clusters[0]


class Talker(LocalScheduler):
    def priority(self, job):
        return 0.0
"""
RAISING = """
import errno, sys
import click
from agents.schedulers import GlobalScheduler, LocalScheduler, PlanningScheduler


class Ends(GlobalScheduler):
    def place(self, job):
        raise EOFError("mine")


class Pipes(GlobalScheduler):
    def place(self, job):
        raise BrokenPipeError(errno.EPIPE, "mine")


class Divides(GlobalScheduler):
    def place(self, job):
        return 1 / 0


class Leaves(GlobalScheduler):
    def place(self, job):
        sys.exit(0)


class Aborts(GlobalScheduler):
    def place(self, job):
        raise click.Abort


class Quits(GlobalScheduler):
    def place(self, job):
        raise GeneratorExit


class LeavesFirst(GlobalScheduler):
    def __init__(self, model):
        sys.exit(0)


class EndsFirst(LocalScheduler):
    def __init__(self, model, cluster):
        raise EOFError("mine")


class Ranks(LocalScheduler):
    def priority(self, job):
        raise SystemExit


class Plans(PlanningScheduler):
    def plan(self, jobs, release):
        raise EOFError("mine")
"""
UNPICKLABLE = """

class OwnError(Exception):
    def __init__(self, words, number):
        super().__init__(f"{words} {number}")


class Own(GlobalScheduler):
    def place(self, job):
        if self.model.world.state.submitted > 9 and not hasattr(self.model, "tried"):
            raise OwnError("mine", job.number)
        return self.clusters[0]
"""
SCENARIO = """
from experiments.scenario.scenario import Scenario
from grid.platform.multicluster import Platform
scenario = Scenario("mine", Platform.star([16, 12]), {"jobs": 20}, "dll", "fcfs")
"""
