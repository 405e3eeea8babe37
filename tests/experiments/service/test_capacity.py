"""How many processors a site has for jobs, and what waits where it has too few."""

from __future__ import annotations

import itertools
import subprocess
import time
from contextlib import closing

import pytest

from experiments.service.at_sites import batch
from experiments.service.at_sites.batch import BatchSite
from experiments.service.at_sites.batch_system import LaterError, Listed, Look
from experiments.service.at_sites.site import RUN_ONCE, End, Told, claimant, is_back, take_back

from .pretended import job, news_of
from .test_service import SOON

pytestmark = pytest.mark.usefixtures("hurry")


@pytest.mark.parametrize(
    ("here", "told"),
    [(1, [Told("S: 1 of 4 processors for our jobs")]), (4, [])],
)
def test_what_is_for_our_jobs_from_the_first_is_told(system, here, told):
    system.size = here
    with closing(BatchSite("S", 4, system, "t-", lambda: None)) as site:
        assert site.capacity == min(here, 4)
        assert [*site.news()] == told


def test_capacity_is_what_several_looks_agree_on(site, system, tmp_path):
    sizes = itertools.chain([4, 2, 4, 1, 1], itertools.repeat(3))
    system.look = lambda: Look({}, next(sizes))
    seen, begun = [], time.monotonic()
    while site.capacity != 3:
        assert time.monotonic() - begun < SOON
        seen += [each.line for each in site.news()]
        time.sleep(0.001)
    seen += [each.line for each in site.news()]
    of = "of 4 processors for our jobs"
    assert seen == [f"S: 1 {of}", f"S: 3 {of}"]


def test_a_site_that_has_grown_is_told(site, system):
    system.size = 6
    (told,) = news_of(site, Told)
    assert told.line == "S: 6 processors, of which this service uses 4 at most"
    assert site.capacity == 4


@pytest.mark.parametrize("only", [None, "S"])
def test_what_waits_where_processors_are_gone_goes_elsewhere(
    site, system, tmp_path, monkeypatch, only
):
    monkeypatch.setattr(batch, "TOO_LONG", 0.1)
    system.loses, system.size = 1, 0
    system.listed = {"t-1": Listed(False, "PENDING (Nodes are down)", True)}
    found, folder = job(tmp_path, f"touch {tmp_path}/ran", only=only)
    site.start(found, folder)
    if only:  # it has nowhere else to go
        news_of(site, Told)
        time.sleep(3.0 * batch.LOOK)
        assert not [each for each in site.news() if isinstance(each, End)]
        return
    *_, end = news_of(site, End)
    assert end == End(1, None, end.time, begun=False, why="has not begun", back=True)
    assert ("t-1", True) in system.cancelled
    subprocess.run(["/bin/sh", RUN_ONCE, str(folder), *found.command], check=True)  # all the same
    assert not (tmp_path / "ran").exists()


def test_why_a_job_does_not_begin_is_told_as_it_changes(site, system, tmp_path, monkeypatch):
    monkeypatch.setattr(batch, "TOO_LONG", 0.1)
    system.loses = 1
    found, folder = job(tmp_path)
    for state, blocked in (("PENDING (Limit)", True), ("PENDING (Resources)", False)):
        system.listed = {"t-1": Listed(False, state, True, blocked=blocked)}
        if blocked:
            site.start(found, folder)
        (told,) = news_of(site, Told)
        assert told == Told(f"{state} at S", 1, state if blocked else "")
    time.sleep(3.0 * batch.LOOK)
    assert [*site.news()] == []


@pytest.mark.thorough
def test_who_is_taken_up_has_as_long_to_begin(system, tmp_path, monkeypatch):
    found, folder = job(tmp_path)
    with closing(BatchSite("S", 4, system, "t-", lambda: None)) as site:
        site.start(found, folder)  # of which nothing came
    monkeypatch.setattr(batch, "TOO_LONG", 1.0)
    system.listed = {"t-1": Listed(False, "PENDING (Limit)", True)}
    with closing(BatchSite("S", 4, system, "t-", lambda: None)) as site:
        begun = time.monotonic()
        assert site.find(found, folder)
        news_of(site, Told)
        assert time.monotonic() - begun > 1.0


@pytest.mark.thorough
def test_what_a_site_did_not_take_in_it_is_offered_as_soon_as_it_has_more(site, system, tmp_path):
    system.size, system.fails = 0, LaterError("required partition not available")
    site.start(*job(tmp_path))
    begun = time.monotonic()
    while not (system.taken and site.capacity == 0):
        assert not [each for each in site.news() if isinstance(each, End)]
        assert time.monotonic() - begun < SOON
        time.sleep(0.01)
    site._jobs[1].tries = 7  # as after a while: it would wait for a minute now
    system.size, begun = 4, time.monotonic()
    *_, end = news_of(site, End)
    assert end.exit_status == 0
    assert time.monotonic() - begun < 0.5 * batch.LONGEST


def test_what_has_begun_is_not_taken_back(tmp_path):
    _, folder = job(tmp_path)
    (folder / "claim").symlink_to("123")
    take_back(folder)
    assert not is_back(folder)
    assert claimant(folder) == 123
