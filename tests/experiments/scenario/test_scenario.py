"""Scenarios: those that come along, and what is refused of a file."""

from __future__ import annotations

import re

import pytest
from click.testing import CliRunner

from agents.registry import LOCAL
from experiments.cli.app import main
from experiments.scenario.checked import ScenarioError
from experiments.scenario.files import packaged_names
from experiments.scenario.scenario import Scenario
from experiments.studies.study import Study
from grid.errors import GridError, PlatformError, WorkloadError
from grid.platform.multicluster import Platform
from tests.experiments.commands import call
from tests.experiments.scenario_files import SITE, run_of


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.thorough if name in {"hierarchy", "worldwide"} else ())
        for name in packaged_names()
    ],
)
def test_packaged_scenarios_run(name):
    scenario = Scenario.load(name)
    assert scenario.name == name
    assert scenario.title
    assert list(scenario.platform.names) == [
        f"C{k + 1}" for k in range(len(scenario.platform.names))
    ]
    settings = [] if scenario.workload else ["jobs=40", "jobs_per_cluster=10"]
    model, records = run_of(scenario.changed([*settings, "population=10", "patience=10"]))
    assert model.world.state.completed == len(records) == (6 if scenario.workload else 40)
    assert model.scheduler.name == scenario.global_scheduler.upper()


@pytest.mark.parametrize("name", packaged_names())
def test_a_packaged_title_says_no_number_that_may_change(name):
    title = re.sub(r"(section|Table) \d+", "", Scenario.load(name).title)
    assert not re.search(r"\d|\b(three|four|five|six)\b", title)


