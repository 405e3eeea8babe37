from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grid.distributions import (
    LARGEST_SIZE,
    BoundedPareto,
    Deterministic,
    Empirical,
    Exponential,
    Hyperexponential,
    LogUniformSizes,
    NormalSizes,
    UniformSizes,
    guide,
    runtime_at,
    size_at,
)
from grid.errors import WorkloadError
from grid.kernel.compile import compiled
from grid.workloads.synthetic import SyntheticWorkload

DRAWS = 40_000
SIZES = (
    UniformSizes(10, 50),
    UniformSizes(3, 3),
    NormalSizes(1, 32),
    NormalSizes(5, 40, mu=12.0, sigma=9.5),
    LogUniformSizes(1, 128),
    LogUniformSizes(8, 100),
)
RUNTIMES = (
    BoundedPareto(5, 100),
    BoundedPareto(1, 1e6, 1.5),
    BoundedPareto(2, 3, 0.3),
    Exponential(250.0),
)
MIXTURES = (Hyperexponential(20.0, 3.0), Hyperexponential(5.0, 1.0))


@compiled(cache=False)  # helpers of compiled code cannot be called from Python
def runtime_level(law, u):
    return runtime_at(law, u)


@compiled(cache=False)
def _size_level(cumulative, first, minimum, u):
    return size_at(cumulative, first, minimum, u)


def size_level(cumulative, minimum, u):
    return _size_level(cumulative, guide(cumulative), minimum, u)


def drawn(column, sizes=SIZES[0], runtimes=RUNTIMES[0]):
    workload = SyntheticWorkload(count=DRAWS, rate=1.0, sizes=sizes, runtimes=runtimes, seed=7)
    return np.concatenate([jobs[column].copy() for jobs in workload.chunks()])


def chi_square_bound(freedom):
    """Value that a chi-square variable exceeds once in 2000 times (Wilson and Hilferty)."""
    part = 2 / (9 * freedom)
    return freedom * (1 - part + 3.29 * math.sqrt(part)) ** 3


@pytest.mark.parametrize("law", SIZES, ids=repr)
def test_sizes_follow_their_law(law):
    values = np.arange(law.minimum, law.maximum + 1)
    mass = np.diff([0.0, *(law.cdf(int(n)) for n in values)])
    sizes = drawn("size", sizes=law)
    assert law.minimum <= sizes.min() <= sizes.max() <= law.maximum
    observed = np.bincount(sizes - law.minimum, minlength=len(values))
    expected = mass * DRAWS
    common = expected >= 5  # the usual condition for chi-square; the rest is pooled
    observed = np.append(observed[common], observed[~common].sum())
    expected = np.append(expected[common], expected[~common].sum())
    filled = expected > 0
    statistic = ((observed - expected)[filled] ** 2 / expected[filled]).sum()
    assert observed[~filled].sum() == 0
    assert statistic < chi_square_bound(max(filled.sum() - 1, 1))
    # the mean is known exactly, and the draws lie within four of its standard errors
    assert law.mean == pytest.approx((values * mass).sum())
    spread = math.sqrt((values**2 * mass).sum() - law.mean**2) if len(values) > 1 else 0.0
    assert abs(sizes.mean() - law.mean) <= 4 * spread / math.sqrt(DRAWS) + 1e-12


@pytest.mark.parametrize("law", RUNTIMES + MIXTURES, ids=repr)
def test_runtimes_follow_their_law(law):
    runtimes = np.sort(drawn("runtime", runtimes=law))
    cdf = np.array([law.cdf(x) for x in runtimes])
    steps = np.arange(DRAWS + 1) / DRAWS
    distance = max((steps[1:] - cdf).max(), (cdf - steps[:-1]).max())
    assert distance < 2.0 / math.sqrt(DRAWS)  # exceeded once in 1500 times (Kolmogorov)


@pytest.mark.parametrize("law", RUNTIMES + MIXTURES, ids=repr)
def test_mean_run_time_is_the_integral_of_the_tail(law):
    x = np.geomspace(1e-6, 1e6, 100_001)
    tail = 1 - np.array([law.cdf(each) for each in x])
    integral = x[0] + ((tail[1:] + tail[:-1]) / 2 * np.diff(x)).sum()
    assert law.mean == pytest.approx(integral, rel=1e-4)


@pytest.mark.thorough
@pytest.mark.parametrize("law", RUNTIMES, ids=repr)
@given(u=st.floats(0, 1, exclude_max=True))
def test_run_times_invert_the_cdf(law, u):
    assert law.cdf(runtime_level(law.law(), u)) == pytest.approx(u, abs=1e-9)


@pytest.mark.thorough
@given(minimum=st.integers(1, 500), width=st.integers(0, 500), u=st.floats(0, 1, exclude_max=True))
def test_sizes_invert_the_cdf(minimum, width, u):
    law = LogUniformSizes(minimum, minimum + width)
    size = size_level(law.cumulative(), minimum, u)
    assert u < law.cdf(size) + 1e-12
    assert size == minimum or law.cdf(size - 1) <= u + 1e-12


