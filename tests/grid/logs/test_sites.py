from __future__ import annotations

import math

import numpy as np
import pytest

from grid.errors import WorkloadError
from grid.jobs import ANYWHERE, UNKNOWN, job_table
from grid.logs.cleaning import NONE_OF_SITE, NUMBER_AGAIN, NUMBER_SHARED, Applied
from grid.logs.sites import merge_sites

SITES = {0: "C1", 1: "C2", 2: "C3"}


def log(numbers, arrivals, deadlines=None):
    rows = job_table(len(numbers))
    rows["size"], rows["runtime"] = 1, 1.0
    rows["number"], rows["arrival"] = numbers, arrivals
    if deadlines:
        rows["deadline"] = deadlines
    return rows


def test_sites_keep_their_times_and_their_numbers():
    north, south = log([5, 6, 7], [5, 10, 20], [9, math.inf, 100]), log([1, 2], [0, 10])
    merged = merge_sites({3: north, 0: south})
    assert merged["number"].tolist() == [1, 5, 2, 6, 7]  # ties by index of the site
    assert merged["arrival"].tolist() == [0, 5, 10, 10, 20]
    assert merged["origin"].tolist() == [0, 3, 0, 3, 3]
    assert merged["deadline"].tolist() == [math.inf, 9, math.inf, math.inf, 100]
    assert (north["origin"] == ANYWHERE).all()


def test_numbers_that_sites_share_are_kept_and_counted():
    logs = {2: log([1, 7], [0, 2]), 0: log([7, 150], [0, 2]), 1: log([900, 7, 7], [0, 1, 2])}
    merged = merge_sites(logs)
    rules = Applied(np.zeros(7), {}, sites=SITES).cleaning(merged).rules
    assert rules == {NUMBER_AGAIN: 1, NUMBER_SHARED: 3}
    by_site = {site: merged["number"][merged["origin"] == site].tolist() for site in (0, 1, 2)}
    assert by_site == {site: rows["number"].tolist() for site, rows in logs.items()}


def test_a_number_twice_at_one_site_is_no_collision():
    merged = merge_sites({0: log([4, 4], [0, 1]), 1: log([5], [1])})
    rules = Applied(np.zeros(3), {}, sites={0: "C1", 1: "C2"}).cleaning(merged).rules
    assert rules == {NUMBER_AGAIN: 1}
    assert sorted(merged["number"].tolist()) == [4, 4, 5]


def test_a_site_whose_log_ends_long_before_the_others_is_told():
    merged = merge_sites(
        {0: log([1, 2], [5, 95]), 1: log([3, 4], [5, 94]), 2: log([5, 6], [9, 105])}
    )
    told = Applied(np.zeros(6), {}, sites=SITES).cleaning(merged).rules
    last = "job after the last that C2 submits, at 94 s; the last of all: 105 s"
    assert told == {last: 2}  # as arrivals are, not counted from the first of them
    told = Applied(np.zeros(6), {}, sites=SITES).cleaning(merged[3:], 10, 200).rules
    assert [rule for rule in told if "none" in rule] == []
    told = Applied(np.zeros(6), {}, sites=SITES).cleaning(merged[4:], 95, 200).rules
    assert told[NONE_OF_SITE.format(site="C2")] == 2


def test_people_of_different_sites_are_different():
    north, middle, south = (log([n, n + 1, n + 2], [0, 10, 20]) for n in (1, 4, 7))
    north["user"], south["user"] = [0, 1, 0], [UNKNOWN, 0, 1]
    middle["application"], south["application"] = [4, UNKNOWN, 4], [0, 4, 4]
    merged = merge_sites({0: north, 1: middle, 2: south})
    merged.sort(order="number")
    assert merged["user"].tolist() == [0, 1, 0, *[UNKNOWN] * 4, 2, 3]
    assert merged["application"].tolist() == [*[UNKNOWN] * 3, 4, UNKNOWN, 4, 5, 9, 9]
    assert south["user"].tolist() == [UNKNOWN, 0, 1]


def test_nothing_to_merge():
    with pytest.raises(WorkloadError, match="logs of sites: found 0"):
        merge_sites({})
    with pytest.raises(WorkloadError, match="jobs of site 1: found 0"):
        merge_sites({1: job_table(0)})
