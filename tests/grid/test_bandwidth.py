import math
from itertools import permutations, product

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import linprog

from grid.bandwidth import allotment_ratios, bandwidth_shares, link_demand, residual_times
from grid.errors import GridError
from grid.platform.topology import CENTRE, Link, clusters_of, network, sides, uplinks

STAR = np.eye(3, dtype=bool)


@st.composite
def cases(draw):
    """Return demands (jobs, links) with many zeros and equal values, and capacities."""
    jobs, links = draw(st.integers(1, 7)), draw(st.integers(1, 5))
    values = st.one_of(st.just(0.0), st.sampled_from([1.0, 2.0, 30.0]), st.floats(0.01, 1000))
    demands = draw(arrays(float, (jobs, links), elements=values))
    room = st.one_of(st.sampled_from([1.0, 3.0, 60.0]), st.floats(0.1, 5000), st.just(math.inf))
    return demands, draw(arrays(float, links, elements=room))


def test_figure_5():
    ppbw = 12.5
    demand = link_demand([3, 2, 1], ppbw, STAR)
    assert demand[0] == 3 * ppbw * (9 / 15)
    assert demand.tolist() == [3 * ppbw * 3 / 5, 2 * ppbw * 4 / 5, ppbw]


def test_jobs_that_need_no_link():
    counts = [[1, 0, 0], [0, 40, 0], [0, 0, 0]]
    assert link_demand(counts, [7.0, 8.0, 9.0], STAR).tolist() == [[0.0] * 3] * 3


def test_many_jobs_are_as_one_by_one():
    counts, ppbw = np.array([[3, 2, 1], [5, 0, 5], [4, 0, 0]]), np.array([1.0, 20.0, 5.0])
    together = link_demand(counts, ppbw, STAR)
    assert together.shape == (3, 3)
    for row, count, need in zip(together, counts, ppbw, strict=True):
        assert row.tolist() == link_demand(count, need, STAR).tolist()


@given(st.lists(st.integers(0, 4), min_size=4, max_size=4), st.floats(0.1, 100))
def test_demand_on_a_tree_counts_every_message(counts, ppbw):
    links = [Link("A", "S"), Link("B", "S"), Link("S", CENTRE), Link("D", CENTRE), Link("E", "D")]
    graph = network(["A", "B", "D", "E"], links, ["S"])
    nodes = [name for name, n in zip(clusters_of(graph), counts, strict=True) for _ in range(n)]
    messages = dict.fromkeys(map(frozenset, uplinks(graph)), 0)
    for sender, receiver in permutations(range(len(nodes)), 2):
        path = nx.shortest_path(graph, nodes[sender], nodes[receiver])
        for link in nx.utils.pairwise(path):
            messages[frozenset(link)] += 1
    # A node's bandwidth covers what it sends and receives, so a message each way is one share.
    shares = [count / 2 / max(len(nodes) - 1, 1) for count in messages.values()]
    expected = [share * ppbw for share in shares]
    assert link_demand(counts, ppbw, sides(graph)) == pytest.approx(expected)


def test_two_levels_of_bottlenecks():
    # Link 1 (10 for 40) first: jobs 1 and 2 get 1/4. On link 2 job 2 then takes 5 of 35, so
    # job 3 gets 30 of 40. Equation 3's initial ratio would be 35 / 60. Link 3 carries 30 + 6
    # of 36: full, not saturated, so job 4 keeps all it wants.
    demands = [[20, 0, 0], [20, 20, 0], [0, 40, 40], [0, 0, 6]]
    assert bandwidth_shares(demands, [10, 35, 36]).tolist() == [0.25, 0.25, 0.75, 1.0]


def test_a_split_pair_on_a_star():
    # Two jobs of 2 + 2 nodes share link 1: each needs 2 * 60 * 2 / 3 = 80 of its 100.
    demands = link_demand([[2, 2, 0], [2, 0, 2]], [60.0, 60.0], STAR)
    assert bandwidth_shares(demands, [100, 100, 100]).tolist() == pytest.approx([0.625, 0.625])


def test_tied_links_slow_their_jobs_alike():
    demands = [[20, 0], [0, 20], [20, 20]]
    assert bandwidth_shares(demands, [10, 10]).tolist() == [0.25] * 3
    # Differing in the last digits only, as sums in another order do.
    ratios = bandwidth_shares(demands, [10, 10 * (1 + 1e-13)])
    assert ratios.tolist() == [0.25] * 3


def test_a_link_used_to_the_full_slows_nobody():
    assert bandwidth_shares([[0.1]] * 3, [0.3]).tolist() == [1.0] * 3  # 0.1 * 3 > 0.3


