from __future__ import annotations

import copy
import math
import pickle
from dataclasses import replace

import numpy as np
import pytest

from grid.distributions import BoundedPareto, Deterministic, Exponential, UniformSizes
from grid.errors import WorkloadError
from grid.jobs import MAX_COMPONENTS, REQUEST_KINDS
from grid.workloads import synthetic
from grid.workloads.deadlines import ServiceClass, assign_deadlines
from grid.workloads.origins import assign_origins
from grid.workloads.source import CHUNK, Cleaning
from grid.workloads.synthetic import BatchWorkload, SyntheticWorkload, arrival_rate

CLASSES = (ServiceClass("gold", 0.3, 0, 1), ServiceClass("silver", 0.7, 1, 5))
MIX = {
    "count": 3000,
    "sizes": UniformSizes(1, 16),
    "runtimes": BoundedPareto(5, 100),
    "classes": CLASSES,
    "origins": (0.25, 0.25),
    "slowest_rate": 0.5,
    "seed": 11,
}
OPEN = SyntheticWorkload(rate=0.5, **MIX)


def jobs_of(workload):
    return np.concatenate(list(workload.chunks()))


def rounds_of(workload, now=0.0):
    batches = []
    while len(batch := workload.next_batch(now)):
        batches.append(batch)
    return batches


def test_workload():
    jobs = jobs_of(OPEN)
    assert len(jobs) == OPEN.count == 3000
    assert OPEN.cleaning == Cleaning()
    assert jobs["number"].tolist() == list(range(1, 3001))
    assert (np.diff(jobs["arrival"]) > 0).all()
    assert np.isinf(jobs["requested_time"]).all()
    assert (jobs_of(OPEN) == jobs).all()  # may be read again


@pytest.mark.parametrize("chunk", [1, 7, 1000, 2999, 3000, 5000])
def test_the_size_of_chunks_does_not_matter(monkeypatch, chunk):
    jobs = jobs_of(OPEN)
    monkeypatch.setattr(synthetic, "CHUNK", chunk)
    parts = list(OPEN.chunks())
    assert max(map(len, parts)) <= chunk
    assert (np.concatenate(parts) == jobs).all()


def test_memory_does_not_grow():
    sizes = [len(jobs) for jobs in replace(OPEN, count=2 * CHUNK + 1).chunks()]
    assert sizes == [CHUNK, CHUNK, 1]


def test_gaps_are_exponential():
    jobs = jobs_of(replace(OPEN, count=40_000))
    gaps = np.sort(np.diff(jobs["arrival"], prepend=0.0))
    cdf = -np.expm1(-0.5 * gaps)
    steps = np.arange(len(gaps) + 1) / len(gaps)
    distance = max((steps[1:] - cdf).max(), (cdf - steps[:-1]).max())
    assert distance < 2.0 / math.sqrt(len(gaps))  # exceeded once in 1500 times (Kolmogorov)


@pytest.mark.parametrize(
    ("change", "same"),
    [
        ({"rate": 2.0}, ("size", "runtime", "origin")),
        ({"sizes": UniformSizes(1, 4)}, ("arrival", "runtime", "deadline", "origin")),
        ({"runtimes": Exponential(3)}, ("arrival", "size", "origin")),
        ({"classes": ()}, ("arrival", "size", "runtime", "origin")),
        ({"origins": ()}, ("arrival", "size", "runtime", "deadline")),
    ],
)
def test_each_purpose_has_its_own_stream(change, same):
    before, after = jobs_of(OPEN), jobs_of(replace(OPEN, **change))
    for column in same:
        assert (before[column] == after[column]).all(), column
    assert (jobs_of(replace(OPEN, seed=12))["size"] != before["size"]).any()


def test_a_log_is_given_the_same_origins_and_deadlines():
    bare = jobs_of(replace(OPEN, classes=(), origins=()))
    assert np.isinf(bare["deadline"]).all()
    assert (bare["origin"] == -1).all()
    dressed = assign_deadlines(assign_origins(bare, OPEN.origins, 11), 0.5, CLASSES, 11)
    assert (dressed == jobs_of(OPEN)).all()


def test_one_draw_is_pinned():
    """Any change in how jobs are drawn changes every result that users have kept."""
    jobs = jobs_of(replace(OPEN, count=3))
    assert jobs["size"].tolist() == [8, 5, 7]
    assert jobs["arrival"].tolist() == pytest.approx(
        [1.4919228296251197, 1.7468865975014336, 2.4306102183224603], rel=1e-12
    )
    assert jobs["runtime"].tolist() == pytest.approx(
        [15.024829446750163, 19.256761485250927, 17.788426558032462], rel=1e-12
    )


def test_batches_hold_the_jobs_of_the_mix():
    batches = rounds_of(BatchWorkload(mean_batch=40, **MIX), now=70.0)
    jobs = np.concatenate(batches)
    open_jobs = jobs_of(OPEN)
    assert len(jobs) == 3000
    assert (jobs["arrival"] == 70.0).all()
    for column in ("number", "size", "runtime", "origin"):
        assert (jobs[column] == open_jobs[column]).all()
    assert jobs["deadline"] - 70 == pytest.approx(open_jobs["deadline"] - open_jobs["arrival"])


