"""Preemption by requeueing: runs worked out by hand, and what holds of all."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grid.errors import GridError
from grid.kernel.state import FREE
from grid.platform.multicluster import Platform
from tests.agents.slurm.test_controller import given as model_given
from tests.agents.slurm.test_controller import jobs_of, written
from tests.agents.small_grids import done, model_of, ran

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


@pytest.mark.thorough
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
