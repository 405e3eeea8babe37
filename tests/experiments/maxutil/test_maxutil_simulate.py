"""`metasched maxutil simulate`: against formulas, the Markov chain and a plain simulator."""

from __future__ import annotations

import json
import random

import pytest
from click.testing import CliRunner

from experiments.cli.app import main
from experiments.maxutil.heavy_traffic import HeavyTraffic, batch_means
from experiments.maxutil.system import System
from experiments.papers.maxutil.paper_tables import TABLE_3, TABLE_4
from grid.capacity import Requests, true_capacity
from grid.errors import GridError

JOBS = 300_000


def answered(*words):
    result = CliRunner().invoke(main, ["maxutil", *map(str, words), "--json"])
    assert result.exit_code == 0, (words, result.output, result.exception)
    return json.loads(result.stdout)


def simulated(*words, jobs=JOBS):
    return answered("simulate", "--jobs", jobs, "--seed", 1, *words)


def near(found, exact):
    """Tell whether an interval, made half as wide again, holds a number."""
    return abs(found["capacity_loss"] - exact) <= 1.5 * found["capacity_loss_ci95"]


def test_the_contract():
    found = simulated(
        "--request", "unordered", "--placement", "wf", "--policy", "fcfs", "--max-jumps", 50,
        "--service", "exponential", "--cv", 10, "--dist", "U[1,14]", "--clusters", 4, "--size", 32,
    )  # fmt: skip
    assert {"capacity_loss", "utilization", "mpl", "capacity_loss_ci95"} <= set(found)
    assert found["capacity_loss"] == pytest.approx(0.2066, abs=0.002)
    assert found["utilization"] == pytest.approx(1 - found["capacity_loss"])
    assert found["mpl"] == pytest.approx(found["utilization"] * 128 / 30)
    assert (found["jobs"], found["waiting"], found["seed"]) == (JOBS, 1, 1)
    assert simulated("--dist", "U[1,14]") == found


@pytest.mark.parametrize(
    "words",
    [
        ("ordered", "--dist", "U[1,4]"),
        ("total", "--dist", "D(0.8)[1,32]", "--clusters", 2),
        ("ordered", "--dist", "U[1,16]", "--clusters", 2, "--zero", 0.5),
        ("total", "--dist", "U[1,16]", "--clusters", 2, "--zero", 0.5),
        ("ordered", "--dist", "U[1,14]", "--clusters", 2, "--dependent"),
        ("ordered", "--dist", "U[1,64]", "--clusters", 2, "--dependent", "--draws", 1),
        ("total", "--dist", "U[1,20]", "--clusters", 2, "--draws", 3),
        ("ordered", "--dist", "U[1,8]", "--size", "32,16"),
    ],
    ids=lambda words: " ".join(map(str, words)),
)
def test_where_formulas_are_exact(words):
    request, *rest = words
    exact = answered(*words)
    found = simulated("--request", request, *rest)
    assert near(found, exact["capacity_loss"])
    assert found["mpl"] == pytest.approx(exact["mpl"], rel=0.01)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("clusters", "row"),
    [(clusters, row) for clusters, table in ((4, TABLE_3), (2, TABLE_4)) for row in table],
    ids=[row.law for row in (*TABLE_3, *TABLE_4)],
)
def test_four_million_jobs_are_within_a_thousandth(clusters, row):
    for request, count in (("total", 1), ("ordered", clusters), ("total", clusters)):
        words = ("--dist", row.law, "--clusters", count)
        exact = answered(request, *words)["capacity_loss"]
        found = simulated("--request", request, *words, jobs=4_000_000)["capacity_loss"]
        assert found == pytest.approx(exact, abs=0.001)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("waiting", "jumps"), [(1, None), (2, None), (2, 1)], ids=["FCFS", "FPFS", "FPFS(1)"]
)
def test_tiny_systems_are_as_their_markov_chain(waiting, jumps):
    jobs = Requests.independent([0, 1 / 3, 1 / 3, 1 / 3], clusters=2, size=6)
    truth, _ = true_capacity(jobs, waiting, jumps)
    policy = "fcfs" if waiting == 1 else "fpfs"
    system = System((6, 6), "U[1,3]", policy=policy, max_jumps=jumps)
    found = HeavyTraffic(system, JOBS, waiting).utilization(3)
    assert found.mean == pytest.approx(truth.utilization, abs=1.5 * found.half_width)
    assert found.half_width < 0.003