def test_no_jobs():
    assert bandwidth_shares(np.empty((0, 2)), [1, 2]).tolist() == []


def test_rounding_leaves_no_job_without_bandwidth():
    # What the first two jobs leave of the second link for the third is lost in rounding.
    big, small = 1.5326700958564101, 6.897464221392391e-09
    demands = [[big, big, 0], [0, small, small], [0, 1e-20, 0]]
    ratios = bandwidth_shares(
        demands, [0.45147488048307755, 0.45147488334043046, 2.8573529038358784e-09]
    )
    assert ratios == pytest.approx([0.29456755, 0.41426136, 0.41426136])


@given(cases())
def test_bottleneck_fairness(case):
    demands, capacity = case
    ratios = bandwidth_shares(demands, capacity)
    assert ((ratios > 0) & (ratios <= 1)).all()
    used = ratios @ demands
    assert (used <= capacity * (1 + 1e-8)).all()
    full = used >= capacity * (1 - 1e-8)
    for job in np.flatnonzero(ratios < 1):
        # Its share could grow only by taking from a job that has no more than it: on some full
        # link nobody has a larger one.
        assert any(
            full[link] and ratios[job] >= ratios[demands[:, link] > 0].max() * (1 - 1e-8)
            for link in np.flatnonzero(demands[job])
        )


@given(cases())
def test_the_smallest_ratio_is_the_initial_saturation(case):
    demands, capacity = case
    required = demands.sum(axis=0)
    saturation = [c / r for c, r in zip(capacity, required, strict=True) if r > 0]  # eq. 3
    assert bandwidth_shares(demands, capacity).min() == pytest.approx(min([1.0, *saturation]))


@given(cases())
def test_without_saturation_all_run_at_full_speed(case):
    demands, _ = case
    ample = np.maximum(demands.sum(axis=0), 1.0)
    assert (bandwidth_shares(demands, ample) == 1).all()
    assert (bandwidth_shares(demands, np.full(len(ample), np.inf)) == 1).all()


@given(cases(), st.sampled_from([1e-6, 0.3, 7.0, 1e9]))
def test_units_do_not_matter(case, scale):
    demands, capacity = case
    assert bandwidth_shares(demands * scale, capacity * scale) == pytest.approx(
        bandwidth_shares(demands, capacity), rel=1e-7
    )


@given(cases(), st.randoms(use_true_random=False))
def test_order_does_not_matter(case, random):
    demands, capacity = case
    jobs = random.sample(range(len(demands)), len(demands))
    links = random.sample(range(len(capacity)), len(capacity))
    shuffled = bandwidth_shares(demands[np.ix_(jobs, links)], capacity[links])
    assert shuffled == pytest.approx(bandwidth_shares(demands, capacity)[jobs], rel=1e-7)


def most_equal_ratios(demand, capacity):
    """Return ratios of which the least is as large as can be, then the second least, and so on.

    By linear programs: raise the ratios of all jobs alike as far as links allow; those jobs keep
    theirs of which none can have more while the others have no less.
    """
    jobs = len(demand)
    kept = np.full(jobs, np.nan)
    while np.isnan(kept).any():
        free = np.isnan(kept)
        least, _ = best(demand, capacity, kept, np.zeros(jobs), None)
        floor = np.where(free, least - 1e-9, 0.0)
        for job in np.flatnonzero(free):
            most, _ = best(demand, capacity, kept, floor, job)
            if most <= least + 1e-7:
                kept[job] = least
    return kept


def best(demand, capacity, kept, floor, job):
    """Maximise the ratio of a job, or of all jobs whose ratio is not kept yet, alike."""
    jobs = len(demand)
    free = np.isnan(kept)
    bounds = [(floor[j], 1.0) if free[j] else (kept[j], kept[j]) for j in range(jobs)]
    alike = np.zeros((int(free.sum()), jobs + 1))
    alike[np.arange(len(alike)), np.flatnonzero(free)] = -1.0
    alike[:, -1] = 1.0
    links = np.hstack([demand.T / capacity[:, None], np.zeros((len(capacity), 1))])
    aim = np.zeros(jobs + 1)
    aim[-1 if job is None else job] = -1.0
    rows = np.vstack([links, alike])
    limits = np.concatenate([np.ones(len(capacity)) + 1e-9, np.zeros(len(alike))])
    solved = linprog(aim, rows, limits, bounds=[*bounds, (0, 1)], method="highs")
    assert solved.success, solved.message
    return -solved.fun, solved.x


