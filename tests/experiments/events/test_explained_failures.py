"""What failures and processors that are away do to a job, as its story tells it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grid.platform.changes import Change
from tests.agents.small_grids import PLATFORM, model_of, table
from tests.experiments.events.test_events import Places
from tests.experiments.events.test_explain import told


@pytest.mark.parametrize(
    ("scheduler", "size", "back"),
    [
        ("dll", 4, "goes back, for its cluster has become too small for it"),
        ("dll", 3, "is back in the queue of C1"),
        (Places, 4, "PLACES is told of it again"),
    ],
)
def test_a_failure_is_told(scheduler, size, back):
    platform, jobs = PLATFORM.star([4]), table((0, size, 5))
    model = model_of(scheduler, "fcfs", jobs=jobs, platform=platform, tracked=True)
    model.world.resources.fail(0, 2, 3.0, repaired=7.0)
    story = told(model, 1, {"C1": 4})
    assert (3.0, "one or more of its processors fail, what it has done is lost") in story
    assert (3.0, back) in story
    again = 7.0 if size == 4 else 3.0
    words = f"starts again on {size} processors of C1, {again:g} s after its submission"
    assert (again, words) in story


@pytest.mark.parametrize("what", ["drain", "fail"])
def test_processors_that_are_away_are_not_free(what):
    change = Change("C1", what, at=0, until=1000, processors=12)
    platform = replace(PLATFORM.star([16]), changes=(change,))

    def waits(*jobs):
        made = model_of("dll", "fcfs", jobs=table(*jobs), platform=platform, tracked=True)
        return told(made, len(jobs), {"C1": 16})[-3:-1]

    assert waits((10, 4, 500), (20, 4, 100)) == [
        (None, "waited 8.17 min there, it needs 4 processors and found 0 of its 16 processors "
               "free, 12 away, job 1 running there"),
        (None, "job 1 has just ended and makes room"),
    ]  # fmt: skip
    assert waits((10, 4, 2000), (20, 4, 100)) == [
        (None, "waited 16.3 min there, it needs 4 processors and found 0 of its 16 processors "
               "free, 12 away, job 1 running there"),
        (None, "12 processors that were away until then make room"),
    ]  # fmt: skip


def test_who_was_thrown_back_has_not_ended():
    jobs = table((0, 4, 9), (1, 3, 5))
    model = model_of("ect", "sjf", jobs=jobs, platform=PLATFORM.star([4]), tracked=True)
    model.world.resources.fail(0, 3, 2.0, repaired=12.0)
    assert told(model, 2, {"C1": 4})[-2] == (
        None,
        "1 processor was away there meanwhile, job 1 has just lost processors that failed "
        "and makes room",
    )


def test_many_failures_are_summed_up():
    platform = PLATFORM.star([4])
    model = model_of("ect", "fcfs", jobs=table((0, 4, 5)), platform=platform, tracked=True)
    for time in range(2, 80, 2):
        model.world.resources.fail(0, 0, float(time), repaired=time + 1.0)
    story = told(model, 1, {"C1": 4})
    assert len(story) < 30
    assert sum("one or more of its processors fail" in words for _, words in story) == 2
    assert (
        4.0,
        "37 times more it loses its processors or goes back, and is sent or started anew",
    ) in story
    assert story[-1] == (84.0, "finishes after 5 s")
