"""What `metasched explain` says that a policy knew, against what the policy saw; and its waits."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from agents.messages import name_jobs
from agents.schedulers import GlobalScheduler
from experiments.events.explain import _way_of, explain
from experiments.events.happenings import processors
from experiments.show.numbers import instant
from grid.platform.brokers import Advertising
from grid.platform.changes import Change
from tests.agents.a4.test_discovery import tree
from tests.agents.small_grids import FAR, PLATFORM, model_of, table
from tests.experiments.commands import call
from tests.experiments.events.test_explain import told

ADVERTISING = {
    "change": Advertising(),
    "periodic": Advertising("periodic", 7.0),
    "both": Advertising("both", 7.0),
    "lossy": Advertising("both", 7.0, loss=0.3),
    "truth": Advertising(truth=True),
}
JOBS = 40


class Sees(GlobalScheduler):
    """Sends jobs where most is free, starts some itself, and notes what it saw of the cluster."""

    seen: dict[int, list[tuple[str, str]]]

    def place(self, job):
        fitting = [cluster for cluster in self.clusters if cluster.free >= job.size]
        if not fitting:
            return None
        best = max(fitting, key=lambda cluster: cluster.free)
        if job.number % 5 == 0:
            return {best.name: job.size}
        view = f"{processors(best.free)} free, {best.waiting} waiting"
        then = f"{best.name}, as it was at {instant(self.model.now - best.age)}: {view}"
        now = f"{best.name} as it is then: {view}"
        self.seen.setdefault(job.number, []).append((now, then))
        return best


def jobs():
    draws = np.random.default_rng(3)
    arrivals = np.cumsum(draws.integers(0, 4, JOBS)).tolist()
    return table(
        *(
            (arrival, draws.integers(1, 6), draws.integers(1, 20), np.inf, draws.integers(-1, 3))
            for arrival in arrivals
        )
    )


@pytest.mark.sampled(2)
@pytest.mark.parametrize("latency", [0.0, 0.5])
@pytest.mark.parametrize("platform", [PLATFORM, FAR, tree()], ids=["star", "far", "tree"])
@pytest.mark.parametrize("advertising", ADVERTISING)
def test_what_a_policy_knew_is_never_told_wrong(advertising, platform, latency):
    first, second, _ = platform.names
    changes = (
        Change(first, "drain", at=20, until=60, processors=4),
        Change(second, "fail", at=40, until=70, processors=3),
    )
    sizes = dict(zip(platform.names, platform.sizes.tolist(), strict=True))

    def model():
        return model_of(
            Sees,
            "fcfs",
            jobs(),
            replace(platform, changes=changes),
            latency=latency,
            advertising=ADVERTISING[advertising],
            tracked=True,
        )

    said = 0
    for job in range(1, JOBS + 1, 3):
        Sees.seen = {}
        lines = [words for _, words in told(model(), job, sizes) if " as it " in words]
        seen = [view for views in Sees.seen.get(job, []) for view in views]
        for words in lines:
            assert words.removeprefix("SEES sees ").removeprefix(
                "SEES has the last advertisement of "
            ) in seen  # fmt: skip
        said += len(lines)
    assert said > 0


def run(folder, scheduler, *more):
    (folder / "jobs.csv").write_text("job,arrival,size,runtime\n1,0,8,70\n2,1,8,90\n3,20,4,50\n")
    clusters = "".join(f'[[clusters]]\nname = "{name}"\nsize = 8\n' for name in "AB")
    change = '[[changes]]\ncluster = "A"\nwhat = "drain"\nat = 60\nuntil = 500\n'
    (folder / "grid.toml").write_text(clusters + change)
    given = ["--platform", folder / "grid.toml", "--workload", f"A={folder / 'jobs.csv'}"]
    given += ["--global", scheduler, "--local", "fcfs", "--set", "mode=open", *more]
    got = call(
        "run", "muscle", *given, "--out", folder / "o", "--events", folder / "o" / "events.jsonl"
    )
    assert got.exit_code == 0, got.output
    return ["; ".join(line.parts) for line in explain(folder / "o", 2)[0].lines]


def test_a_decision_without_latency_is_told_with_the_state_of_its_instant(tmp_path):
    story = run(tmp_path, "ect")
    assert "ECT sees B as it is then: 8 processors free, 0 waiting" in story


def test_a_wait_for_processors_that_are_away_is_explained(tmp_path):
    story = run(tmp_path, "home")
    assert "up to 8 processors of A were away meanwhile; " \
           "8 processors that were away until then are there" in story  # fmt: skip
    assert "HOME sees A as it is then: 8 processors free, 0 waiting" in story


def test_an_end_that_a_decision_did_not_wait_for_is_no_reason(tmp_path):
    """Job 3 waits for a drain to end, and job 4 ends at the same instant."""
    (tmp_path / "jobs.csv").write_text(
        "arrival,size,runtime,origin\n0,3,40,A\n0,3,100,A\n5,6,10,A\n6,2,20,A\n"
    )
    (tmp_path / "grid.toml").write_text(
        '[[clusters]]\nname = "A"\nsize = 6\n[[clusters]]\nname = "B"\nsize = 4\n'
        '[[changes]]\ncluster = "A"\nwhat = "drain"\nat = 30\nuntil = 60\nprocessors = 3\n'
    )
    given = "--platform", tmp_path / "grid.toml", "--workload", tmp_path / "jobs.csv"
    out = "--out", tmp_path / "o", "--events", tmp_path / "o" / "events.jsonl"
    words = "--global", "home", "--local", "fcfs", "--set", "mode=open"
    assert call("run", "muscle", *given, *words, *out).exit_code == 0
    story = [line.parts for line in explain(tmp_path / "o", 3)[0].lines]
    at = story.index(["job 4 has just ended"])
    assert story[at - 1][0] == "HOME chooses A for it"


def test_a_job_that_waits_to_the_end_is_told_with_what_is_away():
    class Never(GlobalScheduler):
        def place(self, job):
            return None

    platform = replace(PLATFORM, changes=(Change("C1", "fail", at=1, processors=3),))
    made = model_of(Never, "fcfs", jobs=table((0, 4, 5)), platform=platform, tracked=True)
    story = told(made, 1, {"C1": 8, "C2": 6, "C3": 4})
    assert story[-2:] == [
        (None, "3 processors of C1 are away"),
        (None, "C1 has 5 processors free"),
    ]


def test_who_waits_before_a_job_that_could_be_held_is_told():
    platform = replace(PLATFORM.star([8, 4]), changes=(Change("C1", "fail", at=10),))
    jobs = table((20, 8, 9.0), (30, 1, 9.0))
    made = model_of("gs", "fcfs", jobs=jobs, platform=platform, tracked=True)
    away, why = (words for _, words in told(made, 2, {"C1": 8, "C2": 4})[-2:])
    assert away == "8 processors of C1 are away"
    assert why == (
        "C2 has 4 processors free, job 1 has waited there for longer, and is too large for what "
        "is up"
    )


def test_a_job_that_cannot_be_held_is_told_so():
    platform = replace(PLATFORM.star([8, 4]), changes=(Change("C1", "fail", at=10),))
    made = model_of("gs", "fcfs", jobs=table((20, 8, 9.0)), platform=platform, tracked=True)
    assert told(made, 1, {"C1": 8, "C2": 4})[-1] == (None, "it is too large for what is up")


def test_a_job_that_runs_whole_is_too_large_if_no_cluster_can_hold_it():
    changes = (Change("C1", "fail", at=10, processors=4),)
    platform = replace(PLATFORM.star([8, 4]), changes=changes)
    jobs = table((20, 6, 9.0), (30, 3, 9.0), (40, 3, 9.0), (50, 4, 9.0))
    made = model_of("ect", "fcfs", jobs=jobs, platform=platform, tracked=True)
    sizes, way = {"C1": 8, "C2": 4}, _way_of("ect")
    assert told(made, 1, sizes, **way)[-1] == (None, "it is too large for what is up")
    late = " ".join(words for _, words in told(made, 4, sizes, **way))
    assert "ECT chooses" in late
    assert "waited there for longer" not in late


def test_a_job_that_waits_for_lost_advertisements_is_told_so():
    class Waits(GlobalScheduler):
        def place(self, job):
            return self.clusters[0] if job.number == 1 else None

    made = model_of(
        Waits,
        "fcfs",
        jobs=table((0, 8, 5), (1, 8, 5)),
        platform=PLATFORM.star([8]),
        latency=1.0,
        advertising=Advertising(loss=0.999),
    )
    story = told(made, 2, {"C1": 8})
    assert story[-2] == (None, "the last advertisement of C1 was lost")


def test_a_tie_of_workload_levels_is_told_with_what_broke_it(tmp_path):
    (tmp_path / "jobs.csv").write_text("job,arrival,size,runtime\n1,0,2,10\n")
    found = []
    for index, sizes in enumerate([(8, 4, 4), (8, 8, 4)]):
        clusters = "".join(
            f'[[clusters]]\nname = "C{at}"\nsize = {size}\n' for at, size in enumerate(sizes)
        )
        (tmp_path / "platform.toml").write_text(clusters)
        out = tmp_path / f"{index}"
        words = ["--platform", tmp_path / "platform.toml", "--workload", tmp_path / "jobs.csv"]
        words += ["--out", out, "--events", out / "events.jsonl", "--set", "assign_deadlines=false"]
        done = call("run", "muscle", *words)
        assert done.exit_code == 0
        (story,) = explain(out, 1)
        found.append(([parts[0] for _, parts in story.lines], done.stderr))
    (largest, told), (drawn, told_of_both) = found
    assert "2 other clusters have that level, and the largest is chosen" in largest
    assert "2 other clusters have that level, and chance chooses from the 2 largest" in drawn
    why = "no job has a deadline: the workload levels that MUSCLE goes by are all 0, and it sends"
    assert f"{why} the jobs to the largest cluster, C0\n" in told
    assert f"{why} the jobs by chance, to one of the 2 largest clusters\n" in told_of_both


@pytest.mark.parametrize(
    ("policy", "says"),
    [
        ("dll", "DLL goes by the least load: predicted work left of the jobs that it knows there"),
        ("round-robin", "ROUND-ROBIN goes by whose turn it is"),
        ("home", "and by the least load if it was submitted through no cluster"),
        ("greenest", "GREENEST goes by what the job would emit, and its own book of when"),
    ],
)
def test_what_a_policy_goes_by_is_told(tmp_path, policy, says):
    words = "--set", "jobs=3", "--out", tmp_path, "--events", tmp_path / "events.jsonl"
    assert call("run", "quickstart", "--global", policy, *words).exit_code == 0
    (story,) = explain(tmp_path, 2)
    assert any(says in part for _, parts in story.lines for part in parts)


def test_rounds_are_numbered_as_where_they_are_listed(tmp_path):
    log, rounds = tmp_path / "events.jsonl", tmp_path / "rounds.csv"
    words = "--set", "mode=batch", "--set", "jobs=60", "--set", "queue=20", "--events", log
    got = call("run", "quickstart", *words, "--out", tmp_path, "--rounds", rounds)
    assert got.exit_code == 0, got.output
    assert "3 finished, jobs allocated 6 times" in got.stdout
    assert "allocations as planned" in got.stdout
    number = dict(pd.read_csv(rounds)[["dispatched", "round"]].to_numpy())
    events = map(json.loads, log.read_text().splitlines())
    seeds = [event for event in events if event.get("kind") == "SeedSchedule"]
    for job, arrival in pd.read_csv(tmp_path / "jobs.csv")[["job", "arrival"]].to_numpy():
        text = "\n".join(", ".join(parts) for _, parts in explain(tmp_path, int(job))[0].lines)
        (allocation,) = (seed["round"] for seed in seeds if job in seed["jobs"])
        assert f"round {number[arrival]:g}, allocation {allocation}: MUSCLE" in text


def test_jobs_that_start_or_come_at_one_instant_have_no_order():
    jobs = [(0, 10, 100), (1, 2, 300), (2, 2, 200), (3, 2, 100), (3, 9, 900)]

    def lines(job):
        model = model_of("dll", "sjf", jobs=table(*jobs), platform=PLATFORM.star([10]))
        return "\n".join(line for _, line in told(model, job, {"C1": 10}))

    for job, others in ((2, "3, 4"), (3, "2, 4"), (4, "2, 3")):
        assert f"jobs {others} started there at the same time" in lines(job)
        assert "started there before it" not in lines(job)
        assert ("jobs 2, 3 waiting there already" in lines(job)) == (job == 4)
    assert "jobs 2, 3 waiting there already, job 5 came there at the same time" in lines(4)
    assert "jobs 2, 3 waiting there already, job 4 came there at the same time" in lines(5)
    assert "jobs 2, 3, 4 started there before it" in lines(5)


@pytest.mark.thorough
def test_a_wait_for_the_other_jobs_of_a_seed_schedule_is_explained(tmp_path):
    """Of every job that is planned later than it comes, and of no other."""
    words = "--set", "jobs=60", "--set", "queue=5", "--set", "latency=3", "--set", "loss=0.4"
    log = tmp_path / "o" / "events.jsonl"
    done = call("run", "muscle", *words, "--out", log.parent, "--events", log)
    assert done.exit_code == 0, done.output
    landed, planned, seeds, waits = {}, {}, {}, set()
    for event in map(json.loads, log.read_text().splitlines()):
        if event["event"] == "landed":
            landed[event["job"]] = event["time"]
        elif event["event"] == "planned":
            planned = {**dict.fromkeys(event["jobs"], event["time"]), **planned}
        elif event.get("kind") == "SeedSchedule" and event["event"] == "message":
            seeds |= dict.fromkeys(event["jobs"], event)
    for job, seed in seeds.items():
        late = [each for each in seed["jobs"] if landed[job] < landed[each] <= planned[job]]
        told = [part for line in explain(log.parent, job)[0].lines for part in line.parts]
        assert [part for part in told if "waits until" in part] == [
            f"TITAN {seed['receiver']} waits until all jobs of its seed schedule have come: "
            f"{name_jobs(tuple(sorted(late)))}"
        ] * (planned[job] > landed[job])
        waits.add(planned[job] > landed[job])
    assert waits == {False, True}
