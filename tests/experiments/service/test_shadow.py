"""Clusters that are only watched: what is seen of them, and what policies would have done."""

from __future__ import annotations

from contextlib import closing

import pytest

from experiments.service.at_sites.slurm import Processors
from experiments.service.grid_file import load_grid
from experiments.service.shadow import sightings as keeping
from experiments.service.shadow.comparing import Pair, pairs_of
from experiments.service.shadow.look import Look, Remembered, Seen
from experiments.service.shadow.sightings import Sightings
from experiments.service.shadow.watching import report_of
from grid.errors import GridError

from .served import WATCHED

T = 1_800_000_000.0
"""When the shadow began."""
HOME, DLL = Pair("home", "fcfs"), Pair("dll", "fcfs")


def seen(id_, submitted, started=None, ended=None, **other):
    """Return a job of one processor by times since the shadow began."""
    times = (None if at is None else T + at for at in (started, ended))
    state = "PENDING" if started is None else "RUNNING" if ended is None else "COMPLETED"
    given = {"eligible": T + submitted, "size": 1, "requested": 600.0, "user": 7, "state": state}
    started, ended = times
    return Seen(
        **{"id": id_, "submitted": T + submitted, "started": started, "ended": ended}
        | given
        | {"restarts": 0}
        | other
    )


@pytest.fixture
def clock(monkeypatch):
    class Clock:
        now = T

        def time(self):
            return self.now

    monkeypatch.setattr(keeping, "time", clock := Clock())
    return clock


@pytest.fixture
def record(tmp_path, clock):
    """Return what keeps that a site tells of jobs at a time since the shadow began."""
    with closing(Sightings(tmp_path / "state", make=True)) as sightings:
        sightings.note("began", T)

        def record(at, site, *jobs, up=2, allocated=0):
            clock.now = T + at
            return sightings.record(
                site, Look(Processors("main", allocated, up - allocated, 0, up), [*jobs])
            )

        record.sightings = sightings
        yield record


@pytest.fixture
def scenario(tmp_path):
    (tmp_path / "grid.toml").write_text(WATCHED)
    return load_grid(
        str(tmp_path / "grid.toml"), sizes={"a": 2, "b": 2}, driver=Remembered
    ).scenario


def jobs_of(sightings):
    return {
        (row["id"], row["submitted"] - T): (row["started"], row["ended"], row["state"])
        for row in sightings.jobs(0.0)
    }


def test_numbers_that_are_given_out_again_are_of_other_jobs(record, scenario):
    record(0, "a")
    record(30, "a", seen("1", 5, 6))
    record(60, "a", seen("1", 40, 41))
    record(90, "a", seen("1", 40, 41, 80))
    found = jobs_of(record.sightings)
    assert found == {
        ("1", 5.0): (T + 6, None, "RUNNING"),
        ("1", 40.0): (T + 41, T + 80, "COMPLETED"),
    }
    out = report_of(record.sightings, scenario, ())
    assert out["jobs"] == 1
    assert out["left_out"] == {"end not seen": 1}


def test_a_job_that_is_put_back_has_run_and_comes_again(record, scenario):
    record(0, "a")
    record(30, "a", seen("1", 5, 6))
    record(60, "a", seen("1", 50, restarts=1, eligible=T + 171))
    record(300, "a", seen("1", 50, 180, 280, restarts=1, eligible=T + 171))
    assert jobs_of(record.sightings) == {
        ("1", 5.0): (T + 6, T + 50, "REQUEUED"),
        ("1", 50.0): (T + 180, T + 280, "COMPLETED"),
    }
    out = report_of(record.sightings, scenario, ())
    assert out["jobs"] == 2
    assert out["policies"][0]["mean_wait"] == 5.0  # (1 + 9) / 2: since it might start again


def test_a_job_may_be_put_back_in_the_second_of_its_start(record):
    record(30, "a", seen("1", 5, 6))
    record(60, "a", seen("1", 6, restarts=1))
    assert jobs_of(record.sightings) == {
        ("1", 5.0): (T + 6, T + 6, "REQUEUED"),
        ("1", 6.0): (None, None, "PENDING"),
    }


def test_an_end_is_not_taken_back(record):
    record(0, "a")
    record(30, "a", seen("1", 5, 6, 20))
    record(60, "a", seen("1", 5, 6))  # a controller that was killed
    assert jobs_of(record.sightings) == {("1", 5.0): (T + 6, T + 20, "COMPLETED")}


JOBS = [
    seen("1", 10, 10, 110, size=2),
    seen("2", 20, 110, 210, size=2),
    seen("3", 30, 210, 310, size=2),
]


def test_the_table_has_the_numbers_that_come_out_by_hand(record, scenario):
    """Each of three jobs takes a whole site for 100 s; one at b would have waited for nobody."""
    record(0, "a")
    record(0, "b")
    record(400, "b")
    record(400, "a", *JOBS)
    out = report_of(record.sightings, scenario, (DLL, HOME))
    was, dll, home = out["policies"]
    for row in (was, home):
        assert row["jobs"] == 3
        assert row["mean_wait"] == pytest.approx((0 + 90 + 180) / 3)
        assert row["p95_wait"] == pytest.approx(171)
        assert row["mean_bounded_slowdown"] == pytest.approx((1 + 1.9 + 2.8) / 3)
        assert row["utilization"] == pytest.approx(600 / (4 * 400))
    assert dll["mean_wait"] == pytest.approx((0 + 0 + 80) / 3)
    assert dll["difference"] == pytest.approx(80 / 3 - 90)
    assert was["difference"] == pytest.approx(0)
    assert out["against"] == "home/fcfs"
    assert out["processors"] == {"a": 2, "b": 2}


