"""PACE's models of applications and hardware, against closed forms and against plain replays."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.pace import predict
from agents.pace.application import Application
from agents.pace.evaluation import evaluate
from agents.pace.formula import Formula
from agents.pace.hardware import Hardware
from agents.pace.packaged import packaged
from agents.pace.templates import TEMPLATES, Step
from grid.errors import GridError

PLAIN = Hardware("plain", (("flop", 1e-9), ("integer", 2e-9)), latency=1e-5, bandwidth=800.0)
BYTE = 8 / 800e6


def t(size):
    """Return the time of a message of so many bytes on the plain hardware, s."""
    return 1e-5 + size * BYTE


CLOSED = {
    "cpi": lambda n, p: 6e-9 * n / p + math.ceil(math.log2(p)) * t(8),
    "jacobi": lambda n, p: (
        100 * (5e-9 * n**2 / p + min(p - 1, 2) * t(8 * n) + 1e-9 + math.ceil(math.log2(p)) * t(8))
    ),
    "fft": lambda n, p: 5e-9 * n * math.log2(n) / p + (p - 1) * t(16 * n / p**2),
    "closure": lambda n, p: n * (2e-9 * n**2 / p + math.ceil(math.log2(p)) * t(n / 8)),
    "memsort": lambda n, p: (
        2e-9 * n / p * (math.log2(n / p) + math.ceil(math.log2(p))) + (p - 1) * t(8 * n / p**2)
    ),
    "sweep": lambda n, p: 10 * ((80 + p - 1) * 320e-9 * n**3 / p / 80 + (p - 1) * t(0.8 * n * n)),
}


@pytest.mark.parametrize("name", packaged("applications"))
@pytest.mark.parametrize("processors", [1, 2, 3, 16, 100])
@pytest.mark.parametrize("n", [1000, 2048, 12345])
def test_packaged_applications_take_what_their_closed_forms_say(name, processors, n):
    assert predict(name, PLAIN, processors, n) == pytest.approx(CLOSED[name](n, processors), 1e-12)


def test_every_packaged_application_has_a_closed_form_and_runs_on_every_hardware():
    assert {*CLOSED} == {*packaged("applications")}
    for application in CLOSED:
        for hardware in packaged("hardware"):
            assert predict(application, hardware, 1, 5000) > 0


@given(st.floats(0, 100), st.floats(0, 100), st.integers(1, 12), st.integers(1, 9))
def test_a_pipeline_is_what_a_replay_of_its_stages_comes_to(computation, message, p, stages):
    ends = np.zeros((p + 1, stages + 1))
    for processor in range(1, p + 1):
        for stage in range(1, stages + 1):
            there = ends[processor - 1, stage] + message if processor > 1 else 0.0
            ends[processor, stage] = max(ends[processor, stage - 1], there) + computation / stages
    found = TEMPLATES["pipeline"](Step(computation, message, p, float(stages)))
    assert found == pytest.approx(ends[p, stages], abs=1e-9)


@given(st.integers(1, 300))
def test_a_reduction_has_as_many_rounds_as_halve_the_processors_to_one(p):
    rounds, left = 0, p
    while left > 1:
        left, rounds = (left + 1) // 2, rounds + 1
    assert TEMPLATES["reduction"](Step(0.0, 1.0, p)) == rounds


@pytest.mark.parametrize("template", TEMPLATES)
@given(computation=st.floats(0, 1e6), message=st.floats(0, 1e3))
def test_one_processor_computes_and_sends_nothing(template, computation, message):
    assert TEMPLATES[template](Step(computation, message, 1)) == computation


@given(st.integers(1, 1000), st.integers(1, 1000))
def test_a_formula_is_what_python_makes_of_it(n, p):
    text = "ceil(log2(n)) + max(2 * n**2 / p, -p) - floor(sqrt(min(n, p)))"
    wanted = math.ceil(math.log2(n)) + max(2 * n**2 / p, -p) - math.floor(math.sqrt(min(n, p)))
    if wanted >= 0:
        assert Formula(text)(n, p) == pytest.approx(wanted)


@pytest.mark.parametrize(
    "text",
    [
        "", "n +", "q", "n.real", "__import__('os')", "[n]", "n if p else 1", "lambda: 1", "n < p",
        "'a'", "True", "sqrt", "sqrt()", "max(*[n])", "log2(x=n)", "n; p", "1e400", "(" * 150,
        "n" * 201, None, [1], True, "n @ p", "f'{n}'", "(n := 3)", "n // p", "ceil.__class__(n)",
    ],
)  # fmt: skip
def test_what_is_no_formula_is_refused_in_a_line(text):
    with pytest.raises(GridError) as caught:
        Formula(text)
    assert len(str(caught.value)) < 300
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["1 / (n - n)", "-n", "log2(0)", "9**9**9**9", "(0 - n)**0.5"])
def test_a_value_that_is_no_count_is_refused_in_a_line(text):
    with pytest.raises(GridError, match=r"at n = 2, p = 3; accepted: a number from 0"):
        Formula(text)(2, 3)


def test_an_answer_is_kept():
    predict("cpi", PLAIN, 4, 31337)
    before = evaluate.cache_info()
    predict("cpi", PLAIN, 4, 31337.0)
    assert evaluate.cache_info().hits == before.hits + 1


GOOD = {"subtasks": [{"template": "async", "operations": {"flop": "n"}}]}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"subtasks": []}, "subtasks: found"),
        ({"subtasks": 3}, "subtasks: found 3"),
        ({"name": "x"}, "unknown key 'name'"),
        ({"iterations": 0}, "iterations: found 0; accepted: above 0, or a formula"),
        ({"iterations": "n +"}, "iterations: found 'n +'; accepted: numbers, n, p"),
        ({"subtasks": [{"operations": {"flop": 1}}]}, "key 'template' is missing"),
        ({"subtasks": [{"template": "async"}]}, "key 'operations' is missing"),
        ({"subtasks": [{"template": "asnc", "operations": {"flop": 1}}]}, "did you mean async?"),
        ({"subtasks": [{"template": "async", "operations": {}}]}, "operations: found {}"),
        (
            {"subtasks": [{"template": "async", "operations": {"f": "x"}}]},
            "operations: f: found 'x'",
        ),
        (
            {"subtasks": [{"template": "async", "stages": 3, "operations": {"flop": 1}}]},
            "stages: found with async; accepted: with pipeline",
        ),
    ],
)
def test_what_is_wrong_with_an_application_is_said(changes, message):
    with pytest.raises(GridError) as caught:
        Application.from_dict("mine", GOOD | changes)
    assert "application 'mine'" in str(caught.value)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"message": "-8 * n"}, "subtask 'a': message: found '-8 * n', which is -800 at n = 100"),
        ({"stages": "n - 101"}, "subtask 'a': stages: found 'n - 101', which is -1 at n = 100"),
        ({"stages": 0}, "subtask 'a': stages: found 0, which is 0 at n = 100, p = 4; accepted: a"),
        (
            {"operations": {"flop": "n ** 9999"}},
            "subtask 'a': operations: flop: found 'n ** 9999', which is inf",
        ),
        (
            {"operations": {"flop": "n / (p - 4)"}},
            "subtask 'a': operations: flop: found 'n / (p - 4)', which divides by 0 at n = 100",
        ),
    ],
)
def test_a_wrong_value_in_a_model_is_told_by_its_key(changes, message):
    subtask = {"name": "a", "template": "pipeline", "operations": {"flop": "n"}} | changes
    application = Application.from_dict("jb.toml", {"subtasks": [subtask]})
    with pytest.raises(GridError) as caught:
        predict(application, PLAIN, 4, 100)
    assert f"application 'jb.toml': {message}" in str(caught.value)
    again = pickle.loads(pickle.dumps(application.subtasks[0].operations[0][1]))
    assert again.where == application.subtasks[0].operations[0][1].where


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ({}, "key 'operations' is missing"),
        ({"operations": {}}, "operations: found {}"),
        ({"operations": {"flop": -1}}, "flop: found -1; accepted: s, from 0"),
        ({"operations": {"flop": "fast"}}, "flop: found 'fast'"),
        ({"operations": {"flop": 1}, "latency": -1.0}, "latency: found -1.0"),
        (
            {"operations": {"flop": 1}, "bandwidth": 0},
            "bandwidth: found 0; accepted: Mbit/s, above",
        ),
        ({"operations": {"flop": 1}, "latncy": 1}, "unknown key 'latncy'; did you mean latency?"),
    ],
)
def test_what_is_wrong_with_hardware_is_said(mapping, message):
    with pytest.raises(GridError) as caught:
        Hardware.from_dict("mine", mapping)
    assert "hardware 'mine'" in str(caught.value)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("question", "message"),
    [
        (("jacoby", "cluster", 4, 10), "applications: 'jacoby': unknown; did you mean jacobi?"),
        (("jacobi", "clster", 4, 10), "hardware: 'clster': unknown; did you mean cluster?"),
        (("jacobi", "none.toml", 4, 10), "none.toml: No such file"),
        (("jacobi", "cluster", 0, 10), "processors: found 0"),
        (("jacobi", "cluster", 1.5, 10), "processors: found 1.5"),
        (("jacobi", "cluster", "4", 10), "processors: found '4'; accepted: a whole number from 1"),
        (("jacobi", "cluster", math.inf, 10), "processors: found inf"),
        (("jacobi", "cluster", 4, "x"), "problem_size: found 'x'; accepted: a number above 0"),
        (("jacobi", "cluster", 4, 0), "problem_size: found 0; accepted: a number above 0"),
        (("jacobi", "cluster", 4, math.nan), "problem_size: found nan"),
        (("cpi", Hardware("h", (("add", 1.0),)), 4, 10), "operation 'flop': unknown"),
        (("cpi", Hardware("h", (("flop", 0.0),)), 1, 10), "0 s on 1 processors"),
        (("closure", "workstations", 1, 1e9), "accepted: from 1e-06 to 1e+12 s"),
    ],
)
def test_what_is_wrong_with_a_question_is_said(question, message):
    with pytest.raises(GridError) as caught:
        predict(*question)
    assert message in str(caught.value)


def test_models_of_ones_own_are_read_from_files(tmp_path):
    (tmp_path / "app.toml").write_text(
        'iterations = 3\n[[subtasks]]\ntemplate = "pipeline"\nstages = 4\nmessage = "100 * n"\n'
        'operations = { flop = "n / p" }\n'
    )
    (tmp_path / "hw.toml").write_text("latency = 0.5\nbandwidth = 8\n[operations]\nflop = 2\n")
    found = predict(str(tmp_path / "app.toml"), str(tmp_path / "hw.toml"), 2, 40)
    assert found == pytest.approx(3 * ((4 + 1) * 40 / 4 + (0.5 + 4000 / 1e6)))


@pytest.mark.parametrize("stages", ["0", "0.25", "n - 1000"])
def test_a_pipeline_has_a_stage_at_least(stages, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(
        f'[[subtasks]]\ntemplate = "pipeline"\nstages = "{stages}"\nmessage = 8\n'
        'operations = {flop = "n"}\n'
    )
    with pytest.raises(
        GridError, match=r"stages: found .*, which is 0\S* at n = 1000, p = 4; accepted"
    ):
        predict(str(path), "cluster", 4, 1000.0)
