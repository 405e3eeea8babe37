"""A batch system that has jobs before their turn, held."""

from __future__ import annotations

import time
from contextlib import closing

import pytest

from experiments.service.at_sites import batch
from experiments.service.at_sites.batch_system import Listed, Look, RefusedError, SilentError
from experiments.service.at_sites.drivers import Driver, prefix_of
from experiments.service.at_sites.holding import HoldingSite
from experiments.service.at_sites.site import RUN_ONCE, Began, End
from experiments.service.grid_file import load_grid
from experiments.service.serving import serving
from experiments.service.store import Store

from .pretended import Pretended, job, news_of, stopped
from .served import GRID
from .test_service import SOON, until

pytestmark = pytest.mark.usefixtures("hurry")


class Holding(Pretended):
    """One that can hold jobs."""

    def __init__(self):
        super().__init__()
        self.held, self.released = {}, []

    def look(self):
        found = super().look()
        held = {token: Listed(False, "PENDING", True, True) for token in [*self.held]}
        return found._replace(jobs=found.jobs | held)

    def hold(self, token, job, script, output):
        if self.fails is not None:
            error, self.fails = self.fails, None
            raise error
        self.held[token] = (job, script, output)

    def release(self, token):
        self.released.append(token)
        if token in self.held:
            self.submit(token, *self.held.pop(token))

    def cancel(self, token, at_once):
        self.held.pop(token, None)
        super().cancel(token, at_once)


@pytest.fixture
def holding():
    yield from stopped(Holding())


def early_site(system, early=2):
    return closing(HoldingSite("S", 4, system, "t-", lambda: None, early=early))


def test_who_is_held_there_since_before_is_released_and_not_submitted(holding, tmp_path):
    """As by a service that was killed: the next one has the job start at once."""
    found, folder = job(tmp_path)
    holding.hold("t-1", found, [RUN_ONCE, str(folder), *found.command], folder / "output")
    with early_site(holding) as site:
        site.start(found, folder)
        *_, end = news_of(site, Began, End)
        assert end.exit_status == 0
    assert "t-1" in holding.released
    assert holding.taken == ["t-1"]  # as it was released


def soon(site, condition):
    begun = time.monotonic()
    while not condition():
        assert time.monotonic() - begun < SOON
        assert not list(site.news())
        time.sleep(0.01)


@pytest.mark.thorough
def test_a_job_is_there_before_its_turn_and_released_then(holding, tmp_path):
    found, folder = job(tmp_path)
    with early_site(holding) as site:
        (folder / "held").touch()
        site.expect(found, folder)
        soon(site, lambda: holding.held)
        holding.held.clear()  # it is lost
        soon(site, lambda: holding.held)
        assert holding.taken == []
        (folder / "held").unlink()
        site.start(found, folder)
        *_, end = news_of(site, End)
    assert (end.exit_status, holding.taken, holding.released) == (0, ["t-1"], ["t-1"])


@pytest.mark.thorough
def test_what_somebody_else_releases_does_not_run(holding, tmp_path):
    found, folder = job(tmp_path)
    with early_site(holding) as site:
        (folder / "held").touch()
        site.expect(found, folder)
        soon(site, lambda: holding.held)
        holding.release("t-1")
        assert holding.jobs["t-1"].wait(SOON) == 0
        assert not (folder / "claim").is_symlink()
        soon(site, lambda: holding.held)  # again


def test_what_is_forgotten_is_cancelled(holding, tmp_path):
    found, folder = job(tmp_path)
    with early_site(holding) as site:
        site.expect(found, folder)
        soon(site, lambda: holding.held)
        site.forget(1)
        soon(site, lambda: not holding.held)
        site.expect(found, folder)
        soon(site, lambda: holding.held)
    assert not holding.held  # nor when nobody is there who would release it


def test_what_is_taken_up_is_released(holding, tmp_path):
    """The service was killed when it had noted that a job is to start."""
    found, folder = job(tmp_path)
    (folder / "place").write_text("cd /\n")
    holding.hold("t-1", found, [batch.RUN_ONCE, str(folder), "true"], folder / "output")
    with early_site(holding) as site:
        assert site.find(found, folder)
        *_, end = news_of(site, End)
    assert (end.exit_status, holding.taken) == (0, ["t-1"])


def test_what_is_refused_early_is_refused_at_its_turn(holding, tmp_path):
    found, folder = job(tmp_path)
    holding.fails = RefusedError("no such account")
    with early_site(holding) as site:
        site.expect(found, folder)
        soon(site, lambda: holding.fails is None)
        holding.fails = RefusedError("no such account")
        site.start(found, folder)
        (end,) = news_of(site, End)
    assert end.why == "cannot be started: no such account"


def test_first_jobs_of_a_queue_are_early(holding, grid, state, monkeypatch):
    """As many as a site takes; those that are cancelled are not among them."""
    grid.write_text(GRID.partition('[[sites]]\nname = "B"')[0])
    monkeypatch.setattr(
        Driver,
        "open",
        lambda _, name, folder, mark, tell: HoldingSite(
            name, 2, holding, f"{mark}-", tell, early=2
        ),
    )

    def held():
        return sorted(job.job for job, *_ in holding.held.values())

    with serving(load_grid(str(grid)), state, 0, print) as service:
        store = service.store
        first = store.add(["sleep", "60"], 2)
        for _ in range(4):
            store.add(["true"], 1)
        until(service, lambda: held() == [2, 3] and store.job(first).state == "running")
        store.update(2, cancelled=True)
        until(service, lambda: held() == [3, 4])
        store.update(first, cancelled=True)
        until(service, lambda: not store.left())
        assert [job.state for job in store.jobs()] == ["cancelled"] * 2 + ["done"] * 3
    assert {*holding.released} >= {token for token in holding.taken if token[-1] in "34"}


def test_what_is_held_where_the_grid_has_no_site_any_more_is_taken_back(grid, state, monkeypatch):
    """The service before was killed, and had jobs held there."""
    with closing(Store(state, make=True)) as store:
        store.note("mark", "m")
        given = {"slurm_conf": None, "partition": None}
        store.note("holding", {name: (name, given) for name in "ABXY"})
    grid.write_text(GRID)  # its A and B are local by now
    prefix, cancelled = prefix_of("X", "m"), []

    class Pretends:
        def __init__(self, begins, *_):
            self.begins = begins

        def look(self):
            if self.begins != prefix:
                raise SilentError("it is dead")
            held = {f"{prefix}{job}": Listed(False, "PENDING", True, job < 3) for job in (1, 2, 3)}
            return Look(held, 4)

        def cancel(self, token, at_once):
            cancelled.append(token)

    monkeypatch.setattr("experiments.service.at_sites.drivers._slurm", lambda _, of: Pretends(of))
    said = []
    with serving(load_grid(str(grid)), state, 0, said.append) as service:
        assert {*service.store.note("holding")} == {*"ABY"}
    assert cancelled == [f"{prefix}1", f"{prefix}2"]
    stays = "as it was before: it is dead; what it holds of this service stays there for now"
    assert sorted(said) == [
        f"A, {stays}", f"B, {stays}",
        "X, as it was before: 2 jobs that it holds are taken back", f"Y, {stays}",
    ]  # fmt: skip


def test_what_a_service_before_had_held_is_taken_back_in_the_end(holding, tmp_path):
    found, folder = job(tmp_path)
    holding.hold("t-9", found, [batch.RUN_ONCE, str(folder), "true"], folder / "output")
    with early_site(holding) as site:
        soon(site, lambda: site.news)
        list(site.news())
    assert holding.held == {}
