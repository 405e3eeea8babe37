from __future__ import annotations

import json
import math

import pytest

from grid.errors import WorkloadError
from grid.logs import batsim
from grid.logs.batsim import batsim_log

JOBS = [{"id": 1, "subtime": 0, "walltime": 100, "res": 4, "profile": "p"}]


def log(tmp_path, profiles, jobs=JOBS, speed=None, **other):
    path = tmp_path / "work.json"
    path.write_text(json.dumps({"nb_res": 8, "jobs": jobs, "profiles": profiles, **other}))
    return batsim_log(path, speed)


@pytest.mark.parametrize(
    ("profile", "seconds"),
    [
        ({"type": "delay", "delay": 20.5}, 20.5),
        ({"type": "DelayProfile", "delay": 20.5}, 20.5),
        ({"type": "parallel_homogeneous", "cpu": 4e9, "com": 0}, 2),
        ({"type": "ptask_homogeneous", "cpu": 4e9}, 2),
        ({"type": "ParallelTaskHomogeneousProfile", "cpu": 4e9, "com": 1e6}, 2),
        ({"type": "parallel_homogeneous_total", "cpu": 4e9, "com": 0}, 0.5),
        (
            {
                "type": "ParallelTaskHomogeneousProfile",
                "generation_strategy": "DefinedAmountsSpreadUniformly",
                "cpu": 4e9,
            },
            0.5,
        ),
        ({"type": "parallel", "cpu": [1e9, 4e9, 0, 0], "com": [0] * 16}, 2),
        ({"type": "ParallelTaskProfile", "com": [0, 5e6, 0, 0]}, 0),
        ({"type": "smpi", "trace": "t.txt"}, -1),
    ],
)
def test_run_times_of_profiles(tmp_path, profile, seconds):
    assert log(tmp_path, {"p": profile}, speed=2e9).records["runtime"].tolist() == [seconds]


def test_sequences(tmp_path):
    inner = {"type": "composed", "repeat": 2, "seq": ["a", "b"]}
    profiles = {
        "a": {"type": "delay", "delay": 3},
        "b": {"type": "parallel_homogeneous", "cpu": 1e9, "com": 5},
        "i": inner,
        "p": {"type": "SequentialCompositionProfile", "seq": ["i", "a"]},
    }
    found = log(tmp_path, profiles)
    assert found.records["runtime"].tolist() == [2 * (3 + 1) + 3]
    assert found.rules == {
        "computation of its profile: run time at 1e+09 flop/s": [0],
        batsim.LEFT_OUT: [0],
    }
    # 2**40 parts, each read once
    many = {str(n): {"type": "composed", "seq": [str(n - 1)] * 2} for n in range(1, 40)}
    many |= {"0": {"type": "delay", "delay": 1}, "p": {"type": "composed", "seq": ["39"]}}
    assert log(tmp_path, many).records["runtime"].tolist() == [2.0**39]


def test_numbers_and_requested_times(tmp_path):
    delay = {"p": {"type": "delay", "delay": 1}}
    job = {"subtime": 5, "res": 2, "profile": "p"}
    named = [{"id": name, **job} for name in ("w0!17", "18", 19)]
    found = log(tmp_path, delay, [*named, {"id": 20, "walltime": -2, **job}])
    assert found.records["number"].tolist() == [17, 18, 19, 20]
    assert found.records["requested_time"].tolist() == [math.inf] * 4
    assert found.processors == 8
    other = log(tmp_path, delay, [{"id": "first", **job}, *named])
    assert other.records["number"].tolist() == [1, 2, 3, 4]
    assert other.rules == {batsim.NUMBERED: [0, 1, 2, 3]}
    largest = log(tmp_path, delay, [{"id": f"w0!{2**53 - 1}", **job}])
    assert (largest.records["number"].tolist(), largest.rules) == ([2**53 - 1], {})
    for beyond in (2**53, "w0!123456789012345678", -(2**53)):
        found = log(tmp_path, delay, [{"id": beyond, **job}])
        assert found.records["number"].tolist() == [1]
        assert found.rules == {"id is not a whole number below 2^53: numbered by its place": [0]}


