"""Every reader of ours answers spoilt files with a result or an error of one line.

More inputs than here: ``python -m tests.fuzz --inputs 1000000 --seed 7``.
"""

from __future__ import annotations

import os
from random import Random

import pytest

from tests.fuzz.inputs import Input
from tests.fuzz.oracle import REFUSED, RESULT
from tests.fuzz.targets import WRITTEN, targets

NAMES = (*WRITTEN, "parquet", "grid", "set", "study-file", "result", "events")
EACH = {name: 100 if name == "study-file" else 600 for name in NAMES}  # a page each
DIGITS = b"9" * 30_000
JOIN = b'clusters=[{name="A",size=8}]\nchanges=[{cluster="A",what="join",at=%d}]' % (2**63 + 1)
BROKER = b'clusters = [{name = "A", size = 8, broker = []}]'
STUDY = b'scenario="site"\npolicies={global="dll",local=["",""]}\nseed=' + DIGITS
GRID = b'global = "dll"\nlocal = "easy"\n[[sites]]\nname = "a"\nslots = 4\n'
KEPT = (
    ("swf", "log.swf", b"1 0 5 60 4 -1 -1 " + DIGITS + b"x" + b" -1" * 10),
    ("csv", "log.csv", b"job,arrival,size,runtime\n1,0,4," + DIGITS + b"e"),
    ("sacct", "log.txt", b"JobIDRaw|Submit|AllocCPUS|Elapsed\n|2021-12-10T14:23:28|1|00:01:00\n"),
    ("platform", "platform.toml", JOIN),
    ("platform", "platform.toml", BROKER),
    ("simgrid", "platform.xml", b'<platform version="4.1"><host id="a" speed="0f"/></platform>'),
    ("scenario", "mine.toml", b"speed = " + DIGITS),
    ("set", "words.set", b"jobs=" + DIGITS),
    ("set", "words.set", b"\xff="),
    ("grid", "grid.toml", b'global = "dll"\n[[sites]]\nname = []\nslots = 4\n'),
    ("grid", "grid.toml", GRID + b'[[jobs]]\ncommand = ["a"]\ncount = 9%s\n' % (b"0" * 17)),
    ("study", "study.toml", STUDY),
    ("study", "study.toml", STUDY.partition(b"seed")[0]),
    ("option", "option.word", b"x" * 301),
    *(("checkpoint", "head.json", head) for head in (b"{}", b"\xff", b'"product"', b"[" * 9999)),
    *(("result", "summary.json", b'{"clusters": %s}' % each) for each in (b'"\\ud800"', DIGITS)),
    *(("events", "events.jsonl", each) for each in (b"{}\n", b'{"serial": %s}\n' % DIGITS)),
)


@pytest.fixture(scope="module")
def every(tmp_path_factory):
    folder, before = tmp_path_factory.mktemp("fuzz"), os.getcwd()
    os.chdir(folder)
    yield targets(folder)
    os.chdir(before)


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # from which inputs go to their own
    return tmp_path / "input"


def test_all_targets_are_tried(every):
    assert sorted(every) == sorted(NAMES)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", NAMES)
def test_spoilt_inputs_give_a_result_or_one_line(every, place, name):
    found = {Input(name, every[name], "pytest", each).outcome(place) for each in range(EACH[name])}
    assert found == ({REFUSED} if name == "checkpoint" else {RESULT, REFUSED})


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("checkpoint", "option")])
def test_what_is_not_spoilt_gives_a_result(every, place, name):
    given = Input(name, every[name], "pytest", 1)
    for given.files in every[name].seeds:
        assert given.outcome(place) == RESULT


@pytest.mark.parametrize(("name", "file", "content"), KEPT, ids=lambda each: str(each)[:40])
def test_what_once_broke_a_reader_is_refused(every, place, name, file, content):
    given = Input(name, every[name], "pytest", 1)
    given.files = {**every[name].seeds[0], file: content}
    for draw in range(4):
        given.draw = Random(draw)
        assert given.outcome(place) == REFUSED
