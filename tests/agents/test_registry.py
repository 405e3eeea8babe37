"""Schedulers by name, built-in or a user's own."""

from __future__ import annotations

import re
import sys

import pytest

from agents.disciplines import FcfsScheduler
from agents.muscle import MuscleScheduler
from agents.registry import (
    GLOBAL,
    LOCAL,
    any_scheduler,
    anyone,
    global_scheduler,
    kinds_of,
    local_scheduler,
    predictor,
    summary,
)
from grid.errors import GridError

from .small_grids import done, ran, workload

OWN = '''
from agents.pace.predictor import Predictor
from agents.schedulers import GlobalScheduler, LocalScheduler


class First(GlobalScheduler):
    """To the first that fits."""

    def place(self, job):
        return next(c for c in self.clusters if c.size >= job.size)


class Largest(LocalScheduler):
    def priority(self, job):
        return -job.size


class Usual(Predictor):
    def predict(self, job):
        return 1.0


def function(job):
    return 0
'''


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Return the name of a user's module in the current folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "own_schedulers.py").write_text(OWN)
    (tmp_path / "broken_import.py").write_text("import no_such_thing_at_all\n")
    (tmp_path / "broken_prefix.py").write_text("import broken\n")
    (tmp_path / "broken_code.py").write_text("def (:\n")
    yield "own_schedulers"
    for name in ("own_schedulers", "broken_import", "broken_prefix", "broken_code"):
        sys.modules.pop(name, None)


def test_every_built_in_name_is_a_scheduler_with_a_summary():
    assert list(GLOBAL) == [
        *("muscle", "dll", "wrand", "round-robin", "ect", "greenest", "home", "a4"),
        *("no-share", "migration-only", "first-fit", "ideal", "fixed-penalty"),
        *("a1", "b1", "b2", "b3", "b4", "adaptive", "oas"),
        *("wf", "ff", "ordered", "gs", "ls-or", "ls-rd", "ls-ro", "ls-do", "gp"),
        *("lp-lf", "lp-gf", "lp-rd", "eq-lf", "eq-gf", "eq-rd", "lq"),
    ]
    assert list(LOCAL) == [
        "titan",
        "fcfs",
        "fpfs",
        "sjf",
        "ljf",
        "fair-share",
        "easy",
        "conservative",
        "recorded",
        "slurm",
    ]
    assert global_scheduler("muscle") is MuscleScheduler
    assert local_scheduler("fcfs") is FcfsScheduler
    for target in [*map(global_scheduler, GLOBAL), *map(local_scheduler, LOCAL)]:
        assert summary(target).endswith(".")
        assert "\n" not in summary(target)


def test_a_users_own(module):
    model = ran(f"{module}:First", f"{module}:Largest", workload(largest=8))
    assert set(done(model)["cluster"].tolist()) == {0}
    assert summary(type(model.scheduler)) == "To the first that fits."