def in_slots(law, jobs, draws):
    """Return the loss on 4 x 32 if jobs take 1 s, all that end at once before any that start."""
    sizes, weights = zip(*law, strict=True)

    def job():
        return sorted(draws.choices(sizes, weights, k=4), reverse=True)

    head, held, slots = job(), 0, 0
    while jobs > 0:
        free, slots = [32] * 4, slots + 1
        while all(size <= most for size, most in zip(head, sorted(free)[::-1], strict=True)):
            for cluster, size in zip(sorted(range(4), key=lambda c: -free[c]), head, strict=True):
                free[cluster] -= size
            held += sum(head)
            head, jobs = job(), jobs - 1
    return 1 - held / (128 * slots)


def test_departures_of_an_instant_precede_starts():
    law = [(i, (3 if i in (2, 4, 8, 16, 32) else 1) * 0.768**i) for i in range(1, 33)]
    plain = in_slots(law, 100_000, random.Random(1))
    found = simulated("--dist", "D(0.768)[1,32]", "--service", "deterministic")
    assert found["capacity_loss"] == pytest.approx(plain, abs=0.004)
    assert found["capacity_loss"] == pytest.approx(0.178, abs=0.002)


def test_placement_service_and_policy_make_a_difference():
    losses = [
        simulated("--dist", "U[1,7]", *words, jobs=100_000)["capacity_loss"]
        for words in (
            ("--policy", "fpfs"),
            ("--service", "deterministic"),
            (),
            ("--service", "hyperexponential", "--cv", 10),
            ("--placement", "ff"),
        )
    ]
    assert losses == sorted(losses)
    assert losses[1] < losses[2] - 0.001
    assert losses[2] < losses[3] - 0.001


def test_poisson_arrivals_reach_the_threshold_where_heavy_traffic_says():
    words = ("--dist", "U[1,13]", "--clusters", 1, "--method", "poisson", "--threshold", 200)
    found = simulated(*words, jobs=60_000)
    exact = answered("total", "--dist", "U[1,13]", "--clusters", 1)["capacity_loss"]
    assert found["capacity_loss"] == pytest.approx(exact, abs=0.01)
    assert found["threshold"] == 200 <= found["mean_response"] < 300
    assert found["arrivals"] == 60_000
    assert found["load"] == pytest.approx(1 - exact, abs=0.02)
    assert found["threshold_reached"] is True


def test_a_threshold_that_is_never_reached_is_told():
    words = ("--dist", "U[1,7]", "--method", "poisson")
    found = simulated(*words, jobs=2000)
    assert (found["load"], found["threshold_reached"]) == (1.0, False)
    shown = CliRunner().invoke(main, ["maxutil", "simulate", "--jobs", "2000", *words]).stdout
    shown = " ".join(shown.split())
    assert "up to an offered load of 1, never the threshold of 1,000: more --jobs" in shown
    assert "the load at which queues grow" not in shown


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            "--cv 3 --max-jumps 3 --threshold 5",
            "--max-jumps (policy is fcfs); --cv (service is not hyperexponential); "
            "--threshold (method is not poisson)",
        ),
        ("--request total --placement ff", "--placement (request is not unordered)"),
        (
            "--method poisson --waiting 2 --start 5",
            "--waiting (method is not heavy); --start (policy is fcfs)",
        ),
        (
            "--method poisson --policy fpfs --start 100 --bound 200 --threshold 5 --jobs 20000",
            "--threshold (policy is fpfs)",
        ),
        ("--largest 3", "--largest (no log is read)"),
    ],
)
def test_options_without_effect_are_named(words, says):
    words = ["simulate", "--dist", "U[1,4]", "--jobs", "2000", *words.split()]
    result = CliRunner().invoke(main, ["maxutil", *words])
    assert result.exit_code == 0
    assert f"metasched: options without effect: {says}\n" in result.stderr


