"""Scenarios: packaged ones, a user's, what they publish, and how bad ones are refused."""

from __future__ import annotations

import gzip
import sys

import numpy as np
import pytest

from experiments.checked import ScenarioError
from experiments.listing import shown
from experiments.parameters import Parameters
from experiments.scenario import Scenario, packaged_names
from grid.brokers import Advertising
from grid.errors import GridError, PlatformError, WorkloadError
from grid.platform import Platform
from grid.workloads.cleaning import OUTSIDE
from grid.workloads.synthetic import BatchWorkload, SyntheticWorkload

SITE = """
title = "A site"
[[clusters]]
name = "C1"
size = 8
[[clusters]]
name = "C2"
size = 4
rate = 2.0
"""


def run_of(scenario, seed=0):
    model = scenario.model(seed)
    model.run()
    records = model.world.records()
    return model, np.sort(records, order="number")


@pytest.fixture
def written(tmp_path):
    """Return a function that writes a scenario and gives its path."""

    def write(text, name="mine.toml"):
        path = tmp_path / name
        path.write_text(text)
        return str(path)

    return write


@pytest.mark.parametrize("name", packaged_names())
def test_packaged_scenarios_run(name):
    scenario = Scenario.load(name)
    assert scenario.name == name
    assert scenario.title
    assert list(scenario.platform.names) == [
        f"C{k + 1}" for k in range(len(scenario.platform.names))
    ]
    settings = [] if scenario.workload else ["jobs=40", "jobs_per_cluster=10"]
    model, records = run_of(scenario.changed([*settings, "population=10", "patience=10"]))
    assert model.world.count("completed") == len(records) == (6 if scenario.workload else 40)
    assert model.scheduler.name == scenario.global_scheduler.upper()


def test_each_packaged_scenario_has_its_own_parameters():
    quick = Scenario.load("quickstart").parameters
    assert (quick.mode, quick.jobs, quick.latency, quick.local_share) == ("open", 400, 0.5, 0.4)
    assert [each.name for each in quick.service_classes] == ["gold", "silver", "bronze"]
    assert Scenario.load("muscle").parameters.jobs == 20_000


# Refused -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("title = ", "mine.toml: Invalid value"),
        ('titel = "x"\n' + SITE, "mine.toml: titel: unknown key; accepted: title, paper, global"),
        (SITE.replace('"A site"', "3"), "mine.toml: title: found 3; accepted: a string"),
        ("global = 4\n" + SITE.replace("title", "paper"), "mine.toml: global: found 4"),
        ('outputs = ["all"]' + SITE, "mine.toml: outputs: found ['all']; accepted: a list of seed"),
        ('outputs = "seed_schedules"' + SITE, "mine.toml: outputs: found 'seed_schedules'"),
        ("outputs = [[1]]" + SITE, "mine.toml: outputs: found [[1]]"),
        ("parameters = 3\n" + SITE, "mine.toml: parameters: accepted: a table"),
        (
            SITE + "[parameters]\njobz = 3",
            "mine.toml: jobz: unknown parameter; accepted: step, mode",
        ),
        (SITE + "[parameters]\njobs = 0", "mine.toml: jobs: found 0; "),
        (SITE + "[parameters]\njobs = 2.5", "mine.toml: jobs: found 2.5; "),
        (SITE + "[parameters]\njobs = true", "mine.toml: jobs: found True; "),
        (SITE + '[parameters]\njobs = "5"', "mine.toml: jobs: found '5'; "),
        (SITE + "[parameters]\nlatency = true", "mine.toml: latency: found True; "),
        (SITE + '[parameters]\njobs = "many"', "mine.toml: jobs: found 'many'; "),
        (SITE + "[parameters]\nload = nan", "mine.toml: load: found nan; "),
        (SITE + "[parameters]\nlatency = inf", "mine.toml: latency: found inf; "),
        (SITE + "[parameters]\nlatency = -1", "mine.toml: latency: found -1; "),
        (SITE + "[parameters]\nstep = 0", "mine.toml: step: found 0; "),
        (SITE + '[parameters]\nstep = "never"', "mine.toml: step: found 'never'; "),
        (SITE + '[parameters]\nmode = "closed"', "mine.toml: mode: found 'closed'; "),
        (SITE + "[parameters]\nlocal_share = 1.5", "mine.toml: local_share: found 1.5; "),
        (SITE + "[parameters]\nweights = [1, 2]", "mine.toml: weights"),
        (SITE + "[parameters]\nweights = [1, 2, -1]", "mine.toml: weights"),
        (SITE + "[parameters]\nthreshold = 1", "mine.toml: threshold: found 1; "),
        (
            SITE + '[[parameters.service_classes]]\nname = "a"\nshare = 2\nmin_ratio = 0\n'
            "max_ratio = 1",
            "mine.toml: service_classes.0.share: found 2; ",
        ),
        (
            SITE + '[[parameters.service_classes]]\nname = "a"\nshare = 1\nmin_ratio = 0',
            "mine.toml: service_classes.0.max_ratio",
        ),
        (
            SITE + '[[parameters.service_classes]]\nname = "a"\nshare = 0.5\nmin_ratio = 0\n'
            "max_ratio = 1",
            "mine.toml: service_classes: sum of the shares of service classes: found 0.5; ",
        ),
        (
            SITE + '[[parameters.service_classes]]\nname = "a"\nshare = 1\nmin_ratio = 2\n'
            "max_ratio = 1",
            "mine.toml: service_classes: service class a, max_ratio: found 1.0; ",
        ),
        (
            SITE + '[[parameters.service_classes]]\nname = "a"\nshare = 1\nmin_ratio = 0\n'
            "max_ratio = 1\ncolour = 3",
            "mine.toml: service_classes.0.colour",
        ),
        ('title = "no platform"', "mine.toml: "),
        ("[[clusters]]\nname = 'C1'\nsize = 0", "mine.toml: "),
        ("[[clusters]]\nname = 'C1'\nsize = 4\nrate = -1", "mine.toml: "),
        ("[[clusters]]\nname = 'C1'\nsize = 4\ncolour = 'red'", "mine.toml: "),
        ("[clusters]\nname = 'C1'\nsize = 4", "mine.toml: "),
    ],
)
def test_a_bad_file_is_refused_in_one_line_naming_file_and_key(written, text, words):
    path = written(text)
    with pytest.raises(GridError) as caught:
        Scenario.load(path)
    message = str(caught.value)
    assert words in message
    assert message.startswith(path)
    assert "\n" not in message