def test_the_title_of_a_site_names_every_local_scheduler_that_keeps_a_queue():
    title = Scenario.load("site").title.lower()
    assert all(name.replace("-", " ") in title for name in LOCAL.keys() - {"titan", "recorded"})


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
        ('titel = "x"\n' + SITE, "mine.toml: titel: unknown key; did you mean title?"),
        (
            f'platform = "my.toml"\n{SITE}',
            "platform: unknown key; accepted: clusters and links themselves, or --p",
        ),
        (SITE.replace('"A site"', "3"), "mine.toml: title: found 3; accepted: a string"),
        ("global = 4\n" + SITE.replace("title", "paper"), "mine.toml: global: found 4"),
        (
            'global = "json:None"' + SITE,
            "mine.toml: global scheduler 'json:None': module 'json' has",
        ),
        ('outputs = ["all"]' + SITE, "mine.toml: outputs: found ['all']; accepted: a list of seed"),
        (SITE + "[parameters]\nperiod = 1e300\n", "period: found 1e+300; accepted: at most 1e+12"),
        ('outputs = "seed_schedules"' + SITE, "mine.toml: outputs: found 'seed_schedules'"),
        ("outputs = [[1]]" + SITE, "mine.toml: outputs: found [[1]]"),
        (
            'scenario = "muscle"\n' + SITE,
            "mine.toml: scenario: unknown key; accepted: a scenario; a file with this key is a stu",
        ),
        (
            'global = "dll"\n[[sites]]\nname = "A"\nslots = 1\n',
            "mine.toml: sites: unknown key; accepted: a scenario; a file with this key is a grid",
        ),
        ("seed = 3\n" + SITE, "mine.toml: seed: unknown key; accepted: beside the scenario, w"),
        (SITE + "[parameters]\nseed = 3", "mine.toml: seed: unknown parameter; accepted: beside"),
        (
            SITE + '[parameters]\nworkload = "log.csv"',
            "mine.toml: workload: unknown parameter; accepted: before the tables of the scenario's",
        ),
        (
            'own_metrics = ["math:cbr"]\n' + SITE,
            "mine.toml: own_metrics: metric 'math:cbr': module 'math' has no function 'cbr'",
        ),
        ('own_metrics = ["x"]\n' + SITE, "mine.toml: own_metrics: found 'x'; accepted: module"),
        ("workload = 3\n" + SITE, "mine.toml: workload: found 3; accepted: a list of SITE=FILE"),
        (
            "workload = ''\n" + SITE,
            "mine.toml: workload: found ''; accepted: SITE=FILE, or one file",
        ),
        ('workload = "\\u0000"\n' + SITE, r"mine.toml: workload: found '\x00'; accepted: SITE="),
        ('workload = ["a", 1]\n' + SITE, "mine.toml: workload: found ['a', 1]"),
        ("parameters = 3\n" + SITE, "mine.toml: parameters: accepted: a table"),
        (
            SITE + "[parameters]\njobz = 3",
            "mine.toml: jobz: unknown parameter; did you mean jobs? `metasched validate",
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
            "missing: max_ratio; ",
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
    with pytest.raises(ScenarioError, match=r"scenario 'muscel': unknown; did you mean muscle"):
        Scenario.load("muscel")
    with pytest.raises(ScenarioError, match=r"nowhere\.toml: no such file"):
        Scenario.load(str(tmp_path / "nowhere.toml"))
    with pytest.raises(ScenarioError, match="no such file"):
        Scenario.load(str(tmp_path / "nowhere.py"))
    with pytest.raises(ScenarioError, match=r"site\.swf'.*: a file of another .* with --workload"):
        Scenario.load(written("1 0 0 10 1", "site.swf"))
    with pytest.raises(ScenarioError, match="`scenario`: found none; accepted: a Scenario"):
        Scenario.load(written("x = 1", "empty.py"))
    script = "from grid.platform.multicluster import Platform\nPlatform.star([])\n"
    with pytest.raises(GridError, match=r"/none\.py: .*accepted"):
        Scenario.load(written(script, "none.py"))
    (tmp_path / "folder.toml").mkdir()
    with pytest.raises(ScenarioError, match="found no file"):
        Scenario.load(str(tmp_path / "folder.toml"))
    (tmp_path / "latin.toml").write_bytes("title = 'café'".encode("latin-1"))
    with pytest.raises(ScenarioError, match=r"latin\.toml: found byte 0xe9 in line 1, .*TOML"):
        Scenario.load(str(tmp_path / "latin.toml"))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (["jobs=3", "jobz=3"], "--set: jobz: unknown parameter; did you mean jobs?"),
        (
            ["global_schedular=dll"],
            "--set: global_schedular: unknown parameter; did you mean globa",
        ),
        (["global_scheduler=dll"], "--set: global_scheduler: unknown parameter; accepted: before"),
        (["domains=[north]"], "--set: domains: found '[north]'; accepted: a list as in TOML or J"),
        (["price={C1=a.csv}"], "--set: price: found '{C1=a.csv}'; accepted: a table as in TOML or"),
        (["jobs"], "--set: found 'jobs'; accepted: name=value"),
        (["=3"], "--set: found '=3'; accepted: name=value"),
        (["jobs="], "--set: jobs: found ''; "),
        (["latency=0,5"], "--set: latency: found '0,5'; "),
        (["mode=shut"], "--set: mode: found 'shut'; accepted: 'batch', 'open' or 'per-cluster'"),
        (["step=0"], "--set: step: found 0; accepted: above 0 or 'auto'"),
        (["weights=5"], "--set: weights: found 5; accepted: (Wo, Wm, Wi) of over-deadline, "),
        (["weights=[1, 2]"], "--set: weights: found [1, 2]; accepted: (Wo, Wm, Wi) of "),
        (["service_classes=5"], "--set: service_classes: found 5; accepted: Classes of service "),
        (["weights=[[1,2,3],[1,2,-4]]"], "--set: weights.1.2: found -4; accepted: from 0"),
        (["weights=[1,2,3,4]"], "--set: weights: found [1, 2, 3, 4]; accepted: (Wo, Wm, Wi) of "),
        (["weights=[[1,2,3],[1,2]]"], "--set: weights.1: found [1, 2]; accepted: (Wo, Wm, Wi) "),
        (["weights=4,3"], "--set: weights: found [4, 3]; accepted: (Wo, Wm, Wi) of "),
        (["weights=4,3,-1"], "--set: weights.2: found -1; accepted: from 0"),
        (
            ["prediction_error=x"],
            "--set: prediction_error: found 'x'; accepted: a number or a list",
        ),
        (["load=abc"], "--set: load: found 'abc'; accepted: a number"),
        (["jobs=1.5"], "--set: jobs: found 1.5; accepted: a whole number"),
        (["nodes=x"], "--set: nodes: found 'x'; accepted: a whole number or 'auto' or 'log'"),
        (["assign_deadlines=3"], "--set: assign_deadlines: found 3; accepted: true or false or 'a"),
        (
            ['service_classes=[{name="a"}]'],
            "service_classes.0: found {'name': 'a'}; missing: share, min_ratio, max_ratio; ",
        ),
        (
            ['service_classes=[{name="a",shares=1,min_ratio=0,max_ratio=1}]'],
            "service_classes.0.shares: unknown key; did you mean share?",
        ),
        (["jobs=[1]"], "--set: jobs: found [1]; "),
        (["jobs=3\nx=4"], "--set: jobs: found '3\\nx=4'; "),
        (["min_size=5", "max_size=4"], "--set: max_size: found 4; accepted: from min_size, 5"),
        (["min_size=50"], "--set: min_size: found 50; accepted: up to max_size, 10"),
        (["min_runtime=100"], "--set: min_runtime: found 100.0; accepted: below max_runtime, 100"),
        (["max_runtime=5"], "--set: max_runtime: found 5.0; accepted: above min_runtime, 5.0"),
        (["max_runtime=4"], "--set: max_runtime: found 4.0; accepted: above min_runtime, 5.0"),
        (["max_deadline_ratio=4", "min_deadline_ratio=4.5"], "--set: max_deadline_ratio: found 4"),
    ],
)
def test_bad_settings_are_refused(settings, words):
    with pytest.raises(ScenarioError) as caught:
        Scenario.load("muscle").changed(settings, "--set")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["nodes", "processors"])