@pytest.mark.parametrize(
    ("find", "name", "words"),
    [
        (
            global_scheduler,
            "mussle",
            "global scheduler 'mussle': unknown; did you mean muscle",
        ),
        (global_scheduler, "titan", "global scheduler 'titan': it is a local one: --local; `meta"),
        (local_scheduler, "muscle", "local scheduler 'muscle': it is a global one: --global; `me"),
        (
            local_scheduler,
            "mucsle",
            "local scheduler 'mucsle': unknown; did you mean --global muscle",
        ),
        (local_scheduler, "", "local scheduler '': unknown"),
        (global_scheduler, "nowhere:First", "global scheduler 'nowhere:First': no module"),
        (global_scheduler, "own_schedulers.py:First", "; did you mean own_schedulers? accepted: "),
        (
            global_scheduler,
            "nowhere.py:First",
            "; accepted: the name of a Python file, without .py",
        ),
        (any_scheduler, "own_schedulers", "; classes there: First, Largest, Usual"),
        (local_scheduler, "own_schedulers.py", "own_schedulers:Class, a subclass of metasched.L"),
        (any_scheduler, "broken_code", "found a module alone; accepted: broken_code:Class, a "),
        (any_scheduler, "./own_schedulers.py", "scheduler './own_schedulers.py': found a path; "),
        (any_scheduler, "/of/own_schedulers:First", "found a path; accepted: the name of a Python"),
        (any_scheduler, "./own_schedulers:First", "without folders and .py: own_schedulers"),
        (any_scheduler, "muscle/titan", "scheduler 'muscle/titan': unknown"),
        (global_scheduler, "own_schedulers.x:First", "global scheduler 'own_schedulers.x:First'"),
        (global_scheduler, "own_schedulers:Last", "has no 'Last'; accepted: First"),
        (global_scheduler, "own_schedulers:Frist", "has no 'Frist'; did you mean First?"),
        (local_scheduler, "own_schedulers:Last", "has no 'Last'; did you mean Largest?"),
        (any_scheduler, "own_schedulers:Last", "has no 'Last'; did you mean Largest?"),
        (global_scheduler, "json:Last", "module 'json' has no 'Last'; accepted: a subclass of"),
        (global_scheduler, "own_schedulers:function", "own_schedulers.function is a function;"),
        (global_scheduler, "own_schedulers:Largest", "is a local scheduler; accepted: a subclass"),
        (local_scheduler, "own_schedulers:First", "is a global scheduler; accepted: a subclass"),
        (local_scheduler, "own_schedulers:First", "a subclass of metasched.LocalScheduler"),
        (any_scheduler, "agents.pace.built_in:Exact", "built_in.Exact is a predictor; accepted: "),
        (any_scheduler, "json:JSONDecoder", "is a class of another kind; accepted: a subclass of"),
        (predictor, "own_schedulers:First", "is a global scheduler; accepted: a subclass of metas"),
        (anyone, "own_schedulers:Last", "has no 'Last'; did you mean Largest?"),
        (anyone, "own_schedulers:Ucal", "has no 'Ucal'; did you mean Usual?"),
        (anyone, "exat", "scheduler 'exat': unknown; did you mean exact?"),
        (anyone, "agents.a4.broker:A4Broker", "is a class of another kind; accepted: a subclass "),
        (global_scheduler, "own_schedulers:", "global scheduler 'own_schedulers:'"),
        (global_scheduler, ":First", "global scheduler ':First'"),
        (global_scheduler, ".own:First", "global scheduler '.own:First'"),
    ],
)
def test_what_is_no_scheduler_is_told_in_one_line(module, find, name, words):
    with pytest.raises(GridError) as caught:
        find(name)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


class _Changeable:
    settings = 1


@pytest.mark.parametrize("kind", [_Changeable, [], 5])
def test_a_scheduler_without_a_kind_of_settings_is_told(kind):
    wrong = type("Wrong", (MuscleScheduler,), {"settings_type": kind})
    says = f"{__name__}:Wrong.settings_type: found {kind}; accepted: a frozen dataclass"
    with pytest.raises(GridError, match=f"^{re.escape(says)}$"):
        kinds_of(wrong)


def test_a_module_that_is_no_text_is_told_by_its_file(module, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty_bytes.py").write_text("x = 1\0\n")
    with pytest.raises(GridError, match=r"empty_bytes\.py: found a null byte; accepted: Python"):
        global_scheduler("empty_bytes:First")


def test_a_module_that_is_named_alone_is_not_run(module):
    with pytest.raises(GridError):
        any_scheduler(module)
    assert module not in sys.modules


def test_an_error_inside_a_users_module_is_shown_as_it_is(module):
    with pytest.raises(ModuleNotFoundError, match="no_such_thing_at_all"):
        global_scheduler("broken_import:First")
    with pytest.raises(ModuleNotFoundError, match="'broken'"):
        global_scheduler("broken_prefix:First")
    with pytest.raises(SyntaxError):
        global_scheduler("broken_code:First")
