"""`metasched gap`: rounds of a run beside their optima."""

from __future__ import annotations

import json
import shutil

import pytest

from tests.experiments.commands import call

# What SWIG makes has no module on Python 3.12 and later.
pytestmark = pytest.mark.filterwarnings(
    "ignore:builtin type .* has no __module__:DeprecationWarning"
)


def run(folder, *words):
    done = call("run", *words, "--out", folder, "--events", folder / "events.jsonl", "--json")
    assert done.exit_code == 0, done.output
    return folder


@pytest.fixture(scope="module")
def batch(tmp_path_factory):
    words = ["muscle", "--set", "jobs=30", "--set", "queue=8", "--set", "patience=20"]
    return run(tmp_path_factory.mktemp("batch"), *words)


@pytest.fixture(scope="module")
def online(tmp_path_factory):
    words = ["quickstart", "--set", "jobs=30", "--set", "patience=20", "--set", "max_size=30"]
    return run(tmp_path_factory.mktemp("open"), *words)


def gaps(*words):
    done = call("gap", *words, "--time-limit", 2, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_each_round_of_a_batch_run_is_no_shorter_than_its_bound(batch):
    found = gaps(batch)
    rounds = found["rounds"]
    assert sum(each["jobs"] for each in rounds) == 30
    assert [each["round"] for each in rounds] == list(range(1, len(rounds) + 1))
    for each in rounds:
        assert 0 < each["bound"] <= each["best"] <= each["makespan"]
        assert each["gap"] == pytest.approx(1 - each["bound"] / each["makespan"])
        assert (each["optimum"] is not None) == each["proven"]
        assert each["beside"] == 0
    assert found["jobs_whole"]
    assert found["mean_gap"] <= found["max_gap"]
    assert found["proven"] == sum(each["proven"] for each in rounds) > 0


def test_rounds_of_muscle_that_overlap_are_beside_what_was_dispatched_before(online):
    found = gaps(online)
    assert all(0 <= each["gap"] < 1 for each in found["rounds"])
    assert any(each["beside"] > 0 for each in found["rounds"])
    dispatched = [each["dispatched"] for each in found["rounds"]]
    assert dispatched == sorted(dispatched)
    first = gaps(online, "--first", 2, "--events", online / "events.jsonl")
    assert [each["dispatched"] for each in first["rounds"]] == dispatched[:2]


def test_people_are_shown_a_table(batch):
    done = call("gap", batch, "--first", 1, "--time-limit", 2)
    assert done.exit_code == 0, done.output
    assert "best found, s" in done.output
    assert "mean gap" in done.output
    assert "gap: share of its makespan by which a round could at most have been" in done.output


def test_jobs_that_were_split_may_be_split_in_the_optimum(tmp_path):
    words = ["--set", "jobs=12", "--set", "queue=6", "--set", "max_size=18"]
    folder = run(tmp_path, "muscle", *words, "--global", "b1", "--local", "fcfs")
    found = gaps(folder)
    assert not found["jobs_whole"]
    assert all(0 <= each["gap"] < 1 for each in found["rounds"])


def test_no_optimum_is_claimed_of_jobs_that_links_slow_down(tmp_path):
    words = ["jobs=3", "queue=1", "min_size=40", "max_size=40", "coallocate=true", "bsbw=300"]
    words += ["link_mbps=100", "computation_fraction=0.5", "mean_runtime=60"]
    folder = run(tmp_path, "muscle", *(f"--set={word}" for word in words))
    found = gaps(folder)
    assert found["proven"] == 0
    assert found["mean_gap_proven"] is found["max_gap_proven"] is None
    assert all(each["relaxed"] and each["best"] == each["makespan"] for each in found["rounds"])
    told = " ".join(call("gap", folder, "--time-limit", 2).output.split())
    assert "the bound ignores that jobs take longer split over links" in told
    assert (
        f"mean gap <= {100 * found['mean_gap']:.2f} %, largest <= {100 * found['max_gap']:.2f} %;"
        in told
    )


@pytest.mark.parametrize(
    ("policy", "first"),
    [
        # The only job of the first round, submitted through no cluster, is sent to one.
        ("ect", 20.0),
        # It starts where the scheduler says, at once.
        ("first-fit", 0.0),
    ],
)
def test_no_optimum_is_faster_than_messages(policy, first, tmp_path):
    words = ["jobs=6", "queue=1", "mode=batch", "latency=20"]
    given = "--global", policy, "--local", "fcfs", *(f"--set={word}" for word in words)
    found = gaps(run(tmp_path, "quickstart", *given))
    assert found["proven"] == len(found["rounds"])
    alone = found["rounds"][0]
    assert (alone["jobs"], alone["gap"]) == (1, pytest.approx(0, abs=1e-8))
    assert first < alone["bound"] < first + 5


def test_a_run_in_mode_open_needs_its_event_log(online, tmp_path):
    done = call("gap", online, "--events", tmp_path / "none.jsonl")
    assert done.exit_code == 2
    assert "none.jsonl: no such file; accepted: the event log of this run" in done.output


def test_a_run_in_mode_batch_reads_no_event_log(batch):
    done = call("gap", batch, "--events", batch / "events.jsonl")
    assert done.exit_code == 2
    assert "--events: found for a run in mode batch; accepted: for one in open" in done.output


def test_a_run_without_rounds_is_refused(tmp_path):
    folder = run(tmp_path, "quickstart", "--set", "jobs=10", "--global", "dll", "--local", "fcfs")
    done = call("gap", folder, "--events", "none.jsonl")
    assert done.exit_code == 2
    assert "metrics.rounds: found none; accepted: a run in mode batch" in done.output


def test_a_run_whose_first_round_has_not_ended_is_told_so(batch, tmp_path):
    shutil.copytree(batch, tmp_path, dirs_exist_ok=True)
    header, *rows = (tmp_path / "jobs.csv").read_text().splitlines()
    (tmp_path / "jobs.csv").write_text("\n".join([header, *rows[1:]]) + "\n")
    done = call("gap", tmp_path, "--first", 1)
    assert done.exit_code == 2
    assert "found no round among the first 1 whose jobs all ended; accepted" in done.output
    assert call("gap", tmp_path).output.endswith("left out: 1 round with jobs that never ended\n")


def jobs_csv(path, *rows):
    """Write a table of jobs: number, arrival, size, run time."""
    lines = (",".join(map(str, row)) for row in rows)
    path.write_text("\n".join(["job,arrival,size,runtime", *lines]) + "\n")
    return path


def replayed(folder, platform, logs, *words):
    """Run MUSCLE over TITAN on logs of sites, in mode open."""
    (folder / "platform.toml").write_text(platform)
    paths = [
        jobs_csv(folder / f"{len(logs)}{at}.csv", *rows) for at, rows in enumerate(logs.values())
    ]
    sites = [
        word
        for name, path in zip(logs, paths, strict=True)
        for word in ("--workload", f"{name}={path}" if name else path)
    ]
    given = "--platform", folder / "platform.toml", *sites, "--set", "mode=open"
    return run(folder / "result", "muscle", *given, "--set", "latency=0", *words)


TWO = """
[[clusters]]
name = "A"
size = 4
[[clusters]]
name = "B"
size = 4
rate = 2.0
"""


def test_sites_may_use_the_same_numbers(tmp_path):
    first = [(1, 0, 2, 10), (2, 1, 4, 20), (3, 9, 3, 5)]
    found = []
    for more in (0, 100):
        (tmp_path / f"{more}").mkdir()
        second = [(1 + more, 0, 2, 30), (2 + more, 0, 4, 8), (3 + more, 9, 3, 50)]
        found.append(gaps(replayed(tmp_path / f"{more}", TWO, {"A": first, "B": second})))
    assert found[0] == found[1]
    assert found[0]["left_out"] == 0
    assert sum(each["jobs"] for each in found[0]["rounds"]) == 6


def test_jobs_that_are_equal_in_all_have_their_rounds(tmp_path):
    twins = gaps(replayed(tmp_path, TWO, {"": [(7, 0, 2, 10), (7, 0, 2, 10), (8, 5, 2, 10)]}))
    assert sum(each["jobs"] for each in twins["rounds"]) == 3
    assert twins["left_out"] == 0


@pytest.mark.thorough
@pytest.mark.parametrize(
    "change",
    [
        'what = "fail"\nat = 1',
        'what = "fail"\nat = 1\nuntil = 100',
        'what = "drain"\nat = 1\nuntil = 100',
        'what = "join"\nat = 100',
        'what = "fail"\nat = 1\nuntil = 100\nprocessors = 1',
    ],
)
def test_no_optimum_counts_on_what_is_away(change, tmp_path):
    rows = [(1, 0, 4, 2), (2, 2, 4, 30), (3, 2, 4, 30)]
    platform = f'{TWO}[[changes]]\ncluster = "B"\n{change}\n'
    for each in gaps(replayed(tmp_path, platform, {"": rows}))["rounds"]:
        assert (each["gap"], each["proven"]) == (0, True)


def test_a_job_given_back_counts_in_its_last_round(tmp_path):
    """Of two jobs as large as B, sent there before anybody knows of the drain, both come back."""
    platform = TWO + (
        '[[changes]]\ncluster = "A"\nwhat = "drain"\nat = 3\nuntil = 200\nprocessors = 1\n'
    )
    rows = [(1, 0, 4, 20), (2, 0, 4, 20), (3, 1, 4, 40), (4, 2, 4, 60)]
    words = "--set", "round_time=0", "--set", "round_threshold=1000"
    folder = replayed(tmp_path, platform, {"": rows}, "--rounds", tmp_path / "rounds.csv", *words)
    found = gaps(folder)
    numbers = [each["round"] for each in found["rounds"]]
    dispatched = (tmp_path / "rounds.csv").read_text().splitlines()[1:]
    assert (found["given_back"], found["drained"]) == (1, 2)
    assert len(dispatched) == len(numbers) + 3
    assert sum(each["jobs"] for each in found["rounds"]) == 1
    for each in found["rounds"]:
        assert float(dispatched[each["round"] - 1].split(",")[1]) == each["dispatched"]
    assert "given back: each counts in its last round" in call("gap", folder).output


def test_rounds_with_a_drain_are_left_out(tmp_path):
    """Who is on the processors has them stay: of another schedule, others are away."""
    drain = '[[changes]]\ncluster = "B"\nwhat = "drain"\nat = 0.5\nuntil = 100\n'
    rows = [(1, 0, 4, 2), (2, 2, 4, 30), (3, 2, 4, 30)]
    folder = replayed(tmp_path, f"{TWO}{drain}", {"": rows})
    found = gaps(folder)
    assert [each["round"] for each in found["rounds"]] == [2]
    assert found["drained"] == 1
    assert "left out: 1 round during which a drain began" in call("gap", folder).output
    failed = call("gap", folder, "--first", 1)
    assert failed.exit_code == 2
    assert "whose jobs all ended, with no drain meanwhile; accepted" in failed.output


@pytest.mark.parametrize("mode", ["batch", "open"])
def test_rounds_of_the_warmup_are_left_out(mode, tmp_path):
    words = ["muscle", "--set", f"mode={mode}", "--set", "queue=8", "--set", "patience=20"]
    rounds = tmp_path / "rounds.csv"
    words += ["--set", "jobs=20", "--set", "warmup=12", "--rounds", rounds]
    folder = run(tmp_path / "result", *words)
    found = gaps(folder)
    table = [line.split(",")[:2] for line in rounds.read_text().splitlines()[1:]]
    assert [(each["round"], each["dispatched"]) for each in found["rounds"]] == [
        (int(number), float(at)) for number, at in table
    ]
    assert found["warmup"] == found["rounds"][0]["round"] - 1 > 0
    told = {
        event["sent"]: event["round"]
        for line in (folder / "events.jsonl").read_text().splitlines()
        if (event := json.loads(line)).get("kind") == "SeedSchedule"
    }
    assert all(told[each["dispatched"]] == each["round"] for each in found["rounds"])
    assert gaps(folder, "--first", 1)["rounds"] == found["rounds"][:1]
    assert "of the warm-up" in call("gap", folder, "--first", 1).output


def test_rounds_whose_jobs_were_all_rejected_are_none(tmp_path):
    words = ["muscle", "--set", "queue=1.2", "--set", "patience=20", "--set", "max_size=60"]
    words += ["--set", "jobs=20", "--rounds", tmp_path / "rounds.csv"]
    folder = tmp_path / "result"
    done = call("run", *words, "--out", folder, "--events", tmp_path / "events.jsonl", "--json")
    assert done.exit_code == 0, done.output
    found = gaps(folder)
    table = [line.split(",")[:2] for line in (tmp_path / "rounds.csv").read_text().splitlines()[1:]]
    assert [(each["round"], each["dispatched"]) for each in found["rounds"]] == [
        (int(number), float(at)) for number, at in table
    ]
    assert found["left_out"] == 0
    batches = {row.split(",")[1] for row in (folder / "jobs.csv").read_text().splitlines()[1:]}
    assert len(batches) > len(table)


def test_what_failed_by_chance_is_not_known(tmp_path):
    words = "--set", "jobs=10", "--set", "mean_up_time=5000", "--set", "mean_down_time=10"
    done = call("gap", run(tmp_path, "quickstart", *words))
    assert done.exit_code == 2
    assert "parameters.mean_up_time: found 5000; accepted: 0" in done.output


@pytest.mark.parametrize("several", ["levels = 2", 'domains = ["n"]'])
def test_of_several_muscles_the_ways_of_orders_are_not_known(several, tmp_path):
    grid = tmp_path / "grid.toml"
    clusters = [f'[[clusters]]\nname = "{name}"\nsize = 8\nbroker = "n"\n' for name in "AB"]
    settings = '[parameters]\nmode = "open"\njobs = 10\nlatency = 10\n'
    grid.write_text('[[brokers]]\nname = "n"\n' + "".join(clusters) + settings + several)
    done = call("gap", run(tmp_path, grid))
    assert done.exit_code == 2
    key = several.partition(" ")[0]
    assert f"parameters.{key}: found several MUSCLEs; accepted: one, for of what" in done.output


def test_a_job_split_just_before_a_round_is_beside_it(tmp_path):
    rows = [(1, 0, 8, 10), (2, 0, 2, 10)]
    words = "--set", "coallocate=true", "--set", "computation_fraction=1"
    (only,) = gaps(replayed(tmp_path, TWO, {"": rows}, *words))["rounds"]
    assert (only["jobs"], only["beside"], only["gap"]) == (1, 1, 0)


def test_a_cluster_that_is_none_is_told(batch, tmp_path):
    copy = shutil.copytree(batch, tmp_path / "copy")
    jobs = (copy / "jobs.csv").read_text()
    (copy / "jobs.csv").write_text(jobs.replace(",C1:", ",-C1:"))
    done = call("gap", copy)
    assert done.exit_code == 2
    assert ": no cluster '-C1'; did you mean C1?" in done.output


def test_what_is_no_result_is_refused(tmp_path):
    done = call("gap", tmp_path)
    assert done.exit_code == 2
    assert "summary.json: No such file" in done.output


def test_what_earlier_jobs_held_in_vain_is_not_free(tmp_path):
    (tmp_path / "grid.toml").write_text(
        'global = "muscle"\nlocal = "titan"\n[[clusters]]\nname = "A"\nsize = 8\n'
        '[[changes]]\ncluster = "A"\nwhat = "fail"\nat = 50\nuntil = 60\nprocessors = 4\n'
        '[parameters]\nmode = "open"\n'
    )
    rows = "1,0,4,100,500\n2,1,4,100,500\n3,20,4,10,900\n"
    (tmp_path / "jobs.csv").write_text("job,arrival,size,runtime,deadline\n" + rows)
    words = tmp_path / "grid.toml", "--workload", tmp_path / "jobs.csv"
    found = gaps(run(tmp_path / "out", *words))
    # Job 2 held half of the cluster until 50 s, in vain, and again from 60 s on.
    assert [(each["beside"], each["optimum"]) for each in found["rounds"]] == [
        (0, 100.0),
        (1, 159.0),
        (2, 90.0),
    ]
