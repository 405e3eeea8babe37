"""Learning a policy: what it learns from is apart from what it is judged by."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest

from agents.learned.policy import LearnedPolicy, read
from agents.learned.policy import Lessons as From
from experiments.learning.evolution import Generation, evolve, population_of
from experiments.learning.lessons import Lessons, Trial, first_policy
from experiments.scenario.held_out import overlap
from experiments.scenario.scenario import Scenario
from experiments.studies.ranking import surely_apart
from experiments.studies.study import Study
from grid.errors import GridError
from tests.experiments.commands import call
from tests.experiments.small_studies import write_log_study

DAY = 86_400.0


def site(**changes):
    return Scenario.load("site").changed(jobs=150, local_scheduler="easy", **changes)


def log_of(folder, **changes):
    write_log_study(folder)
    return site(workload=str(folder / "mine.swf"), nodes=20, **changes)


def test_evolution_finds_a_minimum_and_leaves_numpys_own_stream_alone():
    center = np.array([2.0, -1.0, 0.5])

    def losses(candidates):
        return [float(((each - center) ** 2).sum()) for each in candidates]

    begun = Generation(np.zeros(3), losses([np.zeros(3)])[0])
    np.random.seed(3)
    before = np.random.random()
    np.random.seed(3)
    found = [*evolve(begun, losses, 60, seed=5)]
    assert np.random.random() == before
    assert len(found) == 61
    assert np.abs(found[-1].weights - center).max() < 1e-3
    assert all(later.loss <= earlier.loss for earlier, later in pairwise(found))
    again = [*evolve(begun, losses, 60, seed=5)]
    assert all((a.weights == b.weights).all() for a, b in zip(found, again, strict=True))
    other = [*evolve(begun, losses, 60, seed=6)]
    assert (other[-1].weights != found[-1].weights).any()


def test_windows_that_are_learned_from_are_before_those_held_out(tmp_path):
    lessons = Lessons.of(log_of(tmp_path), 0, DAY / 2)
    asked = [
        [(of.scenario.parameters.window_start, of.scenario.parameters.window_end) for of, _ in each]
        for each in (lessons.training, lessons.held_out)
    ]
    assert [*lessons.windows] == asked[0]
    assert len(asked[0]) == 4
    assert len(asked[1]) == 4
    assert max(end for _, end in asked[0]) <= min(start for start, _ in asked[1])
    numbers = [
        {row for chunk in of.model().workload.chunks() for row in chunk["number"].tolist()}
        for each in (lessons.training, lessons.held_out)
        for of, _ in each
    ]
    assert sum(map(len, numbers)) == len(set.union(*numbers)) > 300
    assert lessons.jobs == sum(map(len, numbers[:4]))


def test_seeds_of_synthetic_jobs_are_apart():
    lessons = Lessons.of(site(), 3, DAY)
    seeds = [[seed for _, seed in each] for each in (lessons.training, lessons.held_out)]
    assert not {*seeds[0]} & {*seeds[1]}
    assert len(seeds[0]) == len(seeds[1]) == 8


@pytest.mark.thorough
@pytest.mark.parametrize("agent", ["local", "global"])
def test_what_is_learned_does_no_worse_where_it_was_learned(agent, tmp_path):
    """The whole command, with and without workers: the same file, bit by bit."""
    scenario = "site" if agent == "local" else "quickstart"
    words = ["learn", scenario, "--agent", agent, "--local", "easy", "--set", "jobs=100"]
    words += ["--steps", 15_000, "--seed", 2, "--json"]
    found = []
    for workers in (1, 2) if agent == "local" else (1,):
        path = tmp_path / f"{workers}.json"
        done = call(*words, "--out", path, "--workers", workers)
        assert done.exit_code == 0, done.output
        found.append((json.loads(done.stdout) | {"policy": ""}, path.read_text()))
    assert found[0] == found[-1]
    told, text = found[0]
    assert json.loads(text)["agent"] == agent
    assert told["training"]["after"] <= told["training"]["before"]
    assert told["training"]["runs"] == told["held_out"]["runs"] == 8
    assert 10_000 < told["training"]["scheduled"] < 20_000
    assert told["training"]["generations"] == 2
    assert 0 <= told["training"]["best"] <= 2
    others = {each["policy"]: each for each in told["held_out"]["others"]}
    assert "as it began" in others
    for each in others.values():
        assert each["difference"] == pytest.approx(told["held_out"]["mean"] - each["mean"])

    policy = read(tmp_path / "1.json")
    lessons = Lessons.of(
        Scenario.load(scenario).changed(jobs=100, local_scheduler="easy"), 2, 7 * DAY
    )
    for which, expected in (
        (lessons.training, told["training"]["after"]),
        (lessons.held_out, told["held_out"]["mean"]),
    ):
        trial = Trial(policy, which, "mean_bounded_slowdown")
        assert trial.loss(np.array([*policy.weights.values()])) == pytest.approx(expected)


@pytest.mark.thorough
def test_people_read_what_was_learned(tmp_path):
    log_of(tmp_path)
    words = ["learn", "site", "--workload", tmp_path / "mine.swf", "--set", "nodes=20"]
    words += ["--window", "12h", "--agent", "local", "--steps", 1, "--out", tmp_path / "p.json"]
    done = call(*words)
    assert done.exit_code == 0, done.output
    words = " ".join(done.stdout.split())
    assert words.startswith("rank of a job: ")
    assert "the lowest goes first; jobs start in the way of EASY)" in words
    assert "learned from 4 windows of " in words
    assert "on 4 windows that were held out:" in words
    assert "as it began: shortest first, with the same service" in words
    assert words.endswith(f"to use it: --local learned:{tmp_path}/p.json")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("seed", "best"),
    [(0, "of which the 1st found the best"), (1, "which found nothing better")],
)
def test_it_is_told_which_generation_found_the_best(seed, best, tmp_path):
    words = ["learn", "site", "--agent", "local", "--local", "easy", "--set", "jobs=50"]
    done = call(*words, "--steps", 100, "--seed", seed, "--out", tmp_path / "p.json")
    assert done.exit_code == 0, done.output
    assert "--steps 100: one generation takes 3,600" in done.stderr
    assert f"after 1 generation, {best}" in " ".join(done.stdout.split())


def test_studies_leave_out_what_was_learned_from(tmp_path):
    scenario = log_of(tmp_path)
    lessons = Lessons.of(scenario, 0, DAY)
    assert len(lessons.windows) == 2
    logs = dict.fromkeys(lessons.digests.values(), lessons.windows)
    policy = first_policy(scenario, "local")
    policy.model_copy(update={"lessons": From(logs=logs)}).write(tmp_path / "p.json")
    changes = [
        ("least = 4", 'least = 2\nwindow = "14h"'),
        ('local = ["fcfs", "easy"]', f'local = ["easy", "learned:{tmp_path}/p.json"]'),
    ]
    study = Study.load(write_log_study(tmp_path, changes))
    (workload,) = study.workloads
    assert all(start >= 2 * DAY for start, _ in workload.stretches)
    assert len(workload.stretches) == 3  # of seven, one of which begins before and ends after
    why = f"that learned:{tmp_path}/p.json was learned from"
    assert [*workload.left_out.items()] == [(why, 4)]

    other = From(logs=dict.fromkeys(logs, ((0.0, 4000.0),)))  # of those that are left out already
    policy.model_copy(update={"lessons": other}).write(tmp_path / "q.json")
    local = f'local = ["easy", "learned:{tmp_path}/q.json", "learned:{tmp_path}/p.json"]'
    study = Study.load(write_log_study(tmp_path, [changes[0], ('local = ["fcfs", "easy"]', local)]))
    both = f"that learned:{tmp_path}/q.json or learned:{tmp_path}/p.json was learned from"
    assert [*study.workloads[0].left_out.items()] == [(both, 4)]

    whole = [('local = ["fcfs", "easy"]', changes[1][1])]
    (note,) = Study.load(write_log_study(tmp_path, whole)).notes[:1]
    assert note.startswith(f"learned:{tmp_path}/p.json: learned from 2 windows of mine, and ")

    run = ["run", "site", "--workload", tmp_path / "mine.swf", "--set", "nodes=20", "--json"]
    run += ["--local", f"learned:{tmp_path}/p.json"]
    for window, says in (("0", True), (f"{2 * DAY}", False)):
        done = call(*run, "--set", f"window_start={window}")
        assert done.exit_code == 0
        assert ("learned from 2 windows of this log" in done.stderr) == says


def test_windows_overlap_that_have_something_in_common():
    there = np.array([[0.0, 5.0, 10.0], [5.0, 10.0, 15.0]])
    assert overlap(there, [(5.0, 10.0)]).tolist() == [False, True, False]
    assert overlap(there, [(4.0, 5.5), (14.0, 99.0)]).tolist() == [True, True, True]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["--agent", "global"],
            "--agent: found global with one cluster, 'C1'; accepted: local, or several clusters",
        ),
        (
            ["--local", "titan"],
            "--local: found 'titan', which has an order of its own",
        ),
        (["--objective", "mean_wit"], "--objective: found 'mean_wit'; did you mean mean_wait"),
        (["--objective", "stable"], "--objective: found 'stable'; accepted: co2_kg, coal"),
        (["--objective", "drew"], "--objective: found 'drew'; "),
        (["--objective", "cp_basis"], "--objective: found 'cp_basis'; "),
        (["--set", "load=2", "--set", "max_size=512", "--set", "min_size=300"], "min_size: found"),
        (["--out", "."], "cannot write a policy"),
        (["--window", "1d"], "--window: found for synthetic jobs; accepted with --workload"),
        (
            ["--objective", "cost"],
            "cost: found nan, in a run to learn from: no price is given; accepted",
        ),
        (["--objective", "coallocated"], "found coallocated, which is 0 whatever the weights"),
    ],
)
def test_what_cannot_be_learned_is_refused_in_a_line(words, message, tmp_path):
    path = tmp_path / "p.json"
    of = "site", "--agent", "local", "--set", "jobs=50"
    done = call("learn", *of, "--steps", 1, "--out", path, *words)
    assert done.exit_code == 2, done.output
    (line,) = done.stderr.strip().splitlines()[-1:]
    assert message in line
    assert not path.exists()


def test_runs_that_are_held_out_are_tried_before_learning(tmp_path):
    """They lack the deadlines that the first days of a log bring."""
    rows = (f"{at},{3600 * at},1,60,{3600 * at + 900 if at < 60 else ''}" for at in range(120))
    (tmp_path / "log.csv").write_text("\n".join(["job,arrival,size,runtime,deadline", *rows]))
    words = "learn", "site", "--agent", "local", "--workload", tmp_path / "log.csv"
    words += "--window", "1d", "--objective", "deadlines_met", "--steps", 1
    done = call(*words, "--out", tmp_path / "p.json")
    assert done.exit_code == 2, done.output
    assert "deadlines_met: found nan, in a run that is held out: no job has a" in done.stderr
    assert "generation" not in done.stderr


@pytest.mark.thorough
def test_windows_that_its_own_scheduler_was_learned_from_are_left_out(tmp_path):
    lessons = Lessons.of(log_of(tmp_path), 0, DAY)
    of = From(logs=dict.fromkeys(lessons.digests.values(), lessons.windows))
    policy = first_policy(site(), "local").model_copy(update={"lessons": of})
    policy.write(tmp_path / "p.json")
    words = "learn", "site", "--workload", tmp_path / "mine.swf", "--set", "nodes=20"
    words += "--local", f"learned:{tmp_path}/p.json", "--agent", "local", "--teacher", "sjf"
    done = call(*words, "--window", "10h", "--out", tmp_path / "q.json", "--json")
    assert done.exit_code == 0, done.output
    assert "is run is of these" not in done.stderr
    why = f"that learned:{tmp_path}/p.json was learned from"
    assert f"metasched: left out: 5 windows of the log {why}" in done.stderr


def test_a_log_with_too_few_windows_is_refused(tmp_path):
    with pytest.raises(GridError, match=r"--window: found 2 d 0 h, of which .* has 2 with jobs"):
        Lessons.of(log_of(tmp_path), 0, 2 * DAY)
    with pytest.raises(GridError, match="window_end: found for what is learned from a log"):
        Lessons.of(log_of(tmp_path, window_end=5000.0), 0, DAY)


def test_equal_policies_are_seldom_called_different():
    """What the comparison rests on, of four pairs together, where nothing differs."""
    rng = np.random.default_rng(4)
    wrong = 0
    for _ in range(100):
        runs = rng.lognormal(sigma=1.0, size=(5, 12))
        wrong += any(surely_apart([runs[0] - each for each in runs[1:]]))
    assert wrong <= 11  # 5 % of 100 is 5
    assert population_of(6) == 9


def test_first_policies_are_those_that_learning_begins_with():
    assert first_policy(site(), "local").service == "easy"
    assert first_policy(Scenario.load("quickstart"), "global") == LearnedPolicy(
        agent="global", weights={"time-load": 1.0}
    )


@pytest.mark.parametrize(
    ("date", "says"),
    [("2003-01-01T00:00:00", True), ("2003-01-02T23:00", True), ("2003-01-03T01:00:00", False)],
)
def test_windows_by_dates_are_told_apart(date, says, tmp_path):
    log_of(tmp_path)
    file = tmp_path / "mine.swf"
    head = "; UnixStartTime: 1041375600\n; TimeZoneString: Europe/Paris\n"  # midnight there
    first = float(file.read_text().split()[1])
    file.write_text(head + file.read_text())
    lessons = Lessons.of(site(workload=str(file), nodes=20), 0, DAY)
    assert lessons.start.startswith("2003-01-01T00:")
    assert first < 3600.0
    of = From(
        logs=dict.fromkeys(lessons.digests.values(), lessons.windows),
        starts=dict.fromkeys(lessons.digests.values(), lessons.start),
    )
    policy = first_policy(site(), "local").model_copy(update={"lessons": of})
    policy.write(tmp_path / "p.json")
    words = ["run", "site", "--workload", file, "--set", "nodes=20", "--json"]
    words += ["--local", f"learned:{tmp_path}/p.json", "--set", f"window_start={date}"]
    done = call(*words)
    assert done.exit_code == 0, done.output
    assert ("learned from 2 windows of this log" in done.stderr) == says


def test_jobs_of_a_warm_up_are_counted():
    assert Lessons.of(site(warmup=30), 0, DAY).jobs == 8 * 180