def test_what_is_no_scenario_is_refused(tmp_path, written):
    with pytest.raises(ScenarioError, match=r"scenario 'muscel': unknown; accepted: beosim, "):
        Scenario.load("muscel")
    with pytest.raises(ScenarioError, match=r"nowhere\.toml: no such file"):
        Scenario.load(str(tmp_path / "nowhere.toml"))
    with pytest.raises(ScenarioError, match="no such file"):
        Scenario.load(str(tmp_path / "nowhere.py"))
    with pytest.raises(ScenarioError, match="variable `scenario` is None; accepted: a Scenario"):
        Scenario.load(written("x = 1", "empty.py"))
    (tmp_path / "folder.toml").mkdir()
    with pytest.raises(ScenarioError, match="no such file"):
        Scenario.load(str(tmp_path / "folder.toml"))
    (tmp_path / "latin.toml").write_bytes("title = 'café'".encode("latin-1"))
    with pytest.raises(ScenarioError, match=r"latin\.toml: .*accepted: a TOML file"):
        Scenario.load(str(tmp_path / "latin.toml"))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (["jobs=3", "jobz=3"], "--set: jobz: unknown parameter; accepted: step, mode, jobs"),
        (["jobs"], "--set jobs: accepted: name=value"),
        (["jobs="], "--set: jobs: found ''; "),
        (["latency=0,5"], "--set: latency: found '0,5'; "),
        (["=3"], "--set: : unknown parameter"),
        (["mode=shut"], "--set: mode: found 'shut'; input should be 'batch', 'open' or "),
        (["step=0"], "--set: step: found 0; input should be greater than 0 or input should be 'a"),
        (["weights=5"], "--set: weights: found 5; accepted: (Wo, Wm, Wi) of over-deadline, "),
        (["weights=[1, 2]"], "--set: weights.2: found [1, 2]; accepted: (Wo, Wm, Wi) of "),
        (["service_classes=5"], "--set: service_classes: found 5; accepted: Classes of service "),
        (["weights=[[1,2,3],[1,2,-4]]"], "--set: weights.1.2: found -4; input should be greater"),
        (["jobs=[1]"], "--set: jobs: found [1]; "),
        (["jobs=3\nx=4"], "--set: jobs: found '3\\nx=4'; "),
        (["min_size=5", "max_size=4"], "--set: max_size: found 4; accepted: from min_size, 5"),
        (["max_runtime=5"], "--set: max_runtime: found 5.0; accepted: above min_runtime, 5.0"),
        (["max_runtime=4"], "--set: max_runtime: found 4.0; accepted: from min_runtime, 5.0"),
        (["max_deadline_ratio=4", "min_deadline_ratio=4.5"], "--set: max_deadline_ratio: found 4"),
    ],
)
def test_bad_settings_are_refused(settings, words):
    with pytest.raises(ScenarioError) as caught:
        Scenario.load("muscle").changed(settings)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"min_size": 9}, "mine: min_size: found 9; accepted: at most 8, the largest job"),
        ({"weights": ((4, 3, 1),) * 3}, "weights: found 3 triples"),
        ({"weights": (0, 0, 0)}, "weights: found"),
        ({"weights": ((4, 3, 1), (0, 0, 0))}, r"weights of C2: found \(0"),
        (
            {"service_classes": [{"name": "a", "share": 0.5, "min_ratio": 0, "max_ratio": 1}]},
            "share",
        ),
    ],
)
@pytest.mark.parametrize("mode", ["open", "batch"])
def test_parameters_that_do_not_go_together_are_refused_when_the_model_is_made(
    changes, words, mode
):
    with pytest.raises(GridError, match=words) as caught:
        Scenario("mine", Platform.star([8, 4]), {"mode": mode, **changes}).model()
    assert "\n" not in str(caught.value)


