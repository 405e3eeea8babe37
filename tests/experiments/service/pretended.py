"""A batch system that is none, and what a site that is made of it tells."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from contextlib import closing

from experiments.service.at_sites.batch_system import Listed, Look, SilentError
from experiments.service.store import Store

from .test_service import SOON


class Pretended:
    """A batch system that runs what it is told at once, and does what tests have it do."""

    def __init__(self, size=4):
        self.size, self.taken, self.jobs, self.cancelled = size, [], {}, []
        self.silent = self.loses = 0
        self.fails = None
        self.processes = []
        self.listed = {}

    def take_up(self, token, folder):
        pass

    def look(self):
        if self.silent:
            self.silent -= 1
            raise SilentError("it is dead")
        told = {token: Listed(job.poll() is not None, "RUN") for token, job in [*self.jobs.items()]}
        return Look(told | self.listed, self.size)

    def submit(self, token, job, script, output):
        self.taken.append(token)
        if self.fails is not None:
            error, self.fails = self.fails, None
            raise error
        if self.loses:
            self.loses -= 1
            return
        self.jobs[token] = subprocess.Popen(["/bin/sh", *script], start_new_session=True)
        self.processes.append(self.jobs[token])

    def cancel(self, token, at_once):
        self.cancelled.append((token, at_once))
        if token in self.jobs:
            os.killpg(self.jobs[token].pid, signal.SIGTERM)
        self.listed.pop(token, None)


def stopped(system):
    yield system
    for process in system.processes:
        if process.poll() is None:  # else another may have its number by now
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(SOON)


def job(tmp_path, text="true", **given):
    """Return a job, and its folder."""
    with closing(Store(tmp_path / "state", make=True)) as store:
        number = store.add(["sh", "-c", text], 1, folder=str(tmp_path), **given)
        found = store.job(number)
        folder = store.folder_of(found)
    folder.mkdir(parents=True)
    return found, folder


def news_of(site, *kinds):
    """Return what a site tells until there was one of each kind."""
    found, begun = [], time.monotonic()
    while not {*kinds} <= {type(each) for each in found}:
        assert time.monotonic() - begun < SOON
        found += site.news()
        time.sleep(0.01)
    return found
