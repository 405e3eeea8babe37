"""The command as a process: its streams, its exit status, users' code that misbehaves."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import sys
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner
from numba.core import config

from experiments.cli.app import main
from experiments.cli.users_errors import told
from experiments.run.running import WAITING
from experiments.sweeps import compiling
from grid.kernel import compile as module
from grid.kernel.compile import compiled
from tests.experiments.cli.users_modules import LOUD, RAISING, SCENARIO, UNPICKLABLE

QUICK = ["--set", "jobs=20"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name, text in {"loud.py": LOUD, "raising.py": RAISING, "mine.py": SCENARIO}.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    sys.modules.pop("raising", None)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("explain first", "explain: missing argument 'JOB'; `metasched explain --help` says"),
        ("run", "run: missing argument 'SCENARIO'; `metasched run --help` says"),
        ("run one two", "run: got unexpected extra argument"),
        ("run --seed", "run: option '--seed' requires an argument"),
        ("policies --level x", "policies: invalid value for '--level': 'x' is not one of"),
        ("bench kernel fast", "bench kernel: got unexpected extra argument"),
        ("reproduce oas --frob", "reproduce oas: no such option"),
        ("--frob", "no such option"),
    ],
)
def test_a_command_that_is_misused_says_in_a_line_what_is_missing(words, told):
    got = CliRunner().invoke(main, words.split())
    assert got.exit_code == 2
    assert got.stdout == ""
    (line,) = got.stderr.splitlines()
    assert line.startswith(f"metasched: {told}")
    assert line.endswith(" --help` says what it takes")


@pytest.mark.parametrize("words", [[], ["reproduce"]])
def test_a_group_that_is_called_alone_shows_its_help(words):
    assert "Commands:" in CliRunner().invoke(main, words).output


# Users' code ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("option", "error", "where"),
    [
        ("--global=raising:Ends", "EOFError: mine", "raised by ENDS at simulated time"),
        ("--global=raising:Pipes", "[Errno 32] mine", "raised by PIPES at simulated time"),
        ("--global=raising:Divides", "ZeroDivisionError", "raised by DIVIDES at simulated time"),
        ("--global=raising:Leaves", "SystemExit: 0", "raised by LEAVES at simulated time"),
        ("--global=raising:Aborts", "Abort", "raised by ABORTS at simulated time"),
        ("--global=raising:Quits", "GeneratorExit", "raised by QUITS at simulated time"),
        ("--global=raising:LeavesFirst", "SystemExit: 0", "raised in making LeavesFirst, before"),
        ("--local=raising:EndsFirst", "EOFError: mine", "raised in making EndsFirst"),
        ("--local=raising:Ranks", "SystemExit", "raised by RANKS C1 at simulated time"),
        ("--local=raising:Plans", "EOFError: mine", "raised by PLANS C1 at simulated time"),
    ],
)
def test_an_error_of_a_plugin_is_shown_as_its_own(folder, option, error, where):
    words = ["run", "mine.py", *QUICK, option, "--out", "out"]
    got = CliRunner().invoke(main, words)
    assert got.exit_code == 1
    assert got.stdout == ""
    first, second, *frames, raised, hint = got.stderr.splitlines()
    assert first.startswith(f"metasched: {where}")
    assert second.startswith("Traceback")
    assert {line.split('"')[1] for line in frames if line.startswith("  File")} == {
        str(folder / "raising.py")
    }
    assert error in raised
    assert "--traceback" in hint
    assert not (folder / "out").exists()


@pytest.mark.parametrize(
    "words",
    [
        ["check", "unread:Mine"],
        ["run", "quickstart", "--global", "unread:Mine"],
        ["run", "quickstart", "--metric", "unread:mine"],
        ["run", "./unread.py"],
    ],
)
def test_a_file_that_is_not_python_is_told_by_its_line(folder, words):
    (folder / "unread.py").write_text("class Mine(:\n    pass\n")
    got = CliRunner().invoke(main, words)
    assert got.exit_code == 1
    first, file, *_, raised, hint = got.stderr.splitlines()
    assert first.endswith("unread.py, line 1: invalid syntax")
    assert file.endswith('unread.py", line 1')
    assert raised == "SyntaxError: invalid syntax"
    assert "--traceback" in hint
    whole = CliRunner().invoke(main, [*words, "--traceback"])
    assert whole.stderr.splitlines()[0] == first
    assert 'experiments/cli/process.py"' in whole.stderr


def test_text_that_is_not_python_is_of_the_line_that_had_it_read(folder):
    (folder / "mine.py").write_text("eval('1 +')\n")
    got = CliRunner().invoke(main, ["run", "mine.py"])
    assert got.stderr.startswith("metasched: raised in mine.py, line 1\n")


@pytest.mark.parametrize(
    ("asked", "environment"), [(["--traceback"], ""), ([], "1")], ids=["option", "environment"]
)
def test_all_frames_are_shown_on_request(folder, asked, environment, monkeypatch):
    monkeypatch.setenv("METASCHED_TRACEBACK", environment)
    words = ["run", "mine.py", *QUICK, "--global", "raising:Divides"]
    got = CliRunner().invoke(main, [*words, *asked])
    assert got.exit_code == 1
    assert got.stderr.startswith("metasched: raised by DIVIDES at simulated time ")
    assert 'agents/model.py"' in got.stderr
    assert 'raising.py"' in got.stderr
    assert got.stderr.splitlines()[-1] == "ZeroDivisionError: division by zero"
    monkeypatch.setenv("METASCHED_TRACEBACK", "0")
    assert 'agents/model.py"' not in CliRunner().invoke(main, words).stderr


@pytest.mark.parametrize(("made", "last"), [("Mine()", "3"), ("Of(1)", "7")])
def test_frames_of_a_text_are_shown_but_for_those_that_dataclasses_make(made, last):
    """As of ``python -c``, whose file has the name that dataclasses give to theirs."""
    text = (
        "class Mine:\n  def __init__(self):\n    self.x = 1 / 0\n"
        "@dataclass\nclass Of:\n  x: int\n  def __post_init__(self): self.x / 0\n"
        f"def make(): {made}\n"
    )
    mine = {"dataclass": dataclass}
    exec(compile(text, "<string>", "exec"), mine)
    with pytest.raises(ZeroDivisionError) as caught:
        exec(compile("make()", "<string>", "exec"), mine)
    found = re.findall(r'File "<string>", line (\d+)', told(caught.value))
    assert found == ["1", "8", last]


@pytest.mark.parametrize("whole", [False, True])
def test_what_an_exception_says_is_shown_cut_and_without_controls(whole, monkeypatch):
    monkeypatch.setenv("METASCHED_TRACEBACK", "1" if whole else "")
    with pytest.raises(ValueError, match="first") as caught:
        exec("raise ValueError('first\\n' + 5000 * 'x' + '\\x1b[31m')")
    *_, first, second = told(caught.value).splitlines()
    assert first == "ValueError: first"
    assert second.isprintable()
    assert ("xxx...xxx" in second) is not whole


def test_an_error_of_ours_is_shown_whole(folder, monkeypatch):
    without_frames = partial(getattr, None)
    monkeypatch.setattr("experiments.cli.available.chosen_scenario", without_frames)
    got = CliRunner().invoke(main, ["validate", "quickstart"])
    assert got.exit_code == 1
    assert got.stderr.startswith("Traceback")
    assert 'experiments/cli/available.py"' in got.stderr


def test_an_error_in_a_worker_is_shown_by_the_users_frames(folder):
    (folder / "raising.py").write_text(RAISING + UNPICKLABLE)
    words = ["run", "mine.py", *QUICK, "--global", "raising:Own", "--replications", "2"]
    got = CliRunner().invoke(main, words)
    assert got.exit_code == 1
    assert "metasched: raised by OWN at simulated time " in got.stderr
    assert 'raise OwnError("mine", job.number)' in got.stderr
    assert "was killed" not in got.stderr
    assert 'agents/model.py"' not in got.stderr


@pytest.mark.parametrize("leaving", ["sys.exit(0)", "raise EOFError"])
def test_a_script_cannot_end_the_command_as_if_all_were_well(folder, leaving):
    (folder / "mine.py").write_text(f"import sys\n{leaving}\n")
    for command in ("run", "validate"):
        got = CliRunner().invoke(main, [command, "mine.py"])
        assert got.exit_code == 1
        assert 'mine.py", line 2' in got.stderr


@pytest.mark.thorough
def test_whatever_users_code_prints_json_is_alone(start, folder):
    (folder / "mine.py").write_text(f"print('script')\n{SCENARIO}")
    words = ["run", "mine.py", *QUICK, "--global", "loud:Loud", "--local", "loud:Talker", "--json"]
    process = start(*words)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert json.loads(out)["jobs"]["completed"] == 20
    printed = ("script", "imported", "print", "os.write", "kept", "printf", "compiled", "at exit")
    assert set(printed) <= set(err.splitlines())


# Streams --------------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize(
    "words", [["--help"], ["scenarios"], ["run", "mine.py", "--json"], ["run", "mine.py", "--live"]]
)
def test_a_full_disk_is_told_in_one_line(start, folder, words):
    with open("/dev/full", "w") as full:
        process = start(*words, stdout=full)
        _, err = process.communicate(timeout=120)
    assert process.returncode in (1, 2)
    assert err.splitlines()[-1].endswith("standard output: No space left on device")
    assert "Traceback" not in err
    assert "Exception ignored" not in err


@pytest.mark.thorough
@pytest.mark.parametrize("words", [["policies"], ["run", "mine.py"], ["run", "mine.py", "--live"]])
def test_a_reader_that_is_gone_ends_the_command_without_a_traceback(start, folder, words):
    reading, writing = os.pipe()
    os.close(reading)
    process = start(*words, stdout=writing)
    os.close(writing)
    _, err = process.communicate(timeout=120)
    assert process.returncode in (1, 2)
    assert "Traceback" not in err
    assert "Exception ignored" not in err


@pytest.mark.thorough
def test_closed_standard_output_is_refused_and_closed_standard_error_is_not(start):
    process = start("--help", closing=">&-")
    _, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert err == ("metasched: standard output is closed; accepted: a terminal, a file or a pipe\n")
    process = start("run", "none.toml", closing="2>&-")
    process.communicate(timeout=60)
    assert process.returncode == 2


def test_letters_that_the_console_has_not_are_replaced(folder):
    (folder / "mine.toml").write_text(
        '[[clusters]]\nname = "Zürich"\nsize = 16\n', encoding="utf-8"
    )
    for live in ("--live", "--no-live"):
        words = ["run", "mine.toml", *QUICK, "--local", "fcfs", live]
        got = CliRunner(charset="ascii").invoke(main, words)
        assert got.exit_code == 0, got.stderr
        assert "Z?rich" in got.stdout
    assert CliRunner(charset="ascii").invoke(main, ["policies"]).exit_code == 0


def test_the_dashboard_goes_beside_the_json(folder):
    got = CliRunner().invoke(main, ["run", "mine.py", *QUICK, "--live", "--json"])
    assert json.loads(got.stdout)["jobs"]["completed"] == 20
    assert "20 of 20 jobs done" in got.stderr


# Compilation ----------------------------------------------------------------------------------


def test_compilation_is_told_when_it_comes(tmp_path, monkeypatch, capsys):
    def kernel(x):
        return 2 * x

    def first_call():
        monkeypatch.setattr(compiling, "advance", compiled()(kernel))
        compiled()(lambda x: x)(1)  # of which nothing is said
        compiling.advance(1)
        return capsys.readouterr()

    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(module, "CACHE_FOLDER", tmp_path)
    monkeypatch.setattr(compiling, "CACHE_FOLDER", tmp_path)
    with compiling.saying_when_compiling(always=True):
        cold, warm = first_call(), first_call()
    assert cold.err.count("\n") == 1
    assert "kept for later runs" in cold.err
    assert (cold.out, warm.out, warm.err) == ("", "", "")
    monkeypatch.setattr(module, "CACHE_FOLDER", None)
    monkeypatch.setattr(compiling, "CACHE_FOLDER", None)
    with compiling.saying_when_compiling(always=True):
        for told in (first_call(), first_call()):
            assert "not kept" in told.err
    with compiling.saying_when_compiling(always=False):  # and no terminal
        assert first_call().err == ""


# Ctrl-C ---------------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize(
    "interrupted",
    [
        "signal.raise_signal(signal.SIGINT)",
        # Python would lose this one, and tell so with a traceback.
        "ctypes.CFUNCTYPE(None)(lambda: signal.raise_signal(signal.SIGINT))()",
    ],
)
def test_an_interrupt_before_the_run_ends_it_at_once(start, folder, interrupted):
    (folder / "mine.py").write_text(f"import ctypes, signal\n{interrupted}\n{SCENARIO}")
    process = start("run", "mine.py", "--out", "out")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    told = [line for line in err.splitlines() if not line.endswith("so far")]
    assert told == ["metasched: interrupted"]
    assert not (folder / "out").exists()


def begun(folder):
    """Return whether a run has written jobs; its folders come and go."""
    with contextlib.suppress(FileNotFoundError):
        return any(path.stat().st_size for path in folder.glob("**/.metasched-*/jobs.csv"))
    return False


@pytest.mark.thorough
@pytest.mark.parametrize("twice_within", [None, 0.02, 0.2])
def test_interrupt_ends_in_order_and_keeps_what_was_computed(start, tmp_path, twice_within):
    words = "--set", "jobs=200000", "--set", "step=1e9", "--local", "fcfs"
    process = start("run", "muscle", *words, "--out", str(tmp_path / "out"))
    while not begun(tmp_path):
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    if twice_within:
        time.sleep(twice_within)
        process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode in (130, -signal.SIGINT if twice_within else 130), err
    assert "Traceback" not in err
    assert "interrupted" in out
    kept = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert kept["interrupted"] is True
    assert 0 < kept["jobs"]["completed"] < 200000
    assert len(pd.read_csv(tmp_path / "out" / "jobs.csv")) >= kept["jobs"]["completed"]


LOOPS = """
from pathlib import Path

from agents.schedulers import GlobalScheduler


class Loops(GlobalScheduler):
    def place(self, job):
        Path("reached").touch()
        while True:
            pass
"""


@pytest.mark.thorough
def test_who_waits_for_a_step_to_end_is_told_what_ends_it(start, tmp_path):
    (tmp_path / "loops.py").write_text(LOOPS)
    process = start("run", "quickstart", "--global", "loops:Loops", "--out", "kept", cwd=tmp_path)
    while not (tmp_path / "reached").exists():
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    assert any(WAITING in line for line in process.stderr)  # it would wait for ever without it
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert not (tmp_path / "kept").exists()
