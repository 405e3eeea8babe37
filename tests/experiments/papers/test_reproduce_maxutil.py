"""`metasched reproduce maxutil`: the whole path on a tiny scale, its points, claims and tables."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from rich.console import Console

from experiments.cli.app import main
from experiments.maxutil.poisson import PoissonArrivals
from experiments.papers.maxutil import Paper, verdicts
from experiments.papers.maxutil.examples import extreme_loss
from experiments.papers.maxutil.logs import Log
from experiments.papers.maxutil.loss_claims import CLAIMS
from experiments.papers.maxutil.losses import Outcome, formula, truth
from experiments.papers.maxutil.paper_tables import TABLE_5
from experiments.papers.maxutil.systems import (
    DEPENDENT,
    FPFS,
    JOBS,
    LASTING,
    PARTS,
    POISSON,
    ROWS,
    SERVICE,
    THRESHOLD,
    TINY,
    UNORDERED,
    Point,
    log_points,
    of_row,
    points_of,
    run,
)
from experiments.sweeps.run_store import RUNS
from grid.errors import GridError

TINIEST = ["--scale", "0.0003", "--replications", "1", "--workers", "1"]


def call(*words):
    return CliRunner().invoke(main, ["reproduce", "maxutil", *(str(word) for word in words)])


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    path = tmp_path_factory.mktemp("log") / "some.swf"
    rows = [(1, 5), (2, 900), (8, 20), (100, 50), (200, 70)]
    path.write_text(
        "\n".join(
            f"{n} {n} -1 {time} {size}" + " -1" * 13 for n, (size, time) in enumerate(rows, 1)
        )
    )
    return path


@pytest.fixture(scope="module")
def tiny(tmp_path_factory, log):
    folder = tmp_path_factory.mktemp("tiny")
    result = call(*TINIEST, "--out", folder, "--ctc", log, "--das", log, "--json")
    assert result.exit_code == 0, (result.output, result.exception)
    return folder, result


@pytest.mark.thorough
def test_what_is_left_behind(tiny, log):
    folder, result = tiny
    told = json.loads(result.stdout)
    assert told["parts"] == list(PARTS)
    assert {"scale", "replications", "systems", "claims"} <= set(told)
    assert len(told["claims"]) == len(CLAIMS) + 1
    words = {each["claim"]: each["verdict"] for each in told["claims"]}
    assert words["The exact columns, to 0.0005"] == "holds"
    assert words["The approximation, to 0.001"] == "holds"
    table = pd.read_csv(folder / "maxutil-systems.csv")
    assert len(table) == len(told["systems"]) == 160 + 50 + 5 + 5 + 34 + 12 + 5 + 12 + len(TINY) + 4
    assert table.loss.between(0, 1).all()
    pictures = {path.stem for path in folder.glob("*.svg")}
    assert pictures == {path.stem for path in folder.glob("*.png")}
    assert pictures == {
        f"maxutil-{name}"
        for name in ("figures1-2", "figures3-4", "service", "figure5", "figures6-8", "figure7")
    }
    page = (folder / "maxutil.md").read_text()
    for words in (
        f"--scale 0.0003 --replications 1 --ctc {log} --das {log}",
        "none has fewer than 1,000, or than three times those that wait",
        "not the paper's very logs, but some.swf for the CTC and some.swf for the DAS",
        "| sizes | CTC: up to 128 processors | 4 | 27.75 |",
        "| D(0.9)[1,8] | 3.996 | 0.570 |",
        "| U[1,3], 2 x 6 | FCFS | 591 | 0.1799 |",
    ):
        assert words in page, words
    assert page.count("\n| U[") + page.count("\n| D(") == 20 + 20 + 5 + 10 + len(TINY) + 12
    assert "searches the threshold was not reached up to a load of 1" in page
    assert "| U[1,14] | 50 | 1,000 | 2,000 |" in page
    assert "as printed" in (folder / "maxutil-service.svg").read_text()


@pytest.mark.thorough
def test_the_same_command_goes_on_and_changes_nothing(tiny, log):
    folder, _ = tiny
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.name != RUNS}
    again = call(*TINIEST, "--out", folder, "--ctc", log, "--das", log)
    assert again.exit_code == 0
    assert "0 runs to do" in again.stderr
    assert "maxutil.md" in again.stdout
    for name, content in before.items():
        assert (folder / name).read_bytes() == content, name


@pytest.mark.thorough
def test_without_logs_that_is_said(tmp_path):
    result = call(*TINIEST, "--part", "logs", "--part", "chain", "--out", tmp_path)
    assert result.exit_code == 0
    assert "No logs were given (--ctc, --das)" in result.stdout
    assert "No logs were given" in (tmp_path / "maxutil.md").read_text()
    assert not list(tmp_path.glob("*.svg"))


@pytest.mark.parametrize(
    ("option", "says"),
    [
        ("ctc", "No log was given for the DAS (--das): Figs. 1 and 2 are left out, and Tables"),
        ("das", "No log was given for the CTC (--ctc): Tables 1 and 2 and Fig. 7 are of the DAS"),
    ],
)
def test_with_one_log_what_is_left_out_is_said(option, says, log, capsys):
    paper = Paper(["logs"], **{option: log})
    paper.outcome, paper.claims = Given(lambda point: 0.3), []
    page = "\n".join([*paper.tables(), *(each.caption for each in paper.pictures())])
    assert says in page
    source = f"not the paper's very log, but some.swf for the {option.upper()}"
    assert f"This is {source}. " in page
    assert f"Fig. 7: the loss for jobs of the log at hand: {source}" in page
    assert "logs" not in page
    paper.show("out", Console(width=200))
    assert says in capsys.readouterr().out


def test_a_page_tells_how_many_jobs_runs_have():
    for scale, reaching, lasting in (
        (1, "1,000,000", "100,000"),
        (1e-4, "1,000", "1,000 or 3,000"),
    ):
        method = " ".join(Paper(scale=scale).method())
        assert f"with {reaching} arrivals a run" in method
        assert f"with {lasting} arrivals at most" in method
    few = "**Too few jobs**: `--scale` asks for 400 a run; each has at least 1,000."
    assert (Paper(scale=1e-4).too_few(), Paper(scale=1).too_few()) == (few, "")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--part", "x"], "--part"),
        (["--scale", "0"], "scale: found '0'; accepted: a number above 0"),
        (["--replications", "0"], "replications: found '0'"),
        (["--ctc", "none.swf"], "none.swf"),
        (["--part", "chain", "--ctc", "none.swf"], "--ctc: found with --part chain; accepted: wit"),
    ],
)
def test_bad_input(words, says, tmp_path):
    result = call(*words, "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert says in result.stderr
    assert not (tmp_path / "out").exists()


def test_a_part_that_is_unknown_is_refused_in_python_too():
    with pytest.raises(
        GridError, match="part: found 'x'; accepted: tables, poisson, figures, chain, logs"
    ):
        Paper(["x"])


# Points -----------------------------------------------------------------------------------------


def test_points_are_those_of_the_paper():
    assert len(ROWS) == 20
    for clusters, row in ROWS:
        points = of_row(clusters, row)
        assert {name: sum(each.system.sizes) for name, each in points.items()} == {
            "single": 32, "ordered": 32 * clusters, "unordered": 32 * clusters,
            "total": 32 * clusters,
        }  # fmt: skip
    assert {each.system.service for each in SERVICE.values()} == {
        "exponential", "deterministic", "hyperexponential",
    }  # fmt: skip
    assert {(jumps, waiting) for _, jumps, waiting in FPFS} >= {(5, 10), (50, 1000)}
    assert all(each.system.largest is None for each in UNORDERED.values())
    # Jobs of Fig. 8 fit on one cluster, whether they are split or not.
    assert DEPENDENT[TABLE_5[1]].system.whole.maximum == 32
    whole = run(UNORDERED[TABLE_5[0]], 1.0, 3)
    assert (whole.scenario.jobs, whole.seed) == (JOBS, 3)
    assert run(FPFS[TABLE_5[3], 5, 10], 1.0, 0).scenario.jobs == JOBS / 10
    keys = {run(each, 1.0, 0).key for part in PARTS for each in points_of(part)}
    assert len(keys) == len({each for part in PARTS for each in points_of(part)})


def test_jobs_of_logs_are_drawn_as_the_paper_does(log):
    points = log_points(log, log)
    assert points["CTC", "total"].system.sample.left_out == 1
    assert points["CTC", "unordered"].system.together
    assert points["DAS", "unordered"].system.sample is None
    assert points["DAS", "unordered"].system.mix()["largest_component"] == 32
    assert points["DAS", "total"].system.whole.mean == pytest.approx(111 / 4)
    assert points["DAS", "total"].system.runtimes.mean == pytest.approx(975 / 4)
    assert log_points(None, None) == {}


def test_runs_of_a_log_are_told_from_those_of_what_it_was(log, tmp_path):
    path = tmp_path / "log.swf"
    path.write_text(log.read_text())
    points = log_points(path, path)
    before = {name: run(each, 1.0, 0).key for name, each in points.items()}
    assert before == {name: run(each, 1.0, 0).key for name, each in points.items()}
    path.write_text("\n".join(log.read_text().splitlines()[:2]))
    assert all(run(each, 1.0, 0).key != before[name] for name, each in points.items())


def test_statistics_of_a_log(log):
    rows = {(table, jobs): rest for table, jobs, *rest in Log.read("DAS", log).statistics()}
    assert rows["sizes", "DAS: all"][:2] == [5, pytest.approx(311 / 5)]
    count, mean, cv = rows["service times, s", "DAS: all"]
    assert (count, mean) == (5, pytest.approx(1045 / 5))
    assert cv == pytest.approx(np.std([5, 900, 20, 50, 70]) / 209)
    assert rows["service times, s", "DAS: up to 900 s"][0] == 5
    long = Log("DAS", log, np.array([1, 2]), np.array([901.0, 1000.0]))
    assert [jobs for _, jobs, *_ in long.statistics()] == ["DAS: all"] * 2
    sizes, shares = Log.read("DAS", log).size_density()
    assert dict(zip(sizes, shares, strict=True))[100] == 0.2
    assert shares.sum() == pytest.approx(0.8)
    times, shares = Log.read("DAS", log).runtime_density()
    assert times[shares > 0].tolist() == [5.0, 25.0, 55.0, 75.0, 895.0]


def test_examples_of_the_text():
    assert extreme_loss(4, 32) == pytest.approx(1 - 20 / 128)
    for clusters in (2, 3, 8):
        assert extreme_loss(clusters, 10_000) == pytest.approx(
            (clusters - 0.5) / clusters, abs=1e-3
        )


# Verdicts ---------------------------------------------------------------------------------------


class Given(Outcome):
    """An outcome in which everything comes to what a test says."""

    def __init__(self, loss):
        super().__init__(1.0, 3)
        self._loss = loss

    def losses(self, point: Point):
        return self._loss(point) + np.array([-1e-5, 0.0, 1e-5])


class Noisy(Outcome):
    """An outcome that differs much from run to run and from system to system."""

    def __init__(self):
        super().__init__(1.0, 3)
        self._random, self._found = np.random.default_rng(1), {}

    def losses(self, point: Point):
        return self._found.setdefault(point, self._random.uniform(0.2, 0.8, size=3))


@pytest.mark.thorough
def test_verdicts_follow_the_numbers():
    true = Given(lambda point: formula(point))
    assert verdicts.simulated_columns(true).word == "holds"
    assert verdicts.approximation(true).word == "holds"
    assert verdicts.paper_simulations(true).word == "fails"  # eq. 5 is that far from the truth
    off = Given(lambda point: formula(point) + 0.002)
    assert verdicts.simulated_columns(off).word == "fails"
    chain = {tiny.point: truth(tiny)[0] for tiny in TINY}
    assert verdicts.against_truth(Given(chain.get)).word == "holds"
    assert verdicts.against_truth(Given(lambda point: chain[point] - 0.01)).word == "fails"


@pytest.mark.thorough
def test_all_tolerances_are_judged_by_the_same_rule():
    noisy = Noisy()
    tolerance = re.compile(r"to 0\.|\(0\.|\(below")
    words = {
        claim.text: claim.judge(noisy).word for claim in CLAIMS if tolerance.search(claim.text)
    }
    holding = [text for text, word in words.items() if word == "holds"]
    assert holding[:2] == ["The exact columns, to 0.0005", "The approximation, to 0.001"]
    assert [text.partition(",")[0] for text in holding[2:]] == [
        "If all jobs need just over half of one cluster and one processor of each other"
    ]


@pytest.mark.thorough
def test_the_difference_that_decides_is_shown():
    law = ROWS[0][1].law
    wide = {of_row(*ROWS[0])["unordered"]: 0.1}

    class Wide(Given):
        def losses(self, point):
            return super().losses(point) + wide.get(point, 0.0) * np.array([-1, 0, 1])

    found = verdicts.approximation(Wide(lambda point: formula(point) + 0.001 * (point not in wide)))
    assert found.word == "open"
    assert found.evidence[0].where == f"simulated - approximated, 4 clusters, {law}"


def test_verdicts_about_policies_depend_on_the_queue():
    gains = {50: 0.1, 5: 0.02}

    def loss(point):
        system = point.system
        if system.policy == "fcfs":
            return 0.4
        late = 0.3 if point.queue == (1000, 2000) else 0.0
        return 0.4 - gains[system.max_jumps] + late

    few = verdicts.overtaking(Given(loss), 5, -0.03, 0.03)
    assert few.word == "open"
    assert len(few.evidence) == 6
    steady = Given(lambda point: 0.4 if point.system.policy == "fcfs" else 0.3)
    assert verdicts.overtaking(steady, 50, 0.06, 0.14).word == "holds"
    assert verdicts.overtaking(steady, 5, -0.03, 0.03).word == "fails"


@pytest.mark.thorough
def test_both_kinds_of_simulation_are_judged_by_what_is_exact():
    true = Given(lambda point: formula(point))
    assert verdicts.arriving(true).word == verdicts.both_ways(true).word == "holds"
    off = Given(lambda point: formula(point) + (0.0 if point.waiting else 0.003))
    assert verdicts.arriving(off).word == verdicts.both_ways(off).word == "fails"
    assert verdicts.both_ways(off).evidence[0].where.startswith("Poisson - heavy traffic, U[")


def test_what_a_search_finds_is_what_the_command_for_it_says():
    arriving = run(POISSON[4, "U[1,16]", "ordered"], 0.002, 3)
    reached = PoissonArrivals(arriving.scenario.system, 2000, 3).threshold_reached(THRESHOLD)
    assert arriving.scenario.jobs == 2000
    assert arriving.scenario.observed(3) == {
        "utilization": [reached.utilization.mean], "reached": [float(reached.at_all)],
    }  # fmt: skip
    lasting = run(LASTING["U[1,14]", 50, (200, 1000)], 0.02, 3)
    lasted = PoissonArrivals(lasting.scenario.system, 2000, 3).longest(200, 1000)
    assert lasting.scenario.observed(3) == {
        "utilization": [lasted.utilization.mean], "lasted": [float(lasted.arrivals)],
    }  # fmt: skip
    assert lasting.key != run(LASTING["U[1,14]", 50, (100, 1000)], 0.02, 3).key


def test_placement_and_dependence_are_judged():
    placed = Given(lambda point: 0.2 if point.system.placement == "ff" else 0.19)
    told = verdicts.placement(placed)
    assert told.word == "open"  # the paper does not say what is much
    assert {round(each.value.mean, 9) for each in told.evidence} == {0.01}
    split = Given(lambda point: 0.3 if point.system.dependent else 0.19)
    assert verdicts.dependent(split, TABLE_5[:4], poorer=True).word == "holds"
    assert verdicts.dependent(split, TABLE_5[4:], poorer=False).word == "fails"
    assert verdicts.only_the_mean(split).word == "holds"
    assert verdicts.coallocation(split).word == "holds"


@pytest.mark.parametrize(
    ("apart", "noise", "word"),
    [(0.1, 1e-3, "holds"), (-0.1, 1e-3, "fails"), (0.05, 0.2, "open"), (-0.05, 0.2, "open")],
)
def test_spreads_are_compared_by_the_intervals_of_their_differences(apart, noise, word):
    class Rough(Given):
        """Sizes add more than service times by `apart`, give or take the noise of runs."""

        def losses(self, point):
            law, service = point.system.law, point.system.service
            of_sizes = TABLE_5.index(law) * (0.2 + apart) / 2
            if service == "hyperexponential":
                return 0.3 + of_sizes + noise * np.array([-1, 0, 1])
            return np.full(3, 0.1 + of_sizes)

    found = verdicts.sizes_matter_more(Rough(None), TABLE_5[:1])
    assert found.word == word
    assert all(each.value.half_width > 0 for each in found.evidence)
    assert found.evidence[0].value.mean == pytest.approx(apart)


def test_what_is_kept_is_the_utilization():
    each = run(UNORDERED[TABLE_5[0]], 0.005, 0)
    (found,) = each.scenario.observed(each.seed)["utilization"]
    assert found == pytest.approx(1 - 0.0984, abs=0.01)
