"""MUSCLE's rounds: the paper's case study, the plain implementation, and what must always hold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.muscle import seed_schedules
from agents.muscle.allocation import allocate, workload_level
from agents.muscle.packing import earliest_space
from agents.schedule import Placement
from grid.errors import PlacementError, PlatformError, WorkloadError
from grid.streams import stream
from tests.agents.plain_muscle import Chance, level, rounds, space_of

SIZES = [2, 1, 4, 3, 1, 2]
TIMES = [2, 4, 4, 6, 2, 4]
SLACKS = [6, 8, 14, 12, 4, 8]


def test_the_case_study_follows_algorithm_4():
    """Table 1, by hand with Table 2; J1 to J6 are jobs 0 to 5, and each e is eq. 3.

    1. No cluster has jobs: e = 0 for both, so the larger, C2, comes first. Its space is 6
       processors at 0. Row 6: J3;J1 is the first composition with no allocated job. J3 takes
       0-3, J1 4-5. C2: e = 2 (4 + 2) (4 + 2) / ((14 + 6) 6) = 0.6.
    2. C1, e = 0: 4 processors at 0. Row 4: J3 is allocated, J4;J2 is the first without an
       allocated job. J4 takes 0-2, J2 3. C1: e = 2 (6 + 4) (3 + 1) / ((12 + 8) 4) = 1.
    3. C2, e = 0.6: J1 ends first, so 2 processors from 4 at time 2. Row 2: J1 is allocated, J5;J2
       has one allocated job, J6 none: J6. C2: e = 3 (10) (8) / ((28) 6) = 1.43.
    4. C1, e = 1: J2 ends first, so 1 processor from 3 at time 4. Row 1: J2 is allocated; J5.
    """
    deadlines = [slack + time for slack, time in zip(SLACKS, TIMES, strict=True)]
    assert seed_schedules(SIZES, [[t, t] for t in TIMES], deadlines, [4, 6]) == [
        [Placement(3, 0.0, (0, 1, 2)), Placement(1, 0.0, (3,)), Placement(4, 4.0, (3,))],
        [Placement(2, 0.0, (0, 1, 2, 3)), Placement(0, 0.0, (4, 5)), Placement(5, 2.0, (4, 5))],
    ]


def test_an_alternative_stands_in_for_an_allocated_job():
    """Clusters of 1 and 3, jobs of sizes 1, 1, 2, by hand; row 1 is J1 J2, row 3 is J3;J1.

    C1 is idle, so it comes first and takes J1; then its e is 4, and C2 with its backlog has 1/3.
    In row 3 J3 is free; J1 is allocated, so row 1 is searched, where J2 stands in for it.
    """
    backlog = [[0.0] * 4, [1.0] * 4]
    allocation = allocate(
        [1, 1, 2], [[4.0, 1.0]] * 3, [5.0] * 3, [1, 3], [[0.0], [0.0] * 3], backlog, stream(0, "x")
    )
    assert allocation.order.tolist() == [0, 2, 1]
    assert allocation.cluster.tolist() == [0, 1, 1]
    assert allocation.first.tolist() == [0, 2, 0]
    assert allocation.start.tolist() == [0.0, 0.0, 0.0]


def check(sizes, times, deadlines, clusters, release, backlog, allocation):
    """Every job once, no processor held twice, resources inside the cluster and released."""
    assert sorted(allocation.order.tolist()) == list(range(len(sizes)))
    held = [list(of_cluster) for of_cluster in release]
    for job in allocation.order.tolist():
        c, first, start = allocation.cluster[job], allocation.first[job], allocation.start[job]
        assert first >= 0
        assert first + sizes[job] <= clusters[c]
        for processor in range(first, first + sizes[job]):
            assert held[c][processor] <= start
            held[c][processor] = start + times[job][c]


@st.composite
def instances(draw):
    clusters = draw(st.lists(st.integers(1, 12), min_size=1, max_size=4))
    sizes = draw(st.lists(st.integers(1, max(clusters)), min_size=1, max_size=30))
    few = st.integers(1, 4).map(float)  # coarse numbers make ties
    times = [[draw(few) for _ in clusters] for _ in sizes]
    deadlines = draw(st.lists(st.integers(-2, 20), min_size=len(sizes), max_size=len(sizes)))
    release = [
        draw(st.lists(st.sampled_from([0.0, 0.0, 1.0, 2.5]), min_size=m, max_size=m))
        for m in clusters
    ]
    backlog = [[float(draw(st.integers(0, 3))) for _ in range(4)] for _ in clusters]
    return sizes, times, deadlines, clusters, release, backlog


@settings(max_examples=300)
@given(instances(), st.integers(0, 5))
def test_equals_the_plain_implementation_job_by_job(instance, seed):
    sizes = instance[0]
    allocation = allocate(*instance, stream(seed, "test"))
    check(*instance, allocation)
    expected, _ = rounds(*instance, Chance(stream(seed, "test")))
    assert [
        (
            job,
            allocation.cluster[job],
            allocation.start[job],
            tuple(range(allocation.first[job], allocation.first[job] + sizes[job])),
        )
        for job in allocation.order.tolist()
    ] == expected


def random_batch(seed, jobs, clusters, largest):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, largest, jobs, endpoint=True)
    times = rng.integers(1, 60, (jobs, len(clusters))).astype(float)
    return sizes, times, rng.integers(60, 300, jobs).astype(float)


@pytest.mark.parametrize("seed", range(5))
def test_large_batches_equal_the_plain_implementation(seed):
    clusters = [20, 16, 12, 10]
    sizes, times, deadlines = random_batch(seed, 60, clusters, 10)
    expected, deepest = rounds(
        sizes.tolist(),
        times.tolist(),
        deadlines.tolist(),
        clusters,
        [[0.0] * m for m in clusters],
        [[0.0] * 4] * 4,
        Chance(stream(seed, "muscle")),
    )
    assert deepest > 3, "the batch does not exercise the recursion of Algorithm 2"
    lists = [[] for _ in clusters]
    for job, c, start, resources in expected:
        lists[c].append(Placement(job, start, resources))
    assert seed_schedules(sizes, times, deadlines, clusters, seed) == lists


@pytest.mark.parametrize(
    ("sizes", "clusters"),
    [
        ([3] * 200, [10, 7, 3]),
        ([1] * 200, [1, 64]),
        ([9, 10, 11, 12] * 50, [12, 8, 8, 1]),
        ([64] * 50, [64, 63]),
        ([2**k for k in range(7)] * 60, [64, 48, 32, 16]),
    ],
)
def test_adversarial_batches_end(sizes, clusters):
    times = np.ones((len(sizes), len(clusters)))
    release = [np.zeros(m) for m in clusters]
    arguments = (sizes, times, np.full(len(sizes), 5.0), clusters, release, np.zeros((4, 4)))
    check(*arguments, allocate(*arguments, stream(0, "test")))


def test_what_is_given_is_not_changed():
    release, backlog = [np.zeros(4)], np.zeros((1, 4))
    allocate([2], [[1.0]], [3.0], [4], release, backlog, stream(0, "test"))
    assert not release[0].any()
    assert not backlog.any()


def test_backlog_turns_a_job_to_the_other_cluster():
    idle, busy = [0.0] * 4, [1.0, 5.0, 2.0, 10.0]
    for backlog, cluster in (([idle, busy], 0), ([busy, idle], 1)):
        allocation = allocate(
            [2], [[1.0, 1.0]], [3.0], [4, 6], [[0.0] * 4, [0.0] * 6], backlog, stream(0, "test")
        )
        assert allocation.cluster.tolist() == [cluster]


def test_equal_clusters_are_chosen_by_the_seed():
    def chosen(seed):
        return [len(c) for c in seed_schedules([1], [[1.0] * 3], [9.0], [2, 2, 2], seed)].index(1)

    assert {chosen(seed) for seed in range(30)} == {0, 1, 2}
    assert [chosen(seed) for seed in range(30)] == [chosen(seed) for seed in range(30)]


def test_a_stream_is_only_drawn_from_to_break_a_tie():
    state = stream(0, "test")
    allocate([1], [[1.0, 1.0]], [9.0], [2, 3], [[0.0] * 2, [0.0] * 3], np.zeros((2, 4)), state)
    assert (state == stream(0, "test")).all()


@pytest.mark.parametrize(
    ("attributes", "e"),
    [
        ([0.0, 0.0, 0.0, 0.0], 0.0),
        ([0.0, 0.0, 0.0, -1.0], 0.0),
        ([1.0, 2.0, 3.0, 0.0], np.inf),
        ([1.0, 2.0, 3.0, -1.0], np.inf),
        ([1.0, 2.0, 3.0, np.inf], 0.0),
        ([2.0, 6.0, 6.0, 20.0], 0.6),
    ],
)
def test_eq_3(attributes, e):
    assert workload_level(np.array(attributes), 6) == e == level(attributes, 6)


@pytest.mark.parametrize(
    ("release", "smallest", "space"),
    [
        ([0.0, 0.0, 0.0], 2, (0.0, 0, 3)),
        ([0.0, 5.0, 0.0, 0.0], 2, (0.0, 2, 2)),  # the run from 0 is too small
        ([0.0, 5.0, 0.0, 7.0], 2, (5.0, 0, 3)),  # no run at 0 holds two
        ([1.0, 1.0, 4.0, 1.0, 1.0, 1.0], 2, (1.0, 0, 2)),  # first, not largest
    ],
)
def test_earliest_space(release, smallest, space):
    assert earliest_space(np.array(release), smallest) == space


@given(st.lists(st.integers(0, 5).map(float), min_size=1, max_size=12), st.data())
def test_earliest_space_equals_the_plain_implementation(release, data):
    smallest = data.draw(st.integers(1, len(release)))
    time, run = space_of(release, smallest)
    assert earliest_space(np.array(release), smallest) == (time, run[0], len(run))


def test_no_jobs():
    assert seed_schedules([], [], [], [4, 6]) == [[], []]


BATCH = {
    "sizes": [1, 2],
    "execution_times": [[1.0, 1.0], [1.0, 1.0]],
    "deadlines": [5.0, 5.0],
    "cluster_sizes": [4, 6],
}


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        ({"sizes": [1, 7]}, PlacementError, "job 1: found size 7, accepted is at most 6"),
        ({"sizes": [0, 1]}, WorkloadError, r"sizes\[0\]: found 0"),
        ({"sizes": [1]}, WorkloadError, r"execution_times: found shape \(2, 2\)"),
        ({"execution_times": [1.0, 1.0]}, WorkloadError, r"found shape \(2,\).*\(2, 2\)"),
        ({"execution_times": [[1, 1], [1, 0]]}, WorkloadError, r"\[1, 1\]: found 0.0"),
        ({"execution_times": [[1, np.nan], [1, 1]]}, WorkloadError, r"\[0, 1\]: found nan"),
        ({"execution_times": [[np.inf, np.inf], [1, 1]]}, PlacementError, "job 0: found size"),
        ({"execution_times": [[1.0, 1.0], [1.0]]}, WorkloadError, "found rows of unequal length"),
        ({"deadlines": [1.0]}, WorkloadError, r"deadlines: found shape \(1,\)"),
        ({"deadlines": [1.0, np.nan]}, WorkloadError, r"deadlines\[1\]: found nan"),
        ({"cluster_sizes": [4, 0]}, PlatformError, r"cluster_sizes: found \[4, 0\]"),
        ({"cluster_sizes": []}, PlatformError, r"cluster_sizes: found \[\]"),
    ],
)
def test_impossible_input_is_named(change, kind, message):
    with pytest.raises(kind, match=message) as error:
        seed_schedules(**(BATCH | change))
    assert "\n" not in str(error.value)