def test_a_job_is_counted_in_the_period_that_sees_its_end_and_in_no_other(record, scenario):
    record(0, "a")
    record(100, "a", JOBS[0], JOBS[1]._replace(started=None, ended=None))
    sightings = record.sightings
    record(
        150, "a", JOBS[0], JOBS[1]._replace(ended=None), JOBS[2]._replace(started=None, ended=None)
    )
    first = report_of(sightings, scenario, (HOME,), T, whole=True)
    record(400, "a", *JOBS)
    second = report_of(sightings, scenario, (HOME,), first["end"])
    assert (first["jobs"], second["jobs"]) == (1, 2)
    assert first["left_out"] == {"still running": 1, "still waiting": 1}
    home = second["policies"][1]
    assert home["mean_wait"] == pytest.approx((90 + 180) / 2)  # behind the one before the period
    assert home["utilization"] == pytest.approx(2 * (60 + 100) / (4 * 250))


def test_what_was_there_before_holds_processors_and_is_not_counted(record, scenario):
    early = [seen("1", -50, -40, size=2), seen("2", -30, size=2)]
    record(0, "a", *early, seen("0", -90, -90, -80))
    mine = seen("3", 10, 110, 160, size=2)
    ended = [seen("1", -50, -40, 60, size=2), seen("2", -30, 60, 110, size=2)]
    record(200, "a", *ended, mine)
    out = report_of(record.sightings, scenario, (HOME, DLL))
    assert out["jobs"] == 1
    assert out["left_out"] == {"there before the shadow": 2}
    was, home, dll = out["policies"]
    assert was["mean_wait"] == home["mean_wait"] == pytest.approx(100)
    assert dll["mean_wait"] == pytest.approx(50)  # behind what waited, which goes to b


def test_what_runs_as_its_site_is_seen_last_runs_on(record, scenario):
    """As it was and as it is simulated: a site that does not answer stops nobody."""
    record(0, "a")
    record(0, "b")
    record(100, "b", seen("2", 50, 50, size=2))
    record(300, "a", seen("1", 50, 50, 60, size=2))
    was, home = report_of(record.sightings, scenario, (HOME,))["policies"]
    assert was["utilization"] == pytest.approx(2 * (10 + 250) / (4 * 300))
    assert home["utilization"] == pytest.approx(2 * (10 + 50) / (4 * 300), abs=0.2)


def test_waits_begin_when_a_job_may_start(record, scenario):
    record(0, "a", seen("4", -80, None, -70, state="CANCELLED"))  # long before
    record(300, "a", seen("1", 10, 110, 150, eligible=T + 100), seen("2", 10, eligible=None),
           seen("3", 20, None, 90, state="CANCELLED"))  # fmt: skip
    out = report_of(record.sightings, scenario, (HOME,))
    assert out["policies"][0]["mean_wait"] == 10.0
    assert out["policies"][1]["mean_wait"] == pytest.approx(0.0)
    assert out["left_out"] == {"still waiting": 1, "ended before they began": 1}


def test_time_without_a_look_and_processors_of_others_are_told(record, scenario):
    record(0, "a")
    record(30, "a", allocated=1)
    record(700, "a", seen("1", 680, 681, 690), up=1)
    record(710, "b")
    out = report_of(record.sightings, scenario, ())
    assert out["unseen"] == {
        "a": {"seconds": 670.0, "longest": 670.0},
        "b": {"seconds": 710.0, "longest": 710.0},
    }
    assert out["away"]["a"] == pytest.approx(1 / 6)
    assert out["others"]["a"] == pytest.approx(1 / 6)


def test_periods_so_far_are_told_with_those_of_both_pairs(record, scenario):
    record(0, "a")
    record(400, "a", *JOBS)
    report_of(record.sightings, scenario, (DLL, HOME), whole=True)
    record(500, "a", seen("4", 410, 410, 420))
    out = report_of(record.sightings, scenario, (DLL, HOME), T + 400, whole=True)
    assert [(row["lower_in"], row["of_periods"]) for row in out["policies"]] == [
        (0, 2),
        (1, 2),
        (0, 0),
    ]
    other = report_of(record.sightings, scenario, (HOME, Pair("ect", "fcfs")))
    assert other["policies"][2]["of_periods"] == 0


def test_nothing_seen_is_told_as_such(record, scenario):
    with pytest.raises(GridError, match="nothing was seen yet; accepted: after two looks"):
        report_of(record.sightings, scenario, (HOME,))
    record(0, "a")
    record(30, "a")
    out = report_of(record.sightings, scenario, (HOME,))
    assert out["jobs"] == 0
    assert [row["mean_wait"] for row in out["policies"]] == [None]


def test_pairs_of_policies():
    assert pairs_of("dll/easy, my:Own/titan,dll/easy") == (
        Pair("dll", "easy"),
        Pair("my:Own", "titan"),
    )