def test_unknown_policies_are_refused():
    platform = Platform.star([8])
    with pytest.raises(GridError, match=r"global scheduler 'mussle': unknown; accepted: muscle"):
        Scenario("mine", platform, global_scheduler="mussle").model()
    with pytest.raises(GridError, match=r"local scheduler 'titanic': unknown; accepted: titan"):
        Scenario("mine", platform, local_scheduler="titanic").model()


def test_a_bad_log_is_refused(written):
    platform = Platform.star([8])
    for text, name, words in (
        ("", "empty.swf", "empty"),
        ("; nothing\n", "comments.swf", "empty"),
        ("1 2 3\n", "short.swf", r"short\.swf:1"),
        ("1 x 0 5 2 -1 -1 2 60 -1 -1 -1 -1 -1 -1 -1 -1 -1\n", "word.swf", r"word\.swf:1"),
        ("arrival,size\n0,1\n", "columns.csv", r"columns\.csv"),
        ("arrival,size,runtime\n0,0,1\n", "zero.csv", r"zero\.csv:2"),
        ("arrival,size,runtime\n", "nothing.csv", "empty"),
        ("x", "log.txt", r"log\.txt: unknown kind"),
    ):
        path = written(text, name)
        with pytest.raises(WorkloadError, match=words) as caught:
            Scenario("mine", platform, workload=path).model()
        assert "\n" not in str(caught.value)
    with pytest.raises(WorkloadError, match=r"gone\.swf"):
        Scenario("mine", platform, workload="gone.swf").model()


# Settings ----------------------------------------------------------------------------------------


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
    with pytest.raises(ScenarioError, match=rf"--set: {key}(\.0)?: found .*should be (less|great)"):
        Scenario.load("muscle").changed([setting])


def test_every_parameter_says_what_it_is():
    for name, field in Parameters.model_fields.items():
        assert field.description, name
        assert field.description.endswith(".")


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
    assert model.world.latency.tolist() == [0.75, 0.75]
    assert (model.idle, model.round_threshold) == ("total", 2.5)
    assert [c.scheduler.settings.weights for c in model.clusters] == [(1, 2, 3), (3, 2, 1)]
    settings = model.clusters[0].scheduler.settings
    assert (settings.population, settings.patience, settings.threshold) == (12, 7, 0.01)
    assert (settings.coding, settings.start) == ("two-dimensional", "random")
    assert model.world.advertising == Advertising("both", 12, 0.25, truth=True)
    assert model.world.tracked
    assert [model.world._box[name].item() for name in ("mean_up", "mean_down")] == [900, 30]
    assert model.pace._sigma == 0.5
    assert isinstance(model.workload, SyntheticWorkload)
    assert isinstance(scenario.changed(["mode=batch"]).model().workload, BatchWorkload)


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
        ("composition=0,0,0,0,100", "composition: found 'jobs of 5 components'; accepted: at most"),
        ("queue_shares=50,50", "queue_shares: found '2 percentages'; accepted: 4"),
        ("queue_shares=50,50,10,0", "queue_shares: found '50,50,10,0'; sum is 110"),
        ("size_high=33", "max_size: found 33; accepted: at most 32"),
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


