"""`metasched check`: good schedulers pass, and what is wrong with bad ones is said."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from click.testing import CliRunner

from agents.importing import CODE
from agents.registry import GLOBAL, LOCAL
from experiments.checks import hash_seed, trials
from experiments.checks.check import check
from experiments.cli.app import main
from tests.experiments.checked_schedulers import AGENTS, CRASHING

MADE, REFUSED, RAISED = "it can be made", "its decisions are possible", "it raises no exception"
LEFT, AGAIN = "every job gets its turn", "run again, same result"
RESEEDED, STEPPED = "no randomness but its own", "no step changes the result"
REHASHED = "another process, same result"
UNSAVED = "its state can be saved"

BAD = {
    "Anywhere": (REFUSED, "C3, which has 4 processors"),
    "First": (REFUSED, "C1, which has 4 processors"),
    "TooMany": (REFUSED, "processors in all, of those free"),
    "Raises": (RAISED, "ZeroDivisionError: division by zero (agents_to_check.py:"),
    "Leaves": (RAISED, "SystemExit: 3"),
    "Resizes": (RAISED, "AttributeError: job.size cannot be set"),
    "Renumbers": (RAISED, "AttributeError: cluster.index cannot be set"),
    "Quits": (RAISED, "GeneratorExit"),
    "Nests": (REFUSED, "accepted: each of the jobs given, once"),
    "Unmade": (MADE, "Unmade: found __init__(self, model, more); accepted: __init__(self, model)"),
    "NoSuper": (MADE, "super().__init__"),
    "Never": (LEFT, "jobs never ran"),
    "RejectsAll": (LEFT, "jobs were rejected"),
    "GlobalNumpy": (RESEEDED, "when others are drawn"),
    "GlobalPython": (RESEEDED, "when others are drawn"),
    "GlobalCompiled": (RESEEDED, "when others are drawn"),
    "Unseeded": (AGAIN, "another result"),
    "Five": (RESEEDED, "numpy.random.default_rng(5) in agents_to_check.py:"),
    "FivePython": (RESEEDED, "random.Random(5) in agents_to_check.py:"),
    "FiveBits": (RESEEDED, "numpy.random.PCG64(5) in agents_to_check.py:"),
    "FiveState": (RESEEDED, "numpy.random.RandomState(seed=5) in agents_to_check.py:"),
    "FiveShared": (RESEEDED, "random.seed("),
    "Hashes": (REHASHED, "another result in a process of other hashes"),
    "Shared": (AGAIN, "another result"),
    "ByStep": (STEPPED, "with steps of 1e+06 s"),
    "Locked": (UNSAVED, "self.lock: TypeError"),
    "Lambda": (UNSAVED, "self.choice: "),
    "Resets": (UNSAVED, "another result when it is saved and taken up again"),
    "LeavesOut": (UNSAVED, "AttributeError: 'LeavesOut' object has no attribute 'choice'"),
    "KeepsJobs": (REFUSED, "has left, and another is where it was; accepted: what was kept"),
    "Nan": (REFUSED, "priority of job"),
    "Forgets": (REFUSED, "plan without"),
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    (tmp_path / "agents_to_check.py").write_text(AGENTS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    sys.modules.pop("agents_to_check", None)
    return tmp_path


ELSEWHERE = "muscle", "titan", "GoodPlan", "Hashes"
"""Those that are run in another process, which takes seconds; the others again in this one."""

DIGESTS = hash_seed.digests


@pytest.fixture(autouse=True)
def _process(request):
    called = getattr(request.node, "callspec", None)
    if called is None or called.params.get("name") not in ELSEWHERE:
        request.getfixturevalue("in_this_process")


def checked(name, status):
    got = CliRunner().invoke(main, ["check", name, "--json"])
    assert got.exit_code == status, got.output
    result = json.loads(got.stdout)
    assert result["holds"] == (status == 0)
    return {each["check"]: each for each in result["checks"]}


SLOW = {"oas": pytest.mark.slow}  # it optimises at nearly each arrival


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(each, marks=SLOW.get(each, ()))
        for each in (*GLOBAL, *LOCAL)
        if each != "recorded"
    ],
)
def test_built_in_schedulers_pass(name):
    assert len(checked(name, 0)) == 9


def test_what_holds_where_runs_end_is_not_said_of_the_grids_where_they_do_not():
    found = checked("agents_to_check:Anywhere", 1)
    assert found["its decisions are possible"]["holds"] is False
    told = found["no randomness but its own"]
    assert told["detail"].startswith("in 2 grids; not known of 2 others, in which no run came")


def test_who_goes_by_logs_is_not_checked():
    got = CliRunner().invoke(main, ["check", "recorded"])
    assert (got.exit_code, got.stdout) == (2, "")
    assert got.stderr.splitlines()[-1].startswith("metasched: recorded: goes by what logs tell")


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    "name",
    [
        "GoodGlobal",
        "Remakes",
        "Cheapest",
        "Spread",
        "GoodLocal",
        "GoodPlan",
        "Easy",
        "EasyOnceMade",
        "Conservative",
    ],
)
def test_good_schedulers_pass(name):
    checks = checked(f"agents_to_check:{name}", 0)
    assert (
        checks[LEFT]["detail"]
        == f"in {5 if name in ('Spread', 'Easy', 'EasyOnceMade') else 4} grids"
    )


def test_a_message_that_says_what_is_accepted_has_no_hint_beside_it():
    found = checked("agents_to_check:BadSelection", 1)[MADE]
    assert found["detail"].startswith(
        "rounds, arrivals, late news and one cluster: BadSelection: selection: found 'sjf'; acc"
    )
    assert "\n" not in found["detail"]
    assert "hint" not in found


@pytest.mark.thorough
def test_the_hint_of_a_broker_that_forgets_an_answer_speaks_of_brokers():
    found = checked("agents_to_check:Asks", 1)[REFUSED]
    assert "ForgetfulBroker of C1: pass_on: found None" in found["detail"]
    assert found["hint"].endswith("; a broker: what the methods of A4Broker return")


def test_the_hint_of_a_policy_that_visits_no_queue_speaks_of_visits():
    found = checked("agents_to_check:Lost", 1)[REFUSED]
    assert "queue to visit: 99" in found["detail"]
    assert found["hint"].endswith("; visit: the index of a queue with jobs, or None")


@pytest.mark.parametrize(
    ("name", "hint"),
    [("Anywhere", "place: "), ("Nan", "priority: a number"), ("Nests", "plan: all the jobs given")],
)
def test_the_hint_of_an_impossible_decision_is_that_of_its_kind(name, hint):
    found = checked(f"agents_to_check:{name}", 1)[REFUSED]["hint"]
    assert found.startswith(hint)
    assert ";" not in found


@pytest.mark.thorough
def test_the_hint_of_unseeded_numbers_is_one_that_local_schedulers_can_follow():
    hint = checked("agents_to_check:FivePython", 1)[RESEEDED]["hint"]
    assert hint.startswith("draw from a generator of your own that model.seed seeds; a global ")


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("name", "check", "detail"), [(n, *bad) for n, bad in BAD.items()])
def test_what_is_wrong_is_said(name, check, detail):
    checks = checked(f"agents_to_check:{name}", 1)
    failed = [title for title, each in checks.items() if each["holds"] is False]
    assert failed == [check]
    assert detail in checks[check]["detail"]
    assert checks[check]["hint"]
    made = {title for title, each in checks.items() if each["holds"]}
    for title in {AGAIN, RESEEDED, REHASHED, STEPPED} & made:
        ending = "grids, all random numbers seeded alike" if title == AGAIN else ("grids", "1 grid")
        ending = "; the others differ when run again" if check == AGAIN else ending
        assert checks[title]["detail"].partition("; not known")[0].endswith(ending)


STRAY = ("agents", "experiments", "grid", "metasched", "json", "queue", "random", "tempfile")


def started(*words):
    """Run the command as it is installed: Python itself does not search the current folder."""
    return subprocess.run(
        [sys.executable, "-P", "-c", "from experiments.cli.app import main; main()", *words],
        env=os.environ | {"PYTHONPATH": str(CODE)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.thorough
def test_stray_modules_in_the_folder_mislead_nobody(folder):
    for name in STRAY:
        (folder / f"{name}.py").write_text(f"raise SystemExit('stray {name}')\n")
    got = started("check", "agents_to_check:GoodLocal")
    assert got.returncode == 0, got.stdout + got.stderr
    words = "run", "quickstart", "--set", "jobs=20", "--local", "agents_to_check:GoodLocal"
    got = started(*words, "--replications", "3", "--json")
    assert got.returncode == 0, got.stderr
    for name in ("random", "grid"):
        got = started("check", f"{name}:Mine")
        assert got.returncode == 2
        assert f"({folder / name}.py needs another name: {name} is a module of " in got.stderr


@pytest.fixture
def crashing(folder, monkeypatch):
    """Return what checks one that ends so in a process of other hashes."""

    def checks(end):
        (folder / "crashing.py").write_text(CRASHING.format(end))
        monkeypatch.setenv("FIRST_HASHES", str(os.environ.get(hash_seed.VARIABLE)))
        monkeypatch.setattr(hash_seed, "digests", DIGESTS)
        sys.modules.pop("crashing", None)
        return checked("crashing:Crashing", 1)

    return checks


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("end", "told"),
    [
        ("os.kill(os.getpid(), 11)", "was killed by signal 11 (Segmentation fault)"),
        (
            "print('dying', file=sys.stderr, flush=True), os._exit(3)",
            "status 3; its last line: dying",
        ),
        ("os._exit(0)", "ended with exit status 0"),
    ],
)
def test_a_process_that_crashes_is_not_another_result(crashing, end, told):
    checks = crashing(end)
    assert [title for title, each in checks.items() if not each["holds"]] == [REHASHED]
    assert checks[REHASHED]["detail"].startswith("not known: the process in which texts have other")
    assert told in checks[REHASHED]["detail"]
    assert "take no hash() of a text" not in checks[REHASHED]["hint"]


@pytest.mark.thorough
def test_an_error_that_other_hashes_lead_to_is_told(crashing):
    detail = crashing("1 / 0")[REHASHED]["detail"]
    assert "rounds: ZeroDivisionError: division by zero (crashing.py:" in detail
    assert "another result" not in detail


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "check"), [("Loops", RAISED), ("LoopsWhenMade", MADE)])
def test_who_does_not_answer_is_interrupted(name, check, monkeypatch):
    monkeypatch.setattr(trials, "LIMIT", 1.0)
    found = checked(f"agents_to_check:{name}", 1)[check]
    detail = found["detail"]
    assert "see that the loops around that end" in found["hint"]
    assert detail.startswith(
        "rounds: NoAnswerError: did not answer within 1 s of the start of the run"
    )
    assert "agents_to_check.py:" in detail
    assert "arrivals" not in detail


@pytest.mark.thorough
def test_what_a_scheduler_prints_is_no_part_of_the_report():
    got = CliRunner().invoke(main, ["check", "agents_to_check:Prints"])
    assert "a word of mine" not in got.stdout
    assert "a word of mine" in got.stderr


@pytest.mark.thorough
def test_what_is_tried_is_told():
    told = []
    check("agents_to_check:GoodLocal", told.append)
    assert told[0] == "agents_to_check:GoodLocal: trying the grid of 'rounds'"
    assert "agents_to_check:GoodLocal: trying the grid of 'rounds' with steps of 0.37 s" in told


@pytest.mark.thorough
def test_people_get_a_table_with_hints():
    got = CliRunner().invoke(main, ["check", "agents_to_check:Never"])
    assert got.exit_code == 1
    assert "1 of 9 checks FAIL" in got.stdout
    assert "None lets a job wait" in got.stdout


def test_what_is_wrong_in_several_grids_has_a_line_each():
    got = CliRunner().invoke(main, ["check", "agents_to_check:Raises"])
    lines = [line.strip() for line in got.stdout.splitlines()]
    for grid in ("arrivals", "late news", "one cluster"):
        assert any(line.startswith(f"{grid}: ZeroDivisionError") for line in lines)
    assert "--traceback" in got.stdout
    assert "\\n" not in got.stdout


@pytest.mark.parametrize(
    ("name", "why", "left_out"),
    [
        ("NoSuper", "none of its runs came to its end", 8),
        ("Raises", "none of its runs came to its end", 7),
        ("Unseeded", "none of its runs has the same result when run again", 3),
    ],
)
def test_what_is_not_checked_is_told(name, why, left_out):
    words = "check", f"agents_to_check:{name}"
    out = " ".join(CliRunner().invoke(main, words).stdout.split())
    assert f"{words[1]}: 1 of 9 checks FAIL" in out
    assert (UNSAVED in out.partition("Not checked")[2]) == (left_out > 3)
    found = json.loads(CliRunner().invoke(main, [*words, "--json"]).stdout)["checks"]
    unmade = [each["check"] for each in found if each["holds"] is None]
    assert len(unmade) == left_out
    assert f"Not checked, as {why}: {'; '.join(unmade)}" in out


@pytest.mark.thorough
def test_a_name_is_printed_as_it_is():
    got = CliRunner().invoke(main, ["check", "agents_to_check:Boom"])
    assert "agents_to_check:Boom: 9 checks hold" in got.stdout


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("best", "unknown"),
        ("nosuch:Best", "no module"),
        ("agents_to_check:Neither", "is a class of another kind"),
        ("agents_to_check:fitting", "accepted: a subclass"),
    ],
)
def test_what_is_no_scheduler_is_told_in_a_line(name, found):
    got = CliRunner().invoke(main, ["check", name])
    assert got.exit_code == 2
    assert got.stderr.count("\n") == 1
    assert found in got.stderr
