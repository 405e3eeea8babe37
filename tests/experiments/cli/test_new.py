"""What `metasched new` writes works as it stands."""

from __future__ import annotations

import shlex
import sys

import pytest

from experiments.cli.new import KINDS
from tests.experiments.commands import call

FILES = {kind: "toml" if kind == "scenario" else "py" for kind in KINDS}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_runs_and_passes_its_test(kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    name = f"begun_{kind}"
    sys.modules.pop(name, None)
    got = call("new", kind, name)
    assert got.exit_code == 0, got.output
    first, *commands = got.stdout.splitlines()
    assert first == f"{name}.{FILES[kind]} and test_{name}.py; to try them:"
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        [f"{name}.{FILES[kind]}", f"test_{name}.py"]
    )
    for line in commands:
        program, *words = shlex.split(line)
        if program == "metasched":
            extra = ["--no-live", "--set", "jobs=100"] if words[0] == "run" else []
            done = call(*words, *extra)
            assert done.exit_code == 0, (line, done.output)
    assert commands[-1] == f"  python -m pytest test_{name}.py"
    tested: dict = {"__file__": str(tmp_path / f"test_{name}.py")}
    exec(compile((tmp_path / f"test_{name}.py").read_text(), "its test", "exec"), tested)
    tests = [each for own, each in tested.items() if own.startswith("test_")]
    assert tests
    for each in tests:
        each()
    text = (tmp_path / f"{name}.{FILES[kind]}").read_text()
    assert "{{" not in text
    assert max(map(len, text.splitlines())) <= 100


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("scheduler", "class"), "NAME: found 'class'; accepted: that of a module, such as my_p"),
        (("local", "Bad-Name"), "NAME: found 'Bad-Name'; accepted: that of a module"),
        (("scheduler", "none"), "NAME: found 'none'; accepted: that of a module, such as my_p"),
        (("metric", 101 * "m"), "NAME: found 'mmm"),
        (("local", "../up"), "NAME: found '../up'; accepted: that of a module"),
        (("local", "test_x"), "NAME: found 'test_x'; accepted: that of a module"),
        (("local", "random"), "found random; accepted: another one, for there is a module already"),
        (
            ("metric", "agents"),
            "found agents; accepted: another one, for there is a module already",
        ),
        (("metric", "mean_wait"), "found mean_wait; accepted: another one, for there is a metric"),
        (("scheduler", "round_robin"), "for there is a built-in round-robin already"),
        (("predictor", "learned"), "another one, for there is a built-in learned already"),
        (("local", "local_scheduler"), "another one, for there is class LocalScheduler already"),
        (("shed", "mine"), "new: invalid value for 'KIND': 'shed' is not one of 'scheduler'"),
        (("scheduler",), "new: missing argument 'NAME'"),
    ],
)
def test_bad_input_is_a_line_and_writes_nothing(words, told, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    got = call("new", *words)
    assert (got.exit_code, got.stdout) == (2, "")
    assert told in got.stderr
    assert len(got.stderr.splitlines()) == 1
    assert not [*tmp_path.iterdir()]


def test_nothing_is_written_over(tmp_path, monkeypatch):
    monkeypatch.delitem(sys.modules, "mine", raising=False)  # of another test, as are folders
    others = str(tmp_path.parent)
    monkeypatch.setattr(sys, "path", [each for each in sys.path if not each.startswith(others)])
    (tmp_path / "test_mine.py").write_text("mine")
    got = call("new", "metric", "mine", "--out", tmp_path)
    assert got.exit_code == 2
    assert "test_mine.py: found a file; accepted: a name without one" in got.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["test_mine.py"]
    assert call("new", "metric", "mine", "--out", tmp_path / "new" / "folder").exit_code == 0
    assert (tmp_path / "new" / "folder" / "mine.py").is_file()
