"""OAS in the running grid: rounds, the optimum of a batch, links that are never saturated."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from agents.oas import Cluster, Instance, Job, solve
from agents.oas.rounds import OasSettings
from experiments.scenario.scenario import Scenario
from grid.errors import GridError
from grid.jobs import job_table
from grid.platform.multicluster import Platform
from grid.workloads.table import Table
from tests.agents.small_grids import OUTCOME, PAIR, model_of, table, workload
from tests.agents.small_oas import SWIG

pytestmark = SWIG

QUICK = OasSettings(round_jobs=10, round_time=0.02)


def ran(jobs, platform=PAIR, settings=QUICK, **options):
    model = model_of("oas", "fcfs", jobs, platform, [settings], **options)
    model.run()
    return model


def at_once(*rows):
    """Jobs of rows (size, run time, bandwidth), all there from the beginning."""
    jobs = job_table(len(rows))
    for job, row in zip(jobs, rows, strict=True):
        job["size"], job["runtime"], job["ppbw"] = row
    return Table(jobs)


def test_jobs_that_wait_together_take_no_longer_than_their_optimum():
    rows = [(6, 70.0, 40.0), (3, 50.0, 90.0), (5, 40.0, 0.0), (2, 90.0, 60.0), (7, 30.0, 100.0)]
    clusters = [Cluster(4, power, 250) for power in (1, 0.75)]
    optimum = solve(Instance(clusters, [Job(*row, 1) for row in rows]))
    assert optimum.status == "optimal"
    model = ran(at_once(*rows), Platform.star([4, 4], [1, 0.75], 250), OasSettings(round_time=2.0))
    finishes = model.world.log.records().rows["finish"]
    assert finishes.max() == pytest.approx(optimum.makespan, rel=1e-4)  # predictions are rounded
    assert model.world.statistics.links.saturated.max() == 0
    assert model.scheduler.round == 1


def test_an_arrival_lets_a_job_start_that_waited():
    """The plan of the first two lets the second wait; with the third it need not."""
    jobs = table((0, 4, 10.0), (0, 8, 30.0), (1, 4, 40.0))
    rows = ran(jobs).world.log.records().rows
    starts = dict(zip(rows["number"].tolist(), rows["start"].tolist(), strict=True))
    assert starts[1] == 0
    assert starts[3] == 1  # beside the first
    assert starts[2] == 41


@pytest.mark.thorough
def test_links_are_never_saturated_under_any_workload():
    scenario = Scenario.load("beosim").changed(
        ["jobs_per_cluster=25", "bsbw=700", "round_time=0.01"], global_scheduler="oas"
    )
    model = scenario.model(seed=2)
    model.run()
    found = model.world.statistics
    assert model.world.state.completed == 100
    assert found.coallocated > 0
    assert found.mean_penalty == pytest.approx(1.0)


def test_a_job_that_saturates_links_however_it_is_split_is_rejected():
    platform = Platform.star([4, 4], capacity=100)
    model = ran(at_once((6, 10.0, 80.0), (6, 10.0, 20.0), (4, 10.0, 500.0)), platform)
    rows = model.world.log.records().rows
    assert {row["number"]: bool(np.isnan(row["start"])) for row in rows} == {
        1: True,
        2: False,
        3: False,
    }


def test_a_job_too_wide_while_processors_are_away_waits_for_them():
    platform = Platform.from_dict(
        {
            "clusters": [{"name": "A", "size": 4}, {"name": "B", "size": 4}],
            "changes": [{"cluster": "B", "what": "drain", "at": 5, "until": 50}],
        }
    )
    rows = ran(table((10, 6, 20.0), (10, 2, 5.0)), platform).world.log.records().rows
    starts = dict(zip(rows["number"].tolist(), rows["start"].tolist(), strict=True))
    assert starts == {1: 50.0, 2: 10.0}


def test_a_job_that_cannot_run_on_what_is_up_begins_no_round_each_time_that_another_ends():
    """Six tasks saturate links as 3 + 3, but not as 2 + 2 + 2; the others take turns on D."""
    clusters = [{"name": name, "size": 3, "capacity": 170} for name in "ABC"]
    clusters.append({"name": "D", "size": 5, "capacity": 1})
    changes = [{"cluster": "C", "what": "drain", "at": 5, "until": 50}]
    jobs = table((10, 6, 20.0), *((10, 5, time) for time in (5.0, 7.0, 9.0)))
    jobs.jobs["ppbw"] = 100.0
    model = ran(jobs, Platform.from_dict({"clusters": clusters, "changes": changes}))
    rows = model.world.log.records().rows
    assert rows["start"][rows["number"] == 1] == 50
    assert model.scheduler.round == 2


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "options",
    [{}, {"latency": 3.0}, {"prediction_error": 0.7}, {"prediction_error": [2, 0.5, 1]}],
)
def test_all_jobs_run_whatever_is_known_of_them(options):
    model = model_of("oas", "fcfs", workload(count=40), settings=[QUICK], **options)
    model.run()
    assert model.world.state.completed == 40


def test_rounds_of_few_jobs_leave_the_others_waiting():
    jobs = [(4, 10.0, 0.0)] * 9
    for most, rounds in ((3, 4), (9, 1)):
        model = ran(at_once(*jobs), settings=OasSettings(round_jobs=most, round_time=0))
        assert model.world.log.records().rows["finish"].max() == 50
        assert model.scheduler.round >= rounds


def test_a_run_can_be_repeated():
    outcomes = [
        model.world.log.records().rows[list(OUTCOME)].tobytes()
        for model in (ran(workload(count=30), Platform.star([8, 6])) for _ in range(2))
    ]
    assert outcomes[0] == outcomes[1]


def test_switches_are_refused():
    platform = Platform.from_dict(
        {
            "switches": [{"name": "north"}],
            "clusters": [{"name": "A", "size": 4, "switch": "north"}, {"name": "B", "size": 4}],
        }
    )
    with pytest.raises(GridError, match="oas: found 1 switches beside the central one; accepted"):
        ran(table((0, 1, 1.0)), platform)


def test_parameters_are_its_settings():
    scenario = Scenario.load("quickstart").changed(
        ["round_jobs=5", "round_time=0.5", "round_clock=wall"], global_scheduler="oas"
    )
    assert scenario.model().scheduler.settings == OasSettings(5, 0.5, "wall")
    assert Fraction(OasSettings().round_time) > 0
