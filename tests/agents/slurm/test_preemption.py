"""Preemption by requeueing: which jobs are preempted, and runs worked out by hand."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents.slurm.conf import Partition, Preemption
from agents.slurm.nodes import Occupied
from agents.slurm.preemption import Candidate, Room
from agents.slurm.qos import InUse, Qos
from agents.slurm.waiting import Waiting
from grid.errors import GridError
from grid.kernel.state import FREE
from grid.platform.multicluster import Platform
from tests.agents.slurm.test_controller import given as model_given
from tests.agents.slurm.test_controller import jobs_of, written
from tests.agents.small_grids import done, model_of, ran

# Who is preempted -------------------------------------------------------------------------------

NODES = 14


def waiting(slot, size, tier, nodes=NODES, **more):
    part = Partition(f"of tier {tier}", tier=tier)
    return Waiting(slot, size, 600.0, 0, part, np.ones(nodes, bool), 0.0, 0, **more)


def preempted(settings, size, *running, tier=9, now=1000.0, nodes=NODES):
    """Return whom a job preempts, of some that hold so many nodes one beside the other.

    Each is a tier, its nodes, and since when it runs, s.
    """
    held, jobs, begin = np.zeros((len(running), nodes), int), [], 0
    for slot, (lower, count, start) in enumerate(running):
        held[slot, begin : begin + count] = 1
        jobs.append(Candidate(waiting(slot, count, lower, nodes), start))
        begin += count
    free, ones = 1 - held.sum(axis=0), np.ones(nodes, int)
    there = Occupied(now, free, ones, np.full(len(running), now + 60), held, 0.0)
    room = Room(settings, jobs, there, InUse(()))
    job = waiting(99, size, tier, nodes)
    alloc = room.make(job, job.mask)
    assert (alloc is None) == (not room.preempted)
    assert set(room.preempted.values()) <= {99}
    assert (there.free >= 0).all()
    if alloc is not None:
        assert alloc.sum() == size
        assert (alloc <= there.free).all()
        assert all((held[slot][alloc > 0] > 0).any() for slot in room.preempted)
    return [*room.preempted]


def test_jobs_of_the_lowest_tier_go_first_then_those_of_fewer_nodes():
    assert preempted(Preemption(), 1, (3, 1, 0), (2, 1, 0), (4, 12, 0)) == [1]
    assert preempted(Preemption(), 1, (2, 3, 0), (2, 2, 0), (2, 9, 0)) == [1]
    assert preempted(Preemption(), 1, (2, 7, 0), (2, 7, 0)) == [0]


def test_no_job_of_the_same_tier_or_a_higher_one_goes():
    assert preempted(Preemption(), 2, (9, 7, 0), (10, 7, 0)) == []
    assert preempted(Preemption(), 8, (9, 7, 0), (2, 7, 0)) == []


def test_fewer_go_than_come_first_in_order():
    """The example of Slurm's documentation: of jobs of 2, 4 and 8 nodes, for one of 8 nodes."""
    running = (2, 2, 0), (2, 4, 0), (2, 8, 0)
    assert preempted(Preemption(), 8, *running) == [2]
    assert preempted(Preemption(strict_order=True), 8, *running) == [2]


def test_strict_order_keeps_to_tiers():
    # All have to go until the last one, of 8 nodes, is put first. Beside it, of the others the one
    # goes that is most in the way, or the first in order that suffices.
    running = (2, 1, 0), (3, 2, 0), (4, 3, 0), (5, 8, 0)
    assert preempted(Preemption(), 10, *running) == [2, 3]
    assert preempted(Preemption(strict_order=True), 10, *running) == [1, 3]


def test_the_youngest_first():
    running = (2, 1, 30), (3, 1, 50), (2, 12, 40)
    assert preempted(Preemption(), 1, *running) == [0]
    assert preempted(Preemption(youngest_first=True), 1, *running) == [1]


def test_who_has_not_run_for_long_enough_is_exempt():
    running = (2, 1, 900), (2, 1, 800), (2, 12, 901)
    assert preempted(Preemption(exempt_time=100), 1, *running) == [0]
    assert preempted(Preemption(exempt_time=101), 1, *running) == [1]
    assert preempted(Preemption(exempt_time=201), 1, *running) == []


