from __future__ import annotations

import numpy as np

from grid.jobs import job_table
from grid.workloads.cleaning import (
    LOW_REQUEST,
    NO_RUNTIME,
    NO_SIZE,
    NUMBER_AGAIN,
    REQUESTED_SIZE,
    ZERO_RUNTIME,
    clean,
)
from grid.workloads.source import Cleaning


def test_clean_records_are_left_alone():
    records = job_table(2)
    records["size"], records["runtime"], records["requested_time"] = 1, 5.0, [5.0, np.inf]
    jobs, cleaning = clean(records)
    assert (jobs == records).all()
    assert cleaning == Cleaning(2, {}, 0)


def test_drops_are_counted_once_and_changes_on_kept_records_only():
    records = job_table(4)
    records["size"] = [-1, -1, 3, -1]
    records["runtime"] = [-1, 0, -1, 0]
    records["requested_time"] = [np.inf, 0.5, -5, 0.5]
    before = records.copy()
    jobs, cleaning = clean(records, np.array([0, -1, 3, 6]))
    assert (records == before).all()
    assert jobs["number"].tolist() == [4]
    assert jobs["size"].tolist() == [6]
    assert jobs["runtime"].tolist() == jobs["requested_time"].tolist() == [1.0]
    assert cleaning.rules == {
        NO_SIZE: 2,
        NO_RUNTIME: 1,
        REQUESTED_SIZE: 1,
        ZERO_RUNTIME: 1,
        LOW_REQUEST: 1,
    }
    assert cleaning.dropped == 3


def test_numbers_used_before_are_kept_and_told():
    records = job_table(6)
    records["size"] = [1, 1, 1, 1, -1, 1]
    records["number"] = [7, 8, 7, 7, 8, 9]
    jobs, cleaning = clean(records)
    assert jobs["number"].tolist() == [7, 8, 7, 7, 9]
    assert cleaning.rules == {NO_SIZE: 1, ZERO_RUNTIME: 5, NUMBER_AGAIN: 2}
