from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from grid.jobs import job_table
from grid.logs.cleaning import (
    KILLED,
    LOW_REQUEST,
    NO_RUNTIME,
    NO_SIZE,
    NO_SUBMIT,
    NUMBER_AGAIN,
    NUMBER_SHARED,
    OUTSIDE,
    REQUESTED_SIZE,
    ZERO_RUNTIME,
    Applied,
    clean,
    merged,
)
from grid.logs.log import RECORD, Log
from grid.logs.sites import merge_sites
from grid.workloads.transform import window


def test_clean_records_are_left_alone():
    records = job_table(2)
    records["size"], records["runtime"], records["requested_time"] = 1, 5.0, [5.0, np.inf]
    jobs, rules = clean(records)
    assert (jobs == records).all()
    assert rules == {}


def test_drops_are_counted_once_and_changes_on_kept_records_only():
    records = job_table(4)
    records["size"] = [-1, -1, 3, -1]
    records["runtime"] = [-1, 0, -1, 0]
    records["requested_time"] = [np.inf, 0.5, -5, 0.5]
    before = records.copy()
    jobs, rules = clean(records, np.array([0, -1, 3, 6]))
    assert (records == before).all()
    assert jobs["number"].tolist() == [4]
    assert jobs["size"].tolist() == [6]
    assert jobs["runtime"].tolist() == jobs["requested_time"].tolist() == [1.0]
    assert {rule: rows.tolist() for rule, rows in rules.items()} == {
        NO_SIZE: [0, 1],
        NO_RUNTIME: [2],
        REQUESTED_SIZE: [3],
        ZERO_RUNTIME: [3],
        LOW_REQUEST: [3],
    }
    assert Applied(np.zeros(4), rules).cleaning(jobs).dropped == 3


@pytest.mark.parametrize("kills", [False, True])
def test_times_below_a_microsecond_are_none(kills):
    records = job_table(5)
    records["size"], records["runtime"] = 1, [5e-324, 1e-6, 2.0, 2.0, 2.0]
    records["requested_time"] = [100.0, 100.0, 1e-308, 0.0, -1.0]
    jobs, rules = clean(records, kills=kills)
    assert jobs["runtime"].tolist() == [1.0, 1e-6, 2.0, 2.0, 2.0]
    assert jobs["requested_time"].tolist() == [100.0, 100.0, np.inf, np.inf, np.inf]
    assert {rule: rows.tolist() for rule, rows in rules.items()} == {ZERO_RUNTIME: [0]}


def test_a_job_is_killed_or_its_request_raised():
    records = job_table(2)
    records["size"], records["runtime"], records["requested_time"] = 1, 9.0, [4.0, 9.0]
    for kills, rule, time in ((False, LOW_REQUEST, 9.0), (True, KILLED, 4.0)):
        jobs, rules = clean(records, kills=kills)
        assert jobs["runtime"].tolist() == jobs["requested_time"].tolist() == [time, 9.0]
        assert {rule: rows.tolist() for rule, rows in rules.items()} == {rule: [0]}


def test_numbers_used_before_are_kept_and_told():
    records = job_table(6)
    records["size"] = [1, 1, 1, 1, -1, 1]
    records["number"] = [7, 8, 7, 7, 8, 9]
    jobs, rules = clean(records)
    assert jobs["number"].tolist() == [7, 8, 7, 7, 9]
    assert Applied(np.zeros(6), rules).cleaning(jobs).rules == {
        NO_SIZE: 1,
        ZERO_RUNTIME: 5,
        NUMBER_AGAIN: 2,
    }


def odd_records(seed: int, count: int = 400) -> np.ndarray:
    """Return records in order of submit, of which each rule applies to some."""
    draw = np.random.default_rng(seed)
    records = np.zeros(count, RECORD)
    records["number"] = draw.integers(1, count, count)
    records["arrival"] = np.sort(draw.uniform(1000, 9000, count))
    records["arrival"][draw.random(count) < 0.1] = -1
    records["size"] = draw.integers(-1, 9, count)
    records["runtime"] = draw.integers(-1, 5, count)
    records["requested_time"] = draw.choice([1.0, 3.0, np.inf], count)
    records["user"] = records["application"] = -1
    return records


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("start", "end"), [(0, 2000), (1500, 4000), (3000, np.inf)])
def test_counts_of_a_window_are_those_of_a_log_of_its_records(seed, start, end):
    records = odd_records(seed)
    table = Log(Path("log.swf"), "swf", records, rules={"read": range(0, 400, 7)}).cleaned()
    assert NO_SUBMIT in table.cleaning.rules
    since = records["arrival"] - table.applied.zero
    inside = (since >= start) & (since < end) & (records["arrival"] >= 0)
    read = np.flatnonzero(np.isin(np.flatnonzero(inside), range(0, 400, 7)))
    alone = Log(Path("log.swf"), "swf", records[inside], rules={"read": read}).cleaned().cleaning
    found = table.applied.cleaning(window(table.jobs, start, end), start, end)
    assert found.records == 400
    assert found.rules == {OUTSIDE: 400 - int(inside.sum()), **alone.rules}
    assert found.dropped == alone.dropped > 0


def test_numbers_of_sites_are_compared_in_the_window_that_runs():
    logs = [Log(Path("log"), "swf", odd_records(seed)).cleaned() for seed in (1, 2)]
    applied = merged([log.applied for log in logs], [0.0, 0.0], {0: "C1", 1: "C2"})
    jobs = merge_sites({site: log.jobs for site, log in enumerate(logs)})
    part = window(jobs, 1000, 2000)
    found = applied.cleaning(part, 1000, 2000).rules
    here, there = (part["number"][part["origin"] == site].tolist() for site in (0, 1))
    assert found[NUMBER_SHARED] == sum(number in here for number in there) > 0
    assert found.get(NUMBER_AGAIN, 0) == sum(len(own) - len(set(own)) for own in (here, there))
    inside = applied.since[(applied.since >= 1000) & (applied.since < 2000)]
    assert found[OUTSIDE] == 800 - len(inside)
    assert applied.cleaning(jobs).rules[NUMBER_SHARED] > found[NUMBER_SHARED]
