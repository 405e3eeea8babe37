"""How jobs fared by the cluster that they were submitted through: who wins and loses by sharing."""

from __future__ import annotations

import json

import numpy as np
import pytest

from experiments.run.running import run
from experiments.scenario.scenario import Scenario
from experiments.show.page import page_of
from experiments.show.run_data import Ran
from grid.errors import GridError
from grid.platform.multicluster import Platform
from tests.experiments.commands import call
from tests.experiments.show.told import compared_words
from tests.experiments.small_results import printed

PLATFORM = '[[clusters]]\nname = "A"\nsize = 8\n[[clusters]]\nname = "B"\nsize = 2\n'
MODES = {
    "plain": [],
    "warm-up": ["warmup=30"],
    "in rounds": ["mode=batch"],
    "rejected": ["max_size=30", "mode=open"],
    "all through clusters": ["local_share=1"],
}


def scenario_of(tmp_path, origins, **schedulers):
    """Return a scenario of 60 jobs on two clusters, submitted as told."""
    random = np.random.default_rng(3)
    rows = [
        f"{number},{3 * number},{random.integers(1, 3)},{random.integers(4, 30)},{origin}"
        for number, origin in enumerate(np.resize(origins, 60).tolist(), 1)
    ]
    (tmp_path / "jobs.csv").write_text("job,arrival,size,runtime,origin\n" + "\n".join(rows) + "\n")
    (tmp_path / "s.toml").write_text(
        f'workload = "{tmp_path / "jobs.csv"}"\nglobal = "ect"\nlocal = "fcfs"\n'
        f"{PLATFORM}[parameters]\nassign_deadlines = false\n"
    )
    return Scenario.load(tmp_path / "s.toml").changed([], **schedulers)


@pytest.mark.parametrize("mode", MODES)
def test_numbers_are_of_the_jobs_of_each_origin(mode):
    result = run(Scenario.load("quickstart").changed(["jobs=150", *MODES[mode]]), seed=2)
    jobs = result.jobs[result.jobs["arrival"] >= result.tally.counted_from]
    summary = result.summary()
    names = [*result.platform.names, *([""] if mode != "all through clusters" else [])]
    assert [each["name"] for each in summary["origins"]] == names
    for found in summary["origins"]:
        ours = jobs[jobs["origin"] == found["name"]]
        done = ours[ours["finish"].notna()]
        assert (found["jobs"], found["rejected"]) == (len(done), len(ours) - len(done))
        assert len(done) > 0
        assert found["mean_wait"] == pytest.approx(done["wait"].mean())
        assert found["max_wait"] == done["wait"].max()
        assert found["mean_turnaround"] == pytest.approx(done["turnaround"].mean())
        assert found["mean_bounded_slowdown"] == pytest.approx(done["bounded_slowdown"].mean())
        met = (done["over_deadline"] == 0).sum() / len(ours)
        assert found["deadlines_met"] == pytest.approx(met)
        elsewhere = (done["cluster"] != found["name"]).mean() if found["name"] else None
        assert found["migrated"] == (elsewhere if elsewhere is None else pytest.approx(elsewhere))
        for table, of in (("wait", "mean_wait"), ("slowdown", "mean_bounded_slowdown")):
            metrics = summary["metrics"][f"{table}_origins"]
            assert metrics.get(found["name"]) == (found[of] if found["name"] else None)
    assert (result.counts["rejected"] > 0) == (mode == "rejected")


def test_jobs_of_one_origin_are_not_told_apart(tmp_path):
    """But what they waited is there, for runs of a study in which others come from elsewhere."""
    result = run(scenario_of(tmp_path, ["B"]))
    assert [each["name"] for each in result.summary()["origins"]] == ["B"]
    metrics = result.summary()["metrics"]
    assert metrics["wait_origins"] == {"B": metrics["mean_wait"]}
    assert "\norigin" not in printed(result)
    assert "By origin" not in page_of([Ran.of(result)])