# Scripts and logs --------------------------------------------------------------------------------


def test_a_script_is_a_scenario(written):
    script = """
from agents.balancers import RoundRobinScheduler
from agents.schedulers import LocalScheduler
from experiments.scenario import Scenario
from grid.platform import Platform


class Mine(LocalScheduler):
    def priority(self, job):
        return -job.size


scenario = Scenario(
    "scripted", Platform.star([8, 4]), {"mode": "open", "jobs": 25, "max_size": 4},
    RoundRobinScheduler, Mine,
)
if __name__ == "__main__":
    raise SystemExit("not when it is loaded")
"""
    scenario = Scenario.load(written(script, "mine.py"))
    model, records = run_of(scenario)
    assert (scenario.name, len(records)) == ("scripted", 25)
    assert model.clusters[1].scheduler.name == "MINE C2"


POLICIES = """
from agents.schedulers import GlobalScheduler


class Here(GlobalScheduler):
    label = "{}"

    def place(self, job):
        return self.clusters[0] if job.size <= self.clusters[0].size else None
"""


@pytest.fixture
def two_folders(tmp_path, monkeypatch):
    """Return a folder whose modules are those that a scenario means, and go to another one."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    for folder in ("own", "elsewhere"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "own_policies.py").write_text(POLICIES.format(folder.upper()))
    (tmp_path / "elsewhere" / "other_policies.py").write_text(POLICIES.format("OTHER"))
    monkeypatch.chdir(tmp_path / "elsewhere")
    yield tmp_path / "own"
    for name in ("own_policies", "other_policies"):
        sys.modules.pop(name, None)


def test_modules_of_a_file_are_those_of_its_folder_then_of_the_current_one(two_folders):
    path = two_folders / "mine.toml"
    path.write_text('global = "own_policies:Here"\nlocal = "fcfs"\n' + SITE)
    scenario = Scenario.load(path.as_posix())
    assert scenario.model().scheduler.name == "OWN"
    other = scenario.changed(global_scheduler="other_policies:Here")
    assert other.model().scheduler.name == "OTHER"


def test_a_script_imports_its_neighbours(two_folders):
    path = two_folders / "mine.py"
    path.write_text(
        "from experiments.scenario import Scenario\nfrom grid.platform import Platform\n"
        "from own_policies import Here\n"
        'scenario = Scenario("mine", Platform.star([8]), global_scheduler=Here)\n'
    )
    assert Scenario.load("../own/mine.py").model().scheduler.name == "OWN"


def test_an_error_in_a_script_is_shown_as_it_is(written):
    with pytest.raises(ZeroDivisionError):
        Scenario.load(written("1 / 0", "wrong.py"))


LOG = [(j, 100 * j, 5 + j % 7, 1 + j % 4) for j in range(1, 41)]


def swf(rows):
    lines = [f"{j} {t} 0 {run} {size} -1 -1 {size} 60 " + "-1 " * 9 for j, t, run, size in rows]
    return "; a log\n" + "\n".join(lines) + "\n"


def test_a_log_is_replayed(written, tmp_path):
    written(swf(LOG), "log.swf")
    path = written(SITE + "\n[parameters]\nmode = 'open'", "mine.toml")
    text = (tmp_path / "mine.toml").read_text().replace("title", 'workload = "log.swf"\ntitle', 1)
    scenario = Scenario.load(written(text))
    assert path == str(tmp_path / "mine.toml")
    _, records = run_of(scenario)
    assert records["number"].tolist() == [row[0] for row in LOG]
    assert np.diff(records["arrival"]).tolist() == [100.0] * 39
    assert records["size"].tolist() == [row[3] for row in LOG]
    assert records["runtime"].tolist() == [float(row[2]) for row in LOG]
    assert np.isfinite(records["deadline"]).all()


def test_a_packed_log_is_the_same(written, tmp_path):
    platform = Platform.star([8, 4])
    plain = Scenario("mine", platform, workload=written(swf(LOG), "log.swf"))
    (tmp_path / "log.swf.gz").write_bytes(gzip.compress(swf(LOG).encode()))
    packed = Scenario("mine", platform, workload=str(tmp_path / "log.swf.gz"))
    assert run_of(plain)[1].tobytes() == run_of(packed)[1].tobytes()


def test_window_load_deadlines_and_origins_of_a_log(written):
    platform = Platform.star([8, 4])
    scenario = Scenario("mine", platform, workload=written(swf(LOG), "log.swf"))
    model, records = run_of(scenario.changed(["window_start=500", "window_end=1500"]))
    assert records["number"].tolist() == list(range(6, 16))
    cleaning = model.workload.cleaning
    assert (cleaning.records, cleaning.dropped, cleaning.rules) == (40, 0, {OUTSIDE: 30})
    _, records = run_of(scenario.changed(["load_factor=4"]))
    assert np.diff(records["arrival"]).tolist() == [25.0] * 39
    assert records["runtime"].tolist() == [float(row[2]) for row in LOG]
    _, records = run_of(scenario.changed(["local_share=1", "latency=0.5"]))
    assert set(records["origin"].tolist()) == {0, 1}
    _, records = run_of(scenario.changed(["assign_deadlines=false"]))
    assert np.isinf(records["deadline"]).all()
    _, records = run_of(scenario.changed(["min_deadline_ratio=3", "max_deadline_ratio=3"]))
    assert records["deadline"] == pytest.approx(records["arrival"] + 4 * records["runtime"])
    with pytest.raises(WorkloadError, match="empty") as caught:
        scenario.changed(["window_start=1e9"]).model()
    assert "\n" not in str(caught.value)


def test_a_window_that_ends_before_it_starts_is_refused(written):
    scenario = Scenario("mine", Platform.star([8]), workload=written(swf(LOG), "log.swf"))
    with pytest.raises(GridError, match="window"):
        scenario.changed(["window_start=50", "window_end=20"]).model()


def test_one_log_a_site(written):
    platform = Platform.star([8, 4])
    first, second = written(swf(LOG), "first.swf"), written(swf(LOG[5:25]), "second.swf")
    scenario = Scenario(
        "mine", platform, {"latency": 1.0}, workload=[f"C1={first}", f"C2={second}"]
    )
    _, records = run_of(scenario)
    assert len(records) == 60
    assert np.bincount(records["origin"]).tolist() == [40, 20]
    for origin in (0, 1):
        mine = records[records["origin"] == origin]
        assert mine["arrival"].min() == 0.0  # aligned at the first submission
    again = scenario.changed(["local_share=0.5"])  # origins that logs bring stay
    assert np.bincount(run_of(again)[1]["origin"]).tolist() == [40, 20]
    for entry, words in (
        (first, "accepted: cluster=file for each of several logs"),
        ("C2=", "workload C2=: accepted: cluster=file"),
        (f"C9={first}", "unknown cluster; accepted: C1, C2"),
    ):
        with pytest.raises(WorkloadError, match=words):
            Scenario("mine", platform, workload=[f"C1={first}", entry]).model()
    with pytest.raises(WorkloadError, match="a second log of C1"):
        Scenario("mine", platform, workload=[f"C1={first}", f"C1={second}"]).model()
    with pytest.raises(WorkloadError, match=r"gone\.swf"):
        Scenario("mine", platform, workload=["C1=gone.swf"]).model()


def test_deadlines_that_a_table_brings_stay(written):
    text = "arrival,size,runtime,deadline,origin\n0,1,5,9,C2\n1,2,5,,\n"
    scenario = Scenario("mine", Platform.star([8, 4]), workload=written(text, "jobs.csv"))
    _, records = run_of(scenario)
    assert records["deadline"][0] == 9.0
    assert np.isfinite(records["deadline"][1])
    assert records["origin"].tolist() == [1, -1]


def test_a_log_that_ends_when_it_begins_has_a_step():
    model = Scenario.load("muscle-case-study").changed(["step=auto"]).model()
    assert model.interval > 0
    model.run()
    assert model.world.count("completed") == 6


def test_a_scenario_names_what_its_platform_lacks():
    with pytest.raises(PlatformError):
        Scenario("mine", Platform.star([]))
    with pytest.raises(ScenarioError, match="mine: jobz: unknown parameter"):
        Scenario("mine", Platform.star([4]), {"jobz": 3})
