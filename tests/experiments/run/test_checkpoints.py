"""A run that is killed, interrupted or broken off goes on from its checkpoint to the same end."""

from __future__ import annotations

import errno
import json
import os
import pickle
import zlib
from pathlib import Path

import pytest

from experiments.run import checkpoints, resume, run
from experiments.run.checkpoints import Saving, read
from experiments.run.running import Display
from experiments.scenario.scenario import Scenario
from tests.experiments.commands import call

HERE = Path(__file__).parents[1]
RUN = ["run", "quickstart", "--global", "stopping:Stopping", "--no-live", "--json"]
RUN += ["--local", "sjf", "--set", "step=10"]
OFTEN = ["--every", "1e-6s"]


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    monkeypatch.syspath_prepend(str(HERE))


def to(folder):
    return "--out", folder / "out", "--events", folder / "events.jsonl"


def files(folder):
    """Return what a run has written; how long it took is its own."""
    summary = json.loads((folder / "out" / "summary.json").read_text())
    assert summary.pop("wall_s") > 0
    names = "events.jsonl", "out/jobs.csv", "out/timeline.csv"
    assert sorted(path.name for path in (folder / "out").iterdir()) == [
        "jobs.csv",
        "summary.json",
        "timeline.csv",
    ]
    return summary, *((folder / name).read_bytes() for name in names)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The files of the run that nothing stops."""
    folder = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(HERE))
        assert call(*RUN, *to(folder)).exit_code == 0
    return files(folder)


@pytest.fixture
def stop(monkeypatch):
    def at(job, by):
        monkeypatch.setenv("STOP_AT", str(job))
        monkeypatch.setenv("STOP_BY", by)

    return at


def resumed(folder, *words):
    return call("run", "--resume", folder / "checkpoint", "--no-live", "--json", *words)


@pytest.mark.thorough
@pytest.mark.parametrize("by", ["kill", "kill in checkpoint"])
def test_killed_and_resumed_in_another_process(by, tmp_path, whole, stop, start):
    stop(301, by)
    words = "--checkpoint", tmp_path / "checkpoint", *OFTEN
    killed = start(*RUN, *to(tmp_path), *words, cwd=HERE)
    killed.communicate(timeout=100)
    assert killed.returncode == -9
    assert not (tmp_path / "out" / "summary.json").exists()
    stop(-1, "")
    second = start("run", "--resume", tmp_path / "checkpoint", "--json", cwd=tmp_path)
    out, err = second.communicate(timeout=100)
    assert second.returncode == 0
    assert "metasched: " not in err
    assert json.loads(out)["jobs"]["completed"] == 400
    assert files(tmp_path) == whole


def test_interrupted_again_and_again(tmp_path, whole, stop):
    words = "--checkpoint", tmp_path / "checkpoint", "--every", "2h"
    stop(60, "interrupt")
    assert call(*RUN, *to(tmp_path), *words).exit_code == 130
    summary, events, jobs, _ = files(tmp_path)
    assert summary["interrupted"]
    assert len(jobs) < len(whole[2])
    assert events != whole[1]
    stop(220, "interrupt")
    assert resumed(tmp_path).exit_code == 130
    for _ in range(2):  # also after its end
        stop(-1, "")
        got = resumed(tmp_path)
        assert (got.exit_code, got.stderr) == (0, "")
        assert files(tmp_path) == whole


@pytest.mark.thorough
def test_an_error_of_a_scheduler_leaves_what_was_done(tmp_path, whole, stop):
    stop(250, "mended")
    got = call(*RUN, *to(tmp_path), "--checkpoint", tmp_path / "checkpoint", *OFTEN)
    assert got.exit_code == 1
    assert "mended" in got.stderr
    stop(-1, "")
    assert resumed(tmp_path).exit_code == 0
    assert files(tmp_path) == whole


def test_seed_schedules_and_rounds_are_in_a_checkpoint(tmp_path, stop):
    words = "run", "muscle-case-study", "--json", "--rounds"
    whole = call(*words, tmp_path / "rounds.csv")
    path = tmp_path / "checkpoint"
    assert call(*words, tmp_path / "other.csv", "--checkpoint", path, *OFTEN).exit_code == 0
    got = resumed(tmp_path, "--rounds", tmp_path / "again.csv")
    one, other = (json.loads(each.stdout) for each in (whole, got))
    assert one.pop("wall_s") > 0 < other.pop("wall_s")
    assert one == other
    assert one["seed_schedules"]
    assert (tmp_path / "rounds.csv").read_text() == (tmp_path / "again.csv").read_text()


# What cannot be done ------------------------------------------------------------------------------


def test_what_cannot_be_pickled_is_told_at_once_and_leaves_nothing(tmp_path):
    (tmp_path / "events.jsonl").write_text("mine")
    words = [*RUN, "--global", "stopping:Unpicklable", "--checkpoint", tmp_path / "checkpoint"]
    got = call(*words, *to(tmp_path))
    assert got.exit_code == 2
    assert got.stdout == ""
    assert got.stderr.startswith(
        "metasched: checkpoint: scheduler UNPICKLABLE: attribute key of Unpicklable cannot be "
    )
    assert got.stderr.count("\n") == 1
    assert [each.name for each in tmp_path.iterdir()] == ["events.jsonl"]
    assert (tmp_path / "events.jsonl").read_text() == "mine"


def test_no_folder_is_left_of_a_run_that_is_refused(tmp_path):
    words = [*RUN, "--global", "stopping:Unpicklable"]
    events, checkpoint = tmp_path / "new" / "events.jsonl", tmp_path / "other" / "checkpoint"
    got = call(*words, "--events", events, "--checkpoint", checkpoint)
    assert "cannot be pickled" in got.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.thorough
def test_what_cannot_be_pickled_later_ends_no_run(tmp_path, whole, stop):
    stop(200, "attribute")
    got = call(*RUN, *to(tmp_path), "--checkpoint", tmp_path / "checkpoint", *OFTEN)
    assert got.exit_code == 0
    assert "attribute _jobs of Stopping" in got.stderr
    stop(-1, "")
    assert resumed(tmp_path).exit_code == 0
    assert files(tmp_path) == whole


@pytest.fixture
def checkpoint(tmp_path):
    """A checkpoint of the beginning of a run."""
    path = tmp_path / "checkpoint"
    assert call(*RUN, *to(tmp_path), "--checkpoint", path).exit_code == 0
    return path


def test_what_is_no_checkpoint_of_this_code_is_refused(tmp_path, checkpoint, monkeypatch):
    def refused():
        got = resumed(tmp_path)
        assert got.exit_code == 2
        assert got.stderr.count("\n") == 1
        return got.stderr

    before = files(tmp_path)
    data = checkpoint.read_bytes()
    for bad, why in (
        (data[:-1], "damaged"),
        (data[:5000], "damaged"),
        (data[:5000] + bytes([data[5000] ^ 1]) + data[5001:], "damaged"),
        (b"", "another kind"),
        (b"job,arrival\n", "another kind"),
    ):
        checkpoint.write_bytes(bad)
        assert why in refused()
    checkpoint.unlink()
    assert "No such file" in refused()
    checkpoint.write_bytes(data)
    with monkeypatch.context() as patch:
        patch.setattr(checkpoints, "_product", lambda: "metasched 99")
        assert refused().endswith("accepted: of metasched 99\n")
    assert files(tmp_path) == before
    (tmp_path / "events.jsonl").write_text("mine\n")
    assert "events.jsonl: found other contents" in refused()
    assert (tmp_path / "events.jsonl").read_text() == "mine\n"
    (tmp_path / "events.jsonl").unlink()
    assert "events.jsonl: cannot write events" in refused()


HEADS = {
    "no text": (b"\xff\n", "accepted: a checkpoint"),
    "no JSON": (b"{\n", "accepted: a checkpoint"),
    "no line": (b"", "accepted: a checkpoint"),
    "no product": (b'{"path": []}\n', "product: missing"),
    "a number for a path": (b'{"product": "", "path": [1]}\n', "path.0"),
    "a number of 4,301 digits": (b'{"product": ' + 4301 * b"9" + b"}\n", "4,301 digits"),
}


def sealed(data):
    return data + f"{zlib.crc32(data):08x}".encode()


@pytest.mark.parametrize(("head", "why"), HEADS.values(), ids=HEADS)
def test_a_head_that_is_none_is_refused_in_a_line(head, why, tmp_path):
    (tmp_path / "checkpoint").write_bytes(sealed(checkpoints.MAGIC + head))
    got = resumed(tmp_path)
    assert got.exit_code == 2
    assert got.stderr.count("\n") == 1
    assert why in got.stderr


def test_a_pickle_of_something_else_is_refused(tmp_path):
    head = json.dumps({"product": checkpoints._product(), "path": []}).encode()
    for pickled, why in ((pickle.dumps(5), "found int"), (b"", "accepted"), (b"?", "accepted")):
        data = sealed(checkpoints.MAGIC + head + b"\n" + pickled)
        (tmp_path / "checkpoint").write_bytes(data)
        got = resumed(tmp_path)
        assert got.exit_code == 2
        assert why in got.stderr


def test_events_of_a_run_that_a_full_disk_ended_go_on(tmp_path, whole, monkeypatch):
    def full(self):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(checkpoints.UnderWay, "save", lambda self, save=checkpoints.UnderWay.save: (
            save(self), patch.setattr("experiments.run.append_file.Growing.flush", full)
        ))  # fmt: skip
        got = call(*RUN, *to(tmp_path), "--checkpoint", tmp_path / "checkpoint")
    assert got.exit_code == 2
    assert "events.jsonl: cannot write events: No space left" in got.stderr
    assert not (tmp_path / "events.jsonl").exists()
    got = resumed(tmp_path)
    assert got.exit_code == 0, got.stderr
    assert files(tmp_path) == whole
    assert not [*tmp_path.glob("**/.metasched-*")]


def test_the_help_says_what_can_run_code():
    for words, said in (
        (["run"], ("resume only your own", "use only files that you trust", "imported")),
        *(
            ([each], ("use only files that you trust",))
            for each in ("validate", "saturation", "study", "learn", "hindcast", "compile", "serve")
        ),
        (["view"], ("use only files that you trust",)),
        (["shadow"], ("use only code that you trust",)),
        (["check"], ("use only code that you trust",)),
    ):
        told = " ".join(call(*words, "--help").stdout.split())
        assert all(each in told for each in said)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["quickstart"], "--resume: found with SCENARIO"),
        (["--set", "jobs=3"], "--resume: found with --set"),
        (["--seed", 0], "--resume: found with --seed"),
        (["--out", "out"], "--resume: found with --out"),
        (["--replications", 3], "--resume: found with --replications"),
        (["--every", "soon"], "--every: found 'soon'"),
        (["--every", "-1m"], "--every: found '-1m'"),
    ],
)
def test_what_a_checkpoint_knows_is_not_to_be_said_again(words, why, tmp_path):
    got = resumed(tmp_path, *words)
    assert got.exit_code == 2
    assert got.stderr.startswith(f"metasched: {why}")


def test_options_without_sense(tmp_path):
    path = tmp_path / "one"
    for words, why in (
        (["--every", "3m"], "--every: found alone"),
        (["--checkpoint", path, "--replications", 2], "--replications: found with --checkpoint"),
        (["--checkpoint", path, "--events", path], "found for events and checkpoint"),
        (["--checkpoint", tmp_path], "cannot write checkpoint"),
    ):
        got = call("run", "quickstart", *words)
        assert got.exit_code == 2
        assert why in got.stderr
        assert got.stderr.count("\n") == 1
    assert call("run").exit_code == 2
    assert not list(tmp_path.iterdir())


# Others who look on ------------------------------------------------------------------------------


@pytest.mark.thorough
def test_a_dashboard_is_no_part_of_a_checkpoint(tmp_path, whole, stop):
    stop(150, "interrupt")
    words = [word for word in RUN if word != "--no-live"]
    got = call(*words, "--live", *to(tmp_path), "--checkpoint", tmp_path / "checkpoint", *OFTEN)
    assert got.exit_code == 130
    assert len(read(tmp_path / "checkpoint").model.listeners) == 1  # the event log
    assert b"Follower" not in (tmp_path / "checkpoint").read_bytes()
    stop(-1, "")
    got = call("run", "--resume", tmp_path / "checkpoint", "--live", "--json")
    assert got.exit_code == 0
    assert files(tmp_path) == whole


def test_a_checkpoint_that_is_due_ends_a_long_step(tmp_path):
    """Jobs leave by thousands, and all of the run is one step."""
    words = ["run", "muscle", "--global", "dll", "--local", "fcfs", "--set", "mode=open", "--json"]
    words += ["--set", "jobs=30000", "--set", "step=1e9"]
    path = tmp_path / "checkpoint"
    whole = call(*words)
    assert call(*words, "--checkpoint", path, *OFTEN).exit_code == 0
    submitted = read(path).model.world.state.submitted
    assert 20_000 < submitted < 30_000
    one, other = (json.loads(each.stdout) for each in (whole, resumed(tmp_path)))
    assert one.pop("wall_s") > 0 < other.pop("wall_s")
    assert one == other


def test_from_python_as_the_docs_say(tmp_path, capsys):
    path = tmp_path / "q.cp"
    scenario = Scenario.load("quickstart").changed(jobs=50, step=10.0)
    whole = run(scenario, saving=Saving(str(path), every=1e-6))
    assert resume(read(path)).summary()["metrics"] == whole.summary()["metrics"]
    under_way = read(path)
    under_way.wall = 7260.0
    resume(under_way, Display(live=True))
    assert "running for 2.02 h" in capsys.readouterr().out