@pytest.mark.thorough
def test_a_queue_lasts_longest_near_the_maximal_utilization():
    words = ("--dist", "U[1,14]", "--policy", "fpfs", "--start", 100, "--bound", 200)
    found = simulated(*words, "--method", "poisson", jobs=20_000)
    closed = simulated("--dist", "U[1,14]", "--policy", "fpfs", "--waiting", 100, jobs=20_000)
    assert found["capacity_loss"] == pytest.approx(closed["capacity_loss"], abs=0.01)
    assert 5_000 < found["lasted"] <= found["arrivals"] == 20_000
    assert (found["start"], found["bound"], found["balanced"]) == (100, 200, True)


def told(*words):
    """Return what is told to people, in one line."""
    result = CliRunner().invoke(main, ["maxutil", "simulate", "--dist", "U[1,14]", *words])
    assert result.exit_code == 0
    return " ".join(result.stdout.split())


def test_a_queue_that_only_shrank_is_told():
    words = ("--policy", "fpfs", "--method", "poisson")
    found = simulated("--dist", "U[1,14]", *words, jobs=4000)
    assert found["lasted"] == 4000
    assert found["balanced"] is False
    assert found["utilization"] > found["load"] + 0.05
    shown = told(*words, "--jobs", "4000")
    assert "for 4,000 of 4,000, and shrank by 4" in shown
    assert "more --jobs or --method heavy would tell what can be carried" in shown
    assert "carried while the queue shrank" in shown


@pytest.mark.thorough
def test_only_under_fcfs_it_is_the_load_at_which_queues_grow():
    words = (
        "the load at which queues grow without end",
        "with more or fewer it differs",
        "at the threshold",
    )
    poisson = "--method", "poisson", "--start", "100", "--bound", "200"
    for policy, has in (
        (("fcfs",), (True, False, False)),
        (("fpfs", "--max-jumps", "0"), (True, False, False)),
        (("fpfs", "--max-jumps", "0", *poisson), (True, False, False)),
        (("fpfs",), (False, True, False)),
        (("fpfs", *poisson), (False, True, False)),
        (("fcfs", "--method", "poisson", "--threshold", "3"), (False, False, True)),
    ):
        shown = told("--jobs", "20000", "--policy", *policy)
        assert tuple(each in shown for each in words) == has, policy


def test_jobs_of_a_log(tmp_path):
    """Small jobs are short here: whether size and time are drawn together tells."""
    log = tmp_path / "log.swf"
    rows = [(4, 10), (64, 100), (200, 1000)] * 5
    lines = [
        f"{number} {number} -1 {time} {size}" + " -1" * 13
        for number, (size, time) in enumerate(rows, start=1)
    ]
    log.write_text("\n".join(lines))
    words = ("--dist", f"swf:{log}", "--request", "total")
    together = simulated(*words, "--together", jobs=20_000)
    assert together["left_out"] == {str(log): 5}
    shown = CliRunner().invoke(
        main, ["maxutil", "simulate", *words, "--together", "--jobs", "2000", "--draws", "2"]
    )
    assert "added up" not in shown.stdout
    assert "of a job under way, that is weighted by run times" in " ".join(shown.stdout.split())
    assert f"{log}: 5 jobs of more than 128 processors left out\n" in shown.stderr
    assert "options without effect: --draws (jobs of the log are whole)" in shown.stderr
    apart = simulated(*words, "--draws", 1, "--service", f"swf:{log}", jobs=20_000)
    # Of jobs under way, ten times as many are large as small, though as many come.
    size = (4 * 10 + 64 * 100) / 110
    assert together["mpl"] * size == pytest.approx(together["utilization"] * 128)
    assert apart["mpl"] * 34 == pytest.approx(apart["utilization"] * 128)
    split = simulated(*words[:2], "--dependent", "--together", "--largest", 10, jobs=5_000)
    assert split["left_out"] == {str(log): 10}
    assert split["capacity_loss"] == pytest.approx(0, abs=1e-9)  # all of them take 4 of 128


