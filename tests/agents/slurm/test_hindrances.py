"""Jobs under Slurm that never start: which they are, and what is told of them."""

from __future__ import annotations

import numpy as np
import pytest

from grid.platform.multicluster import Platform
from tests.agents.slurm.test_controller import NODES, given, jobs_of, reasons, written
from tests.agents.small_grids import done, ran


def test_jobs_beyond_limits_never_start(tmp_path):
    conf, eight = written(tmp_path, NODES), Platform.star([8])
    jobs = jobs_of((0, 2, 60, 1200, 1), (5, 8, 60, 60, 0))
    model = ran(**given(jobs, conf, eight, partitions=("both", "one")))
    assert done(model)["number"].tolist() == [2]
    assert model.now < 1000
    assert reasons(model) == ["the time limit is above that of partition one"]


def test_a_job_that_ran_over_its_limit_starts(tmp_path):
    """Cleaning raises its request to the run time, beyond what its partition allows."""
    rows = [(0, 2, time, limit, 1) for time, limit in ((605, 605), (605, 606), (3600, 3600))]
    setup = given(
        jobs_of(*rows), written(tmp_path, NODES), Platform.star([8]), partitions=("both", "one")
    )
    model = ran(**setup)
    assert done(model)["number"].tolist() == [1]  # the last had asked for more than 10 min
    assert reasons(model) == ["the time limit is above that of partition one"] * 2


def test_a_job_without_a_limit_is_not_refused_for_what_is_expected_of_it(tmp_path):
    """Nor one whose own limit is low enough, however wrong predictions are."""
    jobs = jobs_of((0, 2, 60, 60, 1), (5, 2, 60, 540, 1))
    jobs["requested_time"][0] = np.inf
    setup = given(jobs, written(tmp_path, NODES), Platform.star([8]), partitions=("both", "one"))
    for error in (0.0, 2.0, 5.0):
        model = ran(**setup | {"prediction_error": error})
        assert sorted(done(model)["number"].tolist()) == [1, 2]


@pytest.mark.parametrize("age", ["", "PriorityType=priority/multifactor\nPriorityWeightAge=9\n"])
def test_jobs_too_large_for_their_partition_hold_nobody_back(tmp_path, age):
    conf, eight = written(tmp_path, NODES + age), Platform.star([8])
    jobs = jobs_of((0, 5, 60, 60, 1), (5, 2, 60, 60, 1), (6, 8, 60, 60, 0))
    model = ran(**given(jobs, conf, eight, partitions=("both", "one")))
    assert done(model)["start"].tolist() == [5, 65]
    assert model.now < 1000
    assert reasons(model) == ["partition one has too few nodes for the size"]


@pytest.mark.parametrize(
    ("limit", "says"),
    [
        ("MaxNodes=1", "partition few has MaxNodes=1, too few for the size"),
        ("MinNodes=3", "partition few has MinNodes=3, more than it can give"),
    ],
)
def test_what_keeps_a_job_from_all_nodes_of_its_partition_is_told(tmp_path, limit, says):
    conf = written(tmp_path, NODES + f"PartitionName=few Nodes=ALL {limit}\n")
    setup = given(jobs_of((0, 6, 60, 60, 1)), conf, Platform.star([8]), partitions=("both", "few"))
    assert reasons(ran(**setup)) == [says]


def test_jobs_of_a_partition_without_nodes_never_start(tmp_path):
    conf = written(tmp_path, NODES + 'PartitionName=none Nodes=""\n')
    jobs = jobs_of((0, 1, 60, 60, 1), (5, 8, 60, 60, 0))
    model = ran(**given(jobs, conf, Platform.star([8]), partitions=("both", "none")))
    assert done(model)["start"].tolist() == [5]