@pytest.mark.parametrize("options", [{}, {"strict_order": True}, {"reorder_count": 0}])
def test_who_goes_holds_what_the_job_gets(options):
    random = np.random.default_rng(8)
    for _ in range(300):
        running, left = [], NODES
        while left > 0:
            count = int(random.integers(1, min(left, 5) + 1))
            running.append((int(random.integers(1, 12)), count, 0.0))
            left -= count
        able = sum(count for tier, count, _ in running if tier < 9)
        size = int(random.integers(1, NODES + 1))
        assert bool(preempted(Preemption(**options), size, *running)) == (size <= able)


# Runs -------------------------------------------------------------------------------------------

TIERS = """
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
PartitionName=DEFAULT Nodes=ALL
PartitionName=low Default=YES
PartitionName=high PriorityTier=2
PartitionName=top PriorityTier=3
PartitionName=firm PreemptMode=OFF
"""
PARTITIONS = "low", "high", "top", "firm"
LOW, HIGH, TOP, FIRM = range(4)


def outcome(jobs, conf, **options):
    """Return when each job starts last, s, and how often it was thrown back."""
    model = ran(**model_given(jobs, conf, partitions=PARTITIONS, **options))
    records = done(model)
    assert len(records) == len(jobs)
    assert model.world.state.preemptions.sum() == records["restarts"].sum()
    return list(zip(records["start"].tolist(), records["restarts"].tolist(), strict=True))


def test_a_job_of_a_higher_tier_starts_at_once(tmp_path):
    jobs = jobs_of((0, 4, 600, 600, LOW), (100, 4, 300, 300, HIGH))
    conf = written(tmp_path, TIERS)
    # The first one waits for 121 s, and then for the other; at its end the main loop runs.
    assert outcome(jobs, conf) == [(400, 1), (100, 0)]
    model = ran(**model_given(jobs, conf, partitions=PARTITIONS))
    assert model.world.state.lost_work.tolist() == [4 * 100]
    assert model.world.busy_area().tolist() == [4 * (100 + 300 + 600)]


def test_nobody_is_preempted_in_vain_or_without_leave(tmp_path):
    conf = written(tmp_path, TIERS)
    enough = jobs_of((0, 2, 600, 600, LOW), (100, 2, 300, 300, HIGH))
    assert outcome(enough, conf) == [(0, 0), (100, 0)]
    for part in (LOW, FIRM):
        jobs = jobs_of((0, 4, 600, 600, part), (100, 4, 300, 300, LOW))
        assert outcome(jobs, conf) == [(0, 0), (600, 0)]
    firm = jobs_of((0, 4, 600, 600, FIRM), (100, 4, 300, 300, TOP))
    assert outcome(firm, conf) == [(0, 0), (600, 0)]
    too_few = jobs_of((0, 2, 600, 600, TOP), (0, 2, 600, 600, LOW), (100, 4, 300, 300, HIGH))
    assert outcome(too_few, conf) == [(0, 0), (0, 0), (600, 0)]
    none = written(tmp_path, TIERS.replace("preempt/partition_prio", "preempt/none"))
    jobs = jobs_of((0, 4, 600, 600, LOW), (100, 4, 300, 300, HIGH))
    assert outcome(jobs, none) == [(0, 0), (600, 0)]


def test_when_it_may_start_again(tmp_path):
    jobs = jobs_of((0, 4, 600, 600, LOW), (100, 4, 10, 60, HIGH))
    # Not before 221 s: backfilling, each 30 s, is the first after that; then not before 121 s.
    assert outcome(jobs, written(tmp_path, TIERS)) == [(240, 1), (100, 0)]
    soon = written(tmp_path, TIERS + "AuthInfo=cred_expire=20\n")
    assert outcome(jobs, soon) == [(150, 1), (100, 0)]
    builtin = written(tmp_path, TIERS + "SchedulerType=sched/builtin\n")
    assert outcome(jobs, builtin) == [(240, 1), (100, 0)]  # the main loop, each 60 s


