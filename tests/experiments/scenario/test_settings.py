"""What a scenario can be set to, and what its parameters do."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.scenario.assignments import shown
from experiments.scenario.checked import ScenarioError
from experiments.scenario.files import packaged_names
from experiments.scenario.meanings import meaning
from experiments.scenario.scenario import Scenario
from grid.errors import GridError
from grid.platform.brokers import Advertising
from grid.platform.multicluster import Platform
from grid.workloads.synthetic import BatchWorkload, SyntheticWorkload
from tests.experiments.scenario_files import run_of


def test_settings_are_toml_values_or_words():
    scenario = Scenario.load("muscle").changed(
        [
            "jobs=1e3",
            "mode = open",
            "latency=0.5",
            "weights=[[4,3,1],[1,1,1],[1,0,0],[0,1,0]]",
            "step=auto",
            "assign_deadlines=false",
            'service_classes=[{name="a",share=1,min_ratio=0,max_ratio=2}]',
            "window_end=50",
            'sizes="normal"',
        ]
    )
    p = scenario.parameters
    assert (p.jobs, p.mode, p.latency, p.step, p.sizes) == (1000, "open", 0.5, "auto", "normal")
    assert p.weights[1] == (1, 1, 1)
    assert p.assign_deadlines is False
    assert p.service_classes[0].max_ratio == 2
    assert p.window_end == 50
    assert p.queue == 40  # of the scenario, unchanged


@pytest.mark.parametrize("text", ["4,3,1", "(4, 3, 1)", "[4,3,1]"])
def test_numbers_between_commas_are_a_list_where_one_is_accepted(text):
    given = [f"weights={text}", f"prediction_error={text}", "composition=80,0,0,20"]
    p = Scenario.load("muscle").changed(given).parameters
    assert (p.weights, p.prediction_error) == ((4.0, 3.0, 1.0), (4.0, 3.0, 1.0))
    assert p.composition == (80.0, 0.0, 0.0, 20.0)


def test_changed_keeps_the_rest_and_leaves_the_original_alone():
    scenario = Scenario.load("quickstart")
    other = scenario.changed(["jobs=7"], global_scheduler="dll", workload=None)
    assert (other.parameters.jobs, other.parameters.load) == (7, 0.85)
    assert other.parameters.service_classes == scenario.parameters.service_classes
    assert (other.global_scheduler, other.local_scheduler) == ("dll", "titan")
    assert scenario.parameters.jobs == 400
    assert scenario.changed() == scenario
    assert other.changed(["jobs=8"]).parameters.load == 0.85
    assert scenario.changed(["jobs=5", "jobs=6"]).parameters.jobs == 6


@pytest.mark.parametrize("name", [*packaged_names(), "changed"])
def test_what_is_shown_of_a_parameter_can_be_set(name):
    scenario = Scenario.load("quickstart" if name == "changed" else name)
    if name == "changed":
        scenario = scenario.changed(
            ["weights=[[4,3,1],[1,1,1],[1,0,0],[0,1,0]]", "window_end=50", "step=3", "idle=total"]
        )
    values = scenario.parameters.model_dump()
    settings = [f"{key}={shown(value)}" for key, value in values.items()]
    assert Scenario.load("muscle").changed(settings).parameters.model_dump() == values


@pytest.mark.parametrize(
    "setting",
    [
        "load=1e-300", "load=1e300", "load_factor=1e-300", "load_factor=1e300", "queue=1e300",
        "min_runtime=1e300", "max_runtime=1e300", "mean_runtime=1e300", "pareto_exponent=1e300",
        "latency=1e300", "max_deadline_ratio=1e308", "weights=[1e300, 1, 1]", "jobs=1e30",
        "max_size=1e9", "population=1e9", "patience=1e30", "window_start=1e300", "step=1e300",
    ],
)  # fmt: skip
def test_what_no_grid_is_like_is_refused(setting):
    key = setting.partition("=")[0]
    refused = rf"--set: {key}(\.0)?: found .*; accepted: (from|at most) "
    with pytest.raises(ScenarioError, match=refused):
        Scenario.load("muscle").changed([setting], "--set")


def test_every_parameter_says_what_it_is():
    all_of = type(Scenario.load("quickstart").parameters)
    for name in all_of.model_fields:
        assert meaning(name, all_of).endswith("."), name


def test_parameters_reach_the_model():
    scenario = Scenario(
        "mine",
        Platform.star([8, 4], latency=0.25),
        {
            "mode": "open", "jobs": 30, "max_size": 4, "latency": 0.5, "idle": "total",
            "weights": [[1, 2, 3], [3, 2, 1]], "population": 12, "patience": 7, "threshold": 0.01,
            "start": "random", "round_threshold": 2.5, "step": 3, "loss": 0.25, "advertise": "both",
            "period": 12, "knowledge": "truth", "mean_up_time": 900, "mean_down_time": 30,
            "prediction_error": 0.5, "coding": "two-dimensional",
        },
    )  # fmt: skip
    model = scenario.model(seed=5)
    assert model.interval == 3.0
    assert model.world.state.latency.tolist() == [0.75, 0.75]
    assert (model.idle, model.round_threshold) == ("total", 2.5)
    assert [c.scheduler.settings.weights for c in model.clusters] == [(1, 2, 3), (3, 2, 1)]
    settings = model.clusters[0].scheduler.settings
    assert (settings.population, settings.patience, settings.threshold) == (12, 7, 0.01)
    assert (settings.coding, settings.start) == ("two-dimensional", "random")
    assert model.world.advertising == Advertising("both", 12, 0.25, truth=True)
    assert model.world.tracked
    assert (model.world.state.mean_up, model.world.state.mean_down) == (900, 30)
    assert model.pace._sigma == 0.5
    assert isinstance(model.workload, SyntheticWorkload)
    assert isinstance(scenario.changed(["mode=batch"]).model().workload, BatchWorkload)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("mode", ["open", "batch"])
def test_an_automatic_step_makes_a_few_hundred_and_changes_no_result(mode):
    scenario = Scenario("mine", Platform.star([8, 4]), {"mode": mode, "jobs": 200, "max_size": 4})
    model, expected = run_of(scenario)
    assert 100 < model.steps < 2000
    for step in (0.5, 1e6):
        _, records = run_of(scenario.changed([f"step={step}"]))
        assert records.tobytes() == expected.tobytes()


def test_the_offered_load_is_the_load_asked_for():
    platform = Platform.star([30, 20], [1.0, 2.0])
    for sizes in ("uniform", "normal", "log-uniform"):
        for runtimes in ("bounded-pareto", "exponential", "deterministic", "hyperexponential"):
            scenario = Scenario("mine", platform, {
                "mode": "open", "jobs": 20_000, "load": 0.6, "sizes": sizes, "runtimes": runtimes,
            }, "round-robin", "fcfs")  # fmt: skip
            jobs = np.concatenate(list(scenario.model().workload.chunks()))
            work = (jobs["size"] * jobs["runtime"]).sum()
            assert work / (70 * jobs["arrival"].max()) == pytest.approx(0.6, rel=0.05)
            assert (jobs["deadline"] > jobs["arrival"]).all()


def test_the_offered_load_counts_all_components():
    scenario = Scenario.load("queues").changed(["jobs=40000", "load=0.7", "composition=40,0,0,60"])
    jobs = np.concatenate(list(scenario.model().workload.chunks()))
    work = (jobs["size"] * jobs["runtime"]).sum()
    assert work / (128 * jobs["arrival"].max()) == pytest.approx(0.7, rel=0.03)
    assert np.bincount(jobs["origin"]) / 40000 == pytest.approx(0.25, abs=0.01)
    uneven = scenario.changed(["queue_shares=40,20,20,20"])
    jobs = np.concatenate(list(uneven.model().workload.chunks()))
    assert np.bincount(jobs["origin"]) / 40000 == pytest.approx([0.4, 0.2, 0.2, 0.2], abs=0.01)


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("composition=25,25,25", "composition: found '25,25,25'; sum is 75; accepted: 100"),
        ("composition=a,b", "accepted: Percent of synthetic jobs with 1, 2, ... components"),
        (
            "composition=0,0,0,0,100",
            "changed: composition: components of a job: found 5; accepted: at most 4, one for each",
        ),
        ("queue_shares=50,50", "changed: queue_shares: found 2; accepted: 4 percentages, one for"),
        (
            "queue_shares=50,50,10,0",
            "queue_shares: found '50,50,10,0'; sum is 110; accepted: 100, by one percentage for "
            "each cluster",
        ),
        ("queue_shares={C1=2}", "found {'C1': 2}; accepted: Percentages, one for each cluster, of"),
        ("size_high=33", "size_high: found 33; accepted: at most 32"),
        ("q=0", "q: found 0"),
        ("q=1.1", "q: found 1.1"),
        ("aging=-1", "aging: found -1"),
    ],
)
def test_queues_that_cannot_be(setting, words):
    with pytest.raises(GridError) as error:
        Scenario.load("queues").changed([setting]).model()
    assert words in str(error.value)


def test_deadlines_and_origins_of_synthetic_jobs():
    parameters = {
        "mode": "open", "jobs": 5000, "max_size": 4, "local_share": 0.5, "assign_deadlines": True,
        "service_classes": [
            {"name": "a", "share": 0.25, "min_ratio": 0, "max_ratio": 1},
            {"name": "b", "share": 0.75, "min_ratio": 2, "max_ratio": 4},
        ],
    }  # fmt: skip
    scenario = Scenario("mine", Platform.star([8, 4], [1.0, 0.5]), parameters)
    jobs = np.concatenate(list(scenario.model().workload.chunks()))
    ratio = (jobs["deadline"] - jobs["arrival"]) / (jobs["runtime"] / 0.5) - 1
    assert ((ratio > -1e-9) & (ratio < 1 + 1e-9)).mean() == pytest.approx(0.25, abs=0.03)
    assert ((ratio > 2 - 1e-9) & (ratio < 4 + 1e-9)).mean() == pytest.approx(0.75, abs=0.03)
    shares = np.bincount(jobs["origin"] + 1) / 5000
    assert shares == pytest.approx([0.5, 0.25, 0.25], abs=0.03)
    without = scenario.changed(["assign_deadlines=false"])
    jobs = np.concatenate(list(without.model().workload.chunks()))
    assert np.isinf(jobs["deadline"]).all()
