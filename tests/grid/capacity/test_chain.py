"""The true chain against closed forms and a simulation of its own."""

from __future__ import annotations

import random

import pytest

from grid.capacity import chain
from grid.capacity.chain import true_capacity
from grid.capacity.requests import Requests
from grid.capacity.total import total_capacity
from grid.capacity.unordered import unordered_capacity
from grid.errors import GridError
from grid.workloads.component_sizes import parse_sizes


def jobs_of(law, clusters, size):
    return Requests.independent(parse_sizes(law, size).density(), clusters, size)


def simulated(requests, waiting, max_jumps, events=60_000):
    """Return the utilization of a closed queue, from one departure to the next."""
    draws = random.Random(7)
    kinds = requests.components.tolist()

    def drawn():
        return [draws.choices(kinds, requests.probabilities)[0], 0]

    used = [0] * requests.clusters
    served, queue = [], [drawn() for _ in range(waiting)]
    area = time = 0.0
    for _ in range(events):
        at = 0
        while at < len(queue):
            order = sorted(range(len(used)), key=lambda c: (used[c], c))
            kind = queue[at][0]
            if all(used[c] + n <= requests.size for c, n in zip(order, kind, strict=True)):
                served.append(list(zip(order, kind, strict=True)))
                for c, n in served[-1]:
                    used[c] += n
                del queue[at]
                for overtaken in queue[:at]:
                    overtaken[1] += 1
                queue.append(drawn())
            else:
                at += 1
            if any(job[1] >= max_jumps for job in queue[:at]):
                break
        lasts = draws.expovariate(len(served))
        area += lasts * sum(used)
        time += lasts
        for c, n in served.pop(draws.randrange(len(served))):
            used[c] -= n
    return area / time / (requests.clusters * requests.size)


def test_single_processor_jobs_use_all():
    found, states = true_capacity(jobs_of("U[1,1]", 1, 5))
    assert (found.mpl, found.utilization, states) == pytest.approx((5, 1, 1))


@pytest.mark.parametrize("law", ["U[1,3]", "D(0.8)[1,6]", "U[2,5]"])
def test_on_one_cluster_it_is_the_formula_of_total_requests(law):
    found, _ = true_capacity(jobs_of(law, 1, 6))
    formula = total_capacity([parse_sizes(law, 6).density()], 6)
    assert found.mpl == pytest.approx(formula.mpl, abs=1e-9)
    assert found.utilization == pytest.approx(formula.utilization, abs=1e-9)


@pytest.mark.parametrize(
    ("law", "clusters", "size"), [("U[1,3]", 2, 6), ("U[1,3]", 2, 5), ("D(0.8)[1,3]", 2, 7)]
)
def test_the_approximation_loses_too_little(law, clusters, size):
    jobs = jobs_of(law, clusters, size)
    truth = true_capacity(jobs)[0].capacity_loss
    assert 1e-4 < truth - unordered_capacity(jobs).capacity_loss < 0.01


@pytest.mark.thorough
@pytest.mark.parametrize(("waiting", "max_jumps"), [(1, None), (2, None), (3, 0), (3, 1), (2, 2)])
def test_the_utilization_is_that_of_a_simulation(waiting, max_jumps):
    jobs = jobs_of("U[1,3]", 2, 4)
    truth, _ = true_capacity(jobs, waiting, max_jumps)
    jumps = 10**9 if max_jumps is None else max_jumps
    assert simulated(jobs, waiting, jumps) == pytest.approx(truth.utilization, abs=0.005)


def test_the_approximation_is_no_bound():
    jobs = jobs_of("U[2,4]", 2, 8)
    truth = true_capacity(jobs)[0].capacity_loss
    assert 5e-5 < unordered_capacity(jobs).capacity_loss - truth < 0.001


def test_overtaking_helps_the_more_the_longer_the_queue_and_the_more_jumps():
    jobs = jobs_of("U[1,2]", 2, 4)
    fcfs = true_capacity(jobs)[0].utilization
    assert true_capacity(jobs, 3, 0)[0].utilization == pytest.approx(fcfs, abs=1e-9)
    longer = [true_capacity(jobs, k)[0].utilization for k in (1, 2, 3)]
    jumps = [true_capacity(jobs, 3, most)[0].utilization for most in (0, 1, 2)]
    assert longer == sorted(set(longer))
    assert [*jumps, longer[-1]] == sorted({*jumps, longer[-1]})


def test_split_jobs_with_fewer_components_than_clusters():
    jobs = Requests.split([0, 0.5, 0, 0.5], 2, 2)
    assert jobs.components.tolist() == [[1, 0], [2, 1]]
    truth, _ = true_capacity(jobs)
    assert simulated(jobs, 1, 0) == pytest.approx(truth.utilization, abs=0.005)


def test_what_is_not_accepted(monkeypatch):
    jobs = jobs_of("U[1,3]", 2, 4)
    with pytest.raises(GridError, match="waiting jobs: found 0"):
        true_capacity(jobs, 0)
    with pytest.raises(GridError, match="max_jumps: found -1"):
        true_capacity(jobs, 2, -1)
    monkeypatch.setattr(chain, "MOST_STATES", 100)
    with pytest.raises(GridError, match="more than 100 states"):
        true_capacity(jobs, 3)