def test_a_job_runs_for_the_exempt_time_first(tmp_path):
    jobs = jobs_of((0, 4, 600, 600, LOW), (10, 4, 60, 60, HIGH))
    for exempt, start in (("2:30", 150), ("2:31", 180), ("-1", 10), ("5", 300)):
        conf = written(tmp_path, f"{TIERS}PreemptExemptTime={exempt}\n")
        assert outcome(jobs, conf)[1] == (start, 0)
    conf = written(tmp_path, f"{TIERS}PreemptExemptTime=1-0\n")
    assert outcome(jobs, conf) == [(0, 0), (600, 0)]
    main = written(tmp_path, f"{TIERS}PreemptExemptTime=1:10\nSchedulerType=sched/builtin\n")
    assert outcome(jobs, main)[1] == (120, 0)


def test_backfilling_preempts(tmp_path):
    jobs = jobs_of(
        (0, 2, 600, 600, TOP),
        (0, 2, 600, 600, LOW),
        (10, 4, 100, 120, HIGH),  # cannot preempt the first: waits for it, and ends the main loop
        (11, 1, 60, 60, HIGH),  # starts with the next backfilling, for it delays nobody
    )
    assert outcome(jobs, written(tmp_path, TIERS)) == [(0, 0), (700, 1), (600, 0), (30, 0)]


def test_whole_nodes_are_reserved_for_who_preempts_while_backfilling(tmp_path):
    nodes = "NodeName=n[1-2] CPUs=4\n"
    jobs = jobs_of(
        (0, 4, 600, 600, TOP),
        (0, 4, 600, 600, LOW),
        (10, 8, 100, 120, HIGH),
        (11, 1, 60, 60, HIGH),  # preempts the second at 30 s
        (12, 1, 60, 60, LOW),  # would fit beside it, one backfilling later
    )
    found = outcome(jobs, written(tmp_path, TIERS + nodes), platform=Platform.star([8]))
    assert found[3:] == [(30, 0), (60, 0)]


@pytest.mark.parametrize(
    ("priority", "found"),
    [
        ("basic", [(300, 1), (900, 0), (200, 0)]),  # it keeps that of its first submission
        ("multifactor", [(360, 1), (300, 0), (200, 0)]),  # it counts as submitted anew
    ],
)
def test_where_in_the_queue_a_preempted_job_is(tmp_path, priority, found):
    conf = f"{TIERS}AuthInfo=cred_expire=9\nPriorityType=priority/{priority}\n"
    jobs = jobs_of((0, 4, 600, 600, LOW), (100, 4, 60, 60, LOW), (200, 4, 100, 120, HIGH))
    assert outcome(jobs, written(tmp_path, conf)) == found


def test_what_a_preempted_job_has_used_counts(tmp_path):
    """Of two users the one goes first who has used less, in vain or not."""
    conf = written(
        tmp_path,
        f"{TIERS}PriorityType=priority/multifactor\nPriorityWeightFairShare=1000\n"
        "PriorityCalcPeriod=1\nAuthInfo=cred_expire=999\n",
    )
    rows = [(0, 4, 600, 600, LOW, 1), (300, 4, 600, 600, HIGH, 2)]
    rows += [(310, 4, 60, 60, LOW, user) for user in (1, 3)]
    found = outcome(jobs_of(*rows), conf)
    assert found[0][1] == 1
    assert found[2:] == [(960, 0), (900, 0)]
    # Who had used nothing before would be as good, and earlier.
    rows[0] = (299, 1, 1, 60, FIRM, 9)
    assert outcome(jobs_of(*rows), conf)[2:] == [(900, 0), (960, 0)]


def test_what_a_preempted_job_uses_ends_with_it(tmp_path):
    conf = written(
        tmp_path,
        f"{TIERS}PriorityType=priority/multifactor\nPriorityWeightFairShare=1000\n"
        "PriorityCalcPeriod=1\nPriorityDecayHalfLife=0\nAuthInfo=cred_expire=999\n",
    )
    rows = [(0, 4, 400, 420, LOW, 3), (400, 4, 600, 600, LOW, 1)]
    rows += [(690, 4, 60, 60, LOW, user) for user in (3, 1)]
    # The second has used 1,200 processor-seconds when it is preempted, the first 1,600 in all.
    found = outcome(jobs_of(*rows, (700, 4, 600, 600, HIGH, 2)), conf)
    assert found[2:] == [(1360, 0), (1300, 0), (700, 0)]