def test_a_log_larger_than_any_platform_is_told_by_the_name_that_asked_for_it(name, tmp_path):
    log = tmp_path / "one.csv"
    log.write_text("arrival,runtime,size\n0,100,20000000\n")
    scenario = Scenario.load("muscle").changed(f"{name}=log", workload=str(log))
    with pytest.raises(ScenarioError, match=f"^muscle: {name}: the workload's largest job has 20"):
        scenario.model()


def test_a_log_runs_in_mode_open(tmp_path):
    log = tmp_path / "one.csv"
    log.write_text("arrival,runtime,size\n0,100,4\n")
    scenario = Scenario.load("muscle")
    assert scenario.as_run(scenario.changed(["jobs=9"]).model()).parameters.mode == "batch"
    scenario = scenario.changed(workload=str(log))
    ran = scenario.as_run(scenario.model())
    assert ran.parameters.mode == "open"
    assert ran.as_run(ran.model()) is ran  # as of a run that goes on


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"min_size": 9}, "mine: min_size: found 9; accepted: at most 8, the largest job"),
        ({"weights": ((4, 3, 1),) * 3}, "^mine: weights: found 3 triples"),
        ({"weights": (0, 0, 0)}, "^mine: weights: found"),
        ({"weights": ((4, 3, 1), (0, 0, 0))}, r"^mine: weights of C2: found \(0"),
        ({"prediction_error": (1.0,) * 3}, "^mine: prediction_error: found 3 factors"),
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


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "min_size = 99\nmax_size = 999",
            "mine.toml: min_size: found 99; accepted: at most 8, the largest job",
        ),
        ("queue_shares = [30, 30, 40]", "mine.toml: queue_shares: found 3; accepted: 1 percent"),
    ],
)
def test_what_a_model_refuses_is_told_with_the_file(text, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cluster = '[[clusters]]\nname = "A"\nsize = 8\n'
    (tmp_path / "mine.toml").write_text(f'{cluster}[parameters]\nmode = "open"\n{text}\n')
    with pytest.raises(GridError) as caught:
        Scenario.load("mine.toml").model()
    assert str(caught.value).startswith(words)


def test_unknown_policies_are_refused():
    platform = Platform.star([8])
    with pytest.raises(GridError, match=r"global scheduler 'mussle': unknown; did you mean muscle"):
        Scenario("mine", platform, global_scheduler="mussle").model()
    with pytest.raises(GridError, match=r"local scheduler 'titanic': unknown; did you mean titan"):
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


def test_a_scenario_names_what_its_platform_lacks():
    with pytest.raises(PlatformError):
        Scenario("mine", Platform.star([]))
    with pytest.raises(ScenarioError, match="mine: jobz: unknown parameter"):
        Scenario("mine", Platform.star([4]), {"jobz": 3})


def test_a_scenario_without_a_platform_is_run_on_that_beside_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_text('global = "dll"\nlocal = "fcfs"\n')
    (tmp_path / "site.toml").write_text(SITE.replace('title = "A site"', ""))
    with pytest.raises(GridError, match=r"clusters: none; accepted: at least one, .* beside the"):
        Scenario.load("mine.toml")
    words = ["validate", "mine.toml", "--platform", "site.toml", "--json"]
    told = CliRunner().invoke(main, words)
    assert told.exit_code == 0, told.output
    (tmp_path / "study.toml").write_text(
        'scenario = "mine.toml"\nplatform = "site.toml"\nmetric = "mean_wait"\n'
        'policies = [{global = "dll", local = "fcfs"}, {global = "ect", local = "easy"}]\n'
    )
    assert Study.load("study.toml").base.platform.names == ("C1", "C2")
    (tmp_path / "mine.toml").write_text("[[clusters]]\nname = 'A'\nsize = 8\n")
    assert Scenario.load("mine.toml", other=Platform.star([4])).platform.names == ("A",)


@pytest.mark.parametrize(
    "name", ["not_there:Mine", "of_no_package", "lacking:Mine", "failing:Mine"]
)
def test_a_scheduler_that_is_not_there_can_be_replaced(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lacking.py").write_text("import not_installed\n")
    (tmp_path / "failing.py").write_text("not_defined\n")
    (tmp_path / "mine.toml").write_text(f'global = "{name}"\nlocal = "fcfs"\n{SITE}')
    with pytest.raises((GridError, ImportError, NameError)):
        Scenario.load("mine.toml", (None, "easy"))
    assert Scenario.load("mine.toml", ("dll", None)).global_scheduler == "dll"
    told = CliRunner().invoke(main, ["validate", "mine.toml", "--global", "dll", "--json"])
    assert told.exit_code == 0, told.output
    (tmp_path / "study.toml").write_text(
        'scenario = "mine.toml"\nmetric = "mean_wait"\n'
        'policies = [{global = "dll", local = "fcfs"}, {global = "ect", local = "easy"}]\n'
        "set = {mode = 'open', jobs = 20}\n"
    )
    assert Study.load("study.toml").base.local_scheduler == "fcfs"


@pytest.mark.parametrize("found", ["[1]", "[]", "[1,2,3]", "5"])
def test_a_list_of_another_length_is_told_what_is_accepted(found, tmp_path, monkeypatch):
    (tmp_path / "pair_of_hours.py").write_text(
        "from dataclasses import dataclass\n"
        "from agents.balancers import RoundRobinScheduler\n"
        "from grid.settings import setting\n\n"
        "@dataclass(frozen=True)\nclass Hours:\n"
        "    window: tuple[int, int] = setting((1, 2), 'First and last hour.', least=0)\n\n"
        "class Pair(RoundRobinScheduler):\n    settings_type = Hours\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    words = "validate", "quickstart", "--global", "pair_of_hours:Pair", "--local", "fcfs"
    got = call(*words, "--set", f"window={found}")
    assert got.exit_code == 2
    assert got.stderr.splitlines()[-1].endswith("accepted: a list of 2 whole numbers, from 0")