def test_levels_at_the_steps_of_the_cdf_belong_to_the_next_size():
    table = UniformSizes(3, 6).cumulative()
    levels = (0.0, 0.249, 0.25, 0.5, 0.75, 0.999)
    assert [size_level(table, 3, u) for u in levels] == [3, 3, 4, 5, 6, 6]


def test_means_in_closed_form():
    assert BoundedPareto(5, 100).mean == pytest.approx(5 * 100 / 95 * math.log(20))
    two = (2 / (1 - 0.05**2)) * (5 - 25 / 100)  # exponent 2
    assert BoundedPareto(5, 100, 2.0).mean == pytest.approx(two)
    # continuous in the exponent, 1 included
    assert BoundedPareto(5, 100, 1 + 1e-7).mean == pytest.approx(BoundedPareto(5, 100).mean)
    assert Deterministic(3.5).mean == 3.5
    assert UniformSizes(10, 50).mean == 30
    assert NormalSizes(1, 32).mean == pytest.approx(16.5)
    # sum of n P(n) = M - log(M!) / log(M + 1)
    mean = 128 - math.lgamma(129) / math.log(129)
    assert LogUniformSizes(1, 128).mean == pytest.approx(mean)


def test_deterministic_draws():
    assert (drawn("runtime", runtimes=Deterministic(3.5)) == 3.5).all()
    assert [Deterministic(3.5).cdf(x) for x in (3.4, 3.5)] == [0.0, 1.0]


def test_cdf_outside_the_range():
    assert [BoundedPareto(5, 100).cdf(x) for x in (0, 5, 100, 1e9)] == [0, 0, 1, 1]
    assert Exponential(2.0).cdf(-1) == 0


def test_log_uniform_counts_from_one():
    """P(size < n) is proportional to log n: nothing below 1, everything below M + 1."""
    law = LogUniformSizes(1, 63)
    for n in (2, 4, 8, 16, 32, 64):
        assert law.cdf(n - 1) == pytest.approx(math.log2(n) / 6)


def test_normal_defaults():
    assert NormalSizes(1, 31).cdf(15) == pytest.approx(NormalSizes(1, 31, 16.0, 5.0).cdf(15))
    assert NormalSizes(4, 4).mean == 4


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: UniformSizes(0, 4), "minimum size: found 0"),
        (lambda: UniformSizes(1.5, 4), "minimum size: found 1.5"),
        (lambda: UniformSizes(5, 4), "maximum size: found 4"),
        (lambda: LogUniformSizes(1, LARGEST_SIZE + 1), "maximum size: found 1048577"),
        (lambda: NormalSizes(1, 9, mu=10.0), "mu of normal sizes: found 10.0"),
        (lambda: NormalSizes(1, 9, sigma=0.0), "sigma of normal sizes: found 0.0"),
        (lambda: BoundedPareto(0, 10), "lower run time: found 0"),
        (lambda: BoundedPareto(10, 10), "upper run time: found 10"),
        (lambda: BoundedPareto(1, math.inf), "upper run time: found inf"),
        (lambda: BoundedPareto(1, 10, -1), "Pareto exponent: found -1"),
        (lambda: Exponential(-3.0), "mean run time: found -3.0"),
        (lambda: Exponential(math.nan), "mean run time: found nan"),
        (lambda: Deterministic(0.0), "run time: found 0.0"),
    ],
)
def test_bad_parameters_are_named(make, named):
    with pytest.raises(WorkloadError, match=named) as caught:
        make()
    assert "accepted:" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("cv", [1.0, 2.0, 10.0])
def test_hyperexponential_moments_and_balanced_means(cv):
    law = Hyperexponential(4.0, cv)
    _, first, short, long = law.law()
    assert first * short == pytest.approx(2.0)
    assert (1 - first) * long == pytest.approx(2.0)
    second = 2 * (first * short**2 + (1 - first) * long**2)
    assert second / 16.0 - 1.0 == pytest.approx(cv**2)


@pytest.mark.parametrize("make", [lambda: Hyperexponential(1.0, 0.9), lambda: Empirical(())])
def test_what_is_no_law_is_refused(make):
    with pytest.raises(WorkloadError, match="accepted: "):
        make()


def test_run_times_of_a_log():
    law = Empirical((3.0, 3.0, 8.0, 100.0))
    values, counts = np.unique(drawn("runtime", runtimes=law), return_counts=True)
    assert values.tolist() == [3.0, 8.0, 100.0]
    assert counts / DRAWS == pytest.approx([0.5, 0.25, 0.25], abs=0.01)
    assert (law.mean, law.cdf(2.0), law.cdf(8.0)) == (28.5, 0.0, 0.75)
