"""Reading text, JSON and TOML strictly."""

from __future__ import annotations

import os

import pytest

from grid import strict
from grid.errors import GridError, PlatformError
from grid.strict import DEEPEST, json_of, text_of, toml_of

BAD_JSON = {
    "no JSON": "{",
    "not a number": '{"a": NaN}',
    "infinite": '{"a": -Infinity}',
    "beyond range": '{"a": 1e400}',
    "hundreds of digits": '{"a": 1' + 400 * "0" + "}",
    "thousands of digits": '{"a": ' + 4301 * "9" + "}",
    "half a character in a key": '{"\\ud800": 1}',
    "half a character in a list": '["\\uDBFF"]',
    "a key twice": '{"a": 1, "b": 2, "a": 3}',
    "deep": 5000 * "[",
    "deep and whole": 100 * "[" + 100 * "]",
    "null character": '{"a": "\0"}',
    "nothing": "",
    "two": "1 2",
}
BAD_TOML = {
    "no TOML": "a",
    "thousands of digits": f"a = {4301 * '9'}",
    "more than 64 bits": "[[b]]\na = [1, 72009223372036854775807]",
    "deep": f"a = {5000 * '['}",
    "deep and whole": f"a = {100 * '['}{100 * ']'}",
    "a key twice": "a = 1\na = 2",
    "half a character": 'a = "\\ud800"',
}


@pytest.mark.parametrize("text", BAD_JSON.values(), ids=BAD_JSON)
def test_what_is_no_json_is_refused_in_a_line(text):
    with pytest.raises(GridError, match=r"^here: .*; accepted: JSON$") as caught:
        json_of(text, "here")
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("text", BAD_TOML.values(), ids=BAD_TOML)
def test_what_is_no_toml_is_refused_in_a_line(text):
    with pytest.raises(PlatformError, match=r"^here: .*; accepted: a") as caught:
        toml_of(text, "here", PlatformError)
    assert len(str(caught.value)) < 300


def test_a_whole_number_too_wide_is_told_by_its_key():
    with pytest.raises(GridError, match=r"^here: b\.0\.a\.1: found 72009223372036854775807; "):
        toml_of(BAD_TOML["more than 64 bits"], "here")


def test_what_is_at_the_limits_is_read():
    deep = (DEEPEST - 1) * "["
    assert json_of(deep + "1" + deep.replace("[", "]"), "here")
    assert json_of('["\\ud83d\\ude00", 1e308, ' + 300 * "9" + "]", "here")[0] == "\U0001f600"
    assert toml_of("a = 9223372036854775807\nb = inf", "here")["a"] == 2**63 - 1


def test_what_is_no_text_is_refused(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "binary").write_bytes(b"a\xff")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for name in ("folder", "binary", "dangling", "loop", "none", 300 * "n", "a\0b"):
        with pytest.raises(GridError, match=r"; accepted: a file$") as caught:
            text_of(tmp_path / name, "a file")
        assert str(caught.value).isprintable()


def test_what_never_ends_is_refused(monkeypatch):
    monkeypatch.setattr(strict, "LARGEST_TEXT", 1 << 16)
    with pytest.raises(GridError, match="more than 65,536 characters"):
        text_of("/dev/zero", "a file")


def test_a_pipe_and_a_mark_of_byte_order_are_read(tmp_path):
    (tmp_path / "marked").write_bytes(b"\xef\xbb\xbfa\r\nb")
    assert text_of(tmp_path / "marked", "a file") == "a\nb"
    reading, writing = os.pipe()
    os.write(writing, b"text")
    os.close(writing)
    assert text_of(f"/dev/fd/{reading}", "a file") == "text"
    os.close(reading)