@pytest.mark.parametrize("seed", range(25))
def test_allotments_are_those_of_linear_programs(seed):
    rng = np.random.default_rng(seed)
    jobs, links = int(rng.integers(1, 9)), int(rng.integers(2, 6))
    nodes = rng.integers(0, 6, (jobs, links))
    nodes[nodes.sum(axis=1) == 0, 0] = 3
    ppbw = rng.choice([0.0, 5.0, 20.0, 80.0], jobs) if seed % 2 else rng.lognormal(3, 1, jobs)
    capacity = rng.choice([30.0, 60.0, 200.0], links)
    ratios = allotment_ratios(nodes, ppbw, capacity)
    demand = link_demand(nodes, ppbw, np.eye(links, dtype=bool))
    assert ratios == pytest.approx(most_equal_ratios(demand, capacity), abs=1e-5)
    assert (ratios @ demand <= capacity * (1 + 1e-9)).all()
    alone = (nodes > 0).sum(axis=1) == 1
    assert (ratios[alone] == 1).all()


def test_a_job_of_very_many_nodes_still_loads_its_links():
    assert link_demand([2**40, 2**40], 1.0, STAR[:2, :2]) == pytest.approx([2.0**39] * 2)


def test_allotments_take_one_number_for_all():
    nodes = [[2, 2], [1, 3], [4, 0]]
    ratios = allotment_ratios(nodes, 30.0, 35.0)
    assert ratios.tolist() == [0.5, 0.5, 1.0]  # 40 and 30 Mbit/s on 35
    assert allotment_ratios(nodes, [30.0] * 3, [35.0] * 2).tolist() == ratios.tolist()


@pytest.mark.parametrize(
    ("nodes", "ppbw", "capacity", "words"),
    [
        ([[1, -1]], 1.0, 10.0, "nodes: found -1; accepted: whole numbers from 0"),
        ([[1, 1.5]], 1.0, 10.0, "nodes: found 1.5; accepted: whole numbers from 0"),
        ([[1, 1]], -1.0, 10.0, "ppbw: found -1.0; accepted: Mbit/s, from 0"),
        ([[1, 1]], math.nan, 10.0, "ppbw: found nan; accepted: Mbit/s, from 0"),
        ([[1, 1]], 1.0, [10.0, 0.0], "capacity: found 0.0; accepted: Mbit/s, above 0"),
    ],
)
def test_allotments_of_nothing_sensible_are_refused(nodes, ppbw, capacity, words):
    with pytest.raises(GridError, match=f"^{words}$"):
        allotment_ratios(nodes, ppbw, capacity)


def test_residual_times_keep_stretched_time():
    # 60 + 40 s at full speed; after 25 s a quarter is done, and the ratio falls to 1/2.
    computation, communication = residual_times(60, 40, 25, 1, 0.5)
    assert (computation, communication) == (45, 60)
    # 42 s later (of 105) two fifths of either is done; the ratio rises to 3/4.
    computation, communication = residual_times(computation, communication, 42, 0.5, 0.75)
    assert (computation, communication) == pytest.approx((27, 24))


def test_residual_times_at_the_end():
    for elapsed in (10.0, 10.0 + 1e-12):
        assert residual_times(6.0, 4.0, elapsed, 1.0, 0.1) == (0, 0)
    assert residual_times(0.0, 0.0, 0.0, 0.5, 1.0) == (0, 0)


def test_residual_times_of_many_jobs():
    computation, communication = residual_times([7, 0], [3, 8], [5, 4], [1, 0.5], [0.5, 1])
    assert computation.tolist() == [3.5, 0]
    assert communication.tolist() == [3, 2]
    assert [times.tolist() for times in residual_times(7, 3, [0, 5], 1, 1)] == [[7, 3.5], [3, 1.5]]


@given(
    st.floats(1, 1000),
    st.floats(0, 1),
    st.lists(st.tuples(st.floats(0, 0.9), st.floats(0.05, 1)), max_size=6),
)
def test_residual_times_lose_no_work(total, fraction, changes):
    """At every change, the communication left at full speed is in step with the computation."""
    times, ratio = (total * fraction, total * (1 - fraction)), 1.0
    for share, new_ratio in changes:
        before = times
        times = residual_times(*times, share * sum(times), ratio, new_ratio)
        assert times[0] == pytest.approx(before[0] * (1 - share))
        assert times[1] * new_ratio == pytest.approx(before[1] * ratio * (1 - share))
        ratio = new_ratio


def test_a_change_that_changes_nothing_moves_no_end():
    for ratio, elapsed in product((0.3, 1.0), (0.0, 12.5)):
        computation, communication = residual_times(30, 20, elapsed, ratio, ratio)
        assert elapsed + computation + communication == pytest.approx(50)
