"""Schedules as they are told: exact times, and what `verify` refuses."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.oas import Instance, ScheduleError, solve, verify
from agents.oas.instance import exact
from agents.oas.schedule import Decision, printed, timetable
from tests.agents.small_oas import QUEUES, SWIG, as_printed

pytestmark = SWIG


@given(st.fractions(0, 10**9))
def test_a_number_is_printed_as_the_least_that_is_no_less(number):
    shown = printed(number)
    assert exact(shown) >= number
    assert shown == 0 or exact(float(np.nextafter(shown, -np.inf))) < number


def test_jobs_start_when_those_they_follow_have_finished():
    instance = Instance.from_dict(QUEUES)
    loose = [Decision(5, 9, (1,)), Decision(20, 22, (2,)), Decision(8, 12, (1,))]
    assert [run.start for run in timetable(instance, loose)] == [0, 30, 0]
    assert [run.finish for run in timetable(instance, loose, Fraction(25))] == [50, 75, 25]


@pytest.fixture(scope="module")
def right():
    instance = {
        "clusters": [
            {"nodes": 4, "effective_power": power, "link_mbps": 50} for power in (1, 0.75)
        ],
        "jobs": [
            {"tasks": 4, "base_time": 100, "bandwidth": 30, "sigma": 0.5},
            {"tasks": 4, "base_time": 50, "bandwidth": 30, "sigma": 0.5},
        ],
    }
    rows = [
        {"job": 0, "start": 0, "finish": 100, "nodes": [4, 0]},
        {"job": 1, "start": 100, "finish": 158.33333333333334, "nodes": [3, 1]},
    ]
    verify(instance, rows)
    return instance, rows


@pytest.mark.parametrize(
    ("job", "change", "message"),
    [
        (1, {"start": 0, "finish": 58.333333333333336}, "found 7 nodes held; accepted: 4"),
        (1, {"finish": 158.3333333333333}, "job 1: finish: found 158.3333333333333; accepted"),
        (1, {"finish": 159}, "job 1: finish: found 159; accepted: 158.33333333333334"),
        (1, {"nodes": [4, 0]}, "job 1: finish: found 158.33333333333334; accepted: 150.0"),
        (1, {"nodes": [3, 0]}, "job 1: nodes: found 3 in all; accepted: 4"),
        (1, {"nodes": [4]}, "job 1: nodes: found"),
        (1, {"nodes": [5, -1]}, "job 1: nodes: found"),
        (1, {"nodes": [3.0, 1.0]}, "job 1: nodes: found"),
        (1, {"job": 0}, "job 0: found twice"),
        (1, {"job": 2}, r"schedule\[1\].job: found 2; accepted: the index"),
        (0, {"start": -1, "finish": 99}, "job 0: start: found -1"),
        (0, {"start": float("nan")}, "job 0: start: found nan"),
        (0, {"start": "0"}, "job 0: start: found '0'"),
        (1, None, "job 1: not found"),
    ],
)
def test_a_schedule_that_was_tampered_with_is_refused(right, job, change, message):
    instance, rows = right
    rows = [dict(row) for row in rows]
    if change is None:
        del rows[job]
    else:
        rows[job] |= change
    with pytest.raises(ScheduleError, match=message):
        verify(instance, rows)


def test_links_are_checked_at_all_times(right):
    instance, _ = right
    rows = [
        {"job": 0, "start": 10, "finish": 126.66666666666667, "nodes": [2, 2]},
        {"job": 1, "start": 0, "finish": 58.333333333333336, "nodes": [1, 3]},
    ]
    with pytest.raises(ScheduleError, match=r"clusters\[0\] at 10 s.*found 70.0 Mbit/s .* 50.0"):
        verify(instance | {"clusters": [{**c, "nodes": 5} for c in instance["clusters"]]}, rows)
    roomy = [{**c, "nodes": 5, "link_mbps": 70} for c in instance["clusters"]]
    verify(instance | {"clusters": roomy}, rows)


def test_a_slotted_schedule_holds_only_on_its_slots(right):
    instance, _ = right
    answer = as_printed(solve(Instance.from_dict(instance), 40))
    verify(instance, answer)
    verify(instance, answer["schedule"], 40)
    with pytest.raises(ScheduleError, match=r"accepted: 100\.0"):
        verify(instance, answer["schedule"])
    answer["schedule"][0] |= {"start": 1, "finish": 121}
    with pytest.raises(ScheduleError, match="start: found 1; accepted: a multiple of the slot"):
        verify(instance, answer)


@pytest.mark.parametrize("schedule", [None, "schedule", {"schedule": None}, [3], [{"job": 0}]])
def test_what_is_no_schedule_is_refused(right, schedule):
    with pytest.raises(ScheduleError, match="schedule"):
        verify(right[0], schedule)
