from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

from experiments.scenario.scenario import Scenario
from grid.errors import GridError, WorkloadError
from grid.foreign import LONGEST_LINE, LONGEST_VALUE, one_line, plain, quoted

CONTROLS = "a\x1b[2Jb\x9b0mc\u202ed\u2066e\nf\rg\x00h\u2028i\ud800j\x7fk\u200b"


@pytest.mark.parametrize("fit", [plain, quoted, one_line, lambda text: str(GridError(text))])
def test_no_control_character_of_foreign_text_comes_out(fit: Any) -> None:
    shown = fit(CONTROLS)
    assert shown.isprintable()
    for escape in ("\\x1b[2J", "\\x9b0m", "\\u202e", "\\ud800"):
        assert escape in shown


@pytest.mark.parametrize(
    "value",
    [
        "9" * 30_000,
        "\x1b" * 10**6,
        10**5000,
        -(16**5000),
        ["x" * 5000] * 5000,
        {"\x1b" * 500: {"y": [10**5000] * 50}},
        b"\x00" * 5000,
    ],
    ids=["digits", "controls", "integer", "negative", "list", "dict", "bytes"],
)
def test_a_value_is_cited_in_few_characters(value: object) -> None:
    shown = quoted(value)
    assert shown.isprintable()
    assert len(shown) <= 5 * LONGEST_VALUE
    assert len(str(GridError(f"key: found {shown}; accepted: a number"))) <= LONGEST_LINE


def test_a_cut_value_tells_its_length_and_both_ends() -> None:
    assert quoted("a" * 100 + "z") == f"'{'a' * 28}...{'a' * 28}z' (101 characters)"
    assert plain("a" * 100 + "z") == f"{'a' * 28}...{'a' * 28}z (101 characters)"
    assert plain("a" * LONGEST_VALUE) == "a" * LONGEST_VALUE


def test_nested_values_without_end_are_cited() -> None:
    deep: list[Any] = []
    for _ in range(10_000):
        deep = [deep]
    assert len(quoted(deep)) <= LONGEST_VALUE


def test_a_long_message_keeps_its_place_and_what_is_accepted() -> None:
    error = WorkloadError(f"log.swf:7: field 2 is {'x' * 5000!r}; accepted: a number of seconds")
    assert len(str(error)) <= LONGEST_LINE
    assert str(error).startswith("log.swf:7: field 2 is 'xxx")
    assert str(error).endswith("x'; accepted: a number of seconds")
    names = ", ".join(f"name{number}" for number in range(1000))
    listed = str(GridError(f"key: found {'y' * 5000!r}; accepted: {names}"))
    assert len(listed) <= LONGEST_LINE
    assert listed.startswith("key: found 'yyy")
    assert "; accepted: name0, name1" in listed


def test_an_error_within_an_error_and_one_that_was_sent_stay_one_line() -> None:
    inner = GridError(f"size: found {'x' * 5000}\n; accepted: from 1")
    outer = GridError(f"{'long/' * 200}scenario.toml: {inner}")
    for error in (outer, pickle.loads(pickle.dumps(outer))):
        assert str(error).isprintable()
        assert len(str(error)) <= LONGEST_LINE
        assert str(error).endswith("; accepted: from 1")


HUGE = "0x" + "f" * 5000
SITE = '[[clusters]]\nname = "C1"\nsize = 8\n'


@pytest.mark.parametrize(
    "text",
    [
        SITE.replace("8", HUGE),
        SITE + f"rate = {HUGE}\n",
        SITE + f"latency = {HUGE}\n",
        SITE + f"[[changes]]\ncluster = 'C1'\nwhat = 'fail'\nat = {HUGE}\n",
        SITE + f"[[changes]]\ncluster = 'C1'\nwhat = 'fail'\nat = 1\nprocessors = {HUGE}\n",
        SITE + f"[parameters]\nmax_size = {HUGE}\n",
        SITE + f"[parameters]\ncomposition = [{HUGE}, 1]\n",
        SITE + f"[parameters]\nlocal_share = {'9' * 5000}\n",
        f"title = {HUGE}\n" + SITE,
        f"local = '{'x' * 5000}'\n" + SITE,
        SITE.replace("C1", "\\u001b[2J" * 500),
        SITE + f'broker = "{"b" * 5000}"\n',
    ],
)
def test_integers_and_texts_of_any_length_in_a_scenario(tmp_path: Path, text: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(GridError, match=r"mine\.toml: .*(accepted|lists the)") as caught:
        Scenario.load(str(path))
    assert len(str(caught.value)) <= LONGEST_LINE
    assert str(caught.value).isprintable()


def test_a_scenario_is_named_after_its_file_without_controls(tmp_path: Path) -> None:
    path = tmp_path / "\x1b[31mred.toml"
    path.write_text(SITE)
    assert Scenario.load(str(path)).name == "\\x1b[31mred"