QUALITIES = """\
Name|Priority|Preempt|PreemptMode|PreemptExemptTime|GrpTRES
normal|5||cluster||
scavenger|1||requeue|00:05:00|
urgent|9|normal,scavenger|cluster||cpu=4
"""
NAMES = "normal", "scavenger", "urgent"
BY_QOS = "PreemptType=preempt/qos\nPreemptMode=REQUEUE\n"


def with_qos(tmp_path, rows, conf=BY_QOS, text=QUALITIES):
    path = tmp_path / "qos"
    path.write_text(text)
    options = {"qos": str(path), "names": NAMES}
    return done(ran(**model_given(jobs_of(*rows), written(tmp_path, conf), **options)))


def test_preemption_by_qualities_of_service(tmp_path):
    normal, scavenger, urgent = range(3)
    rows = [
        (0, 2, 600, 600, -1, 1, normal),
        (0, 2, 600, 600, -1, 1, scavenger),
        (20, 2, 60, 60, -1, 2, urgent),  # the lower priority is exempt for 5 minutes
        (400, 2, 60, 60, -1, 2, urgent),  # and is not, now
        (410, 2, 60, 60, -1, 2, normal),  # preempts nobody
    ]
    found = with_qos(tmp_path, rows)
    assert found["start"].tolist() == [150, 540, 20, 400, 460]
    assert found["restarts"].tolist() == [1, 1, 0, 0, 0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "Name|Preempt|PreemptMode\nnormal||suspend\n",
            "qos:2: PreemptMode: found 'suspend'; accepted: cluster, requeue",
        ),
        ("Name|Preempt\nnormal|norml\n", "qos:2: Preempt: found 'norml'; did you mean normal?"),
        (
            "Name|Preempt\nnormal|urgent\nurgent|normal\n",
            "which preempt each other in a circle; accepted: none",
        ),
        ("Name|PreemptExemptTime\nnormal|soon\n", "qos:2: PreemptExemptTime: found 'soon'"),
    ],
)
def test_qualities_that_are_refused(tmp_path, text, message):
    path = tmp_path / "qos"
    path.write_text(text)
    options = {"qos": str(path), "names": ("normal",)}
    jobs = jobs_of((0, 1, 1, 1, -1, 1, 0))
    with pytest.raises(GridError) as refused:
        model_of(**model_given(jobs, written(tmp_path, BY_QOS), **options))
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)
    model_of(**model_given(jobs, **options))  # without preemption, that does not matter


def test_preemption_by_quality_needs_qualities(tmp_path):
    with pytest.raises(GridError, match="found preempt/qos; accepted: with slurm_qos"):
        model_of(**model_given(jobs_of((0, 1, 1, 1)), written(tmp_path, BY_QOS)))


def test_below_several_clusters_and_muscle(tmp_path):
    conf = written(tmp_path, TIERS)
    rows = [(30 * k, 1 + k % 4, 300, 300, k % 3) for k in range(40)]
    for name in ("dll", "muscle"):
        setup = model_given(jobs_of(*rows), conf, Platform.star([4, 4]), partitions=PARTITIONS)
        model = ran(**setup | {"global_": name})
        assert len(done(model)) == len(rows)
        assert model.world.state.preemptions.sum() > 0
        assert model.world.state.left.tolist() == pytest.approx([0, 0])


def test_quality_counts_of_who_is_preempted():
    """What a preempted job had counts no longer for limits."""
    limited = Qos("limited", all_jobs=1)
    low, job = waiting(0, 4, 1, 4, qos=limited), waiting(1, 4, 2, 4, qos=Qos("free"))
    there = Occupied(
        0.0, np.zeros(4, int), np.ones(4, int), np.array([60.0]), np.ones((1, 4), int), 0.0
    )
    in_use = InUse([low.counted])
    room = Room(Preemption(), [Candidate(low, -1.0)], there, in_use)
    assert not in_use.allows(low.counted)
    assert room.make(job, job.mask).tolist() == [1, 1, 1, 1]
    assert in_use.allows(low.counted)


# What holds of all ------------------------------------------------------------------------------