@pytest.mark.parametrize("said", ["abc", "8", -4, 0, 8.5, True])
def test_a_size_of_the_machine_that_cannot_be_read_is_told(tmp_path, said):
    found = log(tmp_path, {"p": {"type": "delay", "delay": 1}}, nb_res=said)
    note = f"nb_res {said!r}; accepted: a whole number below 2^53, from 1"
    assert (found.processors, found.notes) == (None, (note,))
    unread = f"those of the largest usable job, for the file says {note}"
    assert found.cleaned().size_note == unread


@pytest.mark.parametrize(("said", "processors"), [(8.0, 8), (None, None)])
def test_a_size_of_the_machine_that_can_be_read_is_no_matter(tmp_path, said, processors):
    found = log(tmp_path, {"p": {"type": "delay", "delay": 1}}, nb_res=said)
    assert (found.processors, found.notes, found.size_note) == (processors, (), "")


def test_other_profiles_have_no_run_time(tmp_path):
    profiles = {"p": {"type": "\x1b[2Jsmpi"}, "q": {"type": "delay", "delay": 1}}
    table = log(tmp_path, profiles, [*JOBS, {**JOBS[0], "profile": "q"}]).cleaned()
    assert table.cleaning.drops == {"no known run time": 1}
    assert "profile of type '\\x1b[2Jsmpi': run time not known" in table.cleaning.rules


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ("", "Expecting value"),
        ("[1]", "found [1]; accepted: a Batsim workload"),
        ('{"jobs": []}', "no profiles"),
        ('{"jobs": {}, "profiles": {}}', "no jobs"),
        ('{"jobs": [], "profiles": {}}', "empty workload"),
        ('{"jobs": [3], "profiles": {}}', "jobs[0]: 3; accepted: an object"),
        ('{"jobs": [{"subtime": NaN}], "profiles": {}}', "found NaN"),
        ('{"jobs": [{"subtime": -1}], "profiles": {}}', "jobs[0]: subtime is -1"),
        ('{"jobs": [{"subtime": true}], "profiles": {}}', "jobs[0]: subtime is True"),
        ('{"jobs": [{"subtime": 1e13}], "profiles": {}}', "jobs[0]: subtime is"),
        ('{"jobs": [{"subtime": 0, "res": 1.5}], "profiles": {}}', "jobs[0]: res is 1.5"),
        ('{"jobs": [{"subtime": 0, "res": 0}], "profiles": {}}', "jobs[0]: res is 0"),
        (
            '{"jobs": [{"subtime": 0, "res": 1, "profile": "x"}], "profiles": {}}',
            "jobs[0]: profile is 'x'; accepted: one of the profiles",
        ),
        ("[" * 100_000, "recursion"),
        ('{"a": ' + "9" * 5000 + "}", "found a number of 5,000 digits;"),
    ],
)
def test_bad_workloads(tmp_path, content, found):
    path = tmp_path / "work.json"
    path.write_text(content)
    with pytest.raises(WorkloadError) as caught:
        batsim_log(path)
    message = str(caught.value)
    assert found in message
    assert "accepted: " in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("profile", "found"),
    [
        ({"type": "delay", "delay": "long"}, "profile 'p': delay is 'long'"),
        ({"type": "delay", "delay": 1e15}, "profile 'p' takes 1e+15 s"),
        ({"type": "parallel", "cpu": [1, -5]}, "profile 'p': cpu is -5"),
        ({"type": "composed", "seq": "p"}, "profile 'p': seq is 'p'; accepted: a list"),
        ({"type": "composed", "seq": ["p"]}, "in itself"),
        ({"type": "composed", "seq": ["q"]}, "profile is 'q'"),
    ],
)
def test_bad_profiles(tmp_path, profile, found):
    with pytest.raises(WorkloadError) as caught:
        log(tmp_path, {"p": profile})
    assert f"jobs[0]: {found}" in str(caught.value) or found in str(caught.value)
