"""The model of Lublin and Feitelson against its laws, worked out by scipy or summed plainly."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, stats

from experiments.scenario.notes import notes
from experiments.scenario.scenario import Scenario
from grid.errors import GridError, WorkloadError
from grid.platform.multicluster import Platform
from grid.workloads.lublin import (
    BATCH,
    INTERACTIVE,
    arrivals,
    day_shares,
    lublin_jobs,
    runtimes,
    sizes,
)

COUNT = 20_000
# As published for 128 processors: serial, powers, low, middle, high, probability of the low stage.
PUBLISHED = {
    "batch": (BATCH, 0.2927, 0.6686, 1.2, 5.0, 7.0, 0.875),
    "interactive": (INTERACTIVE, 0.1541, 0.625, 1.0, 3.0, 5.5, 0.705),
}
TIMES = {
    "batch": ((6.57, 0.823), (639.1, 0.0156), -0.003, 0.6986),
    "interactive": ((3.8351, 0.6605), (7.073, 0.6856), -0.0118, 0.9156),
}


def draws(rows, seed=1):
    return np.random.default_rng(seed).random((rows, COUNT))


def exponents(low, middle, high, first):
    """Return the distribution function of the logarithm of parallel sizes."""

    def below(x):
        lower = np.clip((x - low) / (middle - low), 0, 1)
        return first * lower + (1 - first) * np.clip((x - middle) / (high - middle), 0, 1)

    return below


@pytest.mark.parametrize("name", PUBLISHED)
def test_sizes_have_their_probabilities(name):
    kind, serial, powers, *law = PUBLISHED[name]
    below = exponents(*law)
    found = sizes(kind, 128, *draws(3))
    probability = np.zeros(129)
    for exponent in range(8):
        probability[2**exponent] += powers * (below(exponent + 0.5) - below(exponent - 0.5))
    for size in range(1, 129):
        either = below(math.log2(size + 0.5)) - below(math.log2(size - 0.5))
        probability[size] += (1 - serial - powers) * either
    probability[1] += serial
    assert probability.sum() == pytest.approx(1)
    expected = probability * COUNT
    counted = np.bincount(found, minlength=129)
    often = expected >= 5
    chi = ((counted - expected)[often] ** 2 / expected[often]).sum()
    assert stats.chi2.sf(chi, often.sum() - 1) > 0.01
    assert counted[~often].sum() == pytest.approx(expected[~often].sum(), abs=30)


def test_sizes_follow_the_machine():
    for largest in (32, 100, 1024):
        found = sizes(BATCH, largest, *draws(3))
        assert largest / 2 < found.max() <= largest
    with pytest.raises(WorkloadError, match=r"^max_size: found 31; accepted: from 32"):
        lublin_jobs(5, 31, 0)


@pytest.mark.parametrize("size", [1, 30, 128])
@pytest.mark.parametrize("name", TIMES)
def test_run_times_are_hyper_gamma_below_their_limit(name, size):
    (a1, b1), (a2, b2), slope, intercept = TIMES[name]
    share = min(1, max(0, intercept + slope * size))

    def below(x):
        both = share * stats.gamma.cdf(x, a1, scale=b1)
        return both + (1 - share) * stats.gamma.cdf(x, a2, scale=b2)

    found = runtimes(PUBLISHED[name][0], np.full(COUNT, size), *draws(2, seed=size))
    test = stats.kstest(np.log(found), lambda x: below(x) / below(12.0))
    assert test.pvalue > 0.01
    assert found.max() <= math.exp(12)

    def density(x):
        both = share * stats.gamma.pdf(x, a1, scale=b1)
        return (both + (1 - share) * stats.gamma.pdf(x, a2, scale=b2)) / below(12.0)

    mean = integrate.quad(lambda x: math.exp(x) * density(x), 0, 12, points=[9, 10, 11])[0]
    error = found.std() / math.sqrt(COUNT)
    assert found.mean() == pytest.approx(mean, abs=4 * error)


@pytest.mark.parametrize(
    ("kind", "shape", "scale"),
    [(BATCH, 6.0415 * 1.0519, 0.8531), (INTERACTIVE, 6.5510 * 0.9797, 0.6621)],
)
def test_gaps_and_hours_of_arrivals(kind, shape, scale):
    place = draws(1)[0]
    found = arrivals(kind, place)
    assert (np.diff(found) > 0).all()
    shares = day_shares(kind)
    assert shares.mean() == pytest.approx(1)
    # Walk the half hours one by one, paying each its share of the time that passes.
    logs = stats.gamma.ppf(
        place[:400] * stats.gamma.cdf(13, shape, scale=scale), shape, scale=scale
    )
    gaps = np.exp(logs)
    interval, paid, plain = 0, 0.0, []
    for gap in gaps:
        left = gap
        while left > shares[interval % 48] * 1800 - paid:
            left -= shares[interval % 48] * 1800 - paid
            interval, paid = interval + 1, 0.0
        paid += left
        plain.append(1800 * (interval + paid / (shares[interval % 48] * 1800)))
    assert found[:400] == pytest.approx(plain, rel=1e-6)
    counted = np.bincount((found % 86_400 // 1800).astype(int), minlength=48) / COUNT
    assert np.corrcoef(counted, shares)[0, 1] > 0.9


def test_most_arrive_by_day():
    shares = day_shares(BATCH)
    by_hour = shares.reshape(24, 2).mean(axis=1)
    assert 9 <= int(by_hour.argmax()) <= 16
    assert by_hour[3] < 0.5 < 1.5 < by_hour.max()


def test_a_scenario_of_the_model():
    parameters = {
        "mode": "open",
        "jobs": 3000,
        "max_size": 128,
        "load": 0.6,
        "workload_model": "lublin-feitelson",
        "runtimes": "exponential",
    }
    scenario = Scenario("mine", Platform.star([128, 64], [1.0, 2.0]), parameters, "dll", "easy")
    (jobs,) = [*scenario.model(seed=3).workload.chunks()]
    assert jobs["number"].tolist() == list(range(1, 3001))
    assert 0.1 < (jobs["size"] == 1).mean() < 0.4
    load = jobs["size"] @ jobs["runtime"] / (256 * jobs["arrival"][-1])
    assert load == pytest.approx(0.6)
    assert (jobs["user"] == -1).all()
    again = next(scenario.model(seed=3).workload.chunks())
    assert (again == jobs).all()
    assert (next(scenario.model(seed=4).workload.chunks())["size"] != jobs["size"]).any()
    assert notes(scenario) == [
        "parameters without effect: runtimes (workload_model gives the jobs)"
    ]
    with pytest.raises(
        GridError, match=r"^mine: workload_model: found 'lublin-feitelson'; accepted: in mode"
    ):
        scenario.changed(["mode=batch"]).model()
