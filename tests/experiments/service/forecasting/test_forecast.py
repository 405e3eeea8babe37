"""Forecasts against closed forms, and against what came of jobs drawn likewise."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from agents.balancers import DynamicLeastLoadScheduler
from experiments.service.forecasting import futures
from experiments.service.forecasting.forecast_table import columned
from experiments.service.forecasting.foretelling import forecast
from experiments.service.forecasting.futures import Future, Present
from experiments.service.forecasting.run_times import ENOUGH, RunTimes
from experiments.service.grid_file import load_grid
from experiments.service.serving import serving
from experiments.service.store import LiveJob
from grid.jobs import LONGEST
from tests.experiments.commands import call

BEGAN, NOW = 1000.0, 5000.0


def job(number, state="waiting", **given):
    plain = LiveJob(
        number, "x", ("true",), "/", {}, 1, 100.0, None, NOW - 1000.0 + number, state,
        None, None, None, None, "", 0, None, 0, 0, 1,
    )  # fmt: skip
    return replace(plain, **given)


def running(number, since, site="A", **given):
    return job(number, "running", site=site, started=since, **given)


def ended(number, ran, site="A", **given):
    given = {"exit_status": 0, "started": NOW - 900.0, "ended": NOW - 900.0 + ran} | given
    return job(number, "done", site=site, **given)


def grid_of(tmp_path, *slots, policy="dll", local="fcfs", more="", head=""):
    sites = "".join(
        f'[[sites]]\nname = "{name}"\nslots = {size}\n{more}'
        for name, size in zip("ABC", slots, strict=False)
    )
    (tmp_path / "grid.toml").write_text(f'global = "{policy}"\nlocal = "{local}"\n{head}{sites}')
    return load_grid(str(tmp_path / "grid.toml"))


@pytest.mark.parametrize("rate", [1.0, 2.0, 0.7])
def test_without_a_history_jobs_take_what_was_requested(tmp_path, rate):
    grid = grid_of(tmp_path, 2, more=f"rate = {rate}\n")
    jobs = [running(1, NOW - 30.0), running(2, NOW - 40.0, time=200.0)]
    jobs += [job(3, size=2), job(4), job(5, held=1), job(6, cancelled=1)]
    jobs += [job(7, "starting", site="A", cancelled=1)]  # it is not to begin
    found = forecast(grid, jobs, {}, BEGAN, NOW, futures=3)
    assert [each.job for each in found.jobs] == [2, 1, 3, 4]
    first = NOW - 40.0 + 200.0 / rate
    ends = [first, NOW - 30.0 + 100.0 / rate, first + 100.0 / rate, first + 200.0 / rate]
    assert np.ptp(found.ends, axis=1).max() < 1e-6
    assert found.ends[:, 0] == pytest.approx(ends)
    assert found.starts[2:, 0] == pytest.approx([first, first + 100.0 / rate])
    (of_site,) = found.of_sites()
    assert of_site["over"]["50"] == pytest.approx(ends[-1])
    assert found.known == 0
    assert repr(found) == "<Forecast of 4 jobs in 3 futures; rows() has their times>"


def test_sites_have_the_processors_that_they_have_now(tmp_path):
    grid = grid_of(tmp_path, 2, 2)
    jobs = [job(1, size=2), job(2, size=2, only="A"), job(3, only="B"), job(4, size=2)]
    found = forecast(grid, jobs, {"A": 1}, BEGAN, NOW, futures=2)
    rows = {row["job"]: row for row in found.rows()}
    assert rows[1]["sites"] == rows[3]["sites"] == rows[4]["sites"] == {"B": 1.0}
    assert (rows[2]["never"], rows[2]["sites"], rows[2]["start"]) == (1.0, {}, None)
    assert rows[1]["start"]["50"] == pytest.approx(NOW)
    assert rows[3]["start"]["5"] == pytest.approx(NOW + 100.0)
    assert rows[4]["start"]["95"] == pytest.approx(NOW + 200.0)


def test_run_times_are_drawn_from_those_of_the_name_beyond_what_has_run():
    draws = np.linspace(0.0, 0.999, 60)
    others = [ended(number, 10.0 * number, name="y") for number in range(1, ENOUGH)]
    own = [ended(10 + number, 20.0 * number, time=200.0) for number in range(1, ENOUGH + 1)]
    unrequested = [ended(20 + number, 7.0, time=None, name="z") for number in range(ENOUGH)]
    killed = [ended(30, 1.0, started=None)]
    times = RunTimes([*others, *own, *unrequested, *killed], {"A": 1.0})
    assert times.known == len(others) + len(own) + len(unrequested)
    of_own = times.draw(job(1, time=50.0), 0.0, draws)
    assert {*of_own.round(6)} == {5.0, 10.0, 15.0, 20.0, 25.0}
    assert {*times.draw(job(1, time=50.0), 15.0, draws).round(6)} == {20.0, 25.0}
    outlasted = times.draw(job(1, time=50.0), 30.0, draws)
    assert 30.0 <= outlasted.min() < outlasted.max() < 60.0
    assert {*times.draw(job(1, time=None, name="z"), 0.0, draws)} == {7.0}
    of_all = times.draw(job(1, time=1000.0, name="new"), 0.0, draws)
    assert {*of_all.round(6)} == {100.0, 200.0, 300.0, 400.0, 500.0}
    assert {*RunTimes([], {}).draw(job(1, time=None), 0.0, draws)} == {3600.0}
    twice = RunTimes([ended(number, 8.0) for number in range(ENOUGH)], {"A": 2.0})
    assert {*twice.draw(job(1), 0.0, draws)} == {16.0}


@pytest.mark.thorough
@pytest.mark.parametrize(("policy", "local"), [("dll", "fcfs"), ("ect", "easy")])
def test_intervals_hold_what_they_say_where_jobs_are_like_those_that_ended(tmp_path, policy, local):
    rng, grid = np.random.default_rng(3), grid_of(tmp_path, 2, 3, policy=policy, local=local)
    within = {"5": [], "25": []}
    for _ in range(20):
        shares = rng.uniform(0.05, 1.0, 220)
        past = [ended(number, 100.0 * share) for number, share in enumerate(shares[:200], 1)]
        waiting = [
            job(2001 + at, size=int(rng.integers(1, 3)), name=f"{2001 + at}") for at in range(20)
        ]
        rows = forecast(grid, [*past, *waiting], {}, BEGAN, NOW, futures=60, seed=5).rows()
        # What came is a future of which all run times are known: those of the names of the jobs.
        told = [
            ended(1000 + at, 100.0 * shares[200 + at % 20], name=str(2001 + at % 20))
            for at in range(20 * ENOUGH)
        ]
        came = forecast(grid, [*told, *waiting], {}, BEGAN, NOW, futures=2)
        for row, each in zip(rows, came.ends[:, 0], strict=True):
            for low, high in (("5", "95"), ("25", "75")):
                within[low].append(row["end"][low] <= each <= row["end"][high])
    assert 0.84 < np.mean(within["5"]) < 0.96
    assert 0.42 < np.mean(within["25"]) < 0.58


ELSEWHERE = "[parameters]\nlatency = 5.0\n"
LOSSY = "[parameters]\nlatency = 5.0\nloss = 0.3\n"
OFF = "[parameters]\nprediction_error = 0.3\n"


@pytest.mark.parametrize(
    ("policy", "local", "more", "alike"),
    [
        ("dll", "easy", "", 6),
        ("dll", "conservative", ELSEWHERE, 6),
        ("round-robin", "sjf", "", 6),
        ("no-share", "fcfs", '[parameters]\nprediction = "learned"\n', 6),
        ("wrand", "easy", "", 1),  # drew random numbers
        ("dll", "easy", LOSSY, 1),
        ("dll", "easy", OFF, 0),
        ("ect", "easy", "", 0),  # decides in Python
        ("muscle", "fcfs", "", 0),
        ("tests.experiments.service.forecasting.test_forecast:Mine", "easy", "", 0),
    ],
)
def test_futures_that_begin_alike_go_as_if_each_began_anew(
    tmp_path, monkeypatch, policy, local, more, alike
):
    rng = np.random.default_rng(36)  # of few seeds, it matters when a job is found to be late
    grid = grid_of(tmp_path, 6, 6, 9, policy=policy, local=local, head=more)
    jobs = [ended(number, 10.0 * number, name="ab"[number % 2]) for number in range(1, 13)]
    for number in range(20, 26):  # some of which have outlasted what was requested, or will
        since, time = NOW - 10.0 * rng.integers(1, 7), 10.0 * rng.integers(4, 9)
        jobs.append(running(number, since, "ABC"[number % 3], size=2, time=time, name="a"))
    for number in range(30, 60):
        times = {"time": 10.0 * rng.integers(2, 12) if number % 3 else None}
        jobs.append(job(number, size=int(rng.integers(1, 10)), name="abc"[number % 3], **times))
    again, went = Future.again, []
    monkeypatch.setattr(Future, "again", lambda *given: went.append(1) or again(*given))
    found = forecast(grid, jobs, {"A": 5}, BEGAN, NOW, futures=6, seed=4)
    assert len(went) == alike
    monkeypatch.setattr(Present, "_common", lambda *given: None)
    anew = forecast(grid, jobs, {"A": 5}, BEGAN, NOW, futures=6, seed=4)
    for name in ("starts", "ends", "sites"):
        assert getattr(found, name).tobytes() == getattr(anew, name).tobytes()
    assert np.ptp(found.ends, axis=1).max() > 0.0


class Mine(DynamicLeastLoadScheduler):
    """Compiled as `dll`, but what it is made of may go by the seed."""


def test_a_job_that_has_ended_by_now_begins_its_future_anew(tmp_path):
    jobs = [running(10, NOW - 40.0)], [job(11, size=2)]
    present = Present(grid_of(tmp_path, 2), *jobs, [2], np.full((1, 1), LONGEST), BEGAN, NOW)
    first, last = present.futures(np.array([[40.0, 10.0], [50.0, 10.0]]), 0)
    assert [records["start"].tolist() for (records,) in (first, last)] == [
        [NOW - BEGAN - 40.0, NOW - BEGAN],
        [NOW - BEGAN - 40.0, NOW - BEGAN + 10.0],
    ]


@pytest.mark.thorough
def test_processes_that_share_futures_change_nothing(tmp_path, monkeypatch):
    """Which ends differ in each future, and MUSCLE has each begin anew."""
    past = [ended(number, 10.0 * number) for number in range(1, 10)]
    waiting = [job(number, size=1 + number % 2) for number in range(21, 29)]
    grid = grid_of(tmp_path, 3)
    grid = replace(grid, scenario=replace(grid.scenario, global_scheduler="muscle"))
    one = forecast(grid, [*past, *waiting], {}, BEGAN, NOW, futures=6)
    begun, beside = [], Present._beside_each_other
    monkeypatch.setattr(futures, "LONG", 0.0)
    monkeypatch.setattr(Present, "_beside_each_other", lambda *of: begun.append(1) or beside(*of))
    two = forecast(grid, [*past, *waiting], {}, BEGAN, NOW, futures=6, workers=2)
    assert begun == [1]
    for name in ("starts", "ends", "sites"):
        assert getattr(one, name).tobytes() == getattr(two, name).tobytes()
    assert np.ptp(one.ends, axis=1).min() > 0.0


def test_jobs_of_one_name_are_drawn_alike(tmp_path):
    past = [ended(number, 10.0 * number) for number in range(1, 10)]
    waiting = [job(21, name="a"), job(22, name="a"), job(23, name="b")]
    found = forecast(grid_of(tmp_path, 3), [*past, *waiting], {}, BEGAN, NOW, futures=50)
    ran = found.ends - found.starts
    assert ran[0] == pytest.approx(ran[1])
    assert abs(ran[0] - ran[2]).max() > 1.0


def test_users_are_told_when_jobs_start(grid, state, monkeypatch):
    monkeypatch.setattr("experiments.service.forecasting.asking.PATIENCE", 0.01)  # it does not run
    with serving(load_grid(str(grid)), state, 0, print) as service:
        for size in (2, 2, 1, 1):
            service.store.add(["sleep", "1000"], size, 60.0)
        service.store.add(["true"], 1, held=True)
        service.step()
        monkeypatch.setattr("experiments.sweeps.progress.SOON", 0.001)
        told = call("forecast", "--state", state, "--futures", 2000, "--json")
        assert "of 1,999 more futures" in told.stderr
        found = json.loads(told.stdout)
        assert [*found] == ["now", "futures", "known", "jobs", "sites"]
        assert [row["job"] for row in found["jobs"]] == [1, 3, 2, 4]
        assert [row["site"] for row in found["sites"]] == ["A", "B"]
        second = next(row for row in found["jobs"] if row["job"] == 2)
        assert second["sites"] == {"A": 1.0}
        assert 50.0 < second["start"]["50"] - found["now"] <= 60.0
        shown = call("forecast", "--state", state, 2, "--futures", 2).stdout
        assert "run times: as requested, else an hour, for no job has ended so far" in shown
        assert len([line for line in shown.splitlines() if "sleep" in line]) == 1
        assert "drained" not in shown
        call("drain", "--state", state, "B")
        shown = call("forecast", "--state", state, 2, "--futures", 2).stdout
        assert "drained, so that no job starts there: B" in shown
        call("drain", "--state", state, "B", "--undo")
        words = ["--size", 2, "--time", "20s", "--name", "mine", "--dry-run"]
        dry = json.loads(call("submit", "--state", state, *words, "--json", "true").stdout)
        (mine,) = dry["jobs"]
        assert (mine["job"], mine["name"], mine["state"]) == (6, "mine", "waiting")
        assert mine["start"]["50"] - dry["now"] > 100.0  # after the two others of two processors
        shown = call("submit", "--state", state, *words, "true").stdout
        assert "A 100 %" in shown
        assert len(service.store.jobs()) == 5
        for number in range(1, 6):
            call("cancel", "--state", state, number)
        service.run(once=True)
        again = call("forecast", "--state", state, 2)
        assert again.exit_code == 2
        assert "job 2: cancelled; accepted: a job that has not ended" in again.output
        shown = call("forecast", "--state", state).stdout
        assert "no job waits or runs" in shown
        service.store.add(["true"], 1)
        asked = grid.read_text()
        grid.write_text(asked.replace("slots = 2", "slots = 1", 1))
        smaller = call("forecast", "--state", state)
        assert smaller.exit_code == 2
        assert "A: found 1 processor, which had 2 as it was served; accepted" in smaller.output
        grid.write_text(asked.replace('name = "B"', 'name = "C"'))
        other = call("forecast", "--state", state)
        assert other.exit_code == 2
        assert "found other sites than those served; accepted: the same" in other.output


@pytest.mark.parametrize(
    ("policy", "local"), [("dll", "fcfs"), ("ect", "fcfs"), ("wrand", "sjf"), ("muscle", "fcfs")]
)
def test_jobs_in_the_queue_of_a_site_stay_there(tmp_path, policy, local):
    """And what is not in one goes by what is in others: the policy would send all elsewhere."""
    grid = grid_of(tmp_path, 2, 2, 2, policy=policy, local=local)
    jobs = [running(n, NOW - 10.0, site=name, size=2) for n, name in enumerate("ABC", 1)]
    places = {4: 9, 5: 7, 6: 8, 7: 10}  # it is not the order of their submission
    jobs += [job(n, size=2, waits_at="C", landed=at) for n, at in places.items()]
    found = forecast(grid, jobs, {}, BEGAN, NOW, futures=5)
    assert (found.sites[3:] == 2).all()
    assert found.starts[3:, 0] == pytest.approx([NOW + 90.0 + 100.0 * n for n in (2, 0, 1, 3)])
    if policy in ("dll", "ect"):
        more = [*jobs, job(8, size=2)]
        found = forecast(grid, more, {}, BEGAN, NOW, futures=5)
        assert (found.sites[3:7] == 2).all()
        assert (found.sites[7] == 0).all()
    small = forecast(grid, jobs, {"C": 1}, BEGAN, NOW, futures=2)
    assert (small.sites[3:] < 2).all()  # it has become too small: they are sent elsewhere


@pytest.mark.thorough
def test_queues_of_sites_are_noted(grid, state):
    """Where jobs wait is kept, and told, until they start; a service that begins decides anew."""
    for begun in range(2):
        with serving(load_grid(str(grid)), state, 0, print) as service:
            for size in (2, 2, 1, 1, 1) if not begun else ():
                service.store.add(["sleep", "1000"], size, 60.0)
            service.step()
            waiting = {
                job.job: job.queued_at for job in service.store.jobs() if job.state == "waiting"
            }
            assert waiting.keys() == {2, 4, 5}
            assert {*waiting.values()} <= {"A", "B"}
            words = "forecast", "--state", state, "--futures", 5, "--json"
            for row in json.loads(call(*words).stdout)["jobs"]:
                if row["job"] in waiting:
                    assert row["sites"] == {waiting[row["job"]]: 1.0}
            shown = [row.split() for row in call("queue", "--state", state).stdout.splitlines()]
            assert ["2", "sleep", "waiting", waiting[2]] in [row[:4] for row in shown]
    with serving(load_grid(str(grid)), state, 0, print) as service:
        call("hold", "--state", state, 2)
        service.step()
        assert service.store.job(2).queued_at is None
        for number in range(1, 6):
            call("cancel", "--state", state, number)
        service.run(once=True)
        assert all(job.queued_at is None for job in service.store.jobs())


def test_columns_of_forecasts_have_one_unit_each():
    now, of = 100.0, ("50", "5", "95")
    times = [dict(zip(of, (130.0, 130.0, 130.0), strict=True)), None]
    times.append(dict(zip(of, (3700.0, 1900.0, 7300.0), strict=True)))
    assert columned(times, now) == ("h", ["0.00833", "", "1 (0.5 to 2)"])
    assert columned([None], now) == ("", [""])
