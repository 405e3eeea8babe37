"""Which job is followed, and its story."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest

from agents.balancers import DynamicLeastLoadScheduler
from agents.disciplines import FcfsScheduler
from agents.messages import JobMetadata, JobTransfer, SeedSchedule
from agents.model import GridModel
from agents.muscle import MuscleScheduler
from agents.titan import TitanScheduler
from experiments.live.following import HOLD, Follower, check_number
from experiments.scenario.scenario import Scenario
from experiments.show.numbers import instant
from grid.errors import GridError
from grid.jobs import job_table
from grid.platform.multicluster import Platform
from grid.workloads.synthetic import SyntheticWorkload
from grid.workloads.table import Table
from tests.experiments.watched import FewJobs, Splits, grid_of


def told(follower):
    """Return a story as lines of text, with the times that are known."""
    return [
        (line.time if line.time is None else round(line.time, 3), ", ".join(line.parts))
        for line in follower.story.lines
    ]


def by_hand(rows, *, local=None, **options):
    options = {"interval": 0.5, "latency": 0.5} | options
    world = options.pop("world", DynamicLeastLoadScheduler)
    platform = options.pop("platform", Platform.star([16, 8]))
    return GridModel(platform, FewJobs(*rows), world, local or FcfsScheduler, **options)


def test_the_whole_story_under_muscle_and_titan():
    model = grid_of(4, count=200)
    said = []
    model.listeners.append(said.append)
    follower = Follower(model)
    follower.look(0.0)
    while model.running:
        model.step()
        follower.look(0.0)  # no wall time passes: the first story stays
    number = int(re.search(r"job (\d+)", follower.story.heading)[1])
    row = next(row for row in model.world.log.records() if row["number"] == number)
    named = [message for message in said if number in getattr(message, "jobs", ())]
    metadata, seed, transfer = (
        next((message for message in named if isinstance(message, kind)), None)
        for kind in (JobMetadata, SeedSchedule, JobTransfer)
    )
    home, here = (f"C{row[each] + 1}" for each in ("origin", "cluster"))
    place = seed.jobs.index(number) + 1
    lines = told(follower)
    assert follower.story.heading == (
        f"Following job {number}: {row['size']} processor{'s' * int(row['size'] > 1)}, "
        f"drawn deadline at {instant(float(row['deadline']))}"
    )
    assert lines[0] == (
        round(row["arrival"], 3),
        f"submitted through {home}, whose broker tells MUSCLE at {metadata.due:,.1f} s",
    )
    assert lines[1][0] == round(seed.sent, 3)
    assert lines[1][1].startswith(
        f"allocation {seed.round}: MUSCLE allocates it to {here}, {place}"
    )
    assert lines[1][1].endswith(f" of {len(seed.jobs)} in seed schedule")
    if transfer is not None:
        assert lines[2][0] == round(transfer.sent, 3)
        assert lines[2][1].startswith(f"{home}'s broker sends it to {here}, where it lands at ")
        arrived = transfer.due
    else:
        assert lines[2][1] == f"stays at {here}, through which it was submitted"
        arrived = seed.due
    planned = re.fullmatch(rf"TITAN {here} plans it (\d+)\w\w of (\d+) waiting", lines[3][1])
    assert 1 <= int(planned[1]) <= int(planned[2])
    assert arrived <= lines[3][0] + 1e-3 <= row["start"] + 2e-3
    processors = f"{row['size']} processor{'s' * int(row['size'] > 1)}"
    assert lines[4][0] == round(row["start"], 3)
    assert lines[4][1].startswith(f"starts on {processors} of {here}, ")
    assert lines[5][0] == round(row["finish"], 3)
    assert re.fullmatch(r"finishes, [\d.,]+ s (before|after) its deadline", lines[5][1])
    assert len(lines) == 6


def test_a_story_grows_while_the_job_goes_its_way():
    jobs = [
        {"number": 1, "size": 16, "runtime": 30.0, "origin": 0},
        {"number": 2, "size": 12, "runtime": 10.0, "arrival": 1.0, "origin": 1},
    ]
    model = by_hand(jobs, interval=0.25)
    follower = Follower(model, 2)
    stories = []
    while model.running:
        follower.look(0.0)
        if told(follower)[-1:] != stories[-1:]:
            stories += told(follower)[-1:]
        model.step()
    follower.look(0.0)
    words = [line for _, line in stories]
    kinds = list(dict.fromkeys(words))
    assert kinds == [
        "not yet submitted",
        "submitted through C2, whose broker tells DLL at 1.5 s",
        "is on its way",
        "waits at C1, 1st of 1 in line",
        "starts on 12 processors of C1, 30 s after its submission, to end at 41 s",
        "finishes after 10 s",
    ]
    assert told(follower) == [
        (1.0, "submitted through C2, whose broker tells DLL at 1.5 s"),
        (None, "DLL sends it to C1"),
        (31.0, "starts on 12 processors of C1, 30 s after its submission"),
        (41.0, "finishes after 10 s"),
    ]


def test_a_scheduler_with_nothing_to_choose_is_not_told_of():
    jobs = [{"number": 1, "size": 2, "runtime": 30.0}]
    model = by_hand(jobs, platform=Platform.star([4]), latency=0.0)
    follower = Follower(model, 1)
    model.run()
    follower.look(0.0)
    assert told(follower) == [
        (0.0, "submitted to C1"),
        (0.0, "starts on 2 processors of C1, at once"),
        (30.0, "finishes after 30 s"),
    ]


def test_ends_of_other_kinds():
    jobs = [
        {"number": 5, "size": 8, "runtime": 50.0},
        {"number": 6, "size": 99, "runtime": 1.0, "arrival": 1.0},
    ]
    stories = {}
    for number in (5, 6, 7):
        platform = Platform.star([16, 16])
        model = by_hand(jobs, world=Splits, platform=platform, latency=0.0)
        follower = Follower(model, number)
        model.run()
        follower.look(0.0)
        stories[number] = told(follower)
    assert stories == {
        5: [
            (0.0, "submitted to SPLITS"),
            (0.0, "starts on C1:4+C2:4, at once"),
            (50.0, "finishes after 50 s"),
        ],
        6: [
            (1.0, "submitted to SPLITS"),
            (1.0, "is rejected, larger than can ever run"),
        ],
        7: [(None, "not yet submitted")],
    }


def test_a_job_that_a_failure_throws_back_starts_again():
    model = by_hand([{"number": 1, "size": 16, "runtime": 30.0}], tracked=True, latency=0.0)
    model.world.resources.fail(0, 3, 10.0, 20.0)
    follower = Follower(model, 1)
    model.run()
    follower.look(0.0)
    assert (20.0, "starts again on 16 processors of C1, 20 s after its submission") in told(
        follower
    )


def followed(model, slow):
    """Return the jobs that are followed in turn, and the wall times from which on they are."""
    follower, wall, turns = Follower(model), 0.0, []
    while model.running:
        follower.look(wall)
        known = follower._known
        if known is not None and (not turns or turns[-1][0] != known.identity.number):
            turns.append((known.identity.number, wall, known))
        model.step()
        wall = model.now / slow
    return turns


def open_grid(share, **options):
    mix = grid_of(4).workload
    workload = SyntheticWorkload(
        rate=0.5,
        count=300,
        sizes=mix.sizes,
        runtimes=mix.runtimes,
        classes=mix.classes,
        origins=(share / 4,) * 4,
        seed=2,
    )
    base = grid_of(4, **options)
    return GridModel(
        base.world.platform,
        workload,
        type(base.scheduler),
        type(base.clusters[0].scheduler),
        latency=0.5,
        interval=0.25,
    )


@pytest.mark.parametrize(
    "policies", [{}, {"world": DynamicLeastLoadScheduler, "local": FcfsScheduler}], ids=str
)
def test_jobs_of_both_kinds_take_turns(policies):
    model = open_grid(0.5, **policies)
    turns = followed(model, slow=20.0)
    origins = {row["number"]: row["origin"] for row in model.world.log.records()}
    through = [origins[number] >= 0 for number, _, _ in turns]
    assert len(turns) >= 4
    assert through == [each % 2 == 0 for each in range(len(turns))]
    # Each story is told for a while after the job has left.
    ends = {row["number"]: row["finish"] for row in model.world.log.records()}
    for (number, _, _), (_, wall, _) in pairwise(turns):
        assert wall >= ends[number] / 20.0 + HOLD - 0.1


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_one_kind_will_do_where_there_is_no_other(share):
    turns = followed(open_grid(share), slow=20.0)
    assert len(turns) >= 3


def test_without_submissions_a_live_job_is_followed_from_what_was_said():
    model = grid_of(4, count=40)
    model.step()
    follower = Follower(model)
    follower.look(0.0)
    lines = [line for _, line in told(follower)]
    assert lines[0].startswith("submitted ")
    assert re.match(r"allocation \d: MUSCLE allocates it to C\d", lines[1])


@pytest.mark.parametrize(("runtime", "last"), [(100.0, "starts on"), (3.0, "finishes after")])
def test_the_first_job_is_followed_as_soon_as_it_was_submitted(runtime, last):
    # By users, where MUSCLE's first story would rather be of one that came through a cluster.
    jobs = [{"number": 1 + i, "size": 2, "runtime": runtime, "arrival": 9e3 * i} for i in (0, 1)]
    model = by_hand(jobs, world=MuscleScheduler, local=TitanScheduler, interval=20.0)
    follower = Follower(model)
    follower.look(0.0)
    assert follower.story.heading == "Following: no job yet"
    model.step()
    follower.look(0.0)
    assert follower.story.heading == "Following job 1: 2 processors, no deadline"
    assert told(follower)[-1][1].startswith(last)


def test_of_jobs_that_share_a_number_the_first_is_followed():
    jobs = job_table(2)
    jobs["number"], jobs["size"], jobs["origin"] = 5, [3, 2], [1, 0]
    jobs["runtime"], jobs["arrival"] = [30.0, 9.0], [0.0, 1.0]
    model = GridModel(
        Platform.star([4, 4]), Table(jobs), MuscleScheduler, TitanScheduler, latency=0.5
    )
    follower = Follower(model, 5)
    headings = set()
    while model.running:
        model.step()
        follower.look(0.0)
        headings.add(follower.story.heading)
    assert headings == {"Following job 5 (1st of 2): 3 processors, no deadline"}
    lines = told(follower)
    assert lines[0] == (0.0, "submitted through C2, whose broker tells MUSCLE at 0.5 s")
    assert [line for _, line in lines if "MUSCLE allocates" in line or "starts on" in line] == [
        line for _, line in lines[1:] if "alone in a seed" in line or "3 processors of" in line
    ]
    assert len([line for _, line in lines if "round" in line]) == 1
    assert lines[-1][1] == "finishes after 30 s"


def test_after_a_short_run_the_last_job_is_told_of():
    model = by_hand([{"number": 9, "size": 2, "runtime": 3.0}], latency=0.0)
    follower = Follower(model)
    model.run()
    follower.look(0.0)
    assert follower.story.heading == "Following job 9: 2 processors, no deadline"
    assert told(follower)[-1] == (3.0, "finishes after 3 s")


def test_after_a_short_run_under_muscle_its_allocation_is_told_of_too():
    model = grid_of(1, count=1)
    model.run()
    follower = Follower(model)
    follower.look(0.0)
    lines = [line for _, line in told(follower)]
    assert follower.story.heading.startswith("Following job 1: ")
    assert "allocation 1: MUSCLE allocates it to C1, alone in a seed schedule" in lines
    assert lines[-1].startswith("finishes")


def test_nothing_is_heard_after_closing():
    model = grid_of(1)
    before = list(model.listeners)
    Follower(model).close()
    assert model.listeners == before


@pytest.mark.thorough
@pytest.mark.parametrize("number", [None, 7, 10_000])
def test_following_changes_no_result(number):
    rows = []
    for follows in (True, False):
        model = grid_of(4, count=100)
        follower = Follower(model, number) if follows else None
        wall = 0.0
        while model.running:
            model.step()
            wall += 1.0
            if follower:
                follower.look(wall)
        rows.append(model.world.log.records().rows)
    assert np.array_equal(*rows)


def test_a_job_that_does_not_exist_cannot_be_followed():
    scenario = Scenario.load("quickstart").changed(["jobs=60"])
    check_number(scenario.model(), 1)
    check_number(scenario.model(), 60)
    case_study = Scenario.load("muscle-case-study").model()
    check_number(case_study, 6)
    for model, number in ((scenario.model(), 0), (scenario.model(), 61), (case_study, 7)):
        with pytest.raises(GridError, match=f"follow: found {number}; accepted: the number"):
            check_number(model, number)
