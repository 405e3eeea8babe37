"""What sites let jobs hold, and for how long, is what forecasts go by."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO

import pytest

from experiments.service.at_sites.drivers import Driver
from experiments.service.forecasting.forecast_table import print_forecast
from experiments.service.forecasting.foretelling import forecast
from experiments.service.forecasting.futures import Future, Present
from experiments.show.tables import unfolded
from tests.experiments.service.forecasting.test_forecast import (
    BEGAN,
    NOW,
    ended,
    grid_of,
    job,
    running,
)


@pytest.mark.parametrize("rate", [1.0, 2.0])
def test_who_cannot_begin_never_does_nor_do_those_behind(tmp_path, rate):
    """As given to a site just before its nodes were drained."""
    grid = grid_of(tmp_path, 8, 2, more=f"rate = {rate}\n")
    jobs = [job(1, "starting", site="A", size=6), running(2, NOW - 10.0), job(3, size=4, only="A")]
    jobs += [job(4, size=2, only="B")]
    found = forecast(grid, jobs, {"A": 4}, BEGAN, NOW, futures=3)
    never = {row["job"]: row["never"] for row in found.rows()}
    assert never == {1: 1.0, 2: 0.0, 3: 1.0, 4: 0.0}
    for up, drained, never in ((8, ["A"], 0.0), (0, [], 1.0), (0, ["A"], 1.0)):
        alone = forecast(grid, jobs[:1], {"A": up}, BEGAN, NOW, futures=2, drained=drained)
        assert alone.rows()[0]["never"] == never  # what is drained goes on with what it was given
        over = [each["over"] for each in alone.of_sites()]
        assert [each is None for each in over] == [never == 1.0, True]
    assert {row["job"]: row["start"] for row in found.rows()}[3] is None
    (of_a, of_b) = found.of_sites()
    assert of_a["over"]["95"] == pytest.approx(NOW - 10.0 + 100.0 / rate)
    assert of_b["over"]["95"] == pytest.approx(NOW + 100.0 / rate)


def test_what_others_hold_is_waited_for_by_who_was_given_to_a_site(tmp_path):
    """In the order in which they were given, before those that wait there."""
    grid = grid_of(tmp_path, 8, 2, more="rate = 2.0\n")
    given = {"state": "starting", "site": "A"}
    jobs = [running(1, NOW - 10.0, size=4, time=100.0)]
    jobs += [job(n, started=NOW - 5.0 + n, size=4, time=60.0, **given) for n in (3, 2)]
    jobs += [job(4, size=4, only="A"), job(5, size=2, only="B")]
    found = forecast(grid, jobs, {"A": 4}, BEGAN, NOW, futures=3)
    assert [(each.job, each.state) for each in found.jobs[:3]] == [
        (1, "running"),
        (2, "starting"),
        (3, "starting"),
    ]
    starts = {each.job: found.starts[row, 0] - NOW for row, each in enumerate(found.jobs)}
    assert starts == {1: -10.0, 2: 40.0, 3: 70.0, 4: 100.0, 5: 0.0}
    roomy = forecast(grid, jobs, {}, BEGAN, NOW, futures=3)
    starts = {each.job: roomy.starts[row, 0] - NOW for row, each in enumerate(roomy.jobs)}
    assert (starts[2], starts[3]) == (-3.0, 27.0)
    row = found.rows([2])[0]
    out = StringIO()
    print_forecast(found, [row], ["B[a-c]"], [], unfolded(out))
    assert "given to sites where others hold what they need now: job 2" in out.getvalue()
    assert "drained, so that no job starts there: B[a-c]\n" in out.getvalue()


def test_limits_are_by_the_rate_of_when_a_job_was_submitted(tmp_path):
    slurm = object.__new__(Driver)
    slurm.name = "slurm"
    grid = replace(grid_of(tmp_path, 4, more="rate = 1.0\n"), drivers=(slurm,))
    past = [ended(number, 1000.0, time=10.0) for number in range(1, 10)]
    jobs = [*past, running(20, NOW - 75.0, time=60.0, rate=0.5), running(21, NOW - 75.0, time=60.0)]
    found = forecast(grid, jobs, {}, BEGAN, NOW, futures=3)
    ends = {each.job: found.ends[row, 0] - NOW for row, each in enumerate(found.jobs)}
    assert ends == pytest.approx({20: 45.0, 21: 0.0}, abs=1e-3)


def test_batch_systems_end_jobs_at_their_limits(tmp_path):
    """Which are whole minutes, longer at slow sites; where one has none, jobs may run there."""
    slurm, local = object.__new__(Driver), object.__new__(Driver)
    slurm.name, local.name = "slurm", "local"
    grid = grid_of(tmp_path, 1, 1, more="rate = 0.5\n")
    past = [ended(number, 1000.0, time=10.0) for number in range(1, 10)]
    jobs = [*past, running(20, NOW - 30.0, site="B", time=100.0, rate=0.5)]
    jobs += [job(21, time=20.0, only="A"), job(22, time=20.0), job(23, time=20.0, only="B")]
    for drivers, alike in (((slurm, slurm), True), ((slurm, local), False)):
        found = forecast(replace(grid, drivers=drivers), jobs, {}, BEGAN, NOW, futures=3)
        ends = {each.job: found.ends[row, 0] for row, each in enumerate(found.jobs)}
        starts = {each.job: found.starts[row, 0] for row, each in enumerate(found.jobs)}
        assert ends[21] - starts[21] == pytest.approx(60.0)
        assert (ends[20] == pytest.approx(NOW - 30.0 + 240.0)) == alike
        assert ends[22] - starts[22] == pytest.approx(60.0)  # at A, too
        assert (ends[23] - starts[23] == pytest.approx(60.0)) == alike


@pytest.mark.thorough
@pytest.mark.parametrize(("policy", "local", "alike"), [("dll", "easy", 6), ("muscle", "titan", 0)])
def test_limits_of_some_sites_are_those_of_each_future(tmp_path, policy, local, alike):
    """As if each began anew; what is expected of jobs goes by what was requested, as it is told."""
    slurm, free = object.__new__(Driver), object.__new__(Driver)
    slurm.name, free.name = "slurm", "local"
    grid = grid_of(tmp_path, 2, 2, 2, policy=policy, local=local)
    grid = replace(grid, drivers=(slurm, free, slurm))
    jobs = [ended(number, 12.0 * number, time=20.0) for number in range(1, 10)]
    jobs += [running(20 + at, NOW - 10.0, site="ABC"[at], size=2, time=30.0) for at in range(3)]
    for number in range(30, 50):
        only = {"only": "ABC"[number % 3]} if number % 4 == 0 else {}
        time = 10.0 * (1 + number % 3) if number % 5 else None
        jobs.append(job(number, size=1 + number % 2, time=time, **only))
    with pytest.MonkeyPatch.context() as patch:
        again, went = Future.again, []
        patch.setattr(Future, "again", lambda *given: went.append(1) or again(*given))
        found = forecast(grid, jobs, {}, BEGAN, NOW, futures=6, seed=4)
        assert len(went) == alike
        patch.setattr(Present, "_common", lambda *given: None)
        anew = forecast(grid, jobs, {}, BEGAN, NOW, futures=6, seed=4)
    for name in ("starts", "ends", "sites"):
        assert getattr(found, name).tobytes() == getattr(anew, name).tobytes()
    for row, each in enumerate(found.jobs):
        ran, here = found.ends[row] - found.starts[row], found.sites[row] != 1
        if each.time is not None:
            assert (ran[here] <= 60.0 + 1e-6).all()
        if each.only:
            assert (found.sites[row] == "ABC".index(each.only)).all()
    assert (found.ends - found.starts)[found.sites == 1].max() > 61.0