@st.composite
def partitions(draw):
    """Return lines of partitions, the tier of each, and whether its jobs are never preempted."""
    lines, tiers = [], []
    for number in range(draw(st.integers(2, 4))):
        tier, firm = draw(st.integers(1, 3)), draw(st.integers(0, 3)) == 0
        nodes = draw(st.sampled_from(["ALL", "ALL", "n[1-2]", "n[2-4]"]))
        mode = " PreemptMode=OFF" if firm else ""
        lines.append(f"PartitionName=p{number} Nodes={nodes} PriorityTier={tier}{mode}")
        tiers.append((tier, firm))
    return lines, tiers


@st.composite
def requests(draw, count):
    """Return jobs of the first so many partitions, that fit on the nodes of each."""
    rows, now = [], 0
    for _ in range(draw(st.integers(1, 25))):
        now += draw(st.sampled_from([0, 1, 7, 30, 90, 400]))
        runtime = draw(st.sampled_from([1, 30, 60, 200, 700]))
        limit = runtime * draw(st.integers(1, 3))
        part = draw(st.integers(0, count - 1))
        rows.append((now, draw(st.integers(1, 4)), runtime, limit, part))
    return rows


OPTIONS = ["", "strict_order", "youngest_first", "reorder_count=0", "reorder_count=3"]


@settings(max_examples=120, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_no_job_is_lost_and_none_preempted_without_leave(tmp_path, data):
    lines, tiers = data.draw(partitions())
    rows = data.draw(requests(len(tiers)))
    exempt = data.draw(st.sampled_from([0, 0, 60, 300]))
    conf = [
        "PreemptType=preempt/partition_prio",
        "PreemptMode=REQUEUE",
        f"PreemptParameters={data.draw(st.sampled_from(OPTIONS))}",
        f"PreemptExemptTime={exempt // 60}",
        f"AuthInfo=cred_expire={data.draw(st.sampled_from([0, 20, 120]))}",
        f"PriorityType=priority/{data.draw(st.sampled_from(['basic', 'multifactor']))}",
        f"SchedulerType=sched/{data.draw(st.sampled_from(['builtin', 'backfill', 'backfill']))}",
        "NodeName=n[1-4] CPUs=2",
        *lines,
    ]
    names = [f"p{number}" for number in range(len(tiers))]
    path = written(tmp_path, "\n".join(conf))
    model = model_of(**model_given(jobs_of(*rows), path, Platform.star([8]), partitions=names))
    seen = watched(model, rows, tiers, exempt)
    model.run()
    records = done(model)
    assert sorted(records["number"].tolist()) == [*range(1, len(rows) + 1)]
    assert (records["finish"] - records["start"]).tolist() == records["runtime"].tolist()
    assert records["restarts"].sum() == len(seen) == model.world.state.preemptions.sum()
    restarts = dict(zip(records["number"].tolist(), records["restarts"].tolist(), strict=True))
    assert Counter(number for number, _ in seen) == +Counter(restarts)
    lost = sum(lasted * rows[number - 1][1] for number, lasted in seen)
    assert model.world.state.lost_work.sum() == pytest.approx(lost)
    used = sum(row[1] * row[2] for row in rows)
    assert model.world.busy_area().sum() == pytest.approx(used + lost)


def watched(model, rows, tiers, exempt):
    """Have each preemption and each plan checked; return what is preempted: job and its run, s."""
    seen, jobs = [], model.world.jobs
    preempt, plan = jobs.preempt, model.world.plan

    def checked(slot, by):
        number, other = (int(jobs["number"][each]) for each in (slot, by))
        (tier, firm), (above, _) = (tiers[rows[each - 1][4]] for each in (number, other))
        lasted = model.now - float(jobs["start"][slot])
        assert tier < above
        assert not firm
        assert lasted >= exempt
        seen.append((number, lasted))
        preempt(slot, by)

    def free_ones(cluster, order, resources):
        processors, holders = jobs.holders(cluster)
        idle = set(processors[holders == FREE].tolist())
        taken = [each for processors in resources for each in processors]
        assert len(taken) == len(set(taken))
        assert idle >= set(taken)
        plan(cluster, order, resources)

    jobs.preempt, model.world.plan = checked, free_ones
    return seen