def test_what_is_told_to_people():
    words = ["maxutil", "simulate", "--dist", "U[1,4]", "--policy", "fpfs", "--jobs", "2000"]
    shown = CliRunner().invoke(main, words)
    assert shown.exit_code == 0
    for told in ("FPFS(50)", "100 waiting", "2,000 jobs", "±", "Worst Fit"):
        assert told in shown.stdout.replace("\n", " "), told


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--dist", "U[1,44]"], "found sizes from 1 to 44"),
        (["--dist", "D(1.5)[1,4]"], "found q = '1.5'"),
        (["--dist", "nonsense"], "distribution: found 'nonsense'"),
        (["--dist", "U[1,4]", "--service", "x"], "--service: found 'x'; accepted: exponential"),
        (["--dist", "U[1,4]", "--service", "swf:none.swf"], "none.swf"),
        (["--dist", "U[1,4]", "--cv", 0.5], "--cv: found '0.5'"),
        (["--dist", "U[1,4]", "--zero", 1], "--zero: found 1"),
        (["--dist", "U[1,4]", "--threshold", 1], "--threshold: found '1'; accepted: a number abo"),
        (["--dist", "U[1,4]", "--draws", 2], "--draws: found 2; accepted: with --dependent"),
        (["--dist", "U[1,4]", "--together"], "--together: found with --dist U[1,4]; accepted"),
        (["--dist", "U[1,4]", "--clusters", 17], "--clusters: found 17; accepted: up to 16"),
        (["--dist", "U[1,4]", "--size", "8,9", "--dependent"], "--size: found several"),
        (["--dist", "U[1,4]", "--request", "total", "--dependent"], "--dependent: found with tot"),
        (["--dist", "U[1,4]", "--size", "8,9", "--clusters", 3], "--size: found 2 sizes"),
        (["--dist", "U[1,4]", "--jobs", 10], "--jobs: found '10'; accepted"),
        (["--dist", "U[1,4]", "--waiting", 0], "--waiting: found '0'"),
        (["--dist", "U[1,4]", "--waiting", 1000, "--jobs", 1000], "--jobs: found 1000, too few"),
        (
            ["--dist", "U[1,4]", "--policy", "fpfs", "--method", "poisson", "--bound", 5],
            "--start: found 1000 and --bound 5",
        ),
    ],
)
def test_bad_input(words, says):
    result = CliRunner().invoke(main, ["maxutil", "simulate", *map(str, words)])
    assert result.exit_code == 2
    assert says in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_run_that_is_far_too_short_has_no_mean():
    model = HeavyTraffic(System((32,), "U[1,4]"), 3).model()
    assert str(batch_means(model)) == "[nan]"


def test_a_system_without_jumps_is_first_come_first_served():
    words = ("--dist", "U[1,14]", "--policy")
    alike = [
        simulated(*words, "fpfs", "--max-jumps", 0, "--waiting", 1, jobs=20_000),
        simulated(*words, "fcfs", jobs=20_000),
    ]
    assert alike[0]["capacity_loss"] == alike[1]["capacity_loss"]


def test_a_system_refuses_what_its_command_refuses():
    with pytest.raises(GridError, match="--zero"):
        System((32,), "U[1,4]", zero=-0.1)