@pytest.mark.parametrize("mean", [0.5, 3.0, 40.0])
def test_batch_sizes_are_poisson_given_one_job(mean):
    batches = rounds_of(BatchWorkload(**{**MIX, "count": 40_000, "mean_batch": mean}))
    sizes = np.array([len(batch) for batch in batches[:-1]])
    assert sizes.min() >= 1
    values = np.arange(1, 200)
    logs = values * math.log(mean) - mean - np.array([math.lgamma(n + 1) for n in values])
    mass = np.exp(logs) / -math.expm1(-mean)
    expected = mass * len(sizes)
    observed = np.bincount(sizes, minlength=200)[1:]
    common = expected >= 5  # the usual condition for chi-square; the rest is pooled
    observed = np.append(observed[common], observed[~common].sum())
    expected = np.append(expected[common], expected[~common].sum())
    statistic = ((observed - expected) ** 2 / expected).sum()
    freedom = len(observed) - 1
    part = 2 / (9 * freedom)  # Wilson and Hilferty's bound, exceeded once in 2000 times
    assert statistic < freedom * (1 - part + 3.29 * math.sqrt(part)) ** 3


def test_the_last_batch_is_what_is_left():
    workload = BatchWorkload(mean_batch=1e6, **MIX)
    assert [len(workload.next_batch(now)) for now in (0.0, 1.0, 2.0)] == [3000, 0, 0]


def test_batches_can_be_kept_and_taken_up_again():
    workload = BatchWorkload(mean_batch=40, **MIX)
    workload.next_batch(0.0)
    again, other = pickle.loads(pickle.dumps(workload)), copy.deepcopy(workload)
    rest = np.concatenate(rounds_of(workload))
    assert (np.concatenate(rounds_of(again)) == rest).all()
    assert (np.concatenate(rounds_of(other)) == rest).all()


def test_offered_load():
    sizes, runtimes = UniformSizes(1, 7), Deterministic(10.0)
    # 0.6 x (32 x 1 + 64 x 0.5) / (4 x 10)
    assert arrival_rate(0.6, sizes, runtimes, [32, 64], [1.0, 0.5]) == pytest.approx(0.96)
    jobs = jobs_of(
        SyntheticWorkload(count=100_000, rate=0.96, sizes=sizes, runtimes=Exponential(10.0))
    )
    work = (jobs["size"] * jobs["runtime"]).sum()
    # relative error of the sum of 100,000 jobs: about 1.3 / sqrt(100,000) = 0.4 %
    assert work / jobs["arrival"][-1] / 64 == pytest.approx(0.6, rel=0.02)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"count": 0}, "count of jobs: found 0"),
        ({"count": 1.5}, "count of jobs: found 1.5"),
        ({"rate": -1.0}, "arrival rate: found -1.0"),
        ({"rate": math.inf}, "arrival rate: found inf"),
        ({"slowest_rate": 0.0}, "slowest rate: found 0.0"),
        ({"seed": -1}, "seed: found -1"),
        ({"rate": "x"}, "rate: found 'x'; accepted: a number"),
        ({"sizes": 4}, "sizes: found 4; accepted: a law of grid.distributions"),
        ({"runtimes": None}, "runtimes: found None; accepted: a law of grid.distributions"),
        ({"origins": (0.9, 0.9)}, "sum of the shares of origins: found 1.8"),
        ({"classes": CLASSES[:1]}, "sum of the shares of service classes: found 0.3"),
    ],
)
def test_bad_parameters_are_named(change, named):
    with pytest.raises(WorkloadError, match=named):
        replace(OPEN, **change)


def test_bad_batches_and_loads_are_named():
    with pytest.raises(WorkloadError, match="mean batch: found 0"):
        BatchWorkload(mean_batch=0, **MIX)
    with pytest.raises(WorkloadError, match="offered load: found 0"):
        arrival_rate(0, OPEN.sizes, OPEN.runtimes, [1], [1.0])
    with pytest.raises(WorkloadError, match="sum of processors x rate: found 0"):
        arrival_rate(1, OPEN.sizes, OPEN.runtimes, [], [])


def test_composition():
    jobs = jobs_of(replace(OPEN, count=40_000, composition=(50, 0, 30, 20), request="ordered"))
    counts = (jobs["components"] > 0).sum(axis=1)
    assert np.bincount(counts, minlength=5)[1:] / 40_000 == pytest.approx(
        [0.5, 0, 0.3, 0.2], abs=0.01
    )
    assert (jobs["size"] == jobs["components"].sum(axis=1)).all()
    parts = jobs["components"][jobs["components"] > 0]
    assert parts.mean() == pytest.approx(OPEN.sizes.mean, rel=0.01)
    assert (parts.min(), parts.max()) == (1, 16)
    assert (jobs["request"] == REQUEST_KINDS.index("ordered")).all()
    rate = arrival_rate(0.5, OPEN.sizes, OPEN.runtimes, [100], [1.0], OPEN.composition)
    split = arrival_rate(0.5, OPEN.sizes, OPEN.runtimes, [100], [1.0], (50, 0, 30, 20))
    assert rate / split == pytest.approx(2.2)


@pytest.mark.parametrize("largest", [4, 5, 16])
def test_dependent_components(largest):
    jobs = jobs_of(replace(OPEN, largest_component=largest))
    for job in jobs[:500]:
        parts = job["components"][job["components"] > 0]
        assert parts.sum() == job["size"]
        assert len(parts) == math.ceil(job["size"] / largest)
        assert parts.max() - parts.min() <= 1


@pytest.mark.parametrize(
    "changes",
    [
        {"composition": (50, 49)},
        {"composition": (120, -20)},
        {"composition": (100,) + (0,) * MAX_COMPONENTS},
        {"largest_component": -1},
    ],
)
def test_components_that_cannot_be(changes):
    with pytest.raises(WorkloadError, match="accepted: "):
        replace(OPEN, **changes)