def test_jobs_without_an_origin_have_no_numbers_by_it(tmp_path):
    result = run(scenario_of(tmp_path, [""]))
    assert not {"origins"} & result.summary().keys()
    assert not {"wait_origins", "slowdown_origins"} & result.summary()["metrics"].keys()
    assert "\norigin" not in printed(result)


def test_no_cluster_is_called_as_those_of_no_cluster_are():
    with pytest.raises(GridError, match=r"'\(grid\)': not a name; accepted: .*other than \(grid\)"):
        Platform.from_dict({"clusters": [{"name": "(grid)", "size": 4}]})


def test_they_are_shown_and_written_and_checked(tmp_path, monkeypatch):
    scenario_of(tmp_path, ["A", "B", "B"])
    monkeypatch.chdir(tmp_path)
    ran = call("run", "s.toml", "--no-live", "--out", "out")
    lines = ran.output.splitlines()
    at = next(index for index, line in enumerate(lines) if line.startswith("origin "))
    heading = "origin jobs moved % wait s longest s turnaround s slowdown"
    assert " ".join(lines[at].split()) == heading
    assert [line.split()[:2] for line in lines[at + 1 : at + 3]] == [["A", "20"], ["B", "40"]]
    assert "origin: the cluster that jobs were submitted through" in ran.output
    assert call("verify", "out").exit_code == 0
    whole = json.loads((tmp_path / "out" / "summary.json").read_text())
    for *path, name in (
        ("origins", 1, "max_wait"),
        ("origins", 0, "migrated"),
        ("metrics", "wait_origins", "A"),
        ("metrics", "slowdown_origins", "B"),
    ):
        summary = json.loads(json.dumps(whole))
        where = summary
        for key in path:
            where = where[key]
        where[name] += 0.01
        (tmp_path / "out" / "summary.json").write_text(json.dumps(summary))
        found = call("verify", "out")
        assert found.exit_code == 1
        assert "/".join(map(str, [*path, name])) in found.output
    (tmp_path / "out" / "summary.json").write_text(json.dumps(whole | {"origins": []}))
    assert call("verify", "out").exit_code == 1


def test_who_wins_and_who_loses_by_sharing_is_told(tmp_path):
    """Jobs of the small cluster have more room than at home, and take it from those of the other.

    Alone, B has two thirds of the jobs and a fifth of the processors.
    """
    shared, alone = (
        Ran.of(run(scenario_of(tmp_path, ["A", "B", "B"], global_scheduler=name)))
        for name in ("ect", "home")
    )
    waits = [ran.summary["metrics"]["wait_origins"] for ran in (shared, alone)]
    assert waits[0]["B"] < waits[1]["B"]
    assert waits[0]["A"] > waits[1]["A"]
    told = compared_words(shared, alone)
    assert f"By origin, mean waits under {shared.name}, compared with {alone.name}, are" in told
    assert told.index("shorter for B (") < told.index("longer for A (")
    assert "By origin, mean" not in compared_words(shared, shared)
    assert "By origin</h" in page_of([shared])
    assert "By origin</h" in page_of([shared, alone])


@pytest.mark.thorough
def test_studies_rank_by_an_origin(tmp_path):
    scenario_of(tmp_path, ["A", "B", "B"])
    (tmp_path / "study.toml").write_text(
        'title = "Who wins?"\nscenario = "s.toml"\nmetric = "wait_origins/B"\n'
        'report = ["wait_origins/A"]\n[policies]\nglobal = ["ect", "home"]\nlocal = ["fcfs"]\n'
    )
    found = call("study", str(tmp_path / "study.toml"), "--out", str(tmp_path / "s.db"))
    assert found.exit_code == 0, found.output
    assert "mean wait, from B" in found.output
    wrong = (tmp_path / "study.toml").read_text().replace("origins/B", "origins/C")
    (tmp_path / "study.toml").write_text(wrong)
    found = call("study", str(tmp_path / "study.toml"), "--out", str(tmp_path / "t.db"))
    assert found.exit_code == 2
    assert "'wait_origins/C'" in found.output
